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

[[nodiscard]] std::string stem_of(const std::string& name) { return name.substr(0, name.find('/')); }

[[nodiscard]] double seconds_of(const explored& e, bool exact) {
  const auto all = static_cast<double>(e.executions + e.blocked);
  return all / (exact ? exact_graphs_per_second : relacy_executions_per_second);
}

// The exact engine's searches of all cases of a stem.
[[nodiscard]] std::map<std::string, double> seconds_by_stem(const pinned_counts& counts) {
  constexpr const char* search = " exhaustive";
  std::map<std::string, double> seconds;
  for (const std::string& key : counts.keys()) {
    if (key.ends_with(search)) seconds[stem_of(key)] += seconds_of(*counts.find(key), true);
  }
  return seconds;
}

}  // namespace

void estimate(std::vector<job>& jobs, const pinned_counts& counts, const pinned_ledger& ledger) {
  const std::map<std::string, double> stems = seconds_by_stem(counts);
  for (job& j : jobs) {
    if (j.expect == job::expectation::ledger) {
      const auto rows = ledger.by_stem().find(j.case_name);
      const auto stem = stems.find(j.case_name);
      if (rows == ledger.by_stem().end() || stem == stems.end()) continue;
      j.effort = stem->second * static_cast<double>(rows->second.size());
    } else if (const auto pinned = counts.find(j.counts_key)) {
      j.effort = seconds_of(*pinned, j.engine == engine_name::exact);
    } else if (j.engine == engine_name::genmc) {
      j.effort = seconds_of_genmc;
    } else if (const search_request* const random = search_of(j, search_kind::random)) {
      j.effort = static_cast<double>(random->executions) / relacy_executions_per_second;
    }
  }
}

}  // namespace runq::model
