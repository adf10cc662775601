// SPDX-License-Identifier: MIT
// The rules of local_queue, one test each. Rows Q1 to Q7 and Q12 to Q18 of the queue rules, as far as they need no
// scheduler. The scheduler's tests check Q8 (the order in which victims are tried) and the rounds of Q15.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <runq/local_queue.hpp>

#include "support.hpp"

namespace {

using runq::steal_runnext;
using runq::steal_status;
using runq_test::narrow;
using runq_test::op;
using runq_test::probe;

template <class Atomics>
struct basic_task {
  int id = 0;
  runq::inject_link<basic_task, Atomics> link{};
};

using ids = runq_test::numbers;
using runq_test::from_to;

/// Two processors p and q with a local queue each, the global queue that they share, and tasks with the ids 1 … n.
template <class Atomics, std::size_t Capacity = 256, class Index = std::uint64_t>
struct basic_machine {
  using task = basic_task<Atomics>;
  using local = runq::basic_local_queue<&task::link, Capacity, Index>;
  using global_queue = typename local::global_queue;
  using chain = typename local::chain;

  explicit basic_machine(int n) : tasks(static_cast<std::size_t>(n)) {
    for (int id = 1; id <= n; ++id) (*this)[id]->id = id;
  }
  basic_machine(const basic_machine&) = delete;
  basic_machine& operator=(const basic_machine&) = delete;
  // Empties the queues. A queue that is destroyed with tasks in it would stop the program.
  ~basic_machine() {
    empty(p, p_seen);
    empty(q, q_seen);
    while (global.take() != nullptr) {
    }
  }
  static void empty(typename local::owner& owner, const typename local::thief& seen) {
    if (!seen.has_work_approx()) return;
    owner.rebind();
    for (chain all = owner.drain(); all.pop_front() != nullptr;) {
    }
  }

  [[nodiscard]] task* operator[](int id) { return &tasks[static_cast<std::size_t>(id) - 1]; }
  [[nodiscard]] chain chained(int first, int last) {
    chain c;
    for (int id = first; id <= last; ++id) c.push_back((*this)[id]);
    return c;
  }
  void push(int first, int last) {
    for (int id = first; id <= last; ++id) p.push((*this)[id]);
  }

  std::vector<task> tasks;
  global_queue global;
  local p_queue{global};
  local q_queue{global};
  typename local::owner p = p_queue.make_owner();
  typename local::owner q = q_queue.make_owner();
  typename local::thief p_seen = p_queue.make_thief();
  typename local::thief q_seen = q_queue.make_thief();
};

using machine = basic_machine<runq::std_atomics>;
using small_machine = basic_machine<runq::std_atomics, 8>;
using probed_machine = basic_machine<runq_test::probe_atomics, 8>;

template <class Owner>
ids pop_all(Owner& owner) {
  ids out;
  while (const auto next = owner.pop()) out.push_back(next.task->id);
  return out;
}

template <class Queue>
ids take_all(Queue& queue) {
  ids out;
  while (auto* const t = queue.take()) out.push_back(t->id);
  return out;
}

// ---- the owner ------------------------------------------------------------------------------------------------------

TEST(local_queue, Q1_each_of_256_tasks_alone_comes_back_and_leaves_it_empty) {
  machine m(256);
  for (int id = 1; id <= 256; ++id) {
    ASSERT_FALSE(m.p_seen.has_work_approx());
    if (id % 2 == 0) {
      m.p.push(m[id]);
    } else {
      m.p.push_next(m[id]);
    }
    ASSERT_TRUE(m.p_seen.has_work_approx());
    const auto next = m.p.pop();
    ASSERT_EQ(next.task, m[id]);
    ASSERT_EQ(next.from_runnext, id % 2 != 0);
    ASSERT_FALSE(m.p.pop());
    ASSERT_FALSE(m.p_seen.has_work_approx());
  }
}

TEST(local_queue, Q1_holds_256_without_the_global_queue) {
  machine m(256);
  m.push(1, 256);
  EXPECT_EQ(m.p.size_approx(), 256U);
  EXPECT_EQ(m.global.size_approx(), 0U);
  EXPECT_EQ(pop_all(m.p), from_to(1, 256));
}

TEST(local_queue, Q2_takes_no_lock_while_there_is_room) {
  probed_machine m(9);
  probe::reset();
  for (int round = 0; round != 1000; ++round) {
    m.push(1, 8);
    m.p.push_next(m[9]);
    ASSERT_EQ(m.q.steal_from(m.p_seen, steal_runnext::yes).count, 4U);
    pop_all(m.p);
    pop_all(m.q);
  }
  EXPECT_EQ(probe::count(op::lock), 0U);
}

void use_a_million_times(machine& m) {
  for (int i = 0; i != 100'000; ++i) {
    m.p.push(m[1]);
    m.p.push(m[2]);
    m.p.push_next(m[3]);
    m.p.push_next(m[4]);
    static_cast<void>(m.p.pop());
    m.p.push_batch(m.chained(5, 7));
    static_cast<void>(m.q.steal_from(m.p_seen, steal_runnext::yes));
    static_cast<void>(m.p_seen.has_work_approx());
    for (auto all = m.q.drain(); all.pop_front() != nullptr;) {
    }
    while (m.p.pop()) {
    }
  }
}

TEST(local_queue, Q2_allocates_nothing_in_a_million_operations) {
  machine m(7);
  EXPECT_EQ(runq_test::allocations_during([&m] { use_a_million_times(m); }), 0U);
}

TEST(local_queue, Q2_makes_no_system_call_in_a_million_operations) {
  if (RUNQ_TEST_SANITIZED) GTEST_SKIP() << "sanitizers make system calls of their own";
  machine m(7);
  EXPECT_EXIT(runq_test::exit_0_unless_it_enters_the_kernel([&m] { use_a_million_times(m); }),
              testing::ExitedWithCode(0), "");
}

TEST(local_queue, Q3_the_257th_task_takes_the_128_oldest_with_it_to_the_global_queue) {
  machine m(257);
  m.push(1, 256);
  EXPECT_EQ(m.p.push(m[257]), 129U);
  EXPECT_EQ(m.global.size_approx(), 129U);
  EXPECT_EQ(m.p.size_approx(), 128U);
  ids expected = from_to(1, 128);
  expected.push_back(257);
  EXPECT_EQ(take_all(m.global), expected);
  EXPECT_EQ(pop_all(m.p), from_to(129, 256));
}

TEST(local_queue, Q3_an_overflow_takes_the_lock_once_and_goes_behind_what_waits_there) {
  probed_machine m(10);
  m.global.put(m[10]);
  m.push(1, 8);
  probe::reset();
  EXPECT_EQ(m.p.push(m[9]), 5U);
  EXPECT_EQ(probe::count(op::lock), 1U);
  EXPECT_EQ(take_all(m.global), (ids{10, 1, 2, 3, 4, 9}));
  EXPECT_EQ(pop_all(m.p), from_to(5, 8));
}

TEST(local_queue, Q3_an_overflow_goes_to_the_queue_that_was_said_last) {
  machine m(600);
  machine::global_queue other;
  m.push(1, 257);
  m.p.overflow_into(other);
  m.push(258, 385);
  EXPECT_EQ(other.size_approx(), 0U);
  EXPECT_EQ(m.p.push(m[386]), 129U);
  ids expected = from_to(129, 256);
  expected.push_back(386);
  EXPECT_EQ(take_all(other), expected);
  m.p.overflow_into(m.global);
  m.push(387, 514);
  EXPECT_EQ(m.p.push(m[515]), 129U);
  EXPECT_EQ(other.size_approx(), 0U);
  EXPECT_EQ(m.global.size_approx(), 2 * 129U);
}

TEST(local_queue, Q3_an_overflow_that_finds_a_thief_has_made_room_pushes_after_all) {
  probed_machine m(9);
  m.push(1, 8);
  probe::before(op::rmw, 1, [&m] { EXPECT_EQ(m.q.steal_from(m.p_seen).count, 4U); });
  EXPECT_EQ(m.p.push(m[9]), 0U);
  EXPECT_TRUE(probe::happened());
  EXPECT_EQ(m.global.size_approx(), 0U);
  EXPECT_EQ(pop_all(m.p), from_to(5, 9));
}

// A push to a full ring makes four loads: push() loads tail and head, and the overflow loads head and tail. A thief
// makes room before each of them in turn.
TEST(local_queue, Q3_an_overflow_takes_nothing_from_a_ring_in_which_a_thief_has_made_room_at_any_step) {
  for (std::size_t load = 1; load <= 4; ++load) {
    probed_machine m(9);
    m.push(1, 8);
    probe::before(op::load, load, [&m] { EXPECT_EQ(m.q.steal_from(m.p_seen).count, 4U); });
    EXPECT_EQ(m.p.push(m[9]), 0U) << "before load " << load;
    EXPECT_TRUE(probe::happened());
    EXPECT_EQ(m.global.size_approx(), 0U);
    EXPECT_EQ(pop_all(m.p), from_to(5, 9));
    while (m.q.pop()) {
    }
  }
}

// The queue lengths in Go's schedtrace after `spawned` spawns by a program that never lets the scheduler run.
TEST(local_queue, Q4_tasks_spawned_without_a_pause_are_spread_as_in_go) {
  machine m(2000);
  for (int spawned = 1; spawned <= 2000; ++spawned) {
    m.p.push_next(m[spawned]);
    const int overflows = spawned < 258 ? 0 : 1 + (spawned - 258) / 129;
    ASSERT_EQ(m.global.size_approx(), static_cast<std::size_t>(129 * overflows)) << spawned;
    ASSERT_EQ(m.p.size_approx(), static_cast<std::size_t>(spawned - 1 - 129 * overflows)) << spawned;
  }
  EXPECT_EQ(m.p.pop().task, m[2000]);  // the newest task was in runnext
}

TEST(local_queue, Q4_the_series_257_258_387_1001_has_the_measured_sizes) {
  struct row {
    int spawned;
    std::size_t global;
    std::size_t ring;
  };
  for (const row r : {row{257, 0, 256}, row{258, 129, 128}, row{387, 258, 128}, row{1001, 774, 226}}) {
    machine m(r.spawned);
    for (int id = 1; id <= r.spawned; ++id) m.p.push_next(m[id]);
    EXPECT_EQ(m.global.size_approx(), r.global) << r.spawned;
    EXPECT_EQ(m.p.size_approx(), r.ring) << r.spawned;
    EXPECT_TRUE(m.p.pop().from_runnext) << r.spawned;
    EXPECT_FALSE(m.p.pop().from_runnext) << r.spawned;
  }
}

TEST(local_queue, Q5_no_queue_ever_shows_more_than_256) {
  machine m(1000);
  for (int id = 1; id <= 1000; ++id) {
    m.p.push_next(m[id]);
    ASSERT_LE(m.p_seen.size_approx(), 256U);
  }
}

TEST(local_queue, Q5_one_queue_can_show_256_while_the_global_one_shows_3) {
  machine m(259);
  m.push(1, 256);
  m.global.splice(m.chained(257, 259));
  EXPECT_EQ(m.global.size_approx(), 3U);
  EXPECT_EQ(m.p_seen.size_approx(), 256U);
  EXPECT_EQ(m.q_seen.size_approx(), 0U);
}

TEST(local_queue, Q13_ten_tasks_spawned_in_turn_run_the_newest_first_and_then_in_order) {
  machine m(10);
  for (int id = 1; id <= 10; ++id) m.p.push_next(m[id]);
  EXPECT_EQ(pop_all(m.p), (ids{10, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
}

TEST(local_queue, Q14_a_displaced_task_goes_to_the_tail_of_the_ring) {
  machine m(4);
  m.p.push(m[1]);
  m.p.push_next(m[2]);
  EXPECT_EQ(m.p.size_approx(), 1U);
  m.p.push_next(m[3]);
  EXPECT_EQ(m.p.size_approx(), 2U);
  m.p.push(m[4]);
  EXPECT_EQ(pop_all(m.p), (ids{3, 1, 2, 4}));
}

TEST(local_queue, Q14_a_displaced_task_overflows_like_any_other) {
  small_machine m(10);
  m.push(1, 8);
  EXPECT_EQ(m.p.push_next(m[9]), 0U);
  EXPECT_EQ(m.p.push_next(m[10]), 5U);
  EXPECT_EQ(take_all(m.global), (ids{1, 2, 3, 4, 9}));
  EXPECT_EQ(pop_all(m.p), (ids{10, 5, 6, 7, 8}));
}

TEST(local_queue, a_pop_tells_whether_the_task_was_next) {
  machine m(2);
  m.p.push(m[1]);
  m.p.push_next(m[2]);
  EXPECT_TRUE(m.p.pop().from_runnext);
  EXPECT_FALSE(m.p.pop().from_runnext);
  EXPECT_FALSE(m.p.pop());
}

TEST(local_queue, a_batch_fills_the_ring_and_the_rest_goes_to_the_global_queue) {
  for (int before = 0; before <= 8; ++before) {
    for (int size = 0; size <= 12; ++size) {
      small_machine m(before + size + 1);
      m.push(1, before);
      const int fits = std::min(size, 8 - before);
      EXPECT_EQ(m.p.push_batch(m.chained(before + 1, before + size)), static_cast<std::size_t>(size - fits));
      EXPECT_EQ(pop_all(m.p), from_to(1, before + fits));
      EXPECT_EQ(take_all(m.global), from_to(before + fits + 1, before + size));
    }
  }
}

TEST(local_queue, a_batch_is_published_once_and_locks_only_for_what_does_not_fit) {
  probed_machine m(20);
  auto batch = m.chained(1, 8);
  probe::reset();
  EXPECT_EQ(m.p.push_batch(std::move(batch)), 0U);
  EXPECT_EQ(probe::count(op::store), 9U);  // eight slots and one tail
  EXPECT_EQ(probe::count(op::lock), 0U);
  auto more = m.chained(9, 20);
  EXPECT_EQ(m.p.push_batch(std::move(more)), 12U);
  EXPECT_EQ(probe::count(op::lock), 1U);
}

TEST(local_queue, Q12_takes_its_fair_share_of_the_global_queue_and_returns_the_first) {
  struct row {
    int size;
    std::size_t procs;
    int share;
  };
  for (const row r : {row{10, 4, 3}, row{1, 8, 1}, row{1000, 2, 128}, row{0, 2, 0}}) {
    machine m(std::max(r.size, 1));
    m.global.splice(m.chained(1, r.size));
    const auto* const first = m.p.take_from(m.global, r.procs);
    EXPECT_EQ(first, r.size == 0 ? nullptr : m[1]);
    EXPECT_EQ(m.global.size_approx(), static_cast<std::size_t>(r.size - r.share));
    EXPECT_EQ(pop_all(m.p), from_to(2, r.share));
  }
}

TEST(local_queue, Q12_takes_no_more_than_fits_and_gives_nothing_back) {
  for (int held = 0; held <= 8; ++held) {
    small_machine m(108);
    m.push(1, held);
    m.global.splice(m.chained(9, 108));
    ASSERT_EQ(m.p.take_from(m.global, 1), m[9]);
    ASSERT_EQ(m.p.size_approx(), 8U);
    ASSERT_EQ(m.global.size_approx(), static_cast<std::size_t>(100 - 1 - (8 - held)));
    ids expected = from_to(1, held);
    for (int id = 10; id < 10 + 8 - held; ++id) expected.push_back(id);
    ASSERT_EQ(pop_all(m.p), expected);
  }
}

TEST(local_queue, Q18_a_task_goes_to_the_queue_of_the_processor_that_pushes_it) {
  machine m(100);
  for (int id = 1; id <= 100; ++id) m.p.push_next(m[id]);
  EXPECT_FALSE(m.q_seen.has_work_approx());
  EXPECT_FALSE(m.q.pop());
  EXPECT_EQ(m.q.steal_from(m.p_seen).count, 50U);
  EXPECT_EQ(m.q.size_approx(), 49U);
}

TEST(local_queue, drain_hands_out_the_next_task_and_then_the_ring_in_order) {
  for (int n = 0; n <= 256; n += 1 + n / 3) {
    machine m(n + 1);
    m.push(1, n);
    m.p.push_next(m[n + 1]);
    auto all = m.p.drain();
    EXPECT_EQ(all.size(), static_cast<std::size_t>(n + 1));
    EXPECT_EQ(all.pop_front(), m[n + 1]);
    m.global.splice(std::move(all));
    EXPECT_EQ(take_all(m.global), from_to(1, n));
    EXPECT_FALSE(m.p_seen.has_work_approx());
    EXPECT_FALSE(m.p.pop());
  }
}

// ---- thieves --------------------------------------------------------------------------------------------------------

TEST(local_queue, Q6_steals_half_of_the_ring_and_never_counts_runnext) {
  for (int n = 0; n <= 256; ++n) {
    machine m(n + 1);
    m.push(1, n);
    m.p.push_next(m[n + 1]);
    const auto loot = m.q.steal_from(m.p_seen);
    const int stolen = n - n / 2;
    ASSERT_EQ(loot.count, static_cast<std::size_t>(stolen));
    ASSERT_EQ(loot.status, n == 0 ? steal_status::empty : steal_status::taken);
    if (n != 0) {
      ASSERT_EQ(loot.value, m[stolen]);
    }
    ASSERT_EQ(pop_all(m.q), from_to(1, stolen - 1));
    ASSERT_EQ(m.p.pop().task, m[n + 1]);
    ASSERT_EQ(pop_all(m.p), from_to(stolen + 1, n));
  }
}

TEST(local_queue, Q7_a_steal_never_touches_the_global_queue) {
  probed_machine m(12);
  m.global.splice(m.chained(9, 12));
  m.push(1, 8);
  probe::reset();
  EXPECT_EQ(m.q.steal_from(m.p_seen, steal_runnext::yes).count, 4U);
  EXPECT_EQ(m.p.steal_from(m.q_seen, steal_runnext::yes).count, 2U);
  EXPECT_EQ(probe::count(op::lock), 0U);
  EXPECT_EQ(take_all(m.global), from_to(9, 12));
}

TEST(local_queue, Q15_runnext_is_stolen_only_when_allowed_and_the_ring_is_empty) {
  machine m(2);
  m.p.push_next(m[1]);
  EXPECT_EQ(m.q.steal_from(m.p_seen).status, steal_status::empty);
  EXPECT_EQ(m.q.steal_from(m.p_seen, steal_runnext::no).status, steal_status::empty);
  m.p.push(m[2]);
  EXPECT_EQ(m.q.steal_from(m.p_seen, steal_runnext::yes).value, m[2]);
  const auto loot = m.q.steal_from(m.p_seen, steal_runnext::yes);
  EXPECT_EQ(loot.value, m[1]);
  EXPECT_EQ(loot.count, 1U);
  EXPECT_FALSE(m.p.pop());
  EXPECT_FALSE(m.q.pop());
}

TEST(local_queue, Q15_a_steal_says_whether_the_task_came_from_runnext) {
  machine m(4);
  m.push(1, 2);
  m.p.push_next(m[3]);
  const auto from_ring = [&] {
    const auto loot = m.q.steal_from(m.p_seen, steal_runnext::yes);
    return loot && !loot.from_runnext;
  };
  EXPECT_TRUE(from_ring()) << "of two";
  EXPECT_TRUE(from_ring()) << "the last, with the slot left alone";
  const auto loot = m.q.steal_from(m.p_seen, steal_runnext::yes);
  EXPECT_EQ(loot.value, m[3]);
  EXPECT_TRUE(loot.from_runnext);
  m.p.push_next(m[4]);
  m.p.push_next(m[3]);  // 4 moves to the ring
  EXPECT_TRUE(from_ring());
}

TEST(local_queue, Q15_a_steal_that_took_nothing_came_from_nowhere) {
  machine m(1);
  const auto of_nothing = m.q.steal_from(m.p_seen, steal_runnext::yes);
  EXPECT_EQ(of_nothing.status, steal_status::empty);
  EXPECT_FALSE(of_nothing.from_runnext);
  probed_machine late(1);
  late.p.push_next(late[1]);
  probe::before(op::pause, 1, [&late] { EXPECT_EQ(late.p.pop().task, late[1]); });
  const auto of_a_lost_race = late.q.steal_from(late.p_seen, steal_runnext::yes);
  EXPECT_EQ(of_a_lost_race.status, steal_status::lost);
  EXPECT_FALSE(of_a_lost_race.from_runnext);
}

TEST(local_queue, Q15_runnext_is_stolen_only_after_the_back_off) {
  probed_machine m(1);
  m.p.push_next(m[1]);
  probe::reset();
  EXPECT_EQ(m.q.steal_from(m.p_seen, steal_runnext::yes, 256, 17).value, m[1]);
  EXPECT_EQ(probe::count(op::pause), 17U);
  m.p.push_next(m[1]);
  probe::reset();
  EXPECT_EQ(m.q.steal_from(m.p_seen, steal_runnext::yes).value, m[1]);
  EXPECT_EQ(probe::count(op::pause), probed_machine::local::runnext_type::default_backoff);
}

TEST(local_queue, Q15_a_victim_that_takes_its_next_task_during_the_back_off_keeps_it) {
  probed_machine m(1);
  m.p.push_next(m[1]);
  probe::before(op::pause, 5, [&m] { EXPECT_EQ(m.p.pop().task, m[1]); });
  EXPECT_EQ(m.q.steal_from(m.p_seen, steal_runnext::yes).status, steal_status::lost);
  EXPECT_TRUE(probe::happened());
}

TEST(local_queue, a_steal_takes_no_more_than_its_limit) {
  machine m(20);
  m.push(1, 20);
  const auto loot = m.q.steal_from(m.p_seen, steal_runnext::no, 3);
  EXPECT_EQ(loot.count, 3U);
  EXPECT_EQ(loot.value, m[3]);
  EXPECT_EQ(pop_all(m.q), (ids{1, 2}));
}

TEST(local_queue, Q17_one_steal_splits_a_queue_of_any_size_and_nothing_is_lost_or_doubled) {
  machine m(256);
  for (int n = 0; n <= 256; ++n) {
    m.push(1, n);
    ids seen;
    const auto loot = m.q.steal_from(m.p_seen, steal_runnext::yes);
    if (loot) seen.push_back(loot.value->id);
    for (const int id : pop_all(m.q)) seen.push_back(id);
    ASSERT_TRUE(seen.size() == static_cast<std::size_t>(n / 2) || seen.size() == static_cast<std::size_t>(n / 2) + 1);
    for (const int id : pop_all(m.p)) seen.push_back(id);
    std::sort(seen.begin(), seen.end());
    ASSERT_EQ(seen, from_to(1, n));
  }
}

TEST(local_queue, crosses_the_wrap_of_a_narrow_counter) {
  basic_machine<runq::std_atomics, 4, narrow> m(5);
  for (int round = 0; round != 5000; ++round) {
    m.push(1, 4);
    m.p.push_next(m[5]);
    ASSERT_EQ(m.q.steal_from(m.p_seen).value, m[2]);
    ASSERT_EQ(pop_all(m.q), (ids{1}));
    ASSERT_EQ(pop_all(m.p), (ids{5, 3, 4}));
  }
}

// ---- has_work: false is a promise -----------------------------------------------------------------------------------

// The race that Go's source describes: the observer has looked into the ring and not yet at runnext. Then the owner
// moves the task from runnext into the ring.
template <class Ask>
void sees_a_task_that_moves_meanwhile(op reads_runnext, std::size_t nth, Ask&& there_is_work) {
  probed_machine m(2);
  m.p.push_next(m[1]);
  probe::before(reads_runnext, nth, [&m] {  // the observer has read head and tail, and will read runnext
    m.p.push_next(m[2]);
    EXPECT_EQ(m.p.pop().task, m[2]);
  });
  EXPECT_TRUE(there_is_work(m.p_seen));
  EXPECT_TRUE(probe::happened());
  EXPECT_EQ(m.p.pop().task, m[1]);
  EXPECT_FALSE(there_is_work(m.p_seen));
}

TEST(local_queue, Q16_has_work_approx_sees_a_task_that_moves_from_runnext_to_the_ring_meanwhile) {
  sees_a_task_that_moves_meanwhile(op::load, 3, [](const auto& seen) { return seen.has_work_approx(); });
}

TEST(local_queue, Q16_has_work_sees_a_task_that_moves_from_runnext_to_the_ring_meanwhile) {
  sees_a_task_that_moves_meanwhile(op::rmw, 1, [](const auto& seen) { return seen.has_work(); });
}

// With a thief as a third party, has_work_approx() may be false while a displaced task is on its way from runnext to
// the ring. So has_work_approx() promises something only about published tasks. No task is lost by that: the owner is
// running, and publishes the displaced task in its next step.
TEST(local_queue, Q16_has_work_approx_may_miss_a_displaced_task_only_until_the_owner_has_published_it) {
  probed_machine m(2);
  m.p.push_next(m[1]);
  probe::before(op::store, 2, [&m] {  // the ring's slot has been written, its tail has not
    EXPECT_EQ(m.q.steal_from(m.p_seen, steal_runnext::yes, 8, 0).value, m[2]);
    EXPECT_FALSE(m.p_seen.has_work_approx());
  });
  m.p.push_next(m[2]);
  EXPECT_TRUE(probe::happened());
  EXPECT_TRUE(m.p_seen.has_work_approx());
  EXPECT_EQ(m.p.pop().task, m[1]);
}

TEST(local_queue, Q16_has_work_approx_is_never_false_at_any_step_of_the_owner_with_two_parties) {
  // The observer asks before each atomic operation of put, put, get, for all four combinations of next_1 and next_2.
  for (const bool next_1 : {false, true}) {
    for (const bool next_2 : {false, true}) {
      for (const op kind : {op::load, op::store, op::rmw}) {
        for (std::size_t step = 1; step <= 4; ++step) {
          probed_machine m(2);
          const auto put = [&m](int id, bool next) { next ? m.p.push_next(m[id]) : m.p.push(m[id]); };
          put(1, next_1);
          probe::before(kind, step, [&m] { EXPECT_TRUE(m.p_seen.has_work_approx()); });
          put(2, next_2);
          EXPECT_TRUE(m.p.pop());
          probe::reset();
          EXPECT_TRUE(m.p.pop());
        }
      }
    }
  }
}

TEST(local_queue, Q16_has_work_answers_as_its_hint_does) {
  machine m(3);
  EXPECT_FALSE(m.p_seen.has_work());
  m.p.push(m[1]);
  EXPECT_TRUE(m.p_seen.has_work());
  m.p.push_next(m[2]);
  EXPECT_TRUE(m.p_seen.has_work());
  EXPECT_EQ(m.p.pop_oldest(), m[1]);
  EXPECT_TRUE(m.p_seen.has_work());
  EXPECT_EQ(m.p.pop().task, m[2]);
  EXPECT_FALSE(m.p_seen.has_work());
}

TEST(local_queue, next_is_free_until_a_task_is_pushed_there) {
  machine m(2);
  EXPECT_TRUE(m.p.next_is_free());
  m.p.push(m[1]);
  EXPECT_TRUE(m.p.next_is_free());
  m.p.push_next(m[2]);
  EXPECT_FALSE(m.p.next_is_free());
  EXPECT_EQ(m.p.pop().task, m[2]);
  EXPECT_TRUE(m.p.next_is_free());
  EXPECT_EQ(m.p.pop().task, m[1]);
}

// ---- handles --------------------------------------------------------------------------------------------------------

using owner_handle = machine::local::owner;
using thief_handle = machine::local::thief;
static_assert(std::is_nothrow_move_constructible_v<owner_handle> && std::is_nothrow_move_assignable_v<owner_handle>);
static_assert(!std::is_copy_constructible_v<owner_handle> && !std::is_copy_assignable_v<owner_handle>);
static_assert(!std::is_default_constructible_v<owner_handle>);
static_assert(std::is_nothrow_copy_constructible_v<thief_handle> && std::is_nothrow_copy_assignable_v<thief_handle>);
static_assert(!std::is_copy_constructible_v<machine::local> && !std::is_move_constructible_v<machine::local>);
static_assert(std::is_same_v<runq::local_queue<&machine::task::link>, machine::local>);
static_assert(sizeof(machine::local) <= 2048 + 6 * runq::cache_line);

TEST(local_queue, a_moved_owner_goes_on_where_it_was) {
  machine m(3);
  m.push(1, 2);
  m.p.push_next(m[3]);
  auto now = std::move(m.p);
  EXPECT_EQ(pop_all(now), (ids{3, 1, 2}));
}

TEST(local_queue, a_move_hands_the_queue_to_another_thread) {
  machine m(2);
  m.p.push(m[1]);
  m.p.push_next(m[2]);
  std::thread([&m, theirs = std::move(m.p)]() mutable {
    EXPECT_EQ(pop_all(theirs), (ids{2, 1}));
    theirs.push(m[1]);
  }).join();
  EXPECT_EQ(m.q.steal_from(m.p_seen).value, m[1]);
}

TEST(local_queue, rebind_hands_the_queue_to_another_thread) {
  machine m(2);
  m.p.push(m[1]);
  m.p.push_next(m[2]);
  m.p.rebind();
  std::thread([&m] { EXPECT_EQ(pop_all(m.p), (ids{2, 1})); }).join();
}

// ---- contracts, in debug builds -------------------------------------------------------------------------------------

TEST(local_queue_contract, a_push_from_a_second_thread_stops_the_program) {
  machine m(2);
  m.p.push(m[1]);
  RUNQ_EXPECT_CONTRACT_VIOLATION(std::thread([&m] { m.p.push(m[2]); }).join(),
                                 "an owner operation was called from a second thread");
}

TEST(local_queue_contract, a_push_next_from_a_second_thread_stops_the_program) {
  machine m(2);
  m.p.push_next(m[1]);
  RUNQ_EXPECT_CONTRACT_VIOLATION(std::thread([&m] { m.p.push_next(m[2]); }).join(),
                                 "an owner operation was called from a second thread");
}

TEST(local_queue_contract, a_queue_that_is_destroyed_with_tasks_stops_the_program) {
  [[maybe_unused]] constexpr const char* says = "runq: local_queue: destroyed with tasks in it; they are lost";
  machine m(1);
  RUNQ_EXPECT_CONTRACT_VIOLATION(
      {
        machine::local dies(m.global);
        dies.make_owner().push(m[1]);
      },
      says);
  RUNQ_EXPECT_CONTRACT_VIOLATION(
      {
        machine::local dies(m.global);
        dies.make_owner().push_next(m[1]);
      },
      says);
}

TEST(local_queue_contract, a_second_owner_stops_the_program) {
  machine m(1);
  RUNQ_EXPECT_CONTRACT_VIOLATION(static_cast<void>(m.p_queue.make_owner()), "make_owner\\(\\) was called twice");
}

TEST(local_queue_contract, a_steal_from_itself_stops_the_program) {
  machine m(1);
  RUNQ_EXPECT_CONTRACT_VIOLATION(static_cast<void>(m.p.steal_from(m.p_seen)), "a ring cannot steal from itself");
}

TEST(local_queue_contract, a_null_task_that_is_to_run_next_stops_the_program) {
  machine m(1);
  RUNQ_EXPECT_CONTRACT_VIOLATION(m.p.push_next(nullptr), "the empty value cannot be stored");
}

TEST(local_queue_contract, the_use_of_a_moved_from_owner_stops_the_program) {
  machine m(1);
  const auto now = std::move(m.p);
  RUNQ_EXPECT_CONTRACT_VIOLATION(static_cast<void>(m.p.pop()), "this owner handle has been moved from");
  RUNQ_EXPECT_CONTRACT_VIOLATION(static_cast<void>(m.p.size_approx()), "this owner handle has been moved from");
}

}  // namespace
