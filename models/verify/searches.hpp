// SPDX-License-Identifier: MIT
// Which engine makes which search: the searches of a worker, composed of the engines' searches.
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "exact.hpp"
#include "relacy.hpp"
#include "scenario.hpp"
#include "verdict.hpp"

namespace runq::model {

/// In models, at most so many weak compare-exchanges of an execution fail spuriously. The runner says so if some did.
inline constexpr unsigned spurious_limit = 1;
/// The exact engine's search of a model: complete, except for executions with more spurious failures.
[[nodiscard]] constexpr exact_options complete_search(bool waits_in_place) noexcept {
  return {.spurious_failures = spurious_limit, .waits_in_place = waits_in_place};
}

/// The verdict of both engines on a program that must fail, or that is a litmus test.
struct both_verdicts {
  search_result exact;
  search_result relacy;
  const case_spec* by = nullptr;  ///< the case that was searched last
};

/// Relacy's search to its end with no pre-emption, then with one, and so on, until the next one would take more than
/// `executions` in all. If a search has no execution that the one before did not have, there are no others at all.
struct widened_search {
  search_result result;  ///< `executions`: in all searches, or the number in its search of the one that fails
  int bound = -1;        ///< most pre-emptions of the last search that went to its end, or fails; -1: none did
};
[[nodiscard]] widened_search widen_relacy(const case_spec& spec, std::uint64_t executions,
                                          const std::function<void(std::uint64_t)>& progress = {});

/// For a mutant or a seeded bug: the exact engine to the end, then Relacy with growing width until it fails, too.
/// `executions` bounds each of Relacy's searches.
[[nodiscard]] both_verdicts search_for_failure(const case_spec& spec, std::uint64_t executions, bool waits_in_place);

/// The exact engine's verdict on one case under a mutant. No failure and `how` == cut_short: it is undecided whether
/// the case notices the mutant.
struct case_verdict {
  const case_spec* spec = nullptr;
  failure what = failure::none;
  coverage how = coverage::cut_short;
};

/// A source mutant, and how many graphs the search of one case under it may take.
struct mutant_limits {
  std::set<std::string> named;           ///< cases that are pinned for the mutant
  std::uint64_t graphs_named = 20'000;   ///< of each of these
  std::uint64_t graphs_others = 20'000;  ///< of each other case
  bool waits_in_place = true;            ///< exact_options::waits_in_place
};

/// The verdicts on all cases in the sources that hold a case which is pinned for the mutant; on all cases if none is.
struct mutant_verdicts {
  both_verdicts first;              ///< of the first case that fails; of the last one if none does
  std::vector<case_verdict> cases;  ///< of each
};
[[nodiscard]] mutant_verdicts search_all_for_failure(std::uint64_t executions, const mutant_limits& limits);

/// The verdict of searches in which each thread is frozen at each of its steps, one after the other. Waits block in
/// them: a case whose claim holds has hardly any, so that nothing would be gained.
struct progress_verdict {
  bool others_always_finish = true;
  int thread = -1;    ///< frozen when they did not,
  unsigned step = 0;  ///< after this many operations
  search_result counterexample;
  std::uint64_t searches = 0;
  std::uint64_t executions = 0;  ///< in all searches
};

[[nodiscard]] progress_verdict check_progress(const case_spec& spec);

}  // namespace runq::model
