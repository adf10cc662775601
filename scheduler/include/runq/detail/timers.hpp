// SPDX-License-Identifier: MIT
// timers: what is to happen at a certain time, per processor: a heap with four children per node, as in Go.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <mutex>
#include <vector>

#include "runq/detail/policy.hpp"

namespace runq::detail {

/// Nanoseconds of the monotonic clock.
using instant = std::int64_t;
inline constexpr instant never = std::numeric_limits<instant>::max();
/// What is to happen later than time goes is due then, which is pending all the same.
inline constexpr instant end_of_time = never - 1;

[[nodiscard]] inline instant now() noexcept {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}
/// now() + d, but not later than time goes; now() if d < 0.
[[nodiscard]] inline instant in(std::chrono::nanoseconds d) noexcept {
  const instant begin = now();
  if (d.count() <= 0) return begin;
  return d.count() > end_of_time - begin ? end_of_time : begin + d.count();
}

class timer_heap;

/// One thing to happen. Belongs to whoever waits for it; in at most one heap.
struct timer_node {
  /// Called when it is due, under the heap's lock and after the node has left the heap: it may end the node's life. A
  /// return value other than `never` puts it back, to be called again then.
  instant (*fire)(timer_node& self, instant now) = nullptr;
  instant when = 0;            // under the heap's lock, while it is in
  std::uint64_t order = 0;     // among equal times, first come, first served
  std::size_t place = absent;  // under the heap's lock
  timer_heap* heap = nullptr;  // the heap it was last put into, or null: it is in none

  static constexpr std::size_t absent = ~std::size_t{0};
};

/// Any thread; under a lock of its own.
class timer_heap {
 public:
  timer_heap() = default;
  timer_heap(const timer_heap&) = delete;
  timer_heap& operator=(const timer_heap&) = delete;

  /// When the earliest is due, or never. Takes no lock.
  [[nodiscard]] instant earliest() const noexcept { return earliest_.load(std::memory_order::acquire); }

  /// Puts `node` in, to be due at node.when. Throws std::bad_alloc. After that it may fire at any moment.
  void add(timer_node& node);
  /// Takes `node` out. False if it was not in: it has fired, completely, or never was.
  bool remove(timer_node& node) noexcept;
  /// Fires all that are due at `now`; returns how many.
  std::size_t fire_due(instant now);

  [[nodiscard]] std::size_t size() const {
    const std::lock_guard lock(mutex_);
    return nodes_.size();
  }
  /// The heap ends before the nodes that are in it: they are in none any more.
  void clear() noexcept;

 private:
  [[nodiscard]] static bool before(const timer_node& a, const timer_node& b) noexcept {
    return a.when != b.when ? a.when < b.when : a.order < b.order;
  }
  void set(std::size_t place, timer_node& node) noexcept {
    nodes_[place] = &node;
    node.place = place;
  }
  void sift_up(std::size_t place) noexcept;
  void sift_down(std::size_t place) noexcept;
  void take_out(std::size_t place) noexcept;
  void publish() noexcept {
    earliest_.store(nodes_.empty() ? never : nodes_.front()->when, std::memory_order::release);
  }

  mutable short_lock mutex_;
  std::vector<timer_node*> nodes_;  // under mutex_
  std::uint64_t added_ = 0;         // under mutex_
  std::atomic<instant> earliest_{never};
};

}  // namespace runq::detail
