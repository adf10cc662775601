// SPDX-License-Identifier: MIT
// The single total order of the seq_cst operations, S, as C++20 words it: paragraphs 3 and 4 of
// [atomics.order], paragraph 12 of [intro.races]. The search asks RC11's rule instead (exact_consistency.cpp), which
// asks for less in a few shapes: so what passes there passes here, and of an execution that fails it remains to say
// whether C++20 allows it.
#include <algorithm>
#include <map>
#include <vector>

#include "exact_consistency.hpp"

namespace runq::model::exact {

namespace {

class total_order {
 public:
  explicit total_order(const graph& g) : g_(g) {
    for (const event_id e : g.sequential()) {
      const node& n = g.at(e);
      const bool is_second_part = n.kind == node_kind::write && n.exclusive;
      if (n.applied_order() != std::memory_order::seq_cst || is_second_part) continue;
      const auto last = static_cast<std::uint16_t>(e.index + (n.kind == node_kind::read && n.exclusive ? 1 : 0));
      operations_.push_back({e, {e.thread, last}, n.kind == node_kind::fence});
    }
    before_.assign(operations_.size(), std::vector<bool>(operations_.size(), false));
  }

  [[nodiscard]] bool exists() {
    add_strongly_happens_before();
    add_coherence_ordered_before();
    return is_acyclic();
  }

 private:
  /// A read-modify-write is one operation: its read and its write part.
  struct operation_of_order {
    event_id first;
    event_id last;
    bool is_fence;
  };
  using set = std::vector<bool>;

  // --- strongly happens before ---------------------------------------------------------------------------------------

  void add_strongly_happens_before() {
    for (std::size_t a = 0; a != operations_.size(); ++a) {
      for (std::size_t b = 0; b != operations_.size(); ++b) {
        if (a != b && strongly_happens_before(operations_[a], operations_[b])) before_[a][b] = true;
      }
    }
  }

  /// Sequenced before; or sequenced before something that happens before something that is sequenced before `b`. (That
  /// `a` synchronises with `b` is in the coherence order, too.)
  [[nodiscard]] bool strongly_happens_before(const operation_of_order& a, const operation_of_order& b) const {
    if (a.first.thread == b.first.thread) return a.first.index < b.first.index;
    const clock known =
        b.first.index == 0 ? g_.beginning_of(b.first.thread) : g_.at(b.first.thread, b.first.index - 1U).hb;
    return known[a.last.thread] > a.last.index + 1;
  }

  // --- coherence-ordered before --------------------------------------------------------------------------------------

  struct access {
    std::uint32_t place;  ///< in mo: of the write, or of the write that is read
    bool is_read;
    event_id event;
  };

  void add_coherence_ordered_before() {
    std::map<std::uint32_t, std::vector<access>> by_variable;
    for (unsigned t = constructing + 1; t != finishing; ++t) {
      for (unsigned i = 0; i != g_.size(t); ++i) {
        const node& n = g_.at(t, i);
        const event_id e{static_cast<std::uint16_t>(t), static_cast<std::uint16_t>(i)};
        const std::uint32_t variable = std::uint32_t{n.variable.thread} << 16 | n.variable.index;
        // What fails may not have been given its source, or its place, yet.
        if (n.kind == node_kind::read && n.source != nobody) {
          by_variable[variable].push_back({g_.at(n.source).place, true, e});
        } else if (n.kind == node_kind::write && n.older != nobody) {
          by_variable[variable].push_back({n.place, false, e});
        }
      }
    }
    for (auto& [variable, accesses] : by_variable) add_edges_of(accesses);
  }

  /// From the newest to the oldest: a write comes before those that read it, and both come before all newer ones.
  void add_edges_of(std::vector<access>& accesses) {
    std::sort(accesses.begin(), accesses.end(), [](const access& a, const access& b) {
      return a.place != b.place ? a.place > b.place : a.is_read && !b.is_read;
    });
    set later(operations_.size(), false);  // of all newer writes, and those that read them
    for (std::size_t i = 0; i != accesses.size();) {
      set of_these = later;
      for (const std::uint32_t place = accesses[i].place; i != accesses.size() && accesses[i].place == place; ++i) {
        add_edges(accesses[i].event, accesses[i].is_read ? later : of_these);
        mark_after(accesses[i].event, of_these);
      }
      later = std::move(of_these);
    }
  }

  /// From the operation itself, and from the fences that happen before it.
  void add_edges(event_id from, const set& to) {
    for (std::size_t a = 0; a != operations_.size(); ++a) {
      if (operations_[a].is_fence ? !g_.at(from).hb.covers(operations_[a].first) : !is_part_of(from, a)) continue;
      for (std::size_t b = 0; b != operations_.size(); ++b) {
        if (to[b] && a != b) before_[a][b] = true;
      }
    }
  }

  /// The operation itself, and the fences that it happens before.
  void mark_after(event_id e, set& marked) const {
    for (std::size_t b = 0; b != operations_.size(); ++b) {
      if (operations_[b].is_fence ? g_.at(operations_[b].first).hb.covers(e) : is_part_of(e, b)) marked[b] = true;
    }
  }

  [[nodiscard]] bool is_part_of(event_id e, std::size_t operation) const {
    return operations_[operation].first == e || operations_[operation].last == e;
  }

  [[nodiscard]] bool is_acyclic() const {
    set left(operations_.size(), true);
    for (bool removed = true; removed;) {
      removed = false;
      for (std::size_t a = 0; a != operations_.size(); ++a) {
        if (!left[a] || has_later(a, left)) continue;
        left[a] = false;
        removed = true;
      }
    }
    return std::find(left.begin(), left.end(), true) == left.end();
  }
  [[nodiscard]] bool has_later(std::size_t a, const set& left) const {
    for (std::size_t b = 0; b != operations_.size(); ++b) {
      if (left[b] && before_[a][b]) return true;
    }
    return false;
  }

  const graph& g_;
  std::vector<operation_of_order> operations_;
  std::vector<set> before_;
};

}  // namespace

bool has_total_order(const graph& g) { return total_order(g).exists(); }

}  // namespace runq::model::exact
