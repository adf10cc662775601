// SPDX-License-Identifier: MIT
// A round that is undone: a thread has added to variables, and has taken it back. README.md says when such a round is
// left out.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "exact_graph.hpp"

namespace runq::model::exact {

/// A read of another thread that has found a variable while a thread had changed it.
struct disturbed_read {
  event_id read;
  std::uint64_t without;  ///< what it would have read without that
};

/// By what a variable has differed while a round was under way.
struct passing_difference {
  event_id variable;
  unsigned thread;  ///< of the round
  std::uint64_t by;
  friend bool operator==(const passing_difference&, const passing_difference&) noexcept = default;
};

/// What others may notice of some events of a thread that are to be left out.
struct undone_round {
  bool is_undone = false;  ///< they change something, and undo it: without them, all that comes later is the same
  std::vector<disturbed_read> disturbed;
  std::vector<passing_difference> differences;
};

/// A read-modify-write that adds, whatever it finds: two of them may change places.
[[nodiscard]] bool adds(const node& n) noexcept;

/// Of the rounds that a search leaves out. It begins again with each that it finds: so all are known from its
/// beginning.
class differences_left_out {
 public:
  [[nodiscard]] const std::vector<passing_difference>& all() const noexcept { return all_; }
  [[nodiscard]] bool has(event_id variable) const noexcept {
    return std::any_of(all_.begin(), all_.end(), [=](const auto& d) { return d.variable == variable; });
  }
  /// Returns whether it is new.
  bool add(const passing_difference& d) {
    if (std::find(all_.begin(), all_.end(), d) != all_.end()) return false;
    all_.push_back(d);
    return true;
  }

 private:
  std::vector<passing_difference> all_;
};

/// Of the thread's events from `begin` to `end`.
[[nodiscard]] undone_round look_at_round(const graph& g, unsigned thread, unsigned begin, unsigned end);

}  // namespace runq::model::exact
