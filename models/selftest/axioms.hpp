// SPDX-License-Identifier: MIT
// The memory model of C++20, as RC11 writes it down (Lahav, Vafeiadis, Kang, Hur, Dreyer: "Repairing sequential
// consistency in C/C++11", PLDI 2017), with the release sequences of C++20. Nothing but this page says what is
// consistent; each axiom names its paragraph of the standard (N4861).
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstdint>
#include <vector>

namespace runq::model::selftest {

/// A relation on the events 0 … size-1: a boolean matrix with a word per row.
class relation {
 public:
  static constexpr unsigned room = 48;
  explicit relation(unsigned size = 0) : size_(size) {}

  [[nodiscard]] bool has(unsigned a, unsigned b) const { return (row_[a] >> b & 1U) != 0; }
  void add(unsigned a, unsigned b) { row_[a] |= std::uint64_t{1} << b; }
  [[nodiscard]] bool empty() const {
    for (unsigned i = 0; i != size_; ++i) {
      if (row_[i] != 0) return false;
    }
    return true;
  }
  [[nodiscard]] bool irreflexive() const {
    for (unsigned i = 0; i != size_; ++i) {
      if (has(i, i)) return false;
    }
    return true;
  }
  /// r+
  [[nodiscard]] relation transitive() const {
    relation r = *this;
    for (unsigned k = 0; k != size_; ++k) {
      for (unsigned i = 0; i != size_; ++i) {
        if (r.has(i, k)) r.row_[i] |= r.row_[k];
      }
    }
    return r;
  }
  /// r?
  [[nodiscard]] relation optional() const {
    relation r = *this;
    for (unsigned i = 0; i != size_; ++i) r.add(i, i);
    return r;
  }
  [[nodiscard]] bool acyclic() const { return transitive().irreflexive(); }

  friend relation operator|(relation a, const relation& b) {
    for (unsigned i = 0; i != a.size_; ++i) a.row_[i] |= b.row_[i];
    return a;
  }
  friend relation operator&(relation a, const relation& b) {
    for (unsigned i = 0; i != a.size_; ++i) a.row_[i] &= b.row_[i];
    return a;
  }
  /// Composition: a then b.
  friend relation operator*(const relation& a, const relation& b) {
    relation c(a.size_);
    for (unsigned i = 0; i != a.size_; ++i) {
      for (std::uint64_t left = a.row_[i]; left != 0; left &= left - 1)
        c.row_[i] |= b.row_[static_cast<unsigned>(std::countr_zero(left))];
    }
    return c;
  }

 private:
  unsigned size_;
  std::array<std::uint64_t, room> row_{};
};

/// An atomic access, a fence, or anything else that a thread does: an access to plain memory, the start of a thread …
/// A read-modify-write is a read and a write, and so is the locking of a mutex, whose location holds 0 while it is
/// unlocked. [thread.mutex.requirements.mutex]/5 asks that unlocking releases and locking acquires.
struct event {
  enum class kind : unsigned char { read, write, fence, other };
  static constexpr unsigned nowhere = ~0U;

  kind is = kind::other;
  int thread = -1;  ///< -1: the initial value of its location
  unsigned location = nowhere;
  std::memory_order order = std::memory_order::relaxed;
};

struct execution {
  explicit execution(std::vector<event> of)
      : events(std::move(of)), po(size()), rf(size()), mo(size()), rmw(size()), asw(size()) {}
  [[nodiscard]] unsigned size() const { return static_cast<unsigned>(events.size()); }

  template <class Predicate>
  [[nodiscard]] relation pairs(Predicate&& holds) const {
    relation r(size());
    for (unsigned a = 0; a != size(); ++a) {
      for (unsigned b = 0; b != size(); ++b) {
        if (holds(a, b)) r.add(a, b);
      }
    }
    return r;
  }
  /// [P]: each event for which it holds, with itself.
  template <class Predicate>
  [[nodiscard]] relation those(Predicate&& holds) const {
    relation r(size());
    for (unsigned e = 0; e != size(); ++e) {
      if (holds(events[e])) r.add(e, e);
    }
    return r;
  }

  std::vector<event> events;
  relation po;   ///< sequenced before: [intro.execution]/8, of the events of one thread
  relation rf;   ///< reads from: write to read
  relation mo;   ///< modification order: [intro.races]/4, total per location, transitive
  relation rmw;  ///< from the read to the write of one read-modify-write
  /// What else synchronises: the initialisation with everything, the start of a thread with its first event
  /// ([thread.thread.constr]/6), its last event with what waits for its end ([thread.thread.member]/4).
  relation asw;
};

namespace axioms {

[[nodiscard]] inline bool acquires(const event& e) {
  return e.order != std::memory_order::relaxed && e.order != std::memory_order::release && e.is != event::kind::write;
}
[[nodiscard]] inline bool releases(const event& e) {
  return e.order != std::memory_order::relaxed && e.order != std::memory_order::acquire && e.is != event::kind::read;
}
[[nodiscard]] inline bool is_read(const event& e) { return e.is == event::kind::read; }
[[nodiscard]] inline bool is_write(const event& e) { return e.is == event::kind::write; }
[[nodiscard]] inline bool is_fence(const event& e) { return e.is == event::kind::fence; }

/// [atomics.order]/2, with release sequences as in [intro.races]/5, and fences as in [atomics.fences]/2 to 4.
[[nodiscard]] inline relation synchronises_with(const execution& x) {
  const relation release = x.those(releases), acquire = x.those(acquires), fence = x.those(is_fence);
  const relation sequence = x.those(is_write) * (x.rf * x.rmw).transitive().optional();
  return release * (fence * x.po).optional() * sequence * x.rf * (x.po * fence).optional() * acquire;
}

/// [intro.races]/10, without consume.
[[nodiscard]] inline relation happens_before(const execution& x) {
  return (x.po | synchronises_with(x) | x.asw).transitive();
}

/// A read is before the writes that come after the one that it reads from: [atomics.order]/3.3.
[[nodiscard]] inline relation from_read(const execution& x) {
  relation fr(x.size());
  for (unsigned w = 0; w != x.size(); ++w) {
    for (unsigned r = 0; r != x.size(); ++r) {
      if (!x.rf.has(w, r)) continue;
      for (unsigned later = 0; later != x.size(); ++later) {
        if (x.mo.has(w, later)) fr.add(r, later);
      }
    }
  }
  return fr;
}

/// "Coherence-ordered before", [atomics.order]/3.
[[nodiscard]] inline relation coherence_order(const execution& x) { return (x.rf | x.mo | from_read(x)).transitive(); }

/// What the total order of seq_cst events, [atomics.order]/4, must contain: RC11, section 3.2.
[[nodiscard]] inline relation partial_sc(const execution& x, const relation& hb) {
  const auto same_location = [&](unsigned a, unsigned b) {
    return x.events[a].location == x.events[b].location && x.events[a].location != event::nowhere;
  };
  const relation po_other = x.po & x.pairs([&](unsigned a, unsigned b) { return !same_location(a, b); });
  const relation fr = from_read(x), eco = coherence_order(x);
  const relation scb = x.po | po_other * hb * po_other | (hb & x.pairs(same_location)) | x.mo | fr;
  const auto is_sc = [](const event& e) { return e.order == std::memory_order::seq_cst; };
  const relation access = x.those([&](const event& e) { return is_sc(e) && !is_fence(e); });
  const relation fence = x.those([&](const event& e) { return is_sc(e) && is_fence(e); });
  const relation base = (access | fence * hb.optional()) * scb * (access | hb.optional() * fence);
  return base | fence * (hb | hb * eco * hb) * fence;
}

/// RC11 leaves out all of load buffering, of which [atomics.order]/8 forbids only values out of thin air.
[[nodiscard]] inline bool no_thin_air(const execution& x) { return (x.po | x.rf).acyclic(); }
/// [intro.races]/10, the note.
[[nodiscard]] inline bool no_cycle_of_hb(const relation& hb) { return hb.irreflexive(); }
/// [intro.races]/14 to 18.
[[nodiscard]] inline bool coherent(const execution& x, const relation& hb) {
  return (hb * coherence_order(x)).irreflexive();
}
/// [atomics.order]/10: a read-modify-write reads the last value before its own.
[[nodiscard]] inline bool atomic(const execution& x) { return (x.rmw & (from_read(x) * x.mo)).empty(); }
/// [atomics.order]/4.
[[nodiscard]] inline bool sequentially_consistent(const execution& x, const relation& hb) {
  return partial_sc(x, hb).acyclic();
}

}  // namespace axioms

}  // namespace runq::model::selftest
