// SPDX-License-Identifier: MIT
// The laws of queues that count their pushes (counted_spec.hpp).
#pragma once

#include <vector>

#include "counted_spec.hpp"
#include "laws.hpp"

namespace runq::props {

/// The laws about one thread.
[[nodiscard]] inline std::vector<law> counted_laws(const std::vector<candidate>& candidates) {
  using enum verb;
  const std::vector<verb> all{push, push_run, push_batch, pop, pop_run, steal, observe, pushed_since};
  return stateful_laws<counted_spec>(
      candidates,
      {
          {"agrees_with_the_queue_without_the_count", all, agree_on({push, push_run, push_batch, pop, pop_run, steal})},
          {"observe_is_exact_when_nobody_else_is_there", {push, pop, steal, push_batch, observe}, agree_on({observe})},
          {"pushed_since_knows_each_push_when_nobody_else_is_there",
           {push, pop, observe, pushed_since, push_batch, push_run, pop_run, steal},
           agree_on({pushed_since})},
      });
}

/// The laws about real threads; the candidates should use chaos_atomics.
[[nodiscard]] inline std::vector<law> counted_thread_laws(const std::vector<candidate>& candidates) {
  return {threads_law<counted_spec>("linearizable_on_threads_that_roam", candidates, false),
          threads_law<counted_spec>("linearizable_on_threads_that_are_pinned", candidates, true)};
}

}  // namespace runq::props
