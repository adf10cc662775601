// SPDX-License-Identifier: MIT
// Which fences the schedulers of this process have.
#include <cstdlib>
#include <string_view>
#include <thread>

#include "runq/detail/policy.hpp"

namespace runq::detail {

bool scheduler_fences::wanted(const char* said, unsigned cpus) noexcept {
  if (said != nullptr && std::string_view(said) == "1") return true;
  if (said != nullptr && std::string_view(said) == "0") return false;
  return cpus != 0 && cpus <= most_cpus;
}

bool scheduler_fences::decide() noexcept {
  // by chance: it runs when a process starts, before the process counts what it executes; fences_test looks at the
  // answer.
  const bool answer =
      wanted(std::getenv("RUNQ_MEMBARRIER"), std::thread::hardware_concurrency()) && process_barrier::available();
  // [fences.decided] relaxed, unmodelled: see known_to_be_available().
  decided_.store(answer, std::memory_order::relaxed);
  return answer;
}

namespace {
// So that the first forks need not wait for a thief to ask.
[[maybe_unused]] const bool decided_at_start = scheduler_fences::available();
}  // namespace

}  // namespace runq::detail
