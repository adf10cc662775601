// SPDX-License-Identifier: MIT
// The Relacy engine: runs a scenario under Dmitry Vyukov's Relacy Race Detector. What its memory model lacks, and what
// its three searches cover, is in docs/limits.md.
#pragma once

#include <cstdint>
#include <functional>

#include "scenario.hpp"
#include "verdict.hpp"

namespace runq::model {

enum class relacy_search : unsigned char {
  random,   ///< `executions` random executions; the execution's number is its seed
  bounded,  ///< every execution with at most `context_bound` pre-emptions, one stale value back
  full,     ///< every execution, one stale value back
};

struct relacy_options {
  relacy_search search = relacy_search::random;
  std::uint64_t executions = 20'000;  ///< random: how many; bounded and full: at most so many (0: no limit)
  std::uint64_t first = 1;            ///< random: the number of the first execution
  unsigned context_bound = 2;
  unsigned step_limit = 2'000;                    ///< shared accesses of one execution; more is reported as a livelock
  double seconds = 0;                             ///< stop after so long (0: no limit)
  std::uint64_t show = 0;                         ///< stop at this execution and return its trace, passed or failed
  std::function<void(std::uint64_t)> progress{};  ///< called now and then with the executions so far
};

/// Runs the search. One at a time in a process: Relacy keeps global state.
[[nodiscard]] search_result run_relacy(const case_spec& spec, const relacy_options& options);

}  // namespace runq::model
