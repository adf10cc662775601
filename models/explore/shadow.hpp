// SPDX-License-Identifier: MIT
// What is known of the program's memory, in cells of eight bytes of it: the last accesses, whether it is freed, and
// what the runtime keeps for atomic variables and locks that lie there.
#pragma once

#include <cstddef>
#include <cstdint>

#include "clocks.hpp"

namespace runq::model::explore {

struct working_set;
struct location;
struct lock_record;

/// A last access of some bytes of a cell.
struct past_access {
  std::uint32_t epoch;
  std::uint16_t thread;
  std::uint8_t bytes;  ///< a bit for each; 0: there is none
  std::uint8_t flags;
};
inline constexpr std::uint8_t is_a_write = 1;
inline constexpr std::uint8_t is_atomic = 2;
inline constexpr std::uint8_t is_a_free = 4;

struct alignas(64) cell {
  static constexpr unsigned kept = 4;

  past_access accesses[kept];
  std::uint32_t places[kept];  ///< the lower halves of their code addresses
  location* locations;         ///< of the atomic variables that begin here
  lock_record* locks;          ///< of those that begin here, by the word `next`
};
static_assert(sizeof(cell) == 64);

[[nodiscard]] cell& cell_at(std::uintptr_t address);
/// Before runs that will need it (working_set).
void prepare_region(std::uintptr_t region);
/// Which pages of the shadow the run has used.
void note_used_shadow(working_set& used);

/// Accesses of the running thread. A data race, or a use of freed memory, ends the run.
void access(std::uintptr_t address, std::size_t size, std::uint8_t flags, const void* code);
/// As access(), for 1, 2, 4, 8 and 16 bytes.
template <std::size_t Size>
void access(std::uintptr_t address, std::uint8_t flags, const void* code);

/// Nothing is known of the memory any more.
void shadow_forget(std::uintptr_t address, std::size_t size);
/// The memory is freed by the running thread: whoever still uses it is wrong.
void shadow_mark_freed(std::uintptr_t address, std::size_t size, const void* code);

/// What is shown of a failing run: plain accesses to the eight bytes from there, too. 1: none.
extern std::uintptr_t watched_cell;

}  // namespace runq::model::explore
