// SPDX-License-Identifier: MIT
// What the checker keeps of the process that it is in, outside of a check, too.
#pragma once

#include <cstddef>

namespace runq::model::compiled {

class session;

/// Memory of the program that the checker reads or writes on its behalf: a fault there is the program's.
struct touched_memory {
  const std::byte* begin = nullptr;
  std::size_t size = 0;
  const void* code = nullptr;

  [[nodiscard]] bool contains(const void* address) const noexcept { return address >= begin && address < begin + size; }
  /// No such address exists; the processor does not say which one it was.
  [[nodiscard]] bool is_no_address() const noexcept;
};

struct process_state {
  /// True while the program's own code runs: the functions that it calls are modelled. When the checker itself calls
  /// the same functions, they do what they always do. The first member: outside.cpp reads it in assembly.
  bool in_program = false;
  /// The initialisers of the program's global variables are running.
  bool initialising = false;
  /// The program is a test that calls runq::check() itself.
  bool has_own_checks = false;
  /// To judge a history, code of the program runs: a specification, or the class itself, one call after the other. It
  /// is no part of the execution, but if it crashes or loops for ever, that is a failure of the program.
  bool judging = false;
  /// Plain stores that count as relaxed ones were begun: see relaxed_lines.hpp.
  bool has_begun_stores = false;
  touched_memory touched;
  session* only_session = nullptr;  ///< nullptr until somebody has asked for it
};

/// The one mutable global variable of the checker.
extern process_state this_process;

/// Tells the search of them: the program has written by now.
void finish_begun_stores() noexcept;

/// While the checker works on behalf of the program.
class checker_scope {
 public:
  checker_scope() noexcept {
    this_process.in_program = false;
    if (this_process.has_begun_stores) finish_begun_stores();
  }
  checker_scope(const checker_scope&) = delete;
  checker_scope& operator=(const checker_scope&) = delete;
  ~checker_scope() { this_process.in_program = true; }
};

/// While the checker works on behalf of the program, before main() or in a check.
class either_scope {
 public:
  either_scope() noexcept : program_(this_process.in_program), initialising_(this_process.initialising) {
    this_process.in_program = this_process.initialising = false;
    if (program_ && this_process.has_begun_stores) finish_begun_stores();
  }
  either_scope(const either_scope&) = delete;
  either_scope& operator=(const either_scope&) = delete;
  ~either_scope() {
    this_process.in_program = program_;
    this_process.initialising = initialising_;
  }

 private:
  bool program_;
  bool initialising_;
};

}  // namespace runq::model::compiled
