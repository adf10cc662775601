// SPDX-License-Identifier: MIT
#include "exact_symmetry.hpp"

#include <algorithm>

#include "exact_explorer.hpp"

namespace runq::model::exact {

namespace {

/// Threads that begin alike, in the order of their numbers.
struct orbit {
  std::array<event_id, max_threads> first;  ///< of each, its first access; nobody: it has none
  std::array<std::uint16_t, max_threads> threads;
  unsigned count = 0;
  bool is_ordered = true;  ///< their first steps are accesses, which can be compared

  [[nodiscard]] bool has_access(unsigned i) const noexcept { return first[i] != nobody; }
  /// Whether it is the first access of one of the threads before the `end`-th.
  [[nodiscard]] bool has_before(unsigned end, event_id e) const noexcept {
    return std::find(first.begin(), first.begin() + end, e) != first.begin() + end;
  }
};

[[nodiscard]] orbit orbit_of(const graph& g, unsigned leader) {
  orbit o;
  for (unsigned t = leader; t != g.end_of_threads(); ++t) {
    if (first_like(g, t) != leader) continue;
    const event_id e = first_step(g, t);
    if (e != nobody && g.at(e).kind != node_kind::read && g.at(e).kind != node_kind::write) o.is_ordered = false;
    o.first[o.count] = e;
    o.threads[o.count++] = static_cast<std::uint16_t>(t);
  }
  return o;
}

/// Calls `function` with each orbit of several threads whose order is defined, until it returns true.
template <class Function>
bool any_orbit(const graph& g, Function&& function) {
  for (unsigned t = constructing + 1; t != g.end_of_threads(); ++t) {
    if (first_like(g, t) != t) continue;
    const orbit o = orbit_of(g, t);
    if (o.count > 1 && o.is_ordered && function(o)) return true;
  }
  return false;
}

/// Grows with the order of first accesses.
[[nodiscard]] std::uint32_t place_of(const graph& g, event_id first) noexcept {
  const node& n = g.at(first);
  return n.kind == node_kind::read ? g.at(n.source).place : n.place;
}

/// Whether `write` and all before it in mo are read-modify-writes, or the initial value: then no write comes in
/// between. `passed`: a write that may be one of them.
[[nodiscard]] bool is_end_of_chain(const graph& g, event_id write, event_id passed, bool& has_passed) noexcept {
  for (event_id e = write; g.at(e).kind != node_kind::init; e = g.at(e.thread, e.index - 1U).source) {
    if (!g.at(e).exclusive) return false;
    has_passed = has_passed || e == passed;
  }
  return true;
}

/// Whether every thread begins after the event in (po ∪ rf)*, but for its own.
[[nodiscard]] bool is_before_all_others(const graph& g, event_id e) noexcept {
  for (unsigned t = constructing + 1; t != g.end_of_threads(); ++t) {
    const event_id by = g.spawner_of(t);
    if (t != e.thread && (by == nobody || !g.at(by).porf.covers(e))) return false;
  }
  return true;
}

/// Of threads that begin alike, as a graph has them.
class comparison {
 public:
  comparison(const graph& g, const orbit& o, const clock& permanent) : g_(g), o_(o), permanent_(permanent) {}

  [[nodiscard]] bool is_never_in_order() const {
    for (unsigned later = 1; later != o_.count; ++later) {
      if (!o_.has_access(later) || !permanent_.covers(o_.first[later])) continue;
      for (unsigned earlier = 0; earlier != later; ++earlier) {
        if (comes_before_for_good(later, earlier)) return true;
      }
    }
    return false;
  }

 private:
  /// Whether `later`, whose first access is permanent, comes before `earlier` in all that follows.
  [[nodiscard]] bool comes_before_for_good(unsigned later, unsigned earlier) const {
    const event_id done = o_.first[later];
    const event_id other = o_.first[earlier];
    const node& n = g_.at(done);
    const event_id written{o_.threads[earlier], static_cast<std::uint16_t>(other.index + 1)};
    bool has_passed = false;
    const bool is_chain = n.kind == node_kind::read && is_end_of_chain(g_, n.source, written, has_passed);
    const bool always_writes = n.exclusive && (n.change == update::modify || n.blocking);
    if (is_chain && always_writes) return other == nobody || !has_passed;
    if (other == nobody || place_of(g_, other) <= place_of(g_, done)) return false;
    if (permanent_.covers(other)) return true;
    return (is_chain || n.kind == node_kind::write) && stays(other, later);
  }

  /// No revisit removes `first`, unless one makes another thread's first access read a later write: no read that is
  /// older can be revisited.
  [[nodiscard]] bool stays(event_id first, unsigned later) const {
    for (unsigned t = constructing + 1; t != g_.end_of_threads(); ++t) {
      for (unsigned i = permanent_[t]; i < g_.size(t) && g_.at(t, i).stamp < g_.at(first).stamp; ++i) {
        const event_id e{static_cast<std::uint16_t>(t), static_cast<std::uint16_t>(i)};
        const node& n = g_.at(e);
        if (n.kind != node_kind::read || n.has_no_choice || o_.has_before(later, e)) continue;
        if (!is_before_all_others(g_, e)) return false;
      }
    }
    return true;
  }

  const graph& g_;
  const orbit& o_;
  const clock& permanent_;
};

}  // namespace

unsigned first_like(const graph& g, unsigned thread) noexcept {
  const event_id by = g.spawner_of(thread);
  if (by == nobody) return 0;
  const unsigned leader = g.at(by).begins_like();
  return leader == 0 ? thread : leader;
}

bool has_others_like(const graph& g, unsigned thread) noexcept {
  for (unsigned t = constructing + 1; t != g.end_of_threads(); ++t) {
    if (t != thread && begin_alike(g, t, thread)) return true;
  }
  return false;
}

unsigned beginning_of_starts(const graph& g, unsigned thread, unsigned end) noexcept {
  unsigned i = end;
  while (i != 0 && g.at(thread, i - 1).kind == node_kind::spawn) --i;
  return i;
}

event_id first_step(const graph& g, unsigned thread) noexcept {
  for (unsigned i = 0; i != g.size(thread); ++i) {
    if (g.at(thread, i).kind != node_kind::fence)
      return {static_cast<std::uint16_t>(thread), static_cast<std::uint16_t>(i)};
  }
  return nobody;
}

/// A lock holds the number of its holder, so the values may differ.
bool are_alike(const node& a, const node& b) noexcept {
  return a.kind == b.kind && a.variable == b.variable && a.change == b.change && a.accessed == b.accessed &&
         a.order == b.order && a.blocking == b.blocking && (a.kind != node_kind::write || a.value == b.value);
}

bool is_never_in_order(const graph& g) {
  const auto never = [&g](const orbit& o) { return comparison(g, o, permanent_in(g)).is_never_in_order(); };
  return any_orbit(g, never);
}

bool is_in_order(const graph& g) {
  return !any_orbit(g, [&g](const orbit& o) {
    for (unsigned i = 1; i != o.count; ++i) {
      if (!o.has_access(i)) continue;
      if (!o.has_access(i - 1) || place_of(g, o.first[i - 1]) > place_of(g, o.first[i])) return true;
    }
    return false;
  });
}

/// Threads whose first accesses have the same place are explored in each order.
double arrangements(const graph& g) {
  double result = 1;
  any_orbit(g, [&](const orbit& o) {
    unsigned same = 1;
    for (unsigned i = 1; i != o.count; ++i) {
      const bool both = o.has_access(i - 1) && o.has_access(i);
      const bool is_same = both ? place_of(g, o.first[i - 1]) == place_of(g, o.first[i]) : !o.has_access(i);
      same = is_same ? same + 1 : 1;
      result = result * (i + 1) / same;
    }
    return false;
  });
  return result;
}

}  // namespace runq::model::exact
