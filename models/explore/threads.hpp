// SPDX-License-Identifier: MIT
// The threads of the explored program: fibers of the only kernel thread.
#pragma once

#include <cstdint>

#include <poll.h>
#include <pthread.h>

#include "clocks.hpp"
#include "fibers.hpp"
#include "limits.hpp"

namespace runq::model::explore {

/// What a thread waits for, in the words of a report.
enum class wait_kind : std::uint8_t {
  none,
  lock,
  read_lock,
  condition,
  join,
  barrier,
  semaphore,
  once,
  guard,
  futex,
  sleep,
  descriptor,
};

/// What a thread does when it goes on, as far as others can notice.
struct pending_event {
  const volatile void* object = nullptr;  ///< nullptr: none
  bool changes = false;
};

enum class thread_state : std::uint8_t { ready, blocked, ended, gone };

struct thread {
  fiber context;
  std::uint32_t number = 0;
  std::uint32_t ready_index = 0;  ///< its place in the list of ready threads
  thread_state state = thread_state::gone;
  bool detached = false;
  bool timed_out = false;  ///< how its last wait has ended
  wait_kind waits = wait_kind::none;
  wait_kind waited = wait_kind::none;  ///< the last time
  const void* waits_for = nullptr;
  const void* waits_at = nullptr;  ///< code
  pollfd* polled = nullptr;        ///< the descriptors that it waits for
  nfds_t polled_count = 0;
  std::uint64_t deadline = 0;  ///< of the virtual clock; 0: none
  std::uint64_t priority = 0;
  pending_event next;
  std::uint64_t steps = 0;         ///< of its own, and of those that had its number before
  std::uint64_t timed_out_at = 0;  ///< its own step, the last time; 0: never

  thread_clock now;       ///< what the thread knows
  thread_clock released;  ///< at its last release fence
  thread_clock pending;   ///< what an acquire fence adds
  bool has_released = false;
  bool has_pending = false;

  const void** calls = nullptr;  ///< where its innermost call returns to is calls[-1]
  const void** calls_begin = nullptr;

  std::uint32_t processors = (1U << explore::processors) - 1;  ///< on which it may run, a bit for each

  void* (*routine)(void*) = nullptr;
  int (*c_routine)(void*) = nullptr;  ///< of thrd_create(), instead
  void* argument = nullptr;
  void* result = nullptr;
  void** specific = nullptr;  ///< of each key; nullptr: none was set

  [[nodiscard]] std::uint32_t epoch() const noexcept { return now.happened[number]; }
};

extern thread* self;  ///< the running one
[[nodiscard]] thread* thread_at(std::uint32_t number) noexcept;
[[nodiscard]] thread* thread_of(pthread_t handle) noexcept;
[[nodiscard]] pthread_t handle_of(const thread& t) noexcept;

/// The thread that runs main(), before and during the run.
void make_main_thread();

/// A new event of the running thread.
inline void begin_event() noexcept {
  const std::uint32_t next = ++self->now.happened[self->number];
  self->now.ordered[self->number] = next;
}

/// A thread that begins when the scheduler chooses it.
[[nodiscard]] thread& create_thread(bool detached, void* (*routine)(void*), int (*c_routine)(void*), void* argument,
                                    const void* code);
/// `t` has ended: what it did happens before what comes next.
void* take_result(thread& t);
/// It has ended, and nobody needs to know how.
void forget(thread& t) noexcept;

}  // namespace runq::model::explore
