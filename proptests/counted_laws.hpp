// SPDX-License-Identifier: MIT
// The laws of queues that count their pushes (counted_spec.hpp).
#pragma once

#include <string>
#include <vector>

#include "counted_spec.hpp"
#include "laws.hpp"

namespace runq::props {

namespace detail {

template <class Spec>
void add_counted_laws(std::vector<law>& to, const std::string& prefix, const std::vector<candidate>& candidates) {
  using enum verb;
  const std::vector<verb> all{push, push_run, push_batch, pop, pop_run, steal, steal_out, observe, pushed_since};
  const std::vector<law> laws = stateful_laws<Spec>(
      candidates, {
                      {prefix + "agrees_with_the_queue_without_the_count", all,
                       agree_on({push, push_run, push_batch, pop, pop_run, steal, steal_out})},
                      {prefix + "steal_half_agrees_with_the_queue_without_the_count",
                       {push, push_run, steal_out, pop, steal_out, pop_run},
                       agree_on({steal_out}),
                       {steal_out}},
                      {prefix + "observe_is_exact_when_nobody_else_is_there",
                       {push, pop, steal, push_batch, observe},
                       agree_on({observe})},
                      {prefix + "pushed_since_knows_each_push_when_nobody_else_is_there",
                       {push, pop, observe, pushed_since, push_batch, push_run, pop_run, steal, steal_out},
                       agree_on({pushed_since})},
                  });
  to.insert(to.end(), laws.begin(), laws.end());
}

template <class Spec>
void add_counted_thread_laws(std::vector<law>& to, const std::string& prefix,
                             const std::vector<candidate>& candidates) {
  if (candidates.empty()) return;
  to.push_back(threads_law<Spec>(prefix + "linearizable_on_threads_that_roam", candidates, false));
  to.push_back(threads_law<Spec>(prefix + "linearizable_on_threads_that_are_pinned", candidates, true));
}

/// Those whose owner claims runs, or the others.
inline std::vector<candidate> those_with_a_run(const std::vector<candidate>& candidates, bool wanted) {
  std::vector<candidate> found;
  for (const candidate& c : candidates) {
    if ((c.run != 0) == wanted) found.push_back(c);
  }
  return found;
}

}  // namespace detail

/// The laws about one thread. A split_ring has them under names of their own, because its specification is another one.
[[nodiscard]] inline std::vector<law> counted_laws(const std::vector<candidate>& candidates) {
  std::vector<law> laws;
  detail::add_counted_laws<counted_spec>(laws, "", detail::those_with_a_run(candidates, false));
  detail::add_counted_laws<counted_split_spec>(laws, "split_ring_", detail::those_with_a_run(candidates, true));
  return laws;
}

/// The laws about real threads; the candidates should use chaos_atomics.
[[nodiscard]] inline std::vector<law> counted_thread_laws(const std::vector<candidate>& candidates) {
  std::vector<law> laws;
  detail::add_counted_thread_laws<counted_spec>(laws, "", detail::those_with_a_run(candidates, false));
  detail::add_counted_thread_laws<counted_split_spec>(laws, "split_ring_", detail::those_with_a_run(candidates, true));
  return laws;
}

}  // namespace runq::props
