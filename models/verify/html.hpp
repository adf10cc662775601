// SPDX-License-Identifier: MIT
// Results as pages that a person reads in a browser: an index, and one page per counterexample. The pages need no
// server and load nothing: style, script and drawings are in them.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

namespace runq::model {

/// Writes DIR/index.html and a page for every search of `report` that has a trace. `report` is what `--json` writes.
/// Throws std::runtime_error when something cannot be written.
void write_html(const std::string& dir, const nlohmann::json& report);

}  // namespace runq::model
