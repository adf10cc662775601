// SPDX-License-Identifier: MIT
// The judge says what is wrong with an execution: with an access, with threads that wait for ever, with memory that
// leaks. It counts executions, and describes the one that fails.
#pragma once

#include <string>
#include <vector>

#include "exact.hpp"
#include "exact_driver.hpp"
#include "exact_execution.hpp"
#include "exact_findings.hpp"
#include "exact_met_before.hpp"

namespace runq::model::exact {

class judge {
 public:
  judge(execution& run, driver& executed, met_before& met, findings& found, const exact_options& options) noexcept
      : run_(run), driver_(executed), met_(met), found_(found), options_(options) {}

  void begin_execution() noexcept;

  // What must hold of an access, the last event of the running thread.
  /// The variable's construction happens-before the access, and its memory has not been freed.
  void require_live(event_id e);
  /// No conflicting access to the plain variable is concurrent.
  void require_no_race(event_id e);
  /// `source`, from which it reads, has a value.
  void require_initialised(event_id read, event_id source);
  /// Memory is freed once, by a thread that knows of it, and not while it is used.
  void require_last_use(event_id release);

  /// Once no thread can go on.
  void judge_execution();
  /// After a replay with a delayed read. If every thread has followed the graph to its end, the execution exists, and a
  /// failure in it counts. Returns false if it does not exist, or has failed.
  [[nodiscard]] bool doubt_resolved();

  /// The event that the failure to be reported next is not ordered with.
  void set_partner(event_id e) noexcept { partner_ = e; }
  /// Ends the search with a failure of this execution, or notes it (exact_options::all_failures).
  void report(failure what, std::string message, site where);
  /// Ends the search with a failure of the running thread, which does not go on.
  [[noreturn]] void report_here(failure what, std::string message, site where);
  /// The running thread waits, and it is not one of the threads proper, which others could wake.
  [[noreturn]] void report_stuck_alone(site where);
  /// The next complete execution is described even if it passes, and ends the search.
  void show_next() noexcept { shows_this_ = true; }

 private:
  void judge_waiting_threads();
  void judge_beside_stopped_thread();
  [[nodiscard]] bool saw_newest_values(unsigned thread) const;
  [[nodiscard]] bool only_waiting_rounds_after(event_id write) const;
  [[nodiscard]] bool is_new_graph();
  void complete_execution();
  [[nodiscard]] bool is_only_noted() const noexcept {
    return options_.all_failures && !(shows_this_ && failures_here_ == options_.shown_failure);
  }
  void note_failure(failure what, const std::string& message, site where);

  // exact_trace.cpp
  /// Fills in the steps of this execution, and what they are about.
  void describe_execution();
  [[nodiscard]] std::vector<event_id> interleaving() const;

  execution& run_;
  driver& driver_;
  met_before& met_;
  findings& found_;
  const exact_options& options_;
  event_id partner_ = nobody;
  failure doubtful_ = failure::none;  ///< a failure in a replay that may still turn out to be impossible
  std::string doubtful_message_;
  bool shows_this_ = false;
  unsigned failures_here_ = 0;  ///< of this execution, noted
};

}  // namespace runq::model::exact
