// SPDX-License-Identifier: MIT
// What a scheduler reports: the counters, the histogram of waits, the lines of RUNQ_SCHEDTRACE, and the file of
// RUNQ_TRACE.
#include <algorithm>
#include <atomic>
#include <cctype>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <regex>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include "runq/detail/core.hpp"
#include "runq/detail/tracer.hpp"
#include "support.hpp"

namespace {

using namespace std::chrono_literals;
using runq::latency_histogram;
using runq::task;
using sched_test::comes_true;
using sched_test::hold_until;
using sched_test::rounds;
using testing::ElementsAre;
using testing::HasSubstr;

void compute(std::chrono::nanoseconds time) {
  const auto end = runq::clock::now() + time;
  while (runq::clock::now() < end) runq::std_atomics::pause();
}

/// A gate for a task that keeps its processor: pass() tells that the task runs, and returns when the gate is open.
struct gate {
  std::atomic<int> inside{0};
  std::atomic<bool> open{false};
  void pass() {
    ++inside;
    hold_until([&] { return open.load(); }, "an open gate");
  }
  void await_inside() {
    hold_until([&] { return inside != 0; }, "somebody inside");
  }
};

// ---- how long tasks wait --------------------------------------------------------------------------------------------

TEST(trace, X15_bucket_i_holds_2_to_the_i_ns_and_more) {
  using h = latency_histogram;
  EXPECT_EQ(h::bucket_of(-5ns), 0U);
  EXPECT_EQ(h::bucket_of(0ns), 0U);
  EXPECT_EQ(h::bucket_of(1ns), 0U);
  for (std::size_t i = 1; i != h::buckets; ++i) {
    const std::chrono::nanoseconds first(std::int64_t{1} << i);
    EXPECT_EQ(h::bucket_of(first), i);
    EXPECT_EQ(h::bucket_of(first - 1ns), i - 1);
    EXPECT_EQ(h::end_of(i - 1), first);
  }
  EXPECT_EQ(h::bucket_of(std::chrono::nanoseconds::max()), h::buckets - 1);
}

TEST(trace, X15_percentiles_are_ends_of_buckets_and_grow) {
  latency_histogram h;
  EXPECT_EQ(h.percentile(50), 0ns);
  h.counts[3] = 90;
  h.counts[10] = 9;
  h.counts[20] = 1;
  EXPECT_EQ(h.total(), 100U);
  EXPECT_EQ(h.percentile(0), 16ns);
  EXPECT_EQ(h.percentile(50), 16ns);
  EXPECT_EQ(h.percentile(90), 16ns);
  EXPECT_EQ(h.percentile(90.5), 2048ns);
  EXPECT_EQ(h.percentile(99), 2048ns);
  EXPECT_EQ(h.percentile(99.5), std::chrono::nanoseconds(1 << 21));
  EXPECT_EQ(h.percentile(100), std::chrono::nanoseconds(1 << 21));
  for (double percent = 0; percent < 100; percent += 0.25) {
    EXPECT_LE(h.percentile(percent), h.percentile(percent + 0.25));
  }
}

TEST(trace, X15_a_task_that_waits_behind_a_busy_one_for_5_ms_is_counted_there) {
  runq::scheduler s({.procs = 1, .latency_period = 1});
  s.run([&]() -> task<> {
    const latency_histogram before = s.stats().ready_to_run;
    latency_histogram after;
    runq::clock::time_point ran;
    runq::wait_group group;
    group.add(1);
    const auto begin = runq::clock::now();
    runq::go([&] {
      ran = runq::clock::now();
      after = s.stats().ready_to_run;
      group.done();
    });
    const auto queued = runq::clock::now();
    compute(5ms);
    const auto least = runq::clock::now() - queued;
    co_await group.wait();
    EXPECT_EQ(after.total(), before.total() + 1);
    std::size_t bucket = 0;
    while (bucket != latency_histogram::buckets && after.counts[bucket] == before.counts[bucket]) ++bucket;
    EXPECT_GE(bucket, latency_histogram::bucket_of(least));
    EXPECT_LE(bucket, latency_histogram::bucket_of(ran - begin)) << "longer than the test has seen";
  });
}

TEST(trace, X15_every_wait_is_counted_once_if_that_is_wanted) {
  runq::scheduler s({.procs = 1, .latency_period = 1});
  s.run([&]() -> task<> {
    EXPECT_EQ(s.stats().ready_to_run.total(), 1U) << "main's own";
    runq::wait_group group;
    group.add(100);
    for (int i = 0; i != 100; ++i) {
      runq::go([&]() -> task<> {
        for (int k = 0; k != 3; ++k) co_await runq::yield();
        group.done();
      });
    }
    co_await group.wait();
    EXPECT_EQ(s.stats().ready_to_run.total(), 1U + 100 * (1 + 3) + 1);
  });
}

TEST(trace, X15_one_wait_in_64_is_counted_and_none_if_that_is_wanted) {
  const auto counted = [](const runq::options& o) {
    runq::scheduler s(o);
    s.run([]() -> task<> {
      runq::wait_group group;
      for (int i = 0; i != 64; ++i) {
        group.add(100);
        for (int k = 0; k != 100; ++k) runq::go([&] { group.done(); });
        co_await group.wait();
      }
    });
    return s.stats().ready_to_run.total();
  };
  const std::uint64_t by_default = counted({.procs = 2});
  EXPECT_GE(by_default, 50U) << "of 6400 waits and those of main";
  EXPECT_LE(by_default, 200U);
  EXPECT_EQ(counted({.procs = 2, .latency_period = 0}), 0U);
}

// ---- counters -------------------------------------------------------------------------------------------------------

// Whether a thief loses a race is luck, so the test says that this machine has lost some, as its loop does.
TEST(trace, X15_lost_races_are_counted) {
  runq::scheduler s({.procs = 1});
  s.run([]() -> task<> {
    runq::detail::processor& here = *runq::detail::this_processor();
    for (int i = 0; i != 3; ++i) here.home.lost(here);
    co_return;
  });
  EXPECT_EQ(s.stats().lost_races, 3U);
}

TEST(trace, X15_steals_and_stolen_tasks_are_counted_apart) {
  gate first;
  gate others;  // not a variable of main, because the tasks may outlive main
  runq::scheduler s({.procs = 2});
  s.run([&]() -> task<> {
    runq::go([&] { first.pass(); });
    first.await_inside();
    for (int i = 0; i != 8; ++i) runq::go([&] { others.pass(); });
    const runq::statistics before = s.stats();
    EXPECT_EQ(before.local_queues[0] + before.local_queues[1], 7U);
    first.open = true;
    others.await_inside();
    const runq::statistics after = s.stats();
    EXPECT_EQ(after.steals - before.steals, 1U);
    EXPECT_EQ(after.stolen - before.stolen, 4U);
    EXPECT_EQ(after.runnext_steals - before.runnext_steals, 0U);
    others.open = true;
    co_return;
  });
}

TEST(trace, X15_overflowed_counts_the_tasks_that_full_queues_move) {
  runq::scheduler s({.procs = 1});
  s.run([&] {
    const auto spawn = [](int n) {
      for (int i = 0; i != n; ++i) runq::go([] {});
    };
    spawn(257);
    EXPECT_EQ(s.stats().overflowed, 0U);
    spawn(1);
    EXPECT_EQ(s.stats().overflowed, 129U);
    spawn(387 - 258);
    EXPECT_EQ(s.stats().overflowed, 258U);
  });
}

TEST(trace, X15_runnext_hits_counts_the_tasks_that_come_from_there) {
  runq::scheduler s({.procs = 1});
  s.run([&]() -> task<> {
    const std::uint64_t before = s.stats().runnext_hits;
    runq::wait_group group;
    group.add(10);
    for (int i = 0; i != 10; ++i) runq::go([&] { group.done(); });
    co_await group.wait();
    // Two tasks come from runnext: the tenth, and the main task, which the last done() wakes.
    EXPECT_EQ(s.stats().runnext_hits - before, 2U);
  });
}

// Ten of 11 tasks are in the ring, one is in runnext. The thief takes half of the ring with each steal, and the task in
// runnext last: 5, 3, 1, 1 and 1. The victim keeps its processor and takes none of the tasks.
TEST(trace, X15_runnext_steals_counts_the_task_from_runnext_and_none_that_the_ring_gave) {
  gate thief;
  std::atomic<int> stolen{0};
  runq::scheduler s({.procs = 2});
  s.run([&]() -> task<> {
    runq::go([&] { thief.pass(); });
    thief.await_inside();
    const runq::statistics before = s.stats();
    EXPECT_EQ(before.runnext_steals, 1U) << "the thief's own task was the only one";
    for (int i = 0; i != 11; ++i) runq::go([&] { ++stolen; });
    thief.open = true;
    hold_until([&] { return stolen == 11; }, "all tasks stolen");
    const runq::statistics after = s.stats();
    EXPECT_EQ(after.steals - before.steals, 5U);
    EXPECT_EQ(after.stolen - before.stolen, 11U);
    EXPECT_EQ(after.runnext_steals - before.runnext_steals, 1U);
    co_return;
  });
}

TEST(trace, X15_parks_counts_how_often_machines_go_to_sleep) {
  runq::scheduler s({.procs = 1});
  const auto outside = s.attach();
  for (std::uint64_t i = 1; i <= 10; ++i) {
    outside.go([] {});
    ASSERT_TRUE(comes_true([&] {
      const runq::statistics now = s.stats();
      return now.finished == i && now.idle_procs == 1 && now.parks >= i;
    }));
    EXPECT_EQ(s.stats().parks, i);
    EXPECT_EQ(s.stats().useless_wakes, 0U);
  }
}

TEST(trace, X15_parks_counts_the_machines_of_former_runs) {
  runq::scheduler s({.procs = 1});
  for (std::uint64_t run = 1; run <= 3; ++run) {
    s.run([]() -> task<> {
      for (int i = 0; i != 3; ++i) co_await runq::sleep_for(1ms);
    });
    EXPECT_GE(s.stats().parks, 3 * run);
  }
}

// A machine that finds a task wakes another machine, which may find another task. Here it finds none.
TEST(trace, X15_useless_wakes_counts_machines_that_were_woken_in_vain) {
  runq::scheduler s({.procs = 2});
  const auto outside = s.attach();
  runq::statistics before;
  for (std::uint64_t i = 1; i <= 10; ++i) {
    outside.go([] {});
    // In the first round the second machine is started and not woken.
    const std::uint64_t useless = i == 1 ? 0U : 1U;
    runq::statistics after;
    // A thread that reads the counters may see the later of two before the earlier one.
    ASSERT_TRUE(comes_true([&] {
      after = s.stats();
      return after.finished == i && after.idle_procs == 2 && after.parks >= before.parks + 2 &&
             after.useless_wakes >= before.useless_wakes + useless;
    }));
    EXPECT_EQ(after.parks - before.parks, 2U);
    EXPECT_EQ(after.useless_wakes - before.useless_wakes, useless);
    before = after;
  }
}

TEST(trace, X15_useless_wakes_counts_the_machines_of_former_runs) {
  runq::scheduler s({.procs = 2});
  const auto outside = s.attach();
  EXPECT_TRUE(comes_true([&] {
    outside.go([] {});
    s.wait();
    return s.stats().useless_wakes != 0;
  }));
  const runq::statistics before = s.stats();
  s.run([]() -> task<> { co_return; });  // at the end of which the machines leave
  EXPECT_GE(s.stats().useless_wakes, before.useless_wakes);
  EXPECT_GE(s.stats().parks, before.parks);
}

// ---- RUNQ_SCHEDTRACE ------------------------------------------------------------------------------------------------

/// Sets an environment variable while the object exists.
class environment {
 public:
  environment(const char* name, const std::string& value) : name_(name) { ::setenv(name, value.c_str(), 1); }
  environment(const environment&) = delete;
  environment& operator=(const environment&) = delete;
  ~environment() { ::unsetenv(name_); }

 private:
  const char* name_;
};

// The format of Go 1.20 to 1.25. (1.19 had no needspinning; 1.26 has spaces within the brackets, and schedticks.)
const std::string beginning =
    R"(SCHED (\d+)ms: gomaxprocs=(\d+) idleprocs=(\d+) threads=(\d+) spinningthreads=(\d+) needspinning=([01]))"
    R"( idlethreads=(\d+) runqueue=(\d+))";
const std::regex plain_line(beginning + R"( \[(\d+(?: \d+)*)\])");
const std::regex detail_line(beginning + R"( gcwaiting=0 nmidlelocked=0 stopwait=0 sysmonwait=[01])");
const std::regex processor_line(
    R"(  P(\d+): status=([0124]) schedtick=\d+ syscalltick=\d+ m=(-1|\d+) runqsize=\d+ gfreecnt=\d+ timerslen=\d+)");
const std::regex machine_line(R"(  M(\d+): p=(-1|\d+) curg=(-1|\d+) mallocing=0 throwing=0 preemptoff= locks=0 dying=0)"
                              R"( spinning=(true|false) blocked=(true|false) lockedg=-1)");
const std::regex task_line(R"(  G(\d+): status=([12346])\(([a-z ()]*)\) m=(-1|\d+) lockedm=-1)");

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream in(text);
  return {std::istream_iterator<std::string>(in), {}};
}

/// Looks for the first line that matches `expression` and whose first field is `first`. Returns the line's fields, or
/// nothing if there is no such line.
std::vector<std::string> fields_of(const std::string& text, const std::regex& expression, const std::string& first) {
  for (const std::string& line : lines_of(text)) {
    std::smatch found;
    if (std::regex_match(line, found, expression) && found[1] == first) return {found.begin() + 1, found.end()};
  }
  return {};
}

void expect_consistent(const std::string& line, std::size_t procs) {
  std::smatch f;
  ASSERT_TRUE(std::regex_match(line, f, plain_line)) << line;
  EXPECT_EQ(std::stoul(f[2]), procs);
  EXPECT_LE(std::stoul(f[3]), procs) << line;
  EXPECT_LE(std::stoul(f[5]), std::stoul(f[4])) << line;
  EXPECT_LE(std::stoul(f[7]), std::stoul(f[4])) << line;
  const auto queues = words_of(f[9]);
  EXPECT_EQ(queues.size(), procs) << line;
  for (const std::string& queue : queues) EXPECT_LE(std::stoul(queue), 256U) << line;
}

TEST(trace, S12_the_line_is_that_of_go) {
  runq::scheduler s({.procs = 3});
  s.run([&]() -> task<> {
    expect_consistent(lines_of(s.trace()).at(0), 3);
    EXPECT_EQ(lines_of(s.trace()).size(), 1U);
    EXPECT_EQ(s.trace().back(), '\n');
    runq::wait_group group;
    group.add(2000);
    for (int i = 0; i != 2000; ++i) {
      runq::go([&] { group.done(); });
      if (i % 100 == 0) expect_consistent(lines_of(s.trace()).at(0), 3);
    }
    co_await group.wait();
  });
}

/// Runs `main` for longer and longer, until the scheduler has written at least two lines on stderr that begin with
/// SCHED and shows(lines) is true. Returns the lines.
template <class Main, class Shows>
std::vector<std::string> traced(Main main, Shows shows) {
  std::vector<std::string> lines;
  const auto enough = [&] {
    const auto times = std::count_if(lines.begin(), lines.end(), [](const auto& l) { return l.starts_with("SCHED"); });
    return times >= 2 && shows(lines);
  };
  for (auto time = 100ms; !enough() && time < sched_test::patience; time *= 2) {
    testing::internal::CaptureStderr();
    runq::run(main(time), {.procs = 2});
    lines = lines_of(testing::internal::GetCapturedStderr());
  }
  EXPECT_TRUE(enough());
  return lines;
}

TEST(trace, S12_lines_come_at_the_period_that_was_wanted) {
  const environment wanted("RUNQ_SCHEDTRACE", "20");
  const auto lines =
      traced([](auto time) -> task<> { co_await runq::sleep_for(time); }, [](const auto&) { return true; });
  unsigned long last = 0;
  for (const std::string& line : lines) {
    std::smatch f;
    ASSERT_TRUE(std::regex_match(line, f, plain_line)) << line;
    const bool is_outside_of_the_run = f[2] == "0";
    if (!is_outside_of_the_run) expect_consistent(line, 2);
    EXPECT_GE(std::stoul(f[1]) + 1, last + 20) << "ms, rounded down";
    last = std::stoul(f[1]);
  }
}

TEST(trace, S12_a_period_that_is_no_number_of_milliseconds_is_refused) {
  for (const char* const wrong : {"", "0", "-1", "x", "1x", "1.5", "99999999999"}) {
    const environment wanted("RUNQ_SCHEDTRACE", wrong);
    EXPECT_EQ(sched_test::misuse_of([] { const runq::scheduler s; }),
              "runq: the environment variable RUNQ_SCHEDTRACE must be a number of milliseconds, but is \"" +
                  std::string(wrong) + "\"");
  }
}

TEST(trace, S12_lines_have_no_details_unless_they_are_wanted) {
  const environment wanted("RUNQ_SCHEDTRACE", "20");
  const environment detail("RUNQ_SCHEDDETAIL", "0");
  const auto lines =
      traced([](auto time) -> task<> { co_await runq::sleep_for(time); }, [](const auto&) { return true; });
  for (const std::string& line : lines) EXPECT_TRUE(std::regex_match(line, plain_line)) << line;
}

TEST(trace, S12_the_detailed_lines_are_those_of_go) {
  const environment wanted("RUNQ_SCHEDTRACE", "20");
  const environment detail("RUNQ_SCHEDDETAIL", "1");
  // The first lines may be written before both tasks exist, and the last ones when a task has ended.
  const auto show_both = [](const std::vector<std::string>& all) {
    int tasks = 0;
    return std::any_of(all.begin(), all.end(), [&tasks](const std::string& line) {
      tasks = line.starts_with("SCHED") ? 0 : tasks + (line.starts_with("  G") ? 1 : 0);
      return tasks == 2;
    });
  };
  const auto lines = traced(
      [](auto time) -> task<> {
        runq::go([]() -> task<> { co_await runq::sleep_for(1h); });
        co_await runq::sleep_for(time);
      },
      show_both);
  std::map<char, int> kinds;
  std::vector<int> tasks;  // for each SCHED line, how many tasks it is followed by
  for (const std::string& line : lines) {
    const char kind = line[line[0] == ' ' ? 2 : 0];
    ++kinds[kind];
    if (kind == 'S') tasks.push_back(0);
    if (kind == 'G') ++tasks.back();
    const std::regex& expected = kind == 'S'   ? detail_line
                                 : kind == 'P' ? processor_line
                                 : kind == 'M' ? machine_line
                                               : task_line;
    EXPECT_TRUE(std::regex_match(line, expected)) << line;
  }
  EXPECT_EQ(kinds['P'], 2 * kinds['S']);
  EXPECT_GE(kinds['M'], kinds['S']);
  EXPECT_THAT(tasks, testing::Each(testing::Le(2)));
}

TEST(trace, S12_details_say_which_machine_runs_which_task_on_which_processor) {
  runq::scheduler s({.procs = 2});
  s.run([&]() -> task<> {
    co_await runq::sleep_for(1ms);  // and runs again
    const std::string self = std::to_string(runq::this_task::id());
    const std::string where = std::to_string(runq::this_task::processor());
    std::string text;
    std::string machine;
    // A machine that ran this task before may still be looking for work. So the test repeats until the lines agree.
    EXPECT_TRUE(comes_true([&] {
      text = s.trace(true);
      const auto g = fields_of(text, task_line, self);
      EXPECT_THAT(g, ElementsAre(self, "2", "", testing::Ne("-1"))) << text;
      machine = g.empty() ? "" : g.back();
      return fields_of(text, processor_line, where) == std::vector<std::string>{where, "1", machine};
    })) << text;
    EXPECT_THAT(fields_of(text, machine_line, machine), ElementsAre(machine, where, self, "false", "false")) << text;
  });
}

// One processor, whose numbers change only while no task of ours looks at them.
TEST(trace, S12_details_have_the_numbers_of_the_statistics) {
  runq::scheduler s({.procs = 1});
  EXPECT_THAT(s.trace(), HasSubstr(" needspinning=0 "));
  s.run([&]() -> task<> {
    std::vector<runq::timer> timers;
    for (int i = 0; i != 3; ++i) timers.emplace_back(1h);
    for (int i = 0; i != 200; ++i) runq::go([] {});
    for (int i = 0; i != 5; ++i) co_await runq::yield();
    for (int i = 0; i != 2; ++i) const runq::blocking_section call;
    for (int i = 0; i != 12; ++i) runq::go([] {});  // one of them is in runnext
    const runq::statistics now = s.stats();
    EXPECT_NE(now.ticks.at(0), now.blocking_calls);
    const std::string text = s.trace(true);
    EXPECT_THAT(text, HasSubstr(" schedtick=" + std::to_string(now.ticks.at(0)) +
                                " syscalltick=" + std::to_string(now.blocking_calls) + " m="));
    EXPECT_THAT(text, HasSubstr(" needspinning=1 ")) << "12 tasks wait, and there is no idle processor";
    EXPECT_THAT(text, HasSubstr(" runqsize=11 "));
    EXPECT_THAT(text, testing::Not(HasSubstr(" gfreecnt=0 "))) << "200 tasks have ended";
    EXPECT_THAT(text, HasSubstr(" timerslen=3\n"));
  });
}

TEST(trace, S12_details_say_whether_the_monitor_sleeps) {
  runq::scheduler s({.procs = 1});
  const auto outside = s.attach();
  const auto shows = [&](const char* field) {
    return comes_true([&] { return s.trace(true).find(field) != std::string::npos; });
  };
  outside.go([&] { EXPECT_TRUE(shows(" sysmonwait=0\n")) << "it watches a task that computes"; });
  s.wait();
  EXPECT_TRUE(shows(" sysmonwait=1\n")) << "there is nothing to watch";
}

TEST(trace, S12_the_time_is_that_since_the_scheduler_was_made) {
  const auto begin = runq::clock::now();
  const runq::scheduler s({.procs = 1});
  std::this_thread::sleep_for(3ms);
  std::smatch f;
  const std::string line = lines_of(s.trace()).at(0);
  ASSERT_TRUE(std::regex_match(line, f, plain_line)) << line;
  const auto now = runq::clock::now();
  EXPECT_GE(std::stol(f[1]), 3);
  EXPECT_LE(std::chrono::milliseconds(std::stol(f[1])), now - begin);
}

TEST(trace, S12_details_show_processors_that_are_retired) {
  runq::scheduler s({.procs = 2});
  s.run([&]() -> task<> {
    (void)s.set_procs(1);
    const std::string text = s.trace(true);
    EXPECT_THAT(fields_of(text, processor_line, "1"), ElementsAre("1", "4", testing::_)) << text;
    EXPECT_THAT(fields_of(text, processor_line, "0"), ElementsAre("0", testing::Ne("4"), testing::_)) << text;
    co_return;
  });
}

TEST(trace, S12_details_show_a_task_in_a_blocking_call) {
  runq::scheduler s({.procs = 1});
  const auto outside = s.attach();
  gate call;
  std::thread observer([&] {
    call.await_inside();
    EXPECT_TRUE(comes_true([&] { return s.stats().blocking_calls == 1; }));
    std::string text;
    // A machine may have the processor for a moment and find nothing to do. So the test repeats until the processor has
    // no machine.
    EXPECT_TRUE(comes_true([&] {
      text = s.trace(true);
      const auto p = fields_of(text, processor_line, "0");
      return !p.empty() && p.back() == "-1";
    })) << text;
    const auto g = fields_of(text, task_line, "1");
    EXPECT_THAT(g, ElementsAre("1", "3", "", testing::Ne("-1"))) << text;
    if (g.size() == 4) {
      EXPECT_THAT(fields_of(text, machine_line, g[3]), ElementsAre(g[3], "-1", "1", "false", "false")) << text;
    }
    EXPECT_THAT(fields_of(text, processor_line, "0"), ElementsAre("0", testing::AnyOf("0", "2"), "-1")) << text;
    call.open = true;
  });
  s.run([&]() -> task<> { co_await runq::blocking([&] { call.pass(); }); });
  observer.join();
}

// Until the monitor takes the processor, which may be at once.
TEST(trace, S12_details_show_a_processor_in_a_blocking_call) {
  runq::run(
      []() -> task<> {
        bool shown = false;
        for (const auto end = runq::clock::now() + sched_test::patience; !shown && runq::clock::now() < end;) {
          const auto p = co_await runq::blocking(
              [&s = runq::this_scheduler()] { return fields_of(s.trace(true), processor_line, "0"); });
          shown = p.size() == 3 && p[1] == "2";
        }
        EXPECT_TRUE(shown);
      },
      {.procs = 1});
}

TEST(trace, S12_the_threads_are_those_of_the_machines_and_the_monitors) {
  runq::scheduler s({.procs = 1});
  s.run([&]() -> task<> {
    std::smatch f;
    const std::string line = lines_of(s.trace()).at(0);
    EXPECT_TRUE(std::regex_match(line, f, plain_line)) << line;
    EXPECT_EQ(f[4], "2") << line;
    co_return;
  });
}

// ---- RUNQ_TRACE -----------------------------------------------------------------------------------------------------

/// A JSON value. The reader throws std::runtime_error for text that is no JSON.
struct json {
  std::variant<std::nullptr_t, double, std::string, std::vector<json>, std::map<std::string, json>> value;
  [[nodiscard]] const json& operator[](const std::string& key) const { return std::get<4>(value).at(key); }
  [[nodiscard]] bool has(const std::string& key) const { return std::get<4>(value).contains(key); }
  [[nodiscard]] const std::string& text() const { return std::get<std::string>(value); }
  [[nodiscard]] double number() const { return std::get<double>(value); }
  [[nodiscard]] const std::vector<json>& list() const { return std::get<std::vector<json>>(value); }
};

class json_reader {
 public:
  explicit json_reader(const std::string& text) : at_(text.data()), end_(at_ + text.size()) {}
  json read() {
    json all = value();
    if (next() != '\0') fail("something after the end");
    return all;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw std::runtime_error("no JSON: " + what + " before " + std::string(at_, end_ - at_ < 40 ? end_ : at_ + 40));
  }
  char next() {
    while (at_ != end_ && std::isspace(static_cast<unsigned char>(*at_)) != 0) ++at_;
    return at_ == end_ ? '\0' : *at_;
  }
  void expect(char c) {
    if (next() != c) fail(std::string("no ") + c);
    ++at_;
  }
  template <class Item>
  void items(char open, char close, Item item) {
    expect(open);
    if (next() != close) item();
    while (next() == ',') {
      ++at_;
      item();
    }
    expect(close);
  }
  std::string string() {
    expect('"');
    std::string text;
    while (at_ != end_ && *at_ != '"') {
      if (static_cast<unsigned char>(*at_) < 0x20) fail("a control character");
      if (*at_ == '\\') ++at_;
      text += *at_++;
    }
    expect('"');
    return text;
  }
  json value() {
    const char c = next();
    if (c == '"') return {string()};
    if (c == '[') {
      std::vector<json> list;
      items('[', ']', [&] { list.push_back(value()); });
      return {std::move(list)};
    }
    if (c == '{') {
      std::map<std::string, json> object;
      items('{', '}', [&] {
        const std::string key = string();
        expect(':');
        if (!object.emplace(key, value()).second) fail("a second " + key);
      });
      return {std::move(object)};
    }
    char* after = nullptr;
    const double number = std::strtod(at_, &after);
    if (after == at_) fail("no value");
    at_ = after;
    return {number};
  }
  const char* at_;
  const char* end_;
};

/// A file that is removed at the end of the test.
struct temporary {
  temporary()
      : name((std::filesystem::path(testing::TempDir()) / ("runq_trace_" + std::to_string(::getpid()) + ".json"))) {}
  temporary(const temporary&) = delete;
  temporary& operator=(const temporary&) = delete;
  ~temporary() { std::filesystem::remove(name); }
  [[nodiscard]] std::string text() const {
    std::ifstream in(name);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  const std::string name;
};

struct slice {
  std::string name;
  std::string category;
  double begin;
  double end;
};

/// The contents of a trace file, after these checks: on each lane, slices follow each other or lie within each other;
/// every lane has a name; every arrow has two ends, both at a slice.
struct recorded {
  std::map<int, std::vector<slice>> lanes;
  std::map<int, std::string> names;
  std::size_t arrows = 0;
  double dropped = 0;

  [[nodiscard]] std::size_t count(const std::string& category) const {
    std::size_t n = 0;
    for (const auto& [lane, slices] : lanes) {
      n += static_cast<std::size_t>(
          std::count_if(slices.begin(), slices.end(), [&](const slice& s) { return s.category == category; }));
    }
    return n;
  }
  /// How many tasks ran.
  [[nodiscard]] std::size_t tasks() const {
    std::set<std::string> all;
    for (const auto& [lane, slices] : lanes) {
      for (const slice& s : slices) {
        if (s.category == "run") all.insert(s.name);
      }
    }
    return all.size();
  }
};

constexpr double rounding = 0.0011;  // in µs: the file has times with three decimal places

void expect_nested(const std::vector<slice>& slices, const std::string& lane) {
  std::vector<slice> open;
  double last = 0;
  for (const slice& s : slices) {
    ASSERT_LE(s.begin, s.end);
    ASSERT_GE(s.begin, last) << "in order";
    last = s.begin;
    while (!open.empty() && open.back().end <= s.begin + rounding) open.pop_back();
    if (s.category == "robbed") continue;  // a mark without length
    if (!open.empty()) {
      ASSERT_LE(s.end, open.back().end + rounding)
          << s.name << " reaches out of " << open.back().name << " on " << lane;
      ASSERT_TRUE(s.category != "run" && s.category != "held")
          << s.name << " within " << open.back().name << " on " << lane;
    }
    if (s.category == "steal") {
      ASSERT_TRUE(!open.empty() && open.back().category == "look") << s.name << " on " << lane;
    }
    open.push_back(s);
  }
}

void expect_arrows(const recorded& all, const std::map<double, std::pair<int, double>>& from,
                   const std::map<double, std::pair<int, double>>& to) {
  ASSERT_EQ(from.size(), to.size());
  const auto at_slice = [&](const std::pair<int, double>& end, const std::string& category) {
    const auto& slices = all.lanes.at(end.first);
    return std::any_of(slices.begin(), slices.end(), [&](const slice& s) {
      return s.category == category && s.begin <= end.second && end.second <= s.end;
    });
  };
  for (const auto& [id, begin] : from) {
    ASSERT_TRUE(to.contains(id)) << "arrow " << id << " has no end";
    EXPECT_LE(begin.second, to.at(id).second);
    EXPECT_NE(begin.first, to.at(id).first);
    EXPECT_TRUE(at_slice(begin, "robbed")) << id;
    EXPECT_TRUE(at_slice(to.at(id), "steal")) << id;
  }
}

recorded checked(const std::string& text) {
  recorded all;
  std::map<double, std::pair<int, double>> from;
  std::map<double, std::pair<int, double>> to;
  const json file = json_reader(text).read();
  for (const json& e : file["traceEvents"].list()) {
    const std::string phase = e["ph"].text();
    const int lane = static_cast<int>(e["tid"].number());
    if (phase == "X") {
      const double begin = e["ts"].number();
      all.lanes[lane].push_back({e["name"].text(), e["cat"].text(), begin, begin + e["dur"].number()});
    } else if (phase == "s" || phase == "f") {
      auto& ends = phase == "s" ? from : to;
      EXPECT_TRUE(ends.emplace(e["id"].number(), std::pair(lane, e["ts"].number())).second);
    } else {
      EXPECT_EQ(phase, "M");
      if (e["name"].text() == "thread_name") all.names[lane] = e["args"]["name"].text();
    }
  }
  for (const auto& [lane, slices] : all.lanes) {
    EXPECT_TRUE(all.names.contains(lane)) << lane;
    expect_nested(slices, all.names[lane]);
  }
  all.arrows = from.size();
  expect_arrows(all, from, to);
  all.dropped = file["otherData"]["dropped_events"].number();
  return all;
}

/// The recording and the statistics of a scheduler that runs `main`.
template <class F>
std::pair<recorded, runq::statistics> record(F main, const runq::options& wanted) {
  const temporary file;
  const environment variable("RUNQ_TRACE", file.name);
  runq::statistics stats;
  {
    runq::scheduler s(wanted);
    s.run(main);
    stats = s.stats();
  }
  return {checked(file.text()), stats};
}

TEST(trace, X15_the_recording_has_each_task_in_the_lane_of_its_processor) {
  const auto [all, stats] = record(
      []() -> task<> {
        runq::wait_group group;
        group.add(50);
        for (int i = 0; i != 50; ++i) {
          runq::go(
              [&] {
                compute(20us);
                group.done();
              },
              "quoted \"\\\n name");
        }
        co_await group.wait();
      },
      {.procs = 2});
  EXPECT_EQ(all.tasks(), 51U);
  EXPECT_EQ(all.count("run"), 52U) << "main twice";
  EXPECT_EQ(all.arrows, stats.steals);
  EXPECT_EQ(all.names.at(0), "P0");
  EXPECT_EQ(all.dropped, 0);
}

TEST(trace, X15_a_blocking_call_lies_within_its_task_or_in_the_lane_of_its_machine) {
  const auto [all, stats] = record(
      []() -> task<> {
        runq::wait_group group;
        group.add(6);
        for (int i = 0; i != 6; ++i) {
          runq::go([&]() -> task<> {
            co_await runq::blocking([] { std::this_thread::sleep_for(2ms); });
            group.done();
          });
        }
        co_await group.wait();
      },
      {.procs = 1});
  EXPECT_EQ(all.count("call"), 6U);
  std::size_t alone = 0;
  for (const auto& [lane, name] : all.names) {
    if (name[0] == 'M') alone += all.lanes.at(lane).size();
  }
  EXPECT_EQ(alone, stats.blocking_calls - stats.calls_kept);
  EXPECT_EQ(all.count("held"), alone) << "until the monitor took the processor";
}

TEST(trace, X15_lanes_stay_in_order_whatever_the_tasks_do) {
  for (std::size_t i = 0; i != rounds(50); ++i) {
    const auto [all, stats] = record(
        []() -> task<> {
          runq::channel<int> numbers;
          runq::wait_group group;
          group.add(41);
          for (int k = 0; k != 40; ++k) {
            runq::go([&, k]() -> task<> {
              for (int n = 0; n != 5; ++n) {
                co_await runq::blocking([k] { std::this_thread::sleep_for(std::chrono::microseconds(k * 3)); });
                co_await numbers.send(n);
                co_await runq::fork([]() -> task<> { co_await runq::yield(); }());
                co_await runq::join();
              }
              group.done();
            });
          }
          runq::go([&]() -> task<> {
            for (int n = 0; n != 200; ++n) (void)co_await numbers.receive();
            group.done();
          });
          co_await group.wait();
        },
        {.procs = 3});
    EXPECT_EQ(all.count("call"), 200U);
    EXPECT_EQ(all.count("held"), stats.blocking_calls - stats.calls_kept);
    EXPECT_GE(all.tasks(), 42U);
    EXPECT_EQ(all.arrows, stats.steals);
    EXPECT_EQ(all.count("steal"), stats.steals);
    if (HasFailure()) break;
  }
}

TEST(trace, X15_events_beyond_the_limit_are_counted_and_reported) {
  const temporary file;
  runq::detail::tracer t(file.name, 10);
  const runq::detail::instant begin = runq::detail::now();
  for (int i = 0; i != 25; ++i) t.ran(0, {1, "one"}, begin + 10 * i, begin + 10 * i + 5);
  testing::internal::CaptureStderr();
  t.write();
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "runq: RUNQ_TRACE: 15 events beyond the limit of 10 were not kept\n");
  const recorded all = checked(file.text());
  EXPECT_EQ(all.count("run"), 10U);
  EXPECT_EQ(all.dropped, 15);
}

TEST(trace, X15_what_contains_others_comes_before_them) {
  const temporary file;
  runq::detail::tracer t(file.name);
  const runq::detail::instant begin = runq::detail::now();
  t.stole(0, 1, 1, begin, begin + 50);
  t.looked(1, begin, begin + 100);
  t.called(0, {1, nullptr}, begin, begin + 70);
  t.ran(0, {1, nullptr}, begin, begin + 100);
  t.write();
  EXPECT_EQ(checked(file.text()).arrows, 1U);
}

TEST(trace, X15_a_processor_of_which_only_others_tell_has_a_lane_with_its_name) {
  const temporary file;
  runq::detail::tracer t(file.name);
  const runq::detail::instant begin = runq::detail::now();
  t.looked(1, begin, begin + 100);
  t.stole(7, 1, 1, begin, begin + 50);
  t.called_without(3, 5, {1, "main"}, begin, begin + 100);
  t.write();
  std::set<std::string> names;
  for (const auto& [lane, name] : checked(file.text()).names) names.insert(name);
  EXPECT_EQ(names, (std::set<std::string>{"P1", "P5", "P7", "M3 without a processor"}));
}

// The monitor had it before only, or just when the call began, or takes it after the end of the recording.
TEST(trace, X15_a_call_whose_processor_was_not_taken_by_the_end_has_no_slice_there) {
  for (const std::optional<int> taken_before : {std::optional<int>(), std::optional(10), std::optional(0)}) {
    const temporary file;
    runq::detail::tracer t(file.name);
    const runq::detail::instant begin = runq::detail::now() + 10;
    if (taken_before) t.taken_from_call(0, begin - *taken_before);
    t.called_without(3, 0, {1, "main"}, begin, begin + 100);
    t.write();
    const recorded all = checked(file.text());
    EXPECT_EQ(all.count("call"), 1U);
    EXPECT_EQ(all.count("held"), 0U);
  }
}

TEST(trace, X15_a_thief_of_a_child_that_has_not_begun_runs_something_forked) {
  for (const auto& [policy, name] :
       {std::pair(runq::fork_policy::continuation, "continuation"), std::pair(runq::fork_policy::child, "forked")}) {
    const temporary file;
    const environment variable("RUNQ_TRACE", file.name);
    runq::run(
        []() -> task<> {
          // The fork and what follows it run at the same time, so on two processors.
          std::atomic<unsigned> turn{0};
          co_await runq::fork([](std::atomic<unsigned>& t) -> task<> {
            sched_test::pass_tokens(t, 0, 2, 2);
            co_return;
          }(turn));
          sched_test::pass_tokens(turn, 1, 2, 2);
          co_await runq::join();
        },
        {.procs = 2, .forks = policy});
    EXPECT_THAT(file.text(), HasSubstr(name));
  }
}

TEST(trace, X15_threads_record_at_the_same_time) {
  const temporary file;
  runq::detail::tracer t(file.name);
  std::vector<std::thread> threads;
  for (std::uint32_t lane = 0; lane != 4; ++lane) {
    threads.emplace_back([&t, lane] {
      for (int i = 0; i != 1000; ++i) {
        const auto begin = runq::detail::now();
        t.ran(lane, {lane, nullptr}, begin, runq::detail::now());
      }
    });
  }
  for (auto& thread : threads) thread.join();
  t.write();
  EXPECT_EQ(checked(file.text()).count("run"), 4000U);
}

TEST(trace, X15_a_file_that_cannot_be_written_is_an_error_before_anything_runs) {
  const environment variable("RUNQ_TRACE", "/nonexistent/trace.json");
  EXPECT_THROW(runq::scheduler({.procs = 1}), std::system_error);
}

TEST(trace, X15_a_file_that_goes_away_is_reported_at_the_end) {
  const std::filesystem::path folder =
      std::filesystem::path(testing::TempDir()) / ("runq_" + std::to_string(::getpid()));
  std::filesystem::create_directory(folder);
  const std::string file = (folder / "trace.json").string();
  runq::detail::tracer t(file);
  std::filesystem::remove_all(folder);
  testing::internal::CaptureStderr();
  t.write();
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("runq: RUNQ_TRACE: " + file + ": No such file"));
}

TEST(trace, X15_a_deadlock_does_not_lose_the_recording) {
  const temporary file;
  const environment variable("RUNQ_TRACE", file.name);
  EXPECT_EXIT(runq::run([]() -> task<> {
                runq::channel<int> never_sent;
                (void)co_await never_sent.receive();
              }),
              testing::ExitedWithCode(2), "all goroutines are asleep - deadlock!");
  EXPECT_EQ(checked(file.text()).count("run"), 1U);
}

TEST(trace, X15_a_panic_does_not_lose_the_recording_and_the_task_that_panicked_comes_last) {
  const temporary file;
  const environment variable("RUNQ_TRACE", file.name);
  EXPECT_EXIT(runq::run(
                  []() -> task<> {
                    runq::channel<int> c;
                    runq::go([] { throw std::runtime_error("its message"); }, "panics");
                    (void)co_await c.receive();
                  },
                  {.procs = 1}),
              testing::ExitedWithCode(2), "panic: its message");
  const recorded all = checked(file.text());
  ASSERT_EQ(all.count("run"), 2U);
  EXPECT_THAT(all.lanes.at(0).back().name, HasSubstr("panics"));
}

TEST(trace, X15_schedulers_that_live_at_the_same_time_have_a_file_each) {
  const temporary file;
  const std::string second = std::filesystem::path(file.name).replace_extension(".2.json");
  const std::string third = std::filesystem::path(file.name).replace_extension(".3.json");
  {
    runq::detail::tracer a(file.name);
    {
      const runq::detail::tracer b(file.name);
      EXPECT_EQ(b.file(), second);
      const runq::detail::tracer c(file.name);
      EXPECT_EQ(c.file(), third);
    }
    const runq::detail::tracer again(file.name);
    EXPECT_EQ(again.file(), second);
    EXPECT_EQ(a.file(), file.name);
  }
  EXPECT_EQ(runq::detail::tracer(file.name).file(), file.name);
  std::filesystem::remove(second);
  std::filesystem::remove(third);
}

// draw_trace.py draws the picture of `./kit demo trace`.
TEST(trace, X15_a_recording_can_be_drawn) {
  const std::filesystem::path script =
      std::filesystem::path(__FILE__).parent_path().parent_path() / "examples" / "draw_trace.py";
  if (std::system("python3 -c pass >/dev/null 2>&1") != 0 || !std::filesystem::exists(script)) {
    GTEST_SKIP() << "no python3, or not the tree it was built from";
  }
  const temporary file;
  runq::detail::tracer t(file.name);
  const runq::detail::instant begin = runq::detail::now();
  t.ran(0, {1, "main"}, begin, begin + 90'000);
  t.looked(1, begin + 10'000, begin + 11'000);
  t.stole(0, 1, 4, begin + 10'200, begin + 10'900);
  t.ran(1, {2, "a <b>"}, begin + 11'000, begin + 50'000);
  t.called(1, {2, "a <b>"}, begin + 20'000, begin + 40'000);
  t.called_without(3, 0, {1, "main"}, begin + 90'000, begin + 95'000);
  t.taken_from_call(0, begin + 93'000);
  t.write();
  const std::string picture = file.name + ".svg";
  ASSERT_EQ(std::system(("python3 -B '" + script.string() + "' '" + file.name + "' '" + picture + "'").c_str()), 0);
  std::ifstream in(picture);
  const std::string svg{std::istreambuf_iterator<char>(in), {}};
  std::filesystem::remove(picture);
  EXPECT_THAT(svg, testing::StartsWith("<svg "));
  EXPECT_THAT(svg, testing::EndsWith("</svg>\n"));
  EXPECT_THAT(svg, HasSubstr("task 2 a &lt;b&gt;: 39.0 µs"));
  EXPECT_THAT(svg, HasSubstr(">P1</text>"));
  EXPECT_THAT(svg, HasSubstr(">M3</text>"));
  EXPECT_THAT(svg, HasSubstr("held by the blocking call of task 1 main: 3.0 µs"));
}

}  // namespace
