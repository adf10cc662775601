// SPDX-License-Identifier: MIT
// A child process that fork() made has one thread, and makes a scheduler of its own, whatever the parent's other
// threads did at the fork. This program replaces mmap().
#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>

#include <runq/detail/fatal.hpp>
#include <runq/detail/process_locks.hpp>
#include <runq/detail/tracer.hpp>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "interposed.hpp"
#include "support.hpp"

namespace {

/// What the next mmap() calls first, once.
std::atomic<void (*)()> in_next_mmap{nullptr};

}  // namespace

#if RUNQ_TEST_MAY_INTERPOSE

extern "C" void* mmap(void* address, std::size_t bytes, int protection, int flags, int fd, off_t offset) noexcept {
  static auto* const real = sched_test::next_one<void*(void*, std::size_t, int, int, int, off_t)>("mmap");
  if (auto* const does = in_next_mmap.exchange(nullptr)) does();
  return real(address, bytes, protection, flags, fd, offset);
}

#endif

namespace {

using runq::task;
using sched_test::comes_true;

class forked_process : public sched_test::alarmed {
 protected:
  void SetUp() override {
#if RUNQ_TEST_TSAN
    GTEST_SKIP() << "ThreadSanitizer ends a process with threads that forks";
#endif
    alarmed::SetUp();
  }
};

/// Which thread forks, and whether it has.
std::atomic<pid_t> forking{0};
std::atomic<bool> has_forked{false};

bool sleeps(pid_t thread) {
  std::ifstream file("/proc/self/task/" + std::to_string(thread) + "/stat");
  std::string text;
  std::getline(file, text);
  const std::size_t end = text.rfind(')');  // the end of the thread's name
  return end + 2 < text.size() && text[end + 2] == 'S';
}

/// Whether each other thread of this process waits in the kernel, and so has no lock of the allocator.
bool others_sleep() {
  const auto threads = std::filesystem::directory_iterator("/proc/self/task");
  return std::all_of(begin(threads), end(threads), [](const auto& one) {
    const pid_t thread = std::stoi(one.path().filename());
    return thread == gettid() || sleeps(thread);
  });
}

/// Called by a thread that has a lock: keeps it until the fork is over, or waits for the lock.
void hold_beyond_fork() {
  while (!has_forked && (forking == 0 || !sleeps(forking))) std::this_thread::yield();
}

constexpr int hangs = 60;  // in s; after that an alarm ends the child process

/// Calls `f` in a child process, which ends without destructors. Returns the child's status.
template <class F>
int status_of_child(F f) {
  alarm(2 * hangs);
  forking = gettid();
  const pid_t child = fork();
  if (child == 0) {
    alarm(hangs);
    f();
    std::_Exit(testing::Test::HasFailure() ? 1 : 0);
  }
  has_forked = true;
  int status = -1;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  forking = 0;
  has_forked = false;
  return status;
}

task<> throws() {
  co_await runq::yield();
  throw std::runtime_error("a child");
}

/// Comes to each lock that schedulers share.
task<int> thousands_of_tasks() {
  runq::wait_group group;
  std::atomic<int> sum{0};
  for (int i = 0; i != 4'000; ++i) {
    group.add(1);
    runq::go([&]() -> task<> {
      co_await runq::yield();
      ++sum;
      group.done();
    });
  }
  co_await group.wait();
  co_return sum;
}

task<> never_started() { co_return; }

/// Comes to each lock that schedulers share.
void use_a_scheduler() {
  setenv("RUNQ_TRACE", "/dev/null", 1);
  { const task<> outside = never_started(); }
  runq::scheduler s({.procs = 1, .dump_on = SIGUSR2});
  s.run([]() -> task<> {
    const runq::signals user({SIGUSR1});
    EXPECT_EQ(co_await thousands_of_tasks(), 4'000);
    bool failed = false;
    try {
      co_await runq::fork(throws());
      co_await runq::fork(throws());
      co_await runq::join();
    } catch (const std::runtime_error&) {
      failed = true;
    }
    EXPECT_TRUE(failed);
    raise(SIGUSR1);
    EXPECT_EQ(co_await user.received().receive(), SIGUSR1);
  });
}

// All blocks of the pool are in use, so the next one maps memory, under a lock.
TEST_F(forked_process, another_thread_was_about_to_take_memory_for_frames) {
  if (!sched_test::interposed) GTEST_SKIP() << "the sanitizer replaces mmap() itself";
  static std::atomic<bool> maps{false};
  runq::scheduler s({.procs = 1});
  const auto home = s.attach();
  std::atomic<bool> go_on{false};
  home.go([&]() -> task<> {
    runq::channel<int> never;
    const auto wait = [&never]() -> task<> { (void)co_await never.receive(); };
    in_next_mmap = [] {
      maps = true;
      hold_beyond_fork();
    };
    while (!maps) runq::go(wait());
    never.close();
    co_await sched_test::yield_until([&] { return go_on.load(); });
  });
  ASSERT_TRUE(comes_true([] { return maps.load(); }));
  EXPECT_EQ(status_of_child(use_a_scheduler), 0);
  go_on = true;
  s.wait();
}

template <class Lock>
void expect_to_be_free_in_child(Lock& lock) {
  std::atomic<bool> held{false};
  std::thread other([&] {
    const std::lock_guard guard(lock);
    held = true;
    hold_beyond_fork();
  });
  EXPECT_TRUE(comes_true([&] { return held.load(); }));
  constexpr int taken = 2;
  EXPECT_EQ(status_of_child([&] {
              if (!lock.try_lock()) std::_Exit(taken);
              lock.unlock();
              use_a_scheduler();
            }),
            0);
  other.join();
}

TEST_F(forked_process, another_thread_had_a_lock_of_the_process) {
  runq::detail::process_locks& l = runq::detail::locks_of_process;
  expect_to_be_free_in_child(l.dumps);
  expect_to_be_free_in_child(l.signals);
  expect_to_be_free_in_child(l.traces);
  expect_to_be_free_in_child(l.child_errors);
  expect_to_be_free_in_child(l.outside_frames);
  expect_to_be_free_in_child(l.giving_back);
  expect_to_be_free_in_child(l.cutting);
  expect_to_be_free_in_child(l.batches);
}

// The child has signals of its own, as it has a pipe of its own for them.
TEST_F(forked_process, the_parent_hears_signals) {
  runq::scheduler s({.procs = 1});
  std::atomic<bool> hears{false};
  const auto home = s.attach();
  home.go([&]() -> task<> {
    const runq::signals user({SIGUSR1});
    hears = true;
    EXPECT_EQ(co_await user.received().receive(), SIGUSR1);
  });
  ASSERT_TRUE(comes_true([&] { return hears.load(); }));
  ASSERT_TRUE(comes_true(others_sleep)) << "a lock of AddressSanitizer's allocator would stay locked in the child";
  EXPECT_EQ(status_of_child(use_a_scheduler), 0);
  kill(getpid(), SIGUSR1);
  s.wait();
}

// Children of a busy process, at many moments.
TEST_F(forked_process, the_parents_schedulers_are_busy) {
  // A debugger shows such a child: each of its threads waits for ASan's allocator, which another thread of the parent
  // held.
  if (!sched_test::interposed) GTEST_SKIP() << "AddressSanitizer's own locks stay locked in a child of a busy process";
  runq::scheduler busy({.procs = 2});
  const auto home = busy.attach();
  std::atomic<bool> stop{false};
  for (int i = 0; i != 2; ++i) {
    home.go([&]() -> task<> {
      while (!stop) EXPECT_EQ(co_await thousands_of_tasks(), 4'000);
    });
  }
  for (std::size_t i = 0; i != sched_test::rounds(100); ++i) {
    ASSERT_EQ(status_of_child(use_a_scheduler), 0);
  }
  stop = true;
  busy.wait();
}

// fork(2) copies the recording. The parent writes it.
TEST_F(forked_process, a_child_that_dies_leaves_the_recording_of_its_parent_alone) {
  const std::string file = testing::TempDir() + "runq_" + std::to_string(getpid()) + ".json";
  {
    runq::detail::tracer t(file);
    t.ran(0, {1, "main"}, runq::detail::now(), runq::detail::now());
    const int status = status_of_child([] {
      close(STDERR_FILENO);
      runq::detail::fatal("dies");
    });
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == runq::detail::fatal_status) << status;
    EXPECT_EQ(std::filesystem::file_size(file), 0U);
    t.write();
    EXPECT_NE(std::filesystem::file_size(file), 0U);
  }
  std::filesystem::remove(file);
}

}  // namespace
