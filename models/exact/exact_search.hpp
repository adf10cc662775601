// SPDX-License-Identifier: MIT
// A search of the exact engine. It keeps a stack of graphs that wait to be extended (pending_work). The campaign takes
// one; the executor replays the threads against it and lets them add events; the explorer adds each event, and pushes
// copies of the graph with the other ways to go on; the judge says what is wrong with the execution.
//
//   campaign ──> executor ──> explorer ──> judge
//                   └──> driver: a scenario, or a program
//
// All of them share the execution that runs now, and what was search_parts::found_.
#pragma once

#include <memory>

#include "exact_campaign.hpp"
#include "exact_program.hpp"
#include "exact_program_operations.hpp"
#include "exact_work_source.hpp"

namespace runq::model::exact {

/// What a search consists of.
class search_parts {
 protected:
  search_parts(std::unique_ptr<driver> executed, const exact_options& options);

  const exact_options options_;
  const std::unique_ptr<driver> driver_;
  findings found_;
  execution run_;
  pending_work pending_;
  met_before met_;
  judge judge_;
  explorer explorer_;
  executor executor_;
  campaign campaign_;
};

/// The parts come first, because the operations refer to them.
class search final : private search_parts, public program_operations {
 public:
  search(const case_spec& spec, const exact_options& options);
  search(program& executed, const exact_options& options);

  [[nodiscard]] search_result run();
  [[nodiscard]] const exact_statistics& statistics() const noexcept { return search_parts::found_.statistics; }
  [[nodiscard]] exact::again undecided() const noexcept { return campaign_.undecided(); }
  /// For a program: see class campaign.
  void take_work_from(work_source* source) noexcept { campaign_.take_work_from(source); }
  void show_only(full_way to) { campaign_.show_only(std::move(to)); }
  /// The path to the running execution of a program.
  [[nodiscard]] way way_here() const { return pending_.way_here(); }
  [[nodiscard]] full_way full_way_here() const { return {campaign_.larger_at(), way_here()}; }
  /// How far the search is; the numbers only grow.
  [[nodiscard]] const search_result& so_far() const noexcept { return search_parts::found_.result; }
  /// What of its rounds another part of the search has to know: see require_no_round_left_out().
  [[nodiscard]] bool has_left_out_round() const noexcept { return search_parts::run_.has_left_out_round; }
  [[nodiscard]] bool is_used_beside_rounds() const noexcept { return search_parts::run_.is_used_beside_rounds; }
  /// How much of the search is done, by weight.
  [[nodiscard]] double weight_done() const noexcept { return pending_.weight_done(); }

 private:
  explicit search(std::unique_ptr<driver> executed, const exact_options& options);
};

}  // namespace runq::model::exact
