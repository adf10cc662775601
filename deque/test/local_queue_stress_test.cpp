// SPDX-License-Identifier: MIT
// local_queue on real threads. Row Q17: every task is taken exactly once, through runnext, rings, overflow and the
// global queue. Row Q16: Go's test of emptiness, with two threads and with three.
// The tests do not show the interleavings that this machine never produces. The models check those.
// RUNQ_STRESS=n makes every run n times as long.
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <runq/local_queue.hpp>
#include <runq/split_ring.hpp>

#include "support.hpp"

namespace {

using runq::steal_runnext;
using runq_test::takers;

struct task : runq_test::parcel {
  runq::inject_link<task> link{};
};

// Every processor spawns its own tasks, runs the tasks that it finds, and steals from the others. So that each run
// tests the overflow and the thieves, whatever the pace: processor 0 overfills its queue before the others begin, and
// then waits until one of them has stolen.
template <class Local>
void processors_share_their_work(std::size_t processors, std::size_t tasks_each) {
  using local = Local;
  constexpr std::size_t Capacity = local::capacity();
  const std::size_t total = processors * tasks_each;
  std::vector<task> tasks(total);
  typename local::global_queue global;
  std::deque<local> queues;
  std::vector<typename local::owner> owners;
  for (std::size_t i = 0; i != processors; ++i) owners.push_back(queues.emplace_back(global).make_owner());
  takers log(processors);
  std::atomic<std::ptrdiff_t> left{static_cast<std::ptrdiff_t>(total)};
  std::atomic<std::size_t> overflowed{0};
  std::atomic<std::size_t> stolen{0};
  std::atomic<bool> overfilled{false};

  runq_test::in_threads(processors, [&](std::size_t self) {
    auto& mine = owners[self];
    runq_test::patience patience;
    runq_test::dice dice(self);
    auto next = static_cast<std::uint32_t>(self * tasks_each);
    const std::size_t end = (self + 1) * tasks_each;
    std::size_t own_overflowed = 0;
    if (self == 0) {
      for (std::size_t n = 2 * Capacity; n != 0; --n, ++next) {
        tasks[next].pack(next);
        own_overflowed += mine.push(&tasks[next]);
      }
      overfilled = true;
    }
    while (!overfilled || (self == 0 && stolen.load(std::memory_order::relaxed) == 0)) {
      if (patience.spent()) return;
    }
    patience.success();
    const auto run = [&](task* t) {
      log.open(self, t);
      left.fetch_sub(1, std::memory_order::relaxed);
      patience.success();
    };
    while (left.load(std::memory_order::relaxed) > 0) {
      for (std::size_t n = dice.roll(2 * Capacity); n != 0 && next != end; --n, ++next) {
        tasks[next].pack(next);
        own_overflowed += dice.roll(3) == 0 ? mine.push(&tasks[next]) : mine.push_next(&tasks[next]);
      }
      if (dice.roll(8) == 0) {
        typename local::chain batch;
        for (std::size_t n = dice.roll(Capacity); n != 0 && next != end; --n, ++next) {
          tasks[next].pack(next);
          batch.push_back(&tasks[next]);
        }
        own_overflowed += mine.push_batch(std::move(batch));
      }
      for (std::size_t n = dice.roll(Capacity); n != 0; --n) {
        const auto own = mine.pop();
        if (!own) break;
        run(own.task);
      }
      if (task* const t = dice.roll(4) == 0 ? mine.take_from(global, processors) : nullptr) run(t);
      if (dice.roll(64) == 0) global.splice(mine.drain());
      const std::size_t victim = (self + 1 + dice.roll(processors - 1)) % processors;
      const auto next_too = dice.roll(4) == 0 ? steal_runnext::yes : steal_runnext::no;
      const auto loot = mine.steal_from(queues[victim].make_thief(), next_too, Capacity, 4);
      if (loot) {
        stolen.fetch_add(loot.count, std::memory_order::relaxed);  // orders nothing for ThreadSanitizer
        run(loot.value);
      } else if (patience.spent()) {
        return;
      }
    }
    overflowed += own_overflowed;
  });
  log.expect_each_once(total);
  EXPECT_EQ(global.size_approx(), 0U);
  EXPECT_NE(overflowed.load(), 0U) << "this run has not tested the overflow";
  EXPECT_NE(stolen.load(), 0U) << "this run has not tested the thieves";
}

TEST(local_queue_stress, Q17_four_processors_run_each_task_once) {
  processors_share_their_work<runq::local_queue<&task::link>>(4, runq_test::stress_size(300'000));
}

TEST(local_queue_stress, Q17_four_processors_with_tiny_queues_run_each_task_once) {
  processors_share_their_work<runq::basic_local_queue<&task::link, 4>>(4, runq_test::stress_size(60'000));
}

// With a split_ring and both pairs of fences.
template <std::size_t Capacity, std::size_t Run, class Policy>
using with_split_ring =
    runq::basic_local_queue<&task::link, Capacity, std::uint32_t, Policy,
                            runq::basic_split_ring<task*, Capacity, runq::split_ring_options{.run = Run}, Policy>>;

TEST(local_queue_stress, four_processors_with_split_rings_run_each_task_once) {
  processors_share_their_work<with_split_ring<256, 16, runq::membarrier_atomics>>(4, runq_test::stress_size(300'000));
  processors_share_their_work<with_split_ring<256, 16, runq::std_atomics>>(4, runq_test::stress_size(300'000));
}

TEST(local_queue_stress, four_processors_with_tiny_split_rings_run_each_task_once) {
  processors_share_their_work<with_split_ring<4, 2, runq::membarrier_atomics>>(4, runq_test::stress_size(60'000));
  processors_share_their_work<with_split_ring<4, 2, runq::std_atomics>>(4, runq_test::stress_size(60'000));
}

// Go's test: the queue always holds one task, and sometimes two. An observer must never see it empty.
TEST(local_queue_stress, Q16_a_queue_that_always_holds_a_task_never_looks_empty) {
  for (const bool next_1 : {false, true}) {
    for (const bool next_2 : {false, true}) {
      const std::size_t rounds = runq_test::stress_size(300'000);
      runq::inject<&task::link> global;
      runq::local_queue<&task::link> queue(global);
      auto owner = queue.make_owner();
      task tasks[2];
      std::atomic<bool> stop{false};
      owner.push(&tasks[0]);
      owner.rebind();
      runq_test::in_threads(2, [&](std::size_t self) {
        if (self == 0) {
          task* in_hand = &tasks[1];
          for (std::size_t i = 0; i != rounds; ++i) {
            (i % 2 == 0 ? next_1 : next_2) ? owner.push_next(in_hand) : owner.push(in_hand);
            in_hand = owner.pop().task;
            ASSERT_NE(in_hand, nullptr);
          }
          stop.store(true, std::memory_order::release);
        } else {
          const auto observer = queue.make_thief();
          for (std::size_t looks = 1; !stop.load(std::memory_order::acquire); ++looks) {
            ASSERT_TRUE(observer.has_work_approx()) << "next: " << next_1 << ", " << next_2;
            if (looks % 64 == 0) std::this_thread::yield();
          }
        }
      });
      owner.rebind();
      while (owner.pop()) {
      }
    }
  }
}

// With a thief as a third thread, has_work_approx() promises less: it is never false while a task is published. A task
// is published while three things hold: the push that made it runnable has returned, no later push_next() is moving it,
// and no thread has begun to take it.
//
// `published` is increased after a publication has ended, and `claimed` before a claim begins. A move out of runnext
// counts as a claim. All threads access both counters by read-modify-writes with acquire and release. So if the
// observer's look saw the effect of a claim, its later read of `claimed` counts that claim.
//
// Returns how many looks happened while a task was surely published. The other looks prove nothing.
std::uint64_t look_while_a_third_party_steals(std::size_t rounds) {
  runq::inject<&task::link> global;
  runq::basic_local_queue<&task::link, 8> queue(global);
  runq::basic_local_queue<&task::link, 8> thiefs_queue(global);
  auto owner = queue.make_owner();
  auto thiefs = thiefs_queue.make_owner();
  std::vector<task> tasks(rounds);
  takers log(2);
  std::atomic<std::uint64_t> published{0};
  std::atomic<std::uint64_t> claimed{0};
  std::atomic<bool> stop{false};
  std::atomic<std::uint64_t> looks{0};
  std::uint64_t telling_looks = 0;

  const auto count = [](std::atomic<std::uint64_t>& counter, std::uint64_t by) {
    return counter.fetch_add(by, std::memory_order::acq_rel);
  };
  const auto own = [&] {
    runq_test::dice dice(1);
    for (std::uint32_t next = 0; next != rounds; ++next) {
      tasks[next].pack(next);
      // Keeps the ring short of its eight slots, so that it never overflows.
      while (owner.size_approx() >= 4) {
        count(claimed, 1);
        if (const auto own_task = owner.pop()) {
          log.open(0, own_task.task);
        } else {
          count(published, 1);  // found nothing, so this takes the claim back
        }
      }
      if (dice.roll(4) == 0) {
        owner.push(&tasks[next]);
        count(published, 1);
      } else {
        count(claimed, 1);
        owner.push_next(&tasks[next]);
        count(published, 2);  // this task and the displaced one; if none was displaced, this takes the claim back
      }
      if (dice.roll(256) == 0) std::this_thread::yield();
      if (next % 1024 == 0) {
        // Waits until the observer has looked again, in case it does not get a CPU.
        runq_test::patience patience;
        for (const std::uint64_t before = looks.load(); looks.load() == before && !patience.spent();) continue;
      }
    }
    stop.store(true, std::memory_order::release);
    // These claims are counted, too, because the observer may be in the middle of its last look.
    for (;;) {
      count(claimed, 1);
      const auto own_task = owner.pop();
      if (!own_task) break;
      log.open(0, own_task.task);
    }
  };
  const auto steal = [&] {
    runq_test::dice dice(2);
    const auto victim = queue.make_thief();
    for (;;) {
      const bool last_look = stop.load(std::memory_order::acquire);
      count(claimed, 2);  // as many tasks as the steal below may take; the claims of the others are taken back
      const auto loot = thiefs.steal_from(victim, steal_runnext::yes, 2, 0);
      if (loot.count != 2) count(published, 2 - loot.count);
      if (loot) {
        log.open(1, loot.value);
        while (const auto more = thiefs.pop()) log.open(1, more.task);
        // If all threads share one CPU, this lets the observer have it before everything is stolen.
        if (dice.roll(64) == 0) std::this_thread::yield();
      } else {
        if (last_look && !victim.has_work_approx()) return;
        std::this_thread::yield();
      }
    }
  };
  const auto observe = [&] {
    const auto observer = queue.make_thief();
    while (!stop.load(std::memory_order::acquire)) {
      const std::uint64_t published_before = count(published, 0);
      const bool seen = observer.has_work_approx();
      const std::uint64_t claimed_after = count(claimed, 0);
      if (published_before > claimed_after) {
        ++telling_looks;
        EXPECT_TRUE(seen) << published_before - claimed_after << " published tasks were missed";
      }
      if (looks.fetch_add(1, std::memory_order::relaxed) % 64 == 0) std::this_thread::yield();
    }
  };
  runq_test::in_threads(3, [&](std::size_t i) { i == 0 ? own() : i == 1 ? steal() : observe(); });
  log.expect_each_once(rounds);
  return telling_looks;
}

TEST(local_queue_stress, Q16_a_queue_never_looks_empty_while_a_task_is_published_though_a_third_party_steals) {
  std::uint64_t telling_looks = 0;
  for (int again = 0; again != 20 && telling_looks < 1000; ++again) {
    telling_looks += look_while_a_third_party_steals(runq_test::stress_size(300'000));
  }
  RecordProperty("telling_looks", std::to_string(telling_looks));
  EXPECT_NE(telling_looks, 0U) << "the observer never looked while a task was published";
}

}  // namespace
