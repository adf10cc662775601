// SPDX-License-Identifier: MIT
// The page of one counterexample: a column per thread, time downwards, a box per step, arrows from writers to readers.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

namespace runq::model::html {

/// `search` is an entry of `report["searches"]` with a trace.
[[nodiscard]] std::string timeline_page(const nlohmann::json& search, const nlohmann::json& report);

}  // namespace runq::model::html
