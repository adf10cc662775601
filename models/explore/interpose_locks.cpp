// SPDX-License-Identifier: MIT
// Mutexes, locks with readers and a writer, condition variables, barriers, semaphores and spin locks. Their states lie
// in the objects, where those of the C library's initialisers have zeros.
#include <cerrno>
#include <climits>
#include <cstdint>
#include <cstring>
#include <string>

#include <pthread.h>
#include <semaphore.h>
#include <threads.h>

#include "../compiled/hook.hpp"
#include "deviations.hpp"
#include "locks.hpp"
#include "report.hpp"
#include "runtime.hpp"
#include "scheduler.hpp"
#include "shadow.hpp"
#include "threads.hpp"
#include "time.hpp"

using namespace runq::model::explore;  // NOLINT(google-build-using-namespace): the functions below have C's names
using runq::model::event_kind;
using runq::model::failure;

namespace {

/// An operation of the running thread on an object, which it reads and writes as if atomically.
void begin_call(const volatile void* object, const void* code) {
  if (!exploring) return;
  step_before_change(object);
  begin_event();
  access<4>(reinterpret_cast<std::uintptr_t>(object), is_atomic | is_a_write, code);
  if (notes_pairs) note_call_for(object, code);
}
/// It begins or ends its life: no other thread may use it at the same time.
void own(const volatile void* object, std::size_t size, const void* code) {
  access(reinterpret_cast<std::uintptr_t>(object), size, is_a_write, code);
}

// --- mutexes ---------------------------------------------------------------------------------------------------------

struct mutex_state {
  std::uint32_t locked;
  std::uint32_t again;  ///< of a recursive one: how many times more
  std::uint32_t owner;  ///< the number of the thread, plus 1
  std::uint32_t unused;
  std::int32_t kind;  ///< where the C library's initialisers put it
};
static_assert(sizeof(mutex_state) <= sizeof(pthread_mutex_t));

[[nodiscard]] mutex_state& state_of(pthread_mutex_t* m) noexcept { return *reinterpret_cast<mutex_state*>(m); }
[[nodiscard]] int kind_of(const mutex_state& m) noexcept { return m.kind & 3; }
[[nodiscard]] bool is_mine(const mutex_state& m) noexcept { return m.locked != 0 && m.owner == self->number + 1; }

void take(pthread_mutex_t* m, const void* code) {
  mutex_state& s = state_of(m);
  s.locked = 1;
  s.owner = self->number + 1;
  acquire(m);
  note_call(event_kind::lock, m, 1, code);
}

/// Returns 0 or ETIMEDOUT.
[[nodiscard]] int wait_and_take(pthread_mutex_t* m, std::uint64_t deadline, const void* code) {
  mutex_state& s = state_of(m);
  while (s.locked != 0) {
    note_call(event_kind::lock, m, 0, code);
    if (deadline != 0 && deadline <= clock_now()) return ETIMEDOUT;
    if (!block(wait_kind::lock, m, code, deadline) && s.locked != 0) return ETIMEDOUT;
  }
  take(m, code);
  return 0;
}

[[nodiscard]] int lock(pthread_mutex_t* m, std::uint64_t deadline, const void* code) {
  begin_call(m, code);
  mutex_state& s = state_of(m);
  if (is_mine(s)) {
    if (kind_of(s) == PTHREAD_MUTEX_RECURSIVE) {
      ++s.again;
      return 0;
    }
    if (kind_of(s) == PTHREAD_MUTEX_ERRORCHECK) return EDEADLK;
  }
  return wait_and_take(m, deadline, code);
}

void give_back(pthread_mutex_t* m, const void* code) {
  mutex_state& s = state_of(m);
  note_call(event_kind::unlock, m, 0, code);
  hand_on(m);
  s.locked = 0;
  s.owner = 0;
  wake_all(wait_kind::lock, m);
}

}  // namespace

RUNQ_HOOK int pthread_mutex_init(pthread_mutex_t* m, const pthread_mutexattr_t* attributes) noexcept {
  int kind = PTHREAD_MUTEX_DEFAULT;
  if (attributes != nullptr) {
    int robust = 0;
    int protocol = 0;
    pthread_mutexattr_gettype(attributes, &kind);
    pthread_mutexattr_getrobust(attributes, &robust);
    pthread_mutexattr_getprotocol(attributes, &protocol);
    if (robust != PTHREAD_MUTEX_STALLED) refuse("a robust mutex");
    if (protocol != PTHREAD_PRIO_NONE) refuse("a mutex that changes priorities");
  }
  own(m, sizeof *m, RUNQ_CALLER);
  std::memset(m, 0, sizeof *m);
  state_of(m).kind = kind;
  return 0;
}
RUNQ_HOOK int pthread_mutex_destroy(pthread_mutex_t* m) noexcept {
  if (exploring && state_of(m).locked != 0) {
    fail(failure::misuse, "a mutex is destroyed while it is locked", RUNQ_CALLER);
  }
  own(m, sizeof *m, RUNQ_CALLER);
  return 0;
}
RUNQ_HOOK int pthread_mutex_lock(pthread_mutex_t* m) noexcept { return lock(m, 0, RUNQ_CALLER); }
RUNQ_HOOK int pthread_mutex_trylock(pthread_mutex_t* m) noexcept {
  begin_call(m, RUNQ_CALLER);
  mutex_state& s = state_of(m);
  if (is_mine(s) && kind_of(s) == PTHREAD_MUTEX_RECURSIVE) {
    ++s.again;
    return 0;
  }
  if (s.locked != 0) {
    note_call(event_kind::lock, m, 0, RUNQ_CALLER);
    return EBUSY;
  }
  take(m, RUNQ_CALLER);
  return 0;
}
RUNQ_HOOK int pthread_mutex_timedlock(pthread_mutex_t* m, const timespec* until) noexcept {
  return lock(m, deadline_of(CLOCK_REALTIME, *until), RUNQ_CALLER);
}
RUNQ_HOOK int pthread_mutex_clocklock(pthread_mutex_t* m, clockid_t clock, const timespec* until) noexcept {
  return lock(m, deadline_of(clock, *until), RUNQ_CALLER);
}
RUNQ_HOOK int pthread_mutex_unlock(pthread_mutex_t* m) noexcept {
  begin_call(m, RUNQ_CALLER);
  mutex_state& s = state_of(m);
  if (!is_mine(s)) {
    if (kind_of(s) != PTHREAD_MUTEX_TIMED_NP) return EPERM;
    if (exploring) fail(failure::misuse, "a mutex is unlocked that this thread has not locked", RUNQ_CALLER);
  }
  if (s.again != 0) {
    --s.again;
    return 0;
  }
  give_back(m, RUNQ_CALLER);
  return 0;
}

// --- readers and a writer --------------------------------------------------------------------------------------------

namespace {

struct rwlock_state {
  std::uint32_t readers;
  std::uint32_t writer;  ///< the number of the thread, plus 1
};

[[nodiscard]] rwlock_state& state_of(pthread_rwlock_t* l) noexcept { return *reinterpret_cast<rwlock_state*>(l); }

[[nodiscard]] bool try_lock(pthread_rwlock_t* l, bool writes, const void* code) {
  rwlock_state& s = state_of(l);
  if (s.writer != 0 || (writes && s.readers != 0)) {
    note_call(event_kind::lock, l, 0, code);
    return false;
  }
  if (writes) {
    s.writer = self->number + 1;
    acquire_as_writer(l);
  } else {
    ++s.readers;
    acquire(l);
  }
  note_call(event_kind::lock, l, 1, code);
  return true;
}
[[nodiscard]] int lock(pthread_rwlock_t* l, bool writes, std::uint64_t deadline, const void* code) {
  begin_call(l, code);
  if (state_of(l).writer == self->number + 1) return EDEADLK;
  while (!try_lock(l, writes, code)) {
    if (deadline != 0 && deadline <= clock_now()) return ETIMEDOUT;
    block(writes ? wait_kind::lock : wait_kind::read_lock, l, code, deadline);
  }
  return 0;
}

}  // namespace

RUNQ_HOOK int pthread_rwlock_init(pthread_rwlock_t* l, const pthread_rwlockattr_t*) noexcept {
  own(l, sizeof *l, RUNQ_CALLER);
  std::memset(l, 0, sizeof *l);
  return 0;
}
RUNQ_HOOK int pthread_rwlock_destroy(pthread_rwlock_t* l) noexcept {
  if (exploring && (state_of(l).readers != 0 || state_of(l).writer != 0)) {
    fail(failure::misuse, "a lock is destroyed while it is locked", RUNQ_CALLER);
  }
  own(l, sizeof *l, RUNQ_CALLER);
  return 0;
}
RUNQ_HOOK int pthread_rwlock_rdlock(pthread_rwlock_t* l) noexcept { return lock(l, false, 0, RUNQ_CALLER); }
RUNQ_HOOK int pthread_rwlock_wrlock(pthread_rwlock_t* l) noexcept { return lock(l, true, 0, RUNQ_CALLER); }
RUNQ_HOOK int pthread_rwlock_tryrdlock(pthread_rwlock_t* l) noexcept {
  begin_call(l, RUNQ_CALLER);
  return try_lock(l, false, RUNQ_CALLER) ? 0 : EBUSY;
}
RUNQ_HOOK int pthread_rwlock_trywrlock(pthread_rwlock_t* l) noexcept {
  begin_call(l, RUNQ_CALLER);
  return try_lock(l, true, RUNQ_CALLER) ? 0 : EBUSY;
}
RUNQ_HOOK int pthread_rwlock_timedrdlock(pthread_rwlock_t* l, const timespec* until) noexcept {
  return lock(l, false, deadline_of(CLOCK_REALTIME, *until), RUNQ_CALLER);
}
RUNQ_HOOK int pthread_rwlock_timedwrlock(pthread_rwlock_t* l, const timespec* until) noexcept {
  return lock(l, true, deadline_of(CLOCK_REALTIME, *until), RUNQ_CALLER);
}
RUNQ_HOOK int pthread_rwlock_clockrdlock(pthread_rwlock_t* l, clockid_t clock, const timespec* until) noexcept {
  return lock(l, false, deadline_of(clock, *until), RUNQ_CALLER);
}
RUNQ_HOOK int pthread_rwlock_clockwrlock(pthread_rwlock_t* l, clockid_t clock, const timespec* until) noexcept {
  return lock(l, true, deadline_of(clock, *until), RUNQ_CALLER);
}
RUNQ_HOOK int pthread_rwlock_unlock(pthread_rwlock_t* l) noexcept {
  begin_call(l, RUNQ_CALLER);
  rwlock_state& s = state_of(l);
  note_call(event_kind::unlock, l, 0, RUNQ_CALLER);
  if (s.writer == self->number + 1) {
    s.writer = 0;
    hand_on(l);
  } else if (s.readers != 0) {
    --s.readers;
    hand_on_as_reader(l);
  } else {
    fail(failure::misuse, "a lock is unlocked that this thread has not locked", RUNQ_CALLER);
  }
  wake_all(wait_kind::read_lock, l);
  wake_all(wait_kind::lock, l);
  return 0;
}

// --- condition variables ---------------------------------------------------------------------------------------------

namespace {

[[nodiscard]] int wait(pthread_cond_t* c, pthread_mutex_t* m, std::uint64_t deadline, const void* code) {
  begin_call(c, code);
  mutex_state& s = state_of(m);
  if (!is_mine(s)) fail(failure::misuse, "a thread waits with a mutex that it has not locked", code);
  const std::uint32_t again = s.again;
  s.again = 0;
  give_back(m, code);
  bool woken = true;
  if (deadline != 0 && deadline <= clock_now()) {
    woken = false;
  } else if (deviate(deviation_kind::spurious_wakeup, 1, [] {
               return static_cast<std::uint32_t>(choices.spurious.happens(choices.spurious_wakeups));
             }) != 0) {
    yield();
  } else {
    woken = block(wait_kind::condition, c, code, deadline);
  }
  begin_call(m, code);
  static_cast<void>(wait_and_take(m, 0, code));
  state_of(m).again = again;
  return woken ? 0 : ETIMEDOUT;
}

/// The attribute says by which clock the C library's pthread_cond_timedwait() measures; the first word keeps it here.
[[nodiscard]] clockid_t clock_of(const pthread_cond_t* c) noexcept {
  std::uint32_t clock = 0;
  std::memcpy(&clock, c, sizeof clock);
  return clock == CLOCK_MONOTONIC ? CLOCK_MONOTONIC : CLOCK_REALTIME;
}

}  // namespace

RUNQ_HOOK int pthread_cond_init(pthread_cond_t* c, const pthread_condattr_t* attributes) noexcept {
  clockid_t clock = CLOCK_REALTIME;
  if (attributes != nullptr) pthread_condattr_getclock(attributes, &clock);
  own(c, sizeof *c, RUNQ_CALLER);
  std::memset(c, 0, sizeof *c);
  const auto kept = static_cast<std::uint32_t>(clock);
  std::memcpy(c, &kept, sizeof kept);
  return 0;
}
RUNQ_HOOK int pthread_cond_destroy(pthread_cond_t* c) noexcept {
  if (exploring && count_waiting(wait_kind::condition, c) != 0) {
    fail(failure::misuse, "a condition variable is destroyed while a thread waits for it", RUNQ_CALLER);
  }
  own(c, sizeof *c, RUNQ_CALLER);
  return 0;
}
RUNQ_HOOK int pthread_cond_wait(pthread_cond_t* c, pthread_mutex_t* m) { return wait(c, m, 0, RUNQ_CALLER); }
RUNQ_HOOK int pthread_cond_timedwait(pthread_cond_t* c, pthread_mutex_t* m, const timespec* until) {
  return wait(c, m, deadline_of(clock_of(c), *until), RUNQ_CALLER);
}
RUNQ_HOOK int pthread_cond_clockwait(pthread_cond_t* c, pthread_mutex_t* m, clockid_t clock, const timespec* until) {
  return wait(c, m, deadline_of(clock, *until), RUNQ_CALLER);
}
RUNQ_HOOK int pthread_cond_signal(pthread_cond_t* c) noexcept {
  begin_call(c, RUNQ_CALLER);
  wake_one(wait_kind::condition, c);
  return 0;
}
RUNQ_HOOK int pthread_cond_broadcast(pthread_cond_t* c) noexcept {
  begin_call(c, RUNQ_CALLER);
  wake_all(wait_kind::condition, c);
  return 0;
}

// --- barriers --------------------------------------------------------------------------------------------------------

namespace {

struct barrier_state {
  std::uint32_t arrived;
  std::uint32_t needed;
};
static_assert(sizeof(barrier_state) <= sizeof(pthread_barrier_t));

[[nodiscard]] barrier_state& state_of(pthread_barrier_t* b) noexcept { return *reinterpret_cast<barrier_state*>(b); }

}  // namespace

RUNQ_HOOK int pthread_barrier_init(pthread_barrier_t* b, const pthread_barrierattr_t*, unsigned count) noexcept {
  if (count == 0) return EINVAL;
  own(b, sizeof *b, RUNQ_CALLER);
  std::memset(b, 0, sizeof *b);
  state_of(b).needed = count;
  return 0;
}
RUNQ_HOOK int pthread_barrier_destroy(pthread_barrier_t* b) noexcept {
  if (count_waiting(wait_kind::barrier, b) != 0) {
    fail(failure::misuse, "a barrier is destroyed while a thread waits at it", RUNQ_CALLER);
  }
  own(b, sizeof *b, RUNQ_CALLER);
  return 0;
}
RUNQ_HOOK int pthread_barrier_wait(pthread_barrier_t* b) noexcept {
  begin_call(b, RUNQ_CALLER);
  barrier_state& s = state_of(b);
  add_to(b);
  if (++s.arrived != s.needed) {
    // The last one teaches the others, because any of them may destroy the barrier then.
    block(wait_kind::barrier, b, RUNQ_CALLER);
    return 0;
  }
  s.arrived = 0;
  acquire(b);
  hand_on(b);
  teach_waiting(wait_kind::barrier, b);
  wake_all(wait_kind::barrier, b);
  return PTHREAD_BARRIER_SERIAL_THREAD;
}

// --- semaphores ------------------------------------------------------------------------------------------------------

namespace {

[[nodiscard]] std::uint32_t& value_of(sem_t* s) noexcept { return *reinterpret_cast<std::uint32_t*>(s); }

[[nodiscard]] int fail_with(int error) noexcept {
  errno = error;
  return -1;
}
[[nodiscard]] int wait(sem_t* s, std::uint64_t deadline, const void* code) {
  begin_call(s, code);
  while (value_of(s) == 0) {
    if (deadline != 0 && deadline <= clock_now()) return fail_with(ETIMEDOUT);
    block(wait_kind::semaphore, s, code, deadline);
  }
  --value_of(s);
  acquire(s);
  return 0;
}

}  // namespace

RUNQ_HOOK int sem_init(sem_t* s, int shared, unsigned value) noexcept {
  if (shared != 0) refuse("a semaphore between processes");
  if (value > SEM_VALUE_MAX) return fail_with(EINVAL);
  own(s, sizeof *s, RUNQ_CALLER);
  std::memset(s, 0, sizeof *s);
  value_of(s) = value;
  return 0;
}
RUNQ_HOOK int sem_destroy(sem_t* s) noexcept {
  if (count_waiting(wait_kind::semaphore, s) != 0) {
    fail(failure::misuse, "a semaphore is destroyed while a thread waits for it", RUNQ_CALLER);
  }
  own(s, sizeof *s, RUNQ_CALLER);
  return 0;
}
RUNQ_HOOK int sem_wait(sem_t* s) { return wait(s, 0, RUNQ_CALLER); }
RUNQ_HOOK int sem_timedwait(sem_t* s, const timespec* until) {
  return wait(s, deadline_of(CLOCK_REALTIME, *until), RUNQ_CALLER);
}
RUNQ_HOOK int sem_clockwait(sem_t* s, clockid_t clock, const timespec* until) {
  return wait(s, deadline_of(clock, *until), RUNQ_CALLER);
}
RUNQ_HOOK int sem_trywait(sem_t* s) noexcept {
  begin_call(s, RUNQ_CALLER);
  if (value_of(s) == 0) return fail_with(EAGAIN);
  --value_of(s);
  acquire(s);
  return 0;
}
RUNQ_HOOK int sem_post(sem_t* s) noexcept {
  begin_call(s, RUNQ_CALLER);
  add_to(s);
  ++value_of(s);
  wake_one(wait_kind::semaphore, s);
  return 0;
}
RUNQ_HOOK int sem_getvalue(sem_t* s, int* value) noexcept {
  begin_call(s, RUNQ_CALLER);
  *value = static_cast<int>(value_of(s));
  return 0;
}

// --- spin locks ------------------------------------------------------------------------------------------------------

RUNQ_HOOK int pthread_spin_init(pthread_spinlock_t* l, int) noexcept {
  own(l, sizeof *l, RUNQ_CALLER);
  *l = 0;
  return 0;
}
RUNQ_HOOK int pthread_spin_destroy(pthread_spinlock_t* l) noexcept {
  own(l, sizeof(int), RUNQ_CALLER);
  return 0;
}
RUNQ_HOOK int pthread_spin_trylock(pthread_spinlock_t* l) noexcept {
  begin_call(l, RUNQ_CALLER);
  if (*l != 0) return EBUSY;
  *l = static_cast<int>(self->number + 1);
  acquire(const_cast<int*>(l));
  return 0;
}
RUNQ_HOOK int pthread_spin_lock(pthread_spinlock_t* l) noexcept {
  begin_call(l, RUNQ_CALLER);
  while (*l != 0) block(wait_kind::lock, const_cast<int*>(l), RUNQ_CALLER);
  *l = static_cast<int>(self->number + 1);
  acquire(const_cast<int*>(l));
  return 0;
}
RUNQ_HOOK int pthread_spin_unlock(pthread_spinlock_t* l) noexcept {
  begin_call(l, RUNQ_CALLER);
  hand_on(const_cast<int*>(l));
  *l = 0;
  wake_all(wait_kind::lock, const_cast<int*>(l));
  return 0;
}

// --- the locks of C11, which are those of pthreads -------------------------------------------------------------------

namespace {

[[nodiscard]] pthread_mutex_t* to_pthread(mtx_t* m) noexcept {
  static_assert(sizeof(mtx_t) == sizeof(pthread_mutex_t));
  return reinterpret_cast<pthread_mutex_t*>(m);
}
[[nodiscard]] pthread_cond_t* to_pthread(cnd_t* c) noexcept {
  static_assert(sizeof(cnd_t) == sizeof(pthread_cond_t));
  return reinterpret_cast<pthread_cond_t*>(c);
}
[[nodiscard]] int to_c11(int error) noexcept {
  return error == 0 ? thrd_success : error == EBUSY ? thrd_busy : error == ETIMEDOUT ? thrd_timedout : thrd_error;
}

}  // namespace

RUNQ_HOOK int mtx_init(mtx_t* m, int type) {
  own(m, sizeof *m, RUNQ_CALLER);
  std::memset(m, 0, sizeof *m);
  state_of(to_pthread(m)).kind = (type & mtx_recursive) != 0 ? PTHREAD_MUTEX_RECURSIVE : PTHREAD_MUTEX_DEFAULT;
  return thrd_success;
}
RUNQ_HOOK void mtx_destroy(mtx_t* m) { pthread_mutex_destroy(to_pthread(m)); }
RUNQ_HOOK int mtx_lock(mtx_t* m) { return to_c11(lock(to_pthread(m), 0, RUNQ_CALLER)); }
RUNQ_HOOK int mtx_trylock(mtx_t* m) { return to_c11(pthread_mutex_trylock(to_pthread(m))); }
RUNQ_HOOK int mtx_timedlock(mtx_t* m, const timespec* until) {
  return to_c11(lock(to_pthread(m), deadline_of(CLOCK_REALTIME, *until), RUNQ_CALLER));
}
RUNQ_HOOK int mtx_unlock(mtx_t* m) { return to_c11(pthread_mutex_unlock(to_pthread(m))); }
RUNQ_HOOK int cnd_init(cnd_t* c) {
  own(c, sizeof *c, RUNQ_CALLER);
  std::memset(c, 0, sizeof *c);
  return thrd_success;
}
RUNQ_HOOK void cnd_destroy(cnd_t* c) { pthread_cond_destroy(to_pthread(c)); }
RUNQ_HOOK int cnd_wait(cnd_t* c, mtx_t* m) { return to_c11(wait(to_pthread(c), to_pthread(m), 0, RUNQ_CALLER)); }
RUNQ_HOOK int cnd_timedwait(cnd_t* c, mtx_t* m, const timespec* until) {
  return to_c11(wait(to_pthread(c), to_pthread(m), deadline_of(CLOCK_REALTIME, *until), RUNQ_CALLER));
}
RUNQ_HOOK int cnd_signal(cnd_t* c) { return to_c11(pthread_cond_signal(to_pthread(c))); }
RUNQ_HOOK int cnd_broadcast(cnd_t* c) { return to_c11(pthread_cond_broadcast(to_pthread(c))); }
