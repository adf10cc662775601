// SPDX-License-Identifier: MIT
// frames: memory for coroutine frames, reused per processor, so that a task costs no call of malloc.
#pragma once

#include <algorithm>
#include <array>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>

#include "runq/common.hpp"

#if defined(__SANITIZE_ADDRESS__)
#define RUNQ_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define RUNQ_ASAN 1
#endif
#endif
#if defined(RUNQ_ASAN)
#include <sanitizer/asan_interface.h>
#endif

namespace runq::detail {

/// Free blocks of one processor, by size class. Surplus blocks go to a pool that all processors share, and come back
/// from there. As in Go's free lists of dead goroutines, a class that reaches `high` blocks is trimmed to `low`. Only
/// the thread that holds the processor may use it.
///
/// A block is aligned as well as its size allows: see alignment_for(). So an object that needs an alignment asks for a
/// size that is a multiple of it: a closure by its type, a coroutine's frame by frame_memory.
///
/// Its layout and its classes are the same with every compiler, because a program and the library may come from two.
class frame_cache {
 public:
  static constexpr std::size_t granule = 8;          // bytes: the least alignment of a block
  static constexpr std::size_t largest = 1024;       // bytes: larger frames come from operator new
  static constexpr std::size_t most_aligned = 4096;  // bytes: a page
  static constexpr std::uint32_t high = 64;          // blocks of one class
  static constexpr std::uint32_t low = high / 2;     // blocks of one class
  struct block {
    block* next;
    block* next_batch;  // of the first block of a batch in the pool
  };

  frame_cache() = default;
  struct none {};
  /// A cache that has no block and no room for one: see frames_here.
  constexpr explicit frame_cache(none) noexcept {
    for (list& free : lists_) free.size = high - 1;
  }
  frame_cache(const frame_cache&) = delete;
  frame_cache& operator=(const frame_cache&) = delete;
  ~frame_cache();

  [[nodiscard]] RUNQ_ON_EVERY_CALL void* allocate(std::size_t bytes) {
    if (bytes > largest) return ::operator new(bytes, alignment_for(bytes));
    list& free = lists_[class_of(bytes)];
    block* const b = free.first;
    if (b == nullptr) return allocate_apart(class_of(bytes));
    free.first = b->next;
    --free.size;
    show(b, class_of(bytes));
    return b;
  }

  RUNQ_ON_EVERY_CALL void deallocate(void* memory, std::size_t bytes) noexcept {
    if (bytes > largest) {
      ::operator delete(memory, alignment_for(bytes));
      return;
    }
    list& free = lists_[class_of(bytes)];
    if (free.size == high - 1) return deallocate_apart(memory, bytes);
    ++free.size;
    put(free, memory, class_of(bytes));
  }

  /// The class of the smallest blocks that have room for `bytes`, and for the links of a free block.
  [[nodiscard]] static constexpr std::size_t class_of(std::size_t bytes) noexcept {
    return (std::max(bytes, sizeof(block)) - 1) / granule;
  }
  [[nodiscard]] static constexpr std::size_t size_of_class(std::size_t c) noexcept { return (c + 1) * granule; }

  /// The largest power of two that divides `bytes`, between granule and most_aligned.
  [[nodiscard]] static constexpr std::align_val_t alignment_for(std::size_t bytes) noexcept {
    const std::size_t divides = bytes & (~bytes + 1);
    return std::align_val_t{std::clamp(divides, granule, most_aligned)};
  }

  // A free block may not be touched, but for its links: AddressSanitizer is told so.
  static void hide([[maybe_unused]] block* b, [[maybe_unused]] std::size_t c) noexcept {
#if defined(RUNQ_ASAN)
    ASAN_POISON_MEMORY_REGION(b + 1, size_of_class(c) - sizeof(block));
#endif
  }
  static void show([[maybe_unused]] block* b, [[maybe_unused]] std::size_t c) noexcept {
#if defined(RUNQ_ASAN)
    ASAN_UNPOISON_MEMORY_REGION(b, size_of_class(c));
#endif
  }

 private:
  [[nodiscard]] void* allocate_apart(std::size_t c);
  void deallocate_apart(void* memory, std::size_t bytes) noexcept;
  void refill(std::size_t c);
  void trim(std::size_t c) noexcept;

  struct list {
    block* first = nullptr;
    std::uint32_t size = 0;
  };
  static void put(list& free, void* memory, std::size_t c) noexcept {
    // The other members are set when it comes first in a batch.
    block* const freed = ::new (memory) block;
    freed->next = free.first;
    free.first = freed;
    hide(freed, c);
  }
  std::array<list, largest / granule> lists_;
};

/// The cache of the calling thread's processor. While it has no processor, or is in destroy_and_leave_remains(), a
/// cache that has no block and no room for one, so that the usual way asks for neither case.
///
/// clang++ before 17 gets it by a call: see this_front().
extern constinit thread_local frame_cache* frames_here;
[[nodiscard]] frame_cache& frames_here_by_call() noexcept;
#if defined(__clang__) && __clang_major__ < 17
[[nodiscard]] inline frame_cache& this_frame_cache() noexcept { return frames_here_by_call(); }
#else
[[nodiscard]] inline frame_cache& this_frame_cache() noexcept { return *frames_here; }
#endif
/// To be called when the calling thread has got another processor, or lost it.
void choose_frames_here() noexcept;

/// Allocates and frees a frame's memory without a processor's cache. Any thread.
[[nodiscard]] void* allocate_frame_outside(std::size_t bytes);
void deallocate_frame_outside(void* memory, std::size_t bytes) noexcept;

/// Destroys a coroutine but leaves its memory, marked, to the object that owns it.
void destroy_and_leave_remains(std::coroutine_handle<> h) noexcept;
/// Marks the memory if it belongs to the coroutine that the calling thread destroys by destroy_and_leave_remains().
[[nodiscard]] bool leave_remains(void* memory, std::size_t bytes) noexcept;
inline constexpr char remains_mark = 0;
/// Whether destroy_and_leave_remains() has destroyed the coroutine with this address.
[[nodiscard]] inline bool is_remains(const void* address) noexcept {
  // A coroutine that has not been destroyed begins with a value of the compiler's, which is never the address of that
  // mark.
  const void* first = nullptr;
  std::memcpy(&first, address, sizeof(first));
  return first == &remains_mark;
}
void free_remains(void* address) noexcept;

/// Bytes that the pool has taken from the system so far, in this process, and that it has given back.
[[nodiscard]] std::size_t frame_pool_bytes() noexcept;
[[nodiscard]] std::size_t frame_bytes_given_back() noexcept;
/// Gives slabs back to the system of which no block is in use, but for about a mebibyte, if nobody has needed them for
/// a second. The monitor calls it. `now`: the clock, in ns.
void give_back_frames(std::int64_t now) noexcept;
/// Whether further calls of it may give something back although no task runs.
[[nodiscard]] bool frames_may_be_given_back() noexcept;

}  // namespace runq::detail
