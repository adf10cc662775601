// SPDX-License-Identifier: MIT
// The work-stealing deque of TooManyCooks (of 2026), made of chase_lev. No file of TooManyCooks is changed: compile
// with `-include toomanycooks_deque.hpp`. Its deque gets another name, and this one stands under the name that its
// executor uses.
#pragma once

#define chase_lev_deque their_chase_lev_deque
#include <tmc/detail/qu_chase_lev64.hpp>
#undef chase_lev_deque

#include <cstddef>
#include <new>
#include <ranges>

#include <runq/chase_lev.hpp>
#include <runq/one_object.hpp>

namespace tmc::detail {

template <typename T>
class chase_lev_deque {
 public:
  chase_lev_deque() : chase_lev_deque(128) {}
  explicit chase_lev_deque(std::size_t capacity) : deque_(capacity) {}
  void push(T item) {
    if (!deque_.push(item)) throw std::bad_alloc();
  }
  /// `items` need not be an iterator in the sense of the standard: it is read and advanced n times.
  template <typename I>
  void post_bulk(I&& items, std::size_t n) {
    const auto next = [&items](std::size_t) {
      T item(*items);
      ++items;
      return item;
    };
    const auto batch = std::views::iota(std::size_t{0}, n) | std::views::transform(next);
    if (deque_.push_batch(batch.begin(), batch.end()).count != n) throw std::bad_alloc();
  }
  bool try_pop(T& item) {
    const auto newest = deque_.pop();
    if (newest) item = *newest;
    return newest.has_value();
  }
  bool steal(T& item) {
    const auto oldest = deque_.steal();
    if (oldest) item = oldest.value;
    return static_cast<bool>(oldest);
  }
  std::size_t size_approx() const { return deque_.size(); }
  bool empty() const { return deque_.empty(); }

 private:
  runq::one_object<runq::chase_lev<T>> deque_;
};

}  // namespace tmc::detail
