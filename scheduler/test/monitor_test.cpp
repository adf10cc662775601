// SPDX-License-Identifier: MIT
// The monitor: rows S4 to S7, S9 and S10 of the scheduler's rules. These tests wait for things that happen only if the
// monitor does its part. If it does not, they fail after `patience`.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <runq/detail/monitor_rhythm.hpp>
#include <runq/protocol/monitor.hpp>
#include <unistd.h>

#include "repeats.hpp"
#include "resting.hpp"
#include "support.hpp"

namespace {

using namespace std::chrono_literals;
using runq::scheduler;
using runq::task;
using sched_test::end_slice_when_repeated;
using sched_test::hold_until;
using sched_test::patience;
using sched_test::wait_until;

class monitor : public sched_test::alarmed {};

// ---- S4: when there is nothing to do --------------------------------------------------------------------------------

TEST_F(monitor, S4_sleeps_longer_the_less_there_is_to_do) {
  runq::detail::monitor_rhythm rhythm;
  const auto sleep_in_us = [&](bool did_something) {
    const auto us = rhythm.next() / 1000;
    rhythm.looked(did_something);
    return us;
  };
  for (int again = 0; again != 2; ++again) {
    for (int i = 0; i != 51; ++i) EXPECT_EQ(sleep_in_us(false), 20) << "round " << i;
    for (const int us : {40, 80, 160, 320, 640, 1280, 2560, 5120}) {
      EXPECT_EQ(sleep_in_us(false), us);
      EXPECT_FALSE(rhythm.slowest());
    }
    for (int i = 0; i != 10; ++i) {
      EXPECT_EQ(sleep_in_us(i == 9), 10'000);
      EXPECT_TRUE(rhythm.slowest());
    }
  }
}

// All tasks wait for a pipe. So no machine spins, the monitor does not nap, and no thread wakes.
TEST_F(monitor, S4_no_thread_of_an_idle_scheduler_wakes) {
  if (!sched_test::has_only_its_own_threads) GTEST_SKIP() << "threads of a sanitizer or an emulator";
  scheduler s({.procs = 4});
  s.run([&]() -> task<> {
    auto ends = runq::net::pipe();
    std::jthread outside([fd = ends.second.fd()] {
      EXPECT_TRUE(sched_test::other_threads_come_to_rest());
      EXPECT_EQ(write(fd, "x", 1), 1);
    });
    std::byte got{};
    (void)co_await ends.first.read(std::span(&got, 1));
    co_await runq::blocking([&] { outside.join(); });
  });
}

// ---- what the monitor does when the machines do not: poll, fire timers ----------------------------------------------

struct no_parker {
  static bool park_for(std::int64_t) { return false; }
  static void park() { ADD_FAILURE() << "a deep sleep"; }
  static void unpark() {}
};

// The fakes around the monitor for one round, which takes place at time `t`.
struct one_round {
  using instant = std::int64_t;
  static void begins_round() {}
  static bool all_processors_idle() { return false; }
  static bool worth_a_deep_sleep() { return true; }
  [[nodiscard]] instant clock() const { return t; }
  [[nodiscard]] bool nobody_polls() const { return unwatched; }
  [[nodiscard]] instant last_poll() const { return polled_at; }
  void poll() { ++polls; }
  [[nodiscard]] instant earliest_timer() const { return timer; }
  void fire_timers(instant now) {
    EXPECT_EQ(now, t);
    ++fires;
  }
  bool look_at_processors(instant now) {
    EXPECT_EQ(now, t);
    loop.stop();
    return false;
  }

  const instant t = 1'000'000'000;
  bool unwatched = false;
  instant polled_at = 0;
  instant timer = runq::detail::never;
  int polls = 0;
  int fires = 0;
  struct question {
    void timers_fired() { asked_after_fires = round.fires; }
    one_round& round;
    int asked_after_fires = 0;
  } deadlocks{*this};
  runq::monitor_loop<one_round, no_parker, runq::detail::monitor_rhythm> loop{*this};
};

TEST_F(monitor, S10_it_polls_only_when_no_machine_does_and_nobody_has_for_10_ms) {
  const auto polls = [](bool unwatched, std::int64_t ago) {
    one_round round;
    round.unwatched = unwatched;
    round.polled_at = round.t - ago;
    round.loop.run();
    return round.polls;
  };
  EXPECT_EQ(polls(true, 10'000'001), 1);
  EXPECT_EQ(polls(true, 10'000'000), 0);
  EXPECT_EQ(polls(true, -1), 0);
  EXPECT_EQ(polls(false, 1'000'000'000), 0);
}

TEST_F(monitor, X5_it_fires_timers_that_are_late_by_more_than_1_ms) {
  const auto fires = [](std::int64_t late) {
    one_round round;
    round.timer = round.t - late;
    round.loop.run();
    EXPECT_EQ(round.deadlocks.asked_after_fires, round.fires) << "a machine may rely on its question about a deadlock";
    return round.fires;
  };
  EXPECT_EQ(fires(1'000'001), 1);
  EXPECT_EQ(fires(1'000'000), 0);
  EXPECT_EQ(fires(0), 0);
  EXPECT_EQ(fires(-1), 0);
}

/// Takes naps of no time.
struct parker_of_test {
  parker_of_test(int& unparks_of_test, int& parks_of_test) : unparks(unparks_of_test), parks(parks_of_test) {}
  [[nodiscard]] static bool park_for(std::int64_t /*ns*/) { return false; }
  void park() { ++parks; }
  void unpark() { ++unparks; }
  int& unparks;
  int& parks;
};

/// Says that the second nap and those behind it are the longest, and notes what the monitor says of each round.
struct rhythm_of_test {
  std::int64_t next() { return ++naps; }
  [[nodiscard]] bool slowest() const { return naps > 1; }
  void looked(bool something) {
    notes.push_back(something);
    if (something) naps = 0;
  }
  int naps = 0;
  static inline std::vector<bool> notes;
};

/// Three rounds of a monitor, in which nothing is to be done but what the test says.
struct rounds_of_test {
  using instant = std::int64_t;
  void begins_round() { ++round; }
  [[nodiscard]] bool all_processors_idle() const {
    EXPECT_TRUE(idle || !loop.sleeps()) << "it is about to sleep deeply";
    return idle;
  }
  [[nodiscard]] bool worth_a_deep_sleep() const { return worth; }
  [[nodiscard]] instant clock() {
    if (round == hurried_in_round) loop.hurry();
    return 1;
  }
  [[nodiscard]] static bool nobody_polls() { return false; }
  [[nodiscard]] static instant last_poll() { return 0; }
  static void poll() {}
  [[nodiscard]] static instant earliest_timer() { return runq::detail::never; }
  static void fire_timers(instant) {}
  struct no_question {
    static void timers_fired() {}
  };
  no_question deadlocks;
  bool look_at_processors(instant) {
    if (round == 3) loop.stop();
    return round == acts_in_round;
  }
  std::vector<bool> run() {
    rhythm_of_test::notes.clear();
    loop.run();
    return rhythm_of_test::notes;
  }
  int round = 0;
  int acts_in_round = 0;
  int hurried_in_round = 0;
  bool idle = false;
  bool worth = false;
  int unparks = 0;
  int parks = 0;
  runq::monitor_loop<rounds_of_test, parker_of_test, rhythm_of_test> loop{*this, unparks, parks};
};

TEST_F(monitor, S4_its_naps_are_short_again_after_a_round_in_which_it_acted) {
  rounds_of_test nothing;
  EXPECT_THAT(nothing.run(), testing::ElementsAre(false, false, false));
  rounds_of_test acts;
  acts.acts_in_round = 2;
  EXPECT_THAT(acts.run(), testing::ElementsAre(false, true, false));
}

TEST_F(monitor, S5_a_machine_that_hurries_it_wakes_it_from_its_longest_nap_only) {
  for (const int round : {1, 2, 3}) {
    rounds_of_test hurried;
    hurried.hurried_in_round = round;
    EXPECT_THAT(hurried.run(), testing::ElementsAre(false, round == 2, round == 3));
    EXPECT_EQ(hurried.unparks, round == 1 ? 1 : 2) << "one by stop()";
  }
}

TEST_F(monitor, S4_it_sleeps_deeply_only_if_all_is_idle_and_it_is_worth_that_and_its_naps_are_at_their_longest) {
  for (const bool idle : {false, true}) {
    for (const bool worth : {false, true}) {
      rounds_of_test rounds;
      rounds.idle = idle;
      rounds.worth = worth;
      (void)rounds.run();
      EXPECT_EQ(rounds.parks, idle && worth ? 2 : 0) << "in rounds 2 and 3";
    }
  }
}

// ---- S5: processors of machines in blocking calls -------------------------------------------------------------------

TEST_F(monitor, S5_a_processor_that_nobody_needs_is_taken_at_last) {
  scheduler s({.procs = 2});
  std::atomic<bool> taken{false};
  std::jthread outside([&] {
    EXPECT_TRUE(wait_until([&] { return s.stats().handed_off == 1; }));
    taken = true;
  });
  s.run([&]() -> task<> {
    EXPECT_TRUE(wait_until([&] { return s.stats().idle_procs == 1; }));
    co_await runq::blocking([&] { EXPECT_TRUE(wait_until([&] { return taken.load(); })); });
  });
  EXPECT_TRUE(taken);
}

TEST_F(monitor, S5_a_processor_that_nobody_needs_becomes_idle_while_another_one_is_busy) {
  scheduler s({.procs = 3});
  std::atomic<bool> over{false};
  s.run([&]() -> task<> {
    std::atomic<bool> calls{false};
    auto call = runq::spawn([&]() -> task<> {
      co_await runq::blocking([&] {
        calls = true;
        hold_until([&] { return over.load(); }, "the end of the call");
      });
    });
    hold_until([&] { return calls.load(); }, "the call");
    hold_until([&] { return s.stats().handed_off == 1 && s.stats().idle_procs == 2; }, "two idle processors");
    over = true;
    co_await call;
  });
  EXPECT_TRUE(over);
}

TEST_F(monitor, S5_the_only_processor_is_taken_at_once) {
  // The processor is needed although no task can run: some machine must look for descriptors and timers.
  scheduler s({.procs = 1});
  std::atomic<bool> taken{false};
  std::jthread outside([&] {
    EXPECT_TRUE(wait_until([&] { return s.stats().handed_off == 1; }));
    taken = true;
  });
  s.run([&]() -> task<> { co_await runq::blocking([&] { EXPECT_TRUE(wait_until([&] { return taken.load(); })); }); });
  EXPECT_TRUE(taken);
}

// ---- S6, S7: tasks that run too long --------------------------------------------------------------------------------

task<int> finished_child(int n) { co_return n; }

/// The task beside a hog.
class other_task {
 public:
  void run() { ran_ = true; }
  [[nodiscard]] bool has_run() const { return ran_; }
  /// The same, for the hog, which asks before each of its awaits.
  explicit operator bool() const {
    end_slice_when_repeated();
    return has_run();
  }

 private:
  bool ran_ = false;
};

// Awaits only what is ready at once, until `enough()`. Returns false if that takes longer than `patience`.
template <class Enough>
task<bool> hog(Enough enough) {
  const auto end = runq::clock::now() + patience;
  while (!enough()) {
    for (int i = 0; i != 100; ++i) (void)co_await finished_child(i);
    if (runq::clock::now() > end) co_return false;
  }
  co_return true;
}

TEST_F(monitor, S6_a_task_that_never_waits_gives_way_to_the_others) {
  scheduler s({.procs = 1});
  s.run([]() -> task<> {
    std::atomic<int> ran{0};
    for (int i = 0; i != 3; ++i) runq::go([&] { ++ran; });
    const bool all_ran = co_await hog([&] { return ran == 3; });
    EXPECT_TRUE(all_ran);
  });
  EXPECT_GE(s.stats().preempted, 1U);
  EXPECT_EQ(s.stats().yields, 0U);
}

// `hog` awaits, over and over, something that is always ready, and ends when another task has run. So it must be
// preempted. In the second run main ends while the hog is preempted, so its frame is destroyed there.
template <class Hog>
void expect_to_give_way(Hog hog) {
  scheduler s({.procs = 1});
  other_task other;
  s.run([&]() -> task<> {
    runq::go([&] { other.run(); });
    co_await hog(other);
  });
  EXPECT_TRUE(other.has_run());
  const std::uint64_t before = s.stats().preempted;
  EXPECT_GE(before, 1U);
  const other_task never_runs;
  s.run([&]() -> task<> {
    runq::go([&] { return hog(never_runs); });
    co_await runq::yield();
  });
  EXPECT_GT(s.stats().preempted, before);
}

TEST_F(monitor, S6_a_task_that_uses_a_channel_that_is_always_ready_gives_way) {
  expect_to_give_way([](const other_task& other_ran) -> task<> {
    runq::channel<int> c(1);
    while (!other_ran) {
      co_await c.send(1);
      (void)co_await c.receive();
    }
  });
}

TEST_F(monitor, S6_a_task_that_selects_with_otherwise_gives_way) {
  expect_to_give_way([](const other_task& other_ran) -> task<> {
    runq::channel<int> never;
    std::optional<int> n;
    while (!other_ran) (void)co_await runq::select(runq::on_receive(never, n), runq::otherwise());
  });
}

TEST_F(monitor, S6_a_task_that_selects_nothing_but_otherwise_gives_way) {
  expect_to_give_way([](const other_task& other_ran) -> task<> {
    while (!other_ran) (void)co_await runq::select(runq::otherwise());
  });
}

TEST_F(monitor, S6_a_task_that_selects_what_is_ready_gives_way) {
  expect_to_give_way([](const other_task& other_ran) -> task<> {
    runq::channel<int> closed;
    closed.close();
    std::optional<int> n;
    while (!other_ran) (void)co_await runq::select(runq::on_receive(closed, n));
  });
}

TEST_F(monitor, S6_a_task_that_selects_after_a_stop_gives_way) {
  expect_to_give_way([](const other_task& other_ran) -> task<> {
    std::stop_source stop;
    stop.request_stop();
    runq::channel<int> never;
    std::optional<int> n;
    while (!other_ran) (void)co_await runq::select(stop.get_token(), runq::on_receive(never, n));
  });
}

TEST_F(monitor, S6_a_task_that_receives_from_a_closed_channel_gives_way) {
  expect_to_give_way([](const other_task& other_ran) -> task<> {
    runq::channel<int> closed;
    closed.close();
    while (!other_ran) (void)co_await closed.receive();
  });
}

TEST_F(monitor, S6_a_task_that_sends_to_a_closed_channel_gives_way) {
  expect_to_give_way([](const other_task& other_ran) -> task<> {
    runq::channel<int> closed;
    closed.close();
    while (!other_ran) {
      try {
        co_await closed.send(1);
      } catch (const runq::misuse&) {
        continue;
      }
    }
  });
}

TEST_F(monitor, S6_a_task_that_locks_a_free_mutex_gives_way) {
  expect_to_give_way([](const other_task& other_ran) -> task<> {
    runq::mutex m;
    while (!other_ran) {
      co_await m.lock();
      m.unlock();
    }
  });
}

TEST_F(monitor, S6_a_task_that_locks_a_free_mutex_by_a_guard_gives_way) {
  expect_to_give_way([](const other_task& other_ran) -> task<> {
    runq::mutex m;
    while (!other_ran) const auto guard = co_await m.scoped_lock();
  });
}

TEST_F(monitor, S6_a_task_that_waits_for_a_group_that_is_done_gives_way) {
  expect_to_give_way([](const other_task& other_ran) -> task<> {
    runq::wait_group done;
    while (!other_ran) co_await done.wait();
  });
}

TEST_F(monitor, S6_a_task_that_waits_for_what_is_there_with_a_token_gives_way) {
  const std::stop_source source;
  const std::stop_token token = source.get_token();
  expect_to_give_way([token](const other_task& other_ran) -> task<> {
    runq::mutex m;
    while (!other_ran) {
      co_await m.lock(token);
      m.unlock();
    }
  });
  expect_to_give_way([token](const other_task& other_ran) -> task<> {
    runq::semaphore units(1);
    while (!other_ran) {
      co_await units.acquire(token);
      units.release();
    }
  });
  expect_to_give_way([token](const other_task& other_ran) -> task<> {
    runq::shared_mutex m;
    while (!other_ran) const auto guard = co_await m.scoped_lock_shared(token);
  });
  expect_to_give_way([token](const other_task& other_ran) -> task<> {
    runq::wait_group done;
    while (!other_ran) co_await done.wait(token);
  });
}

TEST_F(monitor, S6_a_task_that_joins_without_children_gives_way) {
  expect_to_give_way([](const other_task& other_ran) -> task<> {
    while (!other_ran) co_await runq::join();
  });
}

TEST_F(monitor, S6_a_task_that_calls_gives_way) {
  // No other task needs the processor, so the calls keep it most of the time.
  scheduler s({.procs = 1});
  s.run([&]() -> task<> {
    while (s.stats().preempted == 0) co_await runq::blocking([] {});
  });
}

TEST_F(monitor, S6_a_task_that_reads_nothing_gives_way) {
  expect_to_give_way([](const other_task& other_ran) -> task<> {
    auto ends = runq::net::pipe();
    while (!other_ran) (void)co_await ends.first.read({});
  });
}

TEST_F(monitor, S6_a_task_that_reads_from_a_closed_stream_gives_way) {
  expect_to_give_way([](const other_task& other_ran) -> task<> {
    auto ends = runq::net::pipe();
    ends.first.close();
    std::byte into{};
    while (!other_ran) {
      try {
        (void)co_await ends.first.read(std::span(&into, 1));
      } catch (const std::system_error&) {
        continue;
      }
    }
  });
}

TEST_F(monitor, S6_a_task_that_writes_to_itself_gives_way) {
  expect_to_give_way([](const other_task& other_ran) -> task<> {
    auto ends = runq::net::pipe();
    std::byte byte{};
    while (!other_ran) {
      co_await ends.second.write(std::span(&byte, 1));
      (void)co_await ends.first.read(std::span(&byte, 1));
    }
  });
}

TEST_F(monitor, S6_a_task_that_uses_a_ready_channel_with_a_token_gives_way) {
  expect_to_give_way([](const other_task& other_ran) -> task<> {
    runq::channel<int> c(1);
    const std::stop_source never;
    while (!other_ran) {
      co_await c.send(1, never.get_token());
      (void)co_await c.receive(never.get_token());
    }
  });
}

TEST_F(monitor, S6_a_task_that_gets_every_permit_at_once_gives_way) {
  expect_to_give_way([](const other_task& other_ran) -> task<> {
    runq::rate_limiter permits(1ns, runq::rate_limiter::max_time_to_fill / 1ns);
    while (!other_ran) co_await permits.acquire();
  });
}

TEST_F(monitor, S6_a_task_that_reads_what_is_in_its_buffer_gives_way) {
  expect_to_give_way([](const other_task& other_ran) -> task<> {
    auto ends = runq::net::pipe();
    runq::net::buffered_reader from(ends.first);
    while (!other_ran) (void)co_await from.read_exactly(0);
  });
}

TEST_F(monitor, S6_a_task_that_sleeps_for_no_time_gives_way) {
  // A sleep of no time goes behind all other tasks, so the task yields without being preempted.
  scheduler s({.procs = 1});
  s.run([]() -> task<> {
    bool other_ran = false;
    runq::go([&] { other_ran = true; });
    while (!other_ran) co_await runq::sleep_for(0ns);
  });
}

TEST_F(monitor, S6_two_hogs_share_a_processor) {
  scheduler s({.procs = 1});
  s.run([&]() -> task<> {
    std::atomic<int> turns{0};
    std::atomic<int> last{0};
    runq::wait_group done;
    done.add(2);
    for (int who = 1; who != 3; ++who) {
      runq::go([&, who]() -> task<> {
        const bool shared = co_await hog([&, who] {
          end_slice_when_repeated();
          if (last.exchange(who) != who) ++turns;
          return turns >= 6;
        });
        EXPECT_TRUE(shared);
        done.done();
      });
    }
    co_await done.wait();
  });
  EXPECT_GE(s.stats().preempted, 4U);
}

TEST_F(monitor, S7_a_preempted_task_goes_to_the_global_queue) {
  scheduler s({.procs = 1});
  s.run([&]() -> task<> {
    // Main does not await before both tasks have been started, so both are in the local queue when it is preempted.
    std::vector<std::string> log;
    std::size_t global = 0;
    runq::go([&] {
      log.push_back("other");
      global = s.stats().global_queue;
    });
    runq::go([&] { log.push_back("other"); });
    (void)co_await hog([&] { return s.stats().preempted != 0; });
    log.push_back("hog");
    EXPECT_EQ(log, (std::vector<std::string>{"other", "other", "hog"}));
    EXPECT_EQ(global, 1U);
  });
}

TEST_F(monitor, S7_a_preempted_task_goes_where_all_processors_look_and_not_behind_those_that_yield_here) {
  scheduler s({.procs = 1});
  s.run([&]() -> task<> {
    std::vector<std::string> log;
    runq::go([&]() -> task<> {
      co_await runq::yield();
      log.push_back("yields");
    });
    co_await runq::yield();  // to the other task, which yields behind this one
    (void)co_await hog([&] { return s.stats().preempted != 0; });
    log.push_back("hog");
    co_await runq::yield();
    EXPECT_EQ(log, (std::vector<std::string>{"hog", "yields"}));
  });
}

// A preempted task goes to the global queue, and its processor may first run tasks of its own queue. So an idle
// processor must be woken, which may run the preempted task.
TEST_F(monitor, S7_a_preempted_task_wakes_an_idle_processor) {
  scheduler s({.procs = 2});
  s.run([&]() -> task<> {
    runq::channel<int> ready(1);
    std::uint64_t parks = 0;
    std::uint64_t preempted = 0;
    hold_until(
        [&] {
          const auto seen = s.stats();
          parks = seen.parks;
          preempted = seen.preempted;
          return seen.machines == 2 && seen.idle_procs == 1 && seen.spinning == 0;
        },
        "the other machine is idle");
    while (s.stats().preempted == preempted) {
      co_await ready.send(1);
      (void)co_await ready.receive();
    }
    // One of the two machines runs this task. The other one has looked for work and sleeps again.
    hold_until([&] { return s.stats().parks > parks; }, "a machine was woken and went to sleep again");
  });
}

TEST_F(monitor, S7_a_lone_hog_goes_on_after_being_preempted) {
  scheduler s({.procs = 1});
  s.run([&]() -> task<> {
    const bool twice = co_await hog([&] { return s.stats().preempted >= 2; });
    EXPECT_TRUE(twice);
  });
}

// ---- S9, S10: descriptors and timers while all machines are busy ----------------------------------------------------

TEST_F(monitor, S10_polls_when_nobody_else_does) {
  // The only processor always has a task to run, so it never looks at the poller.
  scheduler s({.procs = 1});
  s.run([&]() -> task<> {
    auto ends = runq::net::pipe();
    std::atomic<int> bytes{0};
    runq::wait_group done;
    done.add(1);
    runq::go([&]() -> task<> {
      for (; bytes != 2; ++bytes) {
        std::byte got{};
        const std::size_t n = co_await ends.first.read(std::span(&got, 1));
        EXPECT_EQ(n, 1U);
      }
      done.done();
    });
    // The first byte is written before any thread has polled, the second one just after the monitor has.
    for (int byte = 0; byte != 2; ++byte) {
      for (int turn = 0; turn != 100; ++turn) co_await runq::yield();
      EXPECT_EQ(write(ends.second.fd(), "x", 1), 1);
      const auto end = runq::clock::now() + patience;
      while (bytes == byte && runq::clock::now() < end) co_await runq::yield();
      EXPECT_GT(bytes, byte);
    }
    co_await done.wait();
  });
}

TEST_F(monitor, S9_what_it_polls_goes_to_the_global_queue) {
  constexpr std::size_t readers = 8;
  scheduler s({.procs = 1});
  s.run([&]() -> task<> {
    std::vector<std::pair<runq::net::stream, runq::net::stream>> pipes;
    std::size_t waiting = 0;
    runq::wait_group done;
    done.add(readers);
    for (std::size_t i = 0; i != readers; ++i) pipes.push_back(runq::net::pipe());
    for (std::size_t i = 0; i != readers; ++i) {
      runq::go([&, i]() -> task<> {
        std::byte got{};
        ++waiting;
        (void)co_await pipes[i].first.read(std::span(&got, 1));
        done.done();
      });
    }
    while (waiting != readers) co_await runq::yield();
    for (auto& ends : pipes) EXPECT_EQ(write(ends.second.fd(), "x", 1), 1);
    // This task holds the only processor, without waiting for anything.
    EXPECT_TRUE(wait_until([&] { return s.stats().global_queue == readers; }));
    co_await done.wait();
    EXPECT_EQ(s.stats().global_queue, 0U);
  });
}

TEST_F(monitor, fires_timers_while_all_processors_are_busy) {
  scheduler s({.procs = 1});
  s.run([&]() -> task<> {
    runq::timer t;
    t.start(2ms);
    EXPECT_TRUE(wait_until([&] { return t.channel().size() == 1; }));
    co_return;
  });
}

// ---- life -----------------------------------------------------------------------------------------------------------

TEST_F(monitor, works_again_after_a_deep_sleep) {
  scheduler s({.procs = 2});
  s.run([&]() -> task<> {
    for (int i = 0; i != 3; ++i) {
      co_await runq::sleep_for(120ms);
      std::atomic<bool> ran{false};
      std::atomic<bool> other{false};
      runq::wait_group done;
      done.add(1);
      // Both processors are busy, and the task that sets `ran` is queued behind a blocking call.
      runq::go([&] {
        other = true;
        EXPECT_TRUE(wait_until([&] { return ran.load(); }));
        done.done();
      });
      EXPECT_TRUE(wait_until([&] { return other.load(); }));
      runq::go([&] { ran = true; });
      co_await runq::blocking([&] { EXPECT_TRUE(wait_until([&] { return ran.load(); })); });
      co_await done.wait();
    }
  });
}

TEST_F(monitor, starts_again_with_every_run) {
  scheduler s({.procs = 1});
  for (int i = 0; i != 10; ++i) {
    const std::uint64_t before = s.stats().handed_off;
    s.run([&]() -> task<> {
      std::atomic<bool> ran{false};
      runq::go([&] { ran = true; });
      co_await runq::blocking([&] { EXPECT_TRUE(wait_until([&] { return ran.load(); })); });
    });
    EXPECT_GT(s.stats().handed_off, before);
  }
}

}  // namespace
