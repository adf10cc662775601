// SPDX-License-Identifier: MIT
// What the models of machine_loop share: a scheduler in small, in which machines find their tasks by the shipped loop,
// in the shipped queues, and sleep by the shipped park_protocol. What is left of its own is what a host does for the
// loop without shared memory, and a thread per machine.
#pragma once

#include <array>
#include <optional>
#include <utility>

#include "oracle.hpp"
#include "runq/chase_lev.hpp"
#include "runq/local_queue.hpp"
#include "runq/protocol/machine_loop.hpp"
#include "runq/protocol/monitor.hpp"
#include "runq/protocol/park.hpp"
#include "waiting.hpp"

namespace runq::model {

/// In place of fork deques, for scenarios without forks.
class no_forks {
 public:
  struct owner {
    [[nodiscard]] std::optional<task*> pop() { return {}; }
    void rebind() {}
  };
  struct thief {
    [[nodiscard]] bool has_work() const { return false; }
    [[nodiscard]] steal_result<task*> steal() { return {}; }
  };
  explicit no_forks(std::size_t) {}
  [[nodiscard]] owner make_owner() { return {}; }
  [[nodiscard]] thief make_thief() { return {}; }
};
using fork_deques = basic_chase_lev<task*, atomics>;

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

/// At the start there are `Processors` of them, machine 0 has processor 0 and spins, and the others do not run: see
/// settle() and the calls after it. A ring has `Capacity` slots.
template <unsigned Machines, unsigned Processors, int Tasks, std::size_t Capacity = 2, class Forks = no_forks>
class machine_loop_model : public scenario {
 public:
  struct machine;

  /// A parker on which a scenario's constructor can put a machine to sleep: it is asleep as soon as its thread runs.
  class machine_parker : public parker {
   public:
    void park() {
      require(!holds_, "a machine goes to sleep, and its thread still counts as one with a processor");
      if (!constructing_ || unparked_) parker::park();
      if (constructing_) unparked_ = false;
    }
    void unpark() {
      unparked_ = true;
      parker::unpark();
    }
    void constructed() { constructing_ = false; }
    void holds(bool processor) { holds_ = processor; }
    [[nodiscard]] bool holds() const { return holds_; }

   private:
    bool constructing_ = true;
    bool unparked_ = false;
    bool holds_ = false;  // its thread: see hold() and leave()
  };
  struct counter {
    [[nodiscard]] int get() const { return 0; }  // nobody begins a task while a thief watches
  };
  using local_queue = basic_local_queue<&task::link, Capacity>;
  struct processor : park_processor<processor, atomics> {
    processor(inject<&task::link>& global, unsigned i)
        : index(i),
          queue(global),
          own_queue(queue.make_owner()),
          queue_thief(queue.make_thief()),
          forks(Capacity),
          own_forks(forks.make_owner()),
          forks_thief(forks.make_thief()) {}
    [[nodiscard]] unsigned random() const { return 0; }

    const unsigned index;
    cell<int> owned{0};  // whoever takes from its own queue has it for itself
    counter dispatches;
    next_first order;
    local_queue queue;
    static constexpr std::size_t queue_capacity = Capacity;
    typename local_queue::owner own_queue;
    typename local_queue::thief queue_thief;
    Forks forks;
    typename Forks::owner own_forks;
    typename Forks::thief forks_thief;
  };
  struct machine : park_machine<machine, processor, machine_parker, atomics> {
    processor* held = nullptr;
  };
  /// A task, or nothing.
  struct work {
    work() = default;
    explicit work(task* t) : what(t) {}
    [[nodiscard]] explicit operator bool() const { return what != nullptr; }
    task* what = nullptr;
  };

  // -- what park_protocol asks of its host --

  [[nodiscard]] bool work_anywhere() const { return looping.work_anywhere(); }
  [[nodiscard]] bool surplus(const processor& p) const { return looping.surplus(p); }
  [[nodiscard]] processor& processor_at(unsigned i) {
    require(i < Processors, "a processor that was never made");
    return processors[i];
  }
  void start_machine(processor& p) {
    // Only while the scenario is constructed: later every machine is there.
    require(started != Machines, "one machine more was to be started than there are");
    machine& m = machines[started++];
    m.spinning.set(true);
    looping.hold(m, p);
  }
  void all_idle() {}
  [[nodiscard]] machine* this_idle_machine() { return nullptr; }

  // -- what machine_loop asks of its host --

  using task_list = inject_chain<&task::link>;
  static constexpr int looks = 1;
  static constexpr int look_pauses = 0;
  static constexpr int steal_rounds = 1;
  static constexpr int watch_pauses = 0;
  [[nodiscard]] work take_local(processor& p) {
    p.owned.set(1);
    if (const auto f = p.own_forks.pop()) return work(*f);
    return work(p.own_queue.pop().task);
  }
  [[nodiscard]] bool poll_now(processor&) { return false; }
  [[nodiscard]] bool timers_due() const { return false; }
  [[nodiscard]] bool fire_due_timers() { return false; }
  void hold(machine& m, processor& p) {
    m.held = &p;
    m.parker.holds(true);
  }
  void leave(machine& m) { m.parker.holds(false); }
  [[nodiscard]] task& strand_of(processor&, task& fork) { return fork; }
  [[nodiscard]] task& task_of(processor&, const work& w) { return *w.what; }
  void searches(machine&) {}
  void spins(machine&) {}
  void rests(machine&) {}
  [[nodiscard]] int begins() const { return 0; }
  void looked(processor&, int) {}
  void stole(processor&, processor&, std::size_t, bool, int) {}
  void lost(processor&) {}

  inject<&task::link> global;
  park_protocol<machine, processor, machine_loop_model, atomics> parking{*this};
  machine_loop<machine, processor, work, machine_loop_model, atomics> looping{*this};
  struct no_rhythm {};
  monitor_loop<machine_loop_model, parker, no_rhythm, atomics> monitoring{*this};  // does not run

 protected:
  // -- the state at the start: by the calls that lead to it --

  machine_loop_model() {
    parking.resize(Processors);
    parking.submitted();
  }
  /// Machine i has found a task: so the next one was woken, or was asked for when there is none.
  void settle(unsigned i) {
    parking.found(machines[i]);
    parking.submitted();
  }
  /// Machine i, which holds a processor, gives it up and sleeps.
  void put_to_sleep(unsigned i) {
    machine& m = machines[i];
    leave(m);
    processor* const p = parking.rest(m, *m.held);
    require(p == nullptr, "a machine that is put to sleep has a processor");
    m.held = nullptr;
  }
  /// Machine i looks for work from now on, although it has just had some.
  void look_for_work(unsigned i) { require(parking.may_spin(machines[i]), "nobody spins, and a machine may not"); }
  /// Machine i is in a blocking call: the monitor takes its processor, for another machine if somebody needs it.
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

  /// As rest() does for a machine that was asleep at the start. False: the scheduler has stopped.
  [[nodiscard]] bool wake_up(machine& m) {
    m.parker.park();
    processor* const p = m.handed.get();
    m.handed.set(nullptr);
    if (p != nullptr) looping.hold(m, *p);
    return p != nullptr;
  }
  /// Finds a task and begins with it; its id, or 0: the scheduler has stopped.
  int run_one(machine& m) {
    const work w = looping.next(m);
    if (!w) {
      leave(m);
      m.held = nullptr;
      return 0;
    }
    tasks.run(w.what);
    return tasks.id_of(w.what);
  }
  /// Task `id` is done, or has begun: as its scenario has it.
  void tell(int id) { told[static_cast<std::size_t>(id) - 1].up.store(1, std::memory_order::release); }
  void wait_for(int id) {
    await([&] { return told[static_cast<std::size_t>(id) - 1].up.load(std::memory_order::acquire) != 0; });
  }

  /// In finish(), when the scheduler has not stopped: every processor is held by one machine, or handed to one, or
  /// idle; and who counts as spinning looks for work.
  void require_all_accounted_for() {
    unsigned held = 0;
    unsigned spinning = 0;
    for (machine& m : machines) {
      const bool has = m.parker.holds() || m.handed.get() != nullptr;
      held += has ? 1 : 0;
      spinning += has && m.spinning.get() ? 1 : 0;
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

 protected:
  task_set<Tasks> tasks;
  std::array<flag, static_cast<std::size_t>(Tasks)> told;
  std::array<processor, Processors> processors = make_processors(std::make_index_sequence<Processors>());
  std::array<machine, Machines> machines;
  unsigned started = 0;
};

}  // namespace runq::model
