// SPDX-License-Identifier: MIT
// goroutine: the record of a strand, what the scheduler keeps about it (Go's g).
#pragma once

#include <atomic>
#include <chrono>
#include <coroutine>
#include <cstdint>

#include "runq/detail/inside.hpp"
#include "runq/detail/policy.hpp"
#include "runq/inject.hpp"
#include "runq/protocol/task_state.hpp"

namespace runq {

/// "chan receive", "select (no cases)", …
[[nodiscard]] const char* to_string(wait_reason reason) noexcept;

namespace detail {

/// The record of a strand: of a task started by go(), or of the continuation of a task that another processor stole.
/// It is reused, but never freed while its scheduler lives, so that a dump may look at any of them. Aligned, so that
/// tasks on different processors share no cache line.
struct alignas(cache_line) goroutine {
  inject_link<goroutine, policy> link;  // the link of the queue that holds it; only the holder uses it
  std::coroutine_handle<> resume;       // where it goes on; set when it suspends
  core* home = nullptr;
  frame* root = nullptr;  // the frame of the task itself; null for a stolen continuation
  // Dumps read these while another thread writes them: relaxed, they never decide anything.
  std::atomic<std::uint64_t> id{0};          // 1 is main
  std::atomic<const char*> name{nullptr};    // a literal
  [[no_unique_address]] task_state<> state;  // so that the next two members lie in its padding
  // How long it waits to run is measured now and then: see options::latency_period.
  std::uint8_t until_measured = 0;   // how often it becomes runnable before that
  std::uint32_t runnable_since = 0;  // in units of 64 ns, so that a record has 64 bytes; 0: not measured

  [[nodiscard]] bool is(task_status s) const noexcept { return state.status() == s; }
  /// `runnable`: set by the thread that is about to queue the task.
  void set_status(task_status s) noexcept {
    if (s == task_status::runnable) perhaps_measure();
    state.set(s);
  }
  void perhaps_measure() noexcept {
    if (until_measured-- == 0) begin_to_measure();
  }
  void begin_to_measure() noexcept;
  /// Returns how long it has been runnable, rounded up, if that is measured; ends the measurement.
  [[nodiscard]] std::chrono::nanoseconds end_of_measurement() noexcept;
  void waits(wait_reason r, source_place where) noexcept { state.waits(r, where); }
  /// Called by the waker, which is about to queue the task.
  void wakes() noexcept {
    perhaps_measure();
    state.wakes();
  }
  /// Whether a task that fell asleep was not woken since: false after wakes(). Called by the thread that destroys the
  /// task.
  [[nodiscard]] bool asleep() const noexcept { return state.asleep(); }
};

/// The closure of a spawned task.
struct spawned_closure : awaited_closure {
  explicit spawned_closure(goroutine& current) noexcept
      : spawner(&current),
        // [spawned.spawner] relaxed, unmodelled: written before the task began.
        spawner_id(current.id.load(std::memory_order::relaxed)) {}
  goroutine* const spawner;        // the record of the task that has spawned it
  const std::uint64_t spawner_id;  // that record may be another task's now
  bool awaited_at_end = false;     // when it was tied
};

using goroutine_list = inject_chain<&goroutine::link>;

/// Marks the calling task as waiting for `reason` at `at`, to go on at `self`, and returns its record. Throws
/// runq::misuse outside a scheduler.
[[nodiscard]] inline goroutine& fall_asleep(std::coroutine_handle<> self, wait_reason reason, source_place at) {
  goroutine& g = *own_front().current;
  g.resume = self;
  g.waits(reason, at);
  return g;
}

/// When the task `g`, after fall_asleep(), does not have to wait after all, await_suspend() returns what this returns:
/// whether the task yields.
[[nodiscard]] inline bool preempt_or_go_on(goroutine& g) {
  if (preempt_if_slice_is_over(*this_front(), g.resume)) return true;
  g.set_status(task_status::running);
  return false;
}

/// Empties a list of records that are about to be freed.
inline void forget(goroutine_list& list) noexcept {
  while (list.pop_front() != nullptr) {
  }
}

}  // namespace detail
}  // namespace runq
