// SPDX-License-Identifier: MIT
// Linearizability: is there an order of the calls, consistent with what came before what, in which a sequential
// specification gives the same answers? The search is that of Wing and Gong, "Testing and Verifying Concurrent Objects"
// (1993): try each call that no pending call must precede, undo, try the next. If the caller provides it, the search
// remembers the states that it has tried, as Lowe suggested. Both the models (linearize.hpp) and the property suites
// (proptests/history.hpp) use it.
//
// A specification is copyable and plays one *step* at a time. Most calls are one step; a call that is not atomic by
// contract has several, and steps of other calls may come in between.
#pragma once

namespace runq::model {

/// The result of one step: it is not possible in this state; it was done, and its call has more steps; or it was the
/// last step of its call.
enum class progress : unsigned char { illegal, more, done };

/// Whether the calls that `calls` has left can follow, from `state` on.
///
/// Calls: bool all_done()                      whether every call has taken effect
///        bool any_that_may_go(try)            offers each call that may take its next step, until try(call) is true
///        Position& at(call)                   how far that call is: has `phase` and `variant`, can be copied back
///        unsigned variants(state, call)       ways in which the call may have come about, at least 1
///        progress step(state, call)           takes the step that at(call) names
///        void finish(call)                    the call has taken effect
/// Seen:  bool is_new(state, calls)            false: from here nothing was found before, or the search is to stop
template <class State, class Calls, class Seen>
[[nodiscard]] bool explains(State& state, Calls& calls, Seen& seen) {
  if (calls.all_done()) return true;
  if (!seen.is_new(state, calls)) return false;
  return calls.any_that_may_go([&](auto call) {
    auto& at = calls.at(call);
    const auto was = at;
    const unsigned variants = was.phase == 0 ? calls.variants(state, call) : was.variant + 1;
    for (unsigned v = was.phase == 0 ? 0 : was.variant; v != variants; ++v) {
      const State before = state;
      at.variant = v;
      const progress p = calls.step(state, call);
      if (p == progress::more) ++at.phase;
      if (p == progress::done) calls.finish(call);
      if (p != progress::illegal && explains(state, calls, seen)) return true;
      at = was;
      state = before;
    }
    return false;
  });
}

}  // namespace runq::model
