// SPDX-License-Identifier: MIT
// The laws of a run queue with one owner and many thieves (fifo.hpp), for any candidate.
#pragma once

#include <string>
#include <vector>

#include "fifo.hpp"
#include "laws.hpp"

namespace runq::props {

/// The laws about one thread. Those about operations that no candidate has are left out.
[[nodiscard]] inline std::vector<law> fifo_laws(const std::vector<candidate>& candidates) {
  using enum verb;
  const bool lifo = !candidates.empty() && candidates[0].owner_pops_newest;
  const std::vector<verb> all{push,       push_run,  push_batch, pop,        pop_run,  steal,
                              steal_half, shed_half, drain,      room,       has_work, size_approx,
                              hand_over,  push_run,  push_batch, steal_half, steal_out};
  const auto count_only = [](const operation& o, const outcome& want, const outcome& seen) {
    return o.what != steal_half || (want.what == seen.what && want.count == seen.count);
  };
  const auto values_only = [](const operation& o, const outcome& want, const outcome& seen) {
    return (o.what != steal_half && o.what != pop && o.what != pop_run) || want.taken == seen.taken;
  };
  return stateful_laws<fifo_spec>(
      candidates,
      {
          {lifo ? "agrees_with_a_lifo_stolen_at_the_other_end" : "agrees_with_a_bounded_fifo", all, agree_on_all},
          {"push_refuses_exactly_when_full", {push, push_run, pop, steal, push}, agree_on({push, push_run})},
          {"push_batch_takes_the_longest_prefix_that_fits",
           {push_batch, push_batch, pop, pop_run, steal, drain},
           agree_on({push_batch, pop, pop_run, drain}),
           {push_batch}},
          {lifo ? "pop_takes_the_newest" : "pop_takes_the_oldest",
           {push, push_run, pop, steal, pop_run},
           agree_on({pop, pop_run})},
          {"steal_takes_the_oldest", {push, push_run, pop, steal, steal}, agree_on({steal})},
          {"steal_half_takes_ceil_of_half_of_the_oldest",
           {push, push_run, steal_half, pop, steal_half, pop_run},
           count_only,
           {steal_half}},
          {"steal_half_returns_the_newest_and_queues_the_others_in_order",
           {push, push_run, steal_half, pop, steal_half, pop_run},
           values_only,
           {steal_half}},
          {"steal_half_into_memory_takes_ceil_of_half_of_the_oldest_in_order",
           {push, push_run, steal_out, pop, steal_out, pop_run},
           agree_on({steal_out}),
           {steal_out}},
          {"shed_half_takes_floor_of_half_of_the_oldest",
           {push, push_run, shed_half, pop, steal},
           agree_on({shed_half}),
           {shed_half}},
          {"drain_takes_all_in_order", {push, push_run, drain, pop, steal}, agree_on({drain}), {drain}},
          {"room_is_capacity_less_what_is_inside",
           {push, push_run, pop, room, steal, steal_half, steal_out, drain},
           agree_on({room}),
           {room}},
          {"has_work_is_exact_when_nobody_else_is_there",
           {push, pop, has_work, steal, steal_half, steal_out, drain, push_run},
           agree_on({has_work}),
           {has_work}},
          {"size_approx_is_exact_when_nobody_else_is_there",
           {push, pop, size_approx, steal, steal_half, steal_out, push_run, drain},
           agree_on({size_approx}),
           {size_approx}},
          {"every_element_comes_out_once", all, {}, {}, true},
          {.name = "elements_come_out_in_the_order_they_went_in",
           .mix = lifo ? std::vector<verb>{push, push_run, steal}
                       : std::vector<verb>{push, push_run, push_batch, pop, steal, steal_out, shed_half, drain},
           .agree = {},
           .needs = lifo ? std::vector<verb>{room, shed_half} : std::vector<verb>{},
           .in_order = true},
          {.name = "counters_may_start_anywhere", .mix = all, .agree = {}, .any_start = true},
      });
}

/// The laws about real threads; the candidates should use chaos_atomics.
[[nodiscard]] inline std::vector<law> fifo_thread_laws(const std::vector<candidate>& candidates) {
  return {threads_law<fifo_spec>("linearizable_on_threads_that_roam", candidates, false),
          threads_law<fifo_spec>("linearizable_on_threads_that_are_pinned", candidates, true)};
}

}  // namespace runq::props
