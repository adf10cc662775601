// SPDX-License-Identifier: MIT
// A processor_queue that passes all tasks to the global queue and keeps none, as in Go before 1.1: for comparisons in
// the benchmarks.
#pragma once

#include <cstddef>
#include <utility>

#include "runq/detail/strand.hpp"
#include "runq/inject.hpp"
#include "runq/local_queue.hpp"

namespace runq::detail {

/// The interface of local_queue, over one locked list for all.
class processor_queue {
 public:
  using global_queue = inject<&strand::link>;
  class thief;
  class owner;
  explicit processor_queue(global_queue& global) noexcept : global_(&global) {}
  [[nodiscard]] owner make_owner() noexcept;
  [[nodiscard]] thief make_thief() const noexcept;
  [[nodiscard]] static constexpr std::size_t capacity() noexcept { return 0; }

 private:
  global_queue* global_;
};

class processor_queue::thief {
 public:
  [[nodiscard]] bool has_work() const noexcept { return false; }
  [[nodiscard]] bool has_work_approx() const noexcept { return false; }
  [[nodiscard]] std::size_t size_approx() const noexcept { return 0; }
};

class processor_queue::owner {
 public:
  explicit owner(global_queue& global) noexcept : global_(&global) {}
  std::size_t push(strand* s) noexcept {
    global_->put(s);
    return 1;
  }
  std::size_t push_next(strand* s) noexcept { return push(s); }
  [[nodiscard]] bool next_is_free() const noexcept { return true; }
  std::size_t push_batch(strand_list&& batch) noexcept {
    const std::size_t n = batch.size();
    global_->splice(std::move(batch));
    return n;
  }
  [[nodiscard]] popped<strand> pop() noexcept { return {global_->take(), false}; }
  [[nodiscard]] strand* pop_oldest() noexcept { return nullptr; }
  [[nodiscard]] strand* take_from(global_queue& global, std::size_t) noexcept { return global.take(); }
  [[nodiscard]] stolen<strand> steal_from(const thief&, steal_runnext, std::size_t, std::size_t) noexcept { return {}; }
  [[nodiscard]] strand_list drain() noexcept { return {}; }
  [[nodiscard]] std::size_t size_approx() const noexcept { return 0; }
  void overflow_into(global_queue&) noexcept {}  // all go to one queue
  void rebind() noexcept {}

 private:
  global_queue* global_;
};

inline processor_queue::owner processor_queue::make_owner() noexcept { return owner(*global_); }
inline processor_queue::thief processor_queue::make_thief() const noexcept { return {}; }

}  // namespace runq::detail
