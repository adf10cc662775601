// SPDX-License-Identifier: MIT
// Code of the program that is not instrumented: functions of libraries, objects that were compiled otherwise, inline
// assembly. What it does to memory is not seen, unless known_calls.cpp says it, so a verdict names it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace runq::model::compiled {

class session;

/// Code that a check has executed without seeing it.
struct unseen_code {
  std::string what;       ///< "std::ostream::flush(), in libstdc++.so.6", "inline assembly in lock(), lock.c:7"
  std::uint64_t times{};  ///< in all executions together
};

/// Called before the program's first code runs. From then on, what instrumented code calls in other modules is noted:
/// an access where it is known what the function does, and otherwise the call.
void watch_calls();

/// An entry of the tables that runq-check adds to the program, for inline assembly and for objects that are not
/// instrumented (unseen.awk).
struct counted_code {
  std::uint64_t times;       ///< since the execution has begun
  std::uint64_t is_counted;  ///< 0: it is not known whether it is executed
  const void* code;          ///< inline assembly
  const char* function;      ///< of an object
  const char* place;
};

/// Called before the first execution: what was executed before does not count.
void forget_unseen_code();
/// Called at the end of each execution, before the memory of the program is put back.
void note_unseen_code();
/// Another process has executed this.
void add_unseen_code(const std::vector<unseen_code>& more);
/// In the order of their names.
[[nodiscard]] std::vector<unseen_code> all_unseen_code(session& s);

}  // namespace runq::model::compiled
