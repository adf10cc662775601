// SPDX-License-Identifier: MIT
// Plain accesses that the user has the checker treat as relaxed atomic ones, by the lines of the source.
//
// A read is an event of the graph before the program's own instruction reads: it leaves the value in memory that it has
// read. A write is one after that instruction: when the thread enters the checker the next time.
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "caller.hpp"
#include "execution.hpp"
#include "program_atomics.hpp"
#include "program_code.hpp"
#include "program_waits.hpp"

namespace runq::model::compiled {

/// A line of source: the path, or how it ends.
struct code_line {
  std::string file;
  int line = 0;

  friend auto operator<=>(const code_line&, const code_line&) = default;
};

/// "queue.cpp:42"
[[nodiscard]] std::string to_text(const code_line& l);
/// Reads that. False if it is something else.
[[nodiscard]] bool read_code_line(std::string_view text, code_line& to);

class relaxed_lines {
 public:
  relaxed_lines(execution& now, program_code& code, program_atomics& atomics, program_waits& waits)
      : now_(now), code_(code), atomics_(atomics), waits_(waits) {}

  // --- before a check -----------------------------------------------------------------------------------------------
  void add(const code_line& l) { lines_.push_back(l); }
  /// A line of an accepted race, which has been met. Perhaps it has only an atomic operation.
  void add_of_race(const code_line& l) {
    met_.insert(lines_.size());
    add(l);
  }
  void add_volatile() noexcept { all_volatile_ = true; }

  // --- accesses of the running program ------------------------------------------------------------------------------
  /// Whether the access counts as relaxed; then it has been made, or begun.
  [[nodiscard]] bool performs(const caller_state* caller, const void* at, std::size_t size, bool is_write,
                              bool is_volatile, const void* code);
  /// The program's own instructions have written what was begun.
  void finish_stores();

  // --- its result ---------------------------------------------------------------------------------------------------
  /// Those of the lines at which no access was executed.
  [[nodiscard]] std::vector<code_line> not_met() const;

 private:
  struct part {
    void* at;
    unsigned size;
  };
  [[nodiscard]] bool is_relaxed(const void* code);
  void read(const caller_state* caller, const part& p, const void* code);

  execution& now_;
  program_code& code_;
  program_atomics& atomics_;
  program_waits& waits_;
  std::vector<code_line> lines_;
  bool all_volatile_ = false;
  std::set<std::size_t> met_;  ///< by their places in `lines_`
  std::unordered_map<const frame*, bool> known_;
  std::vector<part> begun_;  ///< stores of the thread `begun_by_`
  unsigned begun_by_ = 0;
  const void* begun_at_ = nullptr;
};

}  // namespace runq::model::compiled
