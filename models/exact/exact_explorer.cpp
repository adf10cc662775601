// SPDX-License-Identifier: MIT
// New events: TruSt's Visit (POPL 2022, section 3 and algorithm 1). The names follow the paper where it has them.
#include "exact_explorer.hpp"

#include "exact_symmetry.hpp"

namespace runq::model::exact {

/// What the running execution leaves for later.
void explorer::push(std::unique_ptr<graph> g) {
  if (run_.up_to_symmetry && is_never_in_order(*g)) return pending_.recycle(std::move(g));
  g->deviations = run_.g->deviations + (ends_wait_ ? 0 : 1);
  if (g->deviations > options_.bound) {
    ++found_.result.cut_off;
    return pending_.recycle(std::move(g));
  }
  pending_.push(std::move(g), run_.g->next_stamp());
}

/// Continues with choice 0, and pushes the graphs of the other choices.
void explorer::explore_choice(event_id e) {
  graph& g = *run_.g;
  for (unsigned other = g.at(e).alternatives(); --other != 0;) {
    g.at(e).value = other;
    push(copy(g));
  }
  g.at(e).value = 0;
}

// --- reads -------------------------------------------------------------------------------------------------------

/// Continues with the newest write as the source, which is always consistent, and pushes the other sources.
void explorer::explore_read(event_id read) {
  graph& g = *run_.g;
  const event_id variable = g.at(read).variable;
  const event_id floor = coherence_floor(g, read, variable);
  if (const event_id like = g.at(read).like; like != nobody) {
    const event_id same = g.at(like).source;
    if (g.at(same).place >= g.at(floor).place) {
      g.set_source(read, same);
      g.at(read).has_no_choice = !g.at(read).exclusive;
      if (g.at(read).has_no_choice) return;
    }
  }
  const std::uint32_t tried = g.tried_until(read);
  const auto was_tried = [&](event_id source) { return tried != 0 && g.at(source).stamp <= tried; };
  const event_id newest = g.at(variable).newest;
  for (event_id source = newest; source != floor;) {
    source = g.at(source).older;
    if (!was_tried(source)) try_source(read, source);
  }
  try_source(read, newest);
}

bool explorer::can_try(event_id read, event_id variable) const {
  const graph& g = *run_.g;
  const std::uint32_t tried = g.tried_until(read);
  if (tried == 0) return true;
  const clock known = read.index == 0 ? g.beginning_of(read.thread) : g.at(read.thread, read.index - 1U).hb;
  const event_id floor = coherence_floor(g, read, known, variable);
  for (event_id source = g.at(variable).newest;; source = g.at(source).older) {
    if (g.at(source).stamp > tried) return true;
    if (source == floor) return false;
  }
}

/// Leaves `read` reading from `source`. If that is not the newest write, and consistent, pushes the graph.
void explorer::try_source(event_id read, event_id source) {
  graph& g = *run_.g;
  const bool stale = g.at(source).newer != nobody;
  g.set_source(read, source);
  if (stale && may_close_psc_cycle(g, read) && !psc_acyclic(g)) return;
  judge_.require_initialised(read, source);
  node& r = g.at(read);
  if (stale) {
    // A lock that waits, having seen an old value: it can never be revisited (it is not maximally added), so no
    // complete graph follows from it.
    const bool futile = r.blocking && !r.exclusive;
    if (!futile) push_with_source(read);
  }
  if (!may_fail_spuriously(g, read)) return;
  r.spurious = true;
  g.set_source(read, source);
  push_with_source(read);
  r.spurious = false;
  g.set_source(read, source);
}

/// Whether one more spurious failure is within the limit. A revisit never deletes a spurious failure (maximally_added),
/// so the graphs on the way to a graph have no more of them than that graph: the limit hides no graph that is within
/// it.
bool explorer::may_fail_spuriously(const graph& g, event_id read) const noexcept {
  const node& r = g.at(read);
  const bool of_a_thread = read.thread != constructing && read.thread != finishing;
  if (!r.weak || !r.exclusive || !of_a_thread) return false;
  if (options_.spurious_failures != 0) return g.spurious_failures() < options_.spurious_failures;
  return options_.spurious_of_thread != 0 && g.spurious_failures_of(read.thread) < options_.spurious_of_thread;
}

void explorer::push_with_source(event_id read) {
  std::unique_ptr<graph> other = copy(*run_.g);
  other->unfinished_rmw = run_.g->at(read).exclusive ? read.thread : 0;
  push(std::move(other));
}

// --- writes ------------------------------------------------------------------------------------------------------

/// Continues with the write as the newest in mo, and pushes its other places, and the revisits of earlier reads.
void explorer::explore_write(event_id write) {
  graph& g = *run_.g;
  const event_id variable = g.at(write).variable;
  g.set_released(write);
  revisit_reads(write);
  delay_reads(write);
  const event_id floor = coherence_floor(g, write, variable);
  const event_id newest = g.at(variable).newest;
  for (event_id older = newest; older != floor;) {
    older = g.at(older).older;
    if (successor_rmw(g, older) != nobody) continue;
    g.place_after(write, older);
    if (!may_close_psc_cycle(g, write) || psc_acyclic(g)) push(copy(g));
    g.displace(write);
  }
  g.place_after(write, newest);
}

bool explorer::finish_rmw(unsigned thread) {
  graph& g = *run_.g;
  const event_id read = g.last_of(thread);
  const node& r = g.at(read);
  const event_id source = r.source;
  const event_id write = g.append(thread, r.write_part(g.at(r.variable).mask()));
  g.at(write).exclusive = true;
  g.set_released(write);
  g.unfinished_rmw = 0;
  revisit_reads(write);
  delay_reads(write);
  if (successor_rmw(g, source) != nobody) return false;  // atomicity: another one read from the same source
  g.place_after(write, source);
  return true;  // a cycle of seq_cst events with the write would be one with the read
}

// --- backward revisits -------------------------------------------------------------------------------------------

/// Offers `write`, not yet in mo, to the reads that it does not depend on.
void explorer::revisit_reads(event_id write) {
  const clock prefix = run_.g->at(write).porf;
  const event_id variable = run_.g->at(write).variable;
  for (unsigned t = constructing + 1; t != run_.g->end_of_threads(); ++t) {
    for (unsigned i = prefix[t]; i < run_.g->size(t); ++i) {
      const node& n = run_.g->at(t, i);
      if (n.kind != node_kind::read || n.variable != variable || n.has_no_choice || n.stamp <= run_.g->fixed_until)
        continue;
      const event_id read{static_cast<std::uint16_t>(t), static_cast<std::uint16_t>(i)};
      if (!may_revisit(read, write)) continue;
      ends_wait_ = is_waited_for(read);
      revisit(read, write);
      ends_wait_ = false;
    }
  }
}

/// Whether the thread waits for another value than the one that it has read there.
bool explorer::is_waited_for(event_id read) const noexcept {
  const thread_state& t = run_.threads[read.thread];
  return (t.now == status::waiting || t.now == status::discarded) && read.index >= t.await_begin;
}

/// The revisit deletes what was added after `read`, except for what `write` depends on. It is allowed only if `read`
/// and each deleted event were added from the newest values, as far as they existed then. So of all graphs that differ
/// only in what is deleted, exactly one leads to the revisited graph.
bool explorer::may_revisit(event_id read, event_id write) const {
  const clock& prefix = run_.g->at(write).porf;
  const std::uint32_t stamp = run_.g->at(read).stamp;
  for (unsigned t = constructing + 1; t != run_.g->end_of_threads(); ++t) {
    for (unsigned i = prefix[t]; i < run_.g->size(t); ++i) {
      if (run_.g->at(t, i).stamp < stamp) continue;
      if (!maximally_added(*run_.g, {static_cast<std::uint16_t>(t), static_cast<std::uint16_t>(i)}, prefix))
        return false;
    }
  }
  return true;
}

bool maximally_added(const graph& g, event_id e, const clock& prefix) {
  const node& n = g.at(e);
  if (n.kind == node_kind::choice) return n.value == 0;
  if ((n.kind != node_kind::read && n.kind != node_kind::write) || n.has_no_choice) return true;
  const auto previous = [&](event_id x) { return g.at(x).stamp <= n.stamp || prefix.covers(x); };
  event_id newest = e;
  if (n.kind == node_kind::read) {
    if (n.spurious) return false;
    newest = n.source;  // if that came later, it goes as well, and is not maximally added: the read depends on it
  } else if (g.contains(n.revisited) && g.at(n.revisited).source == e && g.at(n.revisited).stamp < n.stamp) {
    return false;  // an earlier read depends on it
  } else if (g.was_read_in_vain(e)) {
    return false;
  }
  for (event_id x = g.at(newest).newer; x != nobody; x = g.at(x).newer) {
    if (previous(x)) return false;
  }
  return true;
}

clock permanent_in(const graph& g) {
  clock result;
  for (unsigned t = constructing + 1; t != g.end_of_threads(); ++t) {
    for (unsigned i = g.size(t); i-- > result[t];) {
      const event_id e{static_cast<std::uint16_t>(t), static_cast<std::uint16_t>(i)};
      if (maximally_added(g, e, {})) continue;
      result.join(g.at(e).porf);
      break;
    }
  }
  return result;
}

void explorer::revisit(event_id read, event_id write) {
  std::unique_ptr<graph> next = copy(*run_.g);
  graph& g = *next;
  clock keep = g.at(write).porf;
  const std::uint32_t stamp = g.at(read).stamp;
  for (unsigned t = 0; t != g.end_of_threads(); ++t) {
    // Stamps increase along po. Only a revisited read can be older than its source, and it is the last of its thread.
    while (keep[t] < g.size(t) && g.at(t, keep[t]).stamp <= stamp) ++keep[t];
  }
  g.restrict_to(keep);
  g.forget_waits_after(stamp);
  g.at(write).revisited = read;
  g.set_source(read, write);
  g.unfinished_rmw = g.at(read).exclusive ? read.thread : 0;

  places_.clear();
  const auto try_after = [&](event_id older) {
    if (may_be_placed(g, read, write, older)) places_.push_back(older);
  };
  if (g.at(write).exclusive) {
    const event_id source = g.at(write.thread, write.index - 1U).source;
    if (successor_rmw(g, source) == nobody) try_after(source);
  } else {
    const event_id floor = coherence_floor(g, write, g.at(write).variable);
    for (event_id older = g.at(g.at(write).variable).newest;; older = g.at(older).older) {
      if (successor_rmw(g, older) == nobody) try_after(older);
      if (older == floor) break;
    }
  }
  push_revisited(std::move(next), read, write);
}

/// Whether the revisited graph is consistent with `write` right after `older` in mo.
bool explorer::may_be_placed(graph& g, event_id read, event_id write, event_id older) const {
  g.place_after(write, older);
  const bool newest = g.at(write).newer == nobody;
  const event_id floor = coherence_floor(g, read, g.at(read).variable);
  bool consistent = g.at(floor).place <= g.at(write).place;
  if (consistent && !newest && (may_close_psc_cycle(g, write) || may_close_psc_cycle(g, read))) {
    consistent = psc_acyclic(g);
  }
  const node& r = g.at(read);
  if (r.blocking && !r.exclusive && !newest) consistent = false;  // futile, as in try_source
  g.displace(write);
  return consistent;
}

/// Pushes the revisited graph with `write` in each of its places. The last one takes the graph itself.
void explorer::push_revisited(std::unique_ptr<graph> next, event_id read, event_id write) {
  for (std::size_t i = 0; i != places_.size(); ++i) {
    const bool is_last = i + 1 == places_.size();
    next->place_after(write, places_[i]);
    std::unique_ptr<graph> failed;
    if (may_fail_spuriously(*next, read)) {
      failed = copy(*next);
      failed->at(read).spurious = true;
      failed->set_source(read, write);
      failed->unfinished_rmw = 0;
    }
    push(is_last ? std::move(next) : copy(*next));
    if (failed != nullptr) push(std::move(failed));
    if (!is_last) next->displace(write);
  }
  if (next != nullptr) pending_.recycle(std::move(next));
}

}  // namespace runq::model::exact
