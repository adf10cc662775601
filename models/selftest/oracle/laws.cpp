// SPDX-License-Identifier: MIT
#include "laws.hpp"

#include <algorithm>
#include <set>

namespace runq::model::selftest {

namespace {

using order = std::memory_order;
using outcome_set = std::set<std::string>;

struct answers {
  enumeration of, of_changed;
};

std::optional<answers> ask(const program& p, const program& changed, const program_judge& judge) {
  auto a = judge(p);
  auto b = judge(changed);
  if (!a || !b) return std::nullopt;
  return answers{std::move(*a), std::move(*b)};
}

void note(bool holds, const program& p, const program& changed, law_result& to) {
  ++to.asked;
  if (!holds && to.broken++ == 0) to.first = to_text(p) + "changed:\n" + to_text(changed);
}

bool fails(const enumeration& e) { return !e.failures.empty(); }

/// A program that fails has no outcomes: the judge may have stopped at the failure.
bool same(const answers& a) {
  if (fails(a.of) || fails(a.of_changed)) return fails(a.of) == fails(a.of_changed);
  return a.of.outcomes == a.of_changed.outcomes;
}
/// Whether all of `less` is in `more`.
bool contains(const enumeration& more, const enumeration& less) {
  if (fails(less)) return fails(more);
  return fails(more) ||
         std::includes(more.outcomes.begin(), more.outcomes.end(), less.outcomes.begin(), less.outcomes.end());
}

/// The outcome with the threads' values in the order, and under the names, that `name` gives. Values of threads with
/// the same name are put together, in the order of the threads.
template <class Name>
std::string renamed(const std::string& outcome, Name&& name) {
  std::vector<std::pair<unsigned, std::string>> values;
  std::size_t at = 0;
  for (std::size_t colon = outcome.find(':'); colon != std::string::npos; colon = outcome.find(':', at)) {
    const auto thread = static_cast<unsigned>(std::stoul(outcome.substr(at, colon - at)));
    const std::size_t end = outcome.find(' ', colon);
    values.emplace_back(name(thread), outcome.substr(colon, end + 1 - colon));
    at = end + 1;
  }
  std::stable_sort(values.begin(), values.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::string text;
  for (const auto& [thread, value] : values) text += std::to_string(thread) + value;
  return text + outcome.substr(at);
}
template <class Name>
enumeration renamed(enumeration e, Name&& name) {
  outcome_set all;
  for (const std::string& o : e.outcomes) all.insert(renamed(o, name));
  e.outcomes = std::move(all);
  return e;
}

bool starts(const program& p) {
  return has(p, [](action a) { return a == action::start; });
}

/// The orders that the instruction may have, each but the first stronger than one before it.
std::vector<order> orders_of(const instruction& i) {
  switch (i.what) {
    case action::load:
    case action::wait_load: return {order::relaxed, order::acquire, order::seq_cst};
    case action::store: return {order::relaxed, order::release, order::seq_cst};
    case action::fence: return {order::acquire, order::acq_rel, order::seq_cst};
    case action::add:
    case action::exchange:
    case action::compare_exchange:
    case action::weak_exchange: return {order::relaxed, order::acquire, order::acq_rel, order::seq_cst};
    default: return {};
  }
}

/// The program with the next order for each instruction in turn: the next stronger one, or the next weaker one.
template <class Use>
void with_other_orders(const program& p, bool stronger, Use&& use) {
  for (std::size_t t = 0; t != p.size(); ++t) {
    for (std::size_t n = 0; n != p[t].size(); ++n) {
      const std::vector<order> all = orders_of(p[t][n]);
      const auto now = std::find(all.begin(), all.end(), p[t][n].order);
      if (now == all.end() || (stronger ? now + 1 == all.end() : now == all.begin())) continue;
      program changed = p;
      changed[t][n].order = stronger ? *(now + 1) : *(now - 1);
      use(changed);
    }
  }
}

bool is_written_by_others(const program& p, std::size_t thread, unsigned variable) {
  for (std::size_t t = 0; t != p.size(); ++t) {
    for (const instruction& i : p[t]) {
      const bool only_reads = i.what == action::load || i.what == action::wait_load || i.what == action::fence;
      if (t != thread && !only_reads && !is_plain(i.what) && i.variable == variable) return true;
    }
  }
  return false;
}

}  // namespace

void threads_may_be_permuted(const program& p, const program_judge& judge, law_result& to) {
  if (starts(p)) return;
  const program changed(p.rbegin(), p.rend());
  auto a = ask(p, changed, judge);
  if (!a) return;
  const auto last = static_cast<unsigned>(p.size()) - 1;
  a->of_changed = renamed(std::move(a->of_changed), [last](unsigned t) { return last - t; });
  note(same(*a) && (fails(a->of) || a->of.graphs == a->of_changed.graphs), p, changed, to);
}

void an_empty_thread_changes_nothing(const program& p, const program_judge& judge, law_result& to) {
  if (starts(p) || p.size() == 4) return;
  program changed = p;
  changed.emplace_back();
  const auto a = ask(p, changed, judge);
  if (a) note(same(*a) && (fails(a->of) || a->of.graphs == a->of_changed.graphs), p, changed, to);
}

void a_store_may_be_repeated(const program& p, const program_judge& judge, law_result& to) {
  for (std::size_t t = 0; t != p.size(); ++t) {
    for (std::size_t n = 0; n != p[t].size(); ++n) {
      if (p[t][n].what != action::store) continue;
      program changed = p;
      changed[t].insert(changed[t].begin() + static_cast<std::ptrdiff_t>(n), p[t][n]);
      const auto a = ask(p, changed, judge);
      if (!a) continue;
      note(is_written_by_others(p, t, p[t][n].variable) ? contains(a->of_changed, a->of) : same(*a), p, changed, to);
    }
  }
}

void a_stronger_order_adds_nothing(const program& p, const program_judge& judge, law_result& to) {
  with_other_orders(p, true, [&](const program& changed) {
    if (const auto a = ask(p, changed, judge)) note(contains(a->of, a->of_changed), p, changed, to);
  });
}

void a_weaker_order_loses_nothing(const program& p, const program_judge& judge, law_result& to) {
  with_other_orders(p, false, [&](const program& changed) {
    if (const auto a = ask(p, changed, judge)) note(contains(a->of_changed, a->of), p, changed, to);
  });
}

void main_may_let_a_thread_do_it(const program& p, const program_judge& judge, law_result& to) {
  if (!starts(p) || p.size() != 3) return;
  for (std::size_t n = 0; n != p[0].size(); ++n) {
    const instruction& i = p[0][n];
    if (i.what == action::start || i.what == action::join || i.guarded || i.adds_last_read) continue;
    instruction start, join;
    start.what = action::start;
    join.what = action::join;
    start.variable = join.variable = 3;
    program changed = p;
    changed[0][n] = start;
    changed[0].insert(changed[0].begin() + static_cast<std::ptrdiff_t>(n) + 1, join);
    changed.push_back({i});
    auto a = ask(p, changed, judge);
    if (!a) continue;
    // main has at most two operations. The values of the first one come first, whichever of the two was given away.
    const bool is_first =
        std::none_of(p[0].begin(), p[0].begin() + static_cast<std::ptrdiff_t>(n),
                     [](const auto& other) { return other.what != action::start && other.what != action::join; });
    const auto by_main = [is_first](unsigned t) {
      return t == 3 ? (is_first ? 0U : 1U) : t == 0 ? (is_first ? 1U : 0U) : t + 1;
    };
    a->of_changed = renamed(renamed(std::move(a->of_changed), by_main), [](unsigned t) { return t <= 1 ? 0 : t - 1; });
    note(same(*a), p, changed, to);
  }
}

}  // namespace runq::model::selftest
