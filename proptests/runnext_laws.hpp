// SPDX-License-Identifier: MIT
// The laws of a one-slot queue with one owner and many thieves, for any candidate.
#pragma once

#include <vector>

#include "laws.hpp"
#include "slot_spec.hpp"

namespace runq::props {

[[nodiscard]] inline std::vector<law> slot_laws(const std::vector<candidate>& candidates) {
  using enum verb;
  const std::vector<verb> all{push_next, pop, push_next, steal_next, has_work_approx, has_work, hand_over};
  return stateful_laws<slot_spec>(
      candidates, {
                      {"agrees_with_one_slot", all, agree_on_all},
                      {"put_returns_what_it_displaces", {push_next, pop, push_next, steal_next}, agree_on({push_next})},
                      {"take_empties_the_slot", {push_next, pop, steal_next}, agree_on({pop})},
                      {"steal_takes_what_is_there_after_any_number_of_pauses",
                       {push_next, steal_next, pop, steal_next},
                       agree_on({steal_next})},
                      {"has_work_approx_is_exact_when_nobody_else_is_there",
                       {push_next, has_work_approx, pop, has_work_approx, steal_next},
                       agree_on({has_work_approx}),
                       {has_work_approx}},
                      {"has_work_is_exact_when_nobody_else_is_there",
                       {push_next, has_work, pop, has_work, steal_next},
                       agree_on({has_work})},
                      {.name = "every_element_comes_out_once", .mix = all, .agree = {}, .conserve = true},
                  });
}

[[nodiscard]] inline std::vector<law> slot_thread_laws(const std::vector<candidate>& candidates) {
  return {threads_law<slot_spec>("linearizable_on_threads_that_roam", candidates, false),
          threads_law<slot_spec>("linearizable_on_threads_that_are_pinned", candidates, true)};
}

}  // namespace runq::props
