// SPDX-License-Identifier: MIT
// A shortcut: a thread that has read in vain leaves these events out, and comes to the same state by its later ones.
// README.md says why an execution may be abandoned where there is one.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "exact_graph.hpp"

namespace runq::model::exact {

/// The thread keeps its events before `begin`; what it does then reads what `kept` have read, one after the other.
struct shortcut {
  unsigned thread = constructing;  ///< constructing: there is none
  unsigned begin = 0;
  std::vector<node> kept;

  /// The number of the thread's events at its end.
  [[nodiscard]] unsigned end() const noexcept { return begin + static_cast<unsigned>(kept.size()); }
};

/// Whether the event only reads, and could as well not have been there.
[[nodiscard]] bool only_reads(const node& n) noexcept;

/// The states to which shortcuts lead, as far as they have been followed.
class shortcuts {
 public:
  using state = std::optional<std::uint64_t>;  ///< nothing: it cannot be followed

  /// nullptr: it has not been followed yet.
  [[nodiscard]] const state* find(const graph& g, const shortcut& s) const;
  /// In a graph that has the events before it, and those that it reads from.
  void note(const graph& g, const shortcut& s, state to);
  void forget() noexcept { known_.clear(); }

 private:
  [[nodiscard]] static std::uint64_t key_of(const graph& g, const shortcut& s);

  std::unordered_map<std::uint64_t, state> known_;
};

/// Whether the thread may perform `wanted` on the shortcut, where `kept` was performed instead: it reads the same bytes
/// of the same variable, and orders no more by that.
[[nodiscard]] bool may_stand_for(const operation& wanted, const node& kept) noexcept;

}  // namespace runq::model::exact
