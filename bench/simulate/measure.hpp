// SPDX-License-Identifier: MIT
// measure: what the operations of costs.hpp cost on this machine.
#pragma once

#include <string>

#include "costs.hpp"

namespace runq::simulate {

/// Measures with two threads; each figure is the least of some trials, because other programs only make it larger.
[[nodiscard]] costs measure();
/// The figures in ns, with commas; and back.
[[nodiscard]] std::string text_of(const costs& c);
[[nodiscard]] costs costs_from(const std::string& text);

}  // namespace runq::simulate
