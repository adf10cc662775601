// SPDX-License-Identifier: MIT
// frames: memory for coroutine frames, reused per processor, so that a task costs no call of malloc.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace runq::detail {

/// Free blocks of one processor, by size class. What it has too many of goes to a pool that all share, and comes back
/// from there: as in Go's free lists of dead goroutines, at `high` blocks of a class they are trimmed to `low`. One
/// thread at a time: the one that holds the processor.
class frame_cache {
 public:
  static constexpr std::size_t granule = 64;      // bytes: one cache line
  static constexpr std::size_t largest = 1024;    // bytes: larger frames come from operator new
  static constexpr std::uint32_t high = 64;       // blocks of one class
  static constexpr std::uint32_t low = high / 2;  // blocks of one class
  struct block {
    block* next;
    block* next_batch;   // of the first block of a batch in the pool
    std::uint32_t size;  // likewise: blocks in the batch
  };

  frame_cache() = default;
  frame_cache(const frame_cache&) = delete;
  frame_cache& operator=(const frame_cache&) = delete;
  ~frame_cache();

  [[nodiscard]] void* allocate(std::size_t bytes);
  void deallocate(void* memory, std::size_t bytes) noexcept;

 private:
  struct list {
    block* first = nullptr;
    std::uint32_t size = 0;
  };
  std::array<list, largest / granule> lists_;
};

/// The same, for whatever thread calls: through the cache of its processor if it has one, else from the shared pool.
/// Never inlined: the compiler must not remember one thread's cache across a suspension after which another runs.
[[nodiscard]] void* allocate_frame(std::size_t bytes);
void deallocate_frame(void* memory, std::size_t bytes) noexcept;

/// Bytes that the pool has taken from the system so far, in this process. They are kept for reuse.
[[nodiscard]] std::size_t frame_pool_bytes() noexcept;

}  // namespace runq::detail
