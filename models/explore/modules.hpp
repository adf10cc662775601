// SPDX-License-Identifier: MIT
// The libraries that the program has loaded.
#pragma once

#include <string>

namespace runq::model::explore {

/// The names of those that are not instrumented, but for the C and C++ libraries and the explorer: "liba.so, libb.so".
[[nodiscard]] std::string not_instrumented();

}  // namespace runq::model::explore
