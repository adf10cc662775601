// SPDX-License-Identifier: MIT
// task_state: what a task does, for dumps; and how the thread that destroys a waiting task learns that the task's waker
// does not touch it any more. Models: models/cases/scheduler/task_state/.
#pragma once

#include <atomic>
#include <cstdint>

#include "runq/atomics.hpp"
#include "runq/source_place.hpp"

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
  blocking_call,  // for its turn to make one
};

/// Queues hand tasks on, never this state. So its values may be out of date, except that of asleep(). Wait-free.
template <class Atomics = std_atomics>
class task_state {
 public:
  explicit task_state(task_status now = task_status::dead) noexcept
      : place_(0), status_(now), reason_(wait_reason::none) {}
  task_state(const task_state&) = delete;
  task_state& operator=(const task_state&) = delete;

  /// For dumps. Any thread.
  [[nodiscard]] task_status status() const noexcept {
    // [task_state.status] relaxed: for dumps, which may see an old status.
    return status_.load(std::memory_order::relaxed);
  }
  /// Why the task waits. For dumps. Any thread.
  [[nodiscard]] wait_reason reason() const noexcept {
    // [task_state.reason] relaxed: for dumps, which may see an old reason.
    return reason_.load(std::memory_order::relaxed);
  }
  /// Where the task waits, or has waited last, or where it was started if reason() is none; if that is known. For
  /// dumps. Any thread.
  [[nodiscard]] source_place place() const noexcept {
    // [task_state.place] relaxed: for dumps, which may see an old place.
    return source_place::of_word(place_.load(std::memory_order::relaxed));
  }

  /// Called by the thread that runs the task.
  void set(task_status now) noexcept {
    // [task_state.set] relaxed: for dumps.
    status_.store(now, std::memory_order::relaxed);
  }
  /// The task was started at `where`. Called by the thread that starts it.
  void starts(source_place where) noexcept {
    // [task_state.starts.place] relaxed: for dumps, which may see an old place.
    place_.store(where.word(), std::memory_order::relaxed);
    // [task_state.starts.reason] relaxed: for dumps, which may see an old reason.
    reason_.store(wait_reason::none, std::memory_order::relaxed);
  }
  /// The task falls asleep. Called by the task itself, before any thread can wake it.
  void waits(wait_reason why, source_place where = {}) noexcept {
    // [task_state.waits.place] relaxed: for dumps, which may see an old place.
    place_.store(where.word(), std::memory_order::relaxed);
    // [task_state.waits.reason] relaxed: for dumps, which may see an old reason.
    reason_.store(why, std::memory_order::relaxed);
    // [task_state.waits] relaxed: the operation that lets other threads wake the task publishes it.
    status_.store(task_status::waiting, std::memory_order::relaxed);
  }
  /// Called by the waker, which queues the task next. After this call the waker must not touch the frame, nor the
  /// waiter in it.
  void wakes() noexcept {
    // [task_state.wakes] release: pairs with [task_state.asleep]; weaker: a frame is destroyed while its waker looks at
    // it.
    status_.store(task_status::runnable, std::memory_order::release);
  }
  /// Whether a task that fell asleep was not woken since. False after wakes(). Called by the thread that destroys the
  /// task.
  [[nodiscard]] bool asleep() const noexcept {
    // [task_state.asleep] acquire: pairs with [task_state.wakes]; weaker: a frame is destroyed while its waker looks
    // at it.
    return status_.load(std::memory_order::acquire) == task_status::waiting;
  }

 private:
  typename Atomics::template atomic<std::uint64_t> place_;  // a source_place
  typename Atomics::template atomic<task_status> status_;
  typename Atomics::template atomic<wait_reason> reason_;
};

}  // namespace runq
