// SPDX-License-Identifier: MIT
// Threads, locks and waiting as the C library offers them; std::thread, std::mutex and so on end here. In a check they
// are modelled, or refused by name; outside of one they do what they always do.
#include <algorithm>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <linux/futex.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "abi.hpp"
#include "interpose.hpp"
#include "system.hpp"

using namespace runq::model::compiled;  // NOLINT(google-build-using-namespace): the functions below have C's names
using runq::model::failure;
using runq::model::rmw_op;

// --- threads ---------------------------------------------------------------------------------------------------------

namespace {

/// The running thread asks who it is.
void use_identity() {
  const checker_scope scope;
  current_session().threads().use_identity("one of them asks for the id of its thread");
}

}  // namespace

RUNQ_HOOK int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*function)(void*),
                             void* argument) {
  if (this_process.initialising) {
    std::fputs("runq-check: not modelled: threads that are started before main()\n", stderr);
    _exit(2);
  }
  RUNQ_PASS_ON(pthread_create, thread, attributes, function, argument)
  int detached = PTHREAD_CREATE_JOINABLE;
  if (attributes != nullptr) {
    s.memory().access(attributes, sizeof *attributes, false, code);
    pthread_attr_getdetachstate(attributes, &detached);
  }
  // Written before the thread begins, which may read it: the end of std::thread's constructor, too, comes before that.
  s.memory().access(thread, sizeof *thread, true, code);
  *thread = s.spawn(function, argument, code);
  if (detached == PTHREAD_CREATE_DETACHED) s.threads().detach(*thread, code);
  return 0;
}
RUNQ_HOOK int pthread_join(pthread_t thread, void** result) {
  RUNQ_PASS_ON(pthread_join, thread, result)
  if (s.threads().is_running(thread)) return EDEADLK;
  void* const returned = s.threads().join(thread, code);
  if (result == nullptr) return 0;
  s.memory().access(result, sizeof *result, true, code);
  *result = returned;
  return 0;
}
RUNQ_HOOK int pthread_detach(pthread_t thread) {
  RUNQ_PASS_ON(pthread_detach, thread)
  s.threads().detach(thread, code);
  return 0;
}

RUNQ_HOOK pthread_t pthread_self() noexcept {
  if (this_process.in_program) use_identity();
  const either_scope scope;
  static auto* const original = real<decltype(pthread_self)>("pthread_self");
  return original();
}
RUNQ_HOOK pid_t gettid() noexcept {
  if (this_process.in_program) use_identity();
  const either_scope scope;
  static auto* const original = real<decltype(gettid)>("gettid");
  return original();
}

// The search explores anyway what other threads do meanwhile.
RUNQ_HOOK int sched_yield() {
  if (this_process.in_program) return 0;
  static auto* const original = real<decltype(sched_yield)>("sched_yield");
  return original();
}

RUNQ_HOOK __attribute__((noreturn)) void pthread_exit(void* result) {
  if (!this_process.in_program) {
    static auto* const original = real<void(void*)>("pthread_exit");
    original(result);
    _exit(2);
  }
  this_process.in_program = false;
  current_session().threads().exit(result, RUNQ_CALLER);
}

// In C, pthread_cleanup_push() and pthread_cleanup_pop() end here.
RUNQ_HOOK void register_cleanup(void* buffer) __asm__("__pthread_register_cancel");
void register_cleanup(void* buffer) {
  if (!this_process.in_program) return real<void(void*)>("__pthread_register_cancel")(buffer);
  ++current_session().threads().cleanup_handlers();
}
RUNQ_HOOK void unregister_cleanup(void* buffer) __asm__("__pthread_unregister_cancel");
void unregister_cleanup(void* buffer) {
  if (!this_process.in_program) return real<void(void*)>("__pthread_unregister_cancel")(buffer);
  --current_session().threads().cleanup_handlers();
}

namespace {

/// Keys that were created for the program, rather than for a library behind its back.
constexpr pthread_key_t own_key = 0x4000'0000;

/// For each key that was created before main(), one of the C library, for a program that has checks of its own.
std::vector<pthread_key_t> keys_outside;

/// That key, if one is asked for outside of a check; nullptr: the session's is meant.
[[nodiscard]] const pthread_key_t* outside(pthread_key_t key) {
  const std::size_t number = key & ~own_key;
  const bool in_use = this_process.has_own_checks && !this_process.in_program && !this_process.initialising &&
                      number < keys_outside.size();
  return in_use ? &keys_outside[number] : nullptr;
}

}  // namespace

namespace runq::model::compiled {

void require_own_key(pthread_key_t key, const void* code) {
  const bool is_own = (key & own_key) != 0;
  // A test may have created it outside of the check.
  if (!this_process.in_program || is_own || this_process.has_own_checks || !current_session().code().is_own(code))
    return;
  const checker_scope scope;
  static_cast<void>(current_session().keys().value_of(~0U, code));
}

void give_keys_back() {
  for (std::size_t i = 0; i != keys_outside.size(); ++i) {
    pthread_setspecific(keys_outside[i], current_session().keys().value_of(static_cast<unsigned>(i), nullptr));
  }
}
void take_keys() {
  for (std::size_t i = 0; i != keys_outside.size(); ++i) {
    current_session().keys().value_of(static_cast<unsigned>(i), nullptr) = pthread_getspecific(keys_outside[i]);
  }
}

}  // namespace runq::model::compiled

namespace {

/// Whether the C library's key is meant: a library has created it.
[[nodiscard]] bool is_of_library(pthread_key_t key, const void* code) {
  require_own_key(key, code);
  return (key & own_key) == 0;
}

}  // namespace

RUNQ_HOOK int pthread_key_create(pthread_key_t* key, exit_handler at_exit) {
  if (!this_process.in_program && !this_process.initialising) {
    static auto* const original = real<decltype(pthread_key_create)>("pthread_key_create");
    return original(key, at_exit);
  }
  const bool before_main = this_process.initialising;
  const either_scope scope;
  session& s = current_session();
  if (s.checking()) s.memory().access(key, sizeof *key, true, RUNQ_CALLER);
  *key = s.keys().create(at_exit, RUNQ_CALLER) | own_key;
  if (before_main) {
    static auto* const original = real<decltype(pthread_key_create)>("pthread_key_create");
    return original(&keys_outside.emplace_back(), at_exit);
  }
  return 0;
}
RUNQ_HOOK int pthread_key_delete(pthread_key_t key) {
  if (is_of_library(key, RUNQ_CALLER)) {
    static auto* const original = real<decltype(pthread_key_delete)>("pthread_key_delete");
    return original(key);
  }
  if (const pthread_key_t* const actual = outside(key)) return pthread_key_delete(*actual);
  const either_scope scope;
  current_session().keys().remove(key & ~own_key, RUNQ_CALLER);
  return 0;
}
RUNQ_HOOK void* pthread_getspecific(pthread_key_t key) {
  if (is_of_library(key, RUNQ_CALLER)) {
    static auto* const original = real<decltype(pthread_getspecific)>("pthread_getspecific");
    return original(key);
  }
  if (const pthread_key_t* const actual = outside(key)) return pthread_getspecific(*actual);
  const either_scope scope;
  return current_session().keys().value_of(key & ~own_key, RUNQ_CALLER);
}
RUNQ_HOOK int pthread_setspecific(pthread_key_t key, const void* value) {
  if (is_of_library(key, RUNQ_CALLER)) {
    static auto* const original = real<decltype(pthread_setspecific)>("pthread_setspecific");
    return original(key, value);
  }
  if (const pthread_key_t* const actual = outside(key)) return pthread_setspecific(*actual, value);
  const either_scope scope;
  current_session().keys().value_of(key & ~own_key, RUNQ_CALLER) = const_cast<void*>(value);
  return 0;
}

RUNQ_HOOK int __cxa_thread_atexit(exit_handler function, void* argument, void* module) {
  if (!this_process.in_program && !this_process.initialising) {
    static auto* const original = real<int(exit_handler, void*, void*)>("__cxa_thread_atexit_impl");
    return original(function, argument, module);
  }
  const either_scope scope;
  current_session().threads().at_thread_exit(function, argument);
  return 0;
}
RUNQ_HOOK int __cxa_atexit(exit_handler function, void* argument, void* module) {
  if (!this_process.in_program && !this_process.initialising) {
    static auto* const original = real<int(exit_handler, void*, void*)>("__cxa_atexit");
    return original(function, argument, module);
  }
  const either_scope scope;
  current_session().threads().at_exit(function, argument);
  return 0;
}

RUNQ_HOOK int __cxa_at_quick_exit(exit_handler function, void* module) {
  if (!this_process.in_program && !this_process.initialising) {
    static auto* const original = real<int(exit_handler, void*)>("__cxa_at_quick_exit");
    return original(function, module);
  }
  const either_scope scope;
  current_session().threads().at_quick_exit(function, nullptr);
  return 0;
}

// --- mutexes --------------------------------------------------------------------------------------------------------

namespace {

/// As in the C library, with the kind.
constexpr int robust_bit = 16;

[[nodiscard]] int kind_of(const pthread_mutex_t* m) { return m->__data.__kind & 3; }
[[nodiscard]] bool is_robust(const pthread_mutex_t* m) { return (m->__data.__kind & robust_bit) != 0; }

/// What the state is that a robust mutex protects. Only who has the mutex reads or changes this.
enum protected_state : int { consistent, owner_died, lost };
[[nodiscard]] int& protection_of(pthread_mutex_t* m) { return m->__data.__owner; }

void give_back(session& s, pthread_mutex_t* m, const void* code) {
  s.locks().held(m) = 0;
  s.locks().unlock(m, code);
}

/// A thread has ended that had taken this robust mutex.
void abandon_mutex(void* mutex) {
  const checker_scope scope;
  auto* const m = static_cast<pthread_mutex_t*>(mutex);
  session& s = current_session();
  if (s.locks().held(m) == 0) return;
  protection_of(m) = owner_died;
  give_back(s, m, nullptr);
}

/// What a call returns by which the thread has taken the mutex.
[[nodiscard]] int result_of_taking(session& s, pthread_mutex_t* m, const void* code) {
  if (!is_robust(m)) return 0;
  if (protection_of(m) == lost) {
    give_back(s, m, code);
    return ENOTRECOVERABLE;
  }
  s.threads().at_death(&abandon_mutex, m);
  return protection_of(m) == owner_died ? EOWNERDEAD : 0;
}

/// Who gives the mutex back without making its state consistent makes it useless.
void give_back_as_it_is(session& s, pthread_mutex_t* m, const void* code) {
  if (is_robust(m) && protection_of(m) == owner_died) protection_of(m) = lost;
  give_back(s, m, code);
}

/// Before a thread takes a mutex: whether it has it already, and then what the call returns.
[[nodiscard]] bool held_already(session& s, pthread_mutex_t* m, int& result, const void* code) {
  s.objects().use(a_mutex, m, code);
  const int kind = kind_of(m);
  if (kind == PTHREAD_MUTEX_NORMAL || s.locks().held(m) == 0) return false;
  if (kind == PTHREAD_MUTEX_RECURSIVE) ++s.locks().held(m);
  result = kind == PTHREAD_MUTEX_RECURSIVE ? 0 : EDEADLK;
  return true;
}

[[nodiscard]] int try_lock(session& s, pthread_mutex_t* m, const caller_state& caller, const void* code) {
  int result = 0;
  if (held_already(s, m, result, code)) return result == EDEADLK ? EBUSY : 0;
  s.waits().look_for_loop(caller, code);
  if (s.locks().held(m) != 0) {
    // A generated program may call it so; its specification says what comes of it.
    if (s.code().is_from(code, "bits/gthr-default.h") && !s.threads().is_in_call()) {
      s.code().fail(failure::misuse,
                    fmt::format("T{} tries to lock {}, which it holds: undefined in C++", s.threads().running() - 1,
                                s.memory().name_of_object(a_mutex, m)),
                    code);
    }
    return EBUSY;
  }
  if (s.locks().fails_for_no_reason(code)) return EBUSY;
  if (!s.locks().try_lock(m, code, s.waits().read_in_earlier_round(caller, m, false, code))) return EBUSY;
  s.locks().note_held(a_mutex, m, code);
  return result_of_taking(s, m, code);
}

/// A timeout may always happen.
[[nodiscard]] int lock_with_timeout(session& s, pthread_mutex_t* m, const timespec* until, const void* code);

}  // namespace

RUNQ_HOOK int pthread_mutex_init(pthread_mutex_t* m, const pthread_mutexattr_t* attributes) {
  RUNQ_PASS_ON(pthread_mutex_init, m, attributes)
  int kind = PTHREAD_MUTEX_NORMAL;
  int robust = PTHREAD_MUTEX_STALLED;
  if (attributes != nullptr) {
    s.memory().access(attributes, sizeof *attributes, false, code);
    pthread_mutexattr_gettype(attributes, &kind);
    pthread_mutexattr_getrobust(attributes, &robust);
  }
  s.objects().initialise(a_mutex, m, code);
  m->__data.__kind = kind | (robust == PTHREAD_MUTEX_ROBUST ? robust_bit : 0);
  return 0;
}
RUNQ_HOOK int pthread_mutex_destroy(pthread_mutex_t* m) {
  RUNQ_PASS_ON(pthread_mutex_destroy, m)
  s.objects().destroy(a_mutex, m, code);
  return 0;
}
RUNQ_ENTRY("", "pthread_mutex_lock")
extern "C" int runq_pthread_mutex_lock(pthread_mutex_t* m) {
  const caller_state caller = runq_caller;
  RUNQ_PASS_ON(pthread_mutex_lock, m)
  int result = 0;
  if (held_already(s, m, result, code)) return result;
  s.waits().look_for_loop(caller, code);
  s.locks().lock(m, code);
  s.locks().note_held(a_mutex, m, code);
  return result_of_taking(s, m, code);
}
RUNQ_ENTRY("", "pthread_mutex_trylock")
extern "C" int runq_pthread_mutex_trylock(pthread_mutex_t* m) {
  const caller_state caller = runq_caller;
  RUNQ_PASS_ON(pthread_mutex_trylock, m)
  return try_lock(s, m, caller, code);
}
RUNQ_HOOK int pthread_mutex_timedlock(pthread_mutex_t* m, const timespec* until) {
  RUNQ_PASS_ON(pthread_mutex_timedlock, m, until)
  return lock_with_timeout(s, m, until, code);
}
RUNQ_HOOK int pthread_mutex_clocklock(pthread_mutex_t* m, clockid_t clock, const timespec* until) {
  RUNQ_PASS_ON(pthread_mutex_clocklock, m, clock, until)
  if (!measures_waits(clock)) return EINVAL;
  return lock_with_timeout(s, m, until, code);
}
RUNQ_HOOK int pthread_mutex_unlock(pthread_mutex_t* m) {
  RUNQ_PASS_ON(pthread_mutex_unlock, m)
  s.objects().use(a_mutex, m, code);
  unsigned& held = s.locks().held(m);
  if (held > 1) {
    --held;
    return 0;
  }
  if (held == 0 && (kind_of(m) != PTHREAD_MUTEX_NORMAL || is_robust(m))) return EPERM;
  s.locks().require_held(a_mutex, m, code);
  give_back_as_it_is(s, m, code);
  return 0;
}
RUNQ_HOOK int pthread_mutex_consistent(pthread_mutex_t* m) {
  RUNQ_PASS_ON(pthread_mutex_consistent, m)
  s.objects().use(a_mutex, m, code);
  if (!is_robust(m) || s.locks().held(m) == 0 || protection_of(m) != owner_died) return EINVAL;
  protection_of(m) = consistent;
  return 0;
}

// --- condition variables --------------------------------------------------------------------------------------------

namespace {

int lock_with_timeout(session& s, pthread_mutex_t* m, const timespec* until, const void* code) {
  int result = 0;
  if (held_already(s, m, result, code)) return result;
  result = take_before(s, until, code, [&] { return s.locks().held(m) == 0 && s.locks().try_lock(m, code); });
  if (result != 0) return result;
  s.locks().note_held(a_mutex, m, code);
  return result_of_taking(s, m, code);
}

/// While a thread waits for a condition variable, it does not have the mutex. A recursive mutex is given back once
/// only: a thread that has it more than once keeps it.
class without_mutex {
 public:
  without_mutex(session& s, pthread_mutex_t* m, const void* code)
      : s_(s), m_(m), code_(code), times_(s.locks().held(m)) {
    if (times_ > 1) return;
    s_.locks().require_held(a_mutex, m, code);
    give_back_as_it_is(s, m, code);
  }
  /// Returns what the call returns that waits, unless that is something else.
  [[nodiscard]] int take_again() {
    if (times_ > 1) return 0;
    s_.objects().use(a_mutex, m_, code_);
    s_.locks().lock(m_, code_);
    s_.locks().held(m_) = times_;
    return result_of_taking(s_, m_, code_);
  }

 private:
  session& s_;
  pthread_mutex_t* m_;
  const void* code_;
  unsigned times_;
};

constexpr unsigned every_thread = ~0U;

/// What a wait returns that does not begin; 0: it may.
[[nodiscard]] int may_wait(session& s, pthread_cond_t* c, pthread_mutex_t* m, const void* code) {
  s.objects().use(a_condition_variable, c, code);
  s.objects().use(a_mutex, m, code);
  return kind_of(m) != PTHREAD_MUTEX_NORMAL && s.locks().held(m) == 0 ? EPERM : 0;
}

[[nodiscard]] int wait(session& s, pthread_cond_t* c, pthread_mutex_t* m, const caller_state& caller,
                       const void* code) {
  if (const int error = may_wait(s, c, m, code); error != 0) return error;
  const program_waits::wait_begun begun = s.waits().before_wait(caller);
  if (s.waits().returns_at_once(begun, code)) return 0;
  const unsigned number = s.waits().begin_waiting_for_condition(c, m, code);
  without_mutex waiting(s, m, code);
  if (s.waits().wakes_up_for_no_reason(begun, code)) {
    static_cast<void>(s.waits().stop_waiting(c, number, code));
    s.waits().note_woken(begun);
  } else {
    s.waits().wait_until_woken(c, number, true, code);
  }
  return waiting.take_again();
}

[[nodiscard]] int wait_with_timeout(session& s, pthread_cond_t* c, pthread_mutex_t* m, const timespec* until,
                                    const caller_state& caller, const void* code) {
  const timespec end = time_at(s, until, code);
  if (!is_time(end)) return EINVAL;
  if (const int error = may_wait(s, c, m, code); error != 0) return error;
  const program_waits::wait_begun begun = s.waits().before_wait(caller);
  if (s.waits().returns_at_once(begun, code)) return 0;
  const unsigned number = s.waits().begin_waiting_for_condition(c, m, code);
  without_mutex waiting(s, m, code);
  bool timed_out = s.waits().times_out(code);
  if (!timed_out && s.waits().wakes_up_for_no_reason(begun, code)) {
    static_cast<void>(s.waits().stop_waiting(c, number, code));
    s.waits().note_woken(begun);
  } else if (timed_out) {
    timed_out = s.waits().stop_waiting(c, number, code);
    s.waits().let_time_pass_until(to_nanoseconds(end));
  } else {
    s.waits().wait_until_woken(c, number, false, code);
  }
  const int error = waiting.take_again();
  return error != 0 ? error : timed_out ? ETIMEDOUT : 0;
}

}  // namespace

RUNQ_HOOK int pthread_cond_init(pthread_cond_t* c, const pthread_condattr_t* attributes) {
  RUNQ_PASS_ON(pthread_cond_init, c, attributes)
  if (attributes != nullptr) s.memory().access(attributes, sizeof *attributes, false, code);
  s.objects().initialise(a_condition_variable, c, code);
  return 0;
}
RUNQ_HOOK int pthread_cond_destroy(pthread_cond_t* c) {
  RUNQ_PASS_ON(pthread_cond_destroy, c)
  s.objects().destroy(a_condition_variable, c, code);
  return 0;
}
RUNQ_ENTRY("", "pthread_cond_wait")
extern "C" int runq_pthread_cond_wait(pthread_cond_t* c, pthread_mutex_t* m) {
  const caller_state caller = runq_caller;
  RUNQ_PASS_ON(pthread_cond_wait, c, m)
  return wait(s, c, m, caller, code);
}
RUNQ_ENTRY("", "pthread_cond_timedwait")
extern "C" int runq_pthread_cond_timedwait(pthread_cond_t* c, pthread_mutex_t* m, const timespec* until) {
  const caller_state caller = runq_caller;
  RUNQ_PASS_ON(pthread_cond_timedwait, c, m, until)
  return wait_with_timeout(s, c, m, until, caller, code);
}
RUNQ_ENTRY("", "pthread_cond_clockwait")
extern "C" int runq_pthread_cond_clockwait(pthread_cond_t* c, pthread_mutex_t* m, clockid_t clock,
                                           const timespec* until) {
  const caller_state caller = runq_caller;
  RUNQ_PASS_ON(pthread_cond_clockwait, c, m, clock, until)
  if (!measures_waits(clock)) return EINVAL;
  return wait_with_timeout(s, c, m, until, caller, code);
}
RUNQ_HOOK int pthread_cond_signal(pthread_cond_t* c) {
  RUNQ_PASS_ON(pthread_cond_signal, c)
  s.objects().use(a_condition_variable, c, code);
  s.waits().wake(c, 1, code);
  return 0;
}
RUNQ_HOOK int pthread_cond_broadcast(pthread_cond_t* c) {
  RUNQ_PASS_ON(pthread_cond_broadcast, c)
  s.objects().use(a_condition_variable, c, code);
  s.waits().wake(c, every_thread, code);
  return 0;
}

// --- once: initialisation of function-local statics, and pthread_once -----------------------------------------------

namespace {

constexpr std::uint64_t not_begun = 0;
/// What pthread_once_t holds.
struct once_control {
  static constexpr std::size_t state_bytes = 4;
  static constexpr std::uint64_t under_way = 1;
  static constexpr std::uint64_t done = 2;
};

/// Whether the caller must do it; otherwise it has been done.
template <class Holds>
[[nodiscard]] bool begin_once(session& s, void* state, const void* code) {
  for (;;) {
    std::uint64_t expected = not_begun;
    if (s.atomics().compare_exchange(state, Holds::state_bytes, expected, Holds::under_way, false,
                                     std::memory_order::acquire, std::memory_order::acquire, code)) {
      return true;
    }
    if (expected == Holds::done) return false;
    if (expected != Holds::under_way) {
      s.code().fail(failure::misuse,
                    fmt::format("a pthread_once_t is used that was never initialised: it holds {}", expected), code);
    }
    s.waits().wait_while(state, Holds::state_bytes, Holds::under_way, std::memory_order::acquire, true, code);
  }
}

[[nodiscard]] void* state_of(std::uint64_t* guard) {
  return reinterpret_cast<std::byte*>(guard) + guard_of_static::state_at;
}

}  // namespace

// --- exceptions ------------------------------------------------------------------------------------------------------

/// The last user of an exception object frees it. The C++ library counts the users in code that is not instrumented;
/// therefore all that they did with the object is taken to come before this.
RUNQ_HOOK void free_exception(void* thrown) noexcept __asm__("__cxa_free_exception");
void free_exception(void* thrown) noexcept {
  void (*original)(void*) = nullptr;
  {
    const bool is_checked = this_process.in_program;
    this_process.in_program = false;
    original = real<void(void*)>("__cxa_free_exception");
    if (is_checked) current_session().memory().heap().take_over(thrown);
    this_process.in_program = is_checked;
  }
  original(thrown);
}

// The headers declare these in a namespace.
RUNQ_HOOK int guard_acquire(std::uint64_t* guard) __asm__("__cxa_guard_acquire");
RUNQ_HOOK void guard_release(std::uint64_t* guard) noexcept __asm__("__cxa_guard_release");
RUNQ_HOOK void guard_abort(std::uint64_t* guard) noexcept __asm__("__cxa_guard_abort");

namespace {

// The C++ library's function. It is kept in no static variable, whose initialisation would call these very functions.
template <class Result>
[[nodiscard]] Result pass_on_guard(const char* name, std::uint64_t* guard) {
  return real<Result(std::uint64_t*)>(name)(guard);
}

}  // namespace

int guard_acquire(std::uint64_t* guard) {
  if (!this_process.in_program) return pass_on_guard<int>("__cxa_guard_acquire", guard);
  const checker_scope scope;
  return begin_once<guard_of_static>(current_session(), state_of(guard), RUNQ_CALLER) ? 1 : 0;
}
void guard_release(std::uint64_t* guard) noexcept {
  auto* const finished = reinterpret_cast<std::uint8_t*>(guard);
  if (!this_process.in_program) return pass_on_guard<void>("__cxa_guard_release", guard);
  const checker_scope scope;
  session& s = current_session();
  const void* const code = RUNQ_CALLER;
  if (guard_of_static::first_byte_says_done) s.atomics().store(finished, 1, 1, std::memory_order::release, code);
  s.atomics().store(state_of(guard), guard_of_static::state_bytes, guard_of_static::done, std::memory_order::release,
                    code);
}
void guard_abort(std::uint64_t* guard) noexcept {
  if (!this_process.in_program) return pass_on_guard<void>("__cxa_guard_abort", guard);
  const checker_scope scope;
  current_session().atomics().store(state_of(guard), guard_of_static::state_bytes, not_begun,
                                    std::memory_order::release, RUNQ_CALLER);
}
RUNQ_HOOK int pthread_once(pthread_once_t* control, void (*function)()) {
  if (!this_process.in_program) {
    static auto* const original = real<decltype(pthread_once)>("pthread_once");
    return original(control, function);
  }
  const void* const code = RUNQ_CALLER;
  session& s = current_session();
  {
    const checker_scope scope;
    if (!begin_once<once_control>(s, control, code)) return 0;
  }
  struct finish {
    session& s;
    pthread_once_t* control;
    const void* code;
    std::uint64_t state = not_begun;  // stays so if the function throws: the next caller tries again
    ~finish() {
      const checker_scope scope;
      s.atomics().store(control, 4, state, std::memory_order::release, code);
    }
  } at_end{s, control, code};
  function();
  at_end.state = once_control::done;
  return 0;
}

// --- promises that a thread keeps when it ends
// ------------------------------------------------------------------------

/// std::promise::set_value_at_thread_exit() and its like: the function of libstdc++ is not instrumented.
extern "C" void make_ready(void* waiting) __asm__("_ZNSt13__future_base13_State_baseV211_Make_ready6_S_runEPv");
RUNQ_HOOK void make_ready_at_thread_exit(void* waiting) __asm__(
    "_ZNSt13__future_base13_State_baseV211_Make_ready6_M_setEv");
void make_ready_at_thread_exit(void* waiting) {
  if (!this_process.in_program) {
    static auto* const original = real<void(void*)>("_ZNSt13__future_base13_State_baseV211_Make_ready6_M_setEv");
    return original(waiting);
  }
  const checker_scope scope;
  current_session().threads().at_death(&make_ready, waiting);
}

// --- semaphores and spin locks --------------------------------------------------------------------------------------

namespace {

[[nodiscard]] int failed_with(int error) {
  errno = error;
  return -1;
}
[[nodiscard]] int as_errno(int error) { return error == 0 ? 0 : failed_with(error); }
[[nodiscard]] bool take_one(session& s, sem_t* semaphore, bool blocking, const void* code) {
  return s.locks().take(semaphore, 4, 1, SEM_VALUE_MAX, ~std::uint64_t{0}, blocking,
                        program_locks::taken_from::semaphore, code);
}
[[nodiscard]] int take_one_in_time(session& s, sem_t* semaphore, const timespec* until, const void* code) {
  s.objects().use(a_semaphore, semaphore, code);
  return as_errno(take_before(s, until, code, [&] { return take_one(s, semaphore, false, code); }));
}

/// Behind the value, whether it began so high that posts can reach the largest one.
constexpr std::size_t begins_high = 4;
constexpr unsigned high = SEM_VALUE_MAX - (1U << 20);

}  // namespace

RUNQ_HOOK int sem_init(sem_t* semaphore, int shared, unsigned value) {
  RUNQ_PASS_ON_AND_NOTE(a_semaphore, sem_init, semaphore, shared, value)
  if (value > SEM_VALUE_MAX) return failed_with(EINVAL);
  s.objects().initialise(a_semaphore, semaphore, code);
  s.atomics().begin_lock(semaphore, 4, value);
  semaphore->__size[begins_high] = value > high ? 1 : 0;
  return 0;
}
RUNQ_HOOK int sem_destroy(sem_t* semaphore) {
  RUNQ_PASS_ON(sem_destroy, semaphore)
  s.objects().destroy(a_semaphore, semaphore, code);
  return 0;
}
RUNQ_HOOK int sem_post(sem_t* semaphore) {
  RUNQ_PASS_ON(sem_post, semaphore)
  s.objects().use(a_semaphore, semaphore, code);
  if (semaphore->__size[begins_high] == 0) {
    s.atomics().add_to_lock(semaphore, 4, std::memory_order::acq_rel, code);
    return 0;
  }
  return s.locks().take(semaphore, 4, 0, SEM_VALUE_MAX, 1, false, program_locks::taken_from::semaphore, code)
             ? 0
             : failed_with(EOVERFLOW);
}

RUNQ_HOOK int sem_wait(sem_t* semaphore) {
  RUNQ_PASS_ON(sem_wait, semaphore)
  s.objects().use(a_semaphore, semaphore, code);
  static_cast<void>(take_one(s, semaphore, true, code));
  return 0;
}
RUNQ_ENTRY("", "sem_trywait")
extern "C" int runq_sem_trywait(sem_t* semaphore) {
  const caller_state caller = runq_caller;
  RUNQ_PASS_ON(sem_trywait, semaphore)
  s.objects().use(a_semaphore, semaphore, code);
  s.waits().look_for_loop(caller, code);
  return take_one(s, semaphore, false, code) ? 0 : failed_with(EAGAIN);
}
RUNQ_HOOK int sem_timedwait(sem_t* semaphore, const timespec* until) {
  RUNQ_PASS_ON(sem_timedwait, semaphore, until)
  return take_one_in_time(s, semaphore, until, code);
}
RUNQ_HOOK int sem_clockwait(sem_t* semaphore, clockid_t clock, const timespec* until) {
  RUNQ_PASS_ON(sem_clockwait, semaphore, clock, until)
  if (!measures_waits(clock)) return failed_with(EINVAL);
  return take_one_in_time(s, semaphore, until, code);
}
RUNQ_ENTRY("", "sem_getvalue")
extern "C" int runq_sem_getvalue(sem_t* semaphore, int* value) {
  const caller_state caller = runq_caller;
  RUNQ_PASS_ON(sem_getvalue, semaphore, value)
  s.objects().use(a_semaphore, semaphore, code);
  s.waits().look_for_loop(caller, code);
  s.memory().access(value, sizeof *value, true, code);
  *value = static_cast<int>(s.atomics().load_lock(semaphore, 4, code));
  return 0;
}

RUNQ_HOOK int pthread_spin_init(pthread_spinlock_t* lock, int shared) {
  RUNQ_PASS_ON_AND_NOTE(a_spin_lock, pthread_spin_init, lock, shared)
  s.objects().initialise(a_spin_lock, as_memory(lock), code);
  return 0;
}
RUNQ_HOOK int pthread_spin_destroy(pthread_spinlock_t* lock) {
  if (!this_process.in_program) current_session().objects().forget_outside(as_memory(lock));
  RUNQ_PASS_ON(pthread_spin_destroy, lock)
  s.objects().destroy(a_spin_lock, as_memory(lock), code);
  return 0;
}
RUNQ_ENTRY("", "pthread_spin_lock")
extern "C" int runq_pthread_spin_lock(pthread_spinlock_t* lock) {
  const caller_state caller = runq_caller;
  RUNQ_PASS_ON(pthread_spin_lock, lock)
  s.objects().use(a_spin_lock, as_memory(lock), code);
  s.waits().look_for_loop(caller, code);
  s.locks().lock(as_memory(lock), code);
  s.locks().note_held(a_spin_lock, as_memory(lock), code);
  return 0;
}
RUNQ_ENTRY("", "pthread_spin_trylock")
extern "C" int runq_pthread_spin_trylock(pthread_spinlock_t* lock) {
  const caller_state caller = runq_caller;
  RUNQ_PASS_ON(pthread_spin_trylock, lock)
  void* const mutex = as_memory(lock);
  s.objects().use(a_spin_lock, mutex, code);
  s.waits().look_for_loop(caller, code);
  if (s.locks().held(mutex) != 0) return EBUSY;
  if (!s.locks().try_lock(mutex, code, s.waits().read_in_earlier_round(caller, mutex, false, code))) return EBUSY;
  s.locks().note_held(a_spin_lock, mutex, code);
  return 0;
}
RUNQ_HOOK int pthread_spin_unlock(pthread_spinlock_t* lock) {
  RUNQ_PASS_ON(pthread_spin_unlock, lock)
  s.objects().use(a_spin_lock, as_memory(lock), code);
  s.locks().require_held(a_spin_lock, as_memory(lock), code);
  s.locks().held(as_memory(lock)) = 0;
  s.locks().unlock(as_memory(lock), code);
  return 0;
}

// --- the system call that std::atomic::wait and notify make ---------------------------------------------------------

namespace {

long futex(session& s, int* at, int operation, unsigned value, const timespec* timeout, const void* code) {
  switch (operation & FUTEX_CMD_MASK) {
    case FUTEX_WAIT:
    case FUTEX_WAIT_BITSET: {
      const unsigned number = s.waits().begin_waiting(at, code);
      // The kernel orders what a thread did before it waits or wakes.
      s.atomics().fence(std::memory_order::seq_cst, code);
      if (s.atomics().load(at, 4, std::memory_order::relaxed, code) != value) {
        static_cast<void>(s.waits().stop_waiting(at, number, code));
        errno = EAGAIN;
        return -1;
      }
      if (timeout != nullptr && s.waits().times_out(code)) {
        if (!s.waits().stop_waiting(at, number, code)) return 0;
        // FUTEX_WAIT takes a duration, FUTEX_WAIT_BITSET a time.
        const std::uint64_t begun = (operation & FUTEX_CMD_MASK) == FUTEX_WAIT ? s.waits().known_time() : 0;
        s.waits().let_time_pass_until(begun + to_nanoseconds(*timeout));
        return failed_with(ETIMEDOUT);
      }
      s.waits().wait_until_woken(at, number, timeout == nullptr, code);
      return 0;
    }
    case FUTEX_WAKE:
    case FUTEX_WAKE_BITSET:
      s.atomics().fence(std::memory_order::seq_cst, code);
      return s.waits().wake(at, std::max(value, 1U), code);
    default: s.code().refuse(fmt::format("futex operation {}", operation & FUTEX_CMD_MASK), code);
  }
}

}  // namespace

RUNQ_HOOK long syscall(long number, ...) {
  va_list list;
  va_start(list, number);
  std::array<long, 6> a{};
  for (long& each : a) each = va_arg(list, long);
  va_end(list);
  if (this_process.in_program && number == SYS_gettid) return gettid();
  if (!this_process.in_program) {
    static auto* const original = real<long(long, ...)>("syscall");
    return original(number, a[0], a[1], a[2], a[3], a[4], a[5]);
  }
  const checker_scope scope;
  const void* const code = RUNQ_CALLER;
  if (number != SYS_futex) current_session().code().refuse(fmt::format("system call {}", number), code);
  const long command = a[1] & FUTEX_CMD_MASK;
  const bool has_bits = command == FUTEX_WAIT_BITSET || command == FUTEX_WAKE_BITSET;
  if (has_bits && static_cast<unsigned>(a[5]) != FUTEX_BITSET_MATCH_ANY)
    current_session().code().refuse("a futex that tells threads apart by bits", code);
  return futex(current_session(), reinterpret_cast<int*>(a[0]), static_cast<int>(a[1]), static_cast<unsigned>(a[2]),
               reinterpret_cast<const timespec*>(a[3]), code);
}

// --- output: kept back, see session.cpp -----------------------------------------------------------------------------

RUNQ_HOOK int fflush(FILE* file) {
  if (!this_process.in_program || (file != stdout && file != stderr && file != nullptr)) {
    static auto* const original = real<int(FILE*)>("fflush");
    return original(file);
  }
  return 0;
}

// --- ends -----------------------------------------------------------------------------------------------------------

RUNQ_HOOK __attribute__((noreturn)) void abort() {
  if (!this_process.in_program) {
    static auto* const original = real<void()>("abort");
    original();
    _exit(134);
  }
  this_process.in_program = false;
  current_session().code().fail(failure::crash, "abort() is called", RUNQ_CALLER);
}
RUNQ_HOOK __attribute__((noreturn)) void __assert_fail(const char* assertion, const char* file, unsigned line,
                                                       const char* function) noexcept {
  if (!this_process.in_program) {
    std::fprintf(stderr, "%s:%u: %s: Assertion `%s' failed.\n", file, line, function, assertion);
    abort();
  }
  this_process.in_program = false;
  const std::string_view path = file;
  current_session().code().fail(
      failure::check_failed,
      fmt::format("{}:{}: assertion fails: {}", path.substr(path.rfind('/') + 1), line, assertion), RUNQ_CALLER);
}
namespace {

/// Without the loader's help: the checker may have crashed.
[[noreturn]] void end_process(int status) {
  for (;;) static_cast<void>(runq::model::call_kernel(SYS_exit_group, {status}));
}

[[noreturn]] void end_program(int status, program_threads::ending how, const void* code) {
  this_process.in_program = false;
  current_session().threads().exit_program(status, how, code);
}

}  // namespace

RUNQ_HOOK __attribute__((noreturn)) void exit(int status) {
  if (!this_process.in_program) real<void(int)>("exit")(status);
  end_program(status, program_threads::ending::exit, RUNQ_CALLER);
}
RUNQ_HOOK __attribute__((noreturn)) void quick_exit(int status) noexcept {
  if (!this_process.in_program) real<void(int)>("quick_exit")(status);
  end_program(status, program_threads::ending::quick_exit, RUNQ_CALLER);
}
RUNQ_HOOK __attribute__((noreturn)) void _exit(int status) {
  if (!this_process.in_program) end_process(status);
  end_program(status, program_threads::ending::at_once, RUNQ_CALLER);
}
RUNQ_HOOK __attribute__((noreturn)) void _Exit(int status) noexcept {
  if (!this_process.in_program) end_process(status);
  end_program(status, program_threads::ending::at_once, RUNQ_CALLER);
}
