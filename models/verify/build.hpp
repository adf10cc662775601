// SPDX-License-Identifier: MIT
// Builds the modules that a run needs.
#pragma once

#include <string>
#include <vector>

#include "plan.hpp"

namespace runq::model {

/// Builds the targets in the folder in which this program was built, and tells on stderr how it goes. If that fails,
/// prints the end of what the build says, and ends the process with status 1.
void build_targets(const manifest& m, const std::vector<std::string>& targets);

}  // namespace runq::model
