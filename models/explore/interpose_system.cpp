// SPDX-License-Identifier: MIT
// Clocks, sleeping, futexes, random numbers, and what the program learns about the machine.
#include <algorithm>
#include <atomic>
#include <bit>
#include <cerrno>
#include <climits>
#include <cstdarg>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>

#include <dlfcn.h>
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <sched.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "../compiled/hook.hpp"
#include "descriptors.hpp"
#include "locations.hpp"
#include "report.hpp"
#include "runtime.hpp"
#include "scheduler.hpp"
#include "shadow.hpp"
#include "system_call.hpp"
#include "threads.hpp"
#include "time.hpp"

using namespace runq::model::explore;  // NOLINT(google-build-using-namespace): the functions below have C's names

namespace {

constexpr std::uint64_t nanoseconds_per_question = 1000;

[[nodiscard]] bool is_calendar(clockid_t clock) noexcept {
  return clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE || clock == CLOCK_TAI;
}
[[nodiscard]] std::uint64_t ask_time(clockid_t clock) {
  if (exploring && !in_runtime) {
    step();
    pass_time(nanoseconds_per_question);
  }
  return clock_now() + (is_calendar(clock) ? calendar_offset : 0);
}
void sleep_until(std::uint64_t deadline, const void* code) {
  if (!exploring) return;
  step();
  if (deadline <= clock_now()) return yield();
  block(wait_kind::sleep, nullptr, code, deadline);
}
[[nodiscard]] int fail_with(int error) noexcept {
  errno = error;
  return -1;
}
/// The C library's own function, where nothing of the program's runs.
template <class Function>
[[nodiscard]] Function* real(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

}  // namespace

namespace runq::model::explore {

std::uint64_t deadline_of(clockid_t clock, const timespec& until) noexcept {
  const std::uint64_t time = to_nanoseconds(until);
  const std::uint64_t offset = is_calendar(clock) ? calendar_offset : 0;
  return time <= offset ? 1 : time - offset;
}
std::uint64_t to_nanoseconds(const timespec& t) noexcept {
  if (t.tv_sec < 0) return 0;
  if (static_cast<std::uint64_t>(t.tv_sec) > UINT64_MAX / second / 2) return UINT64_MAX / 2;
  return static_cast<std::uint64_t>(t.tv_sec) * second + static_cast<std::uint64_t>(t.tv_nsec);
}
timespec to_timespec(std::uint64_t nanoseconds) noexcept {
  return {static_cast<time_t>(nanoseconds / second), static_cast<long>(nanoseconds % second)};
}
std::uint64_t deadline_after(const timespec& duration) noexcept { return clock_now() + to_nanoseconds(duration); }

}  // namespace runq::model::explore

// --- clocks ----------------------------------------------------------------------------------------------------------

RUNQ_HOOK int clock_gettime(clockid_t clock, timespec* now) noexcept {
  if (in_runtime) return static_cast<int>(system_call(SYS_clock_gettime, clock, now));
  if (clock > CLOCK_TAI) return fail_with(EINVAL);
  *now = to_timespec(ask_time(clock));
  return 0;
}
RUNQ_HOOK int gettimeofday(timeval* now, void*) noexcept {
  const std::uint64_t time = ask_time(CLOCK_REALTIME);
  *now = {static_cast<time_t>(time / second), static_cast<suseconds_t>(time % second / 1000)};
  return 0;
}
RUNQ_HOOK time_t time(time_t* now) noexcept {
  const auto seconds = static_cast<time_t>(ask_time(CLOCK_REALTIME) / second);
  if (now != nullptr) *now = seconds;
  return seconds;
}
RUNQ_HOOK int timespec_get(timespec* now, int base) noexcept {
  if (base != TIME_UTC) return 0;
  *now = to_timespec(ask_time(CLOCK_REALTIME));
  return base;
}
RUNQ_HOOK clock_t clock() noexcept {
  return static_cast<clock_t>(ask_time(CLOCK_MONOTONIC) / (second / CLOCKS_PER_SEC));
}

RUNQ_HOOK int nanosleep(const timespec* duration, timespec*) {
  sleep_until(deadline_after(*duration), RUNQ_CALLER);
  return 0;
}
RUNQ_HOOK int clock_nanosleep(clockid_t clock, int flags, const timespec* t, timespec*) {
  sleep_until((flags & TIMER_ABSTIME) != 0 ? deadline_of(clock, *t) : deadline_after(*t), RUNQ_CALLER);
  return 0;
}
RUNQ_HOOK int usleep(useconds_t microseconds) {
  sleep_until(clock_now() + std::uint64_t{microseconds} * 1000, RUNQ_CALLER);
  return 0;
}
RUNQ_HOOK unsigned sleep(unsigned seconds) {
  sleep_until(clock_now() + seconds * second, RUNQ_CALLER);
  return 0;
}
RUNQ_HOOK unsigned alarm(unsigned seconds) noexcept {
  if (!exploring) return 0;
  const std::uint64_t left = alarm_time == 0 ? 0 : alarm_time - std::min(alarm_time, clock_now());
  alarm_time = seconds == 0 ? 0 : clock_now() + seconds * second;
  return static_cast<unsigned>((left + second - 1) / second);
}
RUNQ_HOOK int sched_yield() noexcept {
  if (exploring) {
    pass_time(nanoseconds_per_question);
    yield();
  }
  return 0;
}

// --- what depends on the machine -------------------------------------------------------------------------------------

RUNQ_HOOK int sched_getcpu() noexcept { return std::countr_zero(self->processors); }
RUNQ_HOOK int get_nprocs() noexcept { return processors; }
RUNQ_HOOK int get_nprocs_conf() noexcept { return processors; }
RUNQ_HOOK long sysconf(int name) noexcept {
  if (exploring && !in_runtime && (name == _SC_NPROCESSORS_ONLN || name == _SC_NPROCESSORS_CONF)) return processors;
  static auto* const next = real<long(int)>("sysconf");
  return next(name);
}
RUNQ_HOOK ssize_t getrandom(void* to, std::size_t size, unsigned) {
  auto* bytes = static_cast<std::uint8_t*>(to);
  std::generate_n(bytes, size, [] { return static_cast<std::uint8_t>(choices.program.next() >> 32); });
  access(reinterpret_cast<std::uintptr_t>(to), size, is_a_write, RUNQ_CALLER);
  return static_cast<ssize_t>(size);
}
RUNQ_HOOK int getentropy(void* to, std::size_t size) {
  static_cast<void>(getrandom(to, size, 0));
  return 0;
}
RUNQ_HOOK std::uint32_t arc4random() noexcept { return static_cast<std::uint32_t>(choices.program.next() >> 32); }
extern "C" __attribute__((visibility("default"))) unsigned runq_random_device(void*) __asm__(
    "_ZNSt13random_device9_M_getvalEv");
extern "C" unsigned runq_random_device(void*) { return static_cast<unsigned>(choices.program.next() >> 32); }

// --- system calls ----------------------------------------------------------------------------------------------------

namespace {

/// Both are fences: what a thread has written before it wakes another one, or waits, the other one sees.
[[nodiscard]] long futex(const std::uint32_t* word, int operation, std::uint32_t value, const timespec* time,
                         const void* code) {
  const int command = operation & FUTEX_CMD_MASK;
  if (!exploring) return 0;
  step_before_change(word);
  begin_event();
  seq_cst_fence();
  // A wake-up looks at no memory: the object may be gone (std::binary_semaphore::release(), for one).
  if (command == FUTEX_WAKE || command == FUTEX_WAKE_BITSET) {
    long woken = 0;
    while (woken != value && woken != INT_MAX && wake_one(wait_kind::futex, word)) ++woken;
    return woken;
  }
  access<4>(reinterpret_cast<std::uintptr_t>(word), is_atomic, code);
  std::uint64_t deadline = 0;
  if (time != nullptr) {
    const clockid_t clock = (operation & FUTEX_CLOCK_REALTIME) != 0 ? CLOCK_REALTIME : CLOCK_MONOTONIC;
    deadline = command == FUTEX_WAIT ? deadline_after(*time) : deadline_of(clock, *time);
  }
  if (*static_cast<const volatile std::uint32_t*>(word) != value) return fail_with(EAGAIN);
  if (deadline != 0 && deadline <= clock_now()) return fail_with(ETIMEDOUT);
  return block(wait_kind::futex, word, code, deadline) ? 0 : fail_with(ETIMEDOUT);
}

}  // namespace

namespace {

[[nodiscard]] long membarrier(int command) {
  constexpr int fence_in_all = MEMBARRIER_CMD_GLOBAL | MEMBARRIER_CMD_PRIVATE_EXPEDITED;
  constexpr int registrations = MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED;
  if (command == MEMBARRIER_CMD_QUERY) return fence_in_all | registrations;
  if (command == registrations) return 0;
  if (command != MEMBARRIER_CMD_GLOBAL && command != MEMBARRIER_CMD_PRIVATE_EXPEDITED) return fail_with(EINVAL);
  if (!exploring) return 0;
  step_before_change();
  begin_event();
  seq_cst_fence_in_all_threads();
  return 0;
}

}  // namespace

RUNQ_HOOK long syscall(long number, ...) noexcept {
  va_list list;
  va_start(list, number);
  long a[6];
  for (long& argument : a) argument = va_arg(list, long);
  va_end(list);
  if (!in_runtime && number == SYS_membarrier) return membarrier(static_cast<int>(a[0]));
  if (!in_runtime && exploring) {
    switch (number) {
      case SYS_futex: {
        const int command = static_cast<int>(a[1]) & FUTEX_CMD_MASK;
        if (command != FUTEX_WAIT && command != FUTEX_WAKE && command != FUTEX_WAIT_BITSET &&
            command != FUTEX_WAKE_BITSET) {
          refuse("operation " + std::to_string(command) + " of the system call futex");
        }
        return futex(reinterpret_cast<const std::uint32_t*>(a[0]), static_cast<int>(a[1]),
                     static_cast<std::uint32_t>(a[2]), reinterpret_cast<const timespec*>(a[3]), RUNQ_CALLER);
      }
      case SYS_gettid: return static_cast<long>(1'000'000 + self->number);
      case SYS_getrandom: return getrandom(reinterpret_cast<void*>(a[0]), static_cast<std::size_t>(a[1]), 0);
      case SYS_epoll_pwait2:
        return wait_for_events(static_cast<int>(a[0]), reinterpret_cast<epoll_event*>(a[1]), static_cast<int>(a[2]),
                               reinterpret_cast<const timespec*>(a[3]), RUNQ_CALLER);
      case SYS_getpid: break;
      default: refuse("system call number " + std::to_string(number) + ", by syscall()");
    }
  }
  return system_call(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}
