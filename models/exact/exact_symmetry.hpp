// SPDX-License-Identifier: MIT
// Threads that begin alike: the same function with arguments that cannot be told apart, started one right after the
// other. Executions that differ only in which of them does what are one execution up to symmetry. One of them is
// explored: the one in which the threads are in order. They are in the order of their first accesses, which are all to
// the same variable: by what these read, or by their places in mo. README.md says why nothing is lost.
#pragma once

#include <array>
#include <cstdint>

#include "exact_graph.hpp"

namespace runq::model::exact {

/// The first of the threads that begin as `thread` does, perhaps itself; 0: nobody has started it.
[[nodiscard]] unsigned first_like(const graph& g, unsigned thread) noexcept;
[[nodiscard]] inline bool begin_alike(const graph& g, unsigned a, unsigned b) noexcept {
  return first_like(g, a) != 0 && first_like(g, a) == first_like(g, b);
}
/// Whether there are others that begin as the thread does.
[[nodiscard]] bool has_others_like(const graph& g, unsigned thread) noexcept;
/// From which of its events on the thread, before its event `end`, only starts threads.
[[nodiscard]] unsigned beginning_of_starts(const graph& g, unsigned thread, unsigned end) noexcept;

/// The first event of the thread that is no fence; nobody: it has none.
[[nodiscard]] event_id first_step(const graph& g, unsigned thread) noexcept;
/// Whether two first steps are the same access.
[[nodiscard]] bool are_alike(const node& a, const node& b) noexcept;

/// In no complete execution that follows from the graph threads that begin alike are in order.
[[nodiscard]] bool is_never_in_order(const graph& g);
/// Of an execution that has come to its end.
[[nodiscard]] bool is_in_order(const graph& g);
/// How many executions it stands for, itself included.
[[nodiscard]] double arrangements(const graph& g);

}  // namespace runq::model::exact
