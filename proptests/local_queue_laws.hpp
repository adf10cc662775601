// SPDX-License-Identifier: MIT
// The laws of a processor's queue with runnext, ring and overflow into a global queue, for any candidate.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "laws.hpp"
#include "processor_spec.hpp"

namespace runq::props {

/// How many of S tasks, spawned one after the other without a scheduling point, are in the global queue: none up to
/// capacity + 1 (the ring and runnext), and capacity/2 + 1 more at every overflow.
[[nodiscard]] inline std::size_t overflow_series(std::size_t capacity, std::size_t spawned) {
  const std::size_t batch = capacity / 2 + 1;
  if (spawned < capacity + 2) return 0;
  return batch * (1 + (spawned - (capacity + 2)) / batch);
}

namespace detail {

inline law overflow_series_law(const std::vector<candidate>& candidates) {
  return {"overflow_series_follows_the_formula_for_every_number_of_spawns", [candidates] {
            const candidate& c = candidates[*between<std::size_t>(0, candidates.size())];
            const std::unique_ptr<subject> queues = c.make(0, processor_spec::how_many);
            transcript::begin(c.code(0, processor_spec::how_many), c.name);
            // One run checks every S up to some 20 overflows, because the state after S spawns comes before the state
            // after more.
            const std::size_t most = 12 * c.capacity;
            std::size_t global = 0;
            for (std::size_t s = 1; s <= most; ++s) {
              ++calls_made();
              const operation spawn{verb::push_next, 0, 0, 0, 0, static_cast<value>(s)};
              const std::size_t moved = overflow_series(c.capacity, s) - overflow_series(c.capacity, s - 1);
              const outcome want{answer::done, moved, {}, false};
              const operation size{verb::size_approx, 1, 0, 0, 0, 0};
              const outcome ring{answer::done, s - 1 - overflow_series(c.capacity, s), {}, false};
              transcript::add(processor_spec::code(spawn, want, {}));
              transcript::add(processor_spec::code(size, ring, {}));
              global += queues->apply(spawn).count;
              const std::size_t in_ring = queues->apply(size).count;
              if (global != overflow_series(c.capacity, s) || in_ring != ring.count) {
                RC_FAIL("after " + std::to_string(s) + " spawns on " + c.name + " expected " +
                        std::to_string(overflow_series(c.capacity, s)) + " in the global queue and " +
                        std::to_string(ring.count) + " in the ring, got " + std::to_string(global) + " and " +
                        std::to_string(in_ring));
              }
            }
          }};
}

}  // namespace detail

[[nodiscard]] inline std::vector<law> processor_laws(const std::vector<candidate>& candidates) {
  using enum verb;
  const std::vector<verb> all{push,       push_run,    push_next, push_batch, pop,         pop_run,
                              steal_half, take_from,   drain,     global_put, global_take, has_work_approx,
                              has_work,   size_approx, hand_over, push_next,  steal_half};
  const auto steals_with = [](std::uint16_t runnext) {
    return [runnext](const operation& o, const outcome& want, const outcome& seen) {
      return o.what != steal_half || o.m != runnext || want == seen;
    };
  };
  std::vector<law> laws = stateful_laws<processor_spec>(
      candidates, {
                      {"agrees_with_runnext_ring_and_global_queue", all, agree_on_all},
                      {"push_to_a_full_ring_sends_the_oldest_half_then_the_new_one",
                       {push, push_run, pop, global_take, push},
                       agree_on({push, push_run, global_take})},
                      {"push_next_runs_next_and_sends_the_displaced_to_the_tail",
                       {push_next, push_next, pop, push, pop},
                       agree_on({push_next, pop})},
                      {"push_batch_fills_the_ring_and_sends_the_rest_in_order",
                       {push_batch, pop, global_take, pop_run, push_batch},
                       agree_on({push_batch, pop, global_take, pop_run}),
                       {push_batch}},
                      {"pop_takes_runnext_then_the_oldest_and_says_which",
                       {push_next, push, pop, push_run, pop, steal_half},
                       agree_on({pop})},
                      {"take_from_takes_a_fair_share_in_order",
                       {global_put, take_from, pop, push_run, take_from, global_take, pop_run},
                       agree_on({take_from, pop, global_take, pop_run}),
                       {take_from}},
                      {"steal_from_takes_ceil_of_half_of_the_ring_and_leaves_runnext",
                       {push, push_next, push_run, steal_half, pop},
                       steals_with(0),
                       {steal_half}},
                      {"steal_from_takes_runnext_only_if_asked_and_if_the_ring_is_empty",
                       {push_next, steal_half, push, pop},
                       steals_with(1),
                       {steal_half}},
                      {"drain_takes_runnext_first_then_the_ring_in_order",
                       {push, push_next, push_run, drain, steal_half},
                       agree_on({drain}),
                       {drain}},
                      {"has_work_approx_is_exact_when_nobody_else_is_there",
                       {push_next, has_work_approx, pop, push, has_work_approx, steal_half, drain},
                       agree_on({has_work_approx}),
                       {has_work_approx}},
                      {"has_work_is_exact_when_nobody_else_is_there",
                       {push_next, has_work, pop, push, has_work, steal_half, drain},
                       agree_on({has_work}),
                       {has_work}},
                      {"size_approx_is_exact_when_nobody_else_is_there",
                       {push, size_approx, push_next, pop, push_run, steal_half, take_from, global_put},
                       agree_on({size_approx}),
                       {size_approx}},
                      {.name = "every_element_comes_out_once", .mix = all, .agree = {}, .conserve = true},
                      {.name = "counters_may_start_anywhere", .mix = all, .agree = {}, .any_start = true},
                  });
  laws.push_back(detail::overflow_series_law(candidates));
  return laws;
}

[[nodiscard]] inline std::vector<law> processor_thread_laws(const std::vector<candidate>& candidates) {
  return {threads_law<processor_spec>("linearizable_on_threads_that_roam", candidates, false),
          threads_law<processor_spec>("linearizable_on_threads_that_are_pinned", candidates, true)};
}

}  // namespace runq::props
