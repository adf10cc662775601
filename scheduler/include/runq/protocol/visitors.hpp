// SPDX-License-Identifier: MIT
// visitors: threads outside a scheduler that make a task runnable, and the end of a run, which waits until those that
// came before it have done so. Models: models/cases/scheduler/visitors/.
//
// A visitor may have taken a processor under the scheduler's lock, and be about to start a machine with it, when the
// scheduler stops. There are two counts, one of them in use: who ends a run changes over, so that it waits for nobody
// who comes later, however many do.
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

  /// From its construction to its destruction a thread is a visitor. Any thread. Wait-free.
  class visit {
   public:
    explicit visit(visitors& at) noexcept : in_(at.in_in_use()) {
      // [visitors.enter] relaxed: the scheduler has a lock, which either this thread or the one that stops it has
      // first: who has it later finds it stopped, and who has it first is seen in the count.
      in_.fetch_add(1U, std::memory_order::relaxed);
    }
    visit(const visit&) = delete;
    visit& operator=(const visit&) = delete;
    ~visit() {
      // [visitors.leave] release: pairs with [visitors.gone]; weaker: what the visitor did is not seen.
      in_.fetch_sub(1U, std::memory_order::release);
    }

   private:
    atomic<unsigned>& in_;
  };

  /// Returns when all visitors are gone who had the scheduler's lock before it was stopped. Waits by
  /// `wait_until(condition)`, which returns when condition() holds. One thread at a time, after it has stopped the
  /// scheduler under that lock.
  template <class WaitUntil>
  void await(WaitUntil&& wait_until) {
    // Both counts: a visitor that has read long ago which one is in use counts in the other.
    for (int side = 0; side != 2; ++side) {
      // [visitors.turn] relaxed: as [visitors.enter].
      atomic<unsigned>& before = in_[turns_.fetch_add(1U, std::memory_order::relaxed) % 2].n;
      // [visitors.gone] acquire: pairs with [visitors.leave].
      wait_until([&before] { return before.load(std::memory_order::acquire) == 0; });
    }
  }

 private:
  struct count {
    atomic<unsigned> n{0U};
  };
  [[nodiscard]] atomic<unsigned>& in_in_use() noexcept {
    // [visitors.in_use] relaxed: either one will do, as both are waited for.
    return in_[turns_.load(std::memory_order::relaxed) % 2].n;
  }

  atomic<unsigned> turns_;  // which of the two counts is in use
  std::array<count, 2> in_;
};

}  // namespace runq
