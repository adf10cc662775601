// SPDX-License-Identifier: MIT
// The explorer adds events to the running graph: TruSt (Kokologiannakis, Marmanis, Gladstein, Vafeiadis: "Truly
// Stateless, Optimal Dynamic Partial Order Reduction", POPL 2022).
//
// Where a new event has several consistent continuations (the sources of a read, the places of a write in mo, earlier
// reads that a new write may revisit), it goes on with one and leaves copies of the graph with the others for later. No
// state but these: what was visited need not be remembered, because revisits are allowed only where they cannot lead to
// the same graph twice.
#pragma once

#include <memory>

#include "exact.hpp"
#include "exact_consistency.hpp"
#include "exact_execution.hpp"
#include "exact_findings.hpp"
#include "exact_judge.hpp"
#include "exact_met_before.hpp"
#include "exact_pending.hpp"

namespace runq::model::exact {

/// IsMaximallyAdded of the paper. `prefix`: what the revisiting write depends on.
[[nodiscard]] bool maximally_added(const graph& g, event_id e, const clock& prefix);
/// The events that are in every graph that follows, each read with the same source.
[[nodiscard]] clock permanent_in(const graph& g);

class explorer {
 public:
  explorer(execution& run, pending_work& pending, judge& judge, met_before& met, findings& found,
           const exact_options& options) noexcept
      : run_(run), pending_(pending), judge_(judge), met_(met), found_(found), options_(options) {}

  // Of the last event of its thread, which has been appended:
  void explore_choice(event_id e);
  /// The write part is still to be added, if there is one.
  void explore_read(event_id read);
  void explore_write(event_id write);
  /// Adds the write part of the read-modify-write whose read part is the last event of `thread`. Returns false if the
  /// graph is inconsistent with it; then it was added only to revisit other reads.
  [[nodiscard]] bool finish_rmw(unsigned thread);
  /// Load buffering: a thread asks for another operation than the graph has at `e`. Returns whether the graph can
  /// follow.
  [[nodiscard]] bool adapt(event_id e, const operation& wanted);
  /// exact_options::waits_in_place: whether there is a write for `read`, the next event of its thread, that the thread
  /// has not tried in vain.
  [[nodiscard]] bool can_try(event_id read, event_id variable) const;

 private:
  void push(std::unique_ptr<graph> g);
  [[nodiscard]] std::unique_ptr<graph> copy(const graph& g) { return pending_.copy(g); }

  // forwards
  void try_source(event_id read, event_id source);
  void push_with_source(event_id read);
  [[nodiscard]] bool may_fail_spuriously(const graph& g, event_id read) const noexcept;

  // backwards
  void revisit_reads(event_id write);
  [[nodiscard]] bool may_revisit(event_id read, event_id write) const;
  [[nodiscard]] bool is_waited_for(event_id read) const noexcept;
  void revisit(event_id read, event_id write);
  [[nodiscard]] bool may_be_placed(graph& g, event_id read, event_id write, event_id older) const;
  void push_revisited(std::unique_ptr<graph> next, event_id read, event_id write);

  // exact_delay.cpp: load buffering
  void delay_reads(event_id write);
  [[nodiscard]] bool may_be_delayed(event_id read, event_id write) const;
  void delay(event_id read, event_id write);
  void try_delayed_at(graph& g, event_id read, event_id write, event_id older);

  execution& run_;
  pending_work& pending_;
  judge& judge_;
  met_before& met_;
  findings& found_;
  const exact_options& options_;
  std::vector<event_id> places_;  ///< of the write that revisits: after which ones it may come in mo
  bool ends_wait_ = false;        ///< what is pushed lets a thread go on that waits in this execution
};

}  // namespace runq::model::exact
