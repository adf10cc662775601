// SPDX-License-Identifier: MIT
// The work-stealing queue of stdexec's static_thread_pool (of 2026), made of bounded_chase_lev. No file of stdexec is
// changed: compile with `-include stdexec_lifo_queue.hpp`. Its queue gets another name, and this one stands under the
// name that the pool uses.
#pragma once

#define lifo_queue their_lifo_queue
#include <exec/detail/bwos_lifo_queue.hpp>
#undef lifo_queue

#include <bit>
#include <cstddef>
#include <memory>

#include <runq/chase_lev.hpp>
#include <runq/one_object.hpp>

namespace experimental::execution::bwos {

/// A deque without blocks: it holds as many elements as the blocks would. An operation that finds nothing returns T{}.
template <class T, class Allocator = std::allocator<T>>
class lifo_queue {
 public:
  lifo_queue(std::size_t blocks, std::size_t block_size, const Allocator& = {})
      : blocks_(std::bit_ceil(blocks)), block_size_(block_size), deque_(blocks_ * block_size) {}
  T pop_back() noexcept { return deque_.pop().value_or(T{}); }
  T steal_front() noexcept {
    for (;;) {
      const auto oldest = deque_.steal();
      if (oldest.status != runq::steal_status::lost) return oldest.value;
    }
  }
  bool push_back(T value) noexcept { return deque_.push(value); }
  template <class Iterator, class Sentinel>
  Iterator push_back(Iterator first, Sentinel last) noexcept {
    return deque_.push_batch(first, last).rest;
  }
  [[nodiscard]] std::size_t block_size() const noexcept { return block_size_; }
  [[nodiscard]] std::size_t num_blocks() const noexcept { return blocks_; }

 private:
  std::size_t blocks_;
  std::size_t block_size_;
  runq::one_object<runq::bounded_chase_lev<T>> deque_;
};

}  // namespace experimental::execution::bwos
