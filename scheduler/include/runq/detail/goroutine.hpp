// SPDX-License-Identifier: MIT
// goroutine: what the scheduler knows of a task (Go's G).
#pragma once

#include <atomic>
#include <coroutine>
#include <cstdint>

#include "runq/detail/policy.hpp"
#include "runq/detail/timers.hpp"
#include "runq/inject.hpp"
#include "runq/protocol/task_state.hpp"

namespace runq {

/// "chan receive", "select (no cases)", …
[[nodiscard]] const char* to_string(wait_reason reason) noexcept;

namespace detail {

class core;
struct frame;
struct goroutine;
class scope_state;

/// What a task needs beside its first coroutine, as the callable that the coroutine may refer to. Destroyed when that
/// coroutine has been destroyed.
struct closure {
  void (*destroy)(closure*) noexcept;
};

/// The closure of a task that a coroutine waits for.
struct awaited_closure : closure {
  union {
    scope_state* scope = nullptr;  // a child: its scope
    frame* awaited_by;             // spawned: the coroutine that awaits the task's handle now, or null
    frame* above;                  // at the end of a run, when the task was tied: the one that it is below
  };
  goroutine* record = nullptr;  // at the end of a run: see frame_tree
};

/// A schedulable strand of execution: a task started by go(), or the continuation of a task that another processor
/// stole. It is reused, but never freed while its scheduler lives, so that a dump may look at any of them. Aligned, so
/// that tasks on different processors share no cache line.
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

/// Empties a list of records that are about to be freed.
inline void forget(goroutine_list& list) noexcept {
  while (list.pop_front() != nullptr) {
  }
}

}  // namespace detail
}  // namespace runq
