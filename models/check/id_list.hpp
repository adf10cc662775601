// SPDX-License-Identifier: MIT
// Lists of task ids in memory of fixed size, for specifications.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>

namespace runq::model {

/// A list of at most `Most` task ids.
template <std::size_t Most>
struct id_list {
  std::size_t size = 0;
  std::array<int, Most> ids{};

  /// False if they do not fit.
  [[nodiscard]] bool append(std::span<const int> more) {
    if (size + more.size() > Most) return false;
    std::copy(more.begin(), more.end(), ids.begin() + static_cast<std::ptrdiff_t>(size));
    size += more.size();
    return true;
  }
  [[nodiscard]] bool starts_with(std::span<const int> front) const {
    return size >= front.size() && std::equal(front.begin(), front.end(), ids.begin());
  }
  void drop_front(std::size_t n) {
    std::copy(ids.begin() + static_cast<std::ptrdiff_t>(n), ids.begin() + static_cast<std::ptrdiff_t>(size),
              ids.begin());
    size -= n;
  }
  [[nodiscard]] std::span<const int> all() const { return {ids.data(), size}; }
  [[nodiscard]] std::span<const int> first(std::size_t n) const { return {ids.data(), n}; }
};

}  // namespace runq::model
