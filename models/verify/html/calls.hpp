// SPDX-License-Identifier: MIT
// The calls of a history that no order explains, drawn for a browser: a row per thread, a box per call.
#pragma once

#include <string>

#include "common.hpp"

namespace runq::model::html {

/// Empty if the result has no calls.
[[nodiscard]] std::string calls_section(const json& result);

}  // namespace runq::model::html
