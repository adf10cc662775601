// SPDX-License-Identifier: MIT
// The heap of a compiled program. Each thread allocates from its own arena, from the beginning in every execution, so
// that a re-executed thread gets the same addresses whatever other threads do. No address is used twice in one
// execution, so that a dangling pointer never points at a new object, unless it is asked for: then a thread gets a
// block that was freed before.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include <sys/mman.h>

#include "exact_graph.hpp"
#include "frames.hpp"

namespace runq::model::compiled {

/// What one thread may allocate in one execution.
inline constexpr std::size_t user_arena_bytes = std::size_t{64} * 1024 * 1024;

/// What the checker knows of memory is stored by pages of this size.
inline constexpr std::size_t shadow_page_bytes = 4096;

/// A step of a thread that is no event of the graph: it comes after the thread's first `position` events.
struct step {
  code_place at;
  std::uint32_t position = 0;
  std::uint8_t thread = 0;

  /// Whether it happens-before what knows `known`.
  [[nodiscard]] bool before(const exact::clock& known) const noexcept { return known[thread] > position; }
};

class user_heap {
 public:
  struct block {
    std::byte* begin = nullptr;
    std::size_t size = 0;
    step allocated;
    step released;
    bool is_released = false;
    unsigned lives = 0;  ///< how many times it was allocated again

    /// A block of no bytes has an address nevertheless.
    [[nodiscard]] std::byte* end() const noexcept { return begin + (size == 0 ? 1 : size); }
    [[nodiscard]] bool contains(const void* p) const noexcept { return p >= begin && p < end(); }
  };
  /// What was allocated before main(), by initialisers of global variables.
  static constexpr unsigned before_main = exact::constructing;

  /// False when there is not enough address space.
  [[nodiscard]] bool reserve() {
    void* const memory = mmap(nullptr, user_arena_bytes * exact::thread_slots, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) return false;
    memory_ = static_cast<std::byte*>(memory);
    return true;
  }

  /// What is allocated now is what every execution finds.
  void remember() { remembered_ = blocks_[before_main]; }
  void begin_execution() {
    for (unsigned t = before_main + 1; t != exact::thread_slots; ++t) {
      blocks_[t].clear();
      freed_[t].clear();
      used_[t] = unused_begin(t);
    }
    blocks_[before_main] = remembered_;
    freed_sizes_ = 0;
  }

  /// nullptr when the thread's arena is exhausted.
  [[nodiscard]] void* allocate(std::size_t size, std::size_t alignment, const step& by) {
    std::byte* const arena = memory_ + by.thread * user_arena_bytes;
    std::size_t& used = used_[by.thread];
    const std::size_t begin = (used + red_zone + alignment - 1) / alignment * alignment;
    if (size > user_arena_bytes || begin > user_arena_bytes - size) return nullptr;
    used = begin + size;
    blocks_[by.thread].push_back({arena + begin, size, by, {}, false, 0});
    return arena + begin;
  }

  /// A block that was freed, and by whom it was allocated next.
  struct freed_block {
    std::byte* at;
    std::size_t units;  ///< of 16 bytes
    unsigned lives;
    step freed;
    bool is_taken = false;
    step taken;
  };
  void note_free(const block& b) {
    freed_sizes_ |= size_bit(b.size);
    freed_[b.released.thread].push_back({b.begin, units_of(b.size), b.lives, b.released, false, {}});
  }
  /// Whether a block that is as large may have been freed in this execution.
  [[nodiscard]] bool may_have_freed(std::size_t size) const noexcept { return (freed_sizes_ & size_bit(size)) != 0; }
  /// Of the blocks that the thread has freed and that are as large, in multiples of 16 bytes, the last one that
  /// `may_be` given out again; nullptr: there is none.
  template <class Predicate>
  [[nodiscard]] freed_block* last_freed(unsigned thread, std::size_t size, std::size_t alignment, Predicate&& may_be) {
    std::deque<freed_block>& freed = freed_[thread];
    if (freed.empty()) return nullptr;
    const std::size_t units = units_of(size);
    const auto found = std::find_if(freed.rbegin(), freed.rend(), [&](const freed_block& f) {
      const bool fits = f.units == units && reinterpret_cast<std::uintptr_t>(f.at) % alignment == 0;
      return fits && may_be(f);
    });
    return found == freed.rend() ? nullptr : &*found;
  }
  /// Gives out a block that is free.
  const block& allocate_again(freed_block& freed, std::size_t size, const step& by) noexcept {
    freed.is_taken = true;
    freed.taken = by;
    block& b = *find(freed.at);
    b = {freed.at, size, by, {}, false, freed.lives + 1};
    return b;
  }

  [[nodiscard]] bool owns(const void* p) const noexcept {
    return reinterpret_cast<std::uintptr_t>(p) - reinterpret_cast<std::uintptr_t>(memory_) <
           user_arena_bytes * exact::thread_slots;
  }
  /// The block that contains `p`, which the heap owns; nullptr: none does, it lies between two.
  [[nodiscard]] block* find(const void* p) noexcept {
    const auto* const byte = static_cast<const std::byte*>(p);
    std::vector<block>& blocks = blocks_[static_cast<std::size_t>(byte - memory_) / user_arena_bytes];
    const auto after = std::upper_bound(blocks.begin(), blocks.end(), byte,
                                        [](const std::byte* at, const block& b) { return at < b.begin; });
    if (after == blocks.begin()) return nullptr;
    block& b = *std::prev(after);
    return b.contains(p) ? &b : nullptr;
  }
  [[nodiscard]] const std::vector<block>& blocks_of(unsigned thread) const noexcept { return blocks_[thread]; }
  [[nodiscard]] std::byte* memory_before_main() const noexcept { return memory_; }
  [[nodiscard]] std::size_t used_before_main() const noexcept { return used_[before_main]; }

 private:
  /// Between blocks there is memory that belongs to none.
  static constexpr std::size_t red_zone = 16;

  [[nodiscard]] static constexpr std::size_t units_of(std::size_t size) noexcept { return (size + 15) / 16; }
  /// Sizes of which some share a bit.
  [[nodiscard]] static constexpr std::uint64_t size_bit(std::size_t size) noexcept {
    return std::uint64_t{1} << units_of(size) % 64;
  }

  /// So that the threads' memory is not at the same places of the shadow's cache.
  [[nodiscard]] static constexpr std::size_t unused_begin(unsigned thread) noexcept {
    return thread * shadow_page_bytes;
  }

  std::byte* memory_ = nullptr;
  std::array<std::vector<block>, exact::thread_slots> blocks_;
  std::array<std::deque<freed_block>, exact::thread_slots> freed_;  ///< by each thread; they stay where they are
  std::uint64_t freed_sizes_ = 0;                                   ///< their size_bit()s
  std::array<std::size_t, exact::thread_slots> used_{};
  std::vector<block> remembered_;
};

}  // namespace runq::model::compiled
