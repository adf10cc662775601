// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "engine.hpp"

namespace runq::model::exact {

/// What a search executes again and again instead of a scenario: a program with its own memory (models/compiled). Its
/// first thread is number 1; search::spawn() creates the others. These calls tell the program where the search stands:
class program {
 public:
  virtual ~program() = default;
  /// Forgets what the executions up to now have shown: the search begins again.
  virtual void begin_search_again() {}
  /// Before that: the variable of which search::give_up_sizes() was told last is larger from then on.
  virtual void take_larger_variable() {}
  /// Likewise: no variable is larger than its first access.
  virtual void forget_larger_variables() {}
  /// All was explored, and nothing fails. Whether a race may have been missed that exact_options::keeps_rounds shows.
  [[nodiscard]] virtual bool may_miss_race() const { return false; }
  /// Puts the memory into the state from which every execution begins.
  virtual void begin_execution() = 0;
  /// Runs the body of a thread, on its stack.
  virtual void run(unsigned thread) = 0;
  /// On the stack of the search: enter() is called before a thread runs, leave() when no thread will run for now.
  virtual void enter(unsigned thread) noexcept = 0;
  virtual void leave() noexcept = 0;
  /// All threads have come to their ends, in a complete execution; may report() a failure.
  virtual void end_execution() = 0;
  /// Of the thread that let_stop() named: whether it may stop for ever where it is now.
  [[nodiscard]] virtual bool may_stop(unsigned thread) const = 0;
  /// Whether the thread is in a call that finishes although another thread has stopped for ever.
  [[nodiscard]] virtual bool claims_to_finish(unsigned thread) const = 0;
  /// The name of the variable with that number; empty if unknown.
  [[nodiscard]] virtual std::string name_of_variable(unsigned index) = 0;
  /// With exact_options::all_failures: an execution fails, after so many steps, at `where`, or where threads wait for
  /// ever. Returns whether the search should go on.
  [[nodiscard]] virtual bool note_failure(failure, const std::string&, const std::vector<site>&, std::size_t) {
    return true;
  }
};

}  // namespace runq::model::exact
