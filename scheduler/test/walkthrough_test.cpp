// SPDX-License-Identifier: MIT
// The walk-throughs of fork-join scheduling, row by row: the book's tables (rows WT1 to WT12 of the scheduler's rules),
// and the runs of the same programs by the strict rule.
#include <algorithm>
#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "walkthrough/book.hpp"
#include "walkthrough/fair.hpp"
#include "walkthrough/statistics.hpp"
#include "walkthrough/strict.hpp"

namespace {

using namespace runq::walkthrough;

constexpr stealing both_kinds[] = {stealing::tasks, stealing::continuations};

void expect_rows(const run& r, const wording& words, const lines& expected) {
  EXPECT_FALSE(r.obstacle) << *r.obstacle;
  const lines actual = in_notation(r, words);
  EXPECT_EQ(actual.size(), expected.size());
  for (std::size_t i = 0; i != std::min(actual.size(), expected.size()); ++i) {
    EXPECT_EQ(actual[i], expected[i]) << "in row " << i + 1;
  }
}

lines departures_of(const run& r) {
  lines text;
  for (const departure& d : r.departures) text.push_back(std::to_string(d.row) + " " + d.why);
  return text;
}

/// The names of the tasks in the order in which they began, or returned, without main: "f4 f3 f2".
std::string order_of(const run& r, event::kind what) {
  std::string names;
  for (const event& e : r.history) {
    if (e.what == what && e.task != main_task) names += (names.empty() ? "" : " ") + r.what.tasks[e.task].name;
  }
  return names;
}

std::size_t stalls(const run& r) { return count(r).stalled_while_busy + count(r).stalled_while_idle; }

/// The name of the task that the processor is in.
std::string task_on(const machine& m, const program& p, std::size_t processor) {
  const frame* top = m.current(processor);
  return top == nullptr ? "none" : p.tasks[top->task].name;
}

/// What the processor does next by the strict rule.
std::vector<act> acts_of(const machine& m, std::size_t processor) {
  std::vector<act> acts;
  for (const step& s : turn(m, processor)) acts.push_back(s.what);
  return acts;
}

void take(machine& m, const std::vector<step>& steps) {
  for (const step& s : steps) {
    ASSERT_EQ(m.obstacle(s), std::nullopt);
    m.apply(s);
  }
}

// ---- the book's tables ----------------------------------------------------------------------------------------------

TEST(walkthrough, WT1_task_stealing_two_threads_matches_the_book_row_by_row) {
  const book_table book = task_stealing_on_two_threads();
  expect_rows(replay(book.steps), book.words,
              {
                  "main / – ‖ – / –",
                  "main / f4 ‖ – / –",
                  "main(j),f4 / – ‖ – / –",
                  "main(j),f4 / f3,f2 ‖ – / –",
                  "main(j),f4 / f2 ‖ f3 / –",
                  "main(j),f4(j),f2 / – ‖ f3 / –",
                  "main(j),f4(j),f2 / – ‖ f3 / f2,f1",
                  "main(j),f4(j),ret1 / – ‖ f3 / f2,f1",
                  "main(j),f4(j),ret1 / – ‖ f3(j),f1 / f2",
                  "main(j),f4(j),f2 / – ‖ f3(j),f1 / –",
                  "main(j),f4(j),f2 / – ‖ f3(j),ret1 / –",
                  "main(j),f4(j),ret1 / – ‖ f3(j),ret1 / –",
                  "main(j),f4(j) / – ‖ ret2 / –",
                  "main(j),ret3 / – ‖ – / –",
                  "print 3 / – ‖ – / –",
              });
}

TEST(walkthrough, WT2_continuation_stealing_two_threads_matches_the_book_row_by_row) {
  const book_table book = continuation_stealing_on_two_threads();
  expect_rows(replay(book.steps), book.words,
              {
                  "main / – ‖ – / –",
                  "f4 / c.main ‖ – / –",
                  "f4 / – ‖ c.main / –",
                  "f3 / c.f4 ‖ c.main / –",
                  "f3 / – ‖ c.main(j),c.f4 / –",
                  "f2 / c.f3 ‖ c.main(j),c.f4 / –",
                  "f2 / c.f3 ‖ c.main(j),f2 / c.f4",
                  "ret1 / c.f3 ‖ c.main(j),f2 / c.f4",
                  "ret1 / c.f3 ‖ c.main(j),ret1 / c.f4",
                  "f1 / – ‖ c.main(j),ret1 / c.f4",
                  "f1 / – ‖ c.main(j),f4(j) / –",
                  "ret2 / – ‖ c.main(j),f4(j) / –",
                  "– / – ‖ c.main(j),ret3 / –",
                  "– / – ‖ main prints 3 / –",
              });
}

TEST(walkthrough, WT3_continuation_stealing_one_thread_matches_the_book_row_by_row) {
  const book_table book = continuation_stealing_on_one_thread();
  expect_rows(replay(book.steps), book.words,
              {
                  "main / –",
                  "f4 / main",
                  "f3 / main,c.f4",
                  "f2 / main,c.f4,c.f3",
                  "ret1 / main,c.f4,c.f3",
                  "f1 / main,c.f4",
                  "ret1 / main,c.f4",
                  "ret2 / main,c.f4",
                  "f2 / main",
                  "ret1 / main",
                  "ret3 / main",
                  "main(print 3) / –",
              });
}

TEST(walkthrough, WT3_calls_begin_and_return_in_the_order_of_the_recursive_function) {
  const run r = replay(continuation_stealing_on_one_thread().steps);
  EXPECT_EQ(order_of(r, event::kind::begins), "f4 f3 f2 f1 f2");
  EXPECT_EQ(order_of(r, event::kind::returns), "f2 f1 f3 f2 f4");
}

// ---- the same programs by the strict rule ---------------------------------------------------------------------------

TEST(walkthrough, WT1_by_the_strict_rule) {
  expect_rows(run_strictly(fib(4), stealing::tasks, 2), {},
              {
                  "main / – ‖ – / –",
                  "main / f4 ‖ – / –",
                  "main / – ‖ f4 / –",
                  "main(j) / – ‖ f4 / –",
                  "main(j) / – ‖ f4 / f3",
                  "main(j),f3 / – ‖ f4 / –",
                  "main(j),f3 / – ‖ f4 / f2",
                  "main(j),f3 / f2 ‖ f4 / f2",
                  "main(j),f3 / f2 ‖ f4(j),f2 / –",
                  "main(j),f3 / f2,f1 ‖ f4(j),f2 / –",
                  "main(j),f3 / f2,f1 ‖ f4(j),ret1 / –",
                  "main(j),f3(j),f1 / f2 ‖ f4(j),ret1 / –",
                  "main(j),f3(j),f1 / – ‖ f4(j),f2 / –",
                  "main(j),f3(j),ret1 / – ‖ f4(j),f2 / –",
                  "main(j),f3(j),ret1 / – ‖ f4(j),ret1 / –",
                  "main(j),ret2 / – ‖ f4(j) / –",
                  "main(j) / – ‖ ret3 / –",
                  "main prints 3 / – ‖ – / –",
              });
}

TEST(walkthrough, WT2_by_the_strict_rule_pushes_f3_again_and_takes_one_row_more) {
  expect_rows(run_strictly(fib(4), stealing::continuations, 2), {},
              {
                  "main / – ‖ – / –",
                  "f4 / c.main ‖ – / –",
                  "f4 / – ‖ c.main / –",
                  "f3 / c.f4 ‖ c.main / –",
                  "f3 / – ‖ c.main(j),c.f4 / –",
                  "f2 / c.f3 ‖ c.main(j),c.f4 / –",
                  "f2 / c.f3 ‖ c.main(j),f2 / c.f4",
                  "ret1 / c.f3 ‖ c.main(j),f2 / c.f4",
                  "ret1 / c.f3 ‖ c.main(j),ret1 / c.f4",
                  "f1 / c.f3 ‖ c.main(j),ret1 / c.f4",
                  "f1 / – ‖ c.main(j),f4(j),c.f3 / –",
                  "ret1 / – ‖ c.main(j),f4(j),c.f3 / –",
                  "– / – ‖ c.main(j),f4(j),ret2 / –",
                  "– / – ‖ c.main(j),ret3 / –",
                  "– / – ‖ main prints 3 / –",
              });
}

TEST(walkthrough, WT3_by_the_strict_rule_pushes_at_the_second_fork_too) {
  expect_rows(run_strictly(fib(4), stealing::continuations, 1), {},
              {
                  "main / –",
                  "f4 / c.main",
                  "f3 / c.main,c.f4",
                  "f2 / c.main,c.f4,c.f3",
                  "ret1 / c.main,c.f4,c.f3",
                  "f1 / c.main,c.f4,c.f3",
                  "ret1 / c.main,c.f4,c.f3",
                  "ret2 / c.main,c.f4",
                  "f2 / c.main,c.f4",
                  "ret1 / c.main,c.f4",
                  "ret3 / c.main",
                  "main prints 3 / –",
              });
}

TEST(walkthrough, WT1_departs_from_the_strict_rule_in_three_rows) {
  EXPECT_EQ(departures_of(replay(task_stealing_on_two_threads().steps)),
            (lines{"3 rule 2: it is T2's turn, and T2 steals f4 from T1; here T1 goes first",
                   "4 more than one turn of T1 in one row: T1 forks f3, forks f2",
                   "7 more than one turn of T2 in one row: T2 forks f2, forks f1"}));
}

TEST(walkthrough, WT2_departs_from_the_strict_rule_in_two_rows) {
  EXPECT_EQ(
      departures_of(replay(continuation_stealing_on_two_threads().steps)),
      (lines{"10 rule 1: a fork pushes, so T1 pops c.f3, forks f1; here T1 pops c.f3, calls f1 and pushes nothing",
             "12 more than one turn of T1 in one row: T1 returns from f1, goes on with f3, returns from f3"}));
}

TEST(walkthrough, WT3_departs_from_the_strict_rule_in_two_rows) {
  EXPECT_EQ(
      departures_of(replay(continuation_stealing_on_one_thread().steps)),
      (lines{"6 rule 1: a fork pushes, so T1 pops c.f3, forks f1; here T1 pops c.f3, calls f1 and pushes nothing",
             "9 rule 1: a fork pushes, so T1 pops c.f4, forks f2; here T1 pops c.f4, calls f2 and pushes nothing"}));
}

TEST(walkthrough, a_strict_run_replayed_departs_nowhere) {
  for (const stealing pushed : both_kinds) {
    const program p = fib(6);
    script s{p, pushed, 2, {}};
    machine m(p, pushed, 2);
    for (std::size_t at = 0; !m.finished(); at = 1 - at) {
      const auto steps = turn(m, at);
      if (steps.empty()) continue;
      take(m, steps);
      s.rows.push_back(steps);
    }
    const run replayed = replay(s);
    EXPECT_EQ(departures_of(replayed), lines{});
    EXPECT_EQ(in_notation(replayed, {}), in_notation(run_strictly(p, pushed, 2), {}));
  }
}

// ---- a script cannot do what is impossible --------------------------------------------------------------------------

/// Replays the script with one row replaced by `instead`. Returns the obstacle that stops the replay, or "none".
std::string obstacle_with(script s, std::size_t row_number, const std::vector<step>& instead) {
  s.rows[row_number - 2] = instead;
  return replay(s).obstacle.value_or("none");
}

TEST(walkthrough, WT2_row_12_as_misprinted_is_impossible) {
  EXPECT_EQ(obstacle_with(continuation_stealing_on_two_threads().steps, 12, {{1, act::finish}}),
            "row 12: T2: f4 joins f3, which runs");
}

TEST(walkthrough, an_impossible_step_stops_the_replay_and_says_why) {
  const script s = task_stealing_on_two_threads().steps;
  EXPECT_EQ(obstacle_with(s, 2, {{1, act::steal}}), "row 2: T2: no other deque holds anything");
  EXPECT_EQ(obstacle_with(s, 2, {{1, act::fork}}), "row 2: T2: no task is running there");
  EXPECT_EQ(obstacle_with(s, 2, {{0, act::wait}}), "row 2: T1: main is not at its join");
  EXPECT_EQ(obstacle_with(s, 2, {{0, act::finish}}), "row 2: T1: main has not forked all its children");
  EXPECT_EQ(obstacle_with(s, 3, {{0, act::pop}}), "row 3: T1: main is running there");
  EXPECT_EQ(obstacle_with(s, 3, {{0, act::fork}}), "row 3: T1: main has nothing left to fork");
  EXPECT_EQ(obstacle_with(s, 3, {{1, act::pop}}), "row 3: T2: its deque is empty");
  EXPECT_EQ(obstacle_with(s, 9, {{0, act::resume}}), "row 9: T1: no called child has just returned there");
  EXPECT_EQ(obstacle_with(s, 15, {{0, act::wait}}), "row 15: T1: no task is running there");
  EXPECT_EQ(replay(s).obstacle, std::nullopt);
}

TEST(walkthrough, only_the_child_that_was_called_comes_back_to_its_parent) {
  const program p = loop(2);
  machine m(p, stealing::continuations, 2);
  take(m, {{0, act::fork}, {1, act::steal}, {1, act::call}, {0, act::finish}});
  EXPECT_FALSE(m.possible({0, act::resume})) << "the first child was forked";
  take(m, {{1, act::finish}, {1, act::resume}, {1, act::finish}});
  EXPECT_EQ(m.value_of(main_task), 2);
}

TEST(walkthrough, a_called_child_comes_back_once) {
  const program p = loop(2);
  machine m(p, stealing::continuations, 1);
  take(m, {{0, act::call}, {0, act::finish}, {0, act::resume}, {0, act::fork}, {0, act::finish}});
  EXPECT_FALSE(m.possible({0, act::resume})) << "the second child was forked";
  EXPECT_TRUE(m.possible({0, act::pop}));
}

TEST(walkthrough, a_replay_that_stops_has_no_result) {
  script s = task_stealing_on_two_threads().steps;
  s.rows.pop_back();
  EXPECT_EQ(replay(s).result, std::nullopt);
  EXPECT_EQ(replay(task_stealing_on_two_threads().steps).result, 3);
}

// ---- statistics -----------------------------------------------------------------------------------------------------

TEST(walkthrough, WT4_steps_are_14_and_15) {
  EXPECT_EQ(count(replay(continuation_stealing_on_two_threads().steps)).steps, 14U);
  EXPECT_EQ(count(replay(task_stealing_on_two_threads().steps)).steps, 15U);
}

TEST(walkthrough, WT5_max_deque_length_is_2_over_both_deques_and_1_or_2_in_one) {
  const statistics continuations = count(replay(continuation_stealing_on_two_threads().steps));
  const statistics tasks = count(replay(task_stealing_on_two_threads().steps));
  EXPECT_EQ(continuations.deques_together, 2U);
  EXPECT_EQ(tasks.deques_together, 2U);
  EXPECT_EQ(continuations.longest_deque, 1U);
  EXPECT_EQ(tasks.longest_deque, 2U);
}

TEST(walkthrough, WT6_stalled_joins_are_2_on_idle_threads_and_3_on_busy_threads) {
  const statistics continuations = count(replay(continuation_stealing_on_two_threads().steps));
  const statistics tasks = count(replay(task_stealing_on_two_threads().steps));
  EXPECT_EQ(continuations.stalled_while_idle, 2U);
  EXPECT_EQ(continuations.stalled_while_busy, 0U);
  EXPECT_EQ(tasks.stalled_while_idle, 0U);
  EXPECT_EQ(tasks.stalled_while_busy, 3U);
}

TEST(walkthrough, WT7_call_stack_is_2_and_3) {
  EXPECT_EQ(count(replay(continuation_stealing_on_two_threads().steps)).longest_stack, 2U);
  EXPECT_EQ(count(replay(task_stealing_on_two_threads().steps)).longest_stack, 3U);
}

TEST(walkthrough, WT4_to_WT7_by_the_strict_rule) {
  const statistics continuations = count(run_strictly(fib(4), stealing::continuations, 2));
  EXPECT_EQ(continuations.steps, 15U);
  EXPECT_EQ(continuations.deques_together, 2U);
  EXPECT_EQ(continuations.longest_deque, 1U);
  EXPECT_EQ(continuations.stalled_while_idle, 2U);
  EXPECT_EQ(continuations.stalled_while_busy, 0U);
  EXPECT_EQ(continuations.longest_stack, 3U);

  const statistics tasks = count(run_strictly(fib(4), stealing::tasks, 2));
  EXPECT_EQ(tasks.steps, 18U);
  EXPECT_EQ(tasks.deques_together, 2U);
  EXPECT_EQ(tasks.longest_deque, 2U);
  EXPECT_EQ(tasks.stalled_while_idle, 1U);
  EXPECT_EQ(tasks.stalled_while_busy, 2U);
  EXPECT_EQ(tasks.longest_stack, 3U);
}

// ---- one thread -----------------------------------------------------------------------------------------------------

void recurse(const program& p, task_id task, std::vector<event>& history) {
  history.push_back({event::kind::begins, task});
  for (const task_id child : p.tasks[task].children) recurse(p, child, history);
  history.push_back({event::kind::returns, task});
}

TEST(walkthrough, WT8_continuations_on_one_thread_are_function_calls) {
  for (const run& r :
       {replay(continuation_stealing_on_one_thread().steps), run_strictly(fib(4), stealing::continuations, 1)}) {
    std::vector<event> recursion;
    recurse(r.what, main_task, recursion);
    EXPECT_EQ(r.history, recursion);
    EXPECT_EQ(stalls(r), 0U);
    EXPECT_EQ(count(r).longest_deque, 3U);
  }
}

TEST(walkthrough, WT8_holds_for_fib_up_to_8) {
  for (int n = 1; n <= 8; ++n) {
    const run r = run_strictly(fib(n), stealing::continuations, 1);
    std::vector<event> recursion;
    recurse(r.what, main_task, recursion);
    EXPECT_EQ(r.history, recursion) << "fib(" << n << ")";
    EXPECT_EQ(stalls(r), 0U) << "fib(" << n << ")";
    EXPECT_EQ(count(r).longest_deque, static_cast<std::size_t>(std::max(1, n - 1))) << "fib(" << n << ")";
  }
}

TEST(walkthrough, WT9_a_loop_keeps_one_continuation_or_all_tasks_queued) {
  for (const int n : {1, 2, 10, 100}) {
    EXPECT_EQ(count(run_strictly(loop(n), stealing::continuations, 1)).longest_deque, 1U);
    EXPECT_EQ(count(run_strictly(loop(n), stealing::tasks, 1)).longest_deque, static_cast<std::size_t>(n));
  }
}

TEST(walkthrough, WT9_continuations_run_in_order_and_tasks_backwards) {
  EXPECT_EQ(order_of(run_strictly(loop(5), stealing::continuations, 1), event::kind::begins), "1 2 3 4 5");
  EXPECT_EQ(order_of(run_strictly(loop(5), stealing::tasks, 1), event::kind::begins), "5 4 3 2 1");
}

TEST(walkthrough, WT9_only_tasks_stall_on_one_thread) {
  EXPECT_EQ(stalls(run_strictly(loop(5), stealing::continuations, 1)), 0U);
  EXPECT_EQ(stalls(run_strictly(loop(5), stealing::tasks, 1)), 1U);
}

// ---- the rules ------------------------------------------------------------------------------------------------------

TEST(walkthrough, WT10_rule_1_a_fork_pushes_at_the_own_tail) {
  const program p = loop(2);  // main is task 0, the children are 1 and 2
  machine tasks(p, stealing::tasks, 2);
  take(tasks, turn(tasks, 0));
  take(tasks, turn(tasks, 0));
  EXPECT_EQ(tasks.now()[0].deque, (std::deque<task_id>{1, 2}));
  EXPECT_TRUE(tasks.now()[1].deque.empty());

  machine continuations(p, stealing::continuations, 2);
  take(continuations, turn(continuations, 0));
  EXPECT_EQ(continuations.now()[0].deque, std::deque<task_id>{main_task});
  EXPECT_EQ(task_on(continuations, p, 0), "1");
}

TEST(walkthrough, WT10_rule_2_an_idle_thread_steals_at_the_head_of_another) {
  const program p = loop(3);
  machine m(p, stealing::tasks, 2);
  EXPECT_EQ(acts_of(m, 1), std::vector<act>{}) << "nothing to steal yet";
  for (int i = 0; i != 3; ++i) take(m, turn(m, 0));
  EXPECT_EQ(acts_of(m, 1), std::vector<act>{act::steal});
  EXPECT_EQ(rule_behind(m, {1, act::steal}), 2);
  take(m, turn(m, 1));
  EXPECT_EQ(task_on(m, p, 1), "1") << "the first that was forked";
  EXPECT_EQ(m.now()[0].deque, (std::deque<task_id>{2, 3}));
}

TEST(walkthrough, WT10_rule_3_at_an_unrealized_join_it_pops_at_the_own_tail) {
  const program p = loop(3);
  machine m(p, stealing::tasks, 2);
  for (int i = 0; i != 3; ++i) take(m, turn(m, 0));
  EXPECT_EQ(acts_of(m, 0), (std::vector<act>{act::wait, act::pop}));
  take(m, turn(m, 0));
  EXPECT_EQ(task_on(m, p, 0), "3") << "the last that was forked";
  EXPECT_EQ(m.now()[0].deque, (std::deque<task_id>{1, 2}));
}

TEST(walkthrough, WT10_rule_4_with_an_empty_deque_it_stalls_or_steals) {
  const program one = loop(1);
  machine stalling(one, stealing::tasks, 2);
  take(stalling, turn(stalling, 0));
  take(stalling, turn(stalling, 1));  // the second thread steals the only child
  EXPECT_EQ(acts_of(stalling, 0), std::vector<act>{act::wait});
  take(stalling, turn(stalling, 0));
  EXPECT_EQ(acts_of(stalling, 0), std::vector<act>{}) << "it stalls, there is nothing to steal";

  // Row 4 of WT2: main is at its join on T2 with an empty deque, and T1's holds c.f4.
  const program p = fib(4);
  machine thief(p, stealing::continuations, 2);
  for (const std::size_t processor : {0U, 1U, 0U}) take(thief, turn(thief, processor));
  EXPECT_EQ(acts_of(thief, 1), (std::vector<act>{act::wait, act::steal}));
}

TEST(walkthrough, WT10_a_realized_join_does_not_wait) {
  const program p = loop(1);
  machine m(p, stealing::continuations, 1);
  take(m, turn(m, 0));  // forks
  take(m, turn(m, 0));  // the child returns
  EXPECT_EQ(acts_of(m, 0), (std::vector<act>{act::pop, act::finish}));
}

// ---- results --------------------------------------------------------------------------------------------------------

int fibonacci(int n) { return n <= 2 ? 1 : fibonacci(n - 1) + fibonacci(n - 2); }

TEST(walkthrough, WT11_fib_is_right_by_tasks_and_by_continuations_on_one_and_two_threads) {
  EXPECT_EQ(fibonacci(4), 3);
  for (int n = 1; n <= 8; ++n) {
    for (const stealing pushed : both_kinds) {
      for (const std::size_t processors : {1U, 2U}) {
        const run r = run_strictly(fib(n), pushed, processors);
        EXPECT_EQ(r.obstacle, std::nullopt);
        EXPECT_EQ(r.result, fibonacci(n)) << "fib(" << n << ") on " << processors;
      }
    }
  }
}

TEST(walkthrough, WT11_every_task_begins_once_and_returns_once_after_it) {
  for (const stealing pushed : both_kinds) {
    const run r = run_strictly(fib(8), pushed, 2);
    EXPECT_EQ(r.history.size(), 2 * r.what.tasks.size());
    for (task_id task = 0; task != r.what.tasks.size(); ++task) {
      const auto begins = std::find(r.history.begin(), r.history.end(), event{event::kind::begins, task});
      const auto returns = std::find(r.history.begin(), r.history.end(), event{event::kind::returns, task});
      EXPECT_LT(begins, returns);
      EXPECT_NE(returns, r.history.end());
    }
  }
}

TEST(walkthrough, runs_are_deterministic) {
  for (const stealing pushed : both_kinds) {
    EXPECT_EQ(in_notation(run_strictly(fib(8), pushed, 2), {}), in_notation(run_strictly(fib(8), pushed, 2), {}));
  }
}

TEST(walkthrough, three_threads_that_wait_for_each_other_end_the_run_and_say_so) {
  const run r = run_strictly(fib(11), stealing::continuations, 3);
  EXPECT_EQ(r.result, std::nullopt);
  EXPECT_EQ(r.obstacle, "row " + std::to_string(r.rows.size()) + ": no thread can go on");
}

// ---- fair scheduling ------------------------------------------------------------------------------------------------

std::vector<timed_task> four_tasks(int second_takes) {
  return {{"T1", 1, 1}, {"T2", second_takes}, {"T3", 2}, {"T4", 2}};
}
std::vector<timed_task> the_first_joins_the_last() { return {{"T1", 1, 1, 3}, {"T2", 6}, {"T3", 2}, {"T4", 2}}; }

TEST(walkthrough, WT12_dealt_out_P1_idles_when_T2_takes_longer_than_T1_and_T3) {
  const outcome o = distribute(four_tasks(6), sharing::static_split, 2);
  EXPECT_EQ(o.periods,
            (std::vector<period>{{0, {"T1", "T2"}}, {2, {"T3", "T2"}}, {4, {"(idle)", "T2"}}, {6, {"(idle)", "T4"}}}));
  EXPECT_EQ(o.end, 8);
  EXPECT_EQ(o.without_work, (std::vector<int>{4, 0}));
  EXPECT_EQ(o.wasted, 2) << "T4 lay in P2's queue";
  EXPECT_EQ(o.shared_accesses, 0);
}

TEST(walkthrough, WT12_the_books_table_is_that_of_T2_as_long_as_T1_and_T3) {
  const outcome o = distribute(four_tasks(4), sharing::static_split, 2);
  EXPECT_EQ(o.periods, (std::vector<period>{{0, {"T1", "T2"}}, {2, {"T3", "T2"}}, {4, {"(idle)", "T4"}}}));
}

TEST(walkthrough, WT12_dealt_out_P1_is_blocked_until_T4_ends_when_T1_joins_it) {
  const outcome o = distribute(the_first_joins_the_last(), sharing::static_split, 2);
  EXPECT_EQ(o.periods, (std::vector<period>{{0, {"T1", "T2"}},
                                            {1, {"(blocked)", "T2"}},
                                            {6, {"(blocked)", "T4"}},
                                            {8, {"T1", "(idle)"}},
                                            {9, {"T3", "(idle)"}}}));
  EXPECT_EQ(o.end, 11);
  EXPECT_EQ(o.without_work, (std::vector<int>{7, 3}));
  EXPECT_EQ(o.shared_accesses, 0);
}

TEST(walkthrough, WT12_a_central_queue_leaves_nobody_without_work_and_is_shared_in_every_access) {
  const outcome free = distribute(four_tasks(6), sharing::central_queue, 2);
  EXPECT_EQ(free.periods, (std::vector<period>{{0, {"T1", "T2"}}, {2, {"T3", "T2"}}, {4, {"T4", "T2"}}}));
  EXPECT_EQ(free.end, 6);
  EXPECT_EQ(free.without_work, (std::vector<int>{0, 0}));
  EXPECT_EQ(free.shared_accesses, 8) << "each task in and out";
  EXPECT_EQ(free.own_accesses, 0);

  const outcome joining = distribute(the_first_joins_the_last(), sharing::central_queue, 2);
  EXPECT_EQ(joining.end, 6);
  EXPECT_EQ(joining.without_work, (std::vector<int>{0, 0}));
  EXPECT_EQ(joining.shared_accesses, 10) << "T1 twice";
}

TEST(walkthrough, WT12_own_deques_leave_nobody_without_work_and_share_only_the_steal) {
  const outcome free = distribute(four_tasks(6), sharing::own_deques, 2);
  EXPECT_EQ(free.periods, (std::vector<period>{{0, {"T1", "T2"}}, {2, {"T3", "T2"}}, {4, {"T4", "T2"}}}));
  const outcome joining = distribute(the_first_joins_the_last(), sharing::own_deques, 2);
  EXPECT_EQ(joining.periods,
            (std::vector<period>{{0, {"T1", "T2"}}, {1, {"T3", "T2"}}, {3, {"T4", "T2"}}, {5, {"T1", "T2"}}}));
  for (const outcome& o : {free, joining}) {
    EXPECT_EQ(o.end, 6);
    EXPECT_EQ(o.without_work, (std::vector<int>{0, 0}));
    EXPECT_EQ(o.wasted, 0);
    EXPECT_EQ(o.shared_accesses, 1);
    EXPECT_EQ(o.own_accesses, 7);
  }
}

// ---- tables as text -------------------------------------------------------------------------------------------------

TEST(walkthrough, tables_align_and_mark_departures) {
  const lines table = table_of(replay(continuation_stealing_on_one_thread().steps), {});
  ASSERT_EQ(table.size(), 13U);
  EXPECT_EQ(table[0], "row  T1 stack       deque");
  EXPECT_EQ(table[1], " 1   main           –");
  EXPECT_EQ(table[6], " 6*  f1             c.main,c.f4");
  EXPECT_EQ(table[7], " 7   ret1           c.main,c.f4");
}

}  // namespace
