// SPDX-License-Identifier: MIT
// Row Q8: the order in which a thief visits the other processors. Row Q15: when it may steal a victim's next task.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <set>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <runq/detail/stands_still.hpp>
#include <runq/detail/steal_order.hpp>

namespace {

using runq::detail::fast_random;
using runq::detail::steal_order;

constexpr std::uint32_t most_machines = 64;

steal_order order_of(std::uint32_t n) {
  steal_order order;
  order.reset(n);
  return order;
}

std::vector<std::uint32_t> visits(steal_order::walk walk) {
  std::vector<std::uint32_t> seen;
  for (; !walk.done(); walk.advance()) seen.push_back(walk.position());
  return seen;
}

TEST(steal_order, has_one_position_at_first) {
  const steal_order order;
  EXPECT_EQ(order.size(), 1U);
  EXPECT_EQ(visits(order.start(7)), std::vector<std::uint32_t>{0});
}

TEST(steal_order, Q8_every_walk_visits_every_processor_once) {
  for (std::uint32_t n = 1; n <= most_machines; ++n) {
    const steal_order order = order_of(n);
    const auto walks = static_cast<std::uint32_t>(n * order.steps().size());
    for (std::uint32_t random = 0; random != walks; ++random) {
      const auto seen = visits(order.start(random));
      ASSERT_EQ(seen.size(), n);
      ASSERT_EQ(std::set<std::uint32_t>(seen.begin(), seen.end()).size(), n) << "n " << n << ", random " << random;
      ASSERT_LT(*std::max_element(seen.begin(), seen.end()), n);
    }
  }
}

TEST(steal_order, Q8_steps_are_the_numbers_coprime_to_the_number_of_processors) {
  for (std::uint32_t n = 1; n <= most_machines; ++n) {
    std::vector<std::uint32_t> coprime;
    for (std::uint32_t step = 1; step <= n; ++step) {
      if (std::gcd(step, n) == 1) coprime.push_back(step);
    }
    EXPECT_EQ(order_of(n).steps(), coprime);
  }
}

TEST(steal_order, Q8_from_three_processors_on_there_is_more_than_one_step) {
  for (std::uint32_t n = 3; n <= most_machines; ++n) EXPECT_GE(order_of(n).steps().size(), 2U) << n;
}

TEST(steal_order, Q8_as_many_random_numbers_as_there_are_walks_give_all_of_them) {
  for (std::uint32_t n = 1; n <= most_machines; ++n) {
    const steal_order order = order_of(n);
    const auto walks = static_cast<std::uint32_t>(n * order.steps().size());
    std::set<std::pair<std::uint32_t, std::uint32_t>> different;
    for (std::uint32_t random = 0; random != walks; ++random) {
      auto walk = order.start(random);
      const std::uint32_t first = walk.position();
      walk.advance();
      different.emplace(first, (walk.position() + n - first) % n);
    }
    EXPECT_EQ(different.size(), walks) << n;
  }
}

constexpr std::uint32_t starts = 100'000;

void expect_uniform(const std::vector<std::uint32_t>& count, std::uint32_t over, const char* what) {
  for (const std::uint32_t c : count) {
    if (c == 0) continue;  // this position is the thief itself
    const double share = static_cast<double>(starts) / over;
    EXPECT_NEAR(c, share, 0.05 * share) << what << " of " << count.size();
  }
}

TEST(steal_order, Q8_every_processor_is_as_often_the_first_as_any_other) {
  for (std::uint32_t n = 2; n <= 10; ++n) {
    const steal_order order = order_of(n);
    for (std::uint32_t seed = 1; seed <= n; ++seed) {  // the processors' random numbers have these seeds
      fast_random random(seed);
      std::vector<std::uint32_t> first(n, 0);
      for (std::uint32_t i = 0; i != starts; ++i) ++first[order.start(random()).position()];
      expect_uniform(first, n, "start");
      EXPECT_EQ(std::count(first.begin(), first.end(), 0U), 0);
    }
  }
}

// Only for a prime number of processors. For other numbers, a thief whose walk starts at itself goes first to a
// processor that is a coprime step away, so these are chosen more often; so it is in Go.
TEST(steal_order, Q8_every_other_processor_is_as_often_the_first_victim) {
  for (const std::uint32_t n : {2U, 3U, 5U, 7U}) {
    const steal_order order = order_of(n);
    const std::uint32_t self = n / 2;
    fast_random random(self + 1);
    std::vector<std::uint32_t> first(n, 0);
    for (std::uint32_t i = 0; i != starts; ++i) {
      auto walk = order.start(random());
      if (walk.position() == self) walk.advance();
      ++first[walk.position()];
    }
    EXPECT_EQ(first[self], 0U);
    EXPECT_EQ(std::count(first.begin(), first.end(), 0U), 1);
    expect_uniform(first, n - 1, "victim");
  }
}

TEST(steal_order, Q8_a_new_number_of_processors_replaces_the_old_one) {
  steal_order order = order_of(16);
  order.reset(3);
  EXPECT_EQ(order.size(), 3U);
  EXPECT_EQ(order.steps(), (std::vector<std::uint32_t>{1, 2}));
  EXPECT_EQ(visits(order.start(0)).size(), 3U);
}

// ---- whether a victim will come to its next task itself -------------------------------------------------------------

/// A fake of the thief's pauses: counts them, and lets the test act for the victim during each.
struct watched {
  static inline int pauses = 0;
  static inline std::function<void()> meanwhile;
  static void pause() {
    ++pauses;
    if (meanwhile) meanwhile();
  }
};
struct victim_queue {
  std::size_t ring = 0;
  bool next = false;
  [[nodiscard]] std::size_t size_approx() const { return ring; }
  [[nodiscard]] bool has_work_approx() const { return ring != 0 || next; }
};
struct started {
  int tasks = 0;
  [[nodiscard]] int get() const { return tasks; }
};

bool stands_still(const victim_queue& queue, started& dispatches, int starts_after = -1) {
  watched::pauses = 0;
  watched::meanwhile = [&, starts_after] {
    if (watched::pauses == starts_after) ++dispatches.tasks;
  };
  return runq::detail::stands_still<watched>(queue, dispatches);
}

TEST(stands_still, Q15_a_victim_that_starts_no_task_while_it_is_watched_loses_the_next_one) {
  started dispatches;
  EXPECT_TRUE(stands_still({.ring = 0, .next = true}, dispatches));
  EXPECT_EQ(watched::pauses, runq::detail::watch_pauses);
}

TEST(stands_still, Q15_a_victim_that_starts_one_at_any_moment_of_it_keeps_it) {
  for (int moment = 1; moment <= runq::detail::watch_pauses; ++moment) {
    started dispatches;
    EXPECT_FALSE(stands_still({.ring = 0, .next = true}, dispatches, moment)) << "pause " << moment;
  }
}

TEST(stands_still, Q15_only_a_victim_with_nothing_but_a_next_task_is_watched) {
  started dispatches;
  EXPECT_FALSE(stands_still({.ring = 1, .next = true}, dispatches));
  EXPECT_EQ(watched::pauses, 0);
  EXPECT_TRUE(stands_still({}, dispatches)) << "there is nothing to lose";
  EXPECT_EQ(watched::pauses, 0);
}

struct fork_deque {
  std::size_t oldest = 0;
  bool empty = false;
  [[nodiscard]] std::size_t oldest_approx() const { return oldest; }
  [[nodiscard]] bool has_work() const { return !empty; }
};

TEST(stays, a_fork_that_nobody_takes_while_it_is_watched_stays) {
  watched::pauses = 0;
  watched::meanwhile = nullptr;
  EXPECT_TRUE(runq::detail::stays<watched>(fork_deque{}));
  EXPECT_EQ(watched::pauses, runq::detail::watch_pauses);
}

TEST(stays, a_fork_that_is_taken_at_any_moment_of_it_does_not_whether_another_one_comes_or_not) {
  for (int moment = 1; moment <= runq::detail::watch_pauses; ++moment) {
    for (const bool another : {false, true}) {
      fork_deque forks;
      watched::pauses = 0;
      watched::meanwhile = [&] {
        if (watched::pauses != moment) return;
        forks.oldest = another ? 1 : 0;  // the owner has reserved the last one, and not yet claimed it, or has made one
        forks.empty = !another;
      };
      EXPECT_FALSE(runq::detail::stays<watched>(forks)) << "pause " << moment;
    }
  }
}

}  // namespace
