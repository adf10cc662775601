// SPDX-License-Identifier: MIT
// processor: what a thread needs to run tasks (Go's P). machine: a thread that runs tasks (Go's M).
#pragma once

#include <array>
#include <atomic>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <utility>

#include "runq/detail/fair_time.hpp"
#include "runq/detail/fork_deque.hpp"
#include "runq/detail/futex.hpp"
#include "runq/detail/inside.hpp"
#include "runq/detail/processor_queue.hpp"
#include "runq/detail/steal_order.hpp"
#include "runq/detail/strand.hpp"
#include "runq/detail/timers.hpp"
#include "runq/detail/tracer.hpp"
#include "runq/options.hpp"
#include "runq/protocol/deadlock.hpp"
#include "runq/protocol/handoff.hpp"
#include "runq/protocol/live_tasks.hpp"
#include "runq/protocol/park.hpp"
#include "runq/ring.hpp"

namespace runq::detail {

class core;
struct machine;
struct processor;

/// A counter that one thread increases and others may read. An increase is no read-modify-write: there is one writer.
class counter {
 public:
  void operator+=(std::uint64_t n) noexcept {
    // [counter.read] relaxed, unmodelled: only this thread writes it.
    const std::uint64_t before = n_.load(std::memory_order::relaxed);
    // [counter.add] relaxed, unmodelled: a statistic.
    n_.store(before + n, std::memory_order::relaxed);
  }
  void operator++() noexcept { *this += 1; }
  [[nodiscard]] std::uint64_t get() const noexcept {
    // [counter.get] relaxed, unmodelled: a statistic, which may be a moment old.
    return n_.load(std::memory_order::relaxed);
  }

 private:
  std::atomic<std::uint64_t> n_{0};
};

/// The dead strands that a processor keeps for reuse. Only the thread that holds the processor may use them.
struct strand_cache {
  strand_list free;
  std::uint64_t next_id = 0;  // ids are handed out to processors in batches
  std::uint64_t last_id = 0;
};

/// A processor: a machine must hold one to run tasks, so at most as many tasks run at once as there are processors.
/// Only the machine that holds the processor may use its fields, except the atomics and the thieves' handles.
struct alignas(cache_line) processor : processor_front, park_processor<processor, policy> {
  processor(core& scheduler, std::uint32_t index);

  const std::uint32_t index;
  const std::uint32_t shard;     // of the global queue; modulo the number of shards
  std::coroutine_handle<> next;  // the coroutine to resume next, past the queues; see transfer()
  counter dispatches;            // tasks run; every 61st looks at the global queue first; thieves watch it
  counter polls;                 // that made a task runnable when there was none
  lifo_chain chain;              // consecutive tasks from runnext or the deque
  fast_random random;
  steal_order order;

  processor_queue queue;
  static constexpr std::size_t queue_capacity = processor_queue::capacity();
  processor_queue::owner own_queue;
  processor_queue::thief queue_thief;
  fork_deque forks;
  fork_deque::owner own_forks;
  fork_deque::thief forks_thief;

  using yielded_ring = basic_ring<strand*, 1024, std::uint32_t, policy>;
  yielded_ring yielded;  // tasks that have yielded here
  yielded_ring::owner own_yielded;
  yielded_ring::thief yielded_thief;
  unsigned turns = 0;            // of the tasks that have yielded and of the global queue
  unsigned overflows = 0;        // each went to another shard of the global queue
  unsigned unwatched_forks = 0;  // see machine_loop
  std::uint64_t looked_at = 0;   // likewise

  handoff<policy> in_call;                  // whether its machine is in a blocking call
  policy::cell<bool> call_has_unit{false};  // that call has waited for its turn: see call_limit
  timer_heap timers;

  policy::cell<processor*> next_spare{nullptr};  // while it is spare: the next one; see spare_processors

  strand_cache strands;

  task_tally<policy> tasks;               // started and ended here
  kernel_waits<policy> waits_for_kernel;  // started and ended here

  // Statistics: see runq::statistics.
  counter ticks;  // tasks that began a time slice of their own; Go's schedtick
  counter steals, stolen, lost, overflowed, runnext_hits, runnext_steals, yields;
  counter calls, calls_kept, calls_moved, preempted;
  std::array<counter, latency_histogram::buckets> ready_to_run;

  // For traces, which read these while the machine runs.
  std::atomic<std::int32_t> held_by{-1};     // the number of the machine that holds this processor, or -1
  std::atomic<std::size_t> free_strands{0};  // strands in `strands`; may be out of date
};

/// Where a machine sleeps: one idle machine sleeps in the poller, the others on their futexes. See
/// runq/protocol/poll_sleep.hpp.
class machine_parker {
 public:
  // A task that waits in a runnext slot longer than it should waits for so long at most, in ns. The longer the doze,
  // the less it disturbs the tasks that run.
  static constexpr std::int64_t doze_time = 200'000;

  explicit machine_parker(core& scheduler) noexcept : home_(scheduler) {}
  void park();
  /// park() for options::idle_thread_life at most, but in the poller for as long as it takes; false: nobody woke it.
  [[nodiscard]] bool park_for_long();
  /// park() for doze_time at most, and never in the poller; false: nobody woke it.
  [[nodiscard]] bool doze();
  void unpark();
  counter parks;

 private:
  core& home_;
  detail::parker token_;
};

/// Work that a task puts off until it next waits, blocks or ends; see do_after_stretch(). An element of a list.
struct after_stretch {
  void (*run)(after_stretch&) noexcept = nullptr;  // may destroy the element
  after_stretch* next = nullptr;
};

/// For traces.
enum class machine_state : std::uint8_t { running, spinning, idle, in_call };

/// A thread that runs tasks.
struct machine : park_machine<machine, processor, machine_parker, policy> {
  explicit machine(core& scheduler) : park_machine(scheduler), home(scheduler) {}
  core& home;
  processor* held = nullptr;  // its processor, or null
  std::uint64_t begun = 0;    // see machine_loop
  std::uint64_t polls = 0;    // likewise
  std::uint32_t number = 0;
  std::atomic<machine_state> state{machine_state::running};
  std::atomic<const strand*> last_strand{nullptr};  // the strand that it ran last; for traces
  tracer::who slice_of;                             // the task that it runs now, if there is a tracer
  instant slice_begin = 0;                          // when the task `slice_of` began to run
  std::thread thread;
  std::uint64_t parks_counted = 0;  // the parks after which it found work, or that were counted in useless_wakes
  counter useless_wakes;
  after_stretch* put_off = nullptr;  // what its task has put off, the newest first; only this thread uses it

  /// Runs what the task has put off. The machine calls it when its task waits, is about to block, or has ended.
  void end_stretch() noexcept {
    while (put_off != nullptr) {
      after_stretch& first = *std::exchange(put_off, put_off->next);
      first.run(first);
    }
  }
};

/// The processor that the calling thread holds, or nullptr outside a scheduler.
[[nodiscard]] inline processor* this_processor() noexcept { return static_cast<processor*>(this_front()); }
/// The calling task's processor. Throws runq::misuse as own_front() does.
[[nodiscard]] inline processor& own_processor() { return static_cast<processor&>(own_front()); }
/// The machine that the calling thread is, or nullptr.
[[nodiscard]] machine* this_machine() noexcept;

}  // namespace runq::detail
