// SPDX-License-Identifier: MIT
// deadlock: whether all tasks wait for each other for ever, and who asks that when.
//
// Source: checkdead of Go's scheduler (runtime/proc.go). Models: models/cases/scheduler/deadlock/.
//
// The question is asked under the lock that hands out processors, when no machine holds one: then no task runs, and no
// local queue holds one. It has no answer while somebody outside may still make a task runnable: a thread with a
// handle, a machine in a blocking call, a timer, the kernel. When the last of these is gone without having made a task
// runnable, no machine comes by that would ask again, so that one asks.
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

  /// One more thread outside may make tasks runnable. Any thread that was told of the scheduler.
  void attach() noexcept {
    // [deadlock.attach] relaxed: what is waited for is set after it, and asked for before the question.
    handles_.fetch_add(1U, std::memory_order::relaxed);
  }
  /// One less. The thread that attached, or to which the handle was given.
  void detach() {
    // [deadlock.detach] release: pairs with [deadlock.handles]; weaker: what this thread has made runnable is not seen.
    if (handles_.fetch_sub(1U, std::memory_order::release) == 1) host_.ask_if_idle();
  }
  /// To be called after timers may have been fired, or taken out, by a thread that holds no processor, and so does not
  /// ask when it gives that up.
  void timers_fired() {
    if (!host_.timers_pending()) host_.ask_if_idle();
  }

  /// Whether all tasks wait for each other. With the host's lock held, and no processor in any machine's hands.
  [[nodiscard]] bool all_wait() const {
    // Before the queues, because whoever is counted here queues tasks first and is gone after that.
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
