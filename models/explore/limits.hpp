// SPDX-License-Identifier: MIT
// How much an exploration can hold. Who meets a limit is told its name and its number.
#pragma once

#include <cstddef>
#include <cstdint>

namespace runq::model::explore {

inline constexpr std::uint32_t max_threads = 1024;  ///< at a time; those that have been joined make room
inline constexpr std::uint32_t max_keys = 512;      ///< of pthread_key_create()
inline constexpr unsigned stores_kept = 8;          ///< of an atomic variable: older ones can no longer be read
inline constexpr unsigned observers_kept = 8;       ///< of a store: with more, all threads count as knowing it
inline constexpr std::size_t stack_bytes = std::size_t{8} << 20;
inline constexpr std::size_t calls_kept = std::size_t{1} << 16;  ///< the inner ones of a thread: only they are shown
inline constexpr std::size_t heap_bytes = std::size_t{64} << 30;
inline constexpr std::size_t quarantine_bytes = std::size_t{16} << 20;  ///< freed memory that is not used again
/// Of a freed block, so many bytes are known to be freed.
inline constexpr std::size_t freed_bytes_marked = std::size_t{1} << 20;
/// So many steps of one thread while others could run: then it counts as one that yields.
inline constexpr std::uint32_t steps_alone = 4096;
/// A run that has made so many steps goes on with a fair schedule and without old values; if nothing changes in as many
/// more, it does not end.
inline constexpr std::uint64_t usual_max_steps = 20'000'000;
/// When for so many seconds of the program's clock, and so often, nothing but a limit of time has let a thread go on,
/// while others wait without one, these wait for ever.
inline constexpr std::uint64_t seconds_in_vain = 100;
inline constexpr std::uint64_t timeouts_in_vain = 10'000;
/// After so many plain accesses without a step it is looked whether the thread goes round for ever; where the program
/// has more memory than so many bytes, only the time tells.
inline constexpr std::uint32_t accesses_without_a_step = std::uint32_t{1} << 20;
inline constexpr std::size_t state_bytes = std::size_t{64} << 20;
inline constexpr unsigned processors = 4;        ///< as the program sees the machine
inline constexpr unsigned seconds_per_run = 60;  ///< of processor time
/// To make a failure smaller: runs, and steps of all of them. Numbers, not seconds: so the answer is the same
/// everywhere.
inline constexpr std::uint64_t runs_to_make_smaller = 1000;
inline constexpr std::uint64_t steps_to_make_smaller = 10'000'000;
/// Of a program for the exact checker that is written from a failing run.
inline constexpr std::size_t most_operations_of_tiny = 128;
inline constexpr std::size_t most_threads_of_tiny = 8;
/// Of a run, for feedback: further ones are not noted.
inline constexpr std::size_t pairs_kept = 4096;
/// With feedback a run begins as one that at least so many runs earlier was begun: so it does not depend on how many
/// are made at a time.
inline constexpr std::uint64_t feedback_lag = 32;
inline constexpr std::size_t steps_shown = 4096;  ///< of a failing run: the last ones are kept to be shown

}  // namespace runq::model::explore
