// SPDX-License-Identifier: MIT
// Load buffering, beyond RC11: a relaxed read takes its value from a write that comes after it in po ∪ rf.
//
// C++20 and hardware allow that unless the write depends on what was read; RC11 forbids all of it, so TruSt never sees
// it. Here, whenever a write has been added, the search takes each earlier read that could have been performed after
// it, and makes it read from that write: a "delayed read". The events that the two depend on are kept as they are, and
// replayed with the new value. If a thread then does anything else than the graph says, the dependency was real, and
// the graph is dropped. If not, the search goes on from there. There is one delayed read per graph: this finds bugs
// that RC11 hides, and is no complete search of C++20.
#include "exact_explorer.hpp"

namespace runq::model::exact {

/// Offers `write`, not yet in mo, to the reads that it does depend on in po ∪ rf, but not in hb.
void explorer::delay_reads(event_id write) {
  if (!options_.load_buffering || run_.g->delayed != nobody) return;
  const clock prefix = run_.g->at(write).porf;
  for (unsigned t = constructing + 1; t != finishing; ++t) {
    for (unsigned i = 0; i < prefix[t]; ++i) {
      const event_id read{static_cast<std::uint16_t>(t), static_cast<std::uint16_t>(i)};
      if (may_be_delayed(read, write)) delay(read, write);
    }
  }
}

/// Whether neither the language nor hardware has to perform `read` before something that `write` needs. Two operations
/// of one thread are ordered by a fence, a release, or the same location.
bool explorer::may_be_delayed(event_id read, event_id write) const {
  const node& r = run_.g->at(read);
  const node& w = run_.g->at(write);
  if (r.kind != node_kind::read || r.variable != w.variable || r.exclusive || r.blocking || r.has_no_choice)
    return false;
  if (!r.accessed.is_whole() || !w.accessed.is_whole()) return false;
  if (r.applied_order() != std::memory_order::relaxed || w.hb.covers(read)) return false;
  if (r.change != update::none && w.value - r.expected < r.count) return false;  // it would succeed: another operation
  for (unsigned i = read.index + 1U; i < w.porf[read.thread]; ++i) {
    const node& n = run_.g->at(read.thread, i);
    if (n.kind == node_kind::fence || n.accesses(r.variable)) return false;
    if (n.kind == node_kind::write && releases(n.order)) return false;
  }
  return true;
}

void explorer::delay(event_id read, event_id write) {
  std::unique_ptr<graph> next = copy(*run_.g);
  graph& g = *next;
  const clock prefix = g.at(write).porf;
  g.restrict_to(prefix);
  g.delayed = read;
  g.fixed_until = g.at(write).stamp;
  g.unfinished_rmw = 0;
  node& r = g.at(read);
  r.source = write;
  r.value = g.at(write).value;
  // The read is relaxed and no fence follows, so hb stays as it is.
  for (unsigned i = read.index; i != g.size(read.thread); ++i)
    g.at(read.thread, i).to_acquire.join(g.at(write).released);

  if (g.at(write).exclusive) {
    const event_id source = g.at(write.thread, write.index - 1U).source;
    if (successor_rmw(g, source) == nobody) try_delayed_at(g, read, write, source);
  } else {
    const event_id floor = coherence_floor(g, write, r.variable);
    for (event_id older = g.at(r.variable).newest;; older = g.at(older).older) {
      if (successor_rmw(g, older) == nobody) try_delayed_at(g, read, write, older);
      if (older == floor) break;
    }
  }
  pending_.recycle(std::move(next));
}

/// Pushes the graph with `write` right after `older` in mo, if it is new, and consistent except for the cycle.
void explorer::try_delayed_at(graph& g, event_id read, event_id write, event_id older) {
  g.place_after(write, older);
  const node& r = g.at(read);
  const std::uint32_t place = g.at(write).place;
  bool consistent = g.at(coherence_floor(g, read, r.variable)).place <= place;
  for (unsigned t = constructing + 1; t != finishing && consistent; ++t) {
    for (unsigned i = 0; i != g.size(t); ++i) {
      const node& n = g.at(t, i);
      if (!n.accesses(r.variable) || !n.hb.covers(read) || &n == &r) continue;
      if (n.kind == node_kind::read ? g.at(n.source).place < place : n.place <= place) consistent = false;
    }
  }
  if (consistent && psc_acyclic(g) && met_.first_time(met_before::what::delayed_base, fingerprint(g))) push(copy(g));
  g.displace(write);
}

/// A thread asks for another operation than the graph has at `e`. With a delayed read that can happen: a written value
/// that no thread has read may change. Any other difference shows that the write does depend on the read.
bool explorer::adapt(event_id e, const operation& wanted) {
  node& n = run_.g->at(e);
  operation same_value = wanted;
  same_value.value = n.value;
  bool adapts = same_value.repeats(n) && n.kind != node_kind::init;
  if (n.kind == node_kind::write) {
    for (unsigned t = constructing + 1; t != finishing; ++t) {
      for (unsigned i = 0; i != run_.g->size(t); ++i) {
        adapts = adapts && !(run_.g->at(t, i).kind == node_kind::read && run_.g->at(t, i).source == e);
      }
    }
  }
  if (adapts) n.value = wanted.value;
  return adapts;
}

}  // namespace runq::model::exact
