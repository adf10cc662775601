// SPDX-License-Identifier: MIT
// strand: what the scheduler runs, and what it knows of it (Go's g).
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

/// What can be scheduled by itself: a task from its start, or the rest of a task that another processor has stolen at a
/// fork. The object is used again for other strands, but never freed while its scheduler lives, so that a dump may look
/// at any of them. Aligned, so that tasks on different processors share no cache line.
struct alignas(cache_line) strand {
  inject_link<strand, policy> link;  // the link of the queue that holds it; only the holder uses it
  std::coroutine_handle<> resume;    // where it goes on; set when it suspends
  core* home = nullptr;
  frame* root = nullptr;  // of its task, if it is the first strand of that; null if it is a later one
  // Dumps read these while another thread writes them: relaxed, they never decide anything.
  std::atomic<std::uint64_t> id{0};          // 1 is main
  std::atomic<const char*> name{nullptr};    // a literal
  [[no_unique_address]] task_state<> state;  // so that the next two members lie in its padding
  // How long it waits to run is measured now and then: see options::latency_period.
  std::uint8_t until_measured = 0;   // how often it becomes runnable before that
  std::uint32_t runnable_since = 0;  // in units of 64 ns, so that a strand has 64 bytes; 0: not measured

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
  explicit spawned_closure(strand& current) noexcept
      : spawner(&current),
        // [spawned.spawner] relaxed, unmodelled: written before the task began.
        spawner_id(current.id.load(std::memory_order::relaxed)) {}
  strand* const spawner;           // the strand that has spawned it
  const std::uint64_t spawner_id;  // it may be used for another task now
  bool awaited_at_end = false;     // when it was tied
};

using strand_list = inject_chain<&strand::link>;

/// Marks the calling task as waiting for `reason` at `at`, to go on at `self`, and returns its strand. Throws
/// runq::misuse outside a scheduler.
[[nodiscard]] inline strand& fall_asleep(std::coroutine_handle<> self, wait_reason reason, source_place at) {
  strand& s = *own_front().current;
  s.resume = self;
  s.waits(reason, at);
  return s;
}

/// When the task `s`, after fall_asleep(), does not have to wait after all, await_suspend() returns what this returns:
/// whether the task yields.
[[nodiscard]] inline bool preempt_or_go_on(strand& s) {
  if (preempt_if_slice_is_over(*this_front(), s.resume)) return true;
  s.set_status(task_status::running);
  return false;
}

/// Empties a list of strands that are about to be freed.
inline void forget(strand_list& list) noexcept {
  while (list.pop_front() != nullptr) {
  }
}

}  // namespace detail
}  // namespace runq
