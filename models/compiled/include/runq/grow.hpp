// SPDX-License-Identifier: MIT
// Sizes of a test that `runq-check --grow SECONDS` makes larger, step by step, until it fails or the time is over:
//
//     for (int i = 0; i != runq::producers(); ++i) threads.emplace_back([] { … runq::rounds() … });
//
// Without that option each is its smallest, or what `--size producers=2,rounds=3` says; also without the checker.
#pragma once

extern "C" __attribute__((weak)) int runq_check_size(const char* name, int smallest) noexcept;

namespace runq {

/// A size of your own, as test_size("capacity", 2).
inline int test_size(const char* name, int smallest = 1) noexcept {
  return runq_check_size == nullptr ? smallest : runq_check_size(name, smallest);
}
inline int producers(int fewest = 1) noexcept { return test_size("producers", fewest); }
inline int consumers(int fewest = 1) noexcept { return test_size("consumers", fewest); }
inline int rounds(int fewest = 1) noexcept { return test_size("rounds", fewest); }

}  // namespace runq
