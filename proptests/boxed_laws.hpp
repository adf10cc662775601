// SPDX-License-Identifier: MIT
// The laws of boxed queues: each is the queue inside, with values for pointers (fifo.hpp).
#pragma once

#include <vector>

#include "fifo.hpp"
#include "laws.hpp"

namespace runq::props {

/// The law about one thread.
[[nodiscard]] inline std::vector<law> boxed_laws(const std::vector<candidate>& candidates) {
  using enum verb;
  return stateful_laws<fifo_spec>(
      candidates, {{"agrees_with_the_queue_of_values",
                    {push, push_run, pop, pop_run, steal, steal_out, has_work, size_approx, hand_over, push, push_run},
                    agree_on_all}});
}

/// The laws about real threads; the candidates should use chaos_atomics.
[[nodiscard]] inline std::vector<law> boxed_thread_laws(const std::vector<candidate>& candidates) {
  return {threads_law<fifo_spec>("linearizable_on_threads_that_roam", candidates, false),
          threads_law<fifo_spec>("linearizable_on_threads_that_are_pinned", candidates, true)};
}

}  // namespace runq::props
