// SPDX-License-Identifier: MIT
// What a steal returns, for every queue: the element if it was taken, and nothing else otherwise.
#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <gtest/gtest.h>
#include <runq/chase_lev.hpp>
#include <runq/local_queue.hpp>
#include <runq/ring.hpp>
#include <runq/runnext.hpp>

#include "support.hpp"

namespace {

using runq::steal_result;
using runq::steal_status;
using runq_test::op;
using runq_test::probe;
using runq_test::probe_atomics;

using ring = runq::basic_ring<int*, 8, std::uint64_t, probe_atomics>;
using chase_lev = runq::basic_chase_lev<int*, probe_atomics>;
using runnext = runq::basic_runnext<int*, probe_atomics>;

struct task {
  runq::inject_link<task, probe_atomics> link;
};
using local_queue = runq::basic_local_queue<&task::link, 8>;

class results : public testing::Test {
 protected:
  results() { probe::reset(); }

  /// First `steal` finds nothing. Then `put` adds an element, and `steal` loses the race for it to `rival`. Then
  /// `steal` takes `element`.
  template <class T, class Put, class Steal, class Rival>
  static void expect_value_only_if_taken(T* element, Put&& put, Steal&& steal, Rival&& rival) {
    expect(steal(), steal_status::empty, static_cast<T*>(nullptr));
    put();
    probe::before(op::rmw, 1, rival);
    expect(steal(), steal_status::lost, static_cast<T*>(nullptr));
    ASSERT_TRUE(probe::happened());
    put();
    expect(steal(), steal_status::taken, element);
  }

  template <class T>
  static void expect(const steal_result<T*>& got, steal_status status, T* value) {
    EXPECT_EQ(got.status, status);
    EXPECT_EQ(got.value, value);
    EXPECT_EQ(got.count, value == nullptr ? 0U : 1U);
    T* const nullable = got;
    EXPECT_EQ(nullable, value);
    T other{};
    EXPECT_EQ(got.value_or(&other), value == nullptr ? &other : value);
    EXPECT_EQ(static_cast<bool>(got), value != nullptr);
  }

  int element_ = 1;
};

TEST_F(results, a_steal_from_a_ring_has_a_value_only_if_taken) {
  ring victim;
  auto owner = victim.make_owner();
  const auto thief = victim.make_thief();
  expect_value_only_if_taken(
      &element_, [&] { ASSERT_TRUE(owner.push(&element_)); }, [&] { return thief.steal(); },
      [&] { ASSERT_TRUE(owner.pop()); });
}

TEST_F(results, a_steal_of_half_has_a_value_only_if_taken) {
  ring victim;
  ring mine;
  auto owner = victim.make_owner();
  auto my_owner = mine.make_owner();
  const auto thief = victim.make_thief();
  expect_value_only_if_taken(
      &element_, [&] { ASSERT_TRUE(owner.push(&element_)); }, [&] { return thief.steal_half_into(my_owner); },
      [&] { ASSERT_TRUE(owner.pop()); });
}

TEST_F(results, a_steal_from_a_deque_has_a_value_only_if_taken) {
  chase_lev victim;
  auto owner = victim.make_owner();
  const auto thief = victim.make_thief();
  expect_value_only_if_taken(
      &element_, [&] { ASSERT_TRUE(owner.push(&element_)); }, [&] { return thief.steal(); },
      [&] { ASSERT_TRUE(owner.pop()); });
}

TEST_F(results, a_steal_from_a_slot_has_a_value_only_if_taken) {
  runnext victim;
  auto owner = victim.make_owner();
  const auto thief = victim.make_thief();
  expect_value_only_if_taken(
      &element_, [&] { ASSERT_FALSE(owner.put(&element_)); }, [&] { return thief.steal(0); },
      [&] { ASSERT_TRUE(owner.take()); });
}

TEST_F(results, a_steal_from_a_local_queue_has_a_value_only_if_taken) {
  local_queue::global_queue global;
  local_queue victim(global);
  local_queue mine(global);
  auto owner = victim.make_owner();
  auto my_owner = mine.make_owner();
  task element;
  expect_value_only_if_taken(
      &element, [&] { owner.push(&element); },
      [&]() -> steal_result<task*> { return my_owner.steal_from(victim.make_thief()); },
      [&] { ASSERT_TRUE(owner.pop()); });
}

TEST_F(results, only_pointers_are_nullable) {
  static_assert(std::is_convertible_v<steal_result<int*>, int*>);
  static_assert(!std::is_convertible_v<steal_result<std::uint64_t>, std::uint64_t>);  // is 0 an element, or nothing?
  static_assert(!std::is_convertible_v<steal_result<std::uint64_t>, bool>);
  EXPECT_EQ((steal_result<std::uint64_t>{}.value_or(7)), 7U);
  EXPECT_EQ((steal_result<std::uint64_t>{steal_status::taken, 0, 1}.value_or(7)), 0U);
}

}  // namespace
