// SPDX-License-Identifier: MIT
#include "exact.hpp"

#include "exact_search.hpp"

namespace runq::model {

search_result run_exact(const case_spec& spec, const exact_options& options, exact_statistics* statistics) {
  search_result result;
  if (spec.threads == 0 || spec.threads > max_threads || spec.construct == nullptr) {
    result.message = "limit: a scenario has 1 to " + std::to_string(max_threads) + " threads";
    return result;
  }
  exact::search search(spec, options);
  result = search.run();
  if (statistics != nullptr) *statistics = search.statistics();
  return result;
}

}  // namespace runq::model
