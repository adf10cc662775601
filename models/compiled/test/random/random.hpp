// SPDX-License-Identifier: MIT
// Random programs as C++ sources, to compare what the front end finds in them with the enumerator
// (models/selftest/oracle/enumerate.hpp). write.cpp writes them, with what is expected; run.cpp checks them.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <mutex>

namespace random_programs {

constexpr std::size_t variables = 4;
constexpr std::size_t plain_variables = 2;
constexpr std::size_t most_threads = 4;
constexpr std::size_t most_reads = 16;

/// What one thread leaves for the end of main(): no other thread writes it.
struct thread_result {
  std::array<unsigned, most_reads> read{};
  unsigned reads = 0;
  std::array<bool, plain_variables> has_freed{};

  void note(unsigned value) { read[reads++] = value; }
};

/// What the threads of a program share.
struct state {
  std::array<std::atomic<unsigned>, variables> v{};
  std::mutex mutex;
  std::array<unsigned*, plain_variables> plain{};
};

/// Not inlined, so that no compiler sees what is used after it.
void free_plain(state& s, thread_result& r, unsigned variable);

/// What the enumerator finds when at most so many weak compare-exchanges fail spuriously.
struct expectation {
  unsigned long graphs;  ///< 0: not asked
  const char* outcomes;  ///< a line for each, sorted
  const char* failures;  ///< a line for each kind
};

struct random_program {
  const char* text;
  const char* flavour;
  std::array<void (*)(state&, thread_result&), most_threads> threads;  ///< those that there are, then nullptr
  bool has_memory;                                                     ///< plain variables
  bool waits;  ///< then the number of graphs depends on how often a loop goes around before it is recognised
  std::array<expectation, 3> expected;  ///< by the number of spurious failures
};

extern const random_program programs[];
extern const std::size_t program_count;

// outcomes.cpp is not instrumented, so what it writes remains when an execution ends.

/// To be called once, before the first check. False when the system gives no memory.
[[nodiscard]] bool prepare_outcomes() noexcept;
void forget_outcomes() noexcept;
/// Adds a line: what the threads have read, and what the variables hold in the end.
void add_outcome(const thread_result* threads, std::size_t count, const unsigned* values) noexcept;
/// A thread of an execution has come to its end: what it has read. `kind`: what it has executed.
void note_end_of_thread(unsigned kind, const thread_result& r) noexcept;
/// Adds a line that is the same whichever of the threads of a kind has read what.
void add_unordered_outcome(const unsigned* values) noexcept;
/// All lines since forget_outcomes(), including duplicates. nullptr if there were too many.
[[nodiscard]] const char* outcomes() noexcept;

}  // namespace random_programs
