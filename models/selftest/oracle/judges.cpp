// SPDX-License-Identifier: MIT
#include "judges.hpp"

#include <cmath>
#include <deque>
#include <memory>

#include "../program_scenario.hpp"
#include "exact_search.hpp"
#include "executed_program.hpp"

namespace runq::model::selftest {

namespace {

struct answer {
  search_result result;
  std::set<std::string> outcomes;
  std::uint64_t duplicates = 0;
  double weight = 0;
};

answer search_scenario(const program& p, exact_options options) {
  case_spec spec{.name = "oracle", .property = "", .threads = static_cast<unsigned>(p.size())};
  spec.construct = [](void* where) -> scenario* { return ::new (where) program_scenario; };
  current_program = &p;
  program_outcomes.clear();
  outcomes_have_plain_reads = true;
  options.check_duplicates = options.walks == 0;
  const auto search = std::make_unique<exact::search>(spec, options);
  answer a;
  a.result = search->run();
  a.outcomes = program_outcomes;
  a.duplicates = search->statistics().duplicates;
  a.weight = search->weight_done();
  outcomes_have_plain_reads = false;
  return a;
}

bool uses_condition(const program& p) {
  return has(p, [](action a) { return a == action::wait || a == action::notify_all; });
}

std::string describe(const answer& a) {
  std::string text = "the engine: " + std::to_string(a.result.executions) + " executions, failure " +
                     name_of(a.result.what) + " " + a.result.message + "\n";
  for (const std::string& o : a.outcomes) text += "  " + o + "\n";
  return text;
}

/// `counts`: whether the engine has an execution for each of the enumerator's. It has more where a condition variable
/// is made of an atomic counter, as in a scenario.
std::optional<std::string> differs(const answer& a, const enumeration& expected, bool counts) {
  const auto wrong = [&](const char* what) { return std::string(what) + "\n" + describe(a); };
  if (!expected.failures.empty()) {
    if (expected.failures.count(a.result.what) != 0) return std::nullopt;
    return wrong("another failure");
  }
  if (a.result.what != failure::none) return wrong("a failure that is none");
  if (a.duplicates != 0) return wrong("an execution twice");
  if (a.outcomes != expected.outcomes) return wrong("other outcomes");
  if (counts && a.result.executions != expected.graphs) return wrong("another number of executions");
  return std::nullopt;
}

/// The probabilities with which a random walk ends at each execution add up to 1, and each walk stands for the inverse
/// of its own: so what --sample tells is right on average.
std::optional<std::string> judge_weight(const answer& a) {
  constexpr double rounding = 1e-9;
  if (std::abs(a.weight - 1) < rounding) return std::nullopt;
  return "the weights of all executions add up to " + std::to_string(a.weight);
}

/// More with each step, and in the end what the whole search has.
std::optional<std::string> judge_bounds(const program& p, const enumeration& expected, exact_options options) {
  std::uint64_t before = 0;
  constexpr unsigned longest = 64;
  for (options.bound = 0; options.bound != longest; ++options.bound) {
    const answer a = search_scenario(p, options);
    if (a.result.what != failure::none) return differs(a, expected, !uses_condition(p));
    if (a.result.executions < before) return "fewer executions with --bound " + std::to_string(options.bound);
    before = a.result.executions;
    if (a.result.how != coverage::bounded) return "a bounded search is not called so";
    if (a.result.cut_off == 0) return differs(a, expected, !uses_condition(p));
  }
  return "a search with --bound does not end";
}

[[nodiscard]] bool may_wait(const program& p) {
  return has(p, [](action w) { return waits(w) || w == action::lock || w == action::wait; });
}

constexpr std::uint64_t most_in_place = 100'000;  ///< a search that does not end meets executions twice

/// A search that waits in place: the same but for executions that block, of which there are no more.
std::optional<std::string> judge_waits_in_place(const program& p, const enumeration& expected, exact_options options,
                                                std::uint64_t blocked) {
  options.waits_in_place = true;
  options.max_executions = most_in_place;
  const answer a = search_scenario(p, options);
  if (auto wrong = differs(a, expected, !uses_condition(p))) return wrong;
  if (!expected.failures.empty()) return std::nullopt;
  if (a.result.blocked > blocked) return "more executions block";
  return judge_weight(a);
}

std::optional<std::string> judge_walks(const program& p, const enumeration& expected, exact_options options,
                                       tally& to) {
  if (uses_condition(p)) return std::nullopt;
  constexpr std::uint64_t walks = 20;
  options.walks = walks;
  options.seed = to.walks + 1;
  const answer a = search_scenario(p, options);
  if (a.result.what != failure::none) return differs(a, expected, !uses_condition(p));
  for (const std::string& o : a.outcomes) {
    if (expected.outcomes.count(o) == 0) return "a walk with another outcome\n" + describe(a);
  }
  ++to.walks;
  to.estimated += a.result.estimated;
  to.sampled += expected.graphs;
  return std::nullopt;
}

/// A search in parts: whatever is left for others is left to them, one at a time.
class all_parts final : public exact::work_source {
 public:
  std::optional<exact::way> next() override {
    if (ways_.empty()) return std::nullopt;
    exact::way first = std::move(ways_.front());
    ways_.pop_front();
    return first;
  }
  unsigned wanted() override { return 2; }
  void give(exact::way part) override { ways_.push_back(std::move(part)); }
  [[nodiscard]] bool stopped() const noexcept override { return false; }
  // A scenario has no plain writes to what a thread awaits, and no barriers.
  void ask_all_to_begin_again_without(exact::technique, exact::way) override {}
  [[nodiscard]] exact::technique begins_again_without() const noexcept override { return exact::technique::none; }
  [[nodiscard]] const exact::way& shown_at() const noexcept override { return nowhere_; }

 private:
  std::deque<exact::way> ways_{exact::way{}};
  exact::way nowhere_;
};

answer search_executed(const program& p, const exact_options& options, exact::work_source* source) {
  executed_program executed(p);
  const auto search = std::make_unique<exact::search>(executed, options);
  executed.run_by(*search);
  search->take_work_from(source);
  answer a;
  a.result = search->run();
  a.outcomes = executed.outcomes;
  a.duplicates = search->statistics().duplicates;
  a.weight = search->weight_done();
  return a;
}

/// The whole search, and the same in parts. `blocked`: at most so many executions may block; it is set to how many do.
std::optional<std::string> judge_executed_by(const program& p, const enumeration& expected, exact_options options,
                                             const thoroughness& how, std::uint64_t& blocked, tally& to) {
  options.check_duplicates = true;
  ++to.searches;
  const answer whole = search_executed(p, options, nullptr);
  if (auto wrong = differs(whole, expected, true)) return wrong;
  if (!expected.failures.empty()) return std::nullopt;
  if (whole.result.blocked > blocked) return "more executions block";
  blocked = whole.result.blocked;
  if (!how.parts) return std::nullopt;
  options.check_duplicates = false;  // on its way to a part a search meets executions of others
  all_parts parts;
  const answer in_parts = search_executed(p, options, &parts);
  if (auto wrong = differs(in_parts, expected, true)) return "in parts: " + *wrong;
  if (in_parts.result.blocked != whole.result.blocked) return "in parts: another number of blocked executions";
  if (in_parts.result.spurious != whole.result.spurious) return "in parts: another number of spurious failures";
  if (in_parts.result.cut_off != whole.result.cut_off) return "in parts: another number of executions is cut off";
  return std::nullopt;
}

}  // namespace

bool is_scenario(const program& p) {
  return !has(p, [](action a) {
    return a == action::start || a == action::join || a == action::notify_one || a == action::wait_exchange;
  });
}

bool is_executable(const program& p) {
  const bool starts = has(p, [](action a) { return a == action::start; });
  const bool is_known = !has(p, [](action a) {
    return is_plain(a) || a == action::allocate || a == action::wait_exchange || a == action::wait ||
           a == action::notify_one || a == action::notify_all;
  });
  return is_known && p.size() + (starts ? 0 : 1) <= max_threads;
}

std::optional<std::string> judge_scenario(const program& p, const enumeration& expected, unsigned spurious,
                                          const thoroughness& how, tally& to) {
  exact_options options;
  options.spurious_failures = spurious;
  const answer whole = search_scenario(p, options);
  ++to.searches;
  if (auto wrong = differs(whole, expected, !uses_condition(p))) return wrong;
  if (expected.failures.empty()) {
    if (auto wrong = judge_weight(whole)) return wrong;
  }
  if (may_wait(p)) {
    ++to.searches;
    if (auto wrong = judge_waits_in_place(p, expected, options, whole.result.blocked)) return "in place: " + *wrong;
  }
  if (how.bounds) {
    if (auto wrong = judge_bounds(p, expected, options)) return "with --bound: " + *wrong;
  }
  if (how.walks && expected.failures.empty()) {
    options.waits_in_place = true;
    if (auto wrong = judge_walks(p, expected, options, to)) return wrong;
  }
  return std::nullopt;
}

std::optional<std::string> judge_executed(const program& p, const enumeration& expected, unsigned spurious,
                                          const thoroughness& how, tally& to) {
  exact_options options;
  options.spurious_failures = spurious;
  std::uint64_t blocked = ~std::uint64_t{0};
  if (auto wrong = judge_executed_by(p, expected, options, how, blocked, to)) return "with main(): " + *wrong;
  if (!may_wait(p)) return std::nullopt;
  options.waits_in_place = true;
  options.max_executions = most_in_place;
  if (auto wrong = judge_executed_by(p, expected, options, how, blocked, to)) return "with main(), in place: " + *wrong;
  return std::nullopt;
}

std::optional<enumeration> answer_of_engine(const program& p) {
  if (!is_scenario(p) && !is_executable(p)) return std::nullopt;
  answer a = is_scenario(p) ? search_scenario(p, {}) : search_executed(p, {}, nullptr);
  enumeration e{.graphs = a.result.executions, .outcomes = std::move(a.outcomes)};
  if (a.result.what != failure::none) e.failures.insert(a.result.what);
  return e;
}

std::string to_text(const enumeration& e) {
  std::string text = "the enumerator: " + std::to_string(e.graphs) + " executions\n";
  for (const failure f : e.failures) text += std::string("  ") + name_of(f) + "\n";
  for (const std::string& o : e.outcomes) text += "  " + o + "\n";
  return text;
}

}  // namespace runq::model::selftest
