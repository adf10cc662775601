// SPDX-License-Identifier: MIT
// options, statistics: the settings of a scheduler, and what it counts.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

namespace runq {

/// What happens at `co_await fork(child)`.
enum class fork_policy : std::uint8_t {
  continuation,  ///< the child runs at once; the parent's continuation can be stolen (Cilk, libfork)
  child,         ///< the parent goes on; the child can be stolen (oneTBB, rayon)
  task           ///< the parent goes on; the child becomes a task of its own, as by go() (Go)
};

/// When scheduler::run() returns, or throws what has left the main task.
enum class run_until : std::uint8_t {
  main_ends,      ///< when the main task has ended: all other tasks are destroyed then (Go)
  all_have_ended  ///< when no task is left. No task is asked to stop; tasks that wait for each other are a deadlock
};

/// What happens when all tasks wait, no handle exists, and the process has threads that the scheduler did not start.
enum class plain_threads : std::uint8_t {
  may_wake_tasks,  ///< the run goes on. If nothing happens for a second, stderr tells which tasks wait, once in a run
  wake_no_task     ///< a deadlock is reported, as if there were no such threads
};

/// How many processors a scheduler has by default: the environment variable RUNQ_PROCS if it is set, a number from 1 to
/// options::max_procs; else the number of CPUs that the calling thread may run on; or, if it is smaller, a container's
/// quota of CPU time in CPUs, rounded up, but at least 2. Throws runq::misuse when RUNQ_PROCS is set to anything else.
[[nodiscard]] unsigned default_procs();

struct options {
  static constexpr unsigned max_procs = 1024;

  /// Processors: how many tasks run at once, 1 … max_procs; 0 means default_procs().
  unsigned procs = 0;
  /// The most threads that may exist at once to run tasks; the process ends with a message when one more is needed.
  unsigned max_threads = 10'000;
  /// Blocking calls without a processor at the same time, at least 1: when there are so many, further ones by
  /// blocking() wait for their turn. There may be one call more for each processor.
  unsigned max_blocking_calls = 512;
  /// A thread that has slept for so long ends, if as many other threads as there are processors sleep, too. At least 1
  /// ns. There are many threads after many blocking calls at the same time.
  std::chrono::nanoseconds idle_thread_life = std::chrono::seconds(10);
  /// All threads that the processors need are started when the scheduler is made, and again after each run, instead of
  /// one after the other when there is work for them. They sleep until then.
  bool threads_at_once = false;
  fork_policy forks = fork_policy::continuation;
  run_until until = run_until::main_ends;
  plain_threads threads_without_handle = plain_threads::may_wake_tasks;
  /// One in so many waits of runnable tasks is measured for statistics::ready_to_run: 1 measures all, 0 none; at most
  /// max_latency_period. To measure one reads the clock twice, which takes as long as running a small task.
  std::uint32_t latency_period = 64;
  static constexpr std::uint32_t max_latency_period = 256;
  /// A signal, such as SIGQUIT, at which scheduler::dump() is printed on stderr, and the program goes on; 0: none. Also
  /// when no task can run. The signal does nothing else until the scheduler is destroyed. Costs a thread and two
  /// descriptors for all schedulers together.
  int dump_on = 0;
};

/// How long something took, by powers of two: counts[i] is how often it was 2^i ns or longer, but shorter than
/// 2^(i+1) ns. counts[0] includes all that were shorter; the last bucket, from 9 minutes on, includes all that were
/// longer.
struct latency_histogram {
  static constexpr std::size_t buckets = 40;
  std::array<std::uint64_t, buckets> counts{};

  [[nodiscard]] static constexpr std::size_t bucket_of(std::chrono::nanoseconds d) noexcept {
    const auto ns = static_cast<std::uint64_t>(d.count() > 0 ? d.count() : 1);
    return std::min<std::size_t>(static_cast<std::size_t>(std::bit_width(ns)) - 1, buckets - 1);
  }
  /// The shortest duration that is too long for bucket i.
  [[nodiscard]] static constexpr std::chrono::nanoseconds end_of(std::size_t i) noexcept {
    return std::chrono::nanoseconds(std::int64_t{2} << i);
  }
  [[nodiscard]] constexpr std::uint64_t total() const noexcept {
    return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
  }
  /// A duration that `percent` of all durations, 0 … 100, did not reach. It is the end of a bucket, so at most twice
  /// too long. 0 if nothing was counted.
  [[nodiscard]] constexpr std::chrono::nanoseconds percentile(double percent) const noexcept {
    const double wanted = static_cast<double>(total()) * percent / 100;
    std::chrono::nanoseconds end{0};
    std::uint64_t seen = 0;
    for (std::size_t i = 0; i != buckets; ++i) {
      if (seen != 0 && static_cast<double>(seen) >= wanted) break;
      if (counts[i] == 0) continue;
      seen += counts[i];
      end = end_of(i);
    }
    return end;
  }
};

/// Counts since the scheduler was made, and a few values of this moment. Each is exact when no task runs.
struct statistics {
  std::uint64_t spawned = 0;         ///< tasks started
  std::uint64_t finished = 0;        ///< tasks ended
  std::uint64_t steals = 0;          ///< successful steals
  std::uint64_t stolen = 0;          ///< tasks moved by them
  std::uint64_t lost_races = 0;      ///< steals that found another thief, or the owner, faster
  std::uint64_t overflowed = 0;      ///< tasks moved to the global queue by full local ones
  std::uint64_t runnext_hits = 0;    ///< tasks run from the runnext slot
  std::uint64_t runnext_steals = 0;  ///< tasks stolen from there
  std::uint64_t yields = 0;
  std::uint64_t blocking_calls = 0;    ///< blocking calls begun
  std::uint64_t calls_kept = 0;        ///< … that returned to the processor they came from
  std::uint64_t calls_moved = 0;       ///< … that found another, idle one
  std::uint64_t calls_queued = 0;      ///< … that found none, so that their task was queued
  std::uint64_t handed_off = 0;        ///< processors taken from machines in blocking calls
  std::uint64_t preempted = 0;         ///< tasks that yielded because their time slice was over
  std::size_t timers = 0;              ///< timers that are pending
  std::uint64_t parks = 0;             ///< how often a machine went to sleep
  std::uint64_t useless_wakes = 0;     ///< how often one woke up and found nothing
  std::uint64_t machines = 0;          ///< threads that exist
  std::uint64_t machines_started = 0;  ///< threads started so far
  unsigned procs = 0;
  unsigned idle_procs = 0;
  unsigned spinning = 0;
  std::size_t global_queue = 0;
  std::vector<std::size_t> local_queues;  ///< per processor, without its runnext slot
  std::vector<std::uint64_t> ticks;       ///< per processor: time slices begun
  /// How long tasks waited from becoming runnable to running, for one of options::latency_period waits. Tasks that
  /// waited in a fork deque are not included.
  latency_histogram ready_to_run;
};

}  // namespace runq
