// SPDX-License-Identifier: MIT
// The state of a run that all parts know. One kernel thread: there is nothing to synchronise.
#pragma once

#include <cstdint>
#include <string>

#include "random.hpp"

namespace runq::model::explore {

/// Whether the program's main() runs. Before it, operations are simply carried out.
extern bool exploring;
/// Whether the runtime itself runs, whose memory is not the program's.
extern bool in_runtime;

class runtime_scope {
 public:
  runtime_scope() noexcept : before_(in_runtime) { in_runtime = true; }
  runtime_scope(const runtime_scope&) = delete;
  runtime_scope& operator=(const runtime_scope&) = delete;
  ~runtime_scope() { in_runtime = before_; }

 private:
  bool before_;
};

enum class strategy : std::uint8_t { any, walk, bursts, pct, points, pos };

/// What decides about a run: all of it follows from the seed.
struct run_choices {
  random_stream schedule, memory, spurious, program;
  strategy how = strategy::walk;
  bool weak_memory = true;
  std::uint32_t burst = 1;       ///< the mean number of steps of a burst
  std::uint32_t old_values = 0;  ///< of 1024 reads that could see more than one store, so many choose one
  std::uint32_t insertions = 0;  ///< of 1024 stores that could go elsewhere in modification order, so many choose
  std::uint32_t spurious_failures = 0;  ///< of 1024 weak compare-exchanges
  std::uint32_t spurious_wakeups = 0;   ///< of 1024 waits for a condition variable
  std::uint32_t early_timeouts = 0;     ///< of 1024 decisions of the scheduler, where a thread waits with a deadline
  std::uint32_t ignored_yields = 0;     ///< of 1024: they are only hints
  std::uint64_t max_steps = 0;          ///< then the schedule is fair, and reads see the newest store
  bool timeouts_fail = false;           ///< a limit of time must not be all that lets the program go on
  std::uint64_t patience = 0;           ///< ns: no wait ends early when so much of it is left; 0: any may
  bool reuses_memory = false;           ///< freed memory is used again at once; otherwise it is kept for a while
};
extern run_choices choices;

/// How much a run has done.
struct run_counts {
  std::uint64_t steps = 0;
  std::uint64_t changes = 0;  ///< steps before changes: step_before_change()
  std::uint64_t switches = 0;
  std::uint64_t old_values = 0;  ///< reads that have not seen the newest store
  std::uint64_t inserted = 0;    ///< stores before others in modification order
  std::uint64_t threads = 1;
};
extern run_counts counts;
/// The number of steps when an atomic variable last got another value, or a thread began or ended.
extern std::uint64_t last_change;

/// The program does what is not modelled: ends the run, and with it the exploration, and names it.
[[noreturn]] void refuse(const std::string& what);

}  // namespace runq::model::explore
