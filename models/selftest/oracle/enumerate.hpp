// SPDX-License-Identifier: MIT
// All executions of a small program, by no cleverness at all: every order in which its threads could take their steps,
// every write that a read could read from, every modification order; each judged by the axioms of ../axioms.hpp.
#pragma once

#include <cstdint>
#include <optional>

#include "../brute_force.hpp"
#include "../program.hpp"

namespace runq::model::selftest {

/// For programs with any instructions. At most `spurious` weak compare-exchanges of an execution fail although they
/// could succeed. Plain reads are among the outcome's values, where no execution fails. Returns nothing if there are
/// more than `budget` candidates.
[[nodiscard]] std::optional<enumeration> enumerate_all(const program& p, std::uint64_t budget, unsigned spurious = 0);

}  // namespace runq::model::selftest
