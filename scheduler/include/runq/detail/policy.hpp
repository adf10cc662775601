// SPDX-License-Identifier: MIT
// policy: the atomics policy of the scheduler's own structures: std_atomics, with a lock made for a few dozen
// instructions, and with light fences that cost no instruction where the kernel makes up for them.
#pragma once

#include <atomic>

#include "runq/atomics.hpp"
#include "runq/common.hpp"
#include "runq/membarrier.hpp"
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

/// Which fences the schedulers of this process have: the asymmetric pair of membarrier_atomics, or two fences of the
/// language. Decided when the program starts, or by the first call of available(), and never again: asymmetric where
/// membarrier(2) works and the process may use at most `most_cpus` CPUs. The environment variable RUNQ_MEMBARRIER
/// decides otherwise: 0, never; 1, on any number of CPUs.
class scheduler_fences {
 public:
  // A heavy fence interrupts each CPU that runs a thread of the process, and a machine that goes idle or steals a fork
  // makes one. We could measure that on 2 CPUs, where it pays for forks; on hundreds we expect that it does not.
  static constexpr unsigned most_cpus = 16;

  [[nodiscard]] static bool available() noexcept {
    static const bool answer = decide();
    return answer;
  }
  /// The same, without a call; false until it has been decided. A thread that reads false makes the stronger fence.
  [[nodiscard]] static bool known_to_be_available() noexcept {
    // [fences.known] relaxed, unmodelled: a thread that reads true knows that every other thread's available() says
    // true.
    return decided_.load(std::memory_order::relaxed);
  }
  /// Whether they are to be asymmetric if membarrier(2) works: `said` is what RUNQ_MEMBARRIER says, or null; the
  /// process may use `cpus` CPUs, or 0 if that is not known.
  [[nodiscard]] static bool wanted(const char* said, unsigned cpus) noexcept;

 private:
  [[nodiscard]] static bool decide() noexcept;

  static inline std::atomic<bool> decided_{false};
};

struct policy : barrier_fences<scheduler_fences> {
  using mutex = short_lock;
};

}  // namespace runq::detail
