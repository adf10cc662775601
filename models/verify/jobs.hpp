// SPDX-License-Identifier: MIT
// Jobs: one search each, in a separate worker process, several at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace runq::model {

struct job {
  enum class expectation : unsigned char { pass, fail, litmus, progress, ledger, proof };

  std::string case_name;
  std::string label;  ///< "bounded 3", "publish_relaxed", …
  std::string engine;
  expectation expect = expectation::pass;
  std::string worker;
  std::vector<std::string> arguments;
  std::string counts_key;  ///< empty: the number of executions is not pinned
  std::string replay;      ///< options that make the same search again
  std::string changed;     ///< a mutant's change, in a few words
  nlohmann::json about;    ///< what the worker says of the case
  std::string broken;      ///< why this job cannot even start
  double effort = 0;       ///< an estimate in seconds, if there is one: effort.hpp

  nlohmann::json result;  ///< filled by the run: what the worker printed last, or {"error": …}
  std::string outcome;  ///< filled by the report: "passed", "killed", "as expected", "remark" (not counted) or "failed"
  std::string verdict;  ///< filled by the report, in its words: "PASS exhaustive", "FAIL …"
  std::string progress;  ///< the latest progress line of the running search
};

/// Runs the jobs, `width` at a time. Jobs with the greatest effort start first, so that no long one is left alone at
/// the end. Hands each to `report` in the order of `jobs`, as soon as it and all before it are done. Returns how many
/// were reported: fewer than all after Ctrl-C.
std::size_t run_all(std::span<job> jobs, unsigned width, const std::function<void(job&)>& report);

/// Runs `worker arguments…` to its end and returns what it printed.
[[nodiscard]] std::string output_of(const std::string& worker, const std::vector<std::string>& arguments);

/// From now on Ctrl-C ends run_all() early instead of the process.
void catch_interrupt();
[[nodiscard]] bool was_interrupted() noexcept;

/// The contents of a file; empty if it cannot be read.
[[nodiscard]] std::string read_file(const std::string& path);

/// Prints "verify: …" and ends the process with status 2: the options or the installation are wrong, not the queues.
[[noreturn]] void usage_error(const std::string& what);

}  // namespace runq::model
