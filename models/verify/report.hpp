// SPDX-License-Identifier: MIT
// Judges what the workers found, and says it: the only place where verdict words are written.
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "jobs.hpp"
#include "pinned.hpp"
#include "plan.hpp"

namespace runq::model {

class report {
 public:
  report(const options& o, const manifest& m, pinned_counts& counts, pinned_ledger& ledger);

  /// Judges one finished job and prints its line, or its counterexample.
  void operator()(job& j);
  /// Judges what only the whole can show, and prints the last line.
  void finish(std::size_t done, std::size_t planned, double seconds);
  /// Whether anything failed.
  [[nodiscard]] bool red() const noexcept { return failures_ != 0; }

 private:
  void judge_search(job& j);
  void judge_genmc(job& j);
  void judge_must_fail(job& j);
  void judge_litmus(job& j);
  void judge_progress(job& j);
  void judge_ledger(job& j);
  [[nodiscard]] bool count_is_pinned(const job& j);

  void heading(const std::string& title, const std::string& text);
  void line(const std::string& name, const std::string& verdict, const std::string& rest);
  void failed(const std::string& name, const std::string& what);

  const options& options_;
  pinned_counts& counts_;
  pinned_ledger& ledger_;
  const bool genmc_absent_;
  std::set<std::string> exact_failed_;  ///< cases
  std::string last_heading_;
  std::string last_name_;
  unsigned passed_ = 0;
  unsigned killed_ = 0;
  unsigned mutants_ = 0;
  unsigned caught_ = 0;
  unsigned bugs_ = 0;
  unsigned corpus_caught_ = 0;
  unsigned corpus_ = 0;
  const unsigned waiting_;
  unsigned calibrated_ = 0;
  unsigned litmus_ = 0;
  unsigned orders_killed_ = 0;
  unsigned orders_killed_load_buffering_ = 0;
  unsigned orders_redundant_ = 0;
  unsigned holes_ = 0;
  unsigned failures_ = 0;
};

/// Prints the steps of one execution.
void print_counterexample(const nlohmann::json& result);

/// What --json writes.
[[nodiscard]] nlohmann::json to_json(const options& o, const std::vector<job>& jobs, const pinned_ledger& ledger);

}  // namespace runq::model
