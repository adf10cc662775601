// SPDX-License-Identifier: MIT
// The campaign decides which executions are made, in which order, by whom, and when it is enough: all of them, those
// within a bound, random walks, parts of a search that several share, or the search of a team of processes.
#pragma once

#include <cstdint>
#include <optional>

#include "exact.hpp"
#include "exact_execution.hpp"
#include "exact_executor.hpp"
#include "exact_findings.hpp"
#include "exact_judge.hpp"
#include "exact_met_before.hpp"
#include "exact_pending.hpp"
#include "exact_work_source.hpp"

namespace runq::model::exact {

class random_numbers;
class team;

/// After a search by several processes: whether one process has to search again, to report the failure that was found.
enum class again : std::uint8_t { no, as_before, without_time_limit };

class campaign {
 public:
  campaign(execution& run, driver& executed, pending_work& pending, executor& executor, judge& judge, met_before& met,
           findings& found, const exact_options& options) noexcept
      : run_(run),
        driver_(executed),
        pending_(pending),
        executor_(executor),
        judge_(judge),
        met_(met),
        found_(found),
        options_(options) {}

  void run();
  /// Before run(): explore only the parts of the search that come from there. May be nullptr.
  void take_work_from(work_source* source) noexcept {
    source_ = source;
    if (source != nullptr) run_.skips_undone_rounds = run_.judges_undone_rounds = false;
  }
  /// Before run(): explore only the execution at the end of that path, and describe it even if it passes.
  void show_only(full_way to) {
    shown_ = std::move(to);
    run_.judges_undone_rounds = false;
  }
  [[nodiscard]] again undecided() const noexcept { return undecided_; }
  /// See full_way.
  [[nodiscard]] const std::vector<way>& larger_at() const noexcept { return larger_at_; }

 private:
  [[nodiscard]] coverage what_is_sought() const noexcept;
  void explore_as_asked();
  [[nodiscard]] bool begins_again();
  [[nodiscard]] bool may_miss_race() const;
  void begin_again_without(technique t);
  [[nodiscard]] bool has_passed_by() const noexcept;
  [[nodiscard]] bool takes_larger_variable();
  [[nodiscard]] bool finds_larger_variable(const way& at);
  void forget_all();
  void begin_at_root();
  /// Until nothing is pending; alone, at most until `graphs` have been visited.
  void explore(std::uint64_t graphs = ~std::uint64_t{0});
  /// Executes the graph that was pushed last. Returns the weight of what ends with that.
  double explore_next();
  void follow_shortcut();
  [[nodiscard]] std::uint64_t visited() const noexcept { return found_.result.executions + found_.result.blocked; }
  void check_limits();
  [[nodiscard]] double seconds() const;
  void report_progress(double seconds);

  [[nodiscard]] bool follow(const way& to);
  void explore_parts();
  [[nodiscard]] bool begins_again_as_told();
  [[nodiscard]] bool explore_part(const way& to);
  void explore_shown();
  void walk_at_random();
  [[nodiscard]] double walk(random_numbers& random);

  // exact_team_search.cpp
  void explore_together();
  void work_as_other();
  void work(bool has_work);
  void confer();
  void add_up(team& t);

  execution& run_;
  driver& driver_;
  pending_work& pending_;
  executor& executor_;
  judge& judge_;
  met_before& met_;
  findings& found_;
  const exact_options& options_;
  work_source* source_ = nullptr;
  std::optional<full_way> shown_;
  std::vector<way> larger_at_;
  team* team_ = nullptr;  ///< while there are several processes
  again undecided_ = again::no;
  std::uint64_t events_unclocked_ = 0;  ///< executed since the clock was last read
  double next_progress_ = 0;            ///< in seconds since the start
  bool tells_progress_ = true;
  bool is_first_ = true;  ///< no execution of any search has come to its end yet
};

}  // namespace runq::model::exact
