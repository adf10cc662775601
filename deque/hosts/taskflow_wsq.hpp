// SPDX-License-Identifier: MIT
// The work-stealing queues of taskflow (of 2026), made of chase_lev. No file of taskflow is changed: compile with
// `-include taskflow_wsq.hpp`. Its queues get another name, and these stand under the names that its executor uses.
#pragma once

#define UnboundedWSQ their_unbounded_wsq
#define BoundedWSQ their_bounded_wsq
#include <taskflow/core/wsq.hpp>
#undef UnboundedWSQ
#undef BoundedWSQ

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <new>
#include <optional>
#include <type_traits>
#include <utility>

#include <runq/chase_lev.hpp>
#include <runq/one_object.hpp>

namespace tf {

/// What both queues share. An operation that finds nothing returns a null pointer, or std::nullopt.
template <typename T, typename Deque>
class runq_wsq {
 public:
  using value_type = std::conditional_t<std::is_pointer_v<T>, T, std::optional<T>>;
  static constexpr value_type empty_value() { return {}; }

  explicit runq_wsq(std::size_t capacity) : deque_(capacity) {}
  [[nodiscard]] bool empty() const noexcept { return deque_.empty(); }
  [[nodiscard]] std::size_t size() const noexcept { return deque_.size(); }
  [[nodiscard]] std::size_t capacity() const noexcept { return deque_.capacity(); }
  value_type pop() {
    const auto newest = deque_.pop();
    return newest ? *newest : empty_value();
  }
  value_type steal() {
    const auto oldest = deque_.steal();
    return oldest ? oldest.value : empty_value();
  }

 protected:
  bool put(T item) { return deque_.push(item); }
  /// Advances `first` past the tasks that it has pushed.
  template <typename I>
  std::size_t put_all(I& first, std::size_t n) {
    const auto pushed = deque_.push_batch(std::counted_iterator(first, static_cast<std::iter_difference_t<I>>(n)),
                                          std::default_sentinel);
    first = pushed.rest.base();
    return pushed.count;
  }

 private:
  runq::one_object<Deque> deque_;
};

template <typename T, std::size_t LogSize = TF_DEFAULT_BOUNDED_TASK_QUEUE_LOG_SIZE>
struct BoundedWSQ : runq_wsq<T, runq::bounded_chase_lev<T>> {
  BoundedWSQ() : runq_wsq<T, runq::bounded_chase_lev<T>>(std::size_t{1} << LogSize) {}
  bool try_push(T item) { return this->put(item); }
  template <typename I>
  std::size_t try_bulk_push(I& first, std::size_t n) {
    return this->put_all(first, n);
  }
};

template <typename T>
struct UnboundedWSQ : runq_wsq<T, runq::chase_lev<T>> {
  explicit UnboundedWSQ(std::int64_t log_size = TF_DEFAULT_UNBOUNDED_TASK_QUEUE_LOG_SIZE)
      : runq_wsq<T, runq::chase_lev<T>>(std::size_t{1} << log_size) {}
  void push(T item) {
    if (!this->put(item)) throw std::bad_alloc();
  }
  template <typename I>
  void bulk_push(I& first, std::size_t n) {
    if (this->put_all(first, n) != n) throw std::bad_alloc();
  }
};

}  // namespace tf
