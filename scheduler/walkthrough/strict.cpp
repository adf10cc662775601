// SPDX-License-Identifier: MIT
#include "walkthrough/strict.hpp"

#include <optional>

namespace runq::walkthrough {
namespace {

// Rules 2 to 4: a processor takes from its own tail if it can, and steals from another's head otherwise.
std::optional<act> other_work(const machine& m, std::size_t processor) {
  if (m.possible({processor, act::pop})) return act::pop;
  if (m.possible({processor, act::steal})) return act::steal;
  return std::nullopt;
}

}  // namespace

std::vector<step> turn(machine m, std::size_t processor) {
  std::vector<step> steps;
  const auto possible = [&](act what) { return m.possible({processor, what}); };
  const auto take = [&](act what) {
    steps.push_back({processor, what});
    m.apply(steps.back());
  };

  if (possible(act::resume)) take(act::resume);
  if (!m.can_go_on(processor)) {
    const auto found = other_work(m, processor);
    if (!found) return steps;
    take(*found);
    if (*found == act::steal || m.pushed() == stealing::tasks) return steps;
  }
  if (possible(act::finish)) {
    take(act::finish);
  } else if (possible(act::fork)) {
    take(act::fork);
  } else if (possible(act::wait)) {
    take(act::wait);
    if (const auto found = other_work(m, processor)) take(*found);
  }
  return steps;
}

int rule_behind(const machine& m, step s) {
  switch (s.what) {
    case act::fork:
    case act::call: return 1;
    case act::steal: return m.current(s.processor) == nullptr ? 2 : 4;
    case act::pop: return 3;
    case act::wait: return 4;
    case act::resume:
    case act::finish: return 0;
  }
  return 0;
}

run run_strictly(const program& p, stealing pushed, std::size_t processors) {
  run r{.what = p, .pushed = pushed};
  machine m(p, pushed, processors);
  r.rows.push_back(m.now());
  std::size_t idle_turns = 0;  // turns in a row without a step; when it was every processor's, the run is stuck
  for (std::size_t at = 0; !m.finished() && idle_turns != processors; at = (at + 1) % processors) {
    const auto steps = turn(m, at);
    idle_turns = steps.empty() ? idle_turns + 1 : 0;
    if (steps.empty()) continue;
    for (const step& s : steps) m.apply(s);
    r.rows.push_back(m.now());
  }
  if (!m.finished()) r.obstacle = "row " + std::to_string(r.rows.size()) + ": no thread can go on";
  r.history = m.history();
  r.result = m.value_of(main_task);
  return r;
}

}  // namespace runq::walkthrough
