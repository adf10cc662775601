// SPDX-License-Identifier: MIT
// The index page: what was searched and found, the mutants, the litmus table, the order ledger.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace runq::model::html {

/// `pages[i]` is the file of the counterexample of `report["searches"][i]`, or empty.
[[nodiscard]] std::string overview_page(const nlohmann::json& report, const std::vector<std::string>& pages);

}  // namespace runq::model::html
