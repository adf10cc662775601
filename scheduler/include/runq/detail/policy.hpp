// SPDX-License-Identifier: MIT
// policy: the atomics policy of the scheduler's own structures: std_atomics, with a lock made for a few dozen
// instructions.
#pragma once

#include "runq/atomics.hpp"
#include "runq/common.hpp"
#include "runq/protocol/short_lock.hpp"

namespace runq::detail {

/// How a thread waits for a condition that another thread makes true within a few dozen instructions.
class short_wait {
 public:
  // Pauses take some µs, longer than any section; after that the holder must have lost its CPU. A yield lets the holder
  // run, unless it may not run before this thread sleeps: SCHED_FIFO, or a quota of CPU time that is used up.
  static constexpr int pauses = 100;
  static constexpr int yields = 100;
  static constexpr long sleep = 100'000;  // ns

  template <class Condition>
  static void until(Condition&& condition) noexcept {
    for (short_wait wait; !condition();) wait.once();
  }

 private:
  void once() noexcept;
  int times_ = 0;
};

using short_lock = basic_short_lock<short_wait>;

struct policy : std_atomics {
  using mutex = short_lock;
};

}  // namespace runq::detail
