// SPDX-License-Identifier: MIT
#include "effort.hpp"

#include <map>
#include <string>

namespace runq::model {

namespace {

// As measured on one machine; only their ratio matters.
constexpr double exact_graphs_per_second = 15'000;
constexpr double relacy_executions_per_second = 70'000;
constexpr double seconds_of_genmc = 20;

[[nodiscard]] double seconds_of(const explored& e) {
  return static_cast<double>(e.executions + e.blocked) / exact_graphs_per_second;
}

// The exact engine's searches of all cases of a stem.
[[nodiscard]] std::map<std::string, double> seconds_by_stem(const pinned_facts& pinned) {
  std::map<std::string, double> seconds;
  for (const std::string& name : pinned.counted_cases()) seconds[stem_of(name)] += seconds_of(*pinned.count_of(name));
  return seconds;
}

}  // namespace

void estimate(std::vector<job>& jobs, const pinned_facts& pinned, const pinned_ledger& ledger) {
  const std::map<std::string, double> stems = seconds_by_stem(pinned);
  for (job& j : jobs) {
    if (j.expect == job::expectation::ledger) {
      const auto rows = ledger.by_stem().find(j.case_name);
      const auto stem = stems.find(j.case_name);
      if (rows == ledger.by_stem().end() || stem == stems.end()) continue;
      j.effort = stem->second * static_cast<double>(rows->second.size());
    } else if (const auto count = pinned.count_of(j.case_name); count && j.is_pinned) {
      j.effort = seconds_of(*count);
    } else if (j.engine == engine_name::genmc) {
      j.effort = seconds_of_genmc;
    } else if (j.engine == engine_name::relacy) {
      const auto& search = std::get<search_request>(j.asked->what);  // which says how many executions, at most
      j.effort = static_cast<double>(search.executions) / relacy_executions_per_second;
    }
  }
}

}  // namespace runq::model
