// SPDX-License-Identifier: MIT
// What the command asks for. It comes by the environment, because the command line belongs to the program.
#pragma once

#include <cstdint>
#include <string>

#include "feedback.hpp"
#include "limits.hpp"
#include "runtime.hpp"
#include "tool_results.hpp"

namespace runq::model::explore {

struct exploration_options {
  std::uint64_t runs = 1000;
  double time_limit = 0;  ///< seconds; 0: none
  std::uint64_t seed = 1;
  leads before;  ///< seeds that decide before it in each run
  unsigned jobs = 1;
  strategy how = strategy::any;
  std::uint64_t max_steps = usual_max_steps;
  bool weak_memory = true;
  bool timeouts_fail = false;  ///< as in run_choices
  feedback_mode feedback = feedback_mode::off;
  bool judges = true;  ///< a run that fails ends the exploration; otherwise all exit statuses are counted
  std::string only;    ///< a regular expression: tests of GoogleTest, each by itself; empty: the whole program
  result_files files;
  std::string tiny;           ///< the file for the program for the exact checker; empty: none is written
  double patience = 0;        ///< seconds: waits for so long do not end early; 0: any may
  bool makes_smaller = true;  ///< a failure is shown with as few changes of threads and old values as are found
  std::uint64_t stop_at = 0;  ///< the step at which the shown run stops; 0: none
  bool stops_at_failure = false;
  std::string title;      ///< of the program, in results
  std::string repeat;     ///< the command, without the seed
  std::string arguments;  ///< what comes after the seed
};

/// Reads lines, names and values in turn. Returns what is wrong; empty: nothing.
[[nodiscard]] std::string read_options(const std::string& lines, exploration_options& to);

/// What the seed decides about a run.
void choose_for_run(std::uint64_t seed, const exploration_options& options);

[[nodiscard]] const char* name_of(strategy how) noexcept;

}  // namespace runq::model::explore
