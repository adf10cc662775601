// SPDX-License-Identifier: MIT
// The exact engine: visits every execution graph of a scenario that the memory model allows, each exactly once.
#pragma once

#include <cstdint>

#include "scenario.hpp"
#include "verdict.hpp"

namespace runq::model {

struct exact_options {
  /// Explores also executions in which one relaxed read takes its value from a write that comes later in its own
  /// program order: C++20 and hardware allow them, RC11 does not.
  bool load_buffering = false;
  /// At most so many weak compare-exchanges of an execution's threads (not of the construction, nor of finish()) fail
  /// although the value was the expected one. The search is complete up to this number: graphs with fewer failures are
  /// never reached only through graphs with more.
  unsigned spurious_failures = 0;
  /// Without that: at most so many of each thread.
  unsigned spurious_of_thread = 0;
  /// A self-test of the engine: counts graphs that were visited before. Costs 8 bytes and more per graph.
  bool check_duplicates = false;
  /// A `retry_loop` (waiting.hpp) that comes around a second time blocks, as in GenMC, instead of iterating.
  bool retries_block = false;
  /// A thread that waits in an await of one load or compare-exchange, or for a lock, tries again in the same execution
  /// when something new is written, instead of blocking it: the executions that complete, and the failures, are the
  /// same, those that block are fewer. Not with load_buffering, a bound, or freeze_thread: there it changes nothing.
  bool waits_in_place = false;
  /// A program (not a scenario) that comes, after a failed round of a loop, where it would be had it read the newer
  /// values at once, blocks there: the execution without the round shows what follows. The outcomes and the failures
  /// are the same. Not with load_buffering, a bound, or freeze_thread.
  bool skips_retries = false;
  /// With skips_retries: also a round that adds to variables and takes it back, where no other thread can tell that
  /// there was one. A search that meets a thread which might begins again without this. One process only.
  bool skips_undone_rounds = false;
  /// A program in which loops wait: a thread may make one such round in vain before it waits, so that others may race
  /// with what it has accessed there. A failed round is explored if it accesses what the next one does not. Without
  /// this, a search that may miss such a race only says so to the program.
  bool keeps_rounds = false;
  /// Begins again with keeps_rounds if the program says that a race may be missed (program::may_miss_race()). Not with
  /// load_buffering or a bound.
  bool keeps_rounds_if_late = false;
  /// Explores also each order in which the threads of one round come to a barrier, as if they changed a counter.
  /// Without this, a search in which it is not clear which arrivals are a round begins again with it. Always so with
  /// load_buffering, all_failures, or freeze_thread.
  bool orders_barriers = false;
  /// Of executions of a program that differ only in which of several threads that begin alike does what, one is
  /// explored (exact_symmetry.hpp). Not with load_buffering, a bound, all_failures, or freeze_thread.
  bool up_to_symmetry = false;
  /// Explores only executions with at most so many deviations from the first one. A deviation is any choice but the
  /// first at an event: a read takes another write than the newest, a write is placed elsewhere than last, or an
  /// earlier read is made to read the new write, unless the thread of that read waits for it. The search is complete up
  /// to this number: coverage::bounded. Not with load_buffering, because there several paths lead to one graph.
  static constexpr unsigned no_bound = ~0U;
  unsigned bound = no_bound;
  /// Makes so many random walks instead of a search: coverage::sampled. 0 means a search. One process makes all walks.
  std::uint64_t walks = 0;
  std::uint64_t seed = 1;  ///< of the walks: the same seed gives the same walks
  /// Called now and then, at most every `progress_seconds`.
  void (*progress)(const search_progress&) = nullptr;
  double progress_seconds = 1;
  /// Processes that search together (exact_team.hpp), at most 64. The result is the same with any number.
  unsigned jobs = 1;
  /// Limits. Reaching one ends the search with coverage::cut_short and a message that names it.
  std::uint64_t max_executions = 1'000'000'000;
  unsigned max_events_per_thread = 2'000;
  double time_limit_seconds = 0;  ///< 0: none
  /// Stops at this complete execution, counted from 1, and returns its trace even if it passes. 0: does not stop.
  std::uint64_t show_execution = 0;
  /// Goes on after a failure: only the thread that fails stops, and the driver is told (driver::note_failure()). Of an
  /// execution that is shown, the failure with that number, from 0 on, is reported.
  bool all_failures = false;
  unsigned shown_failure = 0;
  /// Is called with every complete execution, with its trace in the result, in the order in which one process visits
  /// them.
  void (*show_each)(const search_result&) = nullptr;
  /// This thread stops for ever after `freeze_after` operations; -1: no thread. Then finish() is not run.
  int freeze_thread = -1;
  unsigned freeze_after = 0;
};

struct exact_statistics {
  std::uint64_t duplicates = 0;  ///< with check_duplicates
  bool froze = false;            ///< with freeze_thread: whether the thread ever got that far
};

/// Must not be called while another engine runs in this process. `statistics` may be nullptr.
[[nodiscard]] search_result run_exact(const case_spec& spec, const exact_options& options,
                                      exact_statistics* statistics = nullptr);

}  // namespace runq::model
