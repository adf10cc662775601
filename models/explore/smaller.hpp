// SPDX-License-Identifier: MIT
// Makes a failure small: of what chance has decided in a failing run, a part that is enough (delta debugging).
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "run.hpp"

namespace runq::model::explore {

struct small_run {
  std::vector<deviation> needed;  ///< sorted
  std::string words;              ///< how much of what there was
  bool needs_weak_memory = false;
};

/// `found`: the deviations of the run of `request`, which fails so. Nothing is needed but what is in the answer, in
/// which no single part can be left out, unless that would take too many runs. If the run does not fail when all of
/// them are followed, `words` is empty.
[[nodiscard]] small_run make_smaller(run_slot& slot, run_request request, const exploration_options& options,
                                     const program& p, const recording& found, const run_outcome& failure);

/// Whether both fail in the same way.
[[nodiscard]] bool is_same_failure(const run_outcome& a, const run_outcome& b);

}  // namespace runq::model::explore
