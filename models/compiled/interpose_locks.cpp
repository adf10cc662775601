// SPDX-License-Identifier: MIT
// Locks with readers and writers, barriers, clocks, and the threads of C11, as the C library offers them. In a check
// they are modelled; outside of one they do what they always do.
#include <cerrno>
#include <cstring>
#include <ctime>

#include <fmt/format.h>
#include <pthread.h>
#include <sys/time.h>
#include <threads.h>
#include <unistd.h>

#include "interpose.hpp"
#include "register_use.hpp"

using namespace runq::model::compiled;  // NOLINT(google-build-using-namespace): the functions below have C's names
using runq::model::failure;
using runq::model::rmw_op;

// --- readers and a writer: the first word holds the number of readers, or `writing` ---------------------------------

namespace {

constexpr unsigned word = 4;
constexpr std::uint64_t writing = 0x8000'0000;

[[nodiscard]] bool take(session& s, pthread_rwlock_t* lock, bool as_writer, bool blocking, const void* code) {
  constexpr auto what = program_locks::taken_from::lock;
  const bool done = as_writer ? s.locks().take(lock, word, 0, 1, writing, blocking, what, code)
                              : s.locks().take(lock, word, 0, writing, 1, blocking, what, code);
  if (done) s.locks().note_held(a_read_write_lock, lock, code);
  return done;
}
[[nodiscard]] int take_in_time(session& s, pthread_rwlock_t* lock, bool as_writer, const timespec* until,
                               const void* code) {
  s.objects().use(a_read_write_lock, lock, code);
  return take_before(s, until, code, [&] { return take(s, lock, as_writer, false, code); });
}

}  // namespace

RUNQ_HOOK int pthread_rwlock_init(pthread_rwlock_t* lock, const pthread_rwlockattr_t* attributes) {
  RUNQ_PASS_ON(pthread_rwlock_init, lock, attributes)
  if (attributes != nullptr) s.memory().access(attributes, sizeof *attributes, false, code);
  s.objects().initialise(a_read_write_lock, lock, code);
  s.atomics().begin_lock(lock, word, 0);
  return 0;
}
RUNQ_HOOK int pthread_rwlock_destroy(pthread_rwlock_t* lock) {
  RUNQ_PASS_ON(pthread_rwlock_destroy, lock)
  s.objects().destroy(a_read_write_lock, lock, code);
  return 0;
}
RUNQ_ENTRY("", "pthread_rwlock_rdlock")
extern "C" int runq_pthread_rwlock_rdlock(pthread_rwlock_t* lock) {
  const caller_state caller = runq_caller;
  RUNQ_PASS_ON(pthread_rwlock_rdlock, lock)
  s.objects().use(a_read_write_lock, lock, code);
  s.waits().look_for_loop(caller, code);
  static_cast<void>(take(s, lock, false, true, code));
  return 0;
}
RUNQ_ENTRY("", "pthread_rwlock_wrlock")
extern "C" int runq_pthread_rwlock_wrlock(pthread_rwlock_t* lock) {
  const caller_state caller = runq_caller;
  RUNQ_PASS_ON(pthread_rwlock_wrlock, lock)
  s.objects().use(a_read_write_lock, lock, code);
  s.waits().look_for_loop(caller, code);
  static_cast<void>(take(s, lock, true, true, code));
  return 0;
}
RUNQ_ENTRY("", "pthread_rwlock_tryrdlock")
extern "C" int runq_pthread_rwlock_tryrdlock(pthread_rwlock_t* lock) {
  const caller_state caller = runq_caller;
  RUNQ_PASS_ON(pthread_rwlock_tryrdlock, lock)
  s.objects().use(a_read_write_lock, lock, code);
  s.waits().look_for_loop(caller, code);
  return take(s, lock, false, false, code) ? 0 : EBUSY;
}
RUNQ_ENTRY("", "pthread_rwlock_trywrlock")
extern "C" int runq_pthread_rwlock_trywrlock(pthread_rwlock_t* lock) {
  const caller_state caller = runq_caller;
  RUNQ_PASS_ON(pthread_rwlock_trywrlock, lock)
  s.objects().use(a_read_write_lock, lock, code);
  s.waits().look_for_loop(caller, code);
  return take(s, lock, true, false, code) ? 0 : EBUSY;
}
RUNQ_HOOK int pthread_rwlock_timedrdlock(pthread_rwlock_t* lock, const timespec* until) {
  RUNQ_PASS_ON(pthread_rwlock_timedrdlock, lock, until)
  return take_in_time(s, lock, false, until, code);
}
RUNQ_HOOK int pthread_rwlock_timedwrlock(pthread_rwlock_t* lock, const timespec* until) {
  RUNQ_PASS_ON(pthread_rwlock_timedwrlock, lock, until)
  return take_in_time(s, lock, true, until, code);
}
RUNQ_HOOK int pthread_rwlock_clockrdlock(pthread_rwlock_t* lock, clockid_t clock, const timespec* until) {
  RUNQ_PASS_ON(pthread_rwlock_clockrdlock, lock, clock, until)
  if (!measures_waits(clock)) return EINVAL;
  return take_in_time(s, lock, false, until, code);
}
RUNQ_HOOK int pthread_rwlock_clockwrlock(pthread_rwlock_t* lock, clockid_t clock, const timespec* until) {
  RUNQ_PASS_ON(pthread_rwlock_clockwrlock, lock, clock, until)
  if (!measures_waits(clock)) return EINVAL;
  return take_in_time(s, lock, true, until, code);
}
RUNQ_HOOK int pthread_rwlock_unlock(pthread_rwlock_t* lock) {
  RUNQ_PASS_ON(pthread_rwlock_unlock, lock)
  s.objects().use(a_read_write_lock, lock, code);
  s.locks().require_held(a_read_write_lock, lock, code);
  --s.locks().held(lock);
  // This thread holds it: no other thread changes the kind of its holder.
  const std::uint64_t value = s.atomics().held_in_lock(lock, word);
  s.locks().give_back(lock, word, value == writing ? writing : 1, value == writing, code);
  return 0;
}

// --- barriers: how many have come, how many have to, and what says how many times all have ---------------------------

namespace {

/// As the C library's, when it has just been initialised.
struct barrier {
  std::uint32_t arrived;
  std::uint32_t unused;
  std::uint32_t needed;
};
static_assert(sizeof(barrier) <= a_barrier.mark);

/// Threads still look at the rounds when others have gone on, who may destroy the barrier: so these lie elsewhere.
[[nodiscard]] std::uint32_t* rounds_of(session& s, const barrier* b) {
  return s.waits().word_of(b, s.objects().lives_of(b));
}

}  // namespace

RUNQ_HOOK int pthread_barrier_init(pthread_barrier_t* at, const pthread_barrierattr_t* attributes,
                                   unsigned count) noexcept {
  RUNQ_PASS_ON_AND_NOTE(a_barrier, pthread_barrier_init, at, attributes, count)
  if (attributes != nullptr) s.memory().access(attributes, sizeof *attributes, false, code);
  if (count == 0) return EINVAL;
  s.objects().initialise(a_barrier, at, code);
  const barrier fresh{0, 0, count};
  std::memcpy(at, &fresh, sizeof fresh);
  s.atomics().begin_lock(at, word, 0);
  return 0;
}
RUNQ_HOOK int pthread_barrier_destroy(pthread_barrier_t* at) noexcept {
  RUNQ_PASS_ON(pthread_barrier_destroy, at)
  s.objects().destroy(a_barrier, at, code);
  return 0;
}
RUNQ_HOOK int pthread_barrier_wait(pthread_barrier_t* at) noexcept {
  RUNQ_PASS_ON(pthread_barrier_wait, at)
  s.objects().use(a_barrier, at, code);
  auto* const b = reinterpret_cast<barrier*>(at);
  std::uint32_t* const rounds = rounds_of(s, b);
  const std::uint32_t needed = b->needed;
  if (needed == 0) {
    s.code().fail(failure::misuse,
                  fmt::format("{} is used whose memory was overwritten", s.memory().name_of_object(a_barrier, at)),
                  code);
  }
  if (s.atomics().has_rounds()) {
    const auto arrival = s.atomics().arrive(&b->arrived, word, {needed, may_look_at_result(code)}, code);
    return s.atomics().depart(arrival, code) ? PTHREAD_BARRIER_SERIAL_THREAD : 0;
  }
  const std::uint64_t before = s.atomics().add_to_lock(&b->arrived, word, std::memory_order::acq_rel, code);
  const std::uint64_t round = before / needed;
  if ((before + 1) % needed == 0) {
    // Those who have come last in two rounds may get here in any order: each has seen all that arrived before it.
    s.atomics().rmw(rounds, word, rmw_op::add, 1, std::memory_order::release, code);
    return PTHREAD_BARRIER_SERIAL_THREAD;
  }
  s.waits().wait_until_above(rounds, round, code);
  return 0;
}

// --- clocks ---------------------------------------------------------------------------------------------------------

RUNQ_HOOK int clock_gettime(clockid_t clock, timespec* now) noexcept {
  RUNQ_PASS_ON(clock_gettime, clock, now)
  if (clock > CLOCK_TAI) {
    errno = EINVAL;
    return -1;
  }
  s.memory().access(now, sizeof *now, true, code);
  const std::uint64_t time = s.waits().time(code);
  now->tv_sec = static_cast<time_t>(time / nanoseconds_per_second);
  now->tv_nsec = static_cast<long>(time % nanoseconds_per_second);
  return 0;
}
RUNQ_HOOK int gettimeofday(timeval* now, void* zone) noexcept {
  RUNQ_PASS_ON(gettimeofday, now, zone)
  s.memory().access(now, sizeof *now, true, code);
  const std::uint64_t time = s.waits().time(code);
  now->tv_sec = static_cast<time_t>(time / nanoseconds_per_second);
  now->tv_usec = static_cast<suseconds_t>(time % nanoseconds_per_second / 1000);
  return 0;
}
RUNQ_HOOK time_t time(time_t* now) noexcept {
  RUNQ_PASS_ON(time, now)
  const auto seconds = static_cast<time_t>(s.waits().time(code) / nanoseconds_per_second);
  if (now == nullptr) return seconds;
  s.memory().access(now, sizeof *now, true, code);
  return *now = seconds;
}

// A thread that sleeps goes on after that time; the search explores anyway what other threads do meanwhile.
namespace {

void sleep_for(session& s, std::uint64_t nanoseconds) {
  s.waits().let_time_pass_until(s.waits().known_time() + nanoseconds);
}

[[nodiscard]] bool is_duration(const timespec& t) { return t.tv_sec >= 0 && is_time(t); }

}  // namespace

RUNQ_HOOK int nanosleep(const timespec* duration, timespec* left) {
  RUNQ_PASS_ON(nanosleep, duration, left)
  const timespec wanted = time_at(s, duration, code);
  if (!is_duration(wanted)) {
    errno = EINVAL;
    return -1;
  }
  sleep_for(s, to_nanoseconds(wanted));
  return 0;
}
RUNQ_HOOK int clock_nanosleep(clockid_t clock, int flags, const timespec* time, timespec* left) {
  RUNQ_PASS_ON(clock_nanosleep, clock, flags, time, left)
  const timespec wanted = time_at(s, time, code);
  if (clock > CLOCK_TAI || !is_duration(wanted)) return EINVAL;
  if ((flags & TIMER_ABSTIME) != 0) {
    s.waits().let_time_pass_until(to_nanoseconds(wanted));
  } else {
    sleep_for(s, to_nanoseconds(wanted));
  }
  return 0;
}
RUNQ_HOOK int usleep(useconds_t microseconds) {
  RUNQ_PASS_ON(usleep, microseconds)
  static_cast<void>(code);
  sleep_for(s, std::uint64_t{microseconds} * 1000);
  return 0;
}
RUNQ_HOOK unsigned sleep(unsigned seconds) {
  RUNQ_PASS_ON(sleep, seconds)
  static_cast<void>(code);
  sleep_for(s, seconds * nanoseconds_per_second);
  return 0;
}

// --- the threads of C11 ---------------------------------------------------------------------------------------------
//
// The C library makes these objects out of those of pthreads; so does the checker, for which they have room.

namespace {

[[nodiscard]] pthread_mutex_t* posix(mtx_t* m) { return reinterpret_cast<pthread_mutex_t*>(m); }
[[nodiscard]] pthread_cond_t* posix(cnd_t* c) { return reinterpret_cast<pthread_cond_t*>(c); }
static_assert(sizeof(mtx_t) == sizeof(pthread_mutex_t) && sizeof(cnd_t) == sizeof(pthread_cond_t));
static_assert(sizeof(once_flag) == sizeof(pthread_once_t) && sizeof(tss_t) == sizeof(pthread_key_t));

[[nodiscard]] int to_c11(int error) {
  switch (error) {
    case 0: return thrd_success;
    case EBUSY: return thrd_busy;
    case ETIMEDOUT: return thrd_timedout;
    case ENOMEM: return thrd_nomem;
    default: return thrd_error;
  }
}

}  // namespace

RUNQ_HOOK int thrd_create(thrd_t* thread, thrd_start_t function, void* argument) {
  RUNQ_PASS_ON(thrd_create, thread, function, argument)
  s.memory().access(thread, sizeof *thread, true, code);
  // A function of C11 returns an int, which is the lower half of the register in which a pointer is returned.
  *thread = s.spawn(reinterpret_cast<void* (*)(void*)>(reinterpret_cast<void*>(function)), argument, code);
  return thrd_success;
}
RUNQ_HOOK int thrd_join(thrd_t thread, int* result) {
  RUNQ_PASS_ON(thrd_join, thread, result)
  if (s.threads().is_running(thread)) return thrd_error;
  void* const returned = s.threads().join(thread, code);
  if (result == nullptr) return thrd_success;
  s.memory().access(result, sizeof *result, true, code);
  *result = static_cast<int>(reinterpret_cast<std::uintptr_t>(returned));
  return thrd_success;
}
RUNQ_HOOK thrd_t thrd_current() { return pthread_self(); }
RUNQ_HOOK int thrd_detach(thrd_t thread) { return to_c11(pthread_detach(thread)); }
RUNQ_HOOK void thrd_exit(int result) { pthread_exit(reinterpret_cast<void*>(static_cast<std::intptr_t>(result))); }
RUNQ_HOOK void thrd_yield() { sched_yield(); }
RUNQ_HOOK int thrd_sleep(const timespec* duration, timespec* left) {
  constexpr int another_error = -2;  // than that a signal has ended the sleep
  return nanosleep(duration, left) == 0 ? 0 : another_error;
}
RUNQ_HOOK int mtx_init(mtx_t* m, int type) {
  RUNQ_PASS_ON(mtx_init, m, type)
  if ((type & ~(mtx_plain | mtx_timed | mtx_recursive)) != 0) return thrd_error;
  s.objects().initialise(a_mutex, m, code);
  posix(m)->__data.__kind = (type & mtx_recursive) != 0 ? PTHREAD_MUTEX_RECURSIVE : PTHREAD_MUTEX_NORMAL;
  return thrd_success;
}
RUNQ_HOOK void mtx_destroy(mtx_t* m) { pthread_mutex_destroy(posix(m)); }
RUNQ_HOOK int mtx_lock(mtx_t* m) { return to_c11(pthread_mutex_lock(posix(m))); }
RUNQ_HOOK int mtx_trylock(mtx_t* m) { return to_c11(pthread_mutex_trylock(posix(m))); }
RUNQ_HOOK int mtx_timedlock(mtx_t* m, const timespec* until) {
  return to_c11(pthread_mutex_timedlock(posix(m), until));
}
RUNQ_HOOK int mtx_unlock(mtx_t* m) { return to_c11(pthread_mutex_unlock(posix(m))); }
RUNQ_HOOK int cnd_init(cnd_t* c) { return to_c11(pthread_cond_init(posix(c), nullptr)); }
RUNQ_HOOK void cnd_destroy(cnd_t* c) { pthread_cond_destroy(posix(c)); }
// By these, the state of the caller is that of their own caller.
extern "C" int runq_pthread_cond_wait(pthread_cond_t* c, pthread_mutex_t* m);
extern "C" int runq_pthread_cond_timedwait(pthread_cond_t* c, pthread_mutex_t* m, const timespec* until);
RUNQ_ENTRY("", "cnd_wait")
extern "C" int runq_cnd_wait(cnd_t* c, mtx_t* m) { return to_c11(runq_pthread_cond_wait(posix(c), posix(m))); }
RUNQ_ENTRY("", "cnd_timedwait")
extern "C" int runq_cnd_timedwait(cnd_t* c, mtx_t* m, const timespec* until) {
  return to_c11(runq_pthread_cond_timedwait(posix(c), posix(m), until));
}
RUNQ_HOOK int cnd_signal(cnd_t* c) { return to_c11(pthread_cond_signal(posix(c))); }
RUNQ_HOOK int cnd_broadcast(cnd_t* c) { return to_c11(pthread_cond_broadcast(posix(c))); }
RUNQ_HOOK void call_once(once_flag* flag, void (*function)(void)) {
  pthread_once(reinterpret_cast<pthread_once_t*>(flag), function);
}
RUNQ_HOOK int tss_create(tss_t* key, tss_dtor_t at_exit) { return to_c11(pthread_key_create(key, at_exit)); }
RUNQ_HOOK void tss_delete(tss_t key) {
  require_own_key(key, RUNQ_CALLER);
  pthread_key_delete(key);
}
RUNQ_HOOK void* tss_get(tss_t key) {
  require_own_key(key, RUNQ_CALLER);
  return pthread_getspecific(key);
}
RUNQ_HOOK int tss_set(tss_t key, void* value) {
  require_own_key(key, RUNQ_CALLER);
  return to_c11(pthread_setspecific(key, value));
}
