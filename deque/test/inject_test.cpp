// SPDX-License-Identifier: MIT
// The rules of inject and of the chain that batches travel in, one test each. Rows Q9 and Q12 of the queue rules.
#include <algorithm>
#include <cstddef>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <runq/inject.hpp>

#include "support.hpp"

namespace {

using runq_test::op;
using runq_test::probe;

template <class Atomics>
struct basic_task {
  int id = 0;
  runq::inject_link<basic_task, Atomics> link{};
};

using task = basic_task<runq::std_atomics>;
using queue = runq::inject<&task::link>;
using chain = queue::chain;

using probed_task = basic_task<runq_test::probe_atomics>;
using probed_queue = runq::inject<&probed_task::link>;

using ids = runq_test::numbers;
using runq_test::from_to;

/// Tasks with the ids 1 … n; owns them.
template <class Task>
class basic_tasks {
 public:
  explicit basic_tasks(int n) : tasks_(static_cast<std::size_t>(n)) {
    for (int id = 1; id <= n; ++id) (*this)[id]->id = id;
  }
  [[nodiscard]] Task* operator[](int id) { return &tasks_[static_cast<std::size_t>(id) - 1]; }

  /// A chain of the tasks first … last.
  template <class Chain = chain>
  [[nodiscard]] Chain chained(int first, int last) {
    Chain c;
    for (int id = first; id <= last; ++id) c.push_back((*this)[id]);
    return c;
  }

 private:
  std::vector<Task> tasks_;
};
using tasks = basic_tasks<task>;

template <class Chain>
ids pop_all(Chain& c) {
  ids out;
  while (auto* const t = c.pop_front()) out.push_back(t->id);
  return out;
}

template <class Queue>
ids take_all(Queue& q) {
  ids out;
  while (auto* const t = q.take()) out.push_back(t->id);
  return out;
}

// ---- the chain ------------------------------------------------------------------------------------------------------

TEST(inject_chain, is_first_in_first_out) {
  tasks t(3);
  chain c;
  EXPECT_TRUE(c.empty());
  EXPECT_EQ(c.pop_front(), nullptr);
  c.push_back(t[1]);
  c.push_back(t[2]);
  EXPECT_EQ(c.pop_front(), t[1]);
  c.push_back(t[3]);
  EXPECT_EQ(c.size(), 2U);
  EXPECT_EQ(pop_all(c), (ids{2, 3}));
  EXPECT_TRUE(c.empty());
  c.push_back(t[1]);  // an emptied chain can be filled again
  EXPECT_EQ(pop_all(c), (ids{1}));
}

TEST(inject_chain, splice_appends_in_order_and_empties_the_other) {
  for (int left = 0; left <= 3; ++left) {
    for (int right = 0; right <= 3; ++right) {
      tasks t(6);
      chain a = t.chained(1, left);
      chain b = t.chained(left + 1, left + right);
      a.splice(std::move(b));
      EXPECT_TRUE(b.empty());  // NOLINT(bugprone-use-after-move): promised to be empty
      EXPECT_EQ(a.size(), static_cast<std::size_t>(left + right));
      EXPECT_EQ(pop_all(a), from_to(1, left + right));
    }
  }
}

TEST(inject_chain, cut_front_takes_the_first_n_and_leaves_the_rest) {
  for (int size = 0; size <= 5; ++size) {
    for (int n = 0; n <= 7; ++n) {
      tasks t(6);
      chain rest = t.chained(1, size);
      chain front = rest.cut_front(static_cast<std::size_t>(n));
      const int cut = std::min(n, size);
      EXPECT_EQ(front.size(), static_cast<std::size_t>(cut));
      rest.push_back(t[6]);
      EXPECT_EQ(pop_all(front), from_to(1, cut));
      ids expected = from_to(cut + 1, size);
      expected.push_back(6);
      EXPECT_EQ(pop_all(rest), expected);
    }
  }
}

static_assert(std::is_nothrow_move_constructible_v<chain> && std::is_nothrow_move_assignable_v<chain>);
static_assert(!std::is_copy_constructible_v<chain> && !std::is_copy_assignable_v<chain>);

TEST(inject_chain, a_move_takes_everything_along) {
  tasks t(3);
  chain a = t.chained(1, 3);
  chain b(std::move(a));
  EXPECT_TRUE(a.empty());  // NOLINT(bugprone-use-after-move): promised to be empty
  chain c;
  c = std::move(b);
  EXPECT_TRUE(b.empty());  // NOLINT(bugprone-use-after-move): promised to be empty
  EXPECT_EQ(pop_all(c), from_to(1, 3));
}

TEST(inject_chain, an_element_may_be_queued_again_when_it_has_left) {
  tasks t(2);
  chain c = t.chained(1, 2);
  EXPECT_EQ(c.pop_front(), t[1]);
  c.push_back(t[1]);
  EXPECT_EQ(pop_all(c), (ids{2, 1}));
}

// ---- the queue ------------------------------------------------------------------------------------------------------

TEST(inject, Q9_is_first_in_first_out) {
  tasks t(100);
  queue q;
  EXPECT_EQ(q.take(), nullptr);
  for (int id = 1; id <= 100; ++id) q.put(t[id]);
  EXPECT_EQ(q.size_approx(), 100U);
  EXPECT_EQ(take_all(q), from_to(1, 100));
}

TEST(inject, Q9_a_batch_goes_behind_all_others_in_order) {
  tasks t(6);
  queue q;
  q.put(t[1]);
  q.splice(t.chained(2, 4));
  q.put(t[5]);
  q.splice(chain{});
  q.splice(t.chained(6, 6));
  EXPECT_EQ(q.size_approx(), 6U);
  EXPECT_EQ(take_all(q), from_to(1, 6));
}

TEST(inject, Q9_a_batch_of_any_size_costs_the_same) {
  const auto cost = [](int n) {
    basic_tasks<probed_task> t(n + 1);
    probed_queue q;
    q.put(t[n + 1]);
    auto batch = t.chained<probed_queue::chain>(1, n);
    probe::reset();
    q.splice(std::move(batch));
    const std::size_t steps = probe::count(op::cell) + probe::atomics() + probe::count(op::lock);
    EXPECT_EQ(probe::count(op::lock), 1U);
    take_all(q);
    return steps;
  };
  EXPECT_EQ(cost(1000), cost(1));
}

TEST(inject, splice_front_goes_before_all_others_in_order) {
  tasks t(6);
  queue q;
  q.splice_front(t.chained(5, 6));
  q.splice_front(chain{});
  q.splice_front(t.chained(1, 4));
  EXPECT_EQ(q.size_approx(), 6U);
  EXPECT_EQ(take_all(q), from_to(1, 6));
}

TEST(inject, Q12_gives_a_fair_share_in_the_cases_that_go_shows) {
  struct row {
    int size;
    std::size_t procs;
    std::size_t share;
  };
  for (const row r : {row{10, 4, 3}, row{1, 8, 1}, row{1000, 2, 128}, row{0, 4, 0}}) {
    tasks t(std::max(r.size, 1));
    queue q;
    q.splice(t.chained(1, r.size));
    chain batch = q.take_batch(r.procs);
    EXPECT_EQ(batch.size(), r.share) << r.size << " among " << r.procs;
    EXPECT_EQ(pop_all(batch), from_to(1, static_cast<int>(r.share)));
    EXPECT_EQ(take_all(q), from_to(static_cast<int>(r.share) + 1, r.size));
  }
}

TEST(inject, Q12_gives_the_least_of_size_and_share_and_max_and_128) {
  tasks t(600);
  for (int size = 0; size <= 600; size += 1 + size / 7) {
    for (const std::size_t procs : {1U, 2U, 3U, 4U, 8U, 100U, 1000U}) {
      for (const std::size_t max : {1U, 2U, 100U, 127U, 128U, 129U, 10'000U}) {
        queue q;
        q.splice(t.chained(1, size));
        chain batch = q.take_batch(procs, max);
        const std::size_t n = static_cast<std::size_t>(size);
        const std::size_t share = std::min({n, n / procs + 1, max, std::size_t{128}});
        ASSERT_EQ(batch.size(), share) << size << " among " << procs << ", at most " << max;
        ASSERT_EQ(q.size_approx(), n - share);
        ASSERT_EQ(pop_all(batch), from_to(1, static_cast<int>(share)));
        ASSERT_EQ(take_all(q), from_to(static_cast<int>(share) + 1, size));
      }
    }
  }
}

TEST(inject, Q12_processors_that_come_in_turn_empty_it_and_none_gets_nothing) {
  tasks t(100);
  queue q;
  q.splice(t.chained(1, 100));
  ids seen;
  while (q.has_work_approx()) {
    chain batch = q.take_batch(8);
    ASSERT_FALSE(batch.empty());
    for (const int id : pop_all(batch)) seen.push_back(id);
  }
  EXPECT_EQ(seen, from_to(1, 100));
}

TEST(inject, has_work_takes_the_lock_once_and_answers_as_its_hint_does) {
  basic_tasks<probed_task> t(1);
  probed_queue q;
  const auto expect_work = [&q](bool work) {
    probe::reset();
    EXPECT_EQ(q.has_work(), work);
    EXPECT_EQ(probe::count(op::lock), 1U);
    EXPECT_EQ(q.has_work_approx(), work);
  };
  expect_work(false);
  q.put(t[1]);
  expect_work(true);
  EXPECT_EQ(q.take(), t[1]);
  expect_work(false);
}

TEST(inject, the_size_can_be_read_without_the_lock_and_is_right_when_nobody_is_busy) {
  basic_tasks<probed_task> t(10);
  probed_queue q;
  const auto expect_size = [&q](std::size_t n) {
    probe::reset();
    EXPECT_EQ(q.size_approx(), n);
    EXPECT_EQ(q.has_work_approx(), n != 0);
    EXPECT_EQ(probe::count(op::lock), 0U);
  };
  expect_size(0);
  q.put(t[1]);
  expect_size(1);
  q.splice(t.chained<probed_queue::chain>(2, 10));
  expect_size(10);
  EXPECT_EQ(q.take(), t[1]);
  expect_size(9);
  auto batch = q.take_batch(4);
  expect_size(6);
  q.splice_front(std::move(batch));
  expect_size(9);
  EXPECT_EQ(take_all(q), from_to(2, 10));
  expect_size(0);
}

TEST(inject, an_empty_batch_takes_no_lock) {
  probed_queue q;
  probe::reset();
  q.splice(probed_queue::chain{});
  q.splice_front(probed_queue::chain{});
  EXPECT_EQ(probe::count(op::lock), 0U);
}

TEST(inject, allocates_nothing_in_a_million_operations) {
  tasks t(10);
  queue q;
  EXPECT_EQ(runq_test::allocations_during([&] {
              for (int i = 0; i != 50'000; ++i) {
                for (int id = 1; id <= 5; ++id) q.put(t[id]);
                q.splice(t.chained(6, 9));
                q.splice_front(t.chained(10, 10));
                chain batch = q.take_batch(2);
                while (batch.pop_front() != nullptr) {
                }
                while (q.take() != nullptr) {
                }
              }
            }),
            0U);
}

static_assert(!std::is_copy_constructible_v<queue> && !std::is_move_constructible_v<queue>);
static_assert(sizeof(runq::inject_link<task>) == sizeof(void*), "a link is one pointer");

// ---- contracts, in debug builds -------------------------------------------------------------------------------------

TEST(inject_contract, a_chain_that_is_destroyed_with_elements_stops_the_program) {
  tasks t(1);
  RUNQ_EXPECT_CONTRACT_VIOLATION({ const chain lost = t.chained(1, 1); },
                                 "runq: inject_chain: destroyed with elements in it; they are lost");
}

TEST(inject_contract, a_chain_that_is_overwritten_with_elements_stops_the_program) {
  tasks t(1);
  RUNQ_EXPECT_CONTRACT_VIOLATION(
      {
        chain c = t.chained(1, 1);
        c = chain{};
      },
      "destroyed with elements in it");
}

TEST(inject_contract, a_queue_that_is_destroyed_with_elements_stops_the_program) {
  tasks t(1);
  RUNQ_EXPECT_CONTRACT_VIOLATION(
      {
        queue q;
        q.put(t[1]);
      },
      "destroyed with elements in it");
}

TEST(inject_contract, an_element_that_is_put_twice_stops_the_program) {
  [[maybe_unused]] constexpr const char* says = "runq: inject: an element was put that is in a queue or chain already";
  tasks t(3);
  for ([[maybe_unused]] const int twice : {1, 2, 3}) {
    RUNQ_EXPECT_CONTRACT_VIOLATION(
        {
          queue q;
          q.splice(t.chained(1, 3));
          q.put(t[twice]);
        },
        says);
  }
  RUNQ_EXPECT_CONTRACT_VIOLATION(
      {
        chain c;
        c.push_back(t[1]);
        c.push_back(t[1]);
      },
      says);
}

TEST(inject, an_element_may_be_put_again_once_it_was_taken) {
  tasks t(4);
  queue q;
  for (int round = 0; round != 3; ++round) {
    q.splice(t.chained(1, 4));
    // Each of these calls unlinks elements in a different way. All of them must clear the links.
    chain share = q.take_batch(4, 1);
    ASSERT_EQ(share.pop_front(), t[1]);
    ASSERT_EQ(q.take(), t[2]);
    chain rest = q.take_batch(1);
    ASSERT_EQ(rest.size(), 2U);
    chain front = rest.cut_front(1);
    ASSERT_EQ(front.pop_front(), t[3]);
    chain last = rest.cut_front(9);
    ASSERT_EQ(last.pop_front(), t[4]);
  }
}

TEST(inject_contract, a_share_among_no_processors_stops_the_program) {
  queue q;
  RUNQ_EXPECT_CONTRACT_VIOLATION(static_cast<void>(q.take_batch(0)), "needs at least one processor");
}

TEST(inject_contract, a_share_of_at_most_nothing_stops_the_program) {
  queue q;
  RUNQ_EXPECT_CONTRACT_VIOLATION(static_cast<void>(q.take_batch(1, 0)), "takes at least one element");
}

}  // namespace
