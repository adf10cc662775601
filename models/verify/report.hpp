// SPDX-License-Identifier: MIT
// Judges what the workers found, and prints it: the only place where verdict words are written.
#pragma once

#include <cstddef>
#include <map>
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
  report(const options& o, const manifest& m, pinned_facts& pinned, pinned_ledger& ledger);

  /// Judges one finished job and prints its line, or its counterexample.
  void operator()(job& j);
  /// Judges what only the whole run can show, and prints the last line.
  void finish(std::size_t done, std::size_t planned, double seconds);
  /// Judges the one search of --execution or --weaken, and prints the execution that it shows.
  void show(job& j);
  /// What --json writes: every judged search with its verdict, and the other failures.
  [[nodiscard]] nlohmann::json to_json(const std::vector<job>& jobs) const;
  /// Whether anything failed.
  [[nodiscard]] bool red() const noexcept { return failures_ != 0; }

 private:
  void judge_search(job& j);
  void judge_genmc(job& j);
  void judge_must_fail(job& j);
  // Whether a source mutant is killed by the cases that are pinned and by no others, each in the pinned way; prints the
  // differences.
  [[nodiscard]] bool dies_as_pinned(job& j);
  // Counts the searches of cases that are not pinned for the mutant, and keeps what was seen for --pin.
  void count_killers(const job& j);
  void judge_litmus(job& j);
  void judge_progress(job& j);
  void judge_ledger(job& j);
  void judge_proof(job& j);
  enum class pinning : unsigned char {
    as_pinned,
    is_new,   ///< nothing is pinned of this case, which was asked for by name
    differs,  ///< a failure, which has been judged already
  };
  [[nodiscard]] pinning compare_with_pinned(job& j);
  // Fails for every atomic operation of the shipped sources that has no name.
  void judge_names();
  // Fails for every model that neither has a mutant of its own nor says what it is kept for, and for every one that
  // does both. Counts both kinds.
  void judge_who_kills();
  struct mutants_by_case {
    std::set<std::string> some;                ///< the cases that notice a mutant
    std::map<std::string, std::string> alone;  ///< by case: a mutant that no other case kills
  };
  [[nodiscard]] mutants_by_case mutants_of_cases() const;
  // The cases whose failures show in the ledger that an order is needed.
  [[nodiscard]] std::set<std::string> cases_of_ledger() const;
  // Fails for every pinned case that was asked for and of which no search was made, and for every pinned mutant of
  // which the tables know nothing.
  void judge_pinned_that_did_not_run();

  // The one place where a search gets its verdict; the printed text, --json and --html all show this one.
  static void settle(job& j, job_outcome outcome, const std::string& verdict);
  void passed(job& j, const std::string& verdict);
  void failed(job& j, const std::string& verdict);
  // A failure of the whole run and not of a search: a hole in the ledger, a page that is out of date.
  void problem(const std::string& name, const std::string& what);

  void heading(const std::string& title, const std::string& text);
  void line(const std::string& name, const std::string& verdict, const std::string& rest);
  void print_failure(const std::string& name, const std::string& what);

  const options& options_;
  const manifest& manifest_;
  pinned_facts& pinned_;
  pinned_ledger& ledger_;
  const bool genmc_absent_;
  std::set<std::string> exact_failed_;            ///< cases
  std::map<std::string, nlohmann::json> models_;  ///< cases that must pass, and what the worker says of them
  unsigned unnoticed_ = 0;         ///< complete searches of cases that are not pinned for a mutant: they find nothing
  unsigned undecided_ = 0;         ///< of these searches, those that were cut off before they found anything
  std::set<std::string> counted_;  ///< cases of which a search was made whose count is pinned
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
  nlohmann::json problems_ = nlohmann::json::array();
};

/// Prints the steps of one execution.
void print_counterexample(const nlohmann::json& result);

}  // namespace runq::model
