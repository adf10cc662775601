// SPDX-License-Identifier: MIT
// How much memory tasks need: rows L25 (frames and strands are reused) and X17 (a waiting task is small).
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <regex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <malloc.h>
#include <runq/detail/core.hpp>
#include <unistd.h>

#include "support.hpp"

namespace {

using runq::task;
using runq::detail::frame_bytes_given_back;
using runq::detail::frame_pool_bytes;
using sched_test::rounds;

constexpr std::size_t slab = std::size_t{64} * 1024;

/// The strand of the calling task.
const void* own_strand() { return runq::detail::this_front()->current; }

TEST(memory, L25_a_million_tasks_one_after_the_other_need_the_memory_of_one) {
  runq::run(
      []() -> task<> {
        std::set<const void*> strands;
        const auto spawn_one = [&]() -> task<> {
          runq::go([&]() -> task<> {
            strands.insert(own_strand());
            co_return;
          });
          co_await runq::yield();
        };
        for (int i = 0; i != 100; ++i) co_await spawn_one();
        const std::size_t before = frame_pool_bytes();
        for (std::size_t i = 0; i != rounds(1'000'000); ++i) co_await spawn_one();
        EXPECT_LE(frame_pool_bytes() - before, slab);
        EXPECT_LE(strands.size(), 64U);
      },
      {.procs = 1});
}

TEST(memory, L25_tasks_on_several_processors_that_steal_need_no_more_memory_in_the_end) {
  runq::run(
      []() -> task<> {
        const auto burst = []() -> task<> {
          runq::wait_group group;
          group.add(100);
          for (int i = 0; i != 100; ++i) {
            runq::go([&]() -> task<> {
              co_await runq::yield();
              group.done();
            });
          }
          co_await group.wait();
        };
        for (int i = 0; i != 20; ++i) co_await burst();
        const std::size_t before = frame_pool_bytes();
        for (std::size_t i = 0; i != rounds(10'000); ++i) co_await burst();
        EXPECT_LE(frame_pool_bytes() - before, 16 * slab);
      },
      {.procs = 4});
}

TEST(memory, L25_the_memory_of_tasks_from_outside_is_used_again) {
  runq::scheduler s({.procs = 2});
  const auto outside = s.attach();
  const auto one = [&] {
    outside.go([]() -> task<> { co_await runq::yield(); });
    s.wait();
  };
  for (int i = 0; i != 100; ++i) one();
  const std::size_t before = frame_pool_bytes();
  for (std::size_t i = 0; i != rounds(50'000); ++i) one();
  EXPECT_LE(frame_pool_bytes() - before, 4 * slab);
}

// A processor keeps at most 64 free blocks of each size and 64 free strands. The others go to a shared pool, from which
// other processors take them.
TEST(memory, L25_frames_that_end_on_another_processor_come_back) {
  runq::run(
      []() -> task<> {
        const auto ping = [](runq::channel<int>& there, runq::channel<int>& back, int n) -> task<> {
          for (int i = 0; i != n; ++i) {
            co_await there.send(i);
            (void)co_await back.receive();
          }
        };
        const auto all = [&]() -> task<> {
          std::array<runq::channel<int>, 8> there;
          std::array<runq::channel<int>, 8> back;
          runq::wait_group group;
          group.add(16);
          for (std::size_t i = 0; i != 8; ++i) {
            runq::go([&, i]() -> task<> {
              co_await ping(there[i], back[i], 20);
              group.done();
            });
            runq::go([&, i]() -> task<> {
              for (int k = 0; k != 20; ++k) {
                (void)co_await there[i].receive();
                co_await back[i].send(k);
              }
              group.done();
            });
          }
          co_await group.wait();
        };
        for (int i = 0; i != 20; ++i) co_await all();
        const std::size_t before = frame_pool_bytes();
        for (std::size_t i = 0; i != rounds(2'000); ++i) co_await all();
        EXPECT_LE(frame_pool_bytes() - before, 16 * slab);
      },
      {.procs = 4});
}

task<> receive_one(runq::channel<int>* from) { (void)co_await from->receive(); }

/// Measures the memory of a task that waits on a channel, in bytes. `start(c)` starts such a task.
template <class Start>
std::size_t bytes_of_a_waiting_task(const char* what, Start start) {
  constexpr std::size_t n = sched_test::slow_build ? 20'000 : 100'000;  // tasks of one measurement
  std::size_t bytes = 0;
  runq::run(
      [&]() -> task<> {
        runq::channel<int> c;
        std::size_t frames = 0;
        std::size_t waiting = 0;
        // The first tasks get the memory of tasks that earlier tests of this process have left.
        while (frames < 32 && waiting != 20 * n) {
          const std::size_t before = frame_pool_bytes();
          for (std::size_t i = 0; i != n; ++i) {
            start(&c);
            if (i % 200 == 0) co_await runq::yield();
          }
          co_await runq::yield();
          waiting += n;
          frames = (frame_pool_bytes() - before) / n;
        }
        bytes = frames + sizeof(runq::detail::strand);
        std::printf("%s that waits on a channel: %zu bytes, of which its strand %zu\n", what, bytes,
                    sizeof(runq::detail::strand));
        EXPECT_GE(frames, 32U) << "nothing was measured";
        // Half of the waiting tasks end here. The others are destroyed when main ends.
        for (std::size_t i = 0; i != waiting / 2; ++i) co_await c.send(0);
      },
      {.procs = 1});
  return bytes;
}

constexpr std::size_t strand_bytes = sizeof(runq::detail::strand);

// A program and the library may come from two compilers, so every compiler must make the same of the caches.
static_assert(runq::detail::frame_cache::granule == 8 && sizeof(runq::detail::frame_cache) == std::size_t{128} * 16);

/// The size of the block that a closure of so many bytes takes.
constexpr std::size_t block_for(std::size_t bytes) {
  return runq::detail::frame_cache::size_of_class(runq::detail::frame_cache::class_of(bytes));
}
/// Likewise of a frame: with clang++ in larger steps than with g++.
constexpr std::size_t block_for_frame(std::size_t bytes) {
  return block_for(runq::detail::memory_of_frame::rounded(bytes));
}

TEST(memory, X17_a_waiting_task_costs_its_strand_and_a_frame_of_136_bytes) {
  EXPECT_LE(bytes_of_a_waiting_task("a task", [](runq::channel<int>* c) { runq::go(receive_one(c)); }),
            strand_bytes + block_for_frame(136) + sizeof(void*));
}

TEST(memory, X17_a_waiting_task_of_a_lambda_costs_16_bytes_more_for_what_it_refers_to) {
  const auto start = [](runq::channel<int>* c) { runq::go([c]() -> task<> { (void)co_await c->receive(); }); };
  EXPECT_LE(bytes_of_a_waiting_task("a coroutine lambda", start),
            strand_bytes + block_for_frame(136) + block_for(16) + sizeof(void*));
}

TEST(memory, a_started_task_costs_its_strand_and_a_frame_of_80_bytes_with_a_pointer_of_its_own) {
  constexpr std::size_t n = sched_test::slow_build ? 20'000 : 100'000;  // tasks of one measurement
  std::size_t frames = 0;
  runq::run(
      [&]() -> task<> {
        std::size_t started = 0;
        std::size_t ended = 0;
        // No task runs before this one waits. The first ones get the memory of tasks that earlier tests have left.
        while (frames < 32 && started != 20 * n) {
          const std::size_t before = frame_pool_bytes();
          for (std::size_t i = 0; i != n; ++i) runq::go([&ended] { ++ended; });
          started += n;
          frames = (frame_pool_bytes() - before) / n;
        }
        while (ended != started) co_await runq::yield();
      },
      {.procs = 1});
  EXPECT_GE(frames, 32U) << "nothing was measured";
  EXPECT_LE(strand_bytes + frames, strand_bytes + block_for_frame(80) + sizeof(void*));
}

/// The resident memory of this process, in bytes. Signed: it may become less than it was at the beginning of a test.
std::ptrdiff_t resident_bytes() {
  std::ptrdiff_t all = 0;
  std::ptrdiff_t resident = 0;
  std::ifstream("/proc/self/statm") >> all >> resident;
  return resident * ::sysconf(_SC_PAGESIZE);
}

// The slabs of which all frames are free go back to the system; the strands of tasks stay.
TEST(memory, the_frames_of_a_burst_are_given_back_when_nobody_has_needed_them_for_a_second) {
  const std::size_t n = std::max<std::size_t>(rounds(1'000'000), sched_test::slow_build ? 50'000 : 200'000);
  const std::size_t taken_before = frame_pool_bytes();
  const std::size_t given_back_before = frame_bytes_given_back();
  runq::channel<int> c;  // outlives the run, because tasks use it when main has ended
  runq::run(
      [&]() -> task<> {
        for (std::size_t i = 0; i != n; ++i) {
          runq::go(receive_one(&c));
          if (i % 200 == 0) co_await runq::yield();
        }
        const std::size_t taken = frame_pool_bytes() - taken_before;
        const std::size_t given_back_in_burst = frame_bytes_given_back();
        const std::ptrdiff_t resident_in_burst = resident_bytes();
        c.close();
        for (int i = 0; i != 100 && frame_bytes_given_back() - given_back_before < taken / 2; ++i) {
          co_await runq::sleep_for(std::chrono::milliseconds(100));
        }
        EXPECT_GE(frame_bytes_given_back() - given_back_before, taken / 2);
        if (RUNQ_TEST_ASAN == 0 && RUNQ_TEST_TSAN == 0) {
          // What earlier tests of this process have left may be part of the burst. So resident memory is not compared
          // with what it was at the beginning, but with what was given back since.
          constexpr std::ptrdiff_t other_memory = std::ptrdiff_t{1} << 20;
          const auto given_back = static_cast<std::ptrdiff_t>(frame_bytes_given_back() - given_back_in_burst);
          const std::ptrdiff_t less = resident_in_burst - resident_bytes();
          std::printf("resident: %td KiB less after a burst of %zu tasks, of which %td KiB were given back\n",
                      less / 1024, n, given_back / 1024);
          EXPECT_GE(less + other_memory, given_back / 2);
        }
        // What was given back is taken again.
        for (std::size_t i = 0; i != n / 10; ++i) runq::go(receive_one(&c));
      },
      {.procs = 2});
}

// Until all strands are in use no further ones are made, however they were taken and given back.
TEST(memory, L25_free_strands_come_back_in_batches_and_one_by_one) {
  runq::run([] {
    constexpr std::size_t batch = runq::detail::strand_pool::batch;
    runq::detail::strand_pool pool(runq::detail::this_front()->home, 1);
    const auto made = [&pool] {
      std::set<const void*> all;
      pool.for_each([&all](const runq::detail::strand& g) { all.insert(&g); });
      return all.size();
    };
    auto used = pool.take_batch();
    EXPECT_EQ(used.size(), batch);
    used.push_back(&pool.take());
    used.splice(pool.take_batch());
    EXPECT_EQ(used.size(), 2 * batch);
    EXPECT_EQ(made(), 2 * batch);
    used.splice(pool.take_batch());
    EXPECT_EQ(used.size(), 3 * batch);
    EXPECT_EQ(made(), 6 * batch);

    pool.put_batch(used.cut_front(batch));
    pool.put(used.cut_front(batch + 1));
    while (used.size() != 6 * batch) used.splice(pool.take_batch());
    EXPECT_EQ(made(), 6 * batch);
    pool.put(std::move(used));
  });
}

// A processor on which more tasks end than start gives the others their strands back.
TEST(memory, a_processor_keeps_fewer_than_64_strands_of_ended_tasks) {
  runq::scheduler s({.procs = 1});
  s.run([&]() -> task<> {
    int ended = 0;
    for (int i = 0; i != 1'000; ++i) runq::go([&] { ++ended; });
    // The number in the trace is brought up to date at every eighth dispatch.
    for (int i = 0; i != 32 || ended != 1'000; ++i) co_await runq::yield();
    std::smatch kept;
    const std::string text = s.trace(true);
    EXPECT_TRUE(std::regex_search(text, kept, std::regex("gfreecnt=(\\d+)"))) << text;
    EXPECT_LT(std::stoi(kept[1]), 64);
    EXPECT_GE(std::stoi(kept[1]), 32);
  });
}

/// How many threads there are before a test starts any. A sanitizer starts a thread of its own together with the
/// program's first one, so this function starts a thread and counts after it has ended.
std::size_t threads_at_first() {
  pid_t first = 0;
  std::thread([&] { first = ::gettid(); }).join();
  const std::string entry = "/proc/self/task/" + std::to_string(first);
  EXPECT_TRUE(sched_test::wait_until([&] { return !std::filesystem::exists(entry); }));
  return sched_test::threads_of_this_process();
}

// Waits until the process has only so many threads. The kernel may list a thread for a while after it was joined.
bool only_these_threads_remain(std::size_t threads) {
  return sched_test::wait_until([&] { return sched_test::threads_of_this_process() == threads; });
}

// Each scheduler frees its threads, frames and strands when it is destroyed.
TEST(memory, L2_schedulers_one_after_the_other_leave_nothing) {
  const std::size_t threads = threads_at_first();
  const auto use_one = [](std::size_t i) {
    // Not variables of the main task, because another task may be about to use them when main ends.
    runq::channel<int> c;
    runq::channel<int> never;
    runq::scheduler s({.procs = 1 + static_cast<unsigned>(i % 4)});
    const int result = s.run([&]() -> task<int> {
      for (int k = 0; k != 10; ++k) {
        runq::go([&, k]() -> task<> {
          co_await c.send(k);
          (void)co_await never.receive();
        });
      }
      int sum = 0;
      for (int k = 0; k != 10; ++k) sum += *co_await c.receive();
      co_return sum;
    });
    ASSERT_EQ(result, 45);
  };
  for (std::size_t i = 0; i != 20; ++i) use_one(i);
  const std::size_t bytes = frame_pool_bytes();
  const std::size_t n = std::max<std::size_t>(rounds(10'000), sched_test::slow_build ? 200 : 1'000);
  for (std::size_t i = 0; i != n; ++i) use_one(i);
  EXPECT_TRUE(only_these_threads_remain(threads));
  EXPECT_LE(frame_pool_bytes() - bytes, 16 * slab);
}

task<int> wait_for_ever() {
  (void)co_await runq::select();
  co_return 0;
}

// The thread that ends a run destroys the remaining tasks as a machine with a processor of its own, which later runs
// use again.
TEST(memory, L2_one_run_after_the_other_needs_no_more_memory) {
  if (RUNQ_TEST_ASAN != 0 || RUNQ_TEST_TSAN != 0) GTEST_SKIP() << "mallinfo2() does not count the sanitizer's memory";
  runq::scheduler s({.procs = 1});
  const auto bytes_after = [&](int runs) {
    for (int i = 0; i != runs; ++i) {
      s.run([]() -> task<> {
        for (int k = 0; k != 20; ++k) {
          runq::go([]() -> task<> {
            const auto child = co_await runq::fork(wait_for_ever());  // NOLINT: the run ends before the join
            co_await runq::join();
          });
        }
        co_await runq::yield();
        co_await runq::yield();
      });
    }
    return mallinfo2().uordblks;
  };
  const std::size_t before = bytes_after(20);
  const std::size_t frames_before = frame_pool_bytes();
  EXPECT_LE(bytes_after(200), before + 64 * 1024);
  EXPECT_LE(frame_pool_bytes(), frames_before + 2 * slab);
}

TEST(memory, L2_many_schedulers_at_once_leave_nothing) {
  const std::size_t threads = threads_at_first();
  {
    std::vector<std::unique_ptr<runq::scheduler>> all;
    for (int i = 0; i != 50; ++i) all.push_back(std::make_unique<runq::scheduler>(runq::options{.procs = 2}));
    std::vector<std::thread> runners;
    std::atomic<int> sum{0};
    for (auto& s : all) {
      runners.emplace_back([&sum, &s] {
        sum += s->run([]() -> task<int> {
          co_await runq::yield();
          co_return 1;
        });
      });
    }
    for (auto& r : runners) r.join();
    EXPECT_EQ(sum, 50);
  }
  EXPECT_TRUE(only_these_threads_remain(threads));
}

TEST(memory, a_task_that_was_never_started_is_destroyed_without_having_run) {
  bool ran = false;
  const auto value = std::make_shared<int>(1);
  {
    const auto make = [&ran](std::shared_ptr<int>) -> task<> {
      ran = true;
      co_return;
    };
    auto a = make(value);
    auto b = make(value);
    EXPECT_EQ(value.use_count(), 3);
    a = std::move(b);
    EXPECT_EQ(value.use_count(), 2);
  }
  EXPECT_EQ(value.use_count(), 1);
  EXPECT_FALSE(ran);
}

// Frames that are larger than a kilobyte do not come from the pool but from operator new.
TEST(memory, L25_large_frames_work_as_small_ones_do) {
  const auto large = [](int n) -> task<int> {
    std::array<int, 2000> values{};
    values.fill(n);
    co_await runq::yield();
    co_return values[1999];
  };
  const std::size_t before = frame_pool_bytes();
  runq::run([&]() -> task<> {
    for (int i = 0; i != 1000; ++i) EXPECT_EQ(co_await large(i), i);
  });
  EXPECT_LE(frame_pool_bytes() - before, 2 * slab);
}

// Otherwise g++ notes that since version 4.6 it passes over-aligned parameters in another way.
#pragma GCC diagnostic ignored "-Wpsabi"

template <std::size_t Alignment>
struct alignas(Alignment) over_aligned {
  std::array<char, Alignment> bytes{};
};

/// Whether the object's address has the alignment of its type. The compiler would assume so and answer true: the
/// volatile pointer hides from it which address is tested.
template <class T>
[[nodiscard]] bool is_aligned(const T& object) {
  const void* volatile where = &object;
  return reinterpret_cast<std::uintptr_t>(where) % alignof(T) == 0;
}

template <std::size_t Alignment>
struct aligned_frames {
  using value = over_aligned<Alignment>;

  static task<> has_local() {
    const value local;
    co_await runq::yield();
    EXPECT_TRUE(is_aligned(local));
  }
  static task<> has_local_and_others() {
    std::array<char, Alignment + 100> others{};
    co_await runq::yield();
    const value local;
    co_await runq::yield();
    EXPECT_TRUE(is_aligned(local));
    EXPECT_EQ(others[Alignment], 0);
  }
  static task<> has_parameter(value parameter) {
    co_await runq::yield();
    EXPECT_TRUE(is_aligned(parameter));
  }
  static task<value> has_result() {
    co_await runq::yield();
    co_return value();
  }
  // With ThreadSanitizer and UndefinedBehaviorSanitizer together, clang++ 14 keeps a result in the frame that awaits
  // it. There the compiler heeds alignments up to 64 bytes only (docs/limits.md).
#if defined(__clang__) && RUNQ_TEST_TSAN
  static constexpr bool results_are_aligned = Alignment <= 64;
#else
  static constexpr bool results_are_aligned = true;
#endif

  static task<> all() {
    // So many frames at once that the blocks come from every place in a batch, some of them reused.
    for (int i = 0; i != 50; ++i) {
      std::vector<task<>> some;
      for (int k = 0; k != 10; ++k) {
        some.push_back(has_local());
        some.push_back(has_local_and_others());
        some.push_back(has_parameter(value()));
      }
      for (auto& one : some) co_await one;
      const value result = co_await has_result();
      EXPECT_TRUE(is_aligned(result) || !results_are_aligned);
      const value captured;
      runq::wait_group done;
      done.add(2);
      runq::go([captured, &done]() -> task<> {
        EXPECT_TRUE(is_aligned(captured));
        co_await runq::yield();
        EXPECT_TRUE(is_aligned(captured));
        done.done();
      });
      runq::go([captured, &done] {
        EXPECT_TRUE(is_aligned(captured));
        done.done();
      });
      co_await done.wait();
    }
  }
};

TEST(memory, frames_and_captures_are_aligned_as_their_types_want_it) {
  runq::run(
      []() -> task<> {
        co_await aligned_frames<16>::all();
        co_await aligned_frames<32>::all();
        co_await aligned_frames<64>::all();
        co_await aligned_frames<128>::all();
        co_await aligned_frames<256>::all();
        co_await aligned_frames<512>::all();
        co_await aligned_frames<1024>::all();
        co_await aligned_frames<4096>::all();
      },
      {.procs = 1});
}

}  // namespace
