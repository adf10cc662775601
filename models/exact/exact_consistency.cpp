// SPDX-License-Identifier: MIT
#include "exact_consistency.hpp"

#include <bit>
#include <memory>

namespace runq::model::exact {

namespace {

/// A set of seq_cst events, by their numbers. Nearly always one word is enough.
template <unsigned Words>
class bitset {
 public:
  [[nodiscard]] static bitset only(unsigned i) {
    bitset b;
    b.words_[i / 64] = std::uint64_t{1} << i % 64;
    return b;
  }
  [[nodiscard]] bool has(unsigned i) const { return (words_[i / 64] >> i % 64 & 1) != 0; }
  void add(unsigned i) { words_[i / 64] |= std::uint64_t{1} << i % 64; }
  void remove(unsigned i) { words_[i / 64] &= ~(std::uint64_t{1} << i % 64); }
  [[nodiscard]] bool any() const {
    for (const std::uint64_t w : words_) {
      if (w != 0) return true;
    }
    return false;
  }
  bitset& operator|=(const bitset& other) {
    for (unsigned i = 0; i != Words; ++i) words_[i] |= other.words_[i];
    return *this;
  }
  [[nodiscard]] friend bitset operator|(bitset a, const bitset& b) { return a |= b; }
  [[nodiscard]] friend bitset operator&(bitset a, const bitset& b) {
    for (unsigned i = 0; i != Words; ++i) a.words_[i] &= b.words_[i];
    return a;
  }
  template <class Function>
  void for_each(Function&& function) const {
    for (unsigned i = 0; i != Words; ++i) {
      for (std::uint64_t w = words_[i]; w != 0; w &= w - 1)
        function(i * 64 + static_cast<unsigned>(std::countr_zero(w)));
    }
  }

 private:
  std::array<std::uint64_t, Words> words_{};
};

/// psc as in the RC11 paper, section 3.2 and figure 4:
///   scb      = po ∪ po≠loc;hb;po≠loc ∪ hb=loc ∪ mo ∪ fr
///   psc_base = ([Esc] ∪ [Fsc];hb?) ; scb ; ([Esc] ∪ hb?;[Fsc])
///   psc_F    = [Fsc] ; (hb ∪ hb;eco;hb) ; [Fsc]
/// over the seq_cst events only, each a bit.
template <unsigned Words>
class psc {
  using bits = bitset<Words>;

 public:
  explicit psc(const graph& g) : g_(g) {
    for (const event_id e : g.sequential()) {
      const node& n = g.at(e);
      if (n.applied_order() != std::memory_order::seq_cst) continue;
      if (n.kind == node_kind::fence) fences_.add(count_);
      events_[count_++] = e;
    }
  }

  [[nodiscard]] bool acyclic() {
    if (count_ < 2) return true;
    add_hb_edges();
    add_memory_edges();
    return has_topological_order();
  }

 private:
  /// What the accesses to one write's value contribute. `left`: the seq_cst events that may stand for an access as the
  /// start of an edge (itself, and the fences that happen-before it); `right`: as the end of one.
  struct contribution {
    bits left, right;                  // of the write
    bits readers_left, readers_right;  // of those that read from it
  };

  [[nodiscard]] bool is_fence(unsigned i) const { return fences_.has(i); }

  // --- edges within hb -------------------------------------------------------------------------------------------

  void add_hb_edges() {
    for (unsigned a = 0; a != count_; ++a) {
      for (unsigned b = 0; b != count_; ++b) {
        if (a != b && hb_edge(a, b)) next_[a].add(b);
      }
    }
  }

  /// Between accesses only. Happens-before leads on through a fence, and a cycle has an edge along memory: those that
  /// lead to an access lead to all fences behind it, too, and those that leave one also leave from all fences before
  /// it.
  [[nodiscard]] bool hb_edge(unsigned a, unsigned b) const {
    if (is_fence(a) || is_fence(b)) return false;
    const event_id from = events_[a];
    const event_id to = events_[b];
    const node& n = g_.at(to);
    if (!n.hb.covers(from)) return false;
    if (from.thread == to.thread) return true;  // po
    return g_.at(from).variable == n.variable || between_other_locations(from, to);
  }

  /// from po c hb d po to, where c and d access other locations than `from` and `to`: the first such c, the last d.
  [[nodiscard]] bool between_other_locations(event_id from, event_id to) const {
    unsigned c = from.index + 1U;
    while (c < g_.size(from.thread) && g_.at(from.thread, c).accesses(g_.at(from).variable)) ++c;
    unsigned d = to.index;
    while (d != 0 && g_.at(to.thread, d - 1).accesses(g_.at(to).variable)) --d;
    return d != 0 && c < g_.size(from.thread) && g_.at(to.thread, d - 1).hb[from.thread] > c;
  }

  // --- edges along mo, fr and, between fences, eco -----------------------------------------------------------------

  void add_memory_edges() {
    collect_contributions();
    for (unsigned t = 0; t != thread_slots; t = g_.next_thread(t)) {
      for (unsigned i = 0; i != g_.size(t); ++i) {
        if (g_.at(t, i).kind == node_kind::init) add_edges_of_location(g_.at(t, i));
      }
    }
  }

  void collect_contributions() {
    for (unsigned t = 0; t != thread_slots; t = g_.next_thread(t)) {
      per_event_[t].assign(g_.size(t), contribution{});
    }
    for (unsigned t = constructing + 1; t != g_.end_of_threads(); ++t) {
      for (unsigned i = 0; i != g_.size(t); ++i) {
        const event_id e{static_cast<std::uint16_t>(t), static_cast<std::uint16_t>(i)};
        const node& n = g_.at(e);
        if (n.kind != node_kind::write && n.kind != node_kind::read) continue;
        const bits own = itself(e);
        contribution& c = at(n.kind == node_kind::write ? e : n.source);
        (n.kind == node_kind::write ? c.left : c.readers_left) |= left(e, own);
        (n.kind == node_kind::write ? c.right : c.readers_right) |= right(e, own);
      }
    }
  }

  [[nodiscard]] contribution& at(event_id e) { return per_event_[e.thread][e.index]; }

  /// The access itself, if it is seq_cst. Most are not, and most programs have few fences: nothing else is looked at.
  [[nodiscard]] bits itself(event_id e) const {
    if (g_.at(e).applied_order() != std::memory_order::seq_cst) return {};
    for (unsigned i = 0; i != count_; ++i) {
      if (events_[i] == e) return bits::only(i);
    }
    return {};
  }
  [[nodiscard]] bits left(event_id e, const bits& itself) const {
    bits result = itself;
    fences_.for_each([&](unsigned i) {
      if (g_.at(e).hb.covers(events_[i])) result.add(i);
    });
    return result;
  }
  [[nodiscard]] bits right(event_id e, const bits& itself) const {
    bits result = itself;
    fences_.for_each([&](unsigned i) {
      if (g_.at(events_[i]).hb.covers(e)) result.add(i);
    });
    return result;
  }

  /// Walks mo from its end, carrying what lies behind: the ends of edges to later writes, and to fences after their
  /// readers.
  void add_edges_of_location(const node& init) {
    bits later_writes;
    bits later_readers;
    for (event_id e = init.newest;; e = g_.at(e).older) {
      const contribution& c = at(e);
      add_edges(c.left | c.readers_left, later_writes | (fences_ & later_readers), later_writes);
      add_edges(c.left & fences_, c.readers_right & fences_, {});  // rf between fences
      later_writes |= c.right;
      later_readers |= c.readers_right;
      if (g_.at(e).kind == node_kind::init) break;
    }
  }

  /// Edges from the fences of `from` to `to_from_fence`, from its accesses to `to_from_access`.
  void add_edges(const bits& from, const bits& to_from_fence, const bits& to_from_access) {
    from.for_each([&](unsigned i) { next_[i] |= is_fence(i) ? to_from_fence : to_from_access; });
  }

  [[nodiscard]] bool has_topological_order() const {
    bits left;
    for (unsigned i = 0; i != count_; ++i) left.add(i);
    for (bool removed = true; removed && left.any();) {
      removed = false;
      bits(left).for_each([&](unsigned i) {
        if ((next_[i] & left).any()) return;
        left.remove(i);
        removed = true;
      });
    }
    return !left.any();
  }

  const graph& g_;
  std::array<event_id, 64 * Words> events_{};
  std::array<bits, 64 * Words> next_{};
  bits fences_;
  unsigned count_ = 0;
  // Kept between calls for its capacity; the engine and all of its fibers are one operating-system thread.
  static inline std::array<std::vector<contribution>, thread_slots> per_event_;
};

}  // namespace

event_id coherence_floor(const graph& g, event_id e, event_id variable) noexcept {
  return coherence_floor(g, e, g.at(e).hb, variable);
}

event_id coherence_floor(const graph& g, event_id e, clock seen, event_id variable) noexcept {
  event_id floor = variable;
  seen[e.thread] = e.index;
  for (unsigned t = 0; t != thread_slots; t = g.next_thread(t)) {
    const event_id x = last_access(g, t, seen, variable);
    if (x == nobody) continue;
    const event_id known = g.at(x).kind == node_kind::read ? g.at(x).source : x;
    if (g.at(known).place > g.at(floor).place) floor = known;
  }
  return floor;
}

event_id successor_rmw(const graph& g, event_id source) noexcept {
  const event_id next = g.at(source).newer;
  if (next == nobody || !g.at(next).exclusive) return nobody;
  // An exclusive write right after `source` in mo has read from it: nothing is ever placed in between.
  return next;
}

bool may_close_psc_cycle(const graph& g, event_id e) noexcept {
  if (g.sequential().size() < 2) return false;
  for (const event_id s : g.sequential()) {
    if (s == e || (g.at(s).kind == node_kind::fence && g.at(e).hb.covers(s))) return true;
  }
  return false;
}

bool psc_acyclic(const graph& g) {
  const std::size_t events = g.sequential().size();
  if (events <= 64) return psc<1>(g).acyclic();
  if (events <= 256) return psc<4>(g).acyclic();
  static_assert(max_sequential <= 1024);
  return std::make_unique<psc<16>>(g)->acyclic();  // too large for the stack of a fiber
}

}  // namespace runq::model::exact
