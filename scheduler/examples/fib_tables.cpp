// SPDX-License-Identifier: MIT
// A simulator prints the step tables of "Concurrency in Go", chapter 6: fib(4) by task stealing and by continuation
// stealing. Each table is shown as it is in the book, and as the book's rules make it when they are followed strictly.
// The last tables show the naive schedulers with which the chapter begins.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "walkthrough/book.hpp"
#include "walkthrough/fair.hpp"
#include "walkthrough/statistics.hpp"
#include "walkthrough/strict.hpp"

namespace {

using namespace runq::walkthrough;

void print(const lines& text) {
  for (const std::string& line : text) std::printf("%s\n", line.c_str());
}

void heading(const char* text) { std::printf("\n---- %s\n\n", text); }

std::string text(std::size_t n) { return std::to_string(n); }
std::string text(int n) { return std::to_string(n); }

/// Two runs of one table's program: one follows the book's script, the other the strict rule.
struct pair_of_runs {
  run book;
  run strict;
};

pair_of_runs both(const book_table& table) {
  const script& s = table.steps;
  pair_of_runs runs{replay(s), run_strictly(s.what, s.pushed, s.processors)};
  for (const run* r : {&runs.book, &runs.strict}) {
    if (!r->obstacle) continue;
    std::printf("%s\n", r->obstacle->c_str());
    std::exit(1);
  }
  return runs;
}

std::string rows_that_differ(const lines& a, const lines& b) {
  std::string numbers;
  for (std::size_t i = 0; i != std::max(a.size(), b.size()); ++i) {
    const bool same = i < a.size() && i < b.size() && a[i] == b[i];
    if (!same) numbers += (numbers.empty() ? "" : ", ") + text(i + 1);
  }
  return numbers;
}

void show(const pair_of_runs& runs, const wording& words) {
  print(beside("as in the book", table_of(runs.book, words), "by the strict rule", table_of(runs.strict, words)));
  std::printf("\n* where the book departs from the strict rule:\n");
  for (const departure& d : runs.book.departures) std::printf("  row %2zu  %s\n", d.row, d.why.c_str());
  const auto differing = rows_that_differ(in_notation(runs.book, words), in_notation(runs.strict, words));
  std::printf("Rows that differ, all because of these: %s\n", differing.c_str());
}

// ---- statistics -----------------------------------------------------------------------------------------------------

void show_statistics(const pair_of_runs& continuations, const pair_of_runs& tasks) {
  const std::vector<statistics> all{count(continuations.book), count(tasks.book), count(continuations.strict),
                                    count(tasks.strict)};
  std::vector<lines> cells{{"", "book: cont.", "tasks", "strict: cont.", "tasks"}};
  const auto add = [&](const char* name, std::size_t statistics::*what) {
    lines line{name};
    for (const statistics& s : all) line.push_back(text(s.*what));
    cells.push_back(line);
  };
  add("steps: rows of the table", &statistics::steps);
  add("max deque length: all deques of a row together, as the book counts", &statistics::deques_together);
  add("max deque length: one deque", &statistics::longest_deque);
  add("stalled joins on idle threads: the own deque was empty", &statistics::stalled_while_idle);
  add("stalled joins on busy threads: popped other work", &statistics::stalled_while_busy);
  add("size of call stack", &statistics::longest_stack);
  print(aligned(cells));
  std::printf(
      "\nWhere the strict rule counts otherwise:\n"
      "  steps          continuations: f1 and f3 return in a row each; tasks: a row for each fork, and for main's "
      "wait\n"
      "  stalled joins  tasks: T2 has stolen f4, so main waits with an empty deque\n"
      "  call stack     continuations: T2 takes c.f3, which in the book lies in no deque, on top of main and f4\n");
}

// ---- one thread, and the qualitative table --------------------------------------------------------------------------

std::string names_in_order(const run& r) {
  std::string names;
  for (const event& e : r.history) {
    if (e.what == event::kind::begins && e.task != main_task) names += " " + r.what.tasks[e.task].name;
  }
  return names;
}

// The calls, in their order, that a plain recursive function fib(n) makes.
std::string calls_of_recursion(int n) {
  const std::string self = " f" + text(n);
  return n <= 2 ? self : self + calls_of_recursion(n - 1) + calls_of_recursion(n - 2);
}

void show_one_thread() {
  for (const stealing pushed : {stealing::continuations, stealing::tasks}) {
    const run r = run_strictly(fib(4), pushed, 1);
    const statistics s = count(r);
    std::printf("%-14s begin in the order%s; stalled joins: %zu; longest deque: %zu\n",
                pushed == stealing::tasks ? "tasks:" : "continuations:", names_in_order(r).c_str(),
                s.stalled_while_busy + s.stalled_while_idle, s.longest_deque);
  }
  std::printf("%-14s begin in the order%s\n", "recursion:", calls_of_recursion(4).c_str());
}

void show_loops() {
  std::vector<lines> cells{{"one thread, for i in 1..n: fork child i", "continuations", "tasks"}};
  const auto both_ways = [](int n) {
    return std::vector<run>{run_strictly(loop(n), stealing::continuations, 1),
                            run_strictly(loop(n), stealing::tasks, 1)};
  };
  for (const int n : {1, 10, 100, 1000}) {
    lines line{"queue size: longest deque, n = " + text(n)};
    for (const run& r : both_ways(n)) line.push_back(text(count(r).longest_deque));
    cells.push_back(line);
  }
  lines order{"order of execution, n = 5"};
  lines stalls{"join point: stalled joins, n = 5"};
  for (const run& r : both_ways(5)) {
    order.push_back(names_in_order(r).substr(1));
    stalls.push_back(text(count(r).stalled_while_busy + count(r).stalled_while_idle));
  }
  cells.push_back(order);
  cells.push_back(stalls);
  print(aligned(cells));
  std::printf("In the book's words: bounded or unbounded; serial or out of order; nonstalling or stalling.\n");
}

bool show_results() {
  bool agree = true;
  std::printf("fib(1) to fib(8):");
  for (int n = 1; n <= 8; ++n) {
    const run first = run_strictly(fib(n), stealing::tasks, 1);
    for (const run& other : {run_strictly(fib(n), stealing::tasks, 2), run_strictly(fib(n), stealing::continuations, 1),
                             run_strictly(fib(n), stealing::continuations, 2)}) {
      agree = agree && other.result.has_value() && other.result == first.result;
    }
    std::printf(" %d", first.result.value_or(-1));
  }
  std::printf(", %s by tasks and by continuations, on one and on two threads\n", agree ? "the same" : "NOT THE SAME");
  return agree;
}

// ---- fair scheduling ------------------------------------------------------------------------------------------------

lines timeline(const outcome& o) {
  std::vector<lines> cells{{"from", "P1", "P2"}};
  for (const period& p : o.periods) cells.push_back({text(p.from), p.doing[0], p.doing[1]});
  cells.push_back({text(o.end), "end", ""});
  return aligned(cells);
}

void show_sharing(const std::vector<timed_task>& tasks) {
  std::vector<lines> cells{
      {"", "end", "P1, P2 without work", "... while a task lay in a queue", "accesses: shared", "own"}};
  const auto add = [&](const char* name, const outcome& o) {
    cells.push_back({name, text(o.end), text(o.without_work[0]) + ", " + text(o.without_work[1]), text(o.wasted),
                     text(o.shared_accesses), text(o.own_accesses)});
  };
  const outcome split = distribute(tasks, sharing::static_split, 2);
  const outcome queue = distribute(tasks, sharing::central_queue, 2);
  const outcome deques = distribute(tasks, sharing::own_deques, 2);
  const lines both_queues =
      beside("central FIFO queue", timeline(queue), "a deque for each processor", timeline(deques));
  print(beside("dealt out: x/n tasks each", timeline(split), both_queues.front(),
               lines(both_queues.begin() + 1, both_queues.end())));
  add("dealt out", split);
  add("central queue", queue);
  add("own deques", deques);
  std::printf("\n");
  print(aligned(cells));
}

void show_fair() {
  std::printf("Four tasks: T1 takes 2 ticks, T2 6, T3 2, T4 2; so T2 takes longer than T1 and T3 together.\n\n");
  show_sharing({{"T1", 1, 1}, {"T2", 6}, {"T3", 2}, {"T4", 2}});
  std::printf("\nThe same, but T1 needs the result of T4 after its first tick.\n\n");
  show_sharing({{"T1", 1, 1, 3}, {"T2", 6}, {"T3", 2}, {"T4", 2}});
  std::printf(
      "\nThe book's first table has no row in which P1 is idle and P2 still in T2: it draws T2 = T1 + T3.\n"
      "The central queue leaves no thread without work, but every access to it is contended; of the deques' accesses,\n"
      "only the steal is.\n");
}

}  // namespace

int main() {
  std::printf(
      "Walk-throughs of work stealing, after K. Cox-Buday, \"Concurrency in Go\", chapter 6.\n\n"
      "The program: main prints fib(4). fib(n) returns 1 for n <= 2; else it forks fib(n-1) and fib(n-2), joins both "
      "and\n"
      "returns the sum.\n\n"
      "The rules:  1  at a fork, push at the tail of the own deque\n"
      "            2  idle: steal at the head of another's deque\n"
      "            3  at a join that is not realized: pop at the tail of the own deque\n"
      "            4  the own deque is empty: stall at the join, or steal\n\n"
      "The strict rule: T1 and T2 take turns, a turn is one step of the program, and there is a row for each turn in "
      "which\n"
      "something happens. A thread that can steal instead of stalling steals.\n\n"
      "f4 is the task fib(4), c.f4 its continuation; (j) waits at its join, ret1 has returned 1. The top of a stack is "
      "on\n"
      "the right; the head of a deque, where others steal, on the left.\n");

  const book_table task_table = task_stealing_on_two_threads();
  const book_table continuation_table = continuation_stealing_on_two_threads();
  const book_table one_thread_table = continuation_stealing_on_one_thread();
  const pair_of_runs tasks = both(task_table);
  const pair_of_runs continuations = both(continuation_table);

  heading("Task stealing, two threads");
  show(tasks, task_table.words);
  heading("Continuation stealing, two threads");
  show(continuations, continuation_table.words);
  heading("Continuation stealing, one thread");
  show(both(one_thread_table), one_thread_table.words);
  std::printf("\n");
  show_one_thread();

  heading("Statistics, counted from the rows");
  show_statistics(continuations, tasks);
  heading("Continuations or tasks?");
  show_loops();
  std::printf("\n");
  const bool agree = show_results();
  heading("Before work stealing: fair scheduling, a central queue, deques");
  show_fair();

  heading("Where the book and its readers err");
  std::printf(
      "  Continuation stealing, row 12: the book has \"(returns 2)\" on T2's stack, too. f4 waits there, for f3 on "
      "T1.\n"
      "  Continuation stealing, row 6: the book leaves out that main waits, which it does in rows 5 and 7.\n"
      "  Task stealing, row 14: the text has f4's fib(2) completed by T2. By the table it was T1, in row 8.\n"
      "  \"Go enqueues continuations\": it does not. The new goroutine is queued, in runnext, and the parent goes on.\n"
      "  The program as printed is serial in Go: <-fib(n-1) + <-fib(n-2) receives before it calls fib(n-2). The "
      "tables\n"
      "  need a := fib(n-1); b := fib(n-2); <-a + <-b.\n"
      "  Summaries of the chapter merge rows, to 12 and 13, and one ends with \"prints 4\". It is 3.\n");
  return agree && tasks.book.result == 3 && continuations.book.result == 3 ? 0 : 1;
}
