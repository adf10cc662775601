// SPDX-License-Identifier: MIT
// deadlock: whether all tasks wait for each other for ever, and which thread asks this, and when.
//
// Source: checkdead of Go's scheduler (runtime/proc.go). Models: models/cases/scheduler/deadlock/.
//
// A thread asks under the lock that hands out processors, when no machine holds one: then no task runs, and no local
// queue holds one. There is no deadlock while something outside may still make a task runnable: a thread with a handle,
// a machine in a blocking call, a timer, a stop request, the kernel. If the last of these goes away without making a
// task runnable, no machine comes by to ask again, so the thread that saw it go asks.
//
// A machine asks whenever it is the last to go idle, so the question looks at no list of tasks, only at counts.
//
// A thread without a handle may wake a task, too. So the answer yes is only a suspicion at first. The thread that waits
// for the end of the run confirms it: it counts the threads that the scheduler did not start.
#pragma once

#include <atomic>
#include <concepts>
#include <cstdint>

#include "runq/atomics.hpp"
#include "runq/protocol/live_tasks.hpp"

namespace runq {

/// The waits of one processor's tasks for the kernel: a task starts one on its processor before anything can wake it,
/// and ends it, on the processor that it has then, when it goes on or is destroyed.
template <class Atomics = std_atomics>
using kernel_waits = task_tally<Atomics>;

/// What confirm() finds about a suspicion.
enum class suspicion : std::uint8_t {
  outdated,  ///< a task has run since then, or is about to: the question has been asked again, or will be
  doubtful,  ///< all tasks wait, but a thread without a handle may still wake one: ask again later
  deadlock   ///< all tasks wait for each other for ever
};

/// What deadlock_question asks of the scheduler around it.
template <class Host, class Atomics>
concept deadlock_host = requires(Host& host, void (*f)(), void (*g)(const kernel_waits<Atomics>&)) {
  // Takes the lock that hands out processors, and calls f() under it if no machine holds one.
  host.if_idle(f);
  // Takes that lock, and if no machine holds a processor, asks all_wait() and acts on it.
  host.ask_if_idle();
  // Whether there are threads that the host did not start, except for the caller and those that the host knows to wake
  // no task. Acquires what threads have done that exist no more.
  { host.other_threads() } -> std::same_as<bool>;
  // Machines in blocking calls without a processor, until what they made runnable is queued. Under the lock.
  { host.calls_in_progress() } -> std::same_as<bool>;
  // Any timer that is not yet fired; one that is being fired is pending until what it wakes is queued.
  { host.timers_pending() } -> std::same_as<bool>;
  // In the global queue.
  { host.anything_queued() } -> std::same_as<bool>;
  // A task waits with a stop token that has a source.
  { host.stop_possible() } -> std::same_as<bool>;
  // Calls g(tally) with the kernel_waits of every processor.
  host.for_each_kernel_wait(g);
};

/// The question, and who asks it. `Host` is a deadlock_host if confirm() is called.
template <class Host, class Atomics = std_atomics>
class deadlock_question {
 public:
  explicit deadlock_question(Host& host) noexcept : host_(host), handles_(0U) {}
  deadlock_question(const deadlock_question&) = delete;
  deadlock_question& operator=(const deadlock_question&) = delete;

  /// A thread outside has got a handle, and so may make tasks runnable. Called by any thread that has a reference to
  /// the scheduler.
  void attach() noexcept {
    // [deadlock.attach] relaxed: tasks begin to wait for this thread only after this call, and the question is asked
    // only when all tasks wait.
    handles_.fetch_add(1U, std::memory_order::relaxed);
  }
  /// The thread gives its handle up. Called by the thread that attached, or that the handle was passed to.
  void detach() {
    // [deadlock.detach] release: pairs with [deadlock.handles]; weaker: the asking thread misses a task that this one
    // made runnable.
    if (handles_.fetch_sub(1U, std::memory_order::release) == 1) host_.ask_if_idle();
  }
  /// Called after timers may have been fired or removed by a thread that holds no processor. A machine asks when it
  /// gives its processor up, but this thread has none.
  void timers_fired() {
    if (!host_.timers_pending()) host_.ask_if_idle();
  }

  /// Called whenever no machine holds a processor any more, with the host's lock: the number of the question that the
  /// host may ask now.
  [[nodiscard]] std::uint64_t next_question() {
    const std::uint64_t number = questions_.get() + 1;
    questions_.set(number);
    return number;
  }

  /// Whether the suspicion was right: all_wait() was true at question `number`. Any thread without a lock.
  [[nodiscard]] suspicion confirm(std::uint64_t number) {
    static_assert(deadlock_host<Host, Atomics>);
    // The threads are counted before the queues are looked at, because a thread queues a task first and ends after
    // that. They are counted after the question with that number, and no task has run since: so none has started a
    // thread.
    const bool others = host_.other_threads();
    suspicion found = suspicion::outdated;
    host_.if_idle([&] {
      // by chance: a task runs between the question and its answer; models/cases/scheduler/deadlock/.
      if (number != questions_.get() || !all_wait()) return;
      found = others ? suspicion::doubtful : suspicion::deadlock;
    });
    return found;
  }

  /// Whether all tasks wait for each other, unless a thread without a handle wakes one. The caller holds the host's
  /// lock, and no machine holds a processor.
  [[nodiscard]] bool all_wait() const {
    // Read before the queues, because a thread that is counted here queues its tasks first and detaches after that.
    // [deadlock.handles] acquire: pairs with [deadlock.detach]; weaker: this thread misses a task that the detaching
    // thread made runnable.
    if (handles_.load(std::memory_order::acquire) != 0) return false;
    if (host_.calls_in_progress() || host_.timers_pending()) return false;
    return !host_.anything_queued() && !host_.stop_possible() && !kernel_may_wake();
  }

 private:
  // A task ends its wait when it goes on, and not when it is woken. So it still counts while the thread that woke it is
  // about to queue it. It may go on on another processor than it began to wait on, so only the sum means something.
  [[nodiscard]] bool kernel_may_wake() const {
    std::uint64_t waiting = 0;
    host_.for_each_kernel_wait(
        [&waiting](const kernel_waits<Atomics>& tally) { waiting += tally.started() - tally.ended(); });
    return waiting != 0;
  }

  Host& host_;
  typename Atomics::template atomic<unsigned> handles_;
  typename Atomics::template cell<std::uint64_t> questions_{0};  // the number of the last one; under the host's lock
};

}  // namespace runq
