// SPDX-License-Identifier: MIT
// goroutine: what the scheduler knows of a task (Go's G).
#pragma once

#include <atomic>
#include <coroutine>
#include <cstdint>

#include "runq/detail/policy.hpp"
#include "runq/detail/timers.hpp"
#include "runq/inject.hpp"

namespace runq {

/// The state of a task, with Go's numbers: what a dump and a trace show.
enum class task_status : std::uint8_t { idle = 0, runnable = 1, running = 2, syscall = 3, waiting = 4, dead = 6 };

/// Why a task waits, in Go's words where Go has the case; see to_string().
enum class wait_reason : std::uint8_t {
  none,
  chan_receive,
  chan_send,
  chan_receive_nil,
  chan_send_nil,
  select,
  select_no_cases,
  semacquire,  // wait_group
  mutex_lock,
  join,
  sleep,
  io_wait,
};

/// "chan receive", "select (no cases)", …
[[nodiscard]] const char* to_string(wait_reason reason) noexcept;

namespace detail {

class core;
struct frame;

/// What a callable that was given to go() is kept alive in.
struct closure {
  void (*destroy)(closure*) noexcept;
};

/// A schedulable strand of execution: a task started by go(), or the continuation of one that another processor stole.
/// Never freed while its scheduler lives, so that a dump may look at any of them; reused. Aligned, so that tasks on
/// different processors share no cache line.
struct alignas(cache_line) goroutine {
  inject_link<goroutine, policy> link;  // of the queue it is in; the holder's
  std::coroutine_handle<> resume;       // where it goes on; set when it suspends
  core* home = nullptr;
  frame* root = nullptr;        // the frame of the task itself; null for a stolen continuation
  closure* callable = nullptr;  // the callable behind `root`, or null
  // Read by dumps while others write: relaxed, never decides anything; but for asleep().
  std::atomic<std::uint64_t> id{0};        // 1 is main
  std::atomic<const char*> name{nullptr};  // a literal
  std::atomic<task_status> status{task_status::dead};
  std::atomic<wait_reason> reason{wait_reason::none};
  // How long it waits to run is measured now and then: see options::latency_period.
  std::uint8_t until_measured = 0;   // how often it becomes runnable before that
  std::uint32_t runnable_since = 0;  // in units of 64 ns, so that a task that waits has 256 bytes; 0: not measured

  [[nodiscard]] bool is(task_status s) const noexcept {
    // [goroutine.is] relaxed, unmodelled: for dumps, which may see an old status.
    return status.load(std::memory_order::relaxed) == s;
  }
  /// `runnable`: by who is about to queue it.
  void set_status(task_status s) noexcept {
    if (s == task_status::runnable) perhaps_measure();
    // [goroutine.set_status] relaxed, unmodelled: for dumps; tasks are handed on by queues, never by their status.
    status.store(s, std::memory_order::relaxed);
  }
  void perhaps_measure() noexcept {
    if (until_measured-- == 0) begin_to_measure();
  }
  void begin_to_measure() noexcept;
  /// How long it has been runnable, rounded up, if that is measured; and ends it.
  [[nodiscard]] std::chrono::nanoseconds end_of_measurement() noexcept;
  void waits(wait_reason r) noexcept {
    // [goroutine.waits] relaxed, unmodelled: for dumps, which may see an old reason.
    reason.store(r, std::memory_order::relaxed);
    set_status(task_status::waiting);
  }
  /// By who wakes it and is about to queue it.
  void wakes() noexcept {
    perhaps_measure();
    // [goroutine.wake] release, unmodelled: pairs with [goroutine.asleep]; weaker: a frame is destroyed while its waker
    // looks at it.
    status.store(task_status::runnable, std::memory_order::release);
  }
  /// Of a task that has fallen asleep, by who destroys it: false after wakes().
  [[nodiscard]] bool asleep() const noexcept {
    // [goroutine.asleep] acquire, unmodelled: pairs with [goroutine.wake].
    return status.load(std::memory_order::acquire) == task_status::waiting;
  }
};

using goroutine_list = inject_chain<&goroutine::link>;

}  // namespace detail
}  // namespace runq
