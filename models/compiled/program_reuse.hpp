// SPDX-License-Identifier: MIT
// Memory that is allocated again after it was freed, so that an address that a thread has kept is that of something
// else.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "execution.hpp"
#include "program_atomics.hpp"
#include "program_code.hpp"
#include "program_heap.hpp"
#include "program_waits.hpp"

namespace runq::model::compiled {

/// Blocks that are given out again, while other threads run: as a choice that is explored, so often as bounds::reused
/// says. A thread may get what it has freed, or what another thread has freed and it knows of.
class program_reuse {
 public:
  program_reuse(execution& now, program_code& code, program_heap& heap, program_atomics& atomics, program_waits& waits)
      : now_(now), code_(code), heap_(heap), atomics_(atomics), waits_(waits) {}

  void begin_execution();
  void begin_thread(unsigned thread) { reused_[thread] = 0; }
  /// Memory for an allocation by that step; nullptr: it gets new memory.
  [[nodiscard]] void* allocate(std::size_t size, std::size_t alignment, const step& by, const void* code);
  /// The block whose reuse a word outside of the program's memory stands for; nullptr: that is no such word.
  [[nodiscard]] const void* block_of(const void* word) const noexcept;

 private:
  [[nodiscard]] std::vector<user_heap::freed_block*> candidates(std::size_t size, std::size_t alignment);
  void take(const user_heap::freed_block& freed, const void* code);

  execution& now_;
  program_code& code_;
  program_heap& heap_;
  program_atomics& atomics_;
  program_waits& waits_;
  std::array<unsigned, exact::thread_slots> reused_{};  ///< blocks that each thread was given again
  /// Of a block, by how often it had been allocated again: 1 when somebody has allocated it once more.
  std::map<std::pair<const void*, unsigned>, std::uint32_t> taken_;
};

}  // namespace runq::model::compiled
