// SPDX-License-Identifier: MIT
// task_state: what a task does, for dumps; and how who destroys a task that waits learns that whoever has woken it is
// through with it. Models: models/cases/scheduler/task_state/.
#pragma once

#include <atomic>
#include <cstdint>

#include "runq/atomics.hpp"

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
  semacquire,  // wait_group, semaphore
  mutex_lock,
  rw_mutex_lock,
  rw_mutex_lock_shared,
  cond_wait,
  join,
  sleep,
  io_wait,
};

/// Tasks are handed on by queues, never by their state: that may be a moment old, but for asleep(). Wait-free.
template <class Atomics = std_atomics>
class task_state {
 public:
  explicit task_state(task_status now = task_status::dead) noexcept : status_(now), reason_(wait_reason::none) {}
  task_state(const task_state&) = delete;
  task_state& operator=(const task_state&) = delete;

  /// For dumps. Any thread.
  [[nodiscard]] task_status status() const noexcept {
    // [task_state.status] relaxed: for dumps, which may see an old status.
    return status_.load(std::memory_order::relaxed);
  }
  /// As status().
  [[nodiscard]] wait_reason reason() const noexcept {
    // [task_state.reason] relaxed: for dumps, which may see an old reason.
    return reason_.load(std::memory_order::relaxed);
  }

  /// By who has the task.
  void set(task_status now) noexcept {
    // [task_state.set] relaxed: for dumps.
    status_.store(now, std::memory_order::relaxed);
  }
  /// The task falls asleep. By itself, before anybody can wake it.
  void waits(wait_reason why) noexcept {
    // [task_state.waits.reason] relaxed: for dumps, which may see an old reason.
    reason_.store(why, std::memory_order::relaxed);
    // [task_state.waits] relaxed: what lets others wake the task publishes it.
    status_.store(task_status::waiting, std::memory_order::relaxed);
  }
  /// By who wakes it and is about to queue it: the last thing he does to what the task has waited in.
  void wakes() noexcept {
    // [task_state.wakes] release: pairs with [task_state.asleep]; weaker: a frame is destroyed while its waker looks at
    // it.
    status_.store(task_status::runnable, std::memory_order::release);
  }
  /// Of a task that has fallen asleep, by who destroys it: false after wakes().
  [[nodiscard]] bool asleep() const noexcept {
    // [task_state.asleep] acquire: pairs with [task_state.wakes]; weaker: a frame is destroyed while its waker looks
    // at it.
    return status_.load(std::memory_order::acquire) == task_status::waiting;
  }

 private:
  typename Atomics::template atomic<task_status> status_;
  typename Atomics::template atomic<wait_reason> reason_;
};

}  // namespace runq
