// SPDX-License-Identifier: MIT
// Why an execution fails, in one sentence: which step does not synchronise with which, which thread waits for which,
// what an old value was read instead of. Found from the trace alone, which says what each step reads from
// and what happens before it, so it is the same for every engine that knows both.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "verdict.hpp"

namespace runq::model {

struct explanation {
  std::string sentence;            ///< empty: none is known
  std::vector<std::size_t> steps;  ///< those that it names, as indices of the trace
  /// The step that the failing one is not ordered with; no_event: there is none.
  std::uint32_t unordered = no_event;
  std::uint32_t failing = no_event;  ///< the operation that fails
};

/// `name_of`: what people call the variables, by their numbers in the trace.
[[nodiscard]] explanation why(const search_result& r, const std::map<std::uint32_t, std::string>& names);

}  // namespace runq::model
