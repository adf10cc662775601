// SPDX-License-Identifier: MIT
// fork and join, with each of the three policies and any number of processors. Rows WT11, L10 and L18 as far as they
// concern forks.
#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "fork_policies.hpp"
#include "support.hpp"

namespace {

using runq::fork_policy;
using runq::task;
using sched_test::fib;
using sched_test::hold_until;

class fork_join : public sched_test::with_fork_policy {};

INSTANTIATE_TEST_SUITE_P(policies, fork_join, sched_test::every_fork_policy, sched_test::name_of_fork_policy);

TEST_P(fork_join, WT11_fib_is_right) {
  on_any_number_of_processors([](const runq::options& o) {
    runq::scheduler s(o);
    for (std::size_t i = 0; i != sched_test::rounds(2000); ++i) ASSERT_EQ(s.run(fib(4)), 3);
    EXPECT_EQ(s.run(fib(16)), 987);
  });
}

task<> fib_into(int n, int& result) {
  if (n < 2) {
    result = n;
    co_return;
  }
  int a = 0;
  int b = 0;
  co_await runq::fork(fib_into(n - 1, a));
  co_await runq::fork(fib_into(n - 2, b));
  co_await runq::join();
  result = a + b;
}

TEST_P(fork_join, children_without_results_write_where_they_are_told) {
  on_any_number_of_processors([](const runq::options& o) {
    int result = 0;
    runq::run(fib_into(16, result), o);
    EXPECT_EQ(result, 987);
  });
}

task<int> plus_one(int i) { co_return i + 1; }

TEST_P(fork_join, any_number_of_forks_before_one_join_keep_their_results_apart) {
  on_any_number_of_processors([](const runq::options& o) {
    runq::run(
        []() -> task<> {
          std::vector<runq::forked<int>> children;
          for (int i = 0; i != 1000; ++i) children.push_back(co_await runq::fork(plus_one(i)));
          co_await runq::join();
          for (int i = 0; i != 1000; ++i) EXPECT_EQ(children[static_cast<std::size_t>(i)].get(), i + 1);
        },
        o);
  });
}

TEST_P(fork_join, a_task_may_fork_again_after_a_join_and_may_join_without_forks) {
  on_any_number_of_processors([](const runq::options& o) {
    const int sum = runq::run(
        []() -> task<int> {
          int total = 0;
          co_await runq::join();
          for (int i = 0; i != 200; ++i) {
            auto a = co_await runq::fork(plus_one(i));
            auto b = co_await runq::fork(plus_one(i));
            co_await runq::join();
            co_await runq::join();
            total += a.get() + b.get();
          }
          co_return total;
        },
        o);
    EXPECT_EQ(sum, 2 * (200 * 199 / 2 + 200));
  });
}

TEST_P(fork_join, results_need_only_be_movable) {
  on_any_number_of_processors([](const runq::options& o) {
    const auto make = [](int n) -> task<std::unique_ptr<std::string>> {
      co_await runq::yield();
      co_return std::make_unique<std::string>(100, static_cast<char>('a' + n));
    };
    const auto text = runq::run(
        [&]() -> task<std::string> {
          auto a = co_await runq::fork(make(0));
          auto b = co_await runq::fork(make(1));
          co_await runq::join();
          co_return *a.get() + *b.get();
        },
        o);
    EXPECT_EQ(text, std::string(100, 'a') + std::string(100, 'b'));
  });
}

task<int> fails(const char* why) {
  co_await runq::yield();
  throw std::runtime_error(why);
}
task<> fails_without_result(const char* why) {
  co_await runq::yield();
  throw std::runtime_error(why);
}

TEST_P(fork_join, a_childs_exception_comes_with_its_result) {
  on_any_number_of_processors([](const runq::options& o) {
    runq::run(
        []() -> task<> {
          auto good = co_await runq::fork(plus_one(1));
          auto bad = co_await runq::fork(fails("bad child"));
          std::string text = "(join threw nothing)";
          co_await runq::join();
          try {
            (void)bad.get();
          } catch (const std::runtime_error& error) {
            text = error.what();
          }
          EXPECT_EQ(text, "bad child");
          EXPECT_EQ(good.get(), 2);
        },
        o);
  });
}

TEST_P(fork_join, an_exception_of_a_child_without_result_comes_at_the_join_after_all_have_ended) {
  on_any_number_of_processors([](const runq::options& o) {
    runq::run(
        []() -> task<> {
          std::atomic<int> ended{0};
          const auto slow = [&]() -> task<> {
            for (int i = 0; i != 10; ++i) co_await runq::yield();
            ++ended;
          };
          for (int round = 0; round != 20; ++round) {
            ended = 0;
            std::string text = "(nothing)";
            try {
              co_await runq::fork(slow());
              co_await runq::fork(fails_without_result("one"));
              co_await runq::fork(fails_without_result("one"));
              co_await runq::fork(slow());
              co_await runq::join();
            } catch (const std::runtime_error& error) {
              text = error.what();
            }
            EXPECT_EQ(text, "one");
            EXPECT_EQ(ended, 2);
            co_await runq::join();  // only the first join throws the exception
          }
        },
        o);
  });
}

TEST_P(fork_join, of_several_exceptions_of_children_the_first_comes_at_the_join) {
  runq::run(
      []() -> task<> {
        std::vector<int> thrown;
        const auto fails = [&](int n) -> task<> {
          thrown.push_back(n);
          throw n;
          co_return;
        };
        co_await runq::fork(fails(1));
        co_await runq::fork(fails(2));
        co_await runq::fork(fails(3));
        int caught = 0;
        try {
          co_await runq::join();
        } catch (int n) {
          caught = n;
        }
        EXPECT_EQ(thrown.size(), 3U);
        EXPECT_EQ(caught, thrown.front());
      },
      {.procs = 1, .forks = GetParam()});
}

// The child is in its parent's list, because the parent went on while the child waited. The join destroys it.
TEST_P(fork_join, the_result_of_a_child_that_has_ended_may_be_dropped_before_the_join) {
  runq::run(
      []() -> task<> {
        const auto result = std::make_shared<int>(1);
        runq::channel<int> gate;
        const auto waits = [&]() -> task<std::shared_ptr<int>> {
          (void)co_await gate.receive();
          co_return result;
        };
        {
          const auto dropped = co_await runq::fork(waits());
          co_await runq::yield();
          co_await gate.send(1);
          while (result.use_count() == 1) co_await runq::yield();
          for (int i = 0; i != 8; ++i) co_await runq::yield();  // now it has ended
        }
        EXPECT_EQ(result.use_count(), 2);
        co_await runq::join();
        EXPECT_EQ(result.use_count(), 1);
      },
      {.procs = 1, .forks = GetParam()});
}

TEST_P(fork_join, an_exception_passes_through_all_joins_up_to_run) {
  on_any_number_of_processors([](const runq::options& o) {
    struct nested {
      static task<> at(int depth) {
        if (depth == 0) throw std::runtime_error("leaf");
        co_await runq::fork(at(depth - 1));
        co_await runq::join();
      }
    };
    EXPECT_THROW(runq::run(nested::at(30), o), std::runtime_error);
  });
}

// When a child waits, its parent goes on and joins the child later.
TEST_P(fork_join, children_may_wait_on_channels_for_what_their_parent_sends_later) {
  on_any_number_of_processors([](const runq::options& o) {
    for (std::size_t i = 0; i != sched_test::rounds(500); ++i) {
      const int sum = runq::run(
          []() -> task<int> {
            runq::channel<int> numbers;
            const auto receive = [&numbers]() -> task<int> { co_return *co_await numbers.receive(); };
            std::vector<runq::forked<int>> children;
            for (int n = 0; n != 10; ++n) children.push_back(co_await runq::fork(receive()));
            for (int n = 0; n != 10; ++n) co_await numbers.send(n);
            co_await runq::join();
            int total = 0;
            for (auto& child : children) total += child.get();
            co_return total;
          },
          o);
      ASSERT_EQ(sum, 45);
    }
  });
}

TEST_P(fork_join, children_may_wait_for_each_other) {
  on_any_number_of_processors([](const runq::options& o) {
    for (std::size_t i = 0; i != sched_test::rounds(500); ++i) {
      runq::run(
          []() -> task<> {
            runq::channel<int> a;
            runq::channel<int> b;
            const auto first = [&]() -> task<int> {
              co_await a.send(1);
              co_return *co_await b.receive();
            };
            const auto second = [&]() -> task<int> {
              const int n = *co_await a.receive();
              co_await b.send(n + 1);
              co_return n;
            };
            auto x = co_await runq::fork(first());
            auto y = co_await runq::fork(second());
            co_await runq::join();
            EXPECT_EQ(x.get(), 2);
            EXPECT_EQ(y.get(), 1);
          },
          o);
    }
  });
}

task<int> nested_with_waits(int depth, runq::channel<int>& c) {
  if (depth == 0) {
    co_await runq::yield();
    co_await c.send(1);
    co_return 1;
  }
  auto a = co_await runq::fork(nested_with_waits(depth - 1, c));
  auto b = co_await runq::fork(nested_with_waits(depth - 1, c));
  co_await runq::yield();
  co_await runq::join();
  co_return a.get() + b.get();
}

TEST_P(fork_join, a_tree_whose_leaves_wait_is_joined_at_every_node) {
  on_any_number_of_processors([](const runq::options& o) {
    runq::run(
        []() -> task<> {
          runq::channel<int> c;
          std::atomic<int> received{0};
          runq::go([&]() -> task<> {
            while (auto n = co_await c.receive()) received += *n;
          });
          EXPECT_EQ(co_await nested_with_waits(8, c), 256);
          co_await sched_test::yield_until([&] { return received.load() == 256; });
          c.close();
        },
        o);
  });
}

TEST_P(fork_join, many_tasks_fork_and_join_at_the_same_time) {
  on_any_number_of_processors([](const runq::options& o) {
    runq::run(
        []() -> task<> {
          runq::wait_group group;
          group.add(50);
          std::atomic<int> sum{0};
          for (int i = 0; i != 50; ++i) {
            runq::go([&]() -> task<> {
              sum += co_await fib(8);
              co_await runq::yield();
              sum += co_await fib(7);
              group.done();
            });
          }
          co_await group.wait();
          EXPECT_EQ(sum, 50 * (21 + 13));
        },
        o);
  });
}

TEST_P(fork_join, L18_forked_children_run_at_the_same_time_where_there_are_processors) {
  runq::run(
      []() -> task<> {
        for (int round = 0; round != 10; ++round) {
          std::atomic<unsigned> turn{0};
          const auto pass = [&turn](unsigned self) -> task<> {
            sched_test::pass_tokens(turn, self, 4, 10);
            co_return;
          };
          for (unsigned i = 0; i != 3; ++i) co_await runq::fork(pass(i));
          co_await pass(3);
          co_await runq::join();
        }
      },
      {.procs = 4, .forks = GetParam()});
}

// On one processor no tasks are stolen. With continuations, therefore, the order is that of function calls.
TEST_P(fork_join, WT8_the_order_on_one_processor_is_that_of_the_policy) {
  std::string order;
  const auto child = [&order](char name) -> task<> {
    order += name;
    co_return;
  };
  runq::run(
      [&]() -> task<> {
        for (const char name : {'a', 'b', 'c'}) {
          co_await runq::fork(child(name));
          order += '.';
        }
        co_await runq::join();
      },
      {.procs = 1, .forks = GetParam()});
  switch (GetParam()) {
    case fork_policy::continuation: EXPECT_EQ(order, "a.b.c."); break;
    case fork_policy::child: EXPECT_EQ(order, "...cba"); break;
    case fork_policy::task: EXPECT_EQ(order, "...cab"); break;
  }
}

TEST_P(fork_join, children_survive_changes_of_the_number_of_processors) {
  runq::scheduler s({.procs = 4, .forks = GetParam()});
  std::atomic<bool> stop{false};
  std::thread resizer([&] {
    for (unsigned i = 0; !stop; ++i) {
      s.set_procs(1 + i % 5);
      std::this_thread::yield();
    }
  });
  s.run([]() -> task<> {
    for (std::size_t i = 0; i != sched_test::rounds(500); ++i) EXPECT_EQ(co_await fib(12), 144);
  });
  stop = true;
  resizer.join();
}

// When the second processor is retired, it runs either the parent or the child, and the other one waits in its deque.
TEST_P(fork_join, L11_what_was_forked_on_a_processor_that_is_given_up_moves_to_the_global_queue) {
  runq::scheduler s({.procs = 2, .forks = GetParam()});
  bool joined = false;
  s.run([&]() -> task<> {
    while (runq::this_task::processor() != 0) co_await runq::yield();
    std::atomic<bool> one_runs{false};
    std::atomic<bool> gone{false};
    runq::channel<int> gate;
    runq::channel<bool> done;
    const auto hold_then_wait = [&]() -> task<> {
      if (!one_runs.exchange(true)) hold_until([&] { return gone.load(); }, "the processor goes");
      (void)co_await gate.receive();
    };
    runq::go([&]() -> task<> {
      co_await runq::fork(hold_then_wait());
      co_await hold_then_wait();
      co_await runq::join();
      joined = true;
      co_await done.send(true);
    });
    hold_until([&] { return one_runs.load(); }, "the other processor takes the parent");
    EXPECT_EQ(s.set_procs(1), 2U);
    gone = true;
    hold_until([&] { return s.stats().global_queue == 1; }, "what waits in the deque is in the global queue");
    co_await gate.send(1);
    co_await gate.send(2);
    (void)co_await done.receive();
  });
  EXPECT_TRUE(joined);
}

TEST_P(fork_join, tasks_that_wait_for_their_children_end_with_main) {
  for (const unsigned procs : {1U, 4U}) {
    runq::channel<int> never;
    std::atomic<int> waiting{0};
    const auto child = [&]() -> task<int> {
      ++waiting;
      co_return *co_await never.receive();
    };
    runq::run(
        [&]() -> task<> {
          for (int i = 0; i != 5; ++i) {
            runq::go([&]() -> task<> {
              auto a = co_await runq::fork(child());
              auto b = co_await runq::fork(child());
              co_await runq::join();
              (void)a.get();
              (void)b.get();
            });
          }
          co_await sched_test::yield_until([&] { return waiting == 10; });
        },
        {.procs = procs, .forks = GetParam()});
  }
}

struct goes_down {
  explicit goes_down(std::atomic<int>& of) : n(of) { ++n; }
  goes_down(const goes_down&) = delete;
  ~goes_down() { --n; }
  std::atomic<int>& n;
};

TEST_P(fork_join, children_without_results_that_wait_end_with_main_and_are_destroyed) {
  for (const unsigned procs : {1U, 4U}) {
    std::atomic<int> alive{0};
    runq::channel<int> never;
    const auto child = [&]() -> task<> {
      const goes_down here(alive);
      (void)co_await never.receive();
    };
    runq::run(
        [&]() -> task<> {
          runq::go([&]() -> task<> {
            co_await runq::fork(child());
            co_await runq::fork(child());
            co_await runq::join();
          });
          co_await sched_test::yield_until([&] { return alive == 2; });
        },
        {.procs = procs, .forks = GetParam()});
    EXPECT_EQ(alive, 0);
  }
}

// The parents wait at a join, at a channel, or for a task that they called. Some children have children of their own.
TEST_P(fork_join, children_of_all_kinds_end_with_main_and_channels_forget_them) {
  for (const unsigned procs : {1U, 4U}) {
    runq::scheduler s({.procs = procs, .forks = GetParam()});
    runq::channel<int> never;
    std::atomic<int> alive{0};
    std::atomic<int> waiting{0};
    const auto leaf = [&]() -> task<> {
      const goes_down here(alive);
      ++waiting;
      (void)co_await never.receive();
    };
    const auto leaf_with_result = [&]() -> task<int> {
      co_await leaf();
      co_return 1;
    };
    const auto branch = [&](bool joins) -> task<> {
      const goes_down here(alive);
      co_await runq::fork(leaf());
      const auto result = co_await runq::fork(leaf_with_result());
      co_await runq::fork(leaf());
      if (!joins) co_await leaf();
      co_await runq::join();
    };
    const auto called = [&]() -> task<> {
      co_await runq::fork(branch(true));
      co_await runq::fork(branch(false));
      co_await runq::join();
    };
    for (std::size_t i = 0; i != sched_test::rounds(200); ++i) {
      waiting = 0;
      s.run([&]() -> task<> {
        runq::go([&]() -> task<> { co_await called(); });
        co_await sched_test::yield_until([&] { return waiting == 7; });
      });
      ASSERT_EQ(alive, 0);
      ASSERT_EQ(never.try_send(1), runq::channel_result::waits) << "a child that has ended has received";
    }
  }
}

// On one processor the first child gets turns, and may end, while a younger child runs and the parent is in the deque.
TEST_P(fork_join, a_child_may_end_while_its_parent_is_behind_another_one) {
  constexpr int n = 40;
  std::atomic<int> alive{0};
  for (int yields = 0; yields != 20; ++yields) {
    runq::run(
        [&]() -> task<> {
          runq::channel<int> gate;
          const auto first = [](int times, std::shared_ptr<goes_down>) -> task<> {
            for (int i = 0; i != times; ++i) co_await runq::yield();
          };
          const auto other = [&](std::shared_ptr<goes_down>) -> task<> { (void)co_await gate.receive(); };
          for (int round = 0; round != 3; ++round) {
            co_await runq::fork(first(yields, std::make_shared<goes_down>(alive)));
            for (int i = 0; i != n; ++i) co_await runq::fork(other(std::make_shared<goes_down>(alive)));
            for (int i = 0; i != n; ++i) co_await gate.send(i);
            co_await runq::join();
            EXPECT_EQ(alive, 0);
          }
        },
        {.procs = 1, .forks = GetParam()});
  }
}

// When main ends, some children have not begun and others are running.
TEST_P(fork_join, children_that_main_overtakes_are_destroyed_once) {
  for (const unsigned procs : {1U, 4U}) {
    runq::scheduler s({.procs = procs, .forks = GetParam()});
    std::atomic<int> alive{0};
    const auto child = [](std::shared_ptr<goes_down>) -> task<> { co_await runq::yield(); };
    for (std::size_t i = 0; i != sched_test::rounds(2000); ++i) {
      s.run([&]() -> task<> {
        runq::go([&]() -> task<> {
          for (;;) {
            for (int k = 0; k != 5; ++k) co_await runq::fork(child(std::make_shared<goes_down>(alive)));
            co_await runq::join();
          }
        });
        for (std::size_t k = 0; k != i % 9; ++k) co_await runq::yield();
      });
      ASSERT_EQ(alive, 0);
    }
  }
}

// ---- misuse ---------------------------------------------------------------------------------------------------------

constexpr const char* too_early = "runq: the result of a forked task was asked for before co_await runq::join()";

TEST_P(fork_join, a_result_asked_for_before_the_join_is_misuse) {
  runq::run(
      []() -> task<> {
        runq::channel<int> gate;
        const auto wait = [&gate]() -> task<int> { co_return *co_await gate.receive(); };
        auto child = co_await runq::fork(wait());
        EXPECT_EQ(sched_test::misuse_of([&] { (void)child.get(); }), too_early);
        co_await gate.send(3);
        co_await runq::join();
        EXPECT_EQ(child.get(), 3);
        auto moved = std::move(child);
        EXPECT_EQ(sched_test::misuse_of([&] { (void)child.get(); }), too_early);
        runq::forked<int> none;
        EXPECT_EQ(sched_test::misuse_of([&] { (void)none.get(); }), too_early);
        none = std::move(moved);
        EXPECT_EQ(none.get(), 3);
        EXPECT_EQ(sched_test::misuse_of([&] { (void)moved.get(); }), too_early);
        none = runq::forked<int>();  // destroys the child
        EXPECT_EQ(sched_test::misuse_of([&] { (void)none.get(); }), too_early);
      },
      {.procs = 2, .forks = GetParam()});
}

TEST_P(fork_join, a_result_asked_for_before_the_join_is_whole_or_misuse) {
  on_any_number_of_processors([](const runq::options& o) {
    runq::run(
        []() -> task<> {
          const auto counts = [](std::size_t n) -> task<std::vector<std::size_t>> {
            std::vector<std::size_t> numbers(n);
            std::iota(numbers.begin(), numbers.end(), std::size_t{0});
            co_return numbers;
          };
          for (std::size_t n = 0; n != sched_test::rounds(500); ++n) {
            auto child = co_await runq::fork(counts(n));
            std::vector<std::size_t> numbers;
            bool has = false;
            const std::string misuse = sched_test::misuse_of([&] {
              numbers = child.get();
              has = true;
            });
            co_await runq::join();
            if (!has) {
              EXPECT_EQ(misuse, too_early);
              numbers = child.get();
            }
            EXPECT_EQ(numbers.size(), n);
            for (std::size_t i = 0; i != numbers.size(); ++i) EXPECT_EQ(numbers[i], i);
          }
        },
        o);
  });
}

TEST_P(fork_join, forking_a_task_twice_or_after_a_move_is_misuse) {
  constexpr const char* text = "runq: forked a task that was moved from or awaited";
  runq::run(
      [&]() -> task<> {
        auto awaited = plus_one(1);
        (void)co_await awaited;
        EXPECT_EQ(co_await sched_test::misuse_in_task([&] { return runq::fork(std::move(awaited)); }), text);
        auto gone = plus_one(1);
        auto other = std::move(gone);
        EXPECT_EQ(co_await sched_test::misuse_in_task([&] { return runq::fork(std::move(gone)); }), text);
        EXPECT_EQ(co_await other, 2);
      },
      {.procs = 2, .forks = GetParam()});
}

const std::string not_joined =
    "^panic: runq: a task that has forked others went on past its end, or dropped the result of one, before co_await "
    "runq::join\\(\\); if an exception did that, runq::with_scope\\(\\) joins by itself\n";
const std::string left_by_exception = not_joined + "The task was left by an exception: ";

TEST_P(fork_join, a_result_dropped_before_the_join_ends_the_process) {
  RUNQ_EXPECT_STATUS_2(runq::run(
                           []() -> task<> {
                             runq::channel<int> never;
                             const auto wait = [&never]() -> task<int> { co_return *co_await never.receive(); };
                             { auto child = co_await runq::fork(wait()); }
                           },
                           {.procs = 2, .forks = GetParam()}),
                       not_joined);
}

TEST_P(fork_join, a_task_that_ends_before_its_children_ends_the_process) {
  RUNQ_EXPECT_STATUS_2(runq::run(
                           []() -> task<> {
                             runq::channel<int> never;
                             const auto wait = [&never]() -> task<> { (void)co_await never.receive(); };
                             const auto parent = [&]() -> task<> { co_await runq::fork(wait()); };
                             co_await parent();
                           },
                           {.procs = 2, .forks = GetParam()}),
                       not_joined);
}

// So the mistake shows on one processor, too, where a child most often ends before its parent goes on.
TEST_P(fork_join, so_does_one_that_ends_before_its_join_though_its_children_have_ended) {
  const auto quick = []() -> task<> { co_return; };
  const auto forgets = [&]() -> task<> { co_await runq::fork(quick()); };
  const auto throws = [&]() -> task<> {
    co_await runq::fork(quick());
    throw std::runtime_error("between fork and join");
  };
  const auto drops_a_result = []() -> task<> {
    const auto one = co_await runq::fork(plus_one(1));
    throw std::runtime_error("between fork and join");
  };
  const auto forks_again = [&]() -> task<> {
    co_await runq::fork(quick());
    co_await runq::join();
    co_await runq::fork(quick());
  };
  const runq::options o{.procs = 1, .forks = GetParam()};
  RUNQ_EXPECT_STATUS_2(runq::run(forgets, o), not_joined + "$");
  RUNQ_EXPECT_STATUS_2(runq::run(throws, o), left_by_exception + "between fork and join\n$");
  // Which of the two depends on whether the child has ended.
  RUNQ_EXPECT_STATUS_2(runq::run(drops_a_result, o),
                       not_joined + "(The task was left by an exception: between|An exception dropped the result)");
  RUNQ_EXPECT_STATUS_2(runq::run(forks_again, o), not_joined);
}

TEST_P(fork_join, an_exception_that_leaves_a_task_which_owes_a_join_is_named_in_the_message) {
  const auto quick = []() -> task<> { co_return; };
  const auto throws = [&](bool literal) -> task<> {
    co_await runq::fork(quick());
    if (literal) throw "a literal";
    throw std::out_of_range("of a child");
  };
  const auto in_a_child = [&]() -> task<> {
    co_await runq::fork(throws(false));
    co_await runq::join();
  };
  const auto in_a_call = [&]() -> task<> {
    try {
      co_await throws(true);
    } catch (const char*) {
    }
  };
  const auto in_a_task_of_a_scope = [&]() -> task<> {
    co_await runq::with_scope([&](runq::scope& s) -> task<> {
      s.go(throws(false));
      co_return;
    });
  };
  const runq::options o{.procs = 1, .forks = GetParam()};
  RUNQ_EXPECT_STATUS_2(runq::run(in_a_child, o), left_by_exception + "of a child\n$");
  RUNQ_EXPECT_STATUS_2(runq::run(in_a_call, o), left_by_exception + "a literal\n$");
  RUNQ_EXPECT_STATUS_2(runq::run(in_a_task_of_a_scope, o), left_by_exception + "of a child\n$");
}

// No handler has the exception yet when it drops the handle.
TEST_P(fork_join, an_exception_that_drops_a_result_before_its_child_has_ended_cannot_be_named) {
  RUNQ_EXPECT_STATUS_2(runq::run(
                           []() -> task<> {
                             runq::channel<int> never;
                             const auto wait = [&never]() -> task<int> { co_return *co_await never.receive(); };
                             const auto child = co_await runq::fork(wait());
                             throw std::runtime_error("unknown");
                           },
                           {.procs = 2, .forks = GetParam()}),
                       not_joined +
                           "An exception dropped the result; its text is not known before a handler has "
                           "caught it\\.\n$");
}

}  // namespace
