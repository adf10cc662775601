// SPDX-License-Identifier: MIT
// The search for an order of a history's calls (wing_gong.hpp), and what to report if there is none.
//
// Fixed arrays: an engine may have taken over operator new.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "judged_calls.hpp"
#include "wing_gong.hpp"

namespace runq::model {

/// `Play` knows the specification and the calls by their numbers: `variants(state, call)` and
/// `step(state, call, phase, variant)`, as wing_gong.hpp describes them.
template <class Play, std::size_t Calls>
struct order_search {
  static_assert(Calls <= max_judged_calls);

  struct position {
    unsigned phase = 0;
    unsigned variant = 0;
    bool done = false;
    bool has_lost = false;     ///< it says that another call was faster
    bool has_changed = false;  ///< the object
  };

  Play play;
  std::size_t count;
  std::array<std::uint64_t, Calls> predecessors{};  ///< a bit for each call that has to come before
  std::array<position, Calls> positions{};
  judged_history* told = nullptr;  ///< learns of the longest order that was found
  std::uint64_t left_out = 0;      ///< calls that no order has
  std::array<std::uint8_t, Calls> order{};

  /// Whether there is an order from that state on.
  template <class State>
  [[nodiscard]] bool explains_from(State state) const {
    order_search calls = *this;
    return calls.search(state);
  }

  /// Whether an order explains the history from `state` on; `to` gets the longest order that was found.
  template <class State>
  [[nodiscard]] bool find_order(State state, judged_history& to) {
    to.explained = 0;
    told = &to;
    return search(state);
  }

  void leave_out(std::size_t i) {
    left_out |= std::uint64_t{1} << i;
    positions[i].done = true;
  }

  // --- as explains() asks for ---------------------------------------------------------------------------------------
  [[nodiscard]] bool all_done() const { return pending() == 0 && losses_have_a_winner(); }
  template <class Try>
  [[nodiscard]] bool any_that_may_go(Try&& attempt) {
    const std::uint64_t waiting = pending();
    for (std::size_t i = 0; i != count; ++i) {
      if (!positions[i].done && (predecessors[i] & waiting) == 0 && attempt(i)) return true;
    }
    return false;
  }
  [[nodiscard]] position& at(std::size_t i) { return positions[i]; }
  template <class State>
  [[nodiscard]] unsigned variants(const State& state, std::size_t i) const {
    return play.variants(state, i);
  }
  template <class State>
  [[nodiscard]] progress step(State& state, std::size_t i) {
    const progress made = play.step(state, i, positions[i].phase, positions[i].variant);
    if constexpr (requires { Play::has_lost(state); }) {
      positions[i].has_lost = Play::has_lost(state);
      positions[i].has_changed = Play::has_changed(state);
    }
    return made;
  }
  void finish(std::size_t i) {
    positions[i].done = true;
    if (told == nullptr) return;
    const auto done = static_cast<std::size_t>(std::popcount(~(pending() | left_out) & all()));
    order[done - 1] = static_cast<std::uint8_t>(i);
    if (done <= told->explained) return;
    told->explained = done;
    std::copy_n(order.begin(), done, told->order.begin());
  }

 private:
  /// A call that has lost needs a winner: a call that has changed the object, and that happened neither before nor
  /// after the call that lost.
  [[nodiscard]] bool losses_have_a_winner() const {
    for (std::size_t i = 0; i != count; ++i) {
      if (!positions[i].has_lost) continue;
      bool any = false;
      for (std::size_t j = 0; j != count; ++j) any = any || (positions[j].has_changed && are_beside(i, j));
      if (!any) return false;
    }
    return true;
  }
  [[nodiscard]] bool are_beside(std::size_t i, std::size_t j) const {
    return i != j && (predecessors[i] >> j & 1) == 0 && (predecessors[j] >> i & 1) == 0;
  }

  // The histories of a model are short, so the search does not remember the states that it has tried.
  struct nothing_seen {
    template <class State>
    [[nodiscard]] static constexpr bool is_new(const State&, const order_search&) {
      return true;
    }
  };
  template <class State>
  [[nodiscard]] bool search(State& state) {
    nothing_seen none;
    return explains(state, *this, none);
  }
  [[nodiscard]] std::uint64_t pending() const {
    std::uint64_t bits = 0;
    for (std::size_t i = 0; i != count; ++i) bits |= std::uint64_t{positions[i].done ? 0U : 1U} << i;
    return bits;
  }
  [[nodiscard]] std::uint64_t all() const { return count == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1; }
};

/// For a history that no order explains, whose calls `to` has: which one must be left out so that an order explains the
/// others. A call with an answer is blamed rather than one without, and the last such call.
template <class State, class Search>
void blame(const State& initial, const Search& calls, judged_history& to) {
  constexpr std::string_view answer_sign = "→";
  for (const bool must_have_answer : {true, false}) {
    for (std::size_t i = calls.count; i-- != 0;) {
      if (must_have_answer && to.calls[i].text.view().find(answer_sign) == std::string_view::npos) continue;
      Search others = calls;
      others.leave_out(i);
      if (!others.find_order(initial, to)) continue;
      to.unexplained = i;
      return;
    }
  }
  to.unexplained = judged_history::nobody;
  Search all = calls;
  (void)all.find_order(initial, to);
}

}  // namespace runq::model
