// SPDX-License-Identifier: MIT
// The rules of shared_fifo: order, fair shares, segments and their memory.
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <gtest/gtest.h>
#include <runq/all_empty.hpp>
#include <runq/shared_fifo.hpp>

#include "support.hpp"

namespace {

using ids = runq_test::numbers;
using runq_test::from_to;
constexpr std::size_t in_a_segment = 3;

/// Counts segments, and refuses one where a test says so.
struct counted_memory : runq::std_atomics {
  static inline int left = -1;      // how many segments may still be allocated; -1: any number
  static inline int allocated = 0;  // in all
  static inline int held = 0;       // now
  [[nodiscard]] static void* allocate(std::size_t bytes) noexcept {
    if (left == 0) return nullptr;
    if (left > 0) --left;
    ++allocated;
    ++held;
    return std_atomics::allocate(bytes);
  }
  static void deallocate(void* p) noexcept {
    --held;
    std_atomics::deallocate(p);
  }
};
using queue = runq::basic_shared_fifo<int, counted_memory, in_a_segment>;

class shared_fifo : public testing::Test {
 protected:
  shared_fifo() {
    counted_memory::left = -1;
    counted_memory::allocated = counted_memory::held = 0;
  }
  ~shared_fifo() override { EXPECT_EQ(counted_memory::held, 0) << "segments are lost"; }
};

template <class Queue>
ids take_all(Queue& q) {
  ids out;
  while (const std::optional<int> value = q.take()) out.push_back(*value);
  return out;
}
template <class Queue>
ids take_share(Queue& q, std::size_t procs, std::size_t room) {
  ids out(room);
  out.resize(q.take_batch(procs, out));
  return out;
}

TEST_F(shared_fifo, is_first_in_first_out_over_any_number_of_segments) {
  for (int n = 0; n <= 10; ++n) {
    queue q;
    for (int id = 1; id <= n; ++id) ASSERT_TRUE(q.put(id));
    EXPECT_EQ(q.size_approx(), static_cast<std::size_t>(n));
    EXPECT_EQ(take_all(q), from_to(1, n));
    EXPECT_EQ(q.take(), std::nullopt);
  }
}

TEST_F(shared_fifo, a_batch_is_appended_in_order) {
  for (int before = 0; before <= 4; ++before) {
    for (int n = 0; n <= 8; ++n) {
      queue q;
      for (int id = 1; id <= before; ++id) ASSERT_TRUE(q.put(id));
      ASSERT_TRUE(q.put_batch(from_to(before + 1, before + n)));
      ASSERT_TRUE(q.put(before + n + 1));
      EXPECT_EQ(take_all(q), from_to(1, before + n + 1));
    }
  }
}

TEST_F(shared_fifo, take_batch_takes_the_least_of_size_share_room_and_128) {
  queue q;
  ASSERT_TRUE(q.put_batch(from_to(1, 10)));
  EXPECT_EQ(take_share(q, 4, 9), from_to(1, 3));    // 10/4 + 1
  EXPECT_EQ(take_share(q, 1, 2), from_to(4, 5));    // room
  EXPECT_EQ(take_share(q, 100, 9), from_to(6, 6));  // at least one
  EXPECT_EQ(take_share(q, 1, 99), from_to(7, 10));  // all there is
  EXPECT_EQ(take_share(q, 1, 99), ids{});
  ASSERT_TRUE(q.put_batch(from_to(1, 300)));
  EXPECT_EQ(take_share(q, 1, 300), from_to(1, 128));
  EXPECT_EQ(take_all(q), from_to(129, 300));
}

TEST_F(shared_fifo, says_whether_there_is_work) {
  queue q;
  EXPECT_FALSE(q.has_work_approx());
  EXPECT_FALSE(q.has_work());
  const auto nothing = q.observe();
  EXPECT_TRUE(nothing.empty());
  EXPECT_FALSE(q.pushed_since(nothing));
  ASSERT_TRUE(q.put(1));
  EXPECT_TRUE(q.has_work_approx());
  EXPECT_TRUE(q.has_work());
  EXPECT_FALSE(runq::all_empty(q));
  EXPECT_EQ(q.take(), 1);
  EXPECT_FALSE(q.has_work_approx());
  EXPECT_FALSE(q.has_work());
  EXPECT_TRUE(q.pushed_since(nothing)) << "a value that came and went is forgotten";
  EXPECT_TRUE(runq::all_empty(q));
}

TEST_F(shared_fifo, allocates_nothing_in_the_steady_state) {
  queue q;
  ASSERT_TRUE(q.put(0));
  for (int id = 1; id != 1000; ++id) {
    ASSERT_TRUE(q.put(id));
    ASSERT_EQ(q.take(), id - 1);
  }
  EXPECT_EQ(counted_memory::allocated, 2);
  EXPECT_EQ(q.take(), 999);
}

TEST_F(shared_fifo, gives_the_memory_of_a_burst_back) {
  queue q;
  ASSERT_TRUE(q.put_batch(from_to(1, 3000)));
  EXPECT_EQ(counted_memory::held, 1000);
  EXPECT_EQ(take_all(q).size(), 3000U);
  EXPECT_EQ(counted_memory::held, 1) << "more than one spare segment is kept";
}

TEST_F(shared_fifo, takes_its_segments_from_the_source_of_its_own) {
  runq_test::counting_source source;
  counted_memory::left = 0;  // the policy has no memory left
  {
    queue q(source);
    ASSERT_TRUE(q.put_batch(from_to(1, 9)));
    ASSERT_TRUE(q.put(10));
    EXPECT_EQ(source.held, 4) << "10 values in segments of 3";
    EXPECT_EQ(take_all(q), from_to(1, 10));
  }
  EXPECT_EQ(source.held, 0);
  EXPECT_EQ(source.bytes_held, 0U);
}

TEST_F(shared_fifo, without_memory_nothing_changes) {
  queue q;
  counted_memory::left = 0;
  EXPECT_FALSE(q.put(1));
  counted_memory::left = 2;
  EXPECT_FALSE(q.put_batch(from_to(1, 7)));
  EXPECT_FALSE(q.has_work_approx());
  EXPECT_FALSE(q.has_work());
  counted_memory::left = 1;
  EXPECT_TRUE(q.put(1));
  EXPECT_TRUE(q.put(2));
  EXPECT_TRUE(q.put(3));
  EXPECT_FALSE(q.put(4));
  EXPECT_EQ(take_all(q), from_to(1, 3));
}

// A value larger than any lock-free atomic, which the other queues refuse.
TEST_F(shared_fifo, takes_values_of_any_size) {
  struct wide {
    std::array<std::uint64_t, 5> words;
  };
  runq::shared_fifo<wide> q;
  for (std::uint64_t i = 0; i != 100; ++i) ASSERT_TRUE(q.put({{i, i + 1, i + 2, i + 3, i + 4}}));
  for (std::uint64_t i = 0; i != 100; ++i) {
    const std::optional<wide> got = q.take();
    ASSERT_TRUE(got);
    EXPECT_EQ(got->words, (std::array<std::uint64_t, 5>{i, i + 1, i + 2, i + 3, i + 4}));
  }
}

TEST_F(shared_fifo, a_debug_build_stops_when_values_would_be_lost) {
  RUNQ_EXPECT_CONTRACT_VIOLATION(
      {
        runq::shared_fifo<int> q;
        (void)q.put(1);
      },
      "destroyed with values in it");
}

}  // namespace
