// SPDX-License-Identifier: MIT
// deadlock: whether all tasks wait for each other for ever, and which thread asks this, and when.
//
// Source: checkdead of Go's scheduler (runtime/proc.go). Models: models/cases/scheduler/deadlock/.
//
// A thread asks under the lock that hands out processors, when no machine holds one: then no task runs, and no local
// queue holds one. There is no deadlock while something outside may still make a task runnable: a thread with a handle,
// a machine in a blocking call, a timer, the kernel. If the last of these goes away without making a task runnable, no
// machine comes by to ask again, so the thread that saw it go asks.
#pragma once

#include <atomic>

#include "runq/atomics.hpp"

namespace runq {

/// `Host` is the scheduler around it:
/// - void ask_if_idle(): under its lock: if no machine holds a processor, asks all_wait() and acts on it
/// - bool calls_in_progress(): machines in blocking calls without a processor; under the lock
/// - bool timers_pending(): any timer that is not yet fired; one that is being fired is pending until what it wakes is
///   queued
/// - bool anything_queued(): in the global queue
/// - bool somebody_may_wake(): a task that waits for the outside, or is about to be queued
/// No operation but ask_if_idle() takes a lock.
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

  /// Whether all tasks wait for each other. The caller holds the host's lock, and no machine holds a processor.
  [[nodiscard]] bool all_wait() const {
    // Read before the queues, because a thread that is counted here queues its tasks first and detaches after that.
    // [deadlock.handles] acquire: pairs with [deadlock.detach].
    if (handles_.load(std::memory_order::acquire) != 0) return false;
    if (host_.calls_in_progress() || host_.timers_pending()) return false;
    return !host_.anything_queued() && !host_.somebody_may_wake();
  }

 private:
  Host& host_;
  typename Atomics::template atomic<unsigned> handles_;
};

}  // namespace runq
