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

inline constexpr unsigned max_variables = 4;
/// Plain variables, each in heap memory of its own.
inline constexpr unsigned max_plain = 2;

enum class action : unsigned char {
  load,
  store,
  add,
  exchange,
  compare_exchange,
  weak_exchange,  ///< a weak compare-exchange
  fence,
  lock,  ///< of the one mutex; `unlock` follows in the same thread
  unlock,
  plain_read,  ///< of plain variable `variable`
  plain_write,
  release,        ///< frees the memory of plain variable `variable`
  wait_load,      ///< loads until it reads `expected`
  wait_exchange,  ///< swaps `operand` in until it finds something else there
  wait_compare,   ///< a compare-exchange, until it succeeds
  // Only for enumerate_all() (oracle/enumerate.hpp):
  try_lock,    ///< of the one mutex; reads 1 if it was taken; `unlock` follows, guarded
  wait,        ///< for the one condition variable, with the mutex, which the thread holds
  notify_one,  ///< of the one condition variable
  notify_all,
  start,      ///< thread `variable`. A program that has this begins with thread 0 alone
  join,       ///< waits for the end of thread `variable`
  add_local,  ///< adds to a thread-local variable, and reads the result
  allocate    ///< the memory of plain variable `variable`, which is 0 then
};

struct instruction {
  action what{};
  unsigned variable = 0;
  std::memory_order order = std::memory_order::relaxed;
  std::memory_order failure_order = std::memory_order::relaxed;  ///< of a compare-exchange
  unsigned operand = 0;                                          ///< what is stored, added or swapped in
  unsigned expected = 0;                                         ///< of a compare-exchange, wait_load
  bool adds_last_read = false;  ///< the operand is increased by the value that the thread has read last
  bool guarded = false;         ///< runs only if the value that the thread has read last is odd
};

[[nodiscard]] constexpr bool compares(action a) noexcept {
  return a == action::compare_exchange || a == action::weak_exchange;
}
[[nodiscard]] constexpr bool waits(action a) noexcept {
  return a == action::wait_load || a == action::wait_exchange || a == action::wait_compare;
}
[[nodiscard]] constexpr bool is_plain(action a) noexcept {
  return a == action::plain_read || a == action::plain_write || a == action::release;
}

using thread_code = std::vector<instruction>;
using program = std::vector<thread_code>;

enum class flavour : unsigned char {
  any,               ///< all instructions and orders; often seq_cst, which has the most cases
  loads_and_stores,  ///< mostly relaxed: load buffering shapes are rare among the others
  weak_exchanges,    ///< every other instruction is a weak compare-exchange
  memory,            ///< few atomic operations; a mutex, plain variables, and their memory
  waiting            ///< loops that wait for what another thread writes; every other one with memory, too
};

/// Four threads with one to three relaxed accesses each and a seq_cst fence between any two accesses: for outcomes that
/// only fences on both sides of a relaxed access forbid.
[[nodiscard]] program random_fenced_program(std::mt19937& random);

/// 2 or 3 threads with 3 to `max_instructions` instructions in all.
[[nodiscard]] program random_program(std::mt19937& random, unsigned max_instructions, flavour f = flavour::any);

/// 2 or 3 threads, each with two accesses, to its own variable and to the next thread's, and perhaps a fence between
/// them: message passing, store buffering, and similar shapes. Most memory orders in one program matter.
[[nodiscard]] program random_cycle(std::mt19937& random);

/// 2 or 3 threads. Each waits for the one before to tell it, touches the plain variables, and then tells the next one.
/// `waits`: it waits in a loop; otherwise it does nothing if it has not been told yet.
[[nodiscard]] program random_handover(std::mt19937& random, bool waits);

/// Whether there is an instruction of that kind in it.
[[nodiscard]] bool has(const program& p, bool (*kind)(action));

[[nodiscard]] std::string to_text(const program& p);

}  // namespace runq::model::selftest
