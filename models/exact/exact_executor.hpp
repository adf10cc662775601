// SPDX-License-Identifier: MIT
// The executor makes one execution: it replays the threads against the graph, and then lets them add events at its end,
// the thread with the lowest number first, as far as it goes.
#pragma once

#include "exact.hpp"
#include "exact_driver.hpp"
#include "exact_execution.hpp"
#include "exact_explorer.hpp"
#include "exact_findings.hpp"
#include "exact_judge.hpp"

namespace runq::model::exact {

class executor {
 public:
  executor(execution& run, driver& executed, explorer& explorer, judge& judge, findings& found,
           const exact_options& options) noexcept
      : run_(run), driver_(executed), explorer_(explorer), judge_(judge), found_(found), options_(options) {}

  /// Executes the running graph to its end, and has the end judged.
  void execute();
  /// Executes the running graph, which has all that happens before the shortcut, and then the shortcut. Returns the
  /// state that its thread has noted there.
  [[nodiscard]] shortcuts::state follow(const shortcut& s);

  // For the running thread:
  /// Performs the operation; returns its (first) event.
  event_id perform(const operation& wanted, site where);
  /// Lets the thread begin whose start the running one has just performed.
  void start(unsigned thread);
  /// The running thread comes to its end here, as one that others may join.
  [[noreturn]] void finish_thread();
  /// The condition that the running thread awaits does not hold. Returns true if the thread is to ask again: because
  /// what it has read was taken back, and once there is something new to read. Returns false if it has to stop.
  [[nodiscard]] bool wait_in_place();
  /// Another execution shows all that this one would: it ends here, and does not count.
  [[noreturn]] void leave_out();
  /// See program_operations.
  [[nodiscard]] bool is_between_joins() const noexcept;
  [[noreturn]] void give_up_symmetry(std::string why);
  [[noreturn]] void give_up_rounds(const std::string& why);

 private:
  [[nodiscard]] bool run_to_its_end();
  bool replay_threads();
  [[nodiscard]] bool extend_threads();
  /// No thread goes on in this execution.
  [[nodiscard]] bool is_over() const noexcept { return found_.over || run_.wanted_shortcut.thread != constructing; }
  [[nodiscard]] bool can_extend(unsigned thread) const noexcept;
  void resume(unsigned thread);
  static void thread_entry(void* self);

  void require_joins_together(const operation& wanted);
  void note_join(unsigned joined);
  void note_new(event_id e);
  [[nodiscard]] bool lets_others_begin(unsigned thread) const noexcept;

  void stop_or_go_on(site where);
  [[nodiscard]] bool replay(const operation& wanted, site where);
  void adapt_to(const operation& wanted, site where);
  [[noreturn]] void end_at_limit_of_events();
  [[noreturn]] void end_at_limit_of_sequential();
  [[nodiscard]] bool is_out_of_time();
  [[noreturn]] void end_at_limit_of_time();
  void await_arrivals(const step::depart& how);
  void await(event_id before);
  void extend(const operation& wanted, site where);
  event_id append(const operation& wanted, site where);
  void explore_read(event_id read, site where);
  void extend_shortcut(const operation& wanted, site where);
  void read_as(event_id read, const node& kept);
  void wait_for_untried(const operation& wanted);
  void end_waits();
  void add_join(const operation& wanted, site where);
  void add_arrival(const operation& wanted, site where);
  void add_departure(const operation& wanted, site where);

  execution& run_;
  driver& driver_;
  explorer& explorer_;
  judge& judge_;
  findings& found_;
  const exact_options& options_;
  unsigned extended_ = 0;     ///< how many events it has added, modulo 2 to the power of 32
  bool futile_ = false;       ///< no graph that counts follows from this one
  bool last_rounds_ = false;  ///< of threads that wait in place, and will not go on
  bool impossible_ = false;   ///< load buffering, or a race: replayed, a thread does something else than the graph says
};

}  // namespace runq::model::exact
