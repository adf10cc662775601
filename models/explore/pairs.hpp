// SPDX-License-Identifier: MIT
// What a run has shown: pairs of places in the code. The second place reads what the first has written, or comes next
// in the modification order of a variable, or in the order of the calls for a lock and its like. Whether one thread is
// at both places, and whether the value was an old one, makes pairs of their own. So a run that shows a new pair has
// done what none had done before.
#pragma once

#include <cstddef>
#include <cstdint>

#include "limits.hpp"

namespace runq::model::explore {

/// Who has written a store, or called for an object; nobody: code 0.
struct origin {
  std::uint32_t code = 0;  ///< the lower half of its address
  std::uint32_t thread = 0;
};
[[nodiscard]] origin origin_here(const void* code) noexcept;

struct seen_pair {
  std::uint64_t pair;  ///< a hash
  std::uint64_t step;  ///< of the run: the first at which it was seen
};
/// What a run leaves, in memory that it shares with the process that has started it.
struct seen_pairs {
  std::uint32_t count;
  seen_pair list[pairs_kept];  ///< in the order of their steps
};

enum class pair_kind : std::uint8_t { read, read_old, next_store, next_call };

extern bool notes_pairs;
void note_pairs_into(seen_pairs& to) noexcept;
void note_pair(pair_kind kind, const origin& before, const origin& after) noexcept;

}  // namespace runq::model::explore
