// SPDX-License-Identifier: MIT
// Threads, keys, and what is done once.
#include <cerrno>
#include <climits>
#include <cstdint>
#include <cstring>

#include <pthread.h>
#include <sched.h>
#include <threads.h>
#include <time.h>

#include "../compiled/hook.hpp"
#include "abi.hpp"
#include "arena.hpp"
#include "keys.hpp"
#include "locations.hpp"
#include "locks.hpp"
#include "report.hpp"
#include "runtime.hpp"
#include "scheduler.hpp"
#include "shadow.hpp"
#include "threads.hpp"

using namespace runq::model::explore;  // NOLINT(google-build-using-namespace): the functions below have C's names
using runq::model::event_kind;
using runq::model::failure;

namespace {

[[nodiscard]] thread& living_thread(pthread_t handle, const void* code) {
  thread* const t = thread_of(handle);
  if (t == nullptr || t->state == thread_state::gone || t->detached) {
    fail(failure::misuse, "no such thread: it has been joined or detached already, or there never was one", code);
  }
  return *t;
}

}  // namespace

namespace {

[[nodiscard]] pthread_t start_thread(bool detached, void* (*routine)(void*), int (*c_routine)(void*), void* argument,
                                     const void* code) {
  if (!exploring) refuse("a thread that starts before main()");
  step();
  begin_event();
  const thread& created = create_thread(detached, routine, c_routine, argument, code);
  return handle_of(created);
}

}  // namespace

RUNQ_HOOK int pthread_create(pthread_t* handle, const pthread_attr_t* attributes, void* (*routine)(void*),
                             void* argument) noexcept {
  int detached = PTHREAD_CREATE_JOINABLE;
  if (attributes != nullptr) pthread_attr_getdetachstate(attributes, &detached);
  *handle = start_thread(detached == PTHREAD_CREATE_DETACHED, routine, nullptr, argument, RUNQ_CALLER);
  step();
  return 0;
}
RUNQ_HOOK int pthread_join(pthread_t handle, void** result) {
  step();
  begin_event();
  thread& t = living_thread(handle, RUNQ_CALLER);
  if (&t == self) return EDEADLK;
  while (t.state != thread_state::ended) block(wait_kind::join, &t, RUNQ_CALLER);
  const std::uint32_t number = t.number;
  void* const value = take_result(t);
  note_call(event_kind::join, nullptr, number, RUNQ_CALLER);
  if (result != nullptr) *result = value;
  return 0;
}
RUNQ_HOOK int pthread_detach(pthread_t handle) noexcept {
  step();
  thread& t = living_thread(handle, RUNQ_CALLER);
  t.detached = true;
  if (t.state == thread_state::ended) forget(t);
  return 0;
}
RUNQ_HOOK int pthread_setname_np(pthread_t, const char*) noexcept { return 0; }

// On which processors a thread may run: it is told so, and nothing else depends on it.

namespace {

/// 0 or an error.
[[nodiscard]] int get_processors(const thread& t, std::size_t size, cpu_set_t* set) noexcept {
  if (size * CHAR_BIT < processors) return EINVAL;
  CPU_ZERO_S(size, set);
  for (std::size_t i = 0; i != processors; ++i) {
    if ((t.processors >> i & 1U) != 0) CPU_SET_S(i, size, set);
  }
  return 0;
}
[[nodiscard]] int set_processors(thread& t, std::size_t size, const cpu_set_t* set) noexcept {
  std::uint32_t chosen = 0;
  for (std::size_t i = 0; i != processors; ++i) {
    if (CPU_ISSET_S(i, size, set)) chosen |= 1U << i;
  }
  if (chosen == 0) return EINVAL;
  t.processors = chosen;
  return 0;
}
[[nodiscard]] int as_system_call(int error) noexcept {
  errno = error == 0 ? errno : error;
  return error == 0 ? 0 : -1;
}

}  // namespace

RUNQ_HOOK int pthread_setaffinity_np(pthread_t handle, std::size_t size, const cpu_set_t* set) noexcept {
  thread* const t = thread_of(handle);
  return t == nullptr ? ESRCH : set_processors(*t, size, set);
}
RUNQ_HOOK int pthread_getaffinity_np(pthread_t handle, std::size_t size, cpu_set_t* set) noexcept {
  const thread* const t = thread_of(handle);
  return t == nullptr ? ESRCH : get_processors(*t, size, set);
}
RUNQ_HOOK int sched_setaffinity(pid_t, std::size_t size, const cpu_set_t* set) noexcept {
  return as_system_call(set_processors(*self, size, set));
}
RUNQ_HOOK int sched_getaffinity(pid_t, std::size_t size, cpu_set_t* set) noexcept {
  return as_system_call(get_processors(*self, size, set));
}

// --- keys ------------------------------------------------------------------------------------------------------------

namespace {

struct key_state {
  bool is_used;
  void (*destructor)(void*);
};
key_state keys[max_keys]{};

}  // namespace

namespace runq::model::explore {

void destroy_specific() {
  if (self->specific == nullptr) return;
  for (int round = 0; round != PTHREAD_DESTRUCTOR_ITERATIONS; ++round) {
    bool found = false;
    for (std::uint32_t i = 0; i != max_keys; ++i) {
      void* const value = self->specific[i];
      self->specific[i] = nullptr;
      if (value == nullptr || !keys[i].is_used || keys[i].destructor == nullptr) continue;
      keys[i].destructor(value);
      found = true;
    }
    if (!found) return;
  }
}

}  // namespace runq::model::explore

RUNQ_HOOK int pthread_key_create(pthread_key_t* key, void (*destructor)(void*)) noexcept {
  for (std::uint32_t i = 0; i != max_keys; ++i) {
    if (keys[i].is_used) continue;
    keys[i] = {true, destructor};
    for (std::uint32_t t = 0; t != clock_width; ++t) {
      if (thread_at(t) != nullptr && thread_at(t)->specific != nullptr) thread_at(t)->specific[i] = nullptr;
    }
    *key = i;
    return 0;
  }
  return EAGAIN;
}
RUNQ_HOOK int pthread_key_delete(pthread_key_t key) noexcept {
  if (key >= max_keys || !keys[key].is_used) return EINVAL;
  keys[key] = {};
  return 0;
}
RUNQ_HOOK void* pthread_getspecific(pthread_key_t key) noexcept {
  return key < max_keys && self != nullptr && self->specific != nullptr ? self->specific[key] : nullptr;
}
RUNQ_HOOK int pthread_setspecific(pthread_key_t key, const void* value) noexcept {
  if (key >= max_keys || !keys[key].is_used || self == nullptr) return EINVAL;
  if (self->specific == nullptr) self->specific = static_cast<void**>(arena_allocate(max_keys * sizeof(void*)));
  self->specific[key] = const_cast<void*>(value);
  return 0;
}

// --- once ------------------------------------------------------------------------------------------------------------

namespace {

constexpr int once_running = 1;
constexpr int once_done = 2;

}  // namespace

RUNQ_HOOK int pthread_once(pthread_once_t* control, void (*routine)()) {
  const void* const code = RUNQ_CALLER;
  volatile int& state = *control;
  step();
  begin_event();
  access<sizeof(int)>(reinterpret_cast<std::uintptr_t>(control), is_atomic, code);
  while (state == once_running) block(wait_kind::once, control, code);
  if (state != once_done) {
    state = once_running;
    struct on_exit {
      pthread_once_t* control;
      bool is_done = false;
      ~on_exit() {
        *control = is_done ? once_done : 0;  // after an exception another call tries again
        if (is_done) hand_on(control);
        wake_all(wait_kind::once, control);
      }
    } end{control};
    routine();
    end.is_done = true;
    step();
  }
  acquire(control);
  return 0;
}

// Of local static variables: the first byte says that it is there, the second that a thread makes it.
RUNQ_HOOK int __cxa_guard_acquire(std::uint8_t* guard) noexcept {
  step();
  while (guard[0] == 0 && guard[1] != 0) block(wait_kind::guard, guard, RUNQ_CALLER);
  if (guard[0] != 0) {
    begin_event();
    acquire(guard);
    return 0;
  }
  guard[1] = 1;
  return 1;
}
RUNQ_HOOK void __cxa_guard_release(std::uint8_t* guard) noexcept {
  if (exploring && !in_runtime) {
    // Compiled code asks by an atomic load whether the variable is there.
    atomic_store(reinterpret_cast<std::uintptr_t>(guard), runq::model::compiled::guard_of_static::read_bytes, 1,
                 std::memory_order::release, RUNQ_CALLER);
    guard[0] = 1;
    hand_on(guard);
  }
  guard[0] = 1;
  guard[1] = 0;
  wake_all(wait_kind::guard, guard);
}
RUNQ_HOOK void __cxa_guard_abort(std::uint8_t* guard) noexcept {
  guard[1] = 0;
  wake_all(wait_kind::guard, guard);
}

// --- the threads of C11 ----------------------------------------------------------------------------------------------

RUNQ_HOOK int thrd_create(thrd_t* handle, thrd_start_t routine, void* argument) {
  *handle = start_thread(false, nullptr, routine, argument, RUNQ_CALLER);
  step();
  return thrd_success;
}
RUNQ_HOOK int thrd_join(thrd_t handle, int* result) {
  void* value = nullptr;
  if (pthread_join(handle, &value) != 0) return thrd_error;
  if (result != nullptr) *result = static_cast<int>(reinterpret_cast<std::intptr_t>(value));
  return thrd_success;
}
RUNQ_HOOK int thrd_detach(thrd_t handle) { return pthread_detach(handle) == 0 ? thrd_success : thrd_error; }
RUNQ_HOOK void thrd_yield() { sched_yield(); }
RUNQ_HOOK int thrd_sleep(const timespec* duration, timespec* left) { return nanosleep(duration, left); }
RUNQ_HOOK void call_once(once_flag* flag, void (*routine)()) {
  static_assert(sizeof(once_flag) == sizeof(pthread_once_t));
  pthread_once(reinterpret_cast<pthread_once_t*>(flag), routine);
}
RUNQ_HOOK int tss_create(tss_t* key, tss_dtor_t destructor) {
  return pthread_key_create(key, destructor) == 0 ? thrd_success : thrd_error;
}
RUNQ_HOOK void tss_delete(tss_t key) { pthread_key_delete(key); }
RUNQ_HOOK void* tss_get(tss_t key) { return pthread_getspecific(key); }
RUNQ_HOOK int tss_set(tss_t key, void* value) {
  return pthread_setspecific(key, value) == 0 ? thrd_success : thrd_error;
}
