// SPDX-License-Identifier: MIT
// The simulator: what an operation costs, that two processors wait for a line that both want, and that the scheduler
// in it loses no task.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <ostream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "places.hpp"
#include "real_rows.hpp"
#include "small_scheduler.hpp"
#include "workloads.hpp"

namespace runq::simulate {

// Called by GoogleTest.
void PrintTo(const description& of, std::ostream* out) { *out << of.name; }

namespace {

constexpr double microsecond = 1000;

// Four cores in two groups, so that all distances occur.
constexpr costs toy{.name = "toy",
                    .machine = "toy",
                    .group = 2,
                    .socket = 4,
                    .same_group = ns(10),
                    .same_socket = ns(100),
                    .other_socket = ns(1000),
                    .hit = ns(1),
                    .rmw = ns(5),
                    .fence = ns(7),
                    .heavy_fence = ns(3000),
                    .interrupt = ns(400),
                    .pause = ns(20),
                    .wake_call = ns(500),
                    .sleep_call = ns(300),
                    .wake_up = ns(2000),
                    .yield_call = ns(50)};

struct alignas(world::line_bytes) counter_line {
  atomic<std::uint64_t> n{0};
};

// Runs `body(i)` on `n` processors; returns when each of them ended.
template <class Body>
std::vector<picoseconds> ends_of(unsigned n, Body&& body) {
  std::vector<picoseconds> ends(n);
  world& w = world::here();
  for (unsigned i = 0; i != n; ++i) {
    w.start(i, [&, i] {
      body(i);
      ends[i] = w.now();
    });
  }
  w.run();
  return ends;
}

TEST(simulate, a_line_costs_what_its_state_says) {
  world w(toy, 8);
  counter_line line;
  std::vector<picoseconds> took;
  const auto timed = [&](auto&& operation) {
    const picoseconds begin = w.now();
    operation();
    took.push_back(w.now() - begin);
  };
  ends_of(8, [&](unsigned i) {
    w.work(ns(10'000) * (i + 1));  // one after the other
    timed([&] { line.n.fetch_add(1, std::memory_order::relaxed); });
    timed([&] { line.n.fetch_add(1, std::memory_order::relaxed); });
    timed([&] { (void)line.n.load(std::memory_order::relaxed); });
  });
  const std::vector<picoseconds> first{ns(5), ns(10), ns(100), ns(10), ns(1000), ns(10), ns(100), ns(10)};
  for (unsigned i = 0; i != 8; ++i) {
    EXPECT_EQ(took[3 * i], first[i]) << i;
    EXPECT_EQ(took[3 * i + 1], ns(5)) << i;
    EXPECT_EQ(took[3 * i + 2], ns(1)) << i;
  }
}

TEST(simulate, readers_share_a_line_and_a_write_must_reach_them_all) {
  world w(toy, 4);
  counter_line line;
  std::vector<picoseconds> took(4);
  ends_of(4, [&](unsigned i) {
    w.work(ns(10'000) * (i + 1));
    (void)line.n.load(std::memory_order::relaxed);
    (void)line.n.load(std::memory_order::relaxed);
    w.work(ns(100'000));
    const picoseconds begin = w.now();
    if (i == 0) line.n.fetch_add(1, std::memory_order::relaxed);
    took[i] = w.now() - begin;
  });
  EXPECT_EQ(took[0], ns(100)) << "the farthest reader is in the other group";
}

TEST(simulate, a_store_costs_its_line_only_when_a_fence_waits_for_it) {
  world w(toy, 2);
  counter_line line;
  picoseconds store = 0;
  picoseconds fence = 0;
  ends_of(2, [&](unsigned i) {
    w.work(ns(10'000) * (i + 1));
    const picoseconds begin = w.now();
    line.n.store(i, std::memory_order::release);
    store = w.now() - begin;
    operations::fence(std::memory_order::seq_cst);
    fence = w.now() - begin - store;
  });
  EXPECT_EQ(store, ns(1));
  EXPECT_EQ(fence, ns(10 - 1 + 7));
}

TEST(simulate, stores_ask_for_their_lines_at_once_and_leave_in_order) {
  world w(toy, 4);
  counter_line far;
  counter_line near;
  picoseconds fence = 0;
  ends_of(4, [&](unsigned i) {
    w.work(ns(10'000) * (i + 1));
    if (i == 0) near.n.store(1, std::memory_order::release);
    if (i == 2) far.n.store(1, std::memory_order::release);
    if (i != 1) return;
    w.work(ns(100'000));
    const picoseconds begin = w.now();
    far.n.store(2, std::memory_order::release);
    near.n.store(2, std::memory_order::release);
    EXPECT_EQ(far.n.peek(), 1U) << "it is visible before its line has come";
    operations::fence(std::memory_order::seq_cst);
    fence = w.now() - begin;
  });
  EXPECT_EQ(fence, ns(100 + 7)) << "the second line came while the first was on its way";
  EXPECT_EQ(near.n.peek(), 2U);
}

TEST(simulate, a_heavy_fence_interrupts_those_that_run) {
  world w(toy, 3);
  counter_line line;
  std::vector<picoseconds> took(3);
  ends_of(3, [&](unsigned i) {
    if (i == 2) return;  // does not run any more
    const picoseconds begin = w.now();
    if (i == 0) {
      operations::heavy_fence(std::memory_order::seq_cst);
    } else {
      operations::light_fence(std::memory_order::seq_cst);
      w.work(ns(10'000));
      (void)line.n.load(std::memory_order::relaxed);
    }
    took[i] = w.now() - begin;
  });
  EXPECT_EQ(took[0], ns(3000));
  EXPECT_EQ(took[1], ns(10'000 + 400 + 1)) << "the light fence costs nothing";
}

// Dekker's handshake: at least one of the two sees the other's store, whenever the heavy side comes. The light side's
// store has its line, but waits in the buffer for another one, which comes from the other socket.
TEST(simulate, a_heavy_fence_sees_the_stores_of_all_or_they_see_its_own) {
  costs quick = toy;
  quick.heavy_fence = ns(20);
  for (double later = 0; later < 900; later += 7) {
    world w(quick, 8);
    counter_line of_heavy;
    counter_line of_light;
    counter_line far;
    bool heavy_saw = false;
    bool light_saw = false;
    ends_of(8, [&](unsigned i) {
      if (i == 4) far.n.store(1, std::memory_order::release);
      if (i == 0) {
        of_light.n.store(0, std::memory_order::release);
        (void)of_heavy.n.load(std::memory_order::relaxed);
        w.work(ns(10'000));
        far.n.store(2, std::memory_order::release);
        of_light.n.store(1, std::memory_order::release);
        operations::light_fence(std::memory_order::seq_cst);
        light_saw = of_heavy.n.load(std::memory_order::relaxed) != 0;
      } else if (i == 1) {
        w.work(ns(9'800 + later));
        of_heavy.n.store(1, std::memory_order::release);
        operations::heavy_fence(std::memory_order::seq_cst);
        heavy_saw = of_light.n.load(std::memory_order::relaxed) != 0;
      }
    });
    EXPECT_TRUE(heavy_saw || light_saw) << later;
  }
}

TEST(simulate, on_more_processors_than_the_scheduler_allows_both_fences_are_whole) {
  world w(toy, 17);
  std::vector<picoseconds> took(17);
  ends_of(17, [&](unsigned i) {
    const picoseconds begin = w.now();
    if (i == 0) operations::heavy_fence(std::memory_order::seq_cst);
    if (i == 1) operations::light_fence(std::memory_order::seq_cst);
    took[i] = w.now() - begin;
  });
  EXPECT_EQ(took[0], ns(7));
  EXPECT_EQ(took[1], ns(7));
}

TEST(simulate, a_processor_may_begin_later) {
  world w(toy, 1);
  picoseconds began = 0;
  w.start(
      0, [&] { began = w.now(); }, ns(250));
  w.run();
  EXPECT_EQ(began, ns(250));
}

TEST(simulate, a_counter_that_all_want_saturates_at_one_operation_per_transfer) {
  constexpr unsigned times = 200;
  for (const unsigned n : {2U, 16U, 128U}) {
    costs flat = toy;
    flat.group = flat.socket = world::most_processors;
    world w(flat, n);
    counter_line line;
    picoseconds last = 0;
    for (const picoseconds end : ends_of(n, [&](unsigned) {
           for (unsigned k = 0; k != times; ++k) line.n.fetch_add(1, std::memory_order::relaxed);
         })) {
      last = std::max(last, end);
    }
    EXPECT_EQ(line.n.peek(), n * times);
    const double per_operation = static_cast<double>(last) / (n * times);
    EXPECT_NEAR(per_operation, static_cast<double>(flat.same_group), 0.02 * static_cast<double>(flat.same_group)) << n;
  }
}

/// When a thread goes on that parks at the beginning and is woken after `work`.
picoseconds end_of_sleep(picoseconds work) {
  world w(toy, 2);
  basic_parker<virtual_futex, policy> parker;
  return ends_of(2, [&](unsigned i) {
    if (i == 0) {
      parker.park();
    } else {
      w.work(work);
      parker.unpark();
    }
  })[0];
}

TEST(simulate, a_thread_that_is_woken_while_it_falls_asleep_does_not_sleep) {
  const picoseconds end = end_of_sleep(ns(100));  // it is in its system call
  EXPECT_GT(end, 0) << "it sleeps for ever";
  EXPECT_LT(end, toy.wake_up) << "it slept";
}

TEST(simulate, a_thread_that_sleeps_is_woken) { EXPECT_GE(end_of_sleep(ns(10'000)), ns(10'000) + toy.wake_up); }

struct end_of_doze {
  bool woken = false;
  picoseconds at = 0;
  bool in_turn = false;  // whether the thread saw later what another had done before
};

/// How a sleep of 10 µs at most ends, of a thread that is woken after `work`.
end_of_doze doze_of_ten_microseconds(picoseconds work) {
  world w(toy, 2);
  basic_parker<virtual_futex, policy> parker;
  counter_line done;
  end_of_doze end;
  ends_of(2, [&](unsigned i) {
    if (i == 0) {
      end.woken = parker.park_for(10'000);
      end.at = w.now();
      w.work(ns(100'000));
      end.in_turn = done.n.load(std::memory_order::relaxed) == 1;
    } else {
      w.work(work);
      parker.unpark();
      w.work(ns(20'000));
      done.n.store(1, std::memory_order::release);
    }
  });
  return end;
}

TEST(simulate, a_sleep_ends_at_its_deadline_unless_the_thread_is_woken_before) {
  const end_of_doze late = doze_of_ten_microseconds(ns(50'000));
  EXPECT_FALSE(late.woken);
  EXPECT_EQ(late.at, ns(10'000) + toy.wake_up);
  const end_of_doze woken = doze_of_ten_microseconds(ns(5'000));
  EXPECT_TRUE(woken.woken);
  EXPECT_GE(woken.at, ns(5'000) + toy.wake_up);
  EXPECT_LT(woken.at, ns(10'000));
  EXPECT_TRUE(woken.in_turn) << "the deadline of the sleep that is over gave it a turn";
  const end_of_doze at_once = doze_of_ten_microseconds(ns(100));
  EXPECT_TRUE(at_once.woken) << "while it falls asleep";
  EXPECT_LT(at_once.at, toy.wake_up);
}

TEST(simulate, who_waits_for_a_lock_is_counted_at_its_line) {
  world w(toy, 2);
  alignas(64) policy::mutex lock;
  w.name(&lock, sizeof lock, "lock", sizeof lock);
  ends_of(2, [&](unsigned i) {
    if (i == 1) w.work(ns(1000));  // the other one has the lock by then
    lock.lock();
    w.work(ns(10'000));
    lock.unlock();
  });
  picoseconds waited = 0;
  picoseconds queued = 0;
  for (const world::place& p : w.places()) {
    if (p.object != "lock") continue;
    waited += p.waited;
    queued += p.queued;
  }
  EXPECT_GE(queued, ns(8500)) << "the other one had the lock for 9 µs";
  EXPECT_GE(waited, queued);
}

struct outcome {
  bool complete = false;
  double per_second = 0;
  picoseconds end = 0;
  std::uint64_t operations = 0;
  bool operator==(const outcome&) const = default;
};

outcome simulated(const costs& machine, workload what, unsigned n, std::uint32_t pieces = 64) {
  world w(machine, n);
  virtual_place place(ns(microsecond));
  small_scheduler<virtual_place> s(place, n);
  program<virtual_place> tasks(s, what, pieces);
  place.run(n, tasks.runs(), [&s](unsigned i) { s.loop(s.machine_at(i)); });
  return {w.stopped() && tasks.complete(), static_cast<double>(tasks.pieces()) / (static_cast<double>(w.end()) * 1e-12),
          w.end(), w.operations()};
}

class each_workload : public testing::TestWithParam<description> {};

TEST_P(each_workload, does_each_piece_of_work_once_and_repeats) {
  for (const unsigned n : {1U, 2U, 7U, 24U}) {
    const outcome first = simulated(milan, GetParam().what, n);
    EXPECT_TRUE(first.complete) << n;
    EXPECT_EQ(simulated(milan, GetParam().what, n), first) << n;
  }
}

TEST_P(each_workload, does_each_piece_of_work_once_on_threads) {
  real_place place(100, real_place::measure_turns());
  small_scheduler<real_place> s(place, 2);
  program<real_place> tasks(s, GetParam().what, 64);
  EXPECT_GT(place.run(
                2, tasks.runs(), [&s](unsigned i) { s.loop(s.machine_at(i)); }, [&s] { s.parking.stop(); }),
            0);
  EXPECT_TRUE(tasks.complete());
}

INSTANTIATE_TEST_SUITE_P(simulate, each_workload, testing::ValuesIn(workloads),
                         [](const auto& of) { return std::string(of.param.name); });

struct dozing {
  std::uint64_t dozes = 0;
  double calls = 0;  // percent of the time
};

template <class Run>
dozing dozing_beside(unsigned n, Run&& run) {
  world w(milan, n);
  virtual_place place(ns(microsecond));
  small_scheduler<virtual_place> s(place, n);
  run(s, place);
  dozing d;
  for (unsigned i = 0; i != n; ++i) d.dozes += s.machine_at(i).parker.dozes;
  d.calls = 100 * w.shares()[static_cast<std::size_t>(spent::calls)];
  return d;
}

// Without the doze the second machine sleeps, and is woken, again and again.
TEST(simulate, a_machine_dozes_beside_a_pair_that_wakes_each_other) {
  const dozing d = dozing_beside(2, [](auto& s, virtual_place& place) {
    program<virtual_place> tasks(s, workload::ping_pong, 2048);
    place.run(2, tasks.runs(), [&s](unsigned i) { s.loop(s.machine_at(i)); });
    EXPECT_TRUE(tasks.complete());
  });
  EXPECT_GT(d.dozes, 8U);
  EXPECT_LT(d.calls, 1);
}

TEST(simulate, a_machine_dozes_beside_forks_that_are_alone) {
  const dozing d = dozing_beside(2, [](auto& s, virtual_place& place) {
    const real_row row(s, "forks", 50'000, ns(50));
    place.run(2, std::numeric_limits<std::uint64_t>::max(), [&s](unsigned i) { s.loop(s.machine_at(i)); });
    EXPECT_TRUE(world::here().stopped());
  });
  EXPECT_GT(d.dozes, 8U);
  EXPECT_LT(d.calls, 1);
}

// How long machines look, and when they doze, are the shipped scheduler's figures.
TEST(simulate, decides_by_the_constants_that_ship) {
  using simulated = small_scheduler<virtual_place>;
  using shipped = detail::core;
  EXPECT_EQ(simulated::looks, shipped::looks);
  EXPECT_EQ(simulated::look_pauses, shipped::look_pauses);
  EXPECT_EQ(simulated::steal_rounds, shipped::steal_rounds);
  EXPECT_EQ(simulated::watch_pauses, shipped::watch_pauses);
  EXPECT_EQ(simulated::fork_pauses, shipped::fork_pauses);
  EXPECT_EQ(simulated::unwatched_forks, shipped::unwatched_forks);
  EXPECT_EQ(simulated::uncounted_pace, shipped::uncounted_pace);
  EXPECT_EQ(simulated::most_counted, shipped::most_counted);
  EXPECT_EQ(simulated::chain_pace, shipped::chain_pace);
  EXPECT_EQ(simulated::poll_pace, shipped::poll_pace);
  EXPECT_EQ(simulated::global_period, shipped::global_period);
  for (const unsigned n : {2U, 16U, 17U}) {
    world w(milan, n);
    virtual_place place(ns(microsecond));
    EXPECT_EQ(simulated(place, n).watches_forks(), n <= detail::scheduler_fences::most_cpus);
  }
}

TEST(simulate, processors_that_share_nothing_scale) {
  const double one = simulated(milan, workload::alone, 1, 512).per_second;
  for (const unsigned n : {2U, 16U, 64U}) {
    EXPECT_NEAR(simulated(milan, workload::alone, n, 512).per_second, n * one, 0.02 * n * one) << n;
  }
}

TEST(simulate, a_program_that_loses_a_task_is_found) {
  world w(milan, 2);
  virtual_place place(ns(microsecond));
  small_scheduler<virtual_place> s(place, 2);
  program<virtual_place> tasks(s, workload::yield, 64);
  EXPECT_FALSE(tasks.complete()) << "nothing has run";
  place.run(2, tasks.runs(), [&s](unsigned i) { s.loop(s.machine_at(i)); });
  ASSERT_TRUE(tasks.complete());
  ++s.tasks[1].worked;
  EXPECT_FALSE(tasks.complete()) << "a piece of work was done twice";
}

}  // namespace
}  // namespace runq::simulate
