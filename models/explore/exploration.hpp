// SPDX-License-Identifier: MIT
// Many runs of a program, and what they came to.
#pragma once

#include <nlohmann/json.hpp>

#include "options.hpp"
#include "run.hpp"

namespace runq::model::explore {

struct explored {
  tool_result result;
  nlohmann::json as_json;   ///< what --json writes
  bool wrote_tiny = false;  ///< the file of --tiny
};
[[nodiscard]] explored explore(const exploration_options& options, const program& p);

/// In real time.
[[nodiscard]] double seconds_now();

}  // namespace runq::model::explore
