// SPDX-License-Identifier: MIT
// What a thread knows of the others' events, as numbers of their last known ones. There are two of them:
//
//   happened  what happens before the thread's next event, in the sense of C++: for data races
//   ordered   that, and what fences of order seq_cst put before it: for what an atomic read may still see
//
// and `fence`, the time of the last seq_cst fence among what happened before.
#pragma once

#include <cstdint>

#include "limits.hpp"

namespace runq::model::explore {

/// How many threads any clock knows of: as many as there have been at a time.
extern std::uint32_t clock_width;
/// How many threads a clock has room for: a power of two, so that a program of few threads touches little memory.
[[nodiscard]] std::uint32_t clock_room() noexcept;

/// What a store hands to those that acquire from it. Never changes; counted.
struct message {
  std::uint32_t references;
  std::uint32_t width;  ///< of the memory behind it, a power of two
  std::uint64_t fence;
  message* next;  ///< of a free one

  [[nodiscard]] std::uint32_t* happened() noexcept { return reinterpret_cast<std::uint32_t*>(this + 1); }
  [[nodiscard]] std::uint32_t* ordered() noexcept { return happened() + width; }
};

[[nodiscard]] inline message* hold(message* m) noexcept {
  if (m != nullptr) ++m->references;
  return m;
}
void release(message* m) noexcept;

struct thread_clock {
  std::uint32_t* happened = nullptr;  ///< both have room for clock_room() threads
  std::uint32_t* ordered = nullptr;
  std::uint64_t fence = 0;

  /// Zeros for new threads; `known`: of how many threads it knows already.
  void make_room(std::uint32_t known);
  void join(message* m) noexcept;
  void join(const thread_clock& other) noexcept;
  void copy(const thread_clock& other) noexcept;
  void clear() noexcept;
  [[nodiscard]] message* snapshot() const;
};

/// A message with what both say; either may be nullptr.
[[nodiscard]] message* joined(message* a, message* b);

}  // namespace runq::model::explore
