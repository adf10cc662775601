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
  bool is_probe = false;  ///< no execution may have it: it only asks what the thread would do with those values
  bool may_read = false;  ///< on a probe: variables that are not atomic

  std::uint64_t key = 0;  ///< decides where it leads

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
  [[nodiscard]] const state* find(std::uint64_t key) const;
  void note(std::uint64_t key, state to);
  void forget() noexcept { known_.clear(); }
  /// In a graph that has the events before it, and those that it reads from.
  [[nodiscard]] static std::uint64_t key_of(const graph& g, const shortcut& s);
  /// What decides which values a thread finds in memory that was written before `e`.
  [[nodiscard]] static std::uint64_t past_of(const graph& g, event_id e);
  /// Instead of the state to which a probe leads: that depends on memory.
  static constexpr std::uint64_t depends_on_memory = 1;

 private:
  std::unordered_map<std::uint64_t, state> known_;
};

/// Whether the thread may perform `wanted` on the shortcut, where `kept` was performed instead: it reads the same bytes
/// of the same variable, and orders no more by that.
[[nodiscard]] bool may_stand_for(const operation& wanted, const node& kept) noexcept;

}  // namespace runq::model::exact
