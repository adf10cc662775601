// SPDX-License-Identifier: MIT
// machine_loop: how a machine (thread) finds the next task: where it looks and in which order, when it gives its
// processor up, and what it looks at once more before it sleeps. park.hpp decides when machines sleep and are woken.
//
// Source: findRunnable and stealWork of Go's scheduler (runtime/proc.go). In words: docs/scheduler.md. Models:
// models/cases/scheduler/machine_loop/.
#pragma once

#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>

#include "runq/atomics.hpp"
#include "runq/common.hpp"
#include "runq/detail/stands_still.hpp"
#include "runq/local_queue.hpp"

namespace runq {

/// What a machine runs, or nothing. It is made of an element of one of the queues, and of a flag: whether it runs in
/// the time slice of the task before.
template <class Work, class Processor>
concept machine_work = std::default_initializable<Work> && requires(const Work& w, Processor& p) {
  static_cast<bool>(w);
  Work(p.own_queue.pop_oldest());
  Work(p.own_queue.pop().task, true);
  Work(*p.own_forks.pop(), true);
};

/// A machine: of park_protocol, and more.
template <class Machine, class Processor>
concept looping_machine = requires(Machine& m) {
  // Its processor, or nullptr.
  { m.held } -> std::same_as<Processor*&>;
  // Only its thread uses it.
  { m.begun } -> std::same_as<std::uint64_t&>;
  { m.polls } -> std::same_as<std::uint64_t&>;
  { m.spinning.get() } -> std::convertible_to<bool>;
};

/// A processor: of park_protocol, and more.
template <class Processor>
concept looping_processor = requires(Processor& p, const Processor& victim, bool slice_is_over, unsigned n) {
  // Its number.
  { p.index } -> std::convertible_to<unsigned>;
  // How many tasks it has begun.
  { victim.dispatches.get() } -> std::convertible_to<std::uint64_t>;
  // How often it had no task, and got one by polling; the machine_loop counts that.
  { victim.polls.get() } -> std::convertible_to<std::uint64_t>;
  ++p.polls;
  ++p.runnext_hits;
  // A time_slice, and a lifo_chain.
  { p.slice.over() } -> std::same_as<bool>;
  { p.chain.due(slice_is_over) } -> std::same_as<bool>;
  p.chain.grow();
  p.chain.end();
  p.chain.forget();
  // The shard of the global queue that it asks first, modulo the number of shards.
  { p.shard } -> std::convertible_to<unsigned>;
  // How many turns it has given to tasks that would starve; the machine_loop counts them.
  { p.turns } -> std::same_as<unsigned&>;
  // How often its local_queue has overflowed; the machine_loop counts that.
  { p.overflows } -> std::same_as<unsigned&>;
  // How many forks that are alone its machine takes from others without watching them; likewise.
  { p.unwatched_forks } -> std::same_as<unsigned&>;
  // How many tasks it had begun when its machine last looked for others without being counted; likewise.
  { p.looked_at } -> std::same_as<std::uint64_t&>;
  // The handles of its local_queue.
  { Processor::queue_capacity } -> std::convertible_to<std::size_t>;
  p.own_queue.pop();
  p.own_queue.pop_oldest();
  p.own_queue.drain();
  p.own_queue.rebind();
  p.own_queue.steal_from(victim.queue_thief, steal_runnext::no, Processor::queue_capacity, 0);
  { p.own_queue.size_approx() } -> std::convertible_to<std::size_t>;
  { victim.queue_thief.has_work() } -> std::same_as<bool>;
  { victim.queue_thief.has_work_approx() } -> std::same_as<bool>;
  { victim.queue_thief.size_approx() } -> std::convertible_to<std::size_t>;
  // Those of its deque of forks.
  p.own_forks.pop();
  p.own_forks.rebind();
  { p.own_forks.size_approx() } -> std::convertible_to<std::size_t>;
  p.forks_thief.steal();
  { victim.forks_thief.has_work() } -> std::same_as<bool>;
  { victim.forks_thief.size_approx() } -> std::convertible_to<std::size_t>;
  victim.forks_thief.oldest_approx();
  // Those of a ring for the tasks that yield on it.
  p.own_yielded.pop();
  p.own_yielded.rebind();
  { p.own_yielded.size_approx() } -> std::convertible_to<std::size_t>;
  p.yielded_thief.steal_half_into(p.own_yielded);
  { victim.yielded_thief.has_work() } -> std::same_as<bool>;
  // A steal_order, and a generator for it.
  { p.order.size() } -> std::convertible_to<unsigned>;
  p.order.reset(n);
  p.order.start(p.random());
};

/// How long a machine looks for work.
template <class Host>
concept patience_of_machines = requires {
  // It looks around so many times, each time in so many rounds over the processors, with so many pauses in between.
  { Host::looks } -> std::convertible_to<int>;
  { Host::steal_rounds } -> std::convertible_to<int>;
  { Host::look_pauses } -> std::convertible_to<int>;
  // It watches a victim for so many pauses before it takes the task in the runnext slot.
  { Host::watch_pauses } -> std::convertible_to<int>;
  // And for so many before it takes a fork that is alone; then it takes so many unwatched.
  { Host::fork_pauses } -> std::convertible_to<int>;
  { Host::unwatched_forks } -> std::convertible_to<unsigned>;
  // It looks around once without being counted if it has begun so many tasks since it did so last.
  { Host::uncounted_pace } -> std::convertible_to<std::uint64_t>;
  // Before it wakes more machines than one it counts the tasks of so many processors; 0: it wakes one.
  { Host::most_counted } -> std::convertible_to<unsigned>;
  // It dozes if so many tasks began while it found none.
  { Host::chain_pace } -> std::convertible_to<std::uint64_t>;
  // It leaves the poller to the others if they got tasks there so many times meanwhile.
  { Host::poll_pace } -> std::convertible_to<std::uint64_t>;
};

/// What machine_loop asks of the scheduler around it. The park_protocol passes its questions work_anywhere() and
/// surplus() on to the machine_loop.
template <class Host, class Machine, class Processor, class Work>
concept machine_loop_host = patience_of_machines<Host> &&
    requires(Host& host, Machine& m, Processor& p, unsigned i, typename Host::task_list& tasks) {
  { host.processor_at(i) } -> std::same_as<Processor&>;
  // A park_protocol, a global_shards, and a monitor_loop.
  { host.parking.limit() } -> std::same_as<unsigned>;
  { host.global.has_work() } -> std::same_as<bool>;
  { host.global.near(p.shard).has_work_approx() } -> std::same_as<bool>;
  host.monitoring.wake();

  // The processor is about to begin a task, or to look elsewhere for one: counts that, looks at the processor's timers
  // now and then, and says whether the global queue comes first this time.
  { host.global_first(p) } -> std::same_as<bool>;
  // The time, for `chain`.
  host.clock();
  // Whether there are descriptors, and no machine sleeps in the poller.
  { host.nobody_polls() } -> std::same_as<bool>;
  // Makes the tasks runnable whose descriptors have become ready, without waiting.
  host.poll();
  // Whether there are descriptors or timers, and no machine sleeps in the poller.
  { host.unwatched() } -> std::same_as<bool>;
  // Whether there are timers.
  { host.timers_pending() } -> std::same_as<bool>;
  // Whether timers of the processor or descriptors have made a task runnable at once.
  { host.poll_now(p) } -> std::same_as<bool>;
  // Whether a timer of any processor is due.
  { host.timers_due() } -> std::same_as<bool>;
  // Fires those that are, and returns whether there were any.
  { host.fire_due_timers() } -> std::same_as<bool>;

  // Sets `held`, and tells the thread which processor it has.
  host.hold(m, p);
  // The machine is about to lose its processor: from here on its thread has none.
  host.leave(m);

  // The global queue's chain, and its elements: for a fork, and for any work.
  tasks.push_back(&host.strand_of(p, **p.own_forks.pop()));
  tasks.push_back(&host.task_of(p, Work()));

  // For traces and statistics. begins() is a time.
  host.searches(m);
  host.spins(m);
  host.rests(m);
  host.looked(p, host.begins());
  // So many tasks, from a processor, whether from its runnext slot, and when the search began.
  host.stole(p, p, std::size_t{1}, true, host.begins());
  // Another thief was faster.
  host.lost(p);
  // Whether taking a fork costs so much that a fork which its processor takes back within some µs is left to it.
  { host.watches_forks() } -> std::same_as<bool>;
};

/// The loop of all machines of one scheduler. A machine calls all functions for itself, except those that say
/// otherwise. `Host` is a machine_loop_host.
template <class Machine, class Processor, class Work, class Host, class Atomics = std_atomics>
class machine_loop {
 public:
  explicit machine_loop(Host& host) noexcept : host_(host), ending_(false) {
    static_assert(looping_processor<Processor> && looping_machine<Machine, Processor>);
    static_assert(machine_work<Work, Processor>);
    static_assert(machine_loop_host<Host, Machine, Processor, Work>);
  }
  machine_loop(const machine_loop&) = delete;
  machine_loop& operator=(const machine_loop&) = delete;

  /// Returns the next work for `m`: from its processor, or from another one. Sleeps until there is some. Returns
  /// nothing when the scheduler stops; then the machine has no processor any more.
  RUNQ_ON_EVERY_CALL [[nodiscard]] Work next(Machine& m) {
    while (const Work w = find_work(m)) {
      const bool looked_around = m.spinning.get();
      host_.parking.found(m);
      if (looked_around) start_more(m);
      if (!ends()) return w;
      // find_work() has asked whether the run ends, but since then a destructor of main's variables may have made the
      // task runnable, after the end.
      put_back(*m.held, w);
    }
    return {};
  }

  /// Machine `m` has got processor `p`: called by next(), or by a machine that got the processor in another way.
  void hold(Machine& m, Processor& p) {
    host_.hold(m, p);
    // With [monitor.wake.fence], which pairs with [park.machine_idle.fence]: a machine that goes to sleep may not know
    // of a new processor, and then does not ask has_work() there. Without the fence it would miss the next task that is
    // made on it.
    host_.monitoring.wake();
    // In debug builds the handles remember their thread, and this is another thread.
    p.own_queue.rebind();
    p.own_forks.rebind();
    p.own_yielded.rebind();
  }

  /// Makes `task` the next to run on `p` by park_protocol::submit_next(), and returns what that returns. If tasks
  /// overflow into the global queue, those that do so next go to the next shard: machines that look for tasks, and this
  /// one, then wait for several locks and not for one. Called by the machine of `p`.
  template <class Task>
  RUNQ_ON_EVERY_CALL std::size_t make_next(Processor& p, Task* task) {
    const std::size_t overflowed = host_.parking.submit_next(p.own_queue, task);
    if (overflowed != 0) overflow_elsewhere(p);
    return overflowed;
  }

  /// Makes `task`, which has run on `p`, runnable behind the tasks of `p` and of the global queue. It waits in the
  /// processor's ring of yielded tasks. Thieves and machines that go to sleep look there, too. When the ring is full,
  /// its tasks go to the end of the global queue: one lock for many tasks. Called by the machine of `p`.
  template <class Task>
  void yield(Processor& p, Task* task) {
    while (!p.own_yielded.push(task)) publish(p);
    // Also for the tasks that publish() has moved: meanwhile they were in no queue, and a machine that went to sleep at
    // that moment missed them.
    host_.parking.submitted();
  }

  /// Whether any queue holds a task, or a timer is due: park_protocol asks this for a machine that gives up its
  /// processor. A task that was made runnable without a fence is seen by has_work(), which is ordered with the task's
  /// publication, and not by has_work_approx(), which is not.
  [[nodiscard]] bool work_anywhere() const {
    if (host_.timers_due()) return true;
    const unsigned n = host_.parking.limit();
    for (unsigned i = 0; i != n; ++i) {
      const Processor& p = host_.processor_at(i);
      // Forks are published with a fence.
      if (p.queue_thief.has_work() || p.forks_thief.has_work()) return true;
      // Yielded tasks are published with a fence, too.
      if (p.yielded_thief.has_work()) return true;
    }
    // Last, because a task that yields goes from a processor to the global queue.
    return host_.global.has_work();
  }

  /// Whether that processor is one too many: because of the last resize, or because the run ends. Any thread.
  [[nodiscard]] bool surplus(const Processor& p) const noexcept { return p.index >= host_.parking.limit() || ends(); }

  /// Called when main has ended: no machine begins another task from now on. Any thread.
  void end() noexcept {
    // [loop.end] relaxed: a task that becomes runnable after this is found in a queue, and the thread that takes it
    // from there sees that the run ends.
    ending_.store(true, std::memory_order::relaxed);
  }
  /// Whether main has ended and its run is not yet over. Any thread.
  [[nodiscard]] bool ends() const noexcept {
    // [loop.ends] relaxed: [loop.end] says why.
    return ending_.load(std::memory_order::relaxed);
  }
  /// Lets the next run begin. Called after all machines have left.
  void end_is_over() noexcept {
    // [loop.end_is_over] relaxed: machines of the next run get their processors under a lock.
    ending_.store(false, std::memory_order::relaxed);
  }

 private:
  // From now on `p` overflows into the next shard of the global queue.
  RUNQ_RARELY_CALLED void overflow_elsewhere(Processor& p) {
    p.own_queue.overflow_into(host_.global.near(p.shard + ++p.overflows));
  }

  RUNQ_ON_EVERY_CALL [[nodiscard]] Work find_work(Machine& m) {
    host_.searches(m);
    for (;;) {
      Processor* next = nullptr;
      if (m.held == nullptr) {
        next = host_.parking.idle_without_processor(m);
      } else if (host_.parking.somebody_returns()) {
        next = hand_processor_over(m, *m.held);
      } else if (surplus(*m.held)) {
        next = retire_processor(m, *m.held);
      } else {
        Processor& p = *m.held;
        if (const Work w = take_local(p)) return w;
        if (const Work w = look_further(m, p)) return w;
        next = give_up(m, p);
      }
      if (next == nullptr) return {};
      hold(m, *next);
    }
  }

  // hand_processor_over() and retire_processor() of park_protocol require that the machine does not spin. Otherwise it
  // would count as one that looks for work while it sleeps.
  [[gnu::noinline]] [[nodiscard]] Processor* hand_processor_over(Machine& m, Processor& p) {
    host_.parking.found(m);
    host_.leave(m);
    return host_.parking.hand_processor_over(m, p);
  }
  [[gnu::noinline]] [[nodiscard]] Processor* retire_processor(Machine& m, Processor& p) {
    host_.parking.found(m);
    evacuate(p);
    host_.leave(m);
    return host_.parking.retire_processor(m, p);
  }

  [[gnu::noinline]] [[nodiscard]] Processor* give_up(Machine& m, Processor& p) {
    host_.rests(m);
    host_.leave(m);
    if (!m.spinning.get() || !beside_chain(tasks_begun(), m.begun) || must_poll(polls(), m.polls)) {
      return host_.parking.machine_idle(m, p);
    }
    return host_.parking.machine_dozes(m, p, [this, &m] { return nothing_but_a_chain(m); });
  }

  // No number of tasks is larger.
  static constexpr std::uint64_t not_counted = std::numeric_limits<std::uint64_t>::max();
  // How many tasks have begun, and how many forks have left a deque in which they were the oldest: so also those that
  // were alone, and that their processor has taken back.
  [[nodiscard]] std::uint64_t tasks_begun() const {
    return sum_of(
        [](const Processor& p) -> std::uint64_t { return p.dispatches.get() + p.forks_thief.oldest_approx(); });
  }
  template <class Number>
  [[nodiscard]] std::uint64_t sum_of(Number&& of) const {
    std::uint64_t sum = 0;
    const unsigned n = host_.parking.limit();
    for (unsigned i = 0; i != n; ++i) sum += of(host_.processor_at(i));
    return sum;
  }
  // Whether so many tasks have begun meanwhile that one that waits in a runnext slot, or a fork that is alone, waits
  // for a moment only.
  [[nodiscard]] static bool beside_chain(std::uint64_t now, std::uint64_t before) {
    return now > before && now - before >= Host::chain_pace;
  }
  // How often processors have got tasks by polling.
  [[nodiscard]] std::uint64_t polls() const {
    return sum_of([](const Processor& p) { return p.polls.get(); });
  }
  // Whether a machine sleeps in the poller rather than doze, because nobody else looks there. It leaves descriptors to
  // processors that have got tasks by polling so often meanwhile: in the poller it would take the next one from a
  // processor that polls for it already, or that processor would wake it. Timers are waited for in the poller only.
  [[nodiscard]] bool must_poll(std::uint64_t now, std::uint64_t before) const {
    return host_.unwatched() && (host_.timers_pending() || now - before < Host::poll_pace);
  }
  // Machine `m` has found work and may have been the only one that looked: it wakes others for the tasks that are left.
  void start_more(Machine& m) {
    if (Host::most_counted != 0 && host_.parking.may_start_more()) host_.parking.start_more(tasks_near(*m.held));
  }
  // A guess at how many tasks wait at `p` and at the processors behind it. Not at all of them, because each look costs
  // cache lines of another processor.
  [[gnu::noinline]] [[nodiscard]] std::size_t tasks_near(const Processor& p) const {
    const unsigned n = host_.parking.limit();
    std::size_t sum = 0;
    for (unsigned i = 0; i != n && i != Host::most_counted; ++i) {
      const Processor& near = host_.processor_at((p.index + i) % n);
      sum += near.queue_thief.size_approx() + near.forks_thief.size_approx();
    }
    return sum;
  }

  // Whether there is a fork for a machine that dozes: one that is not alone, or that its processor does not take back
  // within some µs.
  [[nodiscard]] static bool forks_stay(const Processor& p) {
    return p.forks_thief.has_work() &&
           (p.forks_thief.size_approx() > 1 || detail::stays<Atomics>(p.forks_thief, Host::fork_pauses));
  }

  // Called by a machine that dozes: whether it may go on.
  [[nodiscard]] bool nothing_but_a_chain(Machine& m) {
    const std::uint64_t polled = polls();
    // by chance: it happens while a machine dozes.
    if (must_poll(polled, std::exchange(m.polls, polled)) || host_.timers_due() || host_.global.has_work())
      return false;
    const unsigned n = host_.parking.limit();
    for (unsigned i = 0; i != n; ++i) {
      const Processor& p = host_.processor_at(i);
      // by chance: it happens while a machine dozes.
      if (p.queue_thief.size_approx() != 0 || forks_stay(p)) return false;
      if (p.yielded_thief.has_work()) return false;
      if (p.queue_thief.has_work_approx() &&
          detail::stands_still<Atomics>(p.queue_thief, p.dispatches, Host::watch_pauses)) {
        return false;
      }
    }
    const std::uint64_t now = tasks_begun();
    return beside_chain(now, std::exchange(m.begun, now));
  }

  // Called when `p` itself has no work.
  [[gnu::noinline]] [[nodiscard]] Work look_further(Machine& m, Processor& p) {
    if (const Work w = take_share(p)) return w;
    if (host_.poll_now(p)) {
      ++p.polls;
      if (const Work w = take_local_or_global(p)) return w;
    }
    if (const Work w = look_uncounted(m, p)) return w;
    if (!host_.parking.may_spin(m)) return {};
    host_.spins(m);
    m.begun = not_counted;
    return spin(m, p);
  }

  // While a request stands, submitters rely on it, and not on machines that look for work. So a machine looks around
  // once before it is counted as one: where many processors run out of tasks, they wait for that number's cache line.
  // But not if its last such look has brought it few tasks: where many find little, those that look hinder the one that
  // makes the tasks, and that line holds them up.
  [[nodiscard]] Work look_uncounted(const Machine& m, Processor& p) {
    const std::uint64_t begun = p.dispatches.get();
    if (m.spinning.get() || begun - p.looked_at < Host::uncounted_pace || !host_.parking.need_spinning()) return {};
    p.looked_at = begun;
    const auto begin = host_.begins();
    const Work w = steal_round(p, false);
    host_.looked(p, begin);
    // As in take_share(): found() does this for a machine that is counted.
    if (w && (p.own_queue.size_approx() != 0 || p.own_yielded.size_approx() != 0)) host_.parking.submitted();
    return w;
  }

  [[gnu::noinline]] [[nodiscard]] Work take_local_or_global(Processor& p) {
    if (const Work w = take_local(p)) return w;
    return take_share(p);
  }

  // Now and then the global queue comes first, so that local tasks cannot starve its tasks. After a full chain the
  // oldest local task runs; otherwise the task that this processor made runnable last.
  RUNQ_ON_EVERY_CALL [[nodiscard]] Work take_local(Processor& p) {
    if (host_.global_first(p)) {
      if (const Work w = take_turn(p)) return w;
    }
    const bool slice_is_over = p.slice.over();
    if (p.chain.due(slice_is_over) && chain_is_full(p, slice_is_over)) {
      if (const Work w = take_oldest(p)) return w;
    }
    // The strand has just ended at a join: the fork that it made last is at the deque's bottom.
    if (p.own_forks.size_approx() != 0) {
      if (const auto fork = p.own_forks.pop()) {
        p.chain.grow();
        return Work(*fork, true);
      }
    }
    if (const auto next = p.own_queue.pop()) {
      if (next.from_runnext) {
        p.chain.grow();
        ++p.runnext_hits;
      } else {
        p.chain.end();
      }
      return Work(next.task, next.from_runnext);
    }
    // Before the tasks of other groups.
    if (p.own_yielded.size_approx() != 0 && !host_.global.near(p.shard).has_work_approx()) return take_yielded(p);
    return {};
  }

  // Gives a turn to tasks that would starve beside tasks that are always runnable. If no machine sleeps in the poller,
  // a task whose descriptor is ready runs next on this processor; otherwise the oldest task of the global queue runs,
  // or of those that have yielded here.
  [[gnu::noinline]] [[nodiscard]] Work take_turn(Processor& p) {
    if (host_.nobody_polls()) host_.poll();
    return take_oldest_elsewhere(p);
  }

  // Of two calls one prefers the tasks that have yielded here, and one the global queue, each time another shard of it:
  // so none starve beside the others.
  [[nodiscard]] Work take_oldest_elsewhere(Processor& p) {
    const unsigned turn = p.turns++;
    if (turn % 2 == 0) {
      if (const Work w = take_yielded(p)) return w;
    }
    if (const Work w = Work(host_.global.take(p.shard + turn / 2))) return w;
    return take_yielded(p);
  }

  [[nodiscard]] Work take_yielded(Processor& p) {
    const auto yielded = p.own_yielded.pop();
    return yielded ? Work(*yielded) : Work();
  }

  // Moves the tasks that have yielded on `p` to the end of the global queue, in their order. The caller wakes a machine
  // for them if one is needed.
  void publish(Processor& p) {
    typename Host::task_list all;
    p.own_yielded.drain([&all](auto* task) { all.push_back(task); });
    host_.global.splice(std::move(all), p.shard);
  }

  [[gnu::noinline]] [[nodiscard]] bool chain_is_full(Processor& p, bool slice_is_over) {
    if (p.own_queue.size_approx() != 0 || p.own_yielded.size_approx() != 0 || host_.global.has_work_approx()) {
      return p.chain.full(slice_is_over, [this] { return host_.clock(); });
    }
    p.chain.forget();
    return false;
  }

  [[nodiscard]] Work take_oldest(Processor& p) {
    if (auto* const task = p.own_queue.pop_oldest()) return Work(task);
    return take_oldest_elsewhere(p);
  }

  [[nodiscard]] Work take_share(Processor& p) {
    const unsigned n = host_.parking.limit();
    if (n == 0) return {};  // the scheduler stops
    if (auto* const first = host_.global.take_share(p.own_queue, n, p.shard)) {
      // While they were moved, the other tasks were in no queue, and a machine that went to sleep at that moment missed
      // them.
      if (p.own_queue.size_approx() != 0) host_.parking.submitted();
      return Work(first);
    }
    return take_yielded(p);
  }

  [[nodiscard]] Work spin(Machine& m, Processor& p) {
    if (host_.parking.limit() < 2) return {};
    const auto begin = host_.begins();
    const Work w = look_around(m, p);
    host_.looked(p, begin);
    return w;
  }

  [[nodiscard]] Work look_around(Machine& m, Processor& p) {
    for (int i = 0; i != Host::looks && !surplus(p); ++i) {
      if (const Work w = steal(p)) return w;
      // Not before the first look, which often finds work: this reads a cache line of each other processor.
      if (i == 0) count_tasks(m);
      for (int j = 0; j != Host::look_pauses; ++j) Atomics::pause();
      if (const Work w = take_share(p)) return w;
    }
    return {};
  }

  void count_tasks(Machine& m) {
    m.begun = tasks_begun();
    m.polls = polls();
  }

  [[nodiscard]] Work steal(Processor& p) {
    for (int round = 1; round <= Host::steal_rounds; ++round) {
      if (const Work w = steal_round(p, round == Host::steal_rounds)) return w;
    }
    // Looks at the timers of busy processors, and of processors that have retired.
    if (host_.fire_due_timers()) return take_local_or_global(p);
    return {};
  }

  // Asks each other processor once.
  [[nodiscard]] Work steal_round(Processor& p, bool last_round) {
    const unsigned n = host_.parking.limit();
    // by chance: the scheduler stops while a machine looks for work.
    if (n == 0) return {};  // the scheduler stops
    if (p.order.size() != n) p.order.reset(n);
    for (auto walk = p.order.start(p.random()); !walk.done(); walk.advance()) {
      if (walk.position() == p.index) continue;
      if (const Work w = steal_from(p, host_.processor_at(walk.position()), last_round)) return w;
    }
    return {};
  }

  [[nodiscard]] Work steal_from(Processor& p, Processor& victim, bool last_round) {
    const auto begin = host_.begins();
    const steal_runnext next =
        last_round && detail::stands_still<Atomics>(victim.queue_thief, victim.dispatches, Host::watch_pauses)
            ? steal_runnext::yes
            : steal_runnext::no;
    const auto tasks = p.own_queue.steal_from(victim.queue_thief, next, Processor::queue_capacity, 0);
    if (tasks) {
      host_.stole(p, victim, tasks.count, tasks.from_runnext, begin);
      return Work(tasks.value);
    }
    bool lost = tasks.status == steal_status::lost;
    // Asks before it tries, because an attempt costs a fence.
    if (victim.forks_thief.has_work() && may_take_fork(p, victim, last_round)) {
      const auto fork = victim.forks_thief.steal();
      if (fork) {
        host_.stole(p, victim, 1, false, begin);
        return Work(fork.value);
      }
      lost |= fork.status == steal_status::lost;
    }
    // Last, because these tasks let others run first. The thief's own ring for them is empty.
    if (victim.yielded_thief.has_work()) {
      const auto yielded = victim.yielded_thief.steal_half_into(p.own_yielded);
      if (yielded) {
        host_.stole(p, victim, yielded.count, false, begin);
        return Work(yielded.value);
      }
      lost |= yielded.status == steal_status::lost;
    }
    if (lost) host_.lost(p);
    return {};
  }

  // A fork that is alone is taken in the last round only, and where a thief's fence is heavy, only if it stays for as
  // long as such a fence costs: its processor is about to take it back, and would wait for the cache lines of each fork
  // that it makes. After one that stayed the next few are taken unwatched, because most often they are as long. No fork
  // is left for good: as long as there is one, no machine that looks around goes to sleep, and either the thief takes
  // the fork, or its processor has taken it.
  [[nodiscard]] bool may_take_fork(Processor& p, const Processor& victim, bool last_round) const {
    if (victim.forks_thief.size_approx() > 1) return true;
    if (!last_round) return false;
    if (!host_.watches_forks()) return true;
    if (p.unwatched_forks != 0) {
      --p.unwatched_forks;
      return true;
    }
    if (!detail::stays<Atomics>(victim.forks_thief, Host::fork_pauses)) return false;
    p.unwatched_forks = Host::unwatched_forks;
    return true;
  }

  // Moves everything that waits on `p` to the head of the global queue, in the order in which it would have run. At the
  // end of a run none of it will run: forks stay for the thread that ends the run. Tasks that have yielded go to the
  // end.
  void evacuate(Processor& p) {
    typename Host::task_list all = p.own_queue.drain();
    while (!ends()) {
      const auto fork = p.own_forks.pop();
      if (!fork) break;
      all.push_back(&host_.strand_of(p, **fork));
    }
    host_.global.splice_front(std::move(all), p.shard);
    publish(p);
  }

  // Moves `w` to the head of the global queue.
  void put_back(Processor& p, const Work& w) {
    typename Host::task_list one;
    one.push_back(&host_.task_of(p, w));
    host_.global.splice_front(std::move(one), p.shard);
  }

  Host& host_;
  typename Atomics::template atomic<bool> ending_;
};

}  // namespace runq
