// SPDX-License-Identifier: MIT
#include "judged_calls.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace runq::model {

namespace {

judged_history failing;

/// Finds the steps of calls, and when each began and ended: the moments between steps are numbered, too, so that a call
/// that makes no step comes after its thread's step before it.
class placement {
 public:
  placement(const std::vector<moment>& steps, const thread_numbers& threads) : steps_(steps), threads_(threads) {}

  [[nodiscard]] shown_call place(const judged_call& c) const {
    shown_call shown;
    const bool is_outside = c.began.thread == threads_.constructing || c.began.thread == threads_.finishing;
    shown.thread = is_outside ? -1 : c.began.thread - threads_.first;
    shown.text = c.text.view();
    for (std::uint32_t i = 0; i != steps_.size(); ++i) {
      const moment& step = steps_[i];
      if (step.thread != c.began.thread || step.steps < c.began.steps || step.steps >= c.ended.steps) continue;
      if (shown.first == no_event) shown.first = i;
      shown.last = i;
    }
    const std::uint32_t between = shown.first == no_event ? after_step(c.began) : 0;
    shown.began = shown.first == no_event ? between : when(shown.first);
    shown.ended = shown.first == no_event ? between : when(shown.last) + 1;
    return shown;
  }

 private:
  [[nodiscard]] static std::uint32_t when(std::uint32_t step) { return 2 * step + 2; }

  [[nodiscard]] std::uint32_t after_step(moment at) const {
    std::uint32_t found = 1;
    for (std::uint32_t i = 0; i != steps_.size(); ++i) {
      const moment& step = steps_[i];
      const bool comes_first = step.thread == at.thread ? step.steps < at.steps : step.thread == threads_.constructing;
      if (comes_first || at.thread == threads_.finishing) found = when(i) + 1;
    }
    return at.thread == threads_.constructing ? 1 : found;
  }

  const std::vector<moment>& steps_;
  const thread_numbers& threads_;
};

}  // namespace

judged_history& history_that_fails() noexcept { return failing; }

void show_history(search_result& r, const std::vector<moment>& steps, const thread_numbers& threads) {
  if (r.what != failure::not_linearizable) return;
  const judged_history& h = failing;
  const placement places(steps, threads);
  std::vector<shown_call> calls;
  for (std::size_t i = 0; i != h.count; ++i) calls.push_back(places.place(h.calls[i]));
  std::vector<std::size_t> by_begin(h.count);
  std::iota(by_begin.begin(), by_begin.end(), std::size_t{0});
  std::stable_sort(by_begin.begin(), by_begin.end(),
                   [&](std::size_t a, std::size_t b) { return calls[a].began < calls[b].began; });
  std::vector<std::uint32_t> number(h.count);
  for (std::uint32_t i = 0; i != by_begin.size(); ++i) number[by_begin[i]] = i;
  const auto is_after = [&](std::size_t late, std::size_t early) { return (h.calls[late].after >> early & 1) != 0; };
  r.calls.clear();
  for (const std::size_t i : by_begin) {
    for (std::size_t j = 0; j != h.count; ++j) {
      if (is_after(i, j)) calls[i].after.push_back(number[j]);
    }
    std::sort(calls[i].after.begin(), calls[i].after.end());
    r.calls.push_back(std::move(calls[i]));
  }
  r.unexplained_call = h.unexplained == judged_history::nobody ? no_event : number[h.unexplained];
  for (std::size_t i = 0; i != h.explained; ++i) r.explained_calls.push_back(number[h.order[i]]);
}

}  // namespace runq::model
