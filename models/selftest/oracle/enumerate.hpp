// SPDX-License-Identifier: MIT
// All executions of a small program, by no cleverness at all: every order in which its threads could take their steps,
// every write that a read could read from, every modification order; each judged by the axioms of ../axioms.hpp.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>

#include "../program.hpp"
#include "verdict.hpp"

namespace runq::model::selftest {

struct enumeration {
  std::uint64_t graphs = 0;
  /// Per thread the values read, in order, then the last value of each variable.
  std::set<std::string> outcomes{};
  /// What is wrong in some graph: data race, use after free, double free; or deadlock. A deadlock is a graph, not
  /// counted in `graphs`, in which a thread that has read the newest value, or that waits for the mutex, waits, and no
  /// other thread can go on.
  std::set<failure> failures{};
};

/// The name that runq::verdict::failure() gives it.
[[nodiscard]] constexpr const char* name_of(failure what) noexcept {
  switch (what) {
    case failure::none: return "none";
    case failure::data_race: return "data race";
    case failure::use_after_free: return "use after free";
    case failure::double_free: return "double free";
    case failure::deadlock: return "deadlock";
    case failure::unpublished_allocation: return "unpublished allocation";
    default: return "another failure";
  }
}

/// For programs with any instructions. At most `spurious` weak compare-exchanges of an execution fail although they
/// could succeed. Plain reads are among the outcome's values, where no execution fails. With `cycles`, po ∪ rf may have
/// cycles, as in C++20, except that a value must come from somewhere; for programs without try_lock, condition
/// variable, start and join. Returns nothing if there are more than `budget` candidates, or too many states on the way
/// to them.
[[nodiscard]] std::optional<enumeration> enumerate_all(const program& p, std::uint64_t budget, unsigned spurious = 0,
                                                       bool cycles = false);

}  // namespace runq::model::selftest
