// SPDX-License-Identifier: MIT
// What is pinned in the tree, so that a change is noticed: the executions of each case's complete search, which cases
// kill each mutant, and the order ledger.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "plan.hpp"

namespace runq::model {

/// Of a case or a mutant: "ring" of "ring/push_vs_steal".
[[nodiscard]] std::string stem_of(const std::string& name);

/// What a complete search explored.
struct explored {
  std::uint64_t executions = 0;  ///< complete ones
  std::uint64_t blocked = 0;     ///< abandoned, because a thread in them waits for ever
  friend bool operator==(const explored&, const explored&) = default;
};
/// "12", or "12 +3" with three blocked ones.
[[nodiscard]] std::string to_text(const explored& e);

/// What was seen of the cases, in models/cases/pinned.txt: a line "<case> <executions>[ +<blocked>]" for each. Before
/// the first line of a stem, lines that begin with "##" are notes, as on why a count has changed; they stay. And who
/// kills the mutants, in their tables (<stem>/<stem>.mutants): a line "killed by: <case> (<how it fails>)" for each
/// case that notices one.
class pinned_facts {
 public:
  /// The cases that notice a mutant, in the order of the file, and how each fails.
  using killers = std::vector<std::pair<std::string, std::string>>;

  pinned_facts(std::map<std::string, stem_cases> stems, const std::string& models_dir);
  /// Of the case "ring/push_vs_steal".
  [[nodiscard]] std::optional<explored> count_of(const std::string& name) const;
  void set_count(const std::string& name, explored count) { counts_[name] = count; }
  void forget_count(const std::string& name) { counts_.erase(name); }
  [[nodiscard]] std::vector<std::string> counted_cases() const;
  /// Of the mutant "ring/takes_all"; empty if none are pinned.
  [[nodiscard]] killers killers_of(const std::string& mutant) const;
  void set_killers(const std::string& mutant, killers seen) { killers_[mutant] = std::move(seen); }
  void write() const;

 private:
  void read_counts();
  [[nodiscard]] std::string counts_text() const;

  std::map<std::string, stem_cases> stems_;
  std::string file_;
  std::map<std::string, explored> counts_;
  std::map<std::string, killers> killers_;
  std::map<std::string, std::string> notes_;  ///< by stem
};

/// models/cases/ledger.json: by stem, the rows of its header's order ledger; a stem without rows is left out.
class pinned_ledger {
 public:
  pinned_ledger(std::map<std::string, stem_cases> stems, const std::string& models_dir,
                const std::string& evidence_dir);
  [[nodiscard]] const std::map<std::string, nlohmann::json>& by_stem() const noexcept { return rows_; }
  /// The differences between the pinned rows of `stem` and `rows`, in words; empty if there are none. The evidence
  /// (which scenario, after how many graphs) may change freely; the verdicts may not.
  [[nodiscard]] std::vector<std::string> differences(const std::string& stem, const nlohmann::json& rows) const;
  void set(const std::string& stem, nlohmann::json rows) { rows_[stem] = std::move(rows); }
  void write() const;
  /// The text of evidence/memory-orders.md that follows from the pinned rows.
  [[nodiscard]] std::string page() const;
  [[nodiscard]] bool page_is_current() const;

 private:
  std::map<std::string, stem_cases> stems_;
  std::string file_;
  std::string page_file_;
  std::map<std::string, nlohmann::json> rows_;
};

}  // namespace runq::model
