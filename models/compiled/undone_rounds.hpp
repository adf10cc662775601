// SPDX-License-Identifier: MIT
// Rounds of loops that change variables and undo that: whether other threads can tell that there was one.
// models/exact/README.md has the argument.
#pragma once

#include <cstdint>
#include <unordered_set>
#include <vector>

#include "execution.hpp"

namespace runq::model::compiled {

class undone_rounds {
 public:
  explicit undone_rounds(execution& now) noexcept : now_(now) {}

  /// Whether the running thread's events from `begin` to `end` change something and undo it, and other threads that
  /// have added to it meanwhile would have gone on in the same way without that. If so, `round` tells more.
  [[nodiscard]] bool is_undone(unsigned begin, unsigned end, exact::undone_round& round);
  /// The running thread's last round was that one.
  void leave_out(const exact::undone_round& round);
  /// The running thread's last operation was atomic. Others may have left rounds out in which the variable has
  /// differed: the thread must have gone on as it would then, or have read in vain.
  void look_at_last_operation();

 private:
  [[nodiscard]] thread_state::moment moment_of(exact::event_id e) const;
  [[nodiscard]] exact::shortcuts::state state_after(exact::event_id read, std::uint64_t value, bool may_read);
  [[nodiscard]] bool may_have_round_of(unsigned thread, unsigned other) const;
  void look_at_load(exact::event_id load);
  [[nodiscard]] std::vector<unsigned> threads_beside(exact::event_id load) const;
  void require_same(exact::event_id load, const std::vector<unsigned>& beside);

  execution& now_;
  std::unordered_set<std::uint64_t> looked_at_;  ///< loads that go on in the same way: what decides that
};

}  // namespace runq::model::compiled
