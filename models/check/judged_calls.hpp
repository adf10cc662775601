// SPDX-License-Identifier: MIT
// The calls of a history that is not linearizable. The check of the history hands them to the engine, which places them
// among the steps of the failing execution (verdict.hpp).
//
// Fixed arrays: a history is judged inside an execution, where an engine may have taken over operator new.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "call_text.hpp"
#include "engine.hpp"
#include "verdict.hpp"

namespace runq::model {

inline constexpr std::size_t max_judged_calls = 64;

struct judged_call {
  moment began, ended;
  std::uint64_t after = 0;  ///< a bit for each call that happened before it
  call_text text;           ///< with its answer
};

/// The result of the search for an order.
struct judged_history {
  static constexpr std::size_t nobody = ~std::size_t{0};

  std::size_t count = 0;
  std::array<judged_call, max_judged_calls> calls{};
  /// A call without which there is an order; `nobody` if there is no such call.
  std::size_t unexplained = nobody;
  /// That order; or, where there is none, the longest that explains the answers so far.
  std::size_t explained = 0;
  std::array<std::uint8_t, max_judged_calls> order{};
};

/// The history that the running execution fails by, to be filled in by its check.
[[nodiscard]] judged_history& history_that_fails() noexcept;

/// The threads of an engine, as moments name them.
struct thread_numbers {
  int constructing;
  int finishing;
  int first;  ///< T0
};

/// For engines: the calls of history_that_fails() for `r.calls` and what belongs to it. `steps`: of which thread each
/// step of `r.trace` is, and how many steps that thread had made before.
void show_history(search_result& r, const std::vector<moment>& steps, const thread_numbers& threads);

}  // namespace runq::model
