// SPDX-License-Identifier: MIT
// The work-stealing deque of libfork (of 2026), made of chase_lev. No file of libfork is changed: compile with
// `-include libfork_deque.hpp`. Its deque gets another name, and this one stands under the name that its workers use.
#pragma once

// libfork's header includes these. They come first, so that the macro below, which renames its deque, does not rename
// theirs.
#include <algorithm>
#include <atomic>
#include <bit>
#include <concepts>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include <libfork/core/impl/atomics.hpp>
#include <libfork/core/impl/utility.hpp>
#include <libfork/core/macro.hpp>

#define deque their_deque
#include <libfork/core/ext/deque.hpp>
#undef deque

#include <runq/chase_lev.hpp>
#include <runq/one_object.hpp>

namespace lf {
inline namespace ext {

template <dequeable T>
class deque : impl::immovable<deque<T>> {
 public:
  using value_type = T;
  deque() = default;
  explicit deque(std::ptrdiff_t capacity) : deque_(static_cast<std::size_t>(capacity)) {}
  [[nodiscard]] std::size_t size() const noexcept { return deque_.size(); }
  [[nodiscard]] std::ptrdiff_t ssize() const noexcept { return static_cast<std::ptrdiff_t>(size()); }
  [[nodiscard]] std::ptrdiff_t capacity() const noexcept { return static_cast<std::ptrdiff_t>(deque_.capacity()); }
  [[nodiscard]] bool empty() const noexcept { return deque_.empty(); }
  void push(const T& value) {
    if (!deque_.push(value)) throw std::bad_alloc();
  }
  template <std::invocable F = return_nullopt<T>>
  std::invoke_result_t<F> pop(F&& when_empty = {}) noexcept(std::is_nothrow_invocable_v<F>) {
    const auto newest = deque_.pop();
    return newest ? *newest : std::invoke(std::forward<F>(when_empty));
  }
  [[nodiscard]] steal_t<T> steal() noexcept {
    const auto oldest = deque_.steal();
    if (oldest) return {err::none, oldest.value};
    return {oldest.status == runq::steal_status::lost ? err::lost : err::empty, {}};
  }

 private:
  runq::one_object<runq::chase_lev<T>> deque_;
};

}  // namespace ext
}  // namespace lf
