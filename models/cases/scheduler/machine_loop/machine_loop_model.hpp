// SPDX-License-Identifier: MIT
// What the models of machine_loop and of park share: a scheduler in small, in which machines find their tasks by the
// shipped loop and sleep by the shipped park_protocol. The model adds only what a host does for the loop without shared
// memory, and a thread per machine.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>

#include "oracle.hpp"
#include "runq/chase_lev.hpp"
#include "runq/local_queue.hpp"
#include "runq/protocol/global_shards.hpp"
#include "runq/protocol/handoff.hpp"
#include "runq/protocol/machine_loop.hpp"
#include "runq/protocol/monitor.hpp"
#include "runq/protocol/park.hpp"
#include "runq/split_deque.hpp"
#include "waiting.hpp"

namespace runq::model {

/// In place of fork deques, for scenarios without forks.
class no_forks {
 public:
  struct owner {
    [[nodiscard]] std::size_t size_approx() const { return 0; }
    [[nodiscard]] std::optional<task*> pop() { return {}; }
    void rebind() {}
  };
  struct thief {
    [[nodiscard]] bool has_work() const { return false; }
    [[nodiscard]] std::size_t size_approx() const { return 0; }
    [[nodiscard]] std::size_t oldest_approx() const { return 0; }
    [[nodiscard]] steal_result<task*> steal() { return {}; }
  };
  explicit no_forks(std::size_t) {}
  [[nodiscard]] owner make_owner() { return {}; }
  [[nodiscard]] thief make_thief() { return {}; }
};
template <class Policy>
using chase_lev_of = basic_chase_lev<task*, Policy>;
using fork_deques = chase_lev_of<atomics>;
// What RUNQ_FORK_DEQUE=split_deque makes of them: thieves get each fork by a pair of fences.
template <class Policy>
using split_deque_of = basic_split_deque<task*, 2, split_deque_options{.publish = 0, .tries = 1, .polls = 0}, Policy>;
using split_fork_deques = split_deque_of<atomics>;

/// In place of the ring of yielded tasks, for scenarios in which no task yields.
class no_yields {
 public:
  struct owner {
    [[nodiscard]] std::size_t size_approx() const { return 0; }
    [[nodiscard]] std::optional<task*> pop() { return {}; }
    template <class Sink>
    std::size_t drain(Sink&&) {
      return 0;
    }
    void rebind() {}
  };
  struct thief {
    [[nodiscard]] bool has_work() const { return false; }
    [[nodiscard]] steal_result<task*> steal_half_into(owner&) const { return {}; }
  };
  [[nodiscard]] owner make_owner() { return {}; }
  [[nodiscard]] thief make_thief() { return {}; }
};
using yields = basic_ring<task*, 2, std::uint32_t, atomics>;

/// The queues of a scheduler: the shipped ones. A ring has `Capacity` slots.
template <std::size_t Capacity = 2, class Forks = no_forks, class Yields = no_yields>
struct shipped_queues {
  static constexpr unsigned shards = 1;
  static constexpr bool counted = true;  // machines that find a task count those that are left
  using global = global_shards<&task::link, 2>;
  using local = basic_local_queue<&task::link, Capacity>;
  using forks = Forks;
  using yields = Yields;
  static constexpr std::size_t capacity = Capacity;
};

/// Likewise, and a thief goes round the processors twice.
template <class Forks>
struct queues_of_two_rounds : shipped_queues<2, Forks> {
  static constexpr int steal_rounds = 2;
};

using queues_for_yields = shipped_queues<2, no_forks, yields>;

/// The order in which a thief visits the others, with the interface of steal_order: from its successor on.
class next_first {
 public:
  class walk {
   public:
    explicit walk(unsigned n) : n_(n) {}
    [[nodiscard]] bool done() const { return at_ == n_; }
    [[nodiscard]] unsigned position() const { return at_; }
    void advance() { ++at_; }

   private:
    unsigned n_;
    unsigned at_ = 0;
  };
  void reset(unsigned n) {
    require(n != 0, "an order of no processors");
    n_ = n;
  }
  [[nodiscard]] unsigned size() const { return n_; }
  [[nodiscard]] walk start(unsigned) const { return walk(n_); }

 private:
  unsigned n_ = 1;
};

/// At the start there are `Processors` processors; machine 0 has processor 0 and spins, and the other machines do not
/// run. settle() and the calls after it change that. park_protocol locks the mutex of `Parking`.
template <unsigned Machines, unsigned Processors, int Tasks, class Queues = shipped_queues<>, class Parking = atomics>
class machine_loop_model : public scenario {
 public:
  struct machine;

  /// A parker on which a scenario's constructor can put a machine to sleep: it is asleep as soon as its thread runs.
  class machine_parker : public parker {
   public:
    void park() {
      require(!holds_, "a machine goes to sleep, and its thread still counts as one with a processor");
      if (!constructing_) ++sleeps;
      if (!constructing_ || unparked != 0) parker::park();
      if (constructing_) unparked = 0;
    }
    // Gives up once per sleep, if there is no token yet: at any moment, as the other threads run before it or after it.
    [[nodiscard]] bool park_for_long() {
      if (constructing_ || gave_up_) {
        park();
        gave_up_ = false;
        return true;
      }
      const bool woken = parker::take();
      gave_up_ = !woken;
      return woken;
    }
    // Gives up if there is no token yet, unless `dozes_on`. A scenario sees to it that no machine dozes for ever.
    [[nodiscard]] bool doze() {
      require(dozes != may_doze, "a machine dozes although it has to look at a timer, or at descriptors");
      ++dozes;
      if (chain != nullptr) ++*chain;
      if (!dozes_on) return parker::take();
      park();
      return true;
    }
    void unpark() {
      ++unparked;
      parker::unpark();
    }
    void constructed() { constructing_ = false; }
    void holds(bool processor) { holds_ = processor; }
    [[nodiscard]] bool holds() const { return holds_; }
    int unparked = 0;  // calls of unpark() since the construction ended
    bool dozes_on = false;
    int sleeps = 0;                  // how often the machine has gone to sleep
    int dozes = 0;                   // how often it has dozed
    int may_doze = -1;               // how often it may do so at most; -1: as often as it likes
    std::uint64_t* chain = nullptr;  // counts the tasks of a chain that goes on while the machine dozes

   private:
    bool constructing_ = true;
    bool gave_up_ = false;
    bool holds_ = false;  // the machine's thread holds a processor: see hold() and leave()
  };
  // Counters and times of a processor are stubs. Only a machine that found nothing reads them. It sees that no task
  // begins while it watches a processor; for what begins while it looks around, see looked().
  struct counter {
    std::uint64_t seen = 0;
    [[nodiscard]] std::uint64_t get() const { return seen; }
    void operator++() {}
  };
  // The machine of the processor writes it, and the one that looks for work reads it.
  struct poll_counter {
    atomic<std::uint64_t> n{0};
    [[nodiscard]] std::uint64_t get() const { return n.load(std::memory_order::relaxed); }
    void operator++() { n.store(get() + 1, std::memory_order::relaxed); }
  };
  struct no_slice {
    [[nodiscard]] bool over() const { return false; }
  };
  struct chain_type {
    bool is_due = false;
    [[nodiscard]] bool due(bool) const { return is_due; }
    template <class Clock>
    [[nodiscard]] bool full(bool, Clock&&) const {
      return true;
    }
    void grow() {}
    void end() {}
    void forget() {}
  };
  using global_queue = typename Queues::global;
  using local_queue = typename Queues::local;
  struct processor : park_processor<processor, atomics> {
    processor(global_queue& global, unsigned i)
        : index(i),
          shard(i % global.shards()),
          queue(global.near(shard)),
          own_queue(queue.make_owner()),
          queue_thief(queue.make_thief()),
          forks(Queues::capacity),
          own_forks(forks.make_owner()),
          forks_thief(forks.make_thief()),
          own_yielded(yielded.make_owner()),
          yielded_thief(yielded.make_thief()) {}
    [[nodiscard]] unsigned random() const { return 0; }

    const unsigned index;
    const unsigned shard;
    cell<int> owned{0};     // written by each take from the own queue: two at once are a data race
    cell<bool> made{true};  // read by every user of a processor, which resize() may have made just before
    handoff<atomics> in_call;
    cell<bool> call_has_unit{false};
    bool global_first = false;
    counter dispatches;
    poll_counter polls;
    counter runnext_hits;
    no_slice slice;
    chain_type chain;
    next_first order;
    local_queue queue;
    static constexpr std::size_t queue_capacity = Queues::capacity;
    typename local_queue::owner own_queue;
    typename local_queue::thief queue_thief;
    typename Queues::forks forks;
    typename Queues::forks::owner own_forks;
    typename Queues::forks::thief forks_thief;
    typename Queues::yields yielded;
    typename Queues::yields::owner own_yielded;
    typename Queues::yields::thief yielded_thief;
    unsigned turns = 0;
    unsigned overflows = 0;
    unsigned unwatched_forks = 0;
    std::uint64_t looked_at = 0;
  };
  struct machine : park_machine<machine, processor, machine_parker, atomics> {
    processor* held = nullptr;
    std::uint64_t begun = 0;
    std::uint64_t polls = 0;
  };
  /// A task, or nothing.
  struct work {
    work() = default;
    explicit work(task* t, bool = false) : what(t) {}
    [[nodiscard]] explicit operator bool() const { return what != nullptr; }
    task* what = nullptr;
  };

  // -- what park_protocol asks of its host --

  [[nodiscard]] bool work_anywhere() const { return looping.work_anywhere(); }
  [[nodiscard]] bool surplus(const processor& p) const { return looping.surplus(p); }
  [[nodiscard]] processor& processor_at(unsigned i) {
    require(i < Processors && processors[i].made.get(), "a processor that was never made");
    return processors[i];
  }
  void start_machine(processor& p) {
    // Called while the scenario is constructed, or by the thread that then goes on as this machine.
    require(started != Machines, "more machines are started than the model has");
    machine& m = machines[started++];
    m.spinning.set(true);
    looping.hold(m, p);
  }
  [[nodiscard]] bool keeps(std::size_t idle_machines) const { return idle_machines <= kept; }
  virtual void check_deadlock() {}
  [[nodiscard]] machine* this_idle_machine() {
    const int thread = current_engine().thread_index();
    machine* const m = thread < 0 ? nullptr : here_[static_cast<std::size_t>(thread)];
    return m != nullptr && !m->parker.holds() ? m : nullptr;
  }

  // -- what machine_loop asks of its host --

  using task_list = inject_chain<&task::link>;
  static constexpr int looks = 1;
  static constexpr int look_pauses = 0;
  static constexpr int steal_rounds = [] {
    if constexpr (requires { Queues::steal_rounds; }) return Queues::steal_rounds;
    return 1;
  }();
  static constexpr int watch_pauses = 0;
  static constexpr int fork_pauses = 0;
  static constexpr unsigned unwatched_forks = 1;
  static constexpr std::uint64_t uncounted_pace = [] {
    if constexpr (requires { Queues::uncounted; }) return std::uint64_t{0};
    return std::numeric_limits<std::uint64_t>::max();
  }();
  static constexpr unsigned most_counted = Queues::counted ? Processors : 0;
  static constexpr std::uint64_t chain_pace = 1;
  static constexpr std::uint64_t poll_pace = 1;
  [[nodiscard]] bool global_first(processor& p) {
    p.owned.set(1);
    return p.global_first;
  }
  [[nodiscard]] int clock() const { return 0; }
  [[nodiscard]] virtual bool poll_now(processor&) { return false; }
  [[nodiscard]] virtual bool nobody_polls() const { return false; }
  [[nodiscard]] virtual bool unwatched() const { return false; }
  [[nodiscard]] virtual bool timers_pending() const { return false; }
  virtual void poll() { require(false, "a machine polls although no task waits, or another machine polls"); }
  [[nodiscard]] virtual bool timers_due() const { return false; }
  [[nodiscard]] virtual bool fire_due_timers() { return false; }
  void hold(machine& m, processor& p) {
    m.held = &p;
    m.parker.holds(true);
  }
  void leave(machine& m) { m.parker.holds(false); }
  [[nodiscard]] task& strand_of(processor&, task& fork) { return fork; }
  [[nodiscard]] task& task_of(processor&, const work& w) { return *w.what; }
  void searches(machine&) {}
  void spins(machine&) {}
  void rests(machine& m) {
    if (!tasks_stay) return;
    auto& own = m.held->own_queue;
    require(own.size_approx() == 0 && own.next_is_free() && m.held->own_yielded.size_approx() == 0,
            "a machine gives up a processor that has a task");
  }
  [[nodiscard]] int begins() const { return 0; }
  // Other tasks have begun while machine 1 looked around, which alone looks at these counters.
  void looked(processor& p, int) {
    if (may_look == 0) require(false, "a machine looks around again and again, and leaves a task where it is");
    if (may_look > 0) --may_look;
    if (beside_chain) ++p.dispatches.seen;
    if (beside_polls) ++p.polls;
  }
  void stole(processor&, processor&, std::size_t, bool, int) {}
  void lost(processor&) {}
  [[nodiscard]] bool watches_forks() const { return true; }

  global_queue global{Queues::shards};
  park_protocol<machine, processor, machine_loop_model, Parking> parking{*this};
  machine_loop<machine, processor, work, machine_loop_model, atomics> looping{*this};
  struct no_rhythm {};
  monitor_loop<machine_loop_model, parker, no_rhythm, atomics> monitoring{*this};  // does not run

 protected:
  // -- the state at the start: by the calls that lead to it --

  machine_loop_model() {
    parking.resize(Processors);
    parking.submitted();
  }
  /// Machine i has found a task: so it has woken the next machine, or left a request if none is idle.
  void settle(unsigned i) {
    parking.found(machines[i]);
    parking.submitted();
  }
  /// Machine i, which holds a processor, gives it up and sleeps.
  void put_to_sleep(unsigned i) {
    machine& m = machines[i];
    leave(m);
    give(m, parking.machine_idle(m, *m.held));
  }
  /// Machine i looks for work from now on, although it has just had some.
  void look_for_work(unsigned i) {
    require(parking.may_spin(machines[i]), "no machine spins, and yet this machine may not spin");
  }
  /// Machine i is in a blocking call: the monitor takes its processor, for another machine if one needs it.
  void take_from(unsigned i, bool needed) {
    processor& p = *machines[i].held;
    leave(machines[i]);
    machines[i].held = nullptr;
    parking.hand_off(
        p, [] { return true; }, needed);
  }
  void constructed() {
    for (machine& m : machines) m.parker.constructed();
  }

  // -- in threads --

  /// From now on the calling thread is that of `m`.
  void be(machine& m) {
    const int thread = current_engine().thread_index();
    if (thread >= 0) here_[static_cast<std::size_t>(thread)] = &m;
  }
  /// Machine `m` has got `p`, or nothing.
  void give(machine& m, processor* p) {
    m.held = nullptr;
    if (p != nullptr) looping.hold(m, *p);
  }
  /// For a machine that was asleep at the start: sleeps on, as machine_idle() does. Returns false if the scheduler has
  /// stopped.
  bool wake_up(machine& m) {
    be(m);
    m.parker.park();
    give(m, m.handed.get());
    m.handed.set(nullptr);
    return m.held != nullptr;
  }
  /// Finds a task and begins it. Returns its id, or 0 if the scheduler has stopped.
  int run_one(machine& m) {
    be(m);
    const work w = looping.next(m);
    if (!w) {
      leave(m);
      m.held = nullptr;
      return 0;
    }
    tasks.run(w.what);
    return tasks.id_of(w.what);
  }
  /// Says that task `id` has begun or is done: each scenario decides which of the two it means.
  void tell(int id) { told[static_cast<std::size_t>(id) - 1].up.store(1, std::memory_order::release); }
  void wait_for(int id) {
    await([&] { return told[static_cast<std::size_t>(id) - 1].up.load(std::memory_order::acquire) != 0; });
  }

  /// In finish(), when the scheduler has not stopped: every processor is held by one machine, or handed to one, or
  /// idle; and the number of spinning machines is right.
  void require_all_accounted_for() {
    unsigned held = 0;
    unsigned spinning = 0;
    for (machine& m : machines) {
      const bool has = m.parker.holds() || m.handed.get() != nullptr;
      held += has ? 1 : 0;
      spinning += has && m.spinning.get() ? 1 : 0;
      require(m.idle.get() || !m.dozes.get(), "a machine that is not idle counts as one that dozes");
    }
    require(parking.held() == held, "the number of processors held is wrong");
    require(parking.idle_processors() + held == parking.limit(), "a processor is neither idle nor held, or both");
    require(parking.spinning() == spinning, "the number of spinning machines is wrong");
  }

 private:
  template <std::size_t... I>
  std::array<processor, Processors> make_processors(std::index_sequence<I...>) {
    return {processor(global, static_cast<unsigned>(I))...};
  }
  struct flag {
    atomic<int> up{0};
  };
  std::array<machine*, 4> here_{};  // per thread

 protected:
  task_set<Tasks> tasks;
  std::array<flag, static_cast<std::size_t>(Tasks)> told;
  std::array<processor, Processors> processors = make_processors(std::make_index_sequence<Processors>());
  std::array<machine, Machines> machines;
  unsigned started = 0;
  std::size_t kept = Machines;  // idle machines that are not too many
  bool tasks_stay = false;      // require that no machine rests while its own queue has tasks
  int may_look = -1;            // how often machines look around at most; -1: as often as they like
  bool beside_chain = false;    // a machine that finds nothing dozes, and looks again once; for one machine only
  bool beside_polls = false;    // the chain's tasks wait for descriptors; likewise
};

}  // namespace runq::model
