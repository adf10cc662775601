// SPDX-License-Identifier: MIT
// How a run ends that fails: what is known goes to the process that has started it. A failing run is made again to be
// told: then its steps are noted, and shown as those of the exact checker are.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "pairs.hpp"
#include "runtime.hpp"
#include "shadow.hpp"
#include "steps.hpp"

namespace runq::model::explore {

struct thread;

/// Memory that a run has needed, and that others like it will need: it is made ready before they ask for it one page
/// after the other.
struct working_set {
  static constexpr std::size_t most = 64;
  struct range {
    std::uintptr_t begin;
    std::size_t bytes;
  };

  std::uint32_t threads;
  std::uint32_t region_count;
  std::uintptr_t regions[most];  ///< that have a shadow
  std::uint32_t range_count;
  range ranges[most];  ///< of the shadow
};

/// What a run leaves, in memory that it shares with the process that has started it.
struct run_report {
  static constexpr std::size_t room = std::size_t{1} << 20;

  bool has_ended;  ///< by a failure, which the next ones say; otherwise the process's exit status says how
  bool is_refused;
  bool has_rung;  ///< the program's own alarm()
  bool is_long;   ///< it goes on with a fair schedule, and variables change
  failure what;
  std::uintptr_t address;  ///< of the memory that a data race is about
  std::uint64_t place;     ///< code: two runs that fail there fail in the same way
  run_counts done;
  seen_pairs pairs;  ///< if they are noted
  working_set used;
  char text[room];
  char json[room];
  bool is_tiny;  ///< `tiny` is a program for the exact checker; otherwise it says why there is none
  char tiny[room];
};
extern run_report* report;

/// A failure ends the run. A message that has to be made is made in a runtime_scope, because the program's allocations
/// are steps.
[[noreturn]] void fail(failure what, std::string_view message, const void* code);

/// An access and an earlier one, of which neither happens before the other, or the earlier one frees the memory.
struct conflict {
  std::uintptr_t address = 0;
  past_access before{};
  std::uint32_t before_place = 0;
  past_access mine{};
};
[[noreturn]] void report_conflict(const conflict& c, const void* code);
[[noreturn]] void report_deadlock(std::span<thread* const> blocked, std::string_view why);
/// By a schedule that is fair since that step; and why, since which one.
[[noreturn]] void report_no_end(std::uint64_t fair_since, std::string_view why, std::uint64_t since);

/// What the system cannot give, or a limit: no verdict.
[[noreturn]] void give_up(const std::string& why);

/// Says how a debugger is attached, and stops the process until it is told to go on.
void stop_for_debugger();
/// Where what people are told is written: the standard error of the process that explores.
extern int standard_error;
/// Whether the process stops where the run fails.
extern bool stops_at_failure;

/// What this process writes as `text` and `json`.
void write_report(const std::string& text, const std::string& json);

/// Signals of the processor, abort() and the like become failures.
void take_crashes();

// --- the steps of a run that is told -------------------------------------------------------------------------------

extern bool telling;
inline constexpr std::uint64_t no_step = ~std::uint64_t{0};

struct shown_step {
  event_kind kind{};
  std::uintptr_t address = 0;
  std::memory_order order{};
  const void* code = nullptr;
  std::uint64_t value = 0;
  std::uint64_t written = 0;
  std::uint64_t reads_from = no_step;
  std::uint64_t newest = 0;
  bool stale = false;
};
void note_step(const shown_step& s);
/// What the running thread knows after the last one, and what the store of the last one hands on, or nullptr.
void know_last_step(message* released);
/// The number of the last one.
[[nodiscard]] std::uint64_t last_step() noexcept;
void note_plain_access(std::uintptr_t address, std::uint8_t flags, const void* code);
inline void note_call(event_kind kind, const void* object, std::uint64_t value, const void* code) {
  if (!telling) return;
  shown_step s;
  s.kind = kind;
  s.address = reinterpret_cast<std::uintptr_t>(object);
  s.value = value;
  s.code = code;
  note_step(s);
}

}  // namespace runq::model::explore
