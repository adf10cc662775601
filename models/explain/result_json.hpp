// SPDX-License-Identifier: MIT
// The result of one search as JSON: the same for models and for compiled programs.
#pragma once

#include <nlohmann/json.hpp>

#include "sites.hpp"
#include "verdict.hpp"

namespace runq::model {

/// With the text of the steps, so that pages and tools need no source files.
[[nodiscard]] nlohmann::json result_json(const search_result& r, source_index& sources);

}  // namespace runq::model
