// SPDX-License-Identifier: MIT
// What stands in for the linearizability check under GenMC: nothing is checked. The check has to know which call
// happened before which, and GenMC does not tell the program. The exact engine checks the same executions.
#pragma once

#include <cstddef>
#include <span>

#include "atomics.hpp"
#include "call_text.hpp"
#include "id_list.hpp"
#include "wing_gong.hpp"

namespace runq::model {

enum class op_kind : unsigned char {
  append,
  append_some,
  refuse,
  take_front,
  take_back,
  take_half,
  take_lower_half,
  take_all,
  find_empty,
  find_work,
  replace,
};

template <class Spec, std::size_t Calls>
class call_log {
 public:
  using call = typename Spec::call;
  [[nodiscard]] static constexpr moment begin() noexcept { return {}; }
  constexpr void add(moment, const call&) noexcept {}
  constexpr void require_linearizable(const Spec&) const noexcept {}
};

template <std::size_t Operations, std::size_t Items>
class history {
 public:
  explicit constexpr history(std::size_t = Items) noexcept {}
  [[nodiscard]] static constexpr moment begin() noexcept { return {}; }
  constexpr void add(moment, op_kind, std::span<const int>, std::size_t = Items) noexcept {}
  constexpr void require_linearizable() noexcept {}
};

}  // namespace runq::model
