// SPDX-License-Identifier: MIT
// The deque's rules, one test each, on one thread. chase_lev_stress_test.cpp tests with many threads, and
// models/cases/queues/chase_lev/ checks all interleavings of small programs.
#include "runq/chase_lev.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <iterator>
#include <limits>
#include <memory_resource>
#include <mutex>
#include <sstream>
#include <stdexcept>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "support.hpp"

namespace {

using deque = runq::chase_lev<std::uint64_t>;

/// A policy whose memory can run out: the n-th allocation and all after it fail.
struct scarce_atomics : runq::std_atomics {
  static inline int allocations_left = 0;
  static inline int blocks_alive = 0;
  static void* allocate(std::size_t bytes) noexcept {
    if (allocations_left == 0) return nullptr;
    --allocations_left;
    ++blocks_alive;
    return runq::std_atomics::allocate(bytes);
  }
  static void deallocate(void* p) noexcept {
    --blocks_alive;
    runq::std_atomics::deallocate(p);
  }
};
using scarce_deque = runq::basic_chase_lev<std::uint64_t, scarce_atomics>;
using scarce_bounded_deque = runq::basic_chase_lev<std::uint64_t, scarce_atomics, runq::when_full::refuse>;

TEST(chase_lev, owner_pops_the_newest_first) {
  deque d;
  auto owner = d.make_owner();
  for (std::uint64_t i = 1; i <= 10; ++i) ASSERT_TRUE(owner.push(i));
  for (std::uint64_t i = 10; i >= 1; --i) EXPECT_EQ(owner.pop(), i);
  EXPECT_EQ(owner.pop(), std::nullopt);
}

TEST(chase_lev, pop_or_null_takes_the_newest_pointer_and_null_when_it_is_empty) {
  std::array<int, 3> numbers{};
  runq::chase_lev<int*> d;
  auto owner = d.make_owner();
  EXPECT_EQ(owner.pop_or_null(), nullptr);
  for (int& n : numbers) ASSERT_TRUE(owner.push(&n));
  for (std::size_t i = numbers.size(); i-- != 0;) EXPECT_EQ(owner.pop_or_null(), &numbers[i]);
  EXPECT_EQ(owner.pop_or_null(), nullptr);
}

TEST(chase_lev, thief_takes_the_oldest_first) {
  deque d;
  auto owner = d.make_owner();
  for (std::uint64_t i = 1; i <= 10; ++i) ASSERT_TRUE(owner.push(i));
  const auto thief = d.make_thief();
  for (std::uint64_t i = 1; i <= 10; ++i) {
    const auto got = thief.steal();
    ASSERT_TRUE(got);
    EXPECT_EQ(got.value, i);
    EXPECT_EQ(got.count, 1U);
  }
  EXPECT_EQ(thief.steal().status, runq::steal_status::empty);
}

TEST(chase_lev, pop_and_steal_of_an_empty_deque_find_nothing_and_break_nothing) {
  deque d(2);
  auto owner = d.make_owner();
  const auto thief = d.make_thief();
  EXPECT_EQ(owner.pop(), std::nullopt);
  EXPECT_EQ(thief.steal().status, runq::steal_status::empty);
  for (std::uint64_t round = 0; round != 10; ++round) {
    ASSERT_TRUE(owner.push(round));
    EXPECT_EQ(owner.pop(), round);
    EXPECT_EQ(owner.pop(), std::nullopt);
    EXPECT_EQ(owner.pop(), std::nullopt);
    EXPECT_EQ(thief.steal().status, runq::steal_status::empty);
  }
}

TEST(chase_lev, nothing_is_allocated_before_the_first_push) {
  scarce_atomics::allocations_left = 0;
  scarce_deque d;
  auto owner = d.make_owner();
  EXPECT_EQ(owner.pop(), std::nullopt);
  EXPECT_EQ(d.make_thief().steal().status, runq::steal_status::empty);
  EXPECT_EQ(scarce_atomics::blocks_alive, 0);
}

TEST(chase_lev, grows_by_doubling_and_keeps_order_at_both_ends) {
  deque d(2);
  auto owner = d.make_owner();
  std::deque<std::uint64_t> model;
  const auto thief = d.make_thief();
  std::uint64_t next = 0;
  std::size_t capacity = 0;
  for (int round = 0; round != 200; ++round) {
    for (int i = 0; i != 7; ++i) {
      ASSERT_TRUE(owner.push(next));
      model.push_back(next++);
    }
    ASSERT_EQ(owner.pop(), model.back());
    model.pop_back();
    ASSERT_EQ(thief.steal().value, model.front());
    model.pop_front();
    EXPECT_TRUE(owner.capacity() == capacity || owner.capacity() >= 2 * capacity);
    capacity = owner.capacity();
    EXPECT_EQ(owner.size_approx(), model.size());
  }
  EXPECT_EQ(capacity, 1024U);  // 200 × 5 elements
  for (; !model.empty(); model.pop_front()) ASSERT_EQ(thief.steal().value, model.front());
}

TEST(chase_lev, a_push_that_is_not_to_grow_fills_the_array_and_then_changes_nothing) {
  deque d(4);
  auto owner = d.make_owner();
  const auto thief = d.make_thief();
  EXPECT_FALSE(owner.push_without_growing(0));  // there is no array yet
  ASSERT_TRUE(owner.push(0));
  for (std::uint64_t i = 1; i != 4; ++i) ASSERT_TRUE(owner.push_without_growing(i));
  EXPECT_FALSE(owner.push_without_growing(4));
  EXPECT_EQ(owner.size_approx(), 4U);
  EXPECT_EQ(thief.steal().value, 0U);
  EXPECT_FALSE(owner.push_without_growing(4));  // it does not look whether thieves have made room
  ASSERT_TRUE(owner.push(4));
  EXPECT_EQ(owner.capacity(), 4U);
  EXPECT_FALSE(owner.push_without_growing(5));
  ASSERT_TRUE(owner.push(5));
  EXPECT_EQ(owner.capacity(), 8U);
  for (std::uint64_t i = 6; i != 9; ++i) ASSERT_TRUE(owner.push_without_growing(i));
  EXPECT_FALSE(owner.push_without_growing(9));
  for (std::uint64_t i = 1; i != 9; ++i) EXPECT_EQ(thief.steal().value, i);
}

TEST(chase_lev, initial_capacity_is_rounded_up_to_a_power_of_two) {
  deque d(5);
  EXPECT_EQ(d.capacity(), 8U);
  auto owner = d.make_owner();
  ASSERT_TRUE(owner.push(1));
  EXPECT_EQ(owner.capacity(), 8U);
  deque least(0);
  auto least_owner = least.make_owner();
  ASSERT_TRUE(least_owner.push(1));
  EXPECT_EQ(least_owner.capacity(), 2U);
}

TEST(chase_lev, capacity_is_that_of_the_first_push_before_it_and_any_thread_may_ask) {
  scarce_atomics::allocations_left = 2;
  scarce_deque d(4);
  auto owner = d.make_owner();
  EXPECT_EQ(owner.capacity(), 4U);
  for (std::uint64_t i = 0; i != 4; ++i) ASSERT_TRUE(owner.push(i));
  EXPECT_EQ(scarce_atomics::allocations_left, 1);  // as many as it said fitted into the first array
  EXPECT_EQ(owner.capacity(), 4U);
  ASSERT_TRUE(owner.push(4));
  std::size_t seen_by_another = 0;
  std::thread([&] { seen_by_another = d.capacity(); }).join();
  EXPECT_EQ(seen_by_another, 8U);
}

TEST(chase_lev, a_slot_is_used_again_only_after_it_was_emptied) {
  deque d(2);
  auto owner = d.make_owner();
  const auto thief = d.make_thief();
  for (std::uint64_t i = 0; i != 1000; ++i) {
    ASSERT_TRUE(owner.push(2 * i));
    ASSERT_TRUE(owner.push(2 * i + 1));
    ASSERT_EQ(thief.steal().value, 2 * i);
    ASSERT_EQ(thief.steal().value, 2 * i + 1);
  }
  EXPECT_EQ(owner.capacity(), 2U);
}

TEST(chase_lev, push_returns_false_when_memory_runs_out_and_loses_nothing) {
  scarce_atomics::allocations_left = 2;  // enough for the arrays of 2 and 4 slots
  {
    scarce_deque d(2);
    auto owner = d.make_owner();
    for (std::uint64_t i = 1; i <= 4; ++i) ASSERT_TRUE(owner.push(i));
    EXPECT_FALSE(owner.push(5));
    EXPECT_FALSE(owner.push(5));
    EXPECT_EQ(owner.size_approx(), 4U);
    EXPECT_EQ(d.make_thief().steal().value, 1U);
    EXPECT_TRUE(owner.push(5));  // there is room again
    for (std::uint64_t i = 5; i >= 2; --i) EXPECT_EQ(owner.pop(), i);
  }
  EXPECT_EQ(scarce_atomics::blocks_alive, 0);
}

TEST(chase_lev, the_first_push_may_fail_and_succeed_later) {
  scarce_atomics::allocations_left = 0;
  {
    scarce_deque d;
    auto owner = d.make_owner();
    EXPECT_FALSE(owner.push(1));
    EXPECT_EQ(owner.pop(), std::nullopt);
    scarce_atomics::allocations_left = 1;
    EXPECT_TRUE(owner.push(1));
    EXPECT_EQ(owner.pop(), 1U);
  }
  EXPECT_EQ(scarce_atomics::blocks_alive, 0);
}

TEST(chase_lev, outgrown_arrays_live_until_the_deque_dies) {
  scarce_atomics::allocations_left = 100;
  {
    scarce_deque d(2);
    auto owner = d.make_owner();
    for (std::uint64_t i = 0; i != 100; ++i) ASSERT_TRUE(owner.push(i));
    EXPECT_EQ(scarce_atomics::blocks_alive, 7);  // arrays of 2, 4, … 128 slots
  }
  EXPECT_EQ(scarce_atomics::blocks_alive, 0);
}

TEST(chase_lev, has_work_and_size_agree_when_nobody_else_is_there) {
  deque d;
  auto owner = d.make_owner();
  const auto thief = d.make_thief();
  EXPECT_FALSE(thief.has_work());
  ASSERT_TRUE(owner.push(1));
  ASSERT_TRUE(owner.push(2));
  EXPECT_TRUE(thief.has_work());
  EXPECT_EQ(thief.size_approx(), 2U);
  EXPECT_TRUE(owner.pop().has_value());
  EXPECT_TRUE(thief.has_work());
  EXPECT_TRUE(thief.steal());
  EXPECT_FALSE(thief.has_work());
  EXPECT_EQ(thief.size_approx(), 0U);
}

TEST(chase_lev, the_index_of_the_oldest_changes_when_that_element_is_taken_and_only_then) {
  deque d;
  auto owner = d.make_owner();
  const auto thief = d.make_thief();
  ASSERT_TRUE(owner.push(1));
  const std::size_t first = thief.oldest_approx();
  ASSERT_TRUE(owner.push(2));
  EXPECT_TRUE(owner.pop().has_value());
  EXPECT_EQ(thief.oldest_approx(), first);
  EXPECT_TRUE(owner.pop().has_value()) << "the last one";
  ASSERT_TRUE(owner.push(3));
  EXPECT_EQ(thief.oldest_approx(), first + 1);
  EXPECT_TRUE(thief.steal());
  EXPECT_EQ(thief.oldest_approx(), first + 2);
}

TEST(chase_lev, a_bounded_one_refuses_what_does_not_fit_and_never_allocates_again) {
  scarce_atomics::allocations_left = 100;
  {
    scarce_bounded_deque d(3);
    EXPECT_EQ(scarce_atomics::blocks_alive, 1);
    EXPECT_EQ(d.capacity(), 4U);
    auto owner = d.make_owner();
    const auto thief = d.make_thief();
    std::uint64_t oldest = 0;
    std::uint64_t next = 0;
    for (int round = 0; round != 100; ++round) {
      while (next - oldest != 4) ASSERT_TRUE(owner.push(next++));
      EXPECT_FALSE(owner.push(999));
      EXPECT_FALSE(owner.push(999));
      EXPECT_EQ(owner.size_approx(), 4U);
      for (int i = 0; i != 1 + round % 4; ++i) ASSERT_EQ(thief.steal().value, oldest++);
    }
    while (next != oldest) ASSERT_EQ(owner.pop(), --next);
    EXPECT_EQ(d.capacity(), 4U);
  }
  EXPECT_EQ(scarce_atomics::allocations_left, 99);
  EXPECT_EQ(scarce_atomics::blocks_alive, 0);
}

TEST(chase_lev, a_bounded_one_that_got_no_memory_has_no_capacity) {
  scarce_atomics::allocations_left = 0;
  scarce_bounded_deque d(8);
  auto owner = d.make_owner();
  EXPECT_EQ(d.capacity(), 0U);
  EXPECT_FALSE(owner.push(1));
  EXPECT_EQ(owner.push_batch(std::array<std::uint64_t, 2>{1, 2}), 0U);
  EXPECT_EQ(owner.pop(), std::nullopt);
  EXPECT_EQ(d.make_thief().steal().status, runq::steal_status::empty);
}

TEST(chase_lev, takes_its_memory_from_the_source_of_its_own) {
  runq_test::counting_source source;
  scarce_atomics::allocations_left = 0;  // the policy has no memory left
  {
    scarce_deque d(2, source);
    auto owner = d.make_owner();
    EXPECT_EQ(source.held, 0) << "before the first push there is no array";
    for (std::uint64_t i = 1; i <= 9; ++i) ASSERT_TRUE(owner.push(i));
    EXPECT_EQ(source.held, 4) << "arrays of 2, 4, 8 and 16";
    scarce_bounded_deque bounded(8, source);
    EXPECT_EQ(bounded.capacity(), 8U);
    EXPECT_EQ(source.held, 5);
    for (std::uint64_t i = 9; i >= 1; --i) EXPECT_EQ(owner.pop(), i);
  }
  EXPECT_EQ(source.held, 0);
  EXPECT_EQ(source.bytes_held, 0U) << "each array is given back with the size that it was asked for";
}

#ifdef __cpp_exceptions
TEST(chase_lev, a_source_that_throws_is_a_push_that_says_no) {
  runq_test::counting_source source{.left = 1};
  deque d(2, source);
  auto owner = d.make_owner();
  ASSERT_TRUE(owner.push(1));
  ASSERT_TRUE(owner.push(2));
  EXPECT_FALSE(owner.push(3));
  EXPECT_EQ(owner.pop(), 2U);
  EXPECT_TRUE(owner.push(3));
}
#endif

#ifdef __cpp_exceptions
// Not every source throws std::bad_alloc.
TEST(chase_lev, a_source_that_throws_anything_is_a_push_that_says_no) {
  struct refusing_source {
    void* allocate(std::size_t, std::size_t) {
      ++asked;
      throw "no memory";  // NOLINT
    }
    void deallocate(void*, std::size_t, std::size_t) noexcept {}
    int asked = 0;
  } source;
  deque d(2, source);
  auto owner = d.make_owner();
  EXPECT_FALSE(owner.push(1));
  EXPECT_EQ(source.asked, 1);
  EXPECT_EQ(owner.pop(), std::nullopt);
  runq::bounded_chase_lev<std::uint64_t> bounded(2, source);
  EXPECT_EQ(bounded.capacity(), 0U);
}
#endif

// The bytes of 2⁶¹ elements are no number of 64 bits. They must not be taken for the few that would be left of it.
TEST(chase_lev, a_capacity_whose_bytes_cannot_be_counted_is_refused_without_asking_for_memory) {
  struct recording_source {
    void* allocate(std::size_t bytes, std::size_t) noexcept {
      least = std::min(least, bytes);
      return nullptr;
    }
    void deallocate(void*, std::size_t, std::size_t) noexcept {}
    std::size_t least = std::numeric_limits<std::size_t>::max();
  };
  constexpr std::size_t most = std::numeric_limits<std::size_t>::max();
  constexpr std::size_t eighth = most / 8 + 1;  // 2⁶¹
  for (const std::size_t capacity :
       {eighth / 2, eighth / 2 + 1, eighth - 1, eighth, eighth + 1, 2 * eighth, 4 * eighth, most}) {
    recording_source source;
    deque d(capacity, source);
    auto owner = d.make_owner();
    EXPECT_FALSE(owner.push(1)) << capacity;
    EXPECT_EQ(owner.pop(), std::nullopt) << capacity;
    const runq::bounded_chase_lev<std::uint64_t> bounded(capacity, source);
    EXPECT_EQ(bounded.capacity(), 0U) << capacity;
    if (capacity <= eighth / 2) {
      EXPECT_GT(source.least / 8, capacity) << "fewer bytes than the elements have";
    } else {
      EXPECT_EQ(source.least, most) << capacity;
    }
  }
}

TEST(chase_lev, a_memory_resource_is_a_source) {
  std::pmr::monotonic_buffer_resource arena;
  std::pmr::memory_resource& source = arena;
  deque d(2, source);
  auto owner = d.make_owner();
  for (std::uint64_t i = 1; i <= 100; ++i) ASSERT_TRUE(owner.push(i));
  for (std::uint64_t i = 100; i >= 1; --i) ASSERT_EQ(owner.pop(), i);
}

TEST(chase_lev, a_batch_goes_in_whole_and_in_order_while_the_deque_grows) {
  deque d(2);
  auto owner = d.make_owner();
  ASSERT_TRUE(owner.push(0));
  std::vector<std::uint64_t> values(100);
  for (std::uint64_t i = 0; i != 100; ++i) values[i] = i + 1;
  EXPECT_EQ(owner.push_batch(values), 100U);
  EXPECT_EQ(d.capacity(), 128U);
  EXPECT_EQ(owner.pop(), 100U);
  for (std::uint64_t i = 0; i != 100; ++i) ASSERT_EQ(d.make_thief().steal().value, i);
}

TEST(chase_lev, an_empty_batch_changes_nothing) {
  scarce_atomics::allocations_left = 0;
  scarce_deque d(2);
  auto owner = d.make_owner();
  EXPECT_EQ(owner.push_batch(std::vector<std::uint64_t>{}), 0U);
  EXPECT_FALSE(d.make_thief().has_work());
}

TEST(chase_lev, a_batch_may_come_from_an_iterator_that_can_be_read_once) {
  deque d;
  auto owner = d.make_owner();
  std::istringstream text("7 8 9");
  const auto [rest, count] =
      owner.push_batch(std::istream_iterator<std::uint64_t>(text), std::istream_iterator<std::uint64_t>());
  EXPECT_EQ(count, 3U);
  EXPECT_EQ(rest, std::istream_iterator<std::uint64_t>());
  EXPECT_EQ(d.make_thief().steal().value, 7U);
  EXPECT_EQ(owner.pop(), 9U);
  EXPECT_EQ(owner.pop(), 8U);
}

TEST(chase_lev, of_a_batch_that_does_not_fit_the_rest_has_not_been_read) {
  runq::bounded_chase_lev<std::uint64_t> d(4);
  auto owner = d.make_owner();
  ASSERT_TRUE(owner.push(1));
  std::istringstream text("2 3 4 5 6");
  const auto [rest, count] =
      owner.push_batch(std::istream_iterator<std::uint64_t>(text), std::istream_iterator<std::uint64_t>());
  EXPECT_EQ(count, 3U);
  EXPECT_EQ(*rest, 5U);
  EXPECT_EQ(owner.size_approx(), 4U);
  EXPECT_EQ(d.make_thief().steal().value, 1U);
  EXPECT_EQ(owner.push_batch(std::counted_iterator(rest, 2), std::default_sentinel).count, 1U);
  for (std::uint64_t i = 5; i != 1; --i) EXPECT_EQ(owner.pop(), i);
}

/// A node of a list that its taker destroys: the link is gone as soon as the node can be taken.
struct node {
  node* next = nullptr;
};
class node_iterator {
 public:
  using value_type = node*;
  using difference_type = std::ptrdiff_t;
  node_iterator() = default;
  explicit node_iterator(node* first) : at_(first) {}
  node* operator*() const { return at_; }
  node_iterator& operator++() {
    at_ = at_->next;
    return *this;
  }
  void operator++(int) { ++*this; }

 private:
  node* at_ = nullptr;
};

TEST(chase_lev, no_link_of_a_batch_is_read_after_its_element_was_published) {
  using probed_deque = runq::basic_chase_lev<node*, runq_test::probe_atomics>;
  probed_deque d(2);
  auto owner = d.make_owner();
  std::array<node, 3> nodes{};
  nodes[0].next = &nodes[1];
  nodes[1].next = &nodes[2];
  // At every store of the batch a thief takes what it can get, and breaks the link of what it took.
  std::size_t taken = 0;
  for (std::size_t nth = 1; nth != 8; ++nth) {
    const auto rob = [&] {
      while (node* const n = d.make_thief().steal()) {
        n->next = n;  // a batch that followed it would never end
        ++taken;
      }
    };
    nodes[2].next = nullptr;
    nodes[1].next = &nodes[2];
    nodes[0].next = &nodes[1];
    taken = 0;
    runq_test::probe::before(runq_test::op::store, nth, rob);
    EXPECT_EQ(owner.push_batch(std::counted_iterator(node_iterator(nodes.data()), 3), std::default_sentinel).count, 3U);
    rob();
    EXPECT_EQ(taken, 3U);
  }
}

#if defined(__cpp_exceptions)
TEST(chase_lev, what_an_iterator_passed_before_it_threw_is_in_the_deque) {
  struct thrower {
    using value_type = std::uint64_t;
    using difference_type = std::ptrdiff_t;
    std::uint64_t at = 1;
    std::uint64_t operator*() const {
      if (at == 3) throw std::runtime_error("the third");
      return at;
    }
    thrower& operator++() {
      ++at;
      return *this;
    }
    void operator++(int) { ++*this; }
    bool operator==(std::unreachable_sentinel_t) const { return false; }
  };
  deque d;
  auto owner = d.make_owner();
  EXPECT_THROW(static_cast<void>(owner.push_batch(thrower{}, std::unreachable_sentinel)), std::runtime_error);
  EXPECT_EQ(owner.size_approx(), 2U);
  EXPECT_EQ(owner.pop(), 2U);
  EXPECT_EQ(owner.pop(), 1U);
}
#endif

TEST(chase_lev, the_owner_handle_is_move_only_and_the_thief_handle_is_copyable) {
  static_assert(!std::is_copy_constructible_v<deque::owner> && !std::is_copy_assignable_v<deque::owner>);
  static_assert(std::is_nothrow_move_constructible_v<deque::owner> && std::is_nothrow_move_assignable_v<deque::owner>);
  static_assert(std::is_copy_constructible_v<deque::thief>);
  deque d;
  auto first = d.make_owner();
  ASSERT_TRUE(first.push(1));
  auto second = std::move(first);
  EXPECT_EQ(second.pop(), 1U);
}

TEST(chase_lev, moving_the_owner_hands_the_deque_to_another_thread) {
  deque d;
  auto owner = d.make_owner();
  ASSERT_TRUE(owner.push(1));
  std::thread other([moved = std::move(owner)]() mutable {
    EXPECT_EQ(moved.pop(), 1U);
    EXPECT_TRUE(moved.push(2));
  });
  other.join();
  EXPECT_EQ(d.make_thief().steal().value, 2U);
}

TEST(chase_lev, an_unchecked_owner_is_whoever_holds_the_hosts_mutex) {
  runq::basic_chase_lev<std::uint64_t, runq::unchecked_owner<>> d(2);
  auto owner = d.make_owner();
  std::mutex mutex;
  constexpr std::uint64_t each = 1000;
  std::array<std::uint64_t, 3> sums{};
  runq_test::in_threads(3, [&](std::size_t self) {
    for (std::uint64_t i = 0; i != each; ++i) {
      if (self == 2) {
        sums[2] += d.make_thief().steal().value;
        continue;
      }
      const std::lock_guard lock(mutex);
      if (!owner.push(i + 1)) ADD_FAILURE();
      if (i % 3 == 0) sums[self] += owner.pop().value_or(0);
    }
  });
  // They have been joined, so this thread may pop what they left.
  std::uint64_t rest = 0;
  while (const auto left = owner.pop()) rest += *left;
  EXPECT_EQ(sums[0] + sums[1] + sums[2] + rest, 2 * each * (each + 1) / 2);
}

#ifndef NDEBUG
TEST(chase_lev_death, a_second_thread_that_pushes_is_stopped) {
  EXPECT_DEATH(
      {
        deque d;
        auto owner = d.make_owner();
        static_cast<void>(owner.push(1));
        std::thread([&owner] { static_cast<void>(owner.push(2)); }).join();
      },
      "called from a second thread");
}

TEST(chase_lev_death, a_second_owner_is_refused) {
  EXPECT_DEATH(
      {
        deque d;
        auto first = d.make_owner();
        auto second = d.make_owner();
      },
      "make_owner\\(\\) was called twice");
}
#endif

}  // namespace
