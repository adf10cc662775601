// SPDX-License-Identifier: MIT
#include "walkthrough/replay.hpp"

#include <algorithm>
#include <optional>
#include <string>

#include "walkthrough/strict.hpp"

namespace runq::walkthrough {
namespace {

using steps = std::vector<step>;

// What the strict rule does next when it is `first`'s turn. A processor that has nothing to do passes its turn on.
steps next_turn(const machine& m, std::size_t first) {
  for (std::size_t i = 0; i != m.now().size(); ++i) {
    if (auto found = turn(m, (first + i) % m.now().size()); !found.empty()) return found;
  }
  return {};
}

// The steps in words: "T1 pops c.f3, forks f1". All of them must be steps of one processor.
std::string in_words(machine m, const steps& taken) {
  std::string words = thread_name(taken.front().processor);
  for (const step& s : taken) {
    words += (&s == &taken.front() ? " " : ", ") + m.describe(s);
    m.apply(s);
  }
  return words;
}

std::string rule(int number) { return number == 0 ? "" : "rule " + std::to_string(number) + ": "; }

// Says why `taken` differs from `expected`. It gives the first reason that applies.
std::string reason(const machine& m, const steps& expected, const steps& taken) {
  if (taken.empty()) return "nothing happens";
  if (expected.empty()) return "by the rules no thread has anything to do";
  const step due = expected.front();
  const std::string who = thread_name(due.processor);
  if (taken.front().processor != due.processor) {
    return rule(rule_behind(m, due)) + "it is " + who + "'s turn, and " + in_words(m, expected) + "; here " +
           thread_name(taken.front().processor) + " goes first";
  }
  if (std::any_of(taken.begin(), taken.end(), [](const step& s) { return s.what == act::call; })) {
    return rule(1) + "a fork pushes, so " + in_words(m, expected) + "; here " + in_words(m, taken) +
           " and pushes nothing";
  }
  if (taken.size() > expected.size()) return "more than one turn of " + who + " in one row: " + in_words(m, taken);
  return rule(rule_behind(m, due)) + in_words(m, expected);
}

std::optional<std::string> take_all(machine& m, const steps& taken) {
  for (const step& s : taken) {
    if (auto why_not = m.obstacle(s)) return thread_name(s.processor) + ": " + *why_not;
    m.apply(s);
  }
  return std::nullopt;
}

}  // namespace

run replay(const script& s) {
  run r{.what = s.what, .pushed = s.pushed};
  machine m(r.what, s.pushed, s.processors);
  r.rows.push_back(m.now());
  std::size_t whose = 0;
  for (const steps& taken : s.rows) {
    const machine before = m;
    const steps expected = next_turn(before, whose);
    if (const auto why_not = take_all(m, taken)) {
      r.obstacle = "row " + std::to_string(r.rows.size() + 1) + ": " + *why_not;
      break;
    }
    r.rows.push_back(m.now());
    if (taken != expected) r.departures.push_back({r.rows.size(), reason(before, expected, taken)});
    if (!taken.empty()) whose = (taken.back().processor + 1) % s.processors;
  }
  r.history = m.history();
  r.result = m.value_of(main_task);
  return r;
}

}  // namespace runq::walkthrough
