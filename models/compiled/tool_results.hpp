// SPDX-License-Identifier: MIT
// The result of a check as files that other tools read: SARIF 2.1.0, which reviews show at the lines, and JUnit's XML.
#pragma once

#include <string>

#include "answer.hpp"
#include "options.hpp"

namespace runq::model::compiled {

[[nodiscard]] std::string sarif_of(const answer& a);
[[nodiscard]] std::string junit_of(const answer& a, const run_options& options);

}  // namespace runq::model::compiled
