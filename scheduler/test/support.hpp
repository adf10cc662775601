// SPDX-License-Identifier: MIT
// What the scheduler's tests share.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <runq/runq.hpp>
#include <unistd.h>

#if defined(__has_feature)
#define RUNQ_TEST_HAS_FEATURE(x) __has_feature(x)
#else
#define RUNQ_TEST_HAS_FEATURE(x) 0
#endif
#if defined(__SANITIZE_THREAD__) || RUNQ_TEST_HAS_FEATURE(thread_sanitizer)
#define RUNQ_TEST_TSAN 1
#else
#define RUNQ_TEST_TSAN 0
#endif
#if defined(__SANITIZE_ADDRESS__) || RUNQ_TEST_HAS_FEATURE(address_sanitizer)
#define RUNQ_TEST_ASAN 1
#else
#define RUNQ_TEST_ASAN 0
#endif

namespace sched_test {

/// `n` rounds in a release build, fewer in a slower build, so that a test takes about the same time in each; with the
/// quick budget a quarter. RUNQ_STRESS=f multiplies the number by f.
inline std::size_t rounds(std::size_t n) {
#if defined(RUNQ_TEST_EXPLORED)
  n /= 500;  // each test runs again and again
#elif RUNQ_TEST_TSAN || RUNQ_TEST_EMULATED
  n /= 50;  // an emulator is slow, and QEMU 7 does not free 100 KB of every thread that has ended
#elif RUNQ_TEST_ASAN
  n /= 20;
#elif !defined(NDEBUG)
  n /= 10;
#elif RUNQ_TEST_QUICK
  n /= 4;
#endif
  const char* const factor = std::getenv("RUNQ_STRESS");
  if (factor != nullptr) n *= static_cast<std::size_t>(std::strtoull(factor, nullptr, 10));
  return n == 0 ? 1 : n;
}

/// Whether a sanitizer or an emulator slows everything down.
inline constexpr bool slow_build = RUNQ_TEST_TSAN != 0 || RUNQ_TEST_ASAN != 0 || RUNQ_TEST_EMULATED != 0;

/// Whether a program can replace operator new. With clang's ThreadSanitizer it cannot: the runtime's own one is used.
#if RUNQ_TEST_TSAN && defined(__clang__)
inline constexpr bool own_operator_new = false;
#else
inline constexpr bool own_operator_new = true;
#endif

/// A "threadsafe" death test executes the program again. Under an emulator that is not possible.
inline constexpr const char* death_test_style = RUNQ_TEST_EMULATED != 0 ? "fast" : "threadsafe";

inline constexpr unsigned proc_counts[] = {1, 2, 4, 16};

/// How long a test waits for something before it fails. Under exploration the clock jumps to the end of a long wait
/// whenever it likes; what never comes is a deadlock there, or a run that does not end.
#ifdef RUNQ_TEST_EXPLORED
inline constexpr std::chrono::steady_clock::duration patience = std::chrono::hours(1'000'000);
#else
inline constexpr std::chrono::steady_clock::duration patience = std::chrono::minutes(1);
#endif

/// For tests that would hang if something did not happen. An alarm ends the program after 120 s, but not under
/// exploration, where it would ring by the clock that jumps.
class alarmed : public testing::Test {
 protected:
  void SetUp() override { renew_alarm(); }
  void TearDown() override { alarm(0); }
  /// Starts the 120 s again. For tests that start many processes, which add up on a busy machine.
  static void renew_alarm() {
#ifndef RUNQ_TEST_EXPLORED
    alarm(120);
#endif
  }
};

/// Waits until `condition()` is true. False: it was not true within `patience`.
template <class Condition>
[[nodiscard]] bool comes_true(Condition&& condition) {
  const auto end = std::chrono::steady_clock::now() + patience;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::yield();
  }
  return true;
}

/// Like comes_true(), but the thread sleeps between two tests of the condition. For conditions that take a while.
template <class Condition>
[[nodiscard]] bool wait_until(Condition&& condition) {
  return comes_true([&] {
    if (condition()) return true;
    std::this_thread::sleep_for(std::chrono::microseconds(100));
    return false;
  });
}
[[nodiscard]] inline bool wait_for(const std::atomic<bool>& flag) {
  return wait_until([&] { return flag.load(); });
}

/// comes_true() for a task, which keeps its processor while it waits. Fails if the condition does not come true.
template <class Condition>
void hold_until(Condition&& condition, const char* what) {
  EXPECT_TRUE(comes_true(condition)) << "never: " << what;
}

/// Yields until `condition()` is true, so that other tasks run meanwhile. Has no limit of time.
template <class Condition>
runq::task<> yield_until(Condition condition) {
  while (!condition()) co_await runq::yield();
}

/// A list to which tasks add notes. It keeps them in the order in which they came.
template <class T>
class log_of {
 public:
  void note(T what) {
    const std::lock_guard lock(mutex_);
    notes_.push_back(std::move(what));
  }
  [[nodiscard]] std::vector<T> all() const {
    const std::lock_guard lock(mutex_);
    return notes_;
  }
  [[nodiscard]] std::size_t size() const {
    const std::lock_guard lock(mutex_);
    return notes_.size();
  }

 private:
  mutable std::mutex mutex_;
  std::vector<T> notes_;
};

/// The text of the runq::misuse that `f` throws, or a text in parentheses if it throws none.
template <class F>
[[nodiscard]] std::string misuse_of(F&& f) {
  try {
    std::forward<F>(f)();
  } catch (const runq::misuse& error) {
    return error.what();
  } catch (...) {
    return "(threw something else)";
  }
  return "(threw nothing)";
}

/// misuse_of() for a task that awaits what `make()` returns.
template <class Make>
runq::task<std::string> misuse_in_task(Make make) {
  std::string text = "(threw nothing)";
  try {
    (void)co_await make();
  } catch (const runq::misuse& error) {
    text = error.what();
  } catch (...) {
    text = "(threw something else)";
  }
  co_return text;
}

/// misuse_in_task() for awaitables that return nothing.
template <class Make>
runq::task<std::string> misuse_in_task_void(Make make) {
  std::string text = "(threw nothing)";
  try {
    co_await make();
  } catch (const runq::misuse& error) {
    text = error.what();
  } catch (...) {
    text = "(threw something else)";
  }
  co_return text;
}

/// A coroutine that no scheduler runs: it begins at once, on the caller's thread.
struct by_hand {
  struct promise_type {
    by_hand get_return_object() noexcept { return {}; }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_void() noexcept {}
    void unhandled_exception() noexcept { std::terminate(); }
  };
};

/// Task `self` of `of` tasks that pass a token around, `laps` times. Each waits for its turn without giving up its
/// processor, so they end only if all of them run at the same time.
inline void pass_tokens(std::atomic<unsigned>& turn, unsigned self, unsigned of, unsigned laps) {
  for (unsigned lap = 0; lap != laps; ++lap) {
    hold_until([&] { return turn.load() == self; }, "the token");
    turn.store((self + 1) % of);
  }
}

/// How many threads this process has.
[[nodiscard]] inline std::size_t threads_of_this_process() {
  std::size_t n = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator("/proc/self/task")) ++n;
  return n;
}

/// Sends stdout to stderr, because a death test compares only what its child process writes on stderr.
inline void stdout_to_stderr() {
  std::fflush(stdout);
  ::dup2(STDERR_FILENO, STDOUT_FILENO);
}

inline constexpr const char* deadlock_line = "^fatal error: all goroutines are asleep - deadlock!\n\n";

#define RUNQ_EXPECT_STATUS_2(statement, stderr_matcher)                 \
  do {                                                                  \
    GTEST_FLAG_SET(death_test_style, sched_test::death_test_style);     \
    EXPECT_EXIT(statement, testing::ExitedWithCode(2), stderr_matcher); \
  } while (false)

}  // namespace sched_test
