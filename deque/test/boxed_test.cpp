// SPDX-License-Identifier: MIT
// The rules of boxed and box_pool: order, what a full queue and missing memory do, which boxes are used again, moves,
// values that are not trivial.
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <runq/all_empty.hpp>
#include <runq/boxed.hpp>
#include <runq/chase_lev.hpp>
#include <runq/ring.hpp>
#include <runq/shared_fifo.hpp>
#include <runq/split_deque.hpp>
#include <runq/split_ring.hpp>

#include "support.hpp"

namespace {

struct wide {
  std::uint64_t id = 0;
  std::uint64_t twice = 0;
  static wide of(std::uint64_t id) { return {id, 2 * id}; }
  [[nodiscard]] bool whole() const { return twice == 2 * id; }
};
using element = runq::box<wide>*;
using deque = runq::boxed<runq::one_object<runq::chase_lev<element>>>;
using bounded = runq::boxed<runq::one_object<runq::bounded_chase_lev<element>>>;

template <class Queue>
std::vector<std::uint64_t> pop_all(Queue& q) {
  std::vector<std::uint64_t> out;
  while (const std::optional<wide> got = q.pop()) {
    EXPECT_TRUE(got->whole());
    out.push_back(got->id);
  }
  return out;
}
using ids = std::vector<std::uint64_t>;

template <class Queue>
void takes_from_both_ends(bool newest_first) {
  Queue q;
  EXPECT_TRUE(q.empty());
  for (std::uint64_t id = 1; id <= 4; ++id) EXPECT_TRUE(q.push(wide::of(id)));
  EXPECT_EQ(q.size(), 4U);
  EXPECT_FALSE(q.empty());
  const auto stolen = q.steal();
  ASSERT_EQ(stolen.status, runq::steal_status::taken);
  EXPECT_TRUE(stolen.value.whole());
  EXPECT_EQ(stolen.value.id, 1U);
  EXPECT_EQ(pop_all(q), newest_first ? (ids{4, 3, 2}) : (ids{2, 3, 4}));
  EXPECT_EQ(q.steal().status, runq::steal_status::empty);
}

TEST(boxed, each_queue_holds_values_of_16_bytes) {
  takes_from_both_ends<deque>(true);
  takes_from_both_ends<bounded>(true);
  takes_from_both_ends<runq::boxed<runq::one_object<runq::ring<element>>>>(false);
  takes_from_both_ends<runq::boxed<runq::one_object<runq::split_deque<element>>>>(true);
  // Fewer values than make a run, so the owner takes them first in, first out.
  takes_from_both_ends<runq::boxed<runq::one_object<runq::split_ring<element>>>>(false);
}

TEST(boxed, a_thief_of_half_gets_them_in_order) {
  runq::boxed<runq::one_object<runq::ring<element>>> q;
  for (std::uint64_t id = 1; id <= 200; ++id) ASSERT_TRUE(q.push(wide::of(id)));
  std::array<wide, 100> out{};
  const auto some = q.steal_half(std::span(out).first(3));
  EXPECT_EQ(some.count, 3U);
  EXPECT_EQ(out[2].id, 3U);
  const auto most = q.steal_half(out);
  EXPECT_EQ(most.count, q.max_batch) << "half of 197 would be 99";
  for (std::size_t i = 0; i != most.count; ++i) EXPECT_EQ(out[i].id, 4 + i);
  EXPECT_EQ(q.size(), 200U - 3 - 64);
}

TEST(boxed, no_more_boxes_are_made_than_values_were_queued_at_one_time) {
  runq_test::counting_source source;
  {
    runq::boxed<runq::one_object<runq::ring<element>>, 4> q(0, source);
    for (std::uint64_t round = 0; round != 100; ++round) {
      for (std::uint64_t id = 0; id != 8; ++id) ASSERT_TRUE(q.push(wide::of(id)));
      for (int i = 0; i != 3; ++i) ASSERT_TRUE(q.steal());
      std::array<wide, 2> out{};
      ASSERT_EQ(q.steal_half(out).count, 2U);
      EXPECT_EQ(pop_all(q), (ids{5, 6, 7}));
      EXPECT_EQ(source.held, 2) << "8 values in blocks of 4 boxes";
    }
  }
  EXPECT_EQ(source.held, 0);
}

TEST(boxed, a_push_without_room_changes_nothing) {
  runq_test::counting_source source;
  runq::boxed<runq::one_object<runq::bounded_chase_lev<element>>, 2> q(2, source);  // its array
  EXPECT_TRUE(q.push(wide::of(1)));
  EXPECT_TRUE(q.push(wide::of(2)));
  EXPECT_FALSE(q.push(wide::of(3)));
  EXPECT_EQ(source.held, 3);
  for (int i = 0; i != 5; ++i) EXPECT_FALSE(q.push(wide::of(3)));
  EXPECT_EQ(source.held, 3) << "a refused push keeps no box";
  ASSERT_TRUE(q.steal());
  EXPECT_TRUE(q.push(wide::of(4)));
  EXPECT_EQ(pop_all(q), (ids{4, 2}));
}

#ifdef __cpp_exceptions
TEST(boxed, a_push_without_memory_changes_nothing) {
  runq_test::counting_source source{.left = 2};
  runq::boxed<runq::one_object<runq::bounded_chase_lev<element>>, 2> q(2, source);  // its array, and a block
  EXPECT_TRUE(q.push(wide::of(1)));
  EXPECT_TRUE(q.push(wide::of(2)));
  EXPECT_FALSE(q.push(wide::of(3)));
  ASSERT_TRUE(q.steal());
  EXPECT_TRUE(q.push(wide::of(4)));
  EXPECT_EQ(pop_all(q), (ids{4, 2}));
}
#endif

TEST(boxed, it_moves_with_its_values_and_its_boxes) {
  runq_test::counting_source source;
  {
    deque first(64, source);
    for (std::uint64_t id = 1; id <= 64; ++id) ASSERT_TRUE(first.push(wide::of(id)));
    ASSERT_TRUE(first.steal());
    ASSERT_TRUE(first.pop());
    const int held = source.held;
    deque second(std::move(first));
    deque third;
    ASSERT_TRUE(third.push(wide::of(7)));
    third = std::move(second);
    EXPECT_EQ(third.size(), 62U);
    EXPECT_TRUE(third.push(wide::of(65)));
    EXPECT_TRUE(third.push(wide::of(66)));
    EXPECT_EQ(source.held, held) << "the free box and the returned one were left behind";
    EXPECT_EQ(third.pop()->id, 66U);
    EXPECT_EQ(third.steal().value.id, 2U);
    EXPECT_TRUE(second.empty());  // NOLINT(bugprone-use-after-move): it may be used again
    EXPECT_TRUE(second.push(wide::of(8)));
    EXPECT_EQ(second.pop()->id, 8U);
  }
  EXPECT_EQ(source.held, 0);
}

TEST(boxed, a_counted_one_can_be_asked_by_all_empty) {
  runq::boxed<runq::counted<runq::chase_lev<element>>> q(8);
  const auto seen = q.observe();
  EXPECT_TRUE(runq::all_empty(q));
  EXPECT_TRUE(q.push(wide::of(1)));
  EXPECT_TRUE(q.pushed_since(seen));
  EXPECT_FALSE(runq::all_empty(q));
}

// Values that own something.
TEST(boxed, a_value_that_only_moves_has_one_owner_at_a_time) {
  using owned = std::unique_ptr<int>;
  runq::boxed<runq::one_object<runq::bounded_chase_lev<runq::box<owned>*>>> q(2);
  EXPECT_TRUE(q.push(std::make_unique<int>(1)));
  EXPECT_TRUE(q.push(std::make_unique<int>(2)));
  owned third = std::make_unique<int>(3);
  EXPECT_FALSE(q.push(std::move(third)));
  ASSERT_NE(third, nullptr) << "a push that says no leaves the value to the caller";  // NOLINT(bugprone-use-after-move)
  EXPECT_EQ(**q.pop(), 2);
  EXPECT_EQ(*q.steal().value, 1);
  EXPECT_EQ(q.steal().value, nullptr);
}

TEST(boxed, values_that_are_left_are_destroyed) {
  const auto counted = std::make_shared<int>(0);
  using function = std::function<void()>;
  using queue = runq::boxed<runq::one_object<runq::ring<runq::box<function>*>>>;
  const auto count = [counted] { ++*counted; };
  {
    queue q;
    for (int i = 0; i != 5; ++i) EXPECT_TRUE(q.push(function(count)));
    q.steal().value();
    (*q.pop())();
    EXPECT_EQ(*counted, 2);
    queue other;
    EXPECT_TRUE(other.push(function(count)));
    EXPECT_EQ(counted.use_count(), 2 + 4);
    other = std::move(q);
    EXPECT_EQ(counted.use_count(), 2 + 3);
  }
  EXPECT_EQ(counted.use_count(), 2);
}

// A box_pool beside a queue that is not one_object's.
TEST(box_pool, boxes_go_through_any_queue_of_pointers) {
  runq::box_pool<wide> pool;
  runq::shared_fifo<element> fifo;
  for (std::uint64_t id = 1; id <= 100; ++id) ASSERT_TRUE(fifo.put(pool.fill(wide::of(id))));
  for (std::uint64_t id = 1; id <= 100; ++id) {
    element const b = *fifo.take();
    EXPECT_EQ((id % 2 == 0 ? pool.open(b) : pool.open_stolen(b)).id, id);
  }
}

}  // namespace
