// SPDX-License-Identifier: MIT
// Small straight-line programs over a few atomic variables, made at random, to compare the exact engine with the brute
// force on. Plain data: neither of the two knows anything of the other.
#pragma once

#include <atomic>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace runq::model::selftest {

inline constexpr unsigned max_variables = 3;

enum class action : unsigned char { load, store, add, exchange, compare_exchange, fence };

struct instruction {
  action what{};
  unsigned variable = 0;
  std::memory_order order = std::memory_order::relaxed;
  std::memory_order failure_order = std::memory_order::relaxed;  ///< compare_exchange
  unsigned operand = 0;                                          ///< what is stored, added or swapped in
  unsigned expected = 0;                                         ///< compare_exchange
  bool adds_last_read = false;  ///< the operand is increased by the value that the thread has read last
  bool guarded = false;         ///< runs only if the value that the thread has read last is odd
};

using thread_code = std::vector<instruction>;
using program = std::vector<thread_code>;

enum class flavour : unsigned char {
  any,              ///< all instructions and orders; often seq_cst, which has the most cases
  loads_and_stores  ///< mostly relaxed: load buffering shapes are rare among the others
};

/// 2 or 3 threads with 3 to `max_instructions` instructions in all.
[[nodiscard]] program random_program(std::mt19937& random, unsigned max_instructions, flavour f = flavour::any);

[[nodiscard]] std::string to_text(const program& p);

}  // namespace runq::model::selftest
