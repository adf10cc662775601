// SPDX-License-Identifier: MIT
// The global queue in shards: what is put is taken once, in the order of its shard, and no element waits for ever.
#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <deque>
#include <random>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <runq/local_queue.hpp>
#include <runq/protocol/global_shards.hpp>

namespace {

struct element {
  runq::inject_link<element> link;
  unsigned shard = 0;
  int number = 0;
};
using queue = runq::global_shards<&element::link, 8>;

TEST(global_shards, there_is_at_least_one_shard_and_no_more_than_there_is_room_for) {
  EXPECT_EQ(queue(0).shards(), 1U);
  EXPECT_EQ(queue(5).shards(), 5U);
  EXPECT_EQ(queue(9).shards(), 8U);
}

// A model of plain lists beside it: each element that is taken is the oldest of the first shard that is not empty.
TEST(global_shards, takes_the_oldest_of_the_first_shard_that_is_not_empty) {
  for (unsigned seed = 0; seed != 200; ++seed) {
    std::mt19937 source(seed);
    const auto random = [&source] { return static_cast<unsigned>(source()); };
    const unsigned shards = 1 + seed % 8;
    queue all(shards);
    std::vector<std::deque<element*>> expected(shards);
    std::vector<element> elements(100);
    std::size_t used = 0;
    const auto take = [&] {
      const unsigned first = random() % 100;
      element* oldest = nullptr;
      for (unsigned i = 0; i != shards && oldest == nullptr; ++i) {
        auto& list = expected[(first + i) % shards];
        if (list.empty()) continue;
        oldest = list.front();
        list.pop_front();
      }
      ASSERT_EQ(all.take(first), oldest);
    };
    while (used != elements.size()) {
      if (random() % 2 == 0) {
        take();
        continue;
      }
      element* const e = &elements[used++];
      e->shard = random() % 100;
      all.put(e, e->shard);
      expected[e->shard % shards].push_back(e);
      std::size_t size = 0;
      for (const auto& list : expected) size += list.size();
      ASSERT_EQ(all.size_approx(), size);
      ASSERT_TRUE(all.has_work() && all.has_work_approx());
    }
    while (all.has_work()) take();
  }
}

// Whatever is put meanwhile, and wherever: an element with k others before it in its shard is among the next
// shards (k + 1) that are taken, if each take asks the next shard first, as the turns of a processor do.
TEST(global_shards, an_element_waits_for_at_most_as_many_turns_as_shards_and_elements_before_it_say) {
  for (unsigned seed = 0; seed != 200; ++seed) {
    std::mt19937 source(seed);
    const auto random = [&source] { return static_cast<unsigned>(source()); };
    const unsigned shards = 1 + seed % 8;
    queue all(shards);
    std::vector<element> elements(2000);
    std::vector<std::size_t> before(shards);  // how many are in each shard
    std::vector<std::size_t> latest(elements.size());
    std::size_t used = 0;
    unsigned turn = 0;
    const auto put = [&] {
      element& e = elements[used];
      e.shard = random() % shards;
      e.number = static_cast<int>(used);
      latest[used++] = turn + shards * ++before[e.shard];
      all.put(&e, e.shard);
    };
    while (used + 2 < elements.size() || all.has_work()) {
      for (unsigned n = random() % 3; n != 0 && used != elements.size(); --n) put();
      const element* const e = all.take(turn++);
      if (e == nullptr) continue;
      --before[e->shard];
      ASSERT_LE(turn, latest[static_cast<std::size_t>(e->number)]) << shards << " shards, seed " << seed;
    }
  }
}

// The ring of a processor overflows into each shard in turn, 3 of 300 elements each time; then each take asks the next
// shard first. Returns the order in which they are taken.
std::vector<int> order_of_overflows(unsigned shards) {
  using local_queue = runq::basic_local_queue<&element::link, 4>;
  queue all(shards);
  std::vector<element> elements(300);
  local_queue ring(all.near(0));
  local_queue::owner owner = ring.make_owner();
  unsigned overflows = 0;
  for (element& e : elements) {
    e.number = static_cast<int>(&e - elements.data());
    if (owner.push(&e) != 0) owner.overflow_into(all.near(++overflows));
  }
  std::vector<int> order;
  for (unsigned turn = 0; element* const e = all.take(turn); ++turn) order.push_back(e->number);
  while (owner.pop()) continue;
  return order;
}

TEST(global_shards, what_overflows_into_each_shard_in_turn_is_taken_in_its_order_but_for_an_overflow_of_each_shard) {
  const std::vector<int> of_one_queue = order_of_overflows(1);
  ASSERT_GT(of_one_queue.size(), 290U);
  for (unsigned shards = 2; shards <= 8; ++shards) {
    const std::vector<int> order = order_of_overflows(shards);
    ASSERT_EQ(order.size(), of_one_queue.size());
    for (std::size_t at = 0; at != order.size(); ++at) {
      const auto place = std::find(of_one_queue.begin(), of_one_queue.end(), order[at]) - of_one_queue.begin();
      EXPECT_LT(std::abs(place - static_cast<std::ptrdiff_t>(at)), 3 * static_cast<std::ptrdiff_t>(shards));
    }
  }
}

/// A lock that says whether it is held, as a short_lock does. A test holds it by a flag.
struct telling_lock {
  void lock() const { ASSERT_FALSE(taken) << "this thread would wait for ever"; }
  void unlock() const {}
  [[nodiscard]] bool looks_taken() const { return taken; }
  static inline bool taken = false;
};
struct telling : runq::std_atomics {
  using mutex = telling_lock;
};
struct told_element {
  runq::inject_link<told_element, telling> link;
};

TEST(global_shards, a_shard_that_another_thread_uses_is_left_out_unless_it_is_the_first) {
  runq::global_shards<&told_element::link, 4> all(4);
  told_element e;
  all.put(&e, 2);
  telling_lock::taken = true;
  for (const unsigned first : {0U, 1U, 3U}) EXPECT_EQ(all.take(first), nullptr);
  EXPECT_TRUE(all.has_work_approx());
  telling_lock::taken = false;
  EXPECT_EQ(all.take(3), &e);
}

TEST(global_shards, what_a_thread_without_a_processor_puts_stays_in_order) {
  queue all(8);
  std::array<element, 100> elements;
  for (element& e : elements) all.put(&e);
  for (element& e : elements) EXPECT_EQ(all.take(3), &e);
}

TEST(global_shards, of_many_threads_each_element_is_taken_once_and_those_of_one_thread_in_one_shard_in_order) {
  constexpr unsigned threads = 8;
  constexpr int each = 5'000;
  queue all(4);
  std::vector<std::vector<element>> elements(threads);
  std::vector<std::vector<element*>> taken(threads);
  std::atomic<unsigned> left{threads * each};
  std::vector<std::thread> running;
  for (unsigned t = 0; t != threads; ++t) {
    elements[t] = std::vector<element>(each);
    running.emplace_back([&, t] {
      for (int i = 0; i != each; ++i) {
        elements[t][static_cast<std::size_t>(i)].shard = t;
        elements[t][static_cast<std::size_t>(i)].number = i;
        all.put(&elements[t][static_cast<std::size_t>(i)], t);
        element* const e = all.take(t + static_cast<unsigned>(i));
        if (e != nullptr) taken[t].push_back(e);
      }
      left.fetch_sub(each);
      while (left != 0 || all.has_work()) {
        element* const e = all.take(t);
        if (e != nullptr) taken[t].push_back(e);
      }
    });
  }
  for (std::thread& t : running) t.join();
  std::vector<std::vector<int>> times(threads, std::vector<int>(each));
  for (const auto& by_one : taken) {
    std::vector<int> last(threads, -1);
    for (const element* e : by_one) {
      ++times[e->shard][static_cast<std::size_t>(e->number)];
      EXPECT_GT(e->number, last[e->shard]) << "one thread takes them in the order of their shard";
      last[e->shard] = e->number;
    }
  }
  for (const auto& of_one : times) EXPECT_EQ(of_one, std::vector<int>(each, 1));
}

}  // namespace
