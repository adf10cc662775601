// SPDX-License-Identifier: MIT
// Which thread runs, and what time it is. Threads change only at steps: atomic operations, fences, and calls that lock,
// wait, wake, start threads, or ask for the time.
#pragma once

#include <cstdint>

#include "runtime.hpp"
#include "threads.hpp"

namespace runq::model::explore {

/// Before main(): the strategy, and how long a run is expected to be.
void begin_schedule(const run_counts& expected);

extern std::uint32_t steps_until_decision;
void count_steps();
/// So many steps the running thread has made, and those that had its number before.
[[nodiscard]] std::uint64_t own_steps() noexcept;
/// `next`: what the running thread is about to do.
void decide(const pending_event& next);

/// The number of the step that the running thread makes.
[[nodiscard]] std::uint64_t step_now() noexcept;
/// The step from which on the next seed decides, which take_next_seed() takes; 0: none does.
extern std::uint64_t step_of_next_seed;
void take_next_seed() noexcept;

/// The step at which the process stops, so that a debugger can be attached; 0: never.
extern std::uint64_t step_to_stop_at;

/// The running thread is about to do something that others can notice: another one may run first.
inline void step(const pending_event& next = {}) {
  if (--steps_until_decision == 0) decide(next);
}
/// The same, for what changes something that others may look at, or is a fence: the places that `points` is about.
extern std::uint64_t next_point;
void decide_at_next_step() noexcept;
inline void step_before_change(const volatile void* object = nullptr) {
  if (++counts.changes == next_point) decide_at_next_step();
  step({object, true});
}
/// The running thread lets others run first, if there are any.
void yield();
/// It waits until wake(), or until the clock reaches the deadline. Returns whether it was woken.
bool block(wait_kind kind, const void* object, const void* code, std::uint64_t deadline = 0);
void wake(thread& t);
/// All that wait so for the object.
void wake_all(wait_kind kind, const void* object);
/// All that wait so, and of which the question is true; whether there was one.
bool wake_if(wait_kind kind, bool (*is_ready)(const thread&) noexcept);
/// One that waits so for the object, of any; false: there is none.
bool wake_one(wait_kind kind, const void* object);
/// What the running thread knows, those know that wait so for the object.
void teach_waiting(wait_kind kind, const void* object);
[[nodiscard]] unsigned count_waiting(wait_kind kind, const void* object) noexcept;

/// A new thread can run.
void add_ready(thread& t);
/// The running thread has come to its end.
[[noreturn]] void leave();

/// The virtual clock, in nanoseconds since the machine was started.
[[nodiscard]] std::uint64_t clock_now() noexcept;
/// When the program's alarm rings; 0: never. It keeps no run alive: threads that all wait without end are in a
/// deadlock.
extern std::uint64_t alarm_time;
/// After too many steps: all threads that can run do so in turn.
extern bool is_fair;
/// The step since which no thread has done anything that another one has noticed, or could wait for: a fair schedule's
/// threads have only ticked, and looked at variables that nobody changes.
extern std::uint64_t silent_since;
void break_silence() noexcept;
/// Whether it is a limit of time that lets the running thread do what it does now.
[[nodiscard]] bool ticks() noexcept;
/// Besides what the steps take.
void pass_time(std::uint64_t nanoseconds) noexcept;
inline constexpr std::uint64_t second = 1'000'000'000;
/// What CLOCK_REALTIME shows more.
inline constexpr std::uint64_t calendar_offset = 1'700'000'000 * second;

}  // namespace runq::model::explore
