// SPDX-License-Identifier: MIT
// What a search reports, whatever engine made it: the verdict, how much was explored, and the failing execution.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "engine.hpp"
#include "steps.hpp"

namespace runq::model {

/// How much a search saw. The words that are printed for it are decided in one place, the runner.
enum class coverage : unsigned char {
  exhaustive,  ///< exact engine: every consistent execution graph of the program
  full,        ///< Relacy's full search ran to completion, within Relacy's memory model (docs/limits.md)
  bounded,     ///< exact engine: every execution with at most so many deviations (exact_options::bound); Relacy: its
               ///< context-bound search ran to completion
  sampled,     ///< a number of random executions
  cut_short,   ///< a limit was reached before the end; `message` names it
};

/// Where a search stands.
struct search_progress {
  std::uint64_t executions = 0;
  double estimated = 0;  ///< executions that there are in all; 0: not known
  double seconds = 0;
};

/// A thread that will never go on.
struct stuck_thread {
  int thread = -1;
  int joins = -1;                  ///< the thread whose end it waits for; -1: it waits for something else
  bool stopped = false;            ///< it waits for nothing: to stop there was a choice of the search
  std::uint32_t since = no_event;  ///< events of the thread before those that it waits to read other values in
  bool at_barrier = false;         ///< it waits until others have arrived at a barrier or a latch
  std::uint32_t barrier = 0;       ///< at_barrier: the location in the trace
  std::uint32_t round = 0;         ///< at_barrier: which round of it, counted from 0
};

/// A call of a history that no order explains. Calls are numbered in the order in which they began in the trace.
struct shown_call {
  int thread = -1;                 ///< -1: construction or finish
  std::string text;                ///< with its answer
  std::uint32_t first = no_event;  ///< its first and last step in the trace; no_event: it shows none
  std::uint32_t last = no_event;
  std::uint32_t began = 0;  ///< in units of its own, which grow along the trace
  std::uint32_t ended = 0;
  std::vector<std::uint32_t> after{};  ///< the calls that happened before it
};

struct search_result {
  coverage how = coverage::cut_short;
  failure what = failure::none;
  std::string message;           ///< the check's text, or the limit that was reached
  site where{};                  ///< of the failing operation
  std::uint64_t executions = 0;  ///< complete executions explored; on failure, the number of the failing one
  std::uint64_t blocked = 0;     ///< executions abandoned as blocked (exact engine: not counted in `executions`)
  std::uint64_t spurious = 0;    ///< of `executions`, those in which a weak compare-exchange failed spuriously
  /// With exact_options::up_to_symmetry: how many executions they stand for, as far as the search has come.
  double arranged = 0;
  bool up_to_symmetry = false;  ///< exact_options::up_to_symmetry applied to the end
  bool told_apart = false;      ///< it did not, because the program tells threads apart
  std::string told_apart_by;    ///< how, if this process has met that
  std::uint64_t cut_off = 0;    ///< exact engine: continuations that exact_options::bound has forbidden
  std::uint64_t walks = 0;      ///< exact engine: random walks that came to their end
  double estimated = 0;         ///< executions that there are in all; 0: not known
  double standard_error = 0;    ///< of the walks' estimate; 0 after one walk
  double seconds = 0;
  bool began_again = false;  ///< exact engine: waits in place met what they cannot judge, and so all waits have blocked
  std::uint32_t partner = no_event;  ///< the step that the failing one is not ordered with, where the engine knows it
  std::map<std::uint32_t, std::string>
      variables;  ///< by their numbers in the trace: names, where the engine knows them
  std::map<std::uint32_t, std::uint32_t> variable_indices;  ///< by their numbers in the trace: how the program counts
  /// Of a failing execution: RC11 allows it, but C++20 has no single total order of its seq_cst operations.
  bool forbidden_by_cpp20 = false;
  bool knows_sources = false;                  ///< `trace` says what each read reads from
  bool buffers_loads = false;                  ///< a read in `trace` depends on itself: load buffering
  bool keeps_rounds = false;                   ///< exact_options::keeps_rounds, or a race might be missed without
  bool explores_undone_rounds = false;         ///< not exact_options::skips_undone_rounds, or it was not sure
  bool orders_barriers = false;                ///< exact_options::orders_barriers, or it was not clear what a round is
  std::vector<int> ended;                      ///< of a deadlock: the threads that have come to their ends
  std::vector<stuck_thread> stuck;             ///< of a deadlock, where the engine knows them
  std::vector<shown_call> calls;               ///< of a history that no order explains
  std::vector<std::uint32_t> explained_calls;  ///< an order of some of them that explains their answers
  std::uint32_t unexplained_call = no_event;   ///< `explained_calls` has all but this one; no_event: more are missing
  std::vector<event> trace;                    ///< of the failing execution, or of the one that was asked for
  std::vector<std::string> outcomes;           ///< distinct texts passed to record_outcome(), sorted
};

}  // namespace runq::model
