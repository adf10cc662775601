// SPDX-License-Identifier: MIT
#include "searches.hpp"

#include <set>
#include <string_view>
#include <utility>

namespace runq::model {

namespace {

// Searches of growing width until one of them fails.
[[nodiscard]] search_result relacy_until_failure(const case_spec& spec, std::uint64_t executions) {
  constexpr unsigned widest_bound = 3;
  relacy_options options;
  options.search = relacy_search::bounded;
  options.executions = executions;
  for (options.context_bound = 0; options.context_bound <= widest_bound; ++options.context_bound) {
    search_result r = run_relacy(spec, options);
    if (r.what != failure::none) return r;
    if (r.how != coverage::bounded) break;  // too many executions for this bound: the random search goes on
  }
  options.search = relacy_search::random;
  return run_relacy(spec, options);
}

}  // namespace

widened_search widen_relacy(const case_spec& spec, std::uint64_t executions,
                            const std::function<void(std::uint64_t)>& progress) {
  constexpr unsigned widest_bound = 16;
  widened_search widened;
  widened.result.how = coverage::sampled;  // unless a search goes to its end
  relacy_options options{.search = relacy_search::bounded, .progress = progress};
  std::uint64_t all = 0;
  double seconds = 0;
  std::uint64_t before = 0;
  for (options.context_bound = 0; options.context_bound <= widest_bound && all < executions; ++options.context_bound) {
    options.executions = executions - all;
    search_result r = run_relacy(spec, options);
    all += r.executions;
    seconds += r.seconds;
    const bool fails = r.what != failure::none;
    if (!fails && r.how != coverage::bounded) break;
    const bool none_is_new = r.executions == before;
    before = r.executions;
    widened = {std::move(r), static_cast<int>(options.context_bound)};
    if (fails) return widened;
    if (none_is_new) {  // an execution with more pre-emptions would begin like one with so many
      widened.result.how = coverage::full;
      break;
    }
  }
  widened.result.executions = all;
  widened.result.seconds = seconds;
  return widened;
}

both_verdicts search_for_failure(const case_spec& spec, std::uint64_t executions, bool waits_in_place) {
  return {run_exact(spec, complete_search(waits_in_place)), relacy_until_failure(spec, executions), &spec};
}

progress_verdict check_progress(const case_spec& spec) {
  progress_verdict v;
  for (unsigned thread = 0; thread != spec.threads; ++thread) {
    bool froze = true;
    for (unsigned step = 0; froze; ++step) {
      exact_options options = complete_search(false);
      options.freeze_thread = static_cast<int>(thread);
      options.freeze_after = step;
      exact_statistics statistics;
      search_result r = run_exact(spec, options, &statistics);
      froze = statistics.froze;
      ++v.searches;
      v.executions += r.executions;
      if (r.what == failure::none && r.how == coverage::exhaustive) continue;
      v.others_always_finish = false;
      v.thread = options.freeze_thread;
      v.step = step;
      v.counterexample = std::move(r);
      return v;
    }
  }
  return v;
}

mutant_verdicts search_all_for_failure(std::uint64_t executions, const mutant_limits& limits) {
  mutant_verdicts all;
  exact_options options = complete_search(limits.waits_in_place);
  both_verdicts& first = all.first;
  std::set<std::string_view> sources;
  for (const case_spec& c : cases()) {
    if (limits.named.empty() || limits.named.contains(c.name)) sources.insert(c.file);
  }
  for (const case_spec& c : cases()) {
    if (c.seeded_bug || c.litmus.outcome != nullptr || !sources.contains(c.file)) continue;
    options.max_executions = limits.named.contains(c.name) ? limits.graphs_named : limits.graphs_others;
    search_result r = run_exact(c, options);
    all.cases.push_back({&c, r.what, r.how});
    if (first.exact.what != failure::none) continue;
    first.exact = std::move(r);
    first.by = &c;
  }
  if (first.by != nullptr) first.relacy = relacy_until_failure(*first.by, executions);
  return all;
}

}  // namespace runq::model
