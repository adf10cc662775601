// SPDX-License-Identifier: MIT
// What a search reports, whatever engine made it: the verdict, how much was explored, and the failing execution.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "engine.hpp"

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

enum class event_kind : unsigned char {
  load,
  store,
  rmw,
  cas_success,
  cas_failure,
  fence,
  cell_read,
  cell_write,
  lock,
  unlock,
  allocate,
  deallocate,
  pause,
  spawn,  ///< starts the thread with the number `value`
  join,   ///< has waited for the end of the thread with the number `value`
  choice,
  stop,  ///< stops for ever; with value 0 it does not, and that is not shown
  failure
};

inline constexpr std::uint32_t no_event = ~0U;

/// One step of the failing execution, in an order that respects what each step read.
struct event {
  event_kind kind{};
  int thread = -1;  ///< -1: construction or finish
  site where{};
  std::memory_order order{};            ///< as executed, so after any weakening
  std::uint32_t location = 0;           ///< 1, 2, … in order of first appearance; 0: none
  std::uint64_t value = 0;              ///< read, or written; for an RMW, read; for a lock, 1: taken, 0: not
  std::uint64_t written = 0;            ///< for an RMW, written
  std::uint32_t reads_from = no_event;  ///< index of the event that wrote the value read, where the engine knows it
  std::uint64_t newest = 0;             ///< for a read: the newest value of the location at that step
  bool stale = false;                   ///< a read that ignored newer values
  std::uint32_t position = 0;           ///< exact engine: events of its thread before it
  bool weakened = false;                ///< `order` is weaker than what is written in the source
  bool constructs = false;              ///< begins the life of the location; this write is not atomic
  std::uint32_t place = no_event;       ///< of an atomic write, where the engine knows it: grows along its mo
  std::uint32_t memory = 0;             ///< the number of the allocation that the location lies in; 0: none
};

/// Whether a step reads an atomic variable or a mutex, which is one for the engines. Plain memory is apart: see
/// event_kind::cell_read.
[[nodiscard]] inline bool reads(const event& e) noexcept {
  switch (e.kind) {
    case event_kind::load:
    case event_kind::rmw:
    case event_kind::cas_success:
    case event_kind::cas_failure:
    case event_kind::lock: return true;
    default: return false;
  }
}
/// Whether a step writes an atomic variable or a mutex. A lock that was not taken writes nothing.
[[nodiscard]] inline bool writes(const event& e) noexcept {
  switch (e.kind) {
    case event_kind::store:
    case event_kind::rmw:
    case event_kind::cas_success:
    case event_kind::unlock: return true;
    case event_kind::lock: return e.value == 1;
    default: return false;
  }
}

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
  std::uint64_t cut_off = 0;     ///< exact engine: continuations that exact_options::bound has forbidden
  std::uint64_t walks = 0;       ///< exact engine: random walks that came to their end
  double estimated = 0;          ///< executions that there are in all; 0: not known
  double seconds = 0;
  std::uint32_t partner = no_event;  ///< the step that the failing one is not ordered with, where the engine knows it
  std::map<std::uint32_t, std::string>
      variables;  ///< by their numbers in the trace: names, where the engine knows them
  std::map<std::uint32_t, std::uint32_t> variable_indices;  ///< by their numbers in the trace: how the program counts
  /// Of a failing execution: RC11 allows it, but C++20 has no single total order of its seq_cst operations.
  bool forbidden_by_cpp20 = false;
  bool knows_sources = false;                  ///< `trace` says what each read reads from
  bool buffers_loads = false;                  ///< a read in `trace` depends on itself: load buffering
  std::vector<int> ended;                      ///< of a deadlock: the threads that have come to their ends
  std::vector<stuck_thread> stuck;             ///< of a deadlock, where the engine knows them
  std::vector<shown_call> calls;               ///< of a history that no order explains
  std::vector<std::uint32_t> explained_calls;  ///< an order of some of them that explains their answers
  std::uint32_t unexplained_call = no_event;   ///< `explained_calls` has all but this one; no_event: more are missing
  std::vector<event> trace;                    ///< of the failing execution, or of the one that was asked for
  std::vector<std::string> outcomes;           ///< distinct texts passed to record_outcome(), sorted
};

}  // namespace runq::model
