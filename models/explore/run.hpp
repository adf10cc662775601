// SPDX-License-Identifier: MIT
// One run: a process of its own, which begins at main().
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <sys/types.h>

#include "deviations.hpp"
#include "feedback.hpp"
#include "options.hpp"
#include "report.hpp"

namespace runq::model::explore {

struct program {
  int (*main)(int, char**, char**) = nullptr;
  int argc = 0;
  char** argv = nullptr;
  char** environment = nullptr;
};

/// What one run at a time leaves in, and is used again.
struct run_slot {
  run_report* report = nullptr;
  int output = -1;  ///< a file in memory: the program's standard output and error
  pid_t process = 0;
  std::uint64_t seed = 0;
  leads before;
};
[[nodiscard]] run_slot make_slot();
void give_back(const run_slot& slot);
/// Zeros that this process and those that it starts share.
[[nodiscard]] void* shared_memory(std::size_t bytes);

enum class run_end : std::uint8_t { passed, failed, refused };
struct run_outcome {
  run_end how = run_end::passed;
  failure what = failure::none;
  int status = 0;              ///< of the program, if it ended by itself
  std::uint64_t place = 0;     ///< code that fails; 0: not known
  std::uintptr_t address = 0;  ///< of the memory that a data race is about
  std::string text;
};
struct run_request {
  std::uint64_t seed = 1;
  run_counts expected;
  bool weak_memory = true;
  bool tells = false;
  bool measures = false;                            ///< what other runs will need, too
  const working_set* uses = nullptr;                ///< what it will need
  std::uintptr_t watched = 0;                       ///< memory whose plain accesses are told, too
  recording* records = nullptr;                     ///< where what chance decides is kept, if it is to be
  const std::vector<deviation>* follows = nullptr;  ///< in place of chance
  leads before;                                     ///< what decides before the seed
  bool notes_pairs = false;
};
/// A run of its own, to its end.
[[nodiscard]] run_outcome run_once(run_slot& slot, const run_request& request, const exploration_options& options,
                                   const program& p);
void start_run(run_slot& slot, const run_request& request, const exploration_options& options, const program& p);

/// `status`: as of waitpid().
[[nodiscard]] run_outcome outcome_of(const run_slot& slot, int status);
/// The last lines of what the program has written.
[[nodiscard]] std::string output_of(const run_slot& slot);

}  // namespace runq::model::explore
