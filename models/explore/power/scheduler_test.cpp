// SPDX-License-Identifier: MIT
// Tests of the scheduler, as its users would write them; --mutant=NAME chooses the mutant of its headers that runs
// (sweep/chosen_mutant.cpp).
//
// In most of them a task waits and keeps its thread until another one has run. So a machine that sleeps beside a
// runnable task is a deadlock. Where tasks wait by co_await alone, the machine that has forgotten to wake another one
// runs the task itself a moment later, and no test can tell.
#include <chrono>
#include <optional>
#include <thread>

#include <gtest/gtest.h>
#include <pthread.h>
#include <semaphore.h>

#include "runq/runq.hpp"

namespace {

/// Where so many tasks meet, each on a thread of its own.
class meeting {
 public:
  explicit meeting(unsigned n) { pthread_barrier_init(&all_, nullptr, n); }
  meeting(const meeting&) = delete;
  meeting& operator=(const meeting&) = delete;
  ~meeting() { pthread_barrier_destroy(&all_); }
  void arrive() { pthread_barrier_wait(&all_); }

 private:
  pthread_barrier_t all_;
};

/// A task that waits for it keeps its thread.
class signal {
 public:
  signal() { sem_init(&count_, 0, 0); }
  signal(const signal&) = delete;
  signal& operator=(const signal&) = delete;
  ~signal() { sem_destroy(&count_); }
  void give() { sem_post(&count_); }
  void wait() { sem_wait(&count_); }

 private:
  sem_t count_;
};

runq::task<> come_to(meeting& place, runq::wait_group& left) {
  place.arrive();
  left.done();
  co_return;
}

/// The calling task and `others` more run at once.
runq::task<> meet(unsigned others) {
  meeting place(others + 1);
  runq::wait_group left;
  left.add(others);
  for (unsigned k = 0; k != others; ++k) runq::go([&] { return come_to(place, left); });
  place.arrive();
  co_await left.wait();
}

runq::task<> child_of(meeting& place) {
  place.arrive();
  co_return;
}
runq::task<> fork_and_meet() {
  meeting place(2);
  co_await runq::fork(child_of(place));
  place.arrive();
  co_await runq::join();
}

/// Two tasks that wake each other in turn.
runq::task<> short_chain() {
  runq::channel<int> there(0);
  runq::wait_group left;
  left.add(1);
  runq::go([&]() -> runq::task<> {
    while (co_await there.receive()) {
    }
    left.done();
  });
  for (int i = 0; i != 40; ++i) co_await there.send(i);
  there.close();
  co_await left.wait();
}

void run_with(runq::options options, auto main) { runq::scheduler(options).run(main); }

TEST(scheduler, two_tasks_run_at_once) {
  run_with({.procs = 2}, []() -> runq::task<> {
    for (int i = 0; i != 2; ++i) co_await meet(1);
  });
}

TEST(scheduler, three_tasks_run_at_once) {
  run_with({.procs = 3}, []() -> runq::task<> {
    for (int i = 0; i != 2; ++i) co_await meet(2);
  });
}

TEST(scheduler, a_child_runs_beside_its_parent) {
  run_with({.procs = 2, .forks = runq::fork_policy::child}, []() -> runq::task<> {
    for (int i = 0; i != 3; ++i) co_await fork_and_meet();
  });
}

TEST(scheduler, a_parent_goes_on_beside_its_child) {
  run_with({.procs = 2}, []() -> runq::task<> {
    for (int i = 0; i != 3; ++i) co_await fork_and_meet();
  });
}

TEST(scheduler, a_task_runs_at_once_after_a_chain) {
  run_with({.procs = 2}, []() -> runq::task<> {
    for (int i = 0; i != 3; ++i) {
      co_await short_chain();
      co_await meet(1);
    }
  });
}

TEST(scheduler, a_child_runs_beside_its_parent_after_a_chain) {
  run_with({.procs = 2, .forks = runq::fork_policy::child}, []() -> runq::task<> {
    for (int i = 0; i != 3; ++i) {
      co_await short_chain();
      co_await fork_and_meet();
    }
  });
}

TEST(scheduler, a_thread_outside_starts_a_task_beside_one_that_keeps_its_thread) {
  run_with({.procs = 2}, []() -> runq::task<> {
    for (int i = 0; i != 2; ++i) {
      meeting place(2);
      runq::wait_group left;
      left.add(1);
      std::thread outside([&, here = runq::this_task::handle()] { here.go([&] { return come_to(place, left); }); });
      place.arrive();
      co_await left.wait();
      outside.join();
    }
  });
}

// One task keeps a machine from looking for work, until two others have yielded for so long that it is the global
// queue's turn. From then on one of these keeps its thread until the other one has had a turn, too.
TEST(scheduler, a_task_that_yields_goes_on_beside_one_that_waits_for_it) {
  run_with({.procs = 2}, []() -> runq::task<> {
    constexpr int turns = 40;
    constexpr int before = 28;
    signal late;
    signal turn;
    runq::wait_group left;
    left.add(3);
    runq::go([&] {
      late.wait();
      left.done();
    });
    runq::go([&]() -> runq::task<> {
      for (int i = 0; i != turns; ++i) {
        turn.give();
        co_await runq::yield();
      }
      left.done();
    });
    runq::go([&]() -> runq::task<> {
      for (int i = 0; i != turns; ++i) {
        if (i == before) late.give();
        if (i > before) turn.wait();
        co_await runq::yield();
      }
      left.done();
    });
    co_await left.wait();
  });
}

TEST(scheduler, it_ends_after_a_long_rest) {
  runq::scheduler s({.procs = 2});
  const auto attached = s.attach();
  for (int i = 0; i != 2; ++i) {
    attached.go([] {});
    s.wait();
    std::this_thread::sleep_for(std::chrono::seconds(1));
  }
}

TEST(scheduler, a_channel_with_room_wakes_who_waits_for_values) {
  run_with({.procs = 2}, []() -> runq::task<> {
    runq::channel<int> values(2);
    runq::go([&]() -> runq::task<> {
      for (int i = 0; i != 3; ++i) co_await values.send(i);
    });
    for (int i = 0; i != 3; ++i) EXPECT_EQ(co_await values.receive(), i);
  });
}

TEST(scheduler, a_mutex_is_destroyed_after_a_task_that_ended_with_it) {
  run_with({.procs = 2}, []() -> runq::task<> {
    std::optional<runq::mutex> mutex(std::in_place);
    runq::wait_group left;
    left.add(1);
    co_await mutex->lock();
    runq::go([&]() -> runq::task<> {
      co_await mutex->lock();
      left.done();
    });
    co_await runq::yield();
    mutex->unlock();
    co_await left.wait();
    co_await runq::yield();
    mutex.reset();
  });
}

}  // namespace
