// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <unordered_set>

#include "exact_findings.hpp"

namespace runq::model::exact {

class team;

/// Numbers of graphs (fingerprint()) that this search has met: this process, or all of a team.
class met_before {
 public:
  enum class what : unsigned {
    complete,     ///< complete graphs: those with a delayed read, or all with check_duplicates
    delayed_base  ///< load buffering: what was tried
  };

  explicit met_before(findings& found) noexcept : found_(found) {}
  /// Whether `number` is new.
  [[nodiscard]] bool first_time(what kind, std::uint64_t number);
  /// From now on the team remembers, which is told what this process has met; nullptr: this process again.
  void let_remember(team* t);
  void forget() noexcept { alone_ = {}; }

 private:
  findings& found_;
  std::array<std::unordered_set<std::uint64_t>, 2> alone_;
  team* team_ = nullptr;
};

}  // namespace runq::model::exact
