// SPDX-License-Identifier: MIT
// Whether several queues are empty: the answers when no other thread is there, and beside an owner who keeps an element
// in one of two deques at each moment.
#include <array>
#include <atomic>
#include <cstddef>
#include <span>
#include <thread>
#include <utility>

#include <gtest/gtest.h>
#include <runq/all_empty.hpp>
#include <runq/chase_lev.hpp>
#include <runq/inject.hpp>
#include <runq/local_queue.hpp>
#include <runq/ring.hpp>
#include <runq/split_deque.hpp>
#include <runq/split_ring.hpp>

#include "support.hpp"

namespace {

struct task {
  runq::inject_link<task> link{};
};
using deque = runq::counted<runq::chase_lev<int>>;
using split_deque = runq::counted<runq::split_deque<int>>;
using split_ring = runq::counted<runq::split_ring<int>>;
using local = runq::counted<runq::local_queue<&task::link>>;

TEST(all_empty, it_is_false_if_one_of_them_holds_an_element) {
  runq::ring<int> ring;
  auto owner = ring.make_owner();
  const auto thief = ring.make_thief();
  runq::inject<&task::link> global;
  deque first;
  local second(global);
  const auto all = [&] { return runq::all_empty(thief, global, first, second); };
  task t;
  EXPECT_TRUE(all());
  EXPECT_TRUE(owner.push(1));
  EXPECT_FALSE(all());
  EXPECT_EQ(owner.pop(), 1);
  EXPECT_TRUE(all());
  global.put(&t);
  EXPECT_FALSE(all());
  EXPECT_EQ(global.take(), &t);
  EXPECT_TRUE(all());
  EXPECT_TRUE(first.push(1));
  EXPECT_FALSE(all());
  EXPECT_EQ(first.steal().value, 1);
  EXPECT_TRUE(all());
  EXPECT_EQ(second.push_next(&t), 0U);
  EXPECT_FALSE(all());
  EXPECT_EQ(second.pop().task, &t);
  EXPECT_TRUE(all());
  EXPECT_TRUE(runq::all_empty());
}

// Whether `push` is counted by `queue`.
template <class Queue, class Push>
void expect_counted(Queue& queue, Push&& push) {
  const auto seen = queue.observe();
  EXPECT_FALSE(queue.pushed_since(seen));
  push();
  EXPECT_TRUE(queue.pushed_since(seen));
}

TEST(all_empty, every_way_to_push_into_a_deque_is_counted) {
  deque d;
  const std::array<int, 2> two{1, 2};
  expect_counted(d, [&] { EXPECT_TRUE(d.push(1)); });
  expect_counted(d, [&] { EXPECT_EQ(d.push_batch(std::span<const int>(two)), 2U); });
  expect_counted(d, [&] { EXPECT_EQ(d.push_batch(two.begin(), two.end()).count, 2U); });
  const auto seen = d.observe();
  EXPECT_EQ(d.pop(), 2);
  EXPECT_FALSE(d.pushed_since(seen));
}

TEST(all_empty, every_way_to_push_into_a_split_queue_is_counted) {
  split_deque d;
  split_ring r;
  const std::array<int, 2> two{1, 2};
  std::array<int, 2> loot{};
  EXPECT_TRUE(runq::all_empty(d, r));
  expect_counted(d, [&] { EXPECT_TRUE(d.push(1)); });
  EXPECT_FALSE(runq::all_empty(r, d));
  expect_counted(r, [&] { EXPECT_TRUE(r.push(1)); });
  expect_counted(r, [&] { EXPECT_EQ(r.push_batch(std::span<const int>(two)), 2U); });
  EXPECT_EQ(d.steal_half(loot).count, 1U);
  EXPECT_FALSE(runq::all_empty(d, r));
  EXPECT_EQ(r.steal_half(loot).count, 2U);
  const auto seen = r.observe();
  EXPECT_EQ(r.pop(), 2);
  EXPECT_FALSE(r.pushed_since(seen));
  EXPECT_TRUE(runq::all_empty(d, r));
}

TEST(all_empty, every_way_to_push_linked_tasks_is_counted) {
  runq::inject<&task::link> global;
  local q(global);
  task t;
  const auto one = [&] {
    runq::inject_chain<&task::link> chain;
    chain.push_back(&t);
    return chain;
  };
  expect_counted(q, [&] { EXPECT_EQ(q.push(&t), 0U); });
  EXPECT_EQ(q.pop().task, &t);
  expect_counted(q, [&] { EXPECT_EQ(q.push_next(&t), 0U); });
  EXPECT_EQ(q.pop().task, &t);
  expect_counted(q, [&] { EXPECT_EQ(q.push_batch(one()), 0U); });
  EXPECT_EQ(q.pop().task, &t);
  local other(global);
  EXPECT_EQ(other.push(&t), 0U);
  expect_counted(q, [&] { EXPECT_EQ(q.steal_from(other).value, &t); });
  expect_counted(global, [&] { global.put(&t); });
  EXPECT_EQ(global.take(), &t);
  expect_counted(global, [&] { global.splice(one()); });
  EXPECT_EQ(global.take(), &t);
  expect_counted(global, [&] { global.splice_front(one()); });
  EXPECT_EQ(global.take(), &t);
}

// The owner moves one element to and fro, and pushes before it pops.
template <class Queue>
void to_and_fro() {
  Queue first(2);
  Queue second(2);
  ASSERT_TRUE(second.push(0));
  std::atomic<bool> done{false};
  std::atomic<int> wrong{0};
  std::thread asker([&] {
    while (!done.load(std::memory_order::acquire)) {
      if (runq::all_empty(first, second)) wrong.fetch_add(1, std::memory_order::relaxed);
    }
  });
  Queue* from = &second;
  Queue* to = &first;
  for (int i = 1; i <= 50'000; ++i) {
    EXPECT_TRUE(to->push(i));
    EXPECT_EQ(from->pop(), i - 1);
    std::swap(from, to);
  }
  done.store(true, std::memory_order::release);
  asker.join();
  EXPECT_EQ(wrong.load(), 0);
}

TEST(all_empty, it_is_never_true_while_one_of_two_deques_always_holds_an_element) { to_and_fro<deque>(); }
TEST(all_empty, it_is_never_true_while_one_of_two_split_deques_always_holds_an_element) { to_and_fro<split_deque>(); }
TEST(all_empty, it_is_never_true_while_one_of_two_split_rings_always_holds_an_element) { to_and_fro<split_ring>(); }

}  // namespace
