// SPDX-License-Identifier: MIT
// What the models of deadlock_question share: a scheduler in small around it, with one task, which waits, and one
// machine, which holds the last processor. What the machine does with the lock is in models/cases/scheduler/park/.
#pragma once

#include <array>

#include "runq/protocol/deadlock.hpp"
#include "scenario.hpp"
#include "waiting.hpp"

namespace runq::model {

class deadlock_model : public scenario {
 public:
  // -- what deadlock_question asks of its host --

  template <class F>
  void if_idle(F&& f) {
    const std::lock_guard guard(lock);
    if (held.get() == 0) f();
  }
  void ask_if_idle() {
    if_idle([this] { check_deadlock(); });
  }
  [[nodiscard]] bool other_threads() const { return others.load(std::memory_order::acquire) != 0; }
  [[nodiscard]] bool calls_in_progress() const { return calls.get() != 0; }
  [[nodiscard]] bool timers_pending() const { return timer.load(std::memory_order::acquire) != 0; }
  [[nodiscard]] bool anything_queued() const { return queued.load(std::memory_order::relaxed) != 0; }
  [[nodiscard]] bool stop_possible() const { return stop.load(std::memory_order::relaxed) != 0; }
  template <class F>
  void for_each_kernel_wait(F&& f) const {
    for (const auto& tally : waits_for_kernel) f(tally);
  }

 protected:
  void check_deadlock() {
    (void)question.next_question();
    if (question.all_wait()) reported.set(reported.get() + 1);
  }
  /// As ready() does: puts the task in the global queue. ready() would also wake a machine, under the lock; here that
  /// comes too late to matter to the thread that asks.
  void wake() { queued.store(1, std::memory_order::relaxed); }
  /// The machine finds nothing, gives up the last processor, and therefore asks whether this is a deadlock.
  void rest() {
    const std::lock_guard guard(lock);
    held.set(0);
    check_deadlock();
  }
  /// The timer is due: its heap says so until what it wakes is queued.
  void fire(bool wakes) {
    if (wakes) wake();
    timer.store(0, std::memory_order::release);
  }

  deadlock_question<deadlock_model, atomics> question{*this};
  mutex lock;
  std::array<kernel_waits<atomics>, 2> waits_for_kernel;  // of two processors
  cell<int> held{1};                                      // under the lock: processors in the hands of machines
  cell<int> calls{0};     // under the lock: machines that are in calls and hold no processor
  cell<int> reported{0};  // under the lock: deadlocks that were reported, or suspected
  atomic<int> timer{0};   // 1: the timer is pending
  atomic<int> others{0};  // threads that the scheduler did not start
  atomic<int> queued{0};  // 1: the task is in the global queue
  atomic<int> stop{0};    // 1: the task waits with a stop token that has a source
};

}  // namespace runq::model
