// SPDX-License-Identifier: MIT
// small_scheduler: the scheduler without coroutines, timers, descriptors and blocking calls. Its machines find their
// tasks by the shipped machine_loop and sleep by the shipped park_protocol; queues, forks, lock, parker, victims' order
// and chains are the shipped ones, too. A task is a function. What runs it is a parameter: `Place` is either virtual
// processors or real threads, so that one workload can be measured in both.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "runq/chase_lev.hpp"
#include "runq/detail/core.hpp"
#include "runq/detail/fair_time.hpp"
#include "runq/detail/stands_still.hpp"
#include "runq/detail/steal_order.hpp"
#include "runq/local_queue.hpp"
#include "runq/protocol/global_shards.hpp"
#include "runq/protocol/join_counter.hpp"
#include "runq/protocol/machine_loop.hpp"
#include "runq/protocol/monitor.hpp"
#include "runq/protocol/park.hpp"
#include "runq/protocol/parker.hpp"
#include "runq/protocol/time_slice.hpp"

namespace runq::simulate {

/// `Place` has
/// - `policy`: the atomics policy; `futex`: see basic_parker
/// - `work()`: what a task does; `clock()`: the time in ns
/// - `fences_are_asymmetric()`: whether a heavy fence interrupts all others
/// - `done(unsigned processor)`: the processor has run a task
/// - `name(begin, bytes, what, every)`: see world::name()
template <class Place>
class small_scheduler {
 public:
  using policy = typename Place::policy;
  struct task;
  struct machine;

  /// What a task does, on the machine that runs it.
  using function = void (*)(small_scheduler&, machine&, task&);
  struct alignas(64) task {
    inject_link<task, policy> link;
    function run = nullptr;
    task* other = nullptr;      // by workload: the parent, or the partner
    std::uint32_t left = 0;     // by workload: how often it still runs, or how deep the tree below is
    std::uint32_t worked = 0;   // how often it has done its work
    join_counter<policy> join;  // of its children
  };

  /// A counter that one thread increases and others may read, as detail::counter.
  class counter {
   public:
    void operator++() {
      // [simulate.count] relaxed: this thread is the only writer.
      n_.store(n_.load(std::memory_order::relaxed) + 1, std::memory_order::relaxed);
    }
    // [simulate.get] relaxed: a guess.
    [[nodiscard]] std::uint64_t get() const { return n_.load(std::memory_order::relaxed); }

   private:
    typename policy::template atomic<std::uint64_t> n_{std::uint64_t{0}};
  };

  using global_queue = global_shards<&task::link, 256>;
  using local_queue = basic_local_queue<&task::link>;
  using fork_deque = basic_chase_lev<task*, policy>;
  using yielded_ring = basic_ring<task*, detail::processor::yielded_ring::capacity(), std::uint32_t, policy>;

  struct alignas(64) processor : park_processor<processor, policy> {
    processor(global_queue& global, unsigned i, unsigned its_shard)
        : index(i),
          shard(its_shard),
          random(i + 1),
          queue(global.near(shard)),
          own_queue(queue.make_owner()),
          queue_thief(queue.make_thief()),
          forks(local_queue::capacity()),
          own_forks(forks.make_owner()),
          forks_thief(forks.make_thief()),
          own_yielded(yielded.make_owner()),
          yielded_thief(yielded.make_thief()) {}

    const unsigned index;
    const unsigned shard;
    counter dispatches;
    counter polls;
    detail::lifo_chain chain;
    detail::fast_random random;
    detail::steal_order order;
    local_queue queue;
    static constexpr std::size_t queue_capacity = local_queue::capacity();
    typename local_queue::owner own_queue;
    typename local_queue::thief queue_thief;
    fork_deque forks;
    typename fork_deque::owner own_forks;
    typename fork_deque::thief forks_thief;
    yielded_ring yielded;
    typename yielded_ring::owner own_yielded;
    typename yielded_ring::thief yielded_thief;
    unsigned turns = 0;
    unsigned overflows = 0;
    unsigned unwatched_forks = 0;
    std::uint64_t looked_at = 0;
    time_slice<policy> slice;
    // The first timer: thieves look at it. There is none.
    typename policy::template atomic<std::int64_t> earliest_timer{never};
    counter ticks, runnext_hits, steals, lost;
  };

  struct parker : basic_parker<typename Place::futex, policy> {
    // put_to_sleep() is not called by the machine's thread, which sleeps as soon as it runs.
    void park() {
      if (!thread_comes_later) basic_parker<typename Place::futex, policy>::park();
    }
    [[nodiscard]] bool park_for_long() {
      this->park();
      return true;
    }
    [[nodiscard]] bool doze() {
      ++dozes;
      return this->park_for(detail::machine_parker::doze_time);
    }
    std::uint64_t dozes = 0;  // for tests
    bool thread_comes_later = false;
  };
  struct alignas(64) machine : park_machine<machine, processor, parker, policy> {
    processor* held = nullptr;
    std::uint64_t begun = 0;
    std::uint64_t polls = 0;
    unsigned number = 0;
  };
  /// A task, or nothing.
  struct work {
    work() = default;
    explicit work(task* t, bool inherits_slice = false) : what(t), inherits(inherits_slice) {}
    [[nodiscard]] explicit operator bool() const { return what != nullptr; }
    task* what = nullptr;
    bool inherits = false;
  };

  /// At the start `n` machines run, each with a processor. `per_shard` processors share a shard of the global queue.
  small_scheduler(Place& where, unsigned n, unsigned per_shard = detail::core::processors_per_shard)
      : place(where), global((n - 1) / per_shard + 1) {
    Place::name(&global, sizeof global, "global queue", sizeof global);
    Place::name(&parking, sizeof parking, "park", sizeof parking);
    Place::name(&looping, sizeof looping + sizeof monitoring, "loop and monitor", sizeof looping + sizeof monitoring);
    for (unsigned i = 0; i != n; ++i) {
      processors_.push_back(std::make_unique<processor>(global, i, i / per_shard));
      machines_.push_back(std::make_unique<machine>());
      machines_.back()->number = i;
      Place::name(processors_.back().get(), sizeof(processor), "processors", sizeof(processor));
      Place::name(machines_.back().get(), sizeof(machine), "machines", sizeof(machine));
    }
    // Each machine finds a task and wakes the next one, until all have a processor.
    parking.resize(n);
    parking.submitted();
    while (parking.idle_processors() != 0) parking.found(*machines_[started_ - 1]);
    parking.found(*machines_[started_ - 1]);
  }

  [[nodiscard]] unsigned size() const { return static_cast<unsigned>(processors_.size()); }
  [[nodiscard]] machine& machine_at(unsigned i) { return *machines_[i]; }

  /// Machine i has no work at the start, and sleeps. Before there are tasks.
  void put_to_sleep(unsigned i) {
    machine& m = *machines_[i];
    m.parker.thread_comes_later = true;
    // With a request it looks for work once more.
    while (m.held != nullptr) m.held = parking.machine_idle(m, *m.held);
    m.parker.thread_comes_later = false;
  }

  /// What the thread of machine `m` does: runs tasks until stop().
  void loop(machine& m) {
    if (m.held == nullptr) {
      m.parker.park();
      m.held = m.handed.get();
      m.handed.set(nullptr);
    }
    looping.hold(m, *m.held);
    while (const work w = looping.next(m)) {
      if (!w.inherits) {
        ++m.held->ticks;
        m.held->slice.begin();
      }
      w.what->run(*this, m, *w.what);
      place.done(m.number);
    }
  }

  // -- what tasks call --

  void work_in(task& t) {
    ++t.worked;
    place.work();
  }

  /// Makes `t` the next to run here: as go(), and as a channel wakes a task.
  void next_here(machine& m, task& t) { (void)looping.make_next(*m.held, &t); }
  /// Lets others run before `t`: as yield().
  void yield(machine& m, task& t) { looping.yield(*m.held, &t); }
  /// Puts `t` at the end of the global queue: as a thread outside starts a task, each in the shard of one processor.
  void to_global(machine& m, task& t) {
    global.put(&t, m.held->shard);
    parking.submitted_in_order();
  }
  /// A child that any machine may run: as a fork by child stealing.
  void fork(machine& m, task& t) {
    if (!m.held->own_forks.push(&t)) std::abort();
    parking.forked(m.held->own_forks);
  }

  // -- what park_protocol asks of its host --

  [[nodiscard]] bool work_anywhere() const { return looping.work_anywhere(); }
  [[nodiscard]] bool surplus(const processor& p) const { return looping.surplus(p); }
  [[nodiscard]] processor& processor_at(unsigned i) { return *processors_[i]; }
  // While this is constructed. Later there are as many machines as processors.
  void start_machine(processor& p) {
    if (started_ == machines_.size()) std::abort();
    machine& m = *machines_[started_++];
    m.spinning.set(true);
    m.held = &p;
  }
  [[nodiscard]] bool keeps(std::size_t) const { return true; }
  void check_deadlock() {}
  [[nodiscard]] machine* this_idle_machine() { return nullptr; }

  // -- what machine_loop asks of its host: as core.hpp and poll.cpp, without timers and descriptors --

  using task_list = inject_chain<&task::link>;
  static constexpr int looks = detail::core::looks;
  static constexpr int look_pauses = detail::core::look_pauses;
  static constexpr int steal_rounds = detail::core::steal_rounds;
  static constexpr int watch_pauses = detail::core::watch_pauses;
  static constexpr int fork_pauses = detail::core::fork_pauses;
  static constexpr unsigned unwatched_forks = detail::core::unwatched_forks;
  static constexpr std::uint64_t uncounted_pace = detail::core::uncounted_pace;
  static constexpr unsigned most_counted = detail::core::most_counted;
  static constexpr std::uint64_t chain_pace = detail::core::chain_pace;
  static constexpr std::uint64_t poll_pace = detail::core::poll_pace;
  static constexpr std::uint64_t global_period = detail::core::global_period;
  static constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();
  [[nodiscard]] bool global_first(processor& p) {
    ++p.dispatches;
    return p.dispatches.get() % global_period == 0;
  }
  [[nodiscard]] std::int64_t clock() const { return place.clock(); }
  [[nodiscard]] bool nobody_polls() const { return false; }
  [[nodiscard]] bool unwatched() const { return false; }
  [[nodiscard]] bool timers_pending() const { return false; }
  void poll() {}
  [[nodiscard]] bool poll_now(processor& p) { return earliest(p) != never; }
  [[nodiscard]] bool timers_due() const {
    bool due = false;
    for (const auto& p : processors_) due |= earliest(*p) != never;
    return due;
  }
  [[nodiscard]] bool fire_due_timers() { return timers_due(); }
  void hold(machine& m, processor& p) {
    m.held = &p;
    p.chain.forget();
  }
  void leave(machine&) {}
  [[nodiscard]] task& strand_of(processor&, task& fork) { return fork; }
  [[nodiscard]] task& task_of(processor&, const work& w) { return *w.what; }
  void searches(machine&) {}
  void spins(machine&) {}
  void rests(machine&) {}
  [[nodiscard]] std::int64_t begins() const { return 0; }
  void looked(processor&, std::int64_t) {}
  void stole(processor& p, processor&, std::size_t, bool, std::int64_t) { ++p.steals; }
  void lost(processor& p) { ++p.lost; }
  [[nodiscard]] bool watches_forks() const { return Place::fences_are_asymmetric(); }

  Place& place;
  task* tasks = nullptr;  // by workload: all of them
  alignas(64) global_queue global;
  alignas(64) park_protocol<machine, processor, small_scheduler, policy> parking{*this};
  alignas(64) machine_loop<machine, processor, work, small_scheduler, policy> looping{*this};
  struct no_rhythm {};
  monitor_loop<small_scheduler, parker, no_rhythm, policy> monitoring{*this};  // does not run

 private:
  [[nodiscard]] static std::int64_t earliest(const processor& p) {
    // [simulate.timer] acquire: so that the load costs what the shipped scheduler's [timer_heap.earliest] costs.
    return p.earliest_timer.load(std::memory_order::acquire);
  }

  std::vector<std::unique_ptr<processor>> processors_;
  std::vector<std::unique_ptr<machine>> machines_;
  unsigned started_ = 0;
};

}  // namespace runq::simulate
