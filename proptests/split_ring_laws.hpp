// SPDX-License-Identifier: MIT
// The laws of a ring whose owner claims runs, for any candidate.
#pragma once

#include <vector>

#include "laws.hpp"
#include "split_spec.hpp"

namespace runq::props {

[[nodiscard]] inline std::vector<law> split_ring_laws(const std::vector<candidate>& candidates) {
  using enum verb;
  const std::vector<verb> all{push,  push_run,   push_batch, pop,  pop_run,  push_run,    push,
                              steal, steal_half, steal_out,  room, has_work, size_approx, hand_over};
  return stateful_laws<split_spec>(
      candidates,
      {
          {"agrees_with_a_split_fifo", all, agree_on_all},
          {"push_refuses_exactly_when_full", {push, push_run, pop, steal, push}, agree_on({push, push_run})},
          {"push_batch_takes_the_longest_prefix_that_fits",
           {push_batch, push_batch, pop, pop_run, steal},
           agree_on({push_batch, pop, pop_run}),
           {push_batch}},
          {"room_is_what_fits", {push, push_run, pop, room, steal, steal_out}, agree_on({room}), {room}},
          {"pop_takes_the_oldest_that_is_left", {push, push_run, pop, steal_out, pop_run}, agree_on({pop, pop_run})},
          {"steals_take_half_of_what_is_public_or_of_the_run",
           {push, push_run, steal, steal_half, steal_out, pop},
           agree_on({steal, steal_half, steal_out})},
          {"has_work_is_exact_when_nobody_else_is_there",
           {push, pop, has_work, steal, steal_out, push_run},
           agree_on({has_work})},
          {"size_approx_is_exact_when_nobody_else_is_there",
           {push, pop, size_approx, steal, steal_half, steal_out, push_run},
           agree_on({size_approx})},
          {.name = "every_element_comes_out_once", .mix = all, .agree = {}, .conserve = true},
          {.name = "counters_may_start_anywhere", .mix = all, .agree = {}, .any_start = true},
      });
}

[[nodiscard]] inline std::vector<law> split_ring_thread_laws(const std::vector<candidate>& candidates) {
  return {threads_law<split_spec>("linearizable_on_threads_that_roam", candidates, false),
          threads_law<split_spec>("linearizable_on_threads_that_are_pinned", candidates, true)};
}

}  // namespace runq::props
