// SPDX-License-Identifier: MIT
// One owner and several thieves on real threads. Every element is taken exactly once, its contents are visible to the
// taker, and each thief takes older elements before newer ones: with fences of the language, and with those of
// membarrier_atomics. RUNQ_STRESS multiplies the number of elements.
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "fence_pair_stress.hpp"
#include "runq/chase_lev.hpp"
#include "runq/membarrier.hpp"

namespace {

struct task {
  std::uint64_t contents = 0;  // not atomic, so ThreadSanitizer reports it if the deque does not publish it
  std::atomic<int> ran{0};
};

[[nodiscard]] std::size_t scaled(std::size_t n) {
  const char* const factor = std::getenv("RUNQ_STRESS");
  return factor == nullptr ? n : n * static_cast<std::size_t>(std::strtoull(factor, nullptr, 10));
}

void run(task* t) {
  ASSERT_EQ(t->contents % 7, 3U);
  ASSERT_EQ(t->ran.fetch_add(1, std::memory_order::relaxed), 0);
}

template <class Atomics>
void each_element_is_taken_once(std::size_t count) {
  std::vector<task> tasks(count);
  runq::basic_chase_lev<task*, Atomics> deque(2);
  auto owner = deque.make_owner();
  std::atomic<bool> done{false};

  std::vector<std::thread> thieves;
  for (int i = 0; i != 3; ++i) {
    thieves.emplace_back([&, thief = deque.make_thief()] {
      const task* last = nullptr;
      while (!done.load(std::memory_order::acquire)) {
        const auto got = thief.steal();
        if (!got) {
          std::this_thread::yield();
          continue;
        }
        // Thieves take the oldest task, so each one is newer than the one before.
        EXPECT_LT(last, got.value);
        last = got.value;
        run(got.value);
      }
    });
  }
  for (std::size_t i = 0; i != count; ++i) {
    tasks[i].contents = 7 * i + 3;
    ASSERT_TRUE(owner.push(&tasks[i]));
    // The owner pushes and pops in bursts, so the deque is sometimes long and often down to its last element.
    if (i % 64 < 48) continue;
    for (int pops = 0; pops != 3; ++pops) {
      if (const auto t = owner.pop()) run(*t);
    }
  }
  while (const auto t = owner.pop()) run(*t);
  done.store(true, std::memory_order::release);
  for (std::thread& t : thieves) t.join();
  while (const auto t = owner.pop()) run(*t);
  for (const task& t : tasks) ASSERT_EQ(t.ran.load(), 1);
}

TEST(chase_lev_stress, every_element_is_taken_exactly_once_with_its_contents) {
  each_element_is_taken_once<runq::std_atomics>(scaled(200'000));
}

TEST(chase_lev_stress, also_with_the_fences_of_membarrier) {
  each_element_is_taken_once<runq::membarrier_atomics>(scaled(100'000));
}

TEST(chase_lev_stress, owner_and_thief_never_both_get_the_last_element) {
  using deque = runq::basic_chase_lev<std::uint32_t, runq::membarrier_atomics>;
  EXPECT_EQ(runq_test::lost_or_taken_twice<deque>(runq_test::stress_size(4'000'000)), 0U);
}

// Whether the test above can fail. Not run by ctest, because it needs two processors that do nothing else:
//   chase_lev_stress_test --gtest_also_run_disabled_tests --gtest_filter='*without*'
TEST(chase_lev_stress, DISABLED_without_the_heavy_fence_both_get_one) {
  if (!runq::membarrier_atomics::asymmetric())
    GTEST_SKIP() << "no membarrier(2): the light fence is a fence of the language, and needs no heavy one";
  using deque = runq::basic_chase_lev<std::uint32_t, runq_test::without_the_heavy_fence>;
  EXPECT_TRUE(runq_test::loses_or_takes_twice<deque>());
}

}  // namespace
