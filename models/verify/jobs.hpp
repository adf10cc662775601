// SPDX-License-Identifier: MIT
// Jobs: one search each, in a separate worker process, several at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "request.hpp"

namespace runq::model {

/// What makes the search of a job.
enum class engine_name : unsigned char { exact, relacy, genmc, all, proof };
NLOHMANN_JSON_SERIALIZE_ENUM(engine_name, {{engine_name::exact, "exact"},
                                           {engine_name::relacy, "relacy"},
                                           {engine_name::genmc, "genmc"},
                                           {engine_name::all, "all"},
                                           {engine_name::proof, "proof"}})
[[nodiscard]] inline std::string to_text(engine_name engine) { return nlohmann::json(engine); }

/// How a job has ended, in the words of --json.
enum class job_outcome : unsigned char {
  none,  ///< it was interrupted
  passed,
  killed,
  as_expected,
  remark,  ///< not counted
  failed,
};
NLOHMANN_JSON_SERIALIZE_ENUM(job_outcome, {{job_outcome::none, ""},
                                           {job_outcome::passed, "passed"},
                                           {job_outcome::killed, "killed"},
                                           {job_outcome::as_expected, "as expected"},
                                           {job_outcome::remark, "remark"},
                                           {job_outcome::failed, "failed"}})

struct job {
  enum class expectation : unsigned char { pass, fail, caught, litmus, progress, ledger, proof };

  std::string case_name;
  std::string label;  ///< "bounded 3", "publish_relaxed", …
  engine_name engine = engine_name::exact;
  expectation expect = expectation::pass;
  std::string worker;                  ///< the program
  std::optional<request> asked{};      ///< what the worker of the models is asked for;
  std::vector<std::string> arguments;  ///< of another program
  bool is_pinned = false;              ///< the number of executions
  std::string replay;                  ///< options that make the same search again
  std::string changed;                 ///< a mutant's change, in a few words
  nlohmann::json about;                ///< what the worker says of the case
  std::string broken;                  ///< why this job cannot even start
  double effort = 0;                   ///< an estimate in seconds, if there is one: effort.hpp

  nlohmann::json result;                    ///< filled by the run: what the worker printed last, or {"error": …}
  job_outcome outcome = job_outcome::none;  ///< filled by the report
  std::string verdict;                      ///< filled by the report, in its words: "PASS exhaustive", "FAIL …"
  std::string progress;                     ///< the latest progress line of the running search
};

// A mutant and a seeded bug must fail; people are told that one is killed and the other is caught.
NLOHMANN_JSON_SERIALIZE_ENUM(job::expectation, {{job::expectation::pass, "pass"},
                                                {job::expectation::fail, "fail"},
                                                {job::expectation::caught, "fail"},
                                                {job::expectation::litmus, "litmus"},
                                                {job::expectation::progress, "progress"},
                                                {job::expectation::ledger, "ledger"},
                                                {job::expectation::proof, "proof"}})

/// The search that the job asks a worker for, if it is one of this kind.
[[nodiscard]] search_request* search_of(job& j, search_kind kind);

/// Runs the jobs, `width` at a time. Jobs with the greatest effort start first, so that no long one is left alone at
/// the end. Hands each to `report` in the order of `jobs`, as soon as it and all before it are done. Returns how many
/// were reported: fewer than all after Ctrl-C.
std::size_t run_all(std::span<job> jobs, unsigned width, const std::function<void(job&)>& report);

/// Runs the worker with that request to its end, and returns what it printed.
[[nodiscard]] std::string output_of(const std::string& worker, const request& asked);

/// From now on Ctrl-C ends run_all() early instead of the process.
void catch_interrupt();
[[nodiscard]] bool was_interrupted() noexcept;

/// The contents of a file; empty if it cannot be read.
[[nodiscard]] std::string read_file(const std::string& path);

/// Prints "verify: …" and ends the process with status 2: the options or the installation are wrong, not the queues.
[[noreturn]] void usage_error(const std::string& what);

}  // namespace runq::model
