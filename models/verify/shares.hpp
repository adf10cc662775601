// SPDX-License-Identifier: MIT
// A run in shares: each machine makes every N-th search, and the results are put together afterwards.
//
// The planned searches are sorted by name; the one at position p, counted from 0, belongs to share p mod N + 1. So a
// share is the same wherever it is made, and searches of one case, which take about as long, go to different shares.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "jobs.hpp"
#include "plan.hpp"

namespace runq::model {

/// "I/N", I from 1 to N. The default is the whole.
struct share {
  unsigned index = 1;
  unsigned of = 1;
};

/// Ends the process with status 2 if `text` is not of the form I/N.
[[nodiscard]] share parse_share(const std::string& text);

/// The case, the engine and the label of a job: different for any two jobs of a run.
[[nodiscard]] std::string name_of(const job& j);
/// The names of all jobs, sorted. Ends the process with status 2 if two jobs have the same name.
[[nodiscard]] std::vector<std::string> names_of(const std::vector<job>& jobs);

/// The jobs of one share, in the order in which they stood.
[[nodiscard]] std::vector<job> jobs_of(const share& s, std::vector<job> jobs);

/// What --json adds to the results of a share, so that merge_shares() can tell what it is a share of. `done`: how many
/// of `jobs` were finished.
[[nodiscard]] nlohmann::json describe_share(const options& o, const manifest& m,
                                            const std::vector<std::string>& planned, const std::vector<job>& jobs,
                                            std::size_t done, double seconds);

/// A run that was made in shares.
struct merged_run {
  std::vector<job> jobs;  ///< with their results
  double seconds = 0;     ///< of all shares
};

/// Reads the --json files of all shares of one run. Sets in `o` what that run was asked for. Ends the process with
/// status 1 and a sentence if a share is missing, incomplete or there twice, or if the files are of different runs.
[[nodiscard]] merged_run merge_shares(options& o, const manifest& m, const nlohmann::json& cases);

}  // namespace runq::model
