// SPDX-License-Identifier: MIT
// visitors: threads outside a scheduler that make a task runnable. The end of a run waits until the visitors that came
// before it are done. Models: models/cases/scheduler/visitors/.
//
// A visitor may have taken a processor under the scheduler's lock, and be about to start a machine with it, when the
// scheduler stops. There are two counts, and visitors use one of them. The thread that ends a run makes later visitors
// use the other count, so it does not wait for them, however many come.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>

#include "runq/atomics.hpp"

namespace runq {

template <class Atomics = std_atomics>
class visitors {
  template <class T>
  using atomic = typename Atomics::template atomic<T>;

 public:
  visitors() noexcept : turns_(0U) {}
  visitors(const visitors&) = delete;
  visitors& operator=(const visitors&) = delete;

  /// A thread is a visitor while an object of this class exists. Any thread. Wait-free.
  class visit {
   public:
    explicit visit(visitors& at) noexcept : in_(at.in_in_use()) {
      // [visitors.enter] relaxed: this thread and the one that stops the scheduler both take its lock. If this thread
      // takes it later, it sees that the scheduler has stopped; if it takes it first, the stopping thread sees its
      // count.
      in_.fetch_add(1U, std::memory_order::relaxed);
    }
    visit(const visit&) = delete;
    visit& operator=(const visit&) = delete;
    ~visit() {
      // [visitors.leave] release: pairs with [visitors.gone]; weaker: the thread that ends the run does not see what
      // the visitor did.
      in_.fetch_sub(1U, std::memory_order::release);
    }

   private:
    atomic<unsigned>& in_;
  };

  /// Returns when all visitors have left that held the scheduler's lock before it was stopped. Waits by
  /// `wait_until(condition)`, which returns when condition() holds. One thread at a time, after it has stopped the
  /// scheduler under that lock.
  template <class WaitUntil>
  void await(WaitUntil&& wait_until) {
    // Waits for both counts: a visitor may have read a long time ago which count to use, and use the other one.
    for (int side = 0; side != 2; ++side) {
      // [visitors.turn] relaxed: the scheduler's lock orders this thread and the visitors, as [visitors.enter] says.
      atomic<unsigned>& before = in_[turns_.fetch_add(1U, std::memory_order::relaxed) % 2].n;
      // [visitors.gone] acquire: pairs with [visitors.leave]; weaker: this thread does not see what the visitors did.
      wait_until([&before] { return before.load(std::memory_order::acquire) == 0; });
    }
  }

 private:
  struct count {
    atomic<unsigned> n{0U};
  };
  [[nodiscard]] atomic<unsigned>& in_in_use() noexcept {
    // [visitors.in_use] relaxed: the count may be the wrong one, because the end of a run waits for both.
    return in_[turns_.load(std::memory_order::relaxed) % 2].n;
  }

  atomic<unsigned> turns_;  // which of the two counts is in use
  std::array<count, 2> in_;
};

}  // namespace runq
