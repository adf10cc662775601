// SPDX-License-Identifier: MIT
// Results as pages that a person reads in a browser: an index, and one page per counterexample. Each page is
// html/page.html with other data. It needs no server and loads nothing: its style, its data, as JSON, and the script
// that draws them are in it.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

namespace runq::model {

/// Writes DIR/index.html and a page for every search of `report` that has a trace. `report` is what `--json` writes.
/// Throws std::runtime_error when something cannot be written.
void write_html(const std::string& dir, const nlohmann::json& report);

}  // namespace runq::model
