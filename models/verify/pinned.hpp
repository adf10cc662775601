// SPDX-License-Identifier: MIT
// What is pinned in the tree, so that a change is noticed: the executions of each complete search, which cases kill
// each mutant, and the order ledger.
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

/// What a search explored.
struct explored {
  std::uint64_t executions = 0;  ///< complete ones
  std::uint64_t blocked = 0;     ///< abandoned, because a thread in them waits for ever
  friend bool operator==(const explored&, const explored&) = default;
};
/// "12", or "12 +3" with three blocked ones.
[[nodiscard]] std::string to_text(const explored& e);

/// models/cases/*/<stem>/counts.txt: lines of "<case> <search> <executions>[ +<blocked>]". Lines that begin with "##"
/// are notes, as on why a count has changed; they stay.
class pinned_counts {
 public:
  explicit pinned_counts(std::map<std::string, stem_cases> stems);
  [[nodiscard]] std::optional<explored> find(const std::string& key) const;
  void set(const std::string& key, explored count) { counts_[key] = count; }
  void forget(const std::string& key) { counts_.erase(key); }
  /// The keys "<case> <search>" of all counts that are pinned.
  [[nodiscard]] std::vector<std::string> keys() const;
  void write() const;

 private:
  std::map<std::string, stem_cases> stems_;
  std::map<std::string, explored> counts_;
  std::map<std::string, std::string> notes_;  ///< by stem
};

/// The lines `killed by:` of models/cases/*/<stem>/mutants/*.mutant, with what was seen in this run.
class pinned_killers {
 public:
  /// The cases that notice the mutant of one file, and how each fails.
  using killers = std::vector<std::pair<std::string, std::string>>;
  void set(const std::string& file, killers seen) { seen_[file] = std::move(seen); }
  /// Writes the lines `killed by:` of these files again, and leaves the rest of the files as it is.
  void write() const;

 private:
  std::map<std::string, killers> seen_;
};

/// models/cases/*/<stem>/ledger.json: the rows of one header's order ledger.
class pinned_ledger {
 public:
  pinned_ledger(std::map<std::string, stem_cases> stems, std::string docs_dir);
  [[nodiscard]] const std::map<std::string, nlohmann::json>& by_stem() const noexcept { return rows_; }
  /// The differences between the pinned rows of `stem` and `rows`, in words; empty if there are none. The evidence
  /// (which scenario, after how many graphs) may change freely; the verdicts may not.
  [[nodiscard]] std::vector<std::string> differences(const std::string& stem, const nlohmann::json& rows) const;
  void set(const std::string& stem, nlohmann::json rows) { rows_[stem] = std::move(rows); }
  void write() const;
  /// The text of docs/memory-orders.md that follows from the pinned rows.
  [[nodiscard]] std::string page() const;
  [[nodiscard]] bool page_is_current() const;

 private:
  std::map<std::string, stem_cases> stems_;
  std::string page_file_;
  std::map<std::string, nlohmann::json> rows_;
};

}  // namespace runq::model
