// SPDX-License-Identifier: MIT
// Which fences the schedulers of this process have.
#include <cstdlib>
#include <string_view>
#include <thread>

#include "runq/detail/policy.hpp"

namespace runq::detail {

bool scheduler_fences::decide() noexcept {
  const char* const wanted = std::getenv("RUNQ_MEMBARRIER");
  const std::string_view said = wanted != nullptr ? wanted : "";
  const unsigned cpus = std::thread::hardware_concurrency();  // 0: unknown
  const bool wants = said == "1" || (said != "0" && cpus != 0 && cpus <= most_cpus);
  const bool answer = wants && process_barrier::available();
  // [fences.decided] relaxed, unmodelled: see known_to_be_available().
  decided_.store(answer, std::memory_order::relaxed);
  return answer;
}

namespace {
// So that the first forks need not wait for a thief to ask.
[[maybe_unused]] const bool decided_at_start = scheduler_fences::available();
}  // namespace

}  // namespace runq::detail
