// SPDX-License-Identifier: MIT
#include "exact.hpp"

#include <memory>

#include "exact_search.hpp"
#include "runtime.hpp"

namespace runq::model {

search_result run_exact(const case_spec& spec, const exact_options& options, exact_statistics* statistics) {
  search_result result;
  if (spec.threads == 0 || spec.threads > max_threads || spec.construct == nullptr) {
    result.message = "limit: a scenario has 1 to " + std::to_string(max_threads) + " threads";
    return result;
  }
  exact_options now = options;
  // Executions are numbered as one process meets them.
  if (options.show_execution != 0 || options.show_each != nullptr) now.jobs = 1;
  const runtime_notes before = notes();
  auto search = std::make_unique<exact::search>(spec, now);
  result = search->run();
  if (statistics != nullptr) *statistics = search->statistics();
  const exact::again undecided = search->undecided();
  if (undecided == exact::again::no) return result;

  search.reset();
  set_notes(before);
  const double seconds = result.seconds;
  now.jobs = 1;
  if (undecided == exact::again::without_time_limit) now.time_limit_seconds = 0;
  result = run_exact(spec, now, statistics);
  result.seconds += seconds;
  return result;
}

}  // namespace runq::model
