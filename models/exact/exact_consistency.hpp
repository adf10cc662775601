// SPDX-License-Identifier: MIT
// When is an execution graph allowed? By RC11 (Lahav, Vafeiadis, Kang, Hur, Dreyer, PLDI 2017), with C++20's release
// sequences (P0982). C++20 took RC11's rule for seq_cst (P0668), and made it stronger in two shapes: docs/checking.md,
// row "seq_cst".
//
// The search adds events one at a time, each after everything it depends on, so (po ∪ rf) has no cycle by construction
// and coherence need only be checked for the new event.
#pragma once

#include "exact_graph.hpp"

namespace runq::model::exact {

/// The most seq_cst events that a graph may have.
inline constexpr unsigned max_sequential = 1024;

/// The newest write to `variable` that the event `e`, the last of its thread, must know of: the newest that
/// happens-before it or that something which happens-before it has read. A read may not read from an older one, a write
/// must come later in mo: this is coherence (hb;eco irreflexive) for an event without successors.
[[nodiscard]] event_id coherence_floor(const graph& g, event_id e, event_id variable) noexcept;

/// The same of an event that may not have been added, before which its thread knows `seen`.
[[nodiscard]] event_id coherence_floor(const graph& g, event_id e, clock seen, event_id variable) noexcept;

/// The write part of the read-modify-write that reads from `source`, or nobody.
[[nodiscard]] event_id successor_rmw(const graph& g, event_id source) noexcept;

/// Whether a psc cycle through `e` is conceivable: `e` is seq_cst itself or after a seq_cst fence in hb.
[[nodiscard]] bool may_close_psc_cycle(const graph& g, event_id e) noexcept;

/// RC11's SC axiom: psc_base ∪ psc_F is acyclic. A new event that reads or is the newest write in mo has no outgoing
/// psc edge, so the search asks only after adding another one.
[[nodiscard]] bool psc_acyclic(const graph& g);

/// Whether the seq_cst operations have a single total order as C++20 words it, which excludes a little more than the SC
/// axiom of RC11. Takes long: for one execution, not for each.
[[nodiscard]] bool has_total_order(const graph& g);

}  // namespace runq::model::exact
