// SPDX-License-Identifier: MIT
// How far a search goes where C++20 sets no limit, and what it has left out because of that.
#pragma once

#include <cstdint>
#include <string>

namespace runq::model::compiled {

/// What C++20 allows in a program and the search did not explore.
struct left_out {
  bool spurious_failures = false;  ///< a weak compare-exchange succeeded where it might have failed (once more)
  bool unknown_weakness = false;   ///< so did one of which the compiler does not tell whether it is weak
  bool local_members = false;      ///< plain accesses that clang does not show
  bool spurious_wakeups = false;   ///< a wait for a condition variable might have ended for no reason (once more)
  bool rounds = false;             ///< a loop that waits, and counts, was left in one of its first rounds, or its last
  bool consume = false;            ///< a load by that order acquired everything
  bool tries = false;              ///< std::mutex::try_lock() might have failed for no reason (once more)
  bool repeated_stores = false;    ///< a loop that stores in each round what is there already was taken to wait
  bool undone_changes = false;     ///< a loop that undoes in each round what it has changed was taken to wait
  bool clocks = false;             ///< a clock was read: it either shows the same time, or has gone on by a day
  bool timeouts = false;           ///< a timed wait might have ended, or a clock gone on, once more
  bool values = false;             ///< __VERIFIER_nondet_int(), or one of its like, might have returned another value
  bool reuse = false;              ///< a block might have been allocated that was freed before (once more)
  bool unordered_reuse = false;    ///< so might one of whose free by another thread the thread does not know
  bool mixed_sizes = false;        ///< the parts of an atomic variable were seen in one order
  bool lock_memory = false;        ///< atomic operations on the memory of a lock had nothing to do with its state
  // Both together:
  bool lock_rounds = false;   ///< a loop that takes locks, and gives them back, was taken to wait
  bool failed_tries = false;  ///< a try_lock failed that is not std::lock's: it may have noticed such a round
};

/// From `first` to `last`, both included.
struct value_range {
  std::int64_t first = 0;
  std::int64_t last = 0;
};
/// "0..3"
[[nodiscard]] inline std::string to_text(const value_range& r) {
  return std::to_string(r.first) + ".." + std::to_string(r.last);
}

/// How far the search goes where C++20 sets no limit.
struct bounds {
  unsigned spurious_failures = 0;   ///< in an execution
  unsigned spurious_of_thread = 0;  ///< without that: of each thread
  unsigned spurious_wakeups = 1;    ///< of a thread: waits for condition variables that end for no reason
  bool wakes_at_once_only = true;   ///< they end before anything else happens
  unsigned reused = 0;              ///< of a thread: allocations that get a block which was freed before
  unsigned timeouts = 2;            ///< of a thread: timed waits that end, and deadlines that pass
  value_range any_value{0, 3};      ///< of __VERIFIER_nondet_int() and its like: at most `most_values` of them
  static constexpr std::int64_t most_values = 65'536;
  bool judges_timed_waits = false;  ///< a deadlock may consist of waits whose timeouts are not explored
  unsigned rounds = 4;              ///< of a loop that waits: in later ones it reads what it has read before
  /// Of a loop that waits, counts its rounds, and only reads: in later ones it waits until it reads something else.
  static constexpr unsigned most_rounds = 256;
};

}  // namespace runq::model::compiled
