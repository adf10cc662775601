// SPDX-License-Identifier: MIT
// Faults of the system: it starts no more threads, its clock jumps, its calls are interrupted all the time. For this
// the program replaces pthread_create(), clock_gettime(), sched_getaffinity(), syscall(), read(), send(), accept4(),
// epoll_ctl(), epoll_wait(), socket(), getaddrinfo() and sigaction().
// They call the C library's functions unless a test asks for something else.
#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <functional>
#include <initializer_list>
#include <limits>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <sstream>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <linux/futex.h>
#include <netdb.h>
#include <pthread.h>
#include <runq/detail/container.hpp>
#include <runq/detail/frames.hpp>
#include <runq/detail/poller.hpp>
#include <sched.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include "interposed.hpp"
#include "net_support.hpp"
#include "resting.hpp"
#include "support.hpp"

namespace {

/// How many threads may still be started.
std::atomic<int> threads_left{std::numeric_limits<int>::max()};

std::atomic<bool> wall_clock_jumps{false};
std::atomic<int> wall_clock_readings{0};
std::atomic<int> monotonic_readings{0};

/// If it is set, the monitor's thread calls it instead of napping, so naps take no time; and before each deep sleep.
/// `ns`: how long the nap would be; -1 before a deep sleep.
std::atomic<void (*)(void* state, std::int64_t ns)> in_sleep{nullptr};
std::atomic<void*> state_in_sleep{nullptr};
std::atomic<bool> next_thread_is_monitor{false};

/// What the next read(), send() or accept4() of a task calls first, once. It returns the error with which the call
/// fails, or 0.
std::atomic<std::function<int()>*> in_next_call{nullptr};

/// The error with which the next call of one of these functions fails; 0: it does not fail.
std::atomic<int> error_of_watch{0};    // epoll_ctl(), for a new descriptor
std::atomic<int> error_of_ipv6{0};     // socket(), for IPv6
std::atomic<int> error_of_look_up{0};  // getaddrinfo(): EAI_SYSTEM, and this is errno
std::atomic<int> error_of_action{0};   // sigaction(), for a new handler

/// How often the poller is to be interrupted; and how often it has asked the kernel in each of its two ways.
std::atomic<int> interruptions_of_poll{0};
std::atomic<int> polls_in_ns{0};
std::atomic<int> polls_in_ms{0};

/// A simulated kernel with `cpus_of_kernel` CPUs. It refuses CPU sets of fewer than `bits_of_kernel` bits. 0 bits: the
/// real kernel answers.
std::atomic<std::size_t> bits_of_kernel{0};
std::atomic<std::size_t> cpus_of_kernel{0};

}  // namespace

#if RUNQ_TEST_MAY_INTERPOSE

using sched_test::next_one;

namespace {

/// The monitor's own clock, in ns: each nap moves it on by the length of the nap. Negative in every thread that is not
/// such a monitor; these threads see the system's clock.
thread_local std::int64_t time_of_monitor = -1;

struct beginning {
  void* (*start)(void*);
  void* argument;
};
void* begins_as_monitor(void* given) {
  const beginning b = *static_cast<beginning*>(given);
  delete static_cast<beginning*>(given);
  time_of_monitor = std::chrono::steady_clock::now().time_since_epoch().count();
  return b.start(b.argument);
}

/// Whether the call was a nap of the monitor. If so, the nap is over now.
bool monitor_naps(bool waits, const timespec* timeout) {
  auto* const does = in_sleep.load();
  if (!waits || does == nullptr || time_of_monitor < 0) return false;
  const std::int64_t ns = timeout == nullptr ? -1 : timeout->tv_sec * 1'000'000'000 + timeout->tv_nsec;
  does(state_in_sleep, ns);
  if (timeout == nullptr) return false;
  time_of_monitor += ns;
  return true;
}

bool this_call_fails() {
  // A machine that is woken in the poller reads, too.
  if (runq::detail::this_front() == nullptr) return false;
  auto* const does = in_next_call.exchange(nullptr);
  if (does == nullptr) return false;
  const int error = (*does)();
  errno = error;
  return error != 0;
}

bool fails_with(std::atomic<int>& error) {
  const int which = error.exchange(0);
  if (which != 0) errno = which;
  return which != 0;
}

bool is_interrupted() {
  if (interruptions_of_poll.load() <= 0) return false;
  --interruptions_of_poll;
  errno = EINTR;
  return true;
}

}  // namespace

extern "C" {

ssize_t read(int fd, void* into, std::size_t bytes) {
  static auto* const real = next_one<decltype(read)>("read");
  return this_call_fails() ? -1 : real(fd, into, bytes);
}

ssize_t send(int fd, const void* from, std::size_t bytes, int flags) {
  static auto* const real = next_one<decltype(send)>("send");
  return this_call_fails() ? -1 : real(fd, from, bytes, flags);
}

int accept4(int fd, sockaddr* peer, socklen_t* size, int flags) {
  static auto* const real = next_one<decltype(accept4)>("accept4");
  return this_call_fails() ? -1 : real(fd, peer, size, flags);
}

int epoll_ctl(int epoll, int what, int fd, epoll_event* event) noexcept {
  static auto* const real = next_one<int(int, int, int, epoll_event*)>("epoll_ctl");
  return what == EPOLL_CTL_ADD && fails_with(error_of_watch) ? -1 : real(epoll, what, fd, event);
}

int epoll_wait(int epoll, epoll_event* events, int room, int ms) {
  static auto* const real = next_one<decltype(epoll_wait)>("epoll_wait");
  ++polls_in_ms;
  return is_interrupted() ? -1 : real(epoll, events, room, ms);
}

int socket(int family, int type, int protocol) noexcept {
  static auto* const real = next_one<int(int, int, int)>("socket");
  return family == AF_INET6 && fails_with(error_of_ipv6) ? -1 : real(family, type, protocol);
}

int getaddrinfo(const char* node, const char* service, const addrinfo* hints, addrinfo** found) {
  static auto* const real = next_one<decltype(getaddrinfo)>("getaddrinfo");
  return fails_with(error_of_look_up) ? EAI_SYSTEM : real(node, service, hints, found);
}

int sigaction(int number, const struct sigaction* fresh, struct sigaction* before) noexcept {
  static auto* const real = next_one<int(int, const struct sigaction*, struct sigaction*)>("sigaction");
  return fresh != nullptr && fails_with(error_of_action) ? -1 : real(number, fresh, before);
}

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*start)(void*), void* argument) {
  static auto* const real = next_one<decltype(pthread_create)>("pthread_create");
  if (threads_left.fetch_sub(1) <= 0) return EAGAIN;
  if (next_thread_is_monitor.exchange(false)) {
    return real(thread, attributes, begins_as_monitor, new beginning{start, argument});
  }
  return real(thread, attributes, start, argument);
}

int clock_gettime(clockid_t clock, timespec* t) noexcept {
  static auto* const real = next_one<int(clockid_t, timespec*)>("clock_gettime");
  if (clock == CLOCK_MONOTONIC && time_of_monitor >= 0) {
    t->tv_sec = time_of_monitor / 1'000'000'000;
    t->tv_nsec = time_of_monitor % 1'000'000'000;
    return 0;
  }
  const int result = real(clock, t);
  if (clock == CLOCK_MONOTONIC) monotonic_readings.fetch_add(1, std::memory_order::relaxed);
  if (clock == CLOCK_REALTIME && wall_clock_jumps.load(std::memory_order::relaxed)) {
    // By a year, forwards and backwards in turn.
    constexpr time_t year = 365 * 24 * 3600;
    t->tv_sec += wall_clock_readings.fetch_add(1, std::memory_order::relaxed) % 2 == 0 ? year : -year;
  }
  return result;
}

int sched_getaffinity(pid_t thread, std::size_t bytes, cpu_set_t* cpus) noexcept {
  static auto* const real = next_one<int(pid_t, std::size_t, cpu_set_t*)>("sched_getaffinity");
  if (bits_of_kernel == 0) return real(thread, bytes, cpus);
  if (bytes * 8 < bits_of_kernel) {
    errno = EINVAL;
    return -1;
  }
  std::memset(cpus, 0, bytes);
  // The thread may use the last CPUs of this kernel.
  auto* const words = reinterpret_cast<unsigned long*>(cpus);
  constexpr std::size_t bits = 8 * sizeof words[0];
  for (std::size_t i = bits_of_kernel - cpus_of_kernel; i != bits_of_kernel; ++i) words[i / bits] |= 1UL << (i % bits);
  return 0;
}

long syscall(long number, ...) noexcept {
  static auto* const real = next_one<long(long, ...)>("syscall");
  std::va_list list;
  va_start(list, number);
  long argument[6];
  for (long& a : argument) a = va_arg(list, long);
  va_end(list);
#ifdef SYS_epoll_pwait2
  if (number == SYS_epoll_pwait2) {
    ++polls_in_ns;
    if (is_interrupted()) return -1;
  }
#endif
  const bool waits = number == SYS_futex && (argument[1] & FUTEX_CMD_MASK) == FUTEX_WAIT;
  if (monitor_naps(waits, reinterpret_cast<const timespec*>(argument[3]))) {
    sched_yield();
    errno = ETIMEDOUT;
    return -1;
  }
  return real(number, argument[0], argument[1], argument[2], argument[3], argument[4], argument[5]);
}

}  // extern "C"

#endif

namespace {

using namespace std::chrono_literals;
using runq::scheduler;
using runq::task;
using sched_test::interposed;
using sched_test::wait_for;
using sched_test::wait_until;

class faults : public sched_test::alarmed {
 protected:
  static void SetUpTestSuite() { GTEST_FLAG_SET(death_test_style, sched_test::death_test_style); }
};

#define RUNQ_NEEDS_INTERPOSITION() \
  if (!interposed) GTEST_SKIP() << "the sanitizer replaces these functions itself"

// ---- many CPUs ------------------------------------------------------------------------------------------------------

TEST_F(faults, L9_cpus_beyond_the_first_1024_count_by_default) {
  RUNQ_NEEDS_INTERPOSITION();
  unsetenv("RUNQ_PROCS");  // it would be the answer, whatever the kernel says
  const unsigned quota = runq::detail::cpus_of_quota();
  for (const std::size_t kernel : {64U, 1024U, 2048U, 8192U, 65'536U}) {
    bits_of_kernel = kernel;
    for (const std::size_t cpus : {1U, 2U, 64U, 1024U, 1500U, 8192U}) {
      if (cpus > kernel) continue;
      cpus_of_kernel = cpus;
      const auto counted = static_cast<unsigned>(std::min<std::size_t>(cpus, runq::options::max_procs));
      EXPECT_EQ(runq::default_procs(), quota == 0 ? counted : std::min(counted, std::max(quota, 2U)));
    }
  }
  // More CPUs than any kernel supports: the library gives up and takes 1.
  bits_of_kernel = 1'000'000;
  EXPECT_EQ(runq::default_procs(), 1U);
  bits_of_kernel = 0;
}

// ---- a lock whose thread does not get a CPU -------------------------------------------------------------------------

char state_of_thread(pid_t thread) {
  std::ifstream file("/proc/self/task/" + std::to_string(thread) + "/stat");
  std::string text;
  std::getline(file, text);
  const std::size_t end = text.rfind(')');  // the end of the thread's name
  return end + 2 < text.size() ? text[end + 2] : '?';
}

// A thread that waits long enough for a short lock sleeps. Otherwise it could keep the CPU from a thread of lower
// priority that holds the lock.
TEST_F(faults, a_thread_that_waits_for_a_short_lock_sleeps_in_the_end) {
  runq::detail::short_lock lock;
  lock.lock();
  std::atomic<pid_t> waits{0};
  std::atomic<bool> has_it{false};
  std::thread other([&] {
    waits = gettid();
    const std::lock_guard guard(lock);
    has_it = true;
  });
  EXPECT_TRUE(wait_until([&] { return waits != 0 && state_of_thread(waits) == 'S'; }));
  EXPECT_FALSE(has_it);
  lock.unlock();
  other.join();
  EXPECT_TRUE(has_it);
}

// ---- threads that cannot be started ---------------------------------------------------------------------------------

constexpr const char* no_thread =
    "^runtime: failed to create new OS thread: .*\nfatal error: no new thread\n"
    "The limit of threads may be too low: see ulimit -u\\.\n$";

// The first thread that a scheduler starts is the monitor's, the second one is the first machine's.
void run_with_threads(int n) {
  threads_left = n;
  runq::run([] {}, {.procs = 1});
}

TEST_F(faults, the_monitors_thread_cannot_be_created) {
  RUNQ_NEEDS_INTERPOSITION();
  EXPECT_EXIT(run_with_threads(0), testing::ExitedWithCode(2), no_thread);
}

TEST_F(faults, the_first_machine_cannot_be_created) {
  RUNQ_NEEDS_INTERPOSITION();
  EXPECT_EXIT(run_with_threads(1), testing::ExitedWithCode(2), no_thread);
  EXPECT_EXIT(
      {
        run_with_threads(10);
        std::exit(0);
      },
      testing::ExitedWithCode(0), "^$");
}

TEST_F(faults, a_machine_for_more_tasks_cannot_be_created) {
  RUNQ_NEEDS_INTERPOSITION();
  const auto run = [] {
    threads_left = 2;
    runq::run(
        []() -> task<> {
          std::atomic<bool> ran{false};
          runq::go([&] { ran = true; });
          EXPECT_TRUE(wait_for(ran));
          co_return;
        },
        {.procs = 2});
  };
  EXPECT_EXIT(run(), testing::ExitedWithCode(2), no_thread);
}

TEST_F(faults, a_machine_for_a_processor_that_was_handed_off_cannot_be_created) {
  RUNQ_NEEDS_INTERPOSITION();
  const auto run = [] {
    threads_left = 2;
    runq::run(
        []() -> task<> {
          std::atomic<bool> ran{false};
          runq::go([&] { ran = true; });
          co_await runq::blocking([&] { EXPECT_TRUE(wait_for(ran)); });
        },
        {.procs = 1});
  };
  EXPECT_EXIT(run(), testing::ExitedWithCode(2), no_thread);
}

// ---- clocks ---------------------------------------------------------------------------------------------------------

TEST_F(faults, sleeps_are_right_while_the_wall_clock_jumps) {
  RUNQ_NEEDS_INTERPOSITION();
  wall_clock_jumps = true;
  const auto before = std::chrono::system_clock::now();
  const auto after = std::chrono::system_clock::now();
  EXPECT_GT(before - after, 24h * 365) << "the clock does not jump";
  wall_clock_readings = 0;
  monotonic_readings = 0;
  const auto begin = std::chrono::steady_clock::now();
  runq::run(
      []() -> task<> {
        runq::ticker ticks(1ms);
        for (int i = 0; i != 20; ++i) {
          const auto now = runq::clock::now();
          co_await runq::sleep_for(2ms);
          EXPECT_GE(runq::clock::now() - now, 2ms);
          EXPECT_GE(*co_await runq::after(1ms).channel().receive(), now + 3ms);
          (void)co_await ticks.channel().receive();
          co_await runq::blocking([] { usleep(100); });
        }
      },
      {.procs = 2});
  EXPECT_LT(std::chrono::steady_clock::now() - begin, sched_test::patience);
  EXPECT_EQ(wall_clock_readings, 0) << "nothing may depend on the wall clock";
  EXPECT_GE(monotonic_readings, 40) << "the test's own";
  wall_clock_jumps = false;
}

/// While an object of this class exists, the monitor's naps pass only on the monitor's own clock, and the monitor calls
/// `does(ns)` in each sleep. Must be constructed before the run: it takes the next thread for the monitor's.
template <class F>
class in_each_sleep {
 public:
  explicit in_each_sleep(F does) : does_(std::move(does)) {
    state_in_sleep = this;
    in_sleep = [](void* self, std::int64_t ns) { static_cast<in_each_sleep*>(self)->does_(ns); };
    next_thread_is_monitor = true;
  }
  in_each_sleep(const in_each_sleep&) = delete;
  in_each_sleep& operator=(const in_each_sleep&) = delete;
  ~in_each_sleep() {
    in_sleep = nullptr;
    next_thread_is_monitor = false;
  }

 private:
  F does_;
};

constexpr std::int64_t longest_nap = 10'000'000;

// Main waits for a byte, which is written when the monitor has begun a deep sleep.
TEST_F(faults, S4_the_monitor_sleeps_in_gos_rhythm_and_then_deeply) {
  RUNQ_NEEDS_INTERPOSITION();
  std::vector<std::int64_t> naps;  // lengths of the monitor's naps, in ns
  const in_each_sleep noted([&](std::int64_t ns) {
    if (ns >= 0) naps.push_back(ns);
  });
  scheduler s({.procs = 1});
  s.run([&]() -> task<> {
    auto [from, to] = runq::net::pipe();
    std::jthread outside([&s, fd = to.fd()] {
      EXPECT_TRUE(wait_until([&] { return s.trace(true).find(" sysmonwait=1") != std::string::npos; }));
      EXPECT_EQ(write(fd, "x", 1), 1);
    });
    std::byte got{};
    (void)co_await from.read(std::span(&got, 1));
    outside.join();
  });
  std::vector<std::int64_t> rhythm(51, 20'000);
  for (const int us : {40, 80, 160, 320, 640, 1280, 2560, 5120}) rhythm.push_back(us * 1000);
  ASSERT_GT(naps.size(), rhythm.size());
  EXPECT_TRUE(std::equal(rhythm.begin(), rhythm.end(), naps.begin())) << testing::PrintToString(naps);
  // The monitor takes its longest naps until main waits.
  naps.erase(naps.begin(), naps.begin() + static_cast<std::ptrdiff_t>(rhythm.size()));
  EXPECT_EQ(naps[0], longest_nap);
}

// Nobody else gives frames back. The monitor begins to look when main waits for a byte, which is written when some have
// gone.
TEST_F(faults, S4_the_monitor_gives_frames_back_before_it_sleeps_deeply) {
  RUNQ_NEEDS_INTERPOSITION();
  scheduler s({.procs = 1});
  std::atomic<bool> begins{false};
  const in_each_sleep held([&](std::int64_t /*ns*/) {
    EXPECT_TRUE(wait_for(begins));
    EXPECT_TRUE(wait_until([&] { return s.dump().find("[running]") == std::string::npos; }));
  });
  const auto nothing = [](std::array<char, 100> /*makes the frame larger*/) -> task<> { co_return; };
  s.run([&]() -> task<> {
    auto [from, to] = runq::net::pipe();
    {
      std::vector<task<>> burst;
      for (int i = 0; i != 30'000; ++i) burst.push_back(nothing({}));
    }
    begins = true;
    const std::size_t before = runq::detail::frame_bytes_given_back();
    std::jthread outside([before, fd = to.fd()] {
      EXPECT_TRUE(wait_until([&] { return runq::detail::frame_bytes_given_back() != before; }));
      EXPECT_EQ(write(fd, "x", 1), 1);
    });
    std::byte got{};
    (void)co_await from.read(std::span(&got, 1));
    outside.join();
  });
}

// On the monitor's own clock.
TEST_F(faults, S12_a_line_of_the_trace_comes_with_the_first_nap_that_ends_after_each_period) {
  RUNQ_NEEDS_INTERPOSITION();
  ::setenv("RUNQ_SCHEDTRACE", "50", 1);
  std::atomic<std::int64_t> napped{0};
  testing::internal::CaptureStderr();
  {
    const in_each_sleep counted([&](std::int64_t ns) { napped += ns; });
    runq::run(
        [&]() -> task<> {
          EXPECT_TRUE(wait_until([&] { return napped > 1'000'000'000; }));
          co_return;
        },
        {.procs = 1});
  }
  ::unsetenv("RUNQ_SCHEDTRACE");
  std::istringstream lines(testing::internal::GetCapturedStderr());
  long last = 0;
  int n = 0;
  for (std::string line; std::getline(lines, line); ++n) {
    ASSERT_TRUE(line.starts_with("SCHED ")) << line;
    const long ms = std::stol(line.substr(6));
    EXPECT_GE(ms - last, n == 0 ? 50 : 49) << "of two times, each rounded down";
    if (n != 0) {
      EXPECT_LE(ms - last, 61);
    }
    last = ms;
  }
  EXPECT_GE(n, 15);
}

// The call begins in the middle of a 10 ms nap. Without the hurry the monitor would take another nap of 10 ms before it
// sees the call a second time and knows that the call is long.
TEST_F(faults, S5_a_call_hurries_a_monitor_that_takes_its_longest_naps) {
  RUNQ_NEEDS_INTERPOSITION();
  std::atomic<bool> naps{false};
  std::atomic<bool> called{false};
  std::atomic<std::int64_t> next_nap{-1};
  const in_each_sleep held([&](std::int64_t ns) {
    if (naps && next_nap < 0) next_nap = ns;
    if (naps || ns != longest_nap) return;
    naps = true;
    EXPECT_TRUE(wait_for(called));
  });
  runq::run(
      [&]() -> task<> {
        EXPECT_TRUE(wait_for(naps));
        co_await runq::blocking([&] {
          called = true;
          EXPECT_TRUE(wait_until([&] { return next_nap >= 0; }));
        });
      },
      {.procs = 1});
  EXPECT_EQ(next_nap, 20'000);
}

// Between any two rounds of the monitor, a task runs for a moment and waits again.
TEST_F(faults, S4_a_task_that_sleeps_for_less_than_a_nap_does_not_cost_the_monitor_a_deep_sleep_each_time) {
  RUNQ_NEEDS_INTERPOSITION();
  scheduler s({.procs = 1});
  std::atomic<int> bytes_to{-1};
  std::atomic<int> turns{0};
  std::atomic<int> long_naps{0};
  int deep_sleeps = 0;
  const in_each_sleep wakes_the_task([&](std::int64_t ns) {
    if (long_naps == 50) return;
    // A nap that passed before there was a pipe would leave main the time to wait without a turn.
    EXPECT_TRUE(wait_until([&] { return bytes_to >= 0; }));
    if (ns < 0) ++deep_sleeps;
    if (ns == longest_nap) ++long_naps;
    const int before = turns;
    EXPECT_EQ(write(bytes_to, "x", 1), 1);
    EXPECT_TRUE(wait_until([&] { return turns != before && s.stats().idle_procs == 1; }));
  });
  s.run([&]() -> task<> {
    auto [from, to] = runq::net::pipe();
    std::jthread outside([&, fd = to.fd()] {
      // After 50 long naps nothing wakes the task any more, so the monitor sleeps deeply.
      EXPECT_TRUE(
          wait_until([&] { return long_naps == 50 && s.trace(true).find(" sysmonwait=1") != std::string::npos; }));
      EXPECT_EQ(write(fd, "e", 1), 1);
    });
    bytes_to = to.fd();
    for (char got = 0; got != 'e'; ++turns) (void)co_await from.read(std::as_writable_bytes(std::span(&got, 1)));
    outside.join();
  });
  EXPECT_EQ(long_naps, 50);
  EXPECT_EQ(deep_sleeps, 0);
}

// ---- signals --------------------------------------------------------------------------------------------------------

std::atomic<long> signals_handled{0};

/// The threads that are in a call at present.
class callers {
 public:
  /// The calling thread is in a call while an object of this class exists.
  class call {
   public:
    explicit call(callers& all) : all_(all) {
      const std::lock_guard lock(all_.mutex_);
      all_.threads_.insert(gettid());
    }
    call(const call&) = delete;
    call& operator=(const call&) = delete;
    ~call() {
      const std::lock_guard lock(all_.mutex_);
      all_.threads_.erase(gettid());
    }

   private:
    callers& all_;
  };
  /// No thread leaves its call meanwhile.
  void interrupt_each() {
    const std::lock_guard lock(mutex_);
    for (const pid_t tid : threads_) (void)tgkill(getpid(), tid, SIGUSR1);
  }

 private:
  std::mutex mutex_;
  std::set<pid_t> threads_;
};

/// While an object of this class exists, every other thread of the process, or each of `only` these, gets a signal
/// again and again. The handler has no SA_RESTART, so the signal interrupts system calls.
///
/// ThreadSanitizer's runtime calls the handler at once in a thread that joins another. If the C library frees the other
/// thread's memory at that moment, the runtime then waits for its own lock, for ever. So under ThreadSanitizer no
/// thread that joins may get a signal: a storm ends before the run does, or has only threads that are in a call.
class storm {
 public:
  explicit storm(callers* only = nullptr) {
    struct sigaction action {};
    action.sa_handler = [](int) { signals_handled.fetch_add(1, std::memory_order::relaxed); };
    sigemptyset(&action.sa_mask);
    // The handler stays installed, because a signal may still be pending when the storm is over.
    EXPECT_EQ(sigaction(SIGUSR1, &action, nullptr), 0);
    thread_ = std::jthread([only](const std::stop_token& stop) {
      while (!stop.stop_requested()) {
        if (only != nullptr) {
          only->interrupt_each();
        } else {
          interrupt_all();
        }
        std::this_thread::sleep_for(200us);
      }
    });
  }
  storm(const storm&) = delete;
  storm& operator=(const storm&) = delete;
  ~storm() {
    thread_.request_stop();
    thread_.join();
  }

 private:
  static void interrupt_all() {
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task")) {
      const int tid = std::stoi(entry.path().filename().string());
      if (tid != gettid()) (void)tgkill(getpid(), tid, SIGUSR1);
    }
  }

  std::jthread thread_;
};

/// Called at the end of a main task, after which the run joins its threads.
void end_before_joins(std::optional<storm>& s) {
  if (RUNQ_TEST_TSAN != 0) s.reset();
}

TEST_F(faults, interrupted_sleeps_are_never_short) {
  constexpr int tasks = 100;
  constexpr int sleeps = sched_test::slow_build ? 20 : 100;
  signals_handled = 0;
  std::atomic<int> early{0};
  std::atomic<int> slept{0};
  {
    std::optional<storm> all_the_time(std::in_place);
    runq::run(
        [&]() -> task<> {
          runq::wait_group done;
          done.add(tasks);
          for (int i = 0; i != tasks; ++i) {
            runq::go([&, i]() -> task<> {
              for (int k = 0; k < sleeps || signals_handled <= 10; ++k) {
                const auto d = std::chrono::microseconds((i * 31 + k * 17) % 3000);
                const auto begin = runq::clock::now();
                co_await runq::sleep_for(d);
                if (runq::clock::now() - begin < d) ++early;
                slept += k < sleeps ? 1 : 0;
              }
              done.done();
            });
          }
          co_await done.wait();
          end_before_joins(all_the_time);
        },
        {.procs = 2});
  }
  EXPECT_EQ(early, 0);
  EXPECT_EQ(slept, tasks * sleeps);
}

// blocking(f) leaves EINTR to `f`. Here `f` makes its system call again.
TEST_F(faults, interrupted_blocking_calls_lose_nothing) {
  constexpr int tasks = 10;
  constexpr int calls = sched_test::slow_build ? 100 : 1000;
  signals_handled = 0;
  std::atomic<int> interrupted{0};
  std::atomic<int> returned{0};
  scheduler s({.procs = 2});
  callers in_calls;
  {
    // Machines of which there are too many join each other while the run goes on.
    const storm all_the_time(RUNQ_TEST_TSAN != 0 ? &in_calls : nullptr);
    s.run([&]() -> task<> {
      runq::wait_group done;
      done.add(tasks);
      for (int i = 0; i != tasks; ++i) {
        runq::go([&, i]() -> task<> {
          for (int k = 0; k < calls || interrupted == 0 || signals_handled <= 10; ++k) {
            const int n = co_await runq::blocking([&, i, k] {
              timespec left{0, (k % 10) * 100'000};
              const callers::call here(in_calls);
              while (nanosleep(&left, &left) != 0 && errno == EINTR) ++interrupted;
              return i * calls + k;
            });
            EXPECT_EQ(n, i * calls + k);
            ++returned;
          }
          done.done();
        });
      }
      co_await done.wait();
    });
  }
  EXPECT_GE(returned, tasks * calls);
  const auto n = s.stats();
  EXPECT_EQ(n.calls_kept + n.calls_moved + n.calls_queued, static_cast<std::uint64_t>(returned));
}

// Machines go to sleep and are woken all the time, on futexes and in the poller, while signals interrupt them.
TEST_F(faults, interrupted_machines_go_back_to_sleep_or_to_work) {
  const std::size_t rounds = sched_test::rounds(100'000);
  signals_handled = 0;
  scheduler s({.procs = 2});
  for (int run = 0; run != 2; ++run) {
    std::optional<storm> all_the_time(std::in_place);
    s.run([&]() -> task<> {
      runq::channel<int> there;
      runq::channel<int> back;
      runq::go([&]() -> task<> {
        while (const auto n = co_await there.receive()) co_await back.send(*n + 1);
        back.close();
      });
      for (std::size_t i = 0; i < rounds || signals_handled <= 10; ++i) {
        co_await there.send(static_cast<int>(i));
        EXPECT_EQ(co_await back.receive(), static_cast<int>(i) + 1);
        if (i % 100 == 0) co_await runq::sleep_for(100us);
      }
      there.close();
      EXPECT_EQ(co_await back.receive(), std::nullopt);
      end_before_joins(all_the_time);
    });
  }
}

// ---- descriptors ----------------------------------------------------------------------------------------------------

// close() gives the descriptor's number to something that can neither be read nor written, so the system call of the
// task that is in the middle of its operation fails with an error that has nothing to do with the stream.
TEST_F(faults, S14_a_close_between_the_question_and_the_system_call_cancels_the_operation) {
  RUNQ_NEEDS_INTERPOSITION();
  runq::run([]() -> task<> {
    for (const bool reads : {true, false}) {
      auto [a, b] = runq::net::socket_pair();
      std::function<int()> closes = [&a = a] {
        a.close();
        return 0;
      };
      in_next_call = &closes;
      auto operation = reads ? sched_test::error_of_read(a) : sched_test::error_of_write(a);
      const int error = co_await std::move(operation);
      EXPECT_EQ(error, ECANCELED);
      EXPECT_EQ(in_next_call.load(), nullptr) << "no system call was made";
    }
  });
}

// The stream is destroyed by its owner, which keeps its processor, while another task is about to make the system call.
// That call fails because of the destruction, but the other task learns of it only when the owner waits.
TEST_F(faults, L2_a_system_call_that_fails_because_the_stream_is_destroyed_tells_nobody_before_the_owner_waits) {
  RUNQ_NEEDS_INTERPOSITION();
  runq::run(
      []() -> task<> {
        for (const bool reads : {true, false}) {
          auto ends = runq::net::socket_pair();
          std::optional<runq::net::stream> owned(std::move(ends.first));
          std::atomic<bool> calls{false};
          std::atomic<bool> destroyed{false};
          std::atomic<bool> called{false};
          std::atomic<int> error{0};
          std::function<int()> waits = [&] {
            calls = true;
            sched_test::hold_until([&] { return destroyed.load(); }, "the owner has destroyed the stream");
            called = true;
            return 0;
          };
          runq::go([&]() -> task<> {
            in_next_call = &waits;
            auto operation = reads ? sched_test::error_of_read(*owned) : sched_test::error_of_write(*owned);
            error = co_await std::move(operation);
          });
          co_await sched_test::yield_until([&] { return calls.load(); });
          owned.reset();
          destroyed = true;
          sched_test::hold_until([&] { return called.load(); }, "the call goes on");
          std::this_thread::sleep_for(
              std::chrono::milliseconds(20));  // most often the operation has been told too early now
          EXPECT_EQ(error, 0);
          co_await sched_test::yield_until([&] { return error.load() != 0; });
          EXPECT_EQ(error, ECANCELED);
        }
      },
      {.procs = 2});
}

TEST_F(faults, an_interrupted_system_call_is_made_again) {
  RUNQ_NEEDS_INTERPOSITION();
  runq::run([]() -> task<> {
    std::function<int()> is_interrupted = [] { return EINTR; };
    auto [a, b] = runq::net::socket_pair();
    in_next_call = &is_interrupted;
    co_await a.write(sched_test::bytes_of("x"));
    EXPECT_EQ(in_next_call.load(), nullptr) << "no system call was made";
    in_next_call = &is_interrupted;
    const std::string got = co_await sched_test::read_text(b, 1);
    EXPECT_EQ(got, "x");
    EXPECT_EQ(in_next_call.load(), nullptr) << "no system call was made";
  });
}

// The peer may be gone before its connection is accepted. That is no error of the listener.
TEST_F(faults, an_accept_that_fails_because_of_the_peer_is_made_again) {
  RUNQ_NEEDS_INTERPOSITION();
  runq::run([]() -> task<> {
    runq::net::listener l = runq::net::listen_tcp("127.0.0.1", 0);
    for (const int error : {ECONNABORTED, EINTR}) {
      std::function<int()> fails = [error] { return error; };
      runq::net::stream there = co_await runq::net::connect_tcp("127.0.0.1", l.port());
      in_next_call = &fails;
      runq::net::stream here = co_await l.accept();
      EXPECT_EQ(in_next_call.load(), nullptr) << "no system call was made";
      co_await there.write(sched_test::bytes_of("x"));
      const std::string got = co_await sched_test::read_text(here, 1);
      EXPECT_EQ(got, "x");
    }
  });
}

// The kernel limits how many descriptors a user may watch.
TEST_F(faults, an_accept_whose_connection_cannot_be_watched_fails_and_the_next_one_works) {
  RUNQ_NEEDS_INTERPOSITION();
  runq::run([]() -> task<> {
    runq::net::listener l = runq::net::listen_tcp("127.0.0.1", 0);
    for (const bool throws : {true, false}) {
      runq::net::stream refused = co_await runq::net::connect_tcp("127.0.0.1", l.port());
      error_of_watch = ENOSPC;
      std::error_code error;
      if (throws) {
        const int thrown = co_await sched_test::error_of(l.accept());
        EXPECT_EQ(thrown, ENOSPC);
      } else {
        const auto none = co_await l.accept(error);
        EXPECT_FALSE(none.has_value());
        EXPECT_EQ(error, std::errc::no_space_on_device);
      }
      const std::string end = co_await sched_test::read_text(refused, 1);
      EXPECT_EQ(end, "") << "the connection is closed";
      runq::net::stream there = co_await runq::net::connect_tcp("127.0.0.1", l.port());
      runq::net::stream here = co_await l.accept();
      co_await there.write(sched_test::bytes_of("x"));
      const std::string got = co_await sched_test::read_text(here, 1);
      EXPECT_EQ(got, "x");
    }
  });
}

TEST_F(faults, listening_everywhere_without_ipv6_is_by_ipv4_and_other_errors_are_thrown) {
  RUNQ_NEEDS_INTERPOSITION();
  runq::run([]() -> task<> {
    for (const int error : {EAFNOSUPPORT, EPROTONOSUPPORT, EADDRNOTAVAIL, ENOPROTOOPT}) {
      error_of_ipv6 = error;
      runq::net::listener l = runq::net::listen_tcp("", 0);
      EXPECT_EQ(error_of_ipv6, 0) << "no socket of IPv6 was tried";
      sockaddr_storage address{};
      socklen_t size = sizeof address;
      EXPECT_EQ(getsockname(l.fd(), reinterpret_cast<sockaddr*>(&address), &size), 0);
      EXPECT_EQ(address.ss_family, AF_INET) << error;
      runq::net::stream there = co_await runq::net::connect_tcp("127.0.0.1", l.port());
      runq::net::stream here = co_await l.accept();
    }
    error_of_ipv6 = EMFILE;
    std::error_code error;
    EXPECT_FALSE(runq::net::listen_tcp("", 0, error).has_value());
    EXPECT_EQ(error, std::errc::too_many_files_open);
  });
}

TEST_F(faults, a_system_error_of_the_resolver_is_that_error) {
  RUNQ_NEEDS_INTERPOSITION();
  runq::run([]() -> task<> {
    error_of_look_up = EIO;
    std::error_code error;
    const auto none = co_await runq::net::connect_tcp("127.0.0.1", 1, error);
    EXPECT_FALSE(none.has_value());
    EXPECT_EQ(error, std::error_code(EIO, std::generic_category()));
  });
}

// It is over, and the poller still counts in ns: an interruption does not mean that the kernel cannot.
TEST_F(faults, an_interrupted_poll_has_no_events) {
  RUNQ_NEEDS_INTERPOSITION();
  runq::detail::poller p;
  p.ring();
  interruptions_of_poll = 1;
  const int in_ns = polls_in_ns;
  EXPECT_FALSE(p.poll(1'000'000).rung);
  EXPECT_EQ(interruptions_of_poll, 0) << "no system call was made";
  const bool counts_ns = polls_in_ns != in_ns;
  const int in_ms = polls_in_ms;
  EXPECT_TRUE(p.poll(1'000'000).rung);
  EXPECT_EQ(polls_in_ms != in_ms, !counts_ns);
}

// ---- signals --------------------------------------------------------------------------------------------------------

// The task of an object that has ended reads what was meant for the next object: the request to stop comes during its
// system call. Main keeps its processor, so the task of the next object reads later.
TEST_F(faults, the_task_of_signals_that_have_ended_hands_on_what_it_has_read) {
  RUNQ_NEEDS_INTERPOSITION();
  runq::run(
      []() -> task<> {
        std::atomic<bool> calls{false};
        std::atomic<bool> goes_on{false};
        std::function<int()> waits = [&] {
          calls = true;
          sched_test::hold_until([&] { return goes_on.load(); }, "the next object");
          return 0;
        };
        std::optional<runq::signals> earlier(std::in_place, std::initializer_list<int>{SIGUSR1});
        co_await sched_test::yield_until(
            [] { return runq::this_scheduler().dump().find("[IO wait]") != std::string::npos; });
        in_next_call = &waits;
        std::raise(SIGUSR1);
        sched_test::hold_until([&] { return calls.load(); }, "the task reads");
        earlier.reset();
        const runq::signals next({SIGUSR2, SIGHUP});
        std::raise(SIGUSR2);
        std::raise(SIGHUP);
        goes_on = true;
        sched_test::hold_until(
            [] {
              const std::string tasks = runq::this_scheduler().dump();
              return tasks.find("goroutine", tasks.find("goroutine", 1) + 1) == std::string::npos;
            },
            "only main and the task of the next object are left");
        for (const int expected : {SIGUSR2, SIGHUP}) {
          const auto number = co_await next.received().receive();
          EXPECT_EQ(number, expected);
        }
      },
      {.procs = 2});
}

// Refused twice: what the first scheduler had noted is gone when the second one asks.
TEST_F(faults, a_signal_that_the_system_refuses_for_dumps_is_an_error_and_changes_nothing) {
  RUNQ_NEEDS_INTERPOSITION();
  const auto make = [] { const scheduler s({.procs = 1, .dump_on = SIGUSR1}); };
  struct sigaction before {};
  EXPECT_EQ(sigaction(SIGUSR1, nullptr, &before), 0);
  for (int i = 0; i != 2; ++i) {
    error_of_action = EINVAL;
    int error = 0;
    try {
      make();
    } catch (const std::system_error& e) {
      error = e.code().value();
    }
    EXPECT_EQ(error, EINVAL);
  }
  EXPECT_TRUE(sched_test::comes_true([] { return sched_test::threads_named("runq dumps") == 0; }));
  make();
  struct sigaction now {};
  EXPECT_EQ(sigaction(SIGUSR1, nullptr, &now), 0);
  EXPECT_EQ(now.sa_handler, before.sa_handler);
}

}  // namespace
