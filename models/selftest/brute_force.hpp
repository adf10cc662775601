// SPDX-License-Identifier: MIT
// An enumerator of execution graphs that is as stupid as possible: every reads-from choice times every modification
// order, each judged by RC11's axioms written down as operations on boolean matrices.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>

#include "program.hpp"
#include "verdict.hpp"

namespace runq::model::selftest {

struct enumeration {
  std::uint64_t graphs = 0;
  /// Per thread the values read, in order, then the last value of each variable.
  std::set<std::string> outcomes;
  /// What is wrong in some graph: data race, use after free, double free; or deadlock. A deadlock is a graph, not
  /// counted in `graphs`, in which a thread that has read the newest value, or that waits for the mutex, waits, and no
  /// other thread can go on.
  std::set<failure> failures;
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

/// With `cycles`, po ∪ rf may have cycles, as in C++20, except that a value must come from somewhere.
/// At most `spurious` weak compare-exchanges of a graph fail although they could succeed.
/// Returns nothing if the program has more than `budget` candidates.
[[nodiscard]] std::optional<enumeration> enumerate(const program& p, std::uint64_t budget, bool cycles = false,
                                                   unsigned spurious = 0);

}  // namespace runq::model::selftest
