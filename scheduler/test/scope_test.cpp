// SPDX-License-Identifier: MIT
// with_scope(): a scope's children end before the scope, however it ends. With each fork policy and 1 to 16 processors.
// Rows SC1, SC2, SC15.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <exception>
#include <iterator>
#include <list>
#include <memory>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <pthread.h>

#include "fork_policies.hpp"
#include "support.hpp"

namespace {

using namespace std::chrono_literals;
using runq::fork_policy;
using runq::scope;
using runq::task;
using runq::with_scope;
using testing::ElementsAre;
using testing::UnorderedElementsAre;

class scopes : public sched_test::with_fork_policy {};

INSTANTIATE_TEST_SUITE_P(policies, scopes, sched_test::every_fork_policy, sched_test::name_of_fork_policy);

std::string text_of(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const std::exception& e) {
    return e.what();
  }
}

std::vector<std::string> texts_of(const std::vector<std::exception_ptr>& errors) {
  std::vector<std::string> texts;
  for (const auto& error : errors) texts.push_back(text_of(error));
  return texts;
}

/// The text of the exception that with_scope() throws.
template <class Body>
task<std::string> failure_of(Body& body, std::vector<std::exception_ptr>* failures = nullptr) {
  std::string text = "(threw nothing)";
  try {
    co_await with_scope(body, {}, failures);
  } catch (const std::exception& error) {
    text = error.what();
  }
  co_return text;
}

/// An object that counts how many of its kind are alive.
class counted {
 public:
  explicit counted(std::atomic<int>& n) : n_(&n) { ++*n_; }
  counted(counted&& other) noexcept : n_(std::exchange(other.n_, nullptr)) {}
  counted(const counted&) = delete;
  counted& operator=(const counted&) = delete;
  counted& operator=(counted&&) = delete;
  ~counted() {
    if (n_ != nullptr) --*n_;
  }

 private:
  std::atomic<int>* n_;
};

/// A task that ends when it is asked to stop.
task<> until_stopped(std::stop_token stop) { EXPECT_EQ(co_await runq::select(std::move(stop)), runq::stopped); }
task<int> until_stopped(std::stop_token stop, int result) {
  co_await until_stopped(std::move(stop));
  co_return result;
}

TEST_P(scopes, SC1_children_end_before_the_scope_without_a_join) {
  on_any_number_of_processors([](const runq::options& o) {
    runq::run(
        []() -> task<> {
          for (std::size_t round = 0; round != sched_test::rounds(500); ++round) {
            std::vector<int> results(20);
            const auto set = [&results](std::size_t i) -> task<> {
              co_await runq::yield();
              results[i] = 1;
            };
            co_await with_scope([&](scope& s) -> task<> {
              for (std::size_t i = 0; i != 10; ++i) co_await s.fork(set(i));
              for (std::size_t i = 10; i != 20; ++i) s.go(set(i));
            });
            EXPECT_THAT(results, testing::Each(1));
          }
        },
        o);
  });
}

TEST_P(scopes, SC1_the_body_may_drop_the_handle_of_a_child_that_is_about_to_end) {
  on_any_number_of_processors([](const runq::options& o) {
    runq::run(
        []() -> task<> {
          for (std::size_t round = 0; round != sched_test::rounds(500); ++round) {
            int ended = 0;
            std::atomic<bool> is_about_to_end = false;
            const auto child = [&]() -> task<int> {
              if (round % 2 == 0) co_await runq::yield();
              ++ended;
              is_about_to_end.store(true, std::memory_order::relaxed);
              co_return 1;
            };
            co_await with_scope([&](scope& s) -> task<> {
              auto dropped = co_await s.fork(child());
              while (!is_about_to_end.load(std::memory_order::relaxed)) co_await runq::yield();
            });
            EXPECT_EQ(ended, 1);
          }
        },
        o);
  });
}

TEST_P(scopes, the_result_of_the_body_comes_back) {
  on_any_number_of_processors([](const runq::options& o) {
    const auto twice = [](int n) -> task<int> { co_return 2 * n; };
    const int sum = runq::run(
        [&]() -> task<int> {
          co_return co_await with_scope([&](scope& s) -> task<int> {
            auto a = co_await s.fork(twice(1));
            auto b = co_await runq::fork(twice(2));
            co_await runq::join();
            co_return a.get() + b.get();
          });
        },
        o);
    EXPECT_EQ(sum, 6);
  });
}

TEST_P(scopes, SC1_an_exception_between_fork_and_join_waits_for_the_children_and_asks_them_to_stop) {
  on_any_number_of_processors([](const runq::options& o) {
    runq::run(
        []() -> task<> {
          std::atomic<int> there = 0;
          const auto body = [&there](scope& s) -> task<> {
            const auto child = [](std::stop_token stop, counted guard) -> task<> {
              co_await until_stopped(std::move(stop));
              co_await runq::yield();
              (void)guard;
            };
            co_await s.fork(child(s.stop_token(), counted(there)));
            auto a = co_await s.fork(until_stopped(s.stop_token(), 1));
            s.go(child(s.stop_token(), counted(there)));
            auto b = co_await runq::fork(until_stopped(s.stop_token(), 2));
            throw std::runtime_error("between fork and join");
          };
          EXPECT_EQ(co_await failure_of(body), "between fork and join");
          EXPECT_EQ(there, 0);
        },
        o);
  });
}

TEST_P(scopes, SC2_the_first_failure_of_a_child_stops_the_others_and_the_others_are_kept) {
  on_any_number_of_processors([](const runq::options& o) {
    runq::run(
        []() -> task<> {
          const auto fails_second = [](std::stop_token stop, const char* text) -> task<> {
            co_await until_stopped(std::move(stop));
            throw std::runtime_error(text);
          };
          runq::channel<int> begin;
          const auto fails_first = [&begin]() -> task<int> {
            (void)co_await begin.receive();
            throw std::runtime_error("first");
          };
          const auto body = [&](scope& s) -> task<int> {
            co_await s.fork(fails_second(s.stop_token(), "forked"));
            auto first = co_await s.fork(fails_first());
            s.go([&s, &fails_second]() -> task<> { co_await fails_second(s.stop_token(), "started"); });
            EXPECT_FALSE(s.failed());
            co_await begin.send(0);
            co_await until_stopped(s.stop_token());
            EXPECT_TRUE(s.failed());
            co_return 0;
          };
          std::vector<std::exception_ptr> failures;
          EXPECT_EQ(co_await failure_of(body, &failures), "first");
          const auto texts = texts_of(failures);
          EXPECT_THAT(texts, UnorderedElementsAre("first", "forked", "started"));
          EXPECT_EQ(texts.at(0), "first");
        },
        o);
  });
}

TEST_P(scopes, SC2_failures_stand_behind_those_of_an_earlier_scope) {
  runq::run([]() -> task<> {
    std::vector<std::exception_ptr> failures;
    for (const char* text : {"of the first scope", "of the second scope"}) {
      const auto body = [text](scope& s) -> task<> {
        s.go([text] { throw std::runtime_error(text); });
        co_return;
      };
      EXPECT_EQ(co_await failure_of(body, &failures), text);
    }
    EXPECT_THAT(texts_of(failures), ElementsAre("of the first scope", "of the second scope"));
  });
}

TEST_P(scopes, SC2_a_started_child_of_each_kind_may_fail) {
  on_any_number_of_processors([](const runq::options& o) {
    runq::run(
        []() -> task<> {
          const auto fails = [](const char* text) -> task<> {
            throw std::runtime_error(text);
            co_return;
          };
          const auto fails_to_return = [](const char* text) -> task<int> {
            co_await runq::yield();
            throw std::runtime_error(text);
          };
          const auto body = [&](scope& s) -> task<> {
            s.go(fails("a task"));
            s.go(fails_to_return("a task with a result"));
            s.go([&] { return fails("of a function"); });
            s.go([&] { return fails_to_return("with a result, of a function"); });
            s.go([] { throw std::runtime_error("a plain function"); });
            co_return;
          };
          std::vector<std::exception_ptr> failures;
          const std::string first = co_await failure_of(body, &failures);
          const auto texts = texts_of(failures);
          EXPECT_THAT(texts, UnorderedElementsAre("a task", "a task with a result", "of a function",
                                                  "with a result, of a function", "a plain function"));
          EXPECT_EQ(first, texts.front());
        },
        o);
  });
}

TEST_P(scopes, SC2_a_join_in_the_body_throws_what_a_child_has_thrown) {
  on_any_number_of_processors([](const runq::options& o) {
    runq::run(
        []() -> task<> {
          const auto fails = []() -> task<> {
            throw std::runtime_error("of the child");
            co_return;
          };
          bool went_on = false;
          const auto body = [&](scope& s) -> task<> {
            co_await s.fork(fails());
            co_await runq::join();
            went_on = true;
          };
          EXPECT_EQ(co_await failure_of(body), "of the child");
          EXPECT_FALSE(went_on);
        },
        o);
  });
}

TEST_P(scopes, SC2_scopes_within_scopes_stop_with_the_outer_one) {
  on_any_number_of_processors([](const runq::options& o) {
    runq::run(
        []() -> task<> {
          int ended = 0;
          const auto inner = [&ended](std::stop_token outer) -> task<> {
            co_await with_scope(
                [](scope& s) -> task<> {
                  co_await s.fork(until_stopped(s.stop_token()));
                  s.go(until_stopped(s.stop_token()));
                },
                std::move(outer));
            ++ended;
          };
          const auto body = [&](scope& s) -> task<> {
            co_await s.fork(inner(s.stop_token()));
            throw std::runtime_error("outer");
          };
          EXPECT_EQ(co_await failure_of(body), "outer");
          EXPECT_EQ(ended, 1);
        },
        o);
  });
}

TEST(scopes, SC2_a_request_to_stop_is_no_failure) {
  runq::run([]() -> task<> {
    co_await with_scope([](scope& s) -> task<> {
      s.go(until_stopped(s.stop_token()));
      s.request_stop();
      EXPECT_FALSE(s.failed());
      co_return;
    });
  });
}

// ---- what was not done is not reported as done ----------------------------------------------------------------------

/// How an await has ended.
enum class outcome { returned, cancelled, timed_out, failed };
template <class Make>
task<outcome> outcome_of(Make& make) {
  auto how = outcome::returned;
  try {
    co_await make();
  } catch (const runq::timed_out&) {
    how = outcome::timed_out;
  } catch (const runq::cancelled&) {
    how = outcome::cancelled;
  } catch (const std::exception&) {
    how = outcome::failed;
  }
  co_return how;
}

/// Work that takes an hour unless it is asked to stop.
task<> long_work(std::stop_token stop, int& done) {
  co_await runq::sleep_for(1h, std::move(stop));
  ++done;
}
/// A scope with a forked or a started child, or both, that work long.
struct long_scope {
  bool forks;
  bool starts;
  int done = 0;
  task<> operator()(std::stop_token outer) {
    const auto body = [this](scope& s) -> task<> {
      if (forks) co_await s.fork(long_work(s.stop_token(), done));
      if (starts) s.go(long_work(s.stop_token(), done));
    };
    co_await with_scope(body, std::move(outer));
  }
};

TEST_P(scopes, SC15_children_that_the_outer_token_cancels_are_not_reported_as_done) {
  on_any_number_of_processors([](const runq::options& o) {
    runq::run(
        []() -> task<> {
          for (const auto& [forks, starts] : {std::pair(true, false), std::pair(false, true), std::pair(true, true)}) {
            long_scope work{forks, starts};
            std::stop_source early;
            early.request_stop();
            const auto stopped_before = [&] { return work(early.get_token()); };
            EXPECT_EQ(co_await outcome_of(stopped_before), outcome::cancelled);
            std::stop_source late;
            runq::go([&late]() -> task<> {
              for (int i = 0; i != 5; ++i) co_await runq::yield();
              late.request_stop();
            });
            const auto stopped_meanwhile = [&] { return work(late.get_token()); };
            EXPECT_EQ(co_await outcome_of(stopped_meanwhile), outcome::cancelled);
            const auto limited = [&] { return runq::with_timeout(1ms, work); };
            EXPECT_EQ(co_await outcome_of(limited), outcome::timed_out);
            EXPECT_EQ(work.done, 0);
          }
        },
        o);
  });
}

TEST_P(scopes, SC15_children_that_end_although_the_outer_token_has_stopped_are_reported_as_done) {
  on_any_number_of_processors([](const runq::options& o) {
    runq::run(
        []() -> task<> {
          std::stop_source asked;
          asked.request_stop();
          std::atomic<int> done{0};
          const auto body = [&](scope& s) -> task<> {
            co_await s.fork([](std::atomic<int>& n) -> task<> {
              ++n;
              co_return;
            }(done));
            s.go([&done] { ++done; });
            // It looks at the token itself: nobody but this child knows that there was more to do.
            s.go(until_stopped(s.stop_token()));
          };
          const auto all_end = [&]() -> task<> { co_await with_scope(body, asked.get_token()); };
          EXPECT_EQ(co_await outcome_of(all_end), outcome::returned);
          EXPECT_EQ(done, 2);
          const auto without_children = [&]() -> task<> {
            const auto nothing = [](scope&) -> task<> { co_return; };
            co_await with_scope(nothing, asked.get_token());
          };
          EXPECT_EQ(co_await outcome_of(without_children), outcome::returned);
        },
        o);
  });
}

TEST_P(scopes, SC15_a_scope_that_asks_itself_to_stop_gets_what_it_asked_for) {
  on_any_number_of_processors([](const runq::options& o) {
    runq::run(
        []() -> task<> {
          int done = 0;
          std::stop_source never;
          const auto by_body = [&](scope& s) -> task<> {
            co_await s.fork(long_work(s.stop_token(), done));
            s.go(long_work(s.stop_token(), done));
            s.request_stop();
          };
          const auto by_child = [&](scope& s) -> task<> {
            s.go(long_work(s.stop_token(), done));
            s.go([&s] { s.request_stop(); });
            co_return;
          };
          const auto body_asks = [&]() -> task<> { co_await with_scope(by_body, never.get_token()); };
          const auto child_asks = [&]() -> task<> { co_await with_scope(by_child, never.get_token()); };
          EXPECT_EQ(co_await outcome_of(body_asks), outcome::returned);
          EXPECT_EQ(co_await outcome_of(child_asks), outcome::returned);
          EXPECT_EQ(done, 0);
        },
        o);
  });
}

TEST_P(scopes, SC15_of_both_requests_the_outer_one_counts_for_children_that_are_cancelled_after_it) {
  on_any_number_of_processors([](const runq::options& o) {
    runq::run(
        []() -> task<> {
          int done = 0;
          for (const bool outer_is_first : {true, false}) {
            std::stop_source outer;
            const auto body = [&](scope& s) -> task<> {
              if (outer_is_first) outer.request_stop();
              s.request_stop();
              runq::wait_group cancelled;
              cancelled.add(1);
              s.go([&]() -> task<> {
                try {
                  co_await long_work(s.stop_token(), done);
                } catch (const runq::cancelled&) {
                  cancelled.done();
                  throw;
                }
              });
              co_await cancelled.wait();
            };
            const auto both_ask = [&]() -> task<> {
              co_await with_scope(body, outer.get_token());
              outer.request_stop();
            };
            EXPECT_EQ(co_await outcome_of(both_ask), outer_is_first ? outcome::cancelled : outcome::returned);
          }
          EXPECT_EQ(done, 0);
        },
        o);
  });
}

TEST_P(scopes, SC15_a_failure_wins_over_children_that_were_cancelled) {
  on_any_number_of_processors([](const runq::options& o) {
    runq::run(
        []() -> task<> {
          int done = 0;
          std::stop_source asked;
          asked.request_stop();
          std::vector<std::exception_ptr> failures;
          const auto body = [&](scope& s) -> task<> {
            s.go(long_work(s.stop_token(), done));
            s.go([] { throw std::runtime_error("of a child"); });
            co_return;
          };
          const auto both = [&]() -> task<> { co_await with_scope(body, asked.get_token(), &failures); };
          EXPECT_EQ(co_await outcome_of(both), outcome::failed);
          // What was cancelled is no failure.
          EXPECT_THAT(texts_of(failures), ElementsAre("of a child"));
        },
        o);
  });
}

TEST_P(scopes, SC15_a_join_in_the_body_throws_when_the_outer_token_has_cancelled_a_child) {
  on_any_number_of_processors([](const runq::options& o) {
    runq::run(
        []() -> task<> {
          int done = 0;
          for (const bool outer_asks : {true, false}) {
            std::stop_source outer;
            if (outer_asks) outer.request_stop();
            bool joined = false;
            std::vector<std::exception_ptr> failures;
            const auto body = [&](scope& s) -> task<> {
              co_await s.fork(long_work(s.stop_token(), done));
              s.request_stop();
              co_await runq::join();
              joined = true;
            };
            const auto joins = [&]() -> task<> { co_await with_scope(body, outer.get_token(), &failures); };
            EXPECT_EQ(co_await outcome_of(joins), outer_asks ? outcome::cancelled : outcome::returned);
            EXPECT_EQ(joined, !outer_asks);
            EXPECT_TRUE(failures.empty());
          }
          EXPECT_EQ(done, 0);
        },
        o);
  });
}

TEST_P(scopes, SC15_a_failure_wins_over_a_body_that_was_cancelled) {
  on_any_number_of_processors([](const runq::options& o) {
    runq::run(
        []() -> task<> {
          int done = 0;
          std::stop_source asked;
          asked.request_stop();
          const auto body = [&](scope& s) -> task<> {
            s.go([]() -> task<> {
              for (int i = 0; i != 5; ++i) co_await runq::yield();
              throw std::runtime_error("of a child");
            });
            co_await long_work(s.stop_token(), done);
          };
          const auto both = [&]() -> task<> { co_await with_scope(body, asked.get_token()); };
          EXPECT_EQ(co_await outcome_of(both), outcome::failed);
          const auto alone = [&]() -> task<> {
            const auto waits = [&](scope& s) -> task<> { co_await long_work(s.stop_token(), done); };
            co_await with_scope(waits, asked.get_token());
          };
          EXPECT_EQ(co_await outcome_of(alone), outcome::cancelled);
        },
        o);
  });
}

TEST_P(scopes, SC15_a_scope_within_another_hands_on_that_it_was_cut_short) {
  on_any_number_of_processors([](const runq::options& o) {
    runq::run(
        []() -> task<> {
          int done = 0;
          int after_inner = 0;
          std::stop_source outermost;
          const auto inner = [&](std::stop_token outer) -> task<> {
            const auto body = [&](scope& s) -> task<> {
              s.go(long_work(s.stop_token(), done));
              co_return;
            };
            co_await with_scope(body, std::move(outer));
            ++after_inner;
          };
          const auto ask_after_start = [&](scope& s, auto ask) -> task<> {
            s.go(inner(s.stop_token()));
            s.go(ask);
            co_return;
          };
          const auto own = [&]() -> task<> {
            const auto body = [&](scope& s) { return ask_after_start(s, [&s] { s.request_stop(); }); };
            co_await with_scope(body, outermost.get_token());
          };
          EXPECT_EQ(co_await outcome_of(own), outcome::returned);  // the middle scope wanted it
          const auto outer = [&]() -> task<> {
            const auto body = [&](scope& s) { return ask_after_start(s, [&outermost] { outermost.request_stop(); }); };
            co_await with_scope(body, outermost.get_token());
          };
          EXPECT_EQ(co_await outcome_of(outer), outcome::cancelled);
          EXPECT_EQ(done, 0);
          EXPECT_EQ(after_inner, 0);
        },
        o);
  });
}

TEST_P(scopes, SC1_children_start_children) {
  struct grows {
    scope& s;
    std::atomic<int>& leaves;
    task<> operator()(int depth) const {
      if (depth == 0) {
        ++leaves;
        co_return;
      }
      for (int i = 0; i != 3; ++i) s.go([this, depth]() -> task<> { co_await (*this)(depth - 1); });
    }
  };
  on_any_number_of_processors([](const runq::options& o) {
    runq::run(
        []() -> task<> {
          std::atomic<int> leaves = 0;
          std::optional<grows> tree;
          co_await with_scope([&](scope& s) -> task<> {
            tree.emplace(grows{s, leaves});
            co_await (*tree)(6);
          });
          EXPECT_EQ(leaves, 729);
        },
        o);
  });
}

TEST_P(scopes, SC1_what_a_started_child_owns_is_destroyed_before_the_scope_ends) {
  on_any_number_of_processors([](const runq::options& o) {
    runq::run(
        []() -> task<> {
          std::atomic<int> there = 0;
          for (std::size_t round = 0; round != sched_test::rounds(500); ++round) {
            co_await with_scope([&](scope& s) -> task<> {
              for (int i = 0; i != 4; ++i) {
                auto child = [guard = counted(there)]() -> task<> { co_await runq::yield(); };
                s.go(std::move(child));
                auto plain = [guard = counted(there)] {};
                s.go(std::move(plain));
              }
              co_return;
            });
            EXPECT_EQ(there, 0);
          }
        },
        o);
  });
}

TEST_P(scopes, a_body_without_children_may_return_throw_and_wait) {
  on_any_number_of_processors([](const runq::options& o) {
    runq::run(
        []() -> task<> {
          EXPECT_EQ(co_await with_scope([](scope&) -> task<int> { co_return 7; }), 7);
          co_await with_scope([](scope&) -> task<> { co_await runq::yield(); });
          const auto throws = [](scope&) -> task<int> {
            throw std::runtime_error("alone");
            co_return 0;
          };
          EXPECT_EQ(co_await failure_of(throws), "alone");
        },
        o);
  });
}

TEST_P(scopes, SC1_many_scopes_with_a_child_that_throws_leave_nothing) {
  runq::run(
      []() -> task<> {
        std::atomic<int> there = 0;
        const auto waits = [](std::stop_token stop, counted guard) -> task<> {
          co_await until_stopped(std::move(stop));
          (void)guard;
        };
        const auto throws = [](counted guard) -> task<> {
          (void)guard;
          throw std::runtime_error("thrown");
          co_return;
        };
        const auto body = [&](scope& s) -> task<> {
          co_await s.fork(waits(s.stop_token(), counted(there)));
          s.go(throws(counted(there)));
          s.go(waits(s.stop_token(), counted(there)));
        };
        for (std::size_t i = 0; i != sched_test::rounds(100'000); ++i) {
          if (co_await failure_of(body) != "thrown") ADD_FAILURE() << "scope " << i << " threw something else";
        }
        EXPECT_EQ(there, 0);
      },
      {.procs = 2, .forks = GetParam()});
}

// The run ends while scopes wait for their children. No scope and no child goes on. Everything in them is destroyed.
TEST_P(scopes, L2_a_run_may_end_while_scopes_wait_for_their_children) {
  on_any_number_of_processors([](const runq::options& o) {
    std::atomic<int> there = 0;
    std::atomic<int> waiting = 0;
    runq::run(
        [&]() -> task<> {
          // The children wait for ever. Main must end before the scheduler reports that as a deadlock.
          const auto child = [&](counted guard) -> task<> {
            ++waiting;
            runq::channel<int> never;
            (void)co_await never.receive();
            (void)guard;
          };
          const auto result = [&](counted guard) -> task<int> {
            co_await child(std::move(guard));
            co_return 0;
          };
          const auto with_forked = [&](scope& s) -> task<> {
            co_await s.fork(child(counted(there)));
            auto dropped = co_await s.fork(result(counted(there)));
            throw std::runtime_error("never seen");
          };
          const auto with_started = [&](scope& s) -> task<> {
            s.go(child(counted(there)));
            co_return;
          };
          runq::go([&]() -> task<> { co_await with_scope(with_forked); });
          runq::go([&]() -> task<> { co_await with_scope(with_started); });
          co_await sched_test::yield_until([&] { return waiting == 3; });
        },
        o);
    EXPECT_EQ(there, 0);
  });
}

TEST(scopes, misuse_says_what_to_do) {
  runq::run([]() -> task<> {
    co_await with_scope([&](scope& s) -> task<> {
      const auto helper = [&]() -> task<> {
        EXPECT_EQ(co_await sched_test::misuse_in_task_void([&] { return s.fork(until_stopped({})); }),
                  "runq: scope::fork() was called by a coroutine that is not the body of the scope; start the child by "
                  "scope::go() there");
      };
      co_await helper();
    });
    const auto starts_nothing = [](scope& s) -> task<> {
      auto child = until_stopped({});
      auto elsewhere = std::move(child);
      s.go(std::move(child));
      co_return;
    };
    EXPECT_EQ(co_await failure_of(starts_nothing), "runq: go() was given a task that was moved from");
    const auto moved_from = [](scope&) -> task<> {
      auto body = until_stopped({});
      auto elsewhere = std::move(body);
      return body;
    };
    EXPECT_EQ(co_await sched_test::misuse_in_task_void([&] { return with_scope(moved_from); }),
              "runq: the body of a scope returned a task that was moved from or awaited");
    auto used = [](scope&) -> task<> { co_return; };
    std::optional<task<>> awaited;
    const auto awaited_before = [&](scope&) -> task<> { return std::move(*awaited); };
    const auto await_it = [&](scope& s) -> task<> {
      awaited.emplace(used(s));
      co_await *awaited;
    };
    co_await with_scope(await_it);
    EXPECT_EQ(co_await sched_test::misuse_in_task_void([&] { return with_scope(awaited_before); }),
              "runq: the body of a scope returned a task that was moved from or awaited");
  });
}

TEST_P(scopes, SC1_a_use_after_the_end_is_misuse) {
  constexpr const char* ended = "runq: a scope was used after its body and all of its children had ended";
  runq::run(
      [&]() -> task<> {
        scope* kept = nullptr;
        const auto body = [&](scope& s) -> task<> {
          kept = &s;
          s.go([] {});
          co_return;
        };
        auto call = with_scope(body);  // the scope lies in it
        co_await call;
        EXPECT_EQ(sched_test::misuse_of([&] { kept->go([] { ADD_FAILURE() << "a child of no scope runs"; }); }), ended);
        EXPECT_EQ(sched_test::misuse_of([&] { (void)kept->fork(until_stopped({})); }), ended);
        EXPECT_EQ(sched_test::misuse_of([&] { (void)kept->stop_token(); }), ended);
        EXPECT_EQ(sched_test::misuse_of([&] { kept->request_stop(); }), ended);
        EXPECT_EQ(sched_test::misuse_of([&] { (void)kept->failed(); }), ended);
      },
      {.procs = 2, .forks = GetParam()});
}

// ---- stop requests that go through many scopes ----------------------------------------------------------------------

/// Calls `f` on a thread with a stack of so many bytes.
template <class F>
void call_on_stack_of(std::size_t bytes, F f) {
  pthread_attr_t attributes;
  ASSERT_EQ(pthread_attr_init(&attributes), 0);
  ASSERT_EQ(pthread_attr_setstacksize(&attributes, bytes), 0);
  pthread_t thread{};
  const auto call = [](void* given) -> void* {
    (*static_cast<F*>(given))();
    return nullptr;
  };
  ASSERT_EQ(pthread_create(&thread, &attributes, call, &f), 0);
  EXPECT_EQ(pthread_join(thread, nullptr), 0);
  pthread_attr_destroy(&attributes);
}

/// So many scopes, each within the one before; the innermost waits until it is asked to stop.
task<> scopes_within(std::size_t depth, std::stop_token outer, std::atomic<bool>& waits) {
  const auto body = [&](scope& s) -> task<> {
    if (depth != 1) {
      co_await scopes_within(depth - 1, s.stop_token(), waits);
      co_return;
    }
    waits = true;
    co_await until_stopped(s.stop_token());
  };
  co_await with_scope(body, std::move(outer));
}

// The request needs no stack as deep: each scope's would need 100 bytes and more.
TEST(scopes, a_stop_request_goes_through_scopes_within_scopes_in_a_loop) {
  constexpr std::size_t depth = sched_test::slow_build ? 20'000 : 150'000;
  std::stop_source all;
  std::atomic<bool> waits{false};
  runq::scheduler s({.procs = 1});
  std::thread requests([&] {
    ASSERT_TRUE(sched_test::wait_for(waits));
    call_on_stack_of(std::size_t{1} << 20, [&] { all.request_stop(); });
  });
  s.run([&]() -> task<> { co_await scopes_within(depth, all.get_token(), waits); });
  requests.join();
}

using runq::detail::scope_stopping;

/// What each scope of a list has, in which each is within the one before.
struct stopping_chain {
  stopping_chain(std::size_t n, const std::stop_token& outer) {
    for (std::size_t i = 0; i != n; ++i) all.emplace_back(i == 0 ? outer : all.back().source().get_token());
  }
  [[nodiscard]] bool stop_requested() const {
    return std::all_of(all.begin(), all.end(), [](const scope_stopping& s) { return s.stop_requested(); });
  }
  std::list<scope_stopping> all;
};

TEST(scopes, request_stop_returns_when_all_scopes_within_were_asked) {
  std::stop_source first;
  std::stop_source second;
  stopping_chain of_first(1'000, first.get_token());
  const stopping_chain of_second(1'000, second.get_token());
  // A callback is in the middle of the first chain's request, and makes one that goes through the second chain.
  const std::stop_callback on_stop(std::next(of_first.all.begin(), 500)->source().get_token(), [&] {
    second.request_stop();
    EXPECT_TRUE(of_second.stop_requested());
  });
  first.request_stop();
  EXPECT_TRUE(of_first.stop_requested());
  EXPECT_TRUE(of_second.stop_requested());
}

TEST(scopes, a_scope_within_one_that_was_asked_to_stop_is_asked_at_once) {
  std::stop_source outer;
  outer.request_stop();
  const stopping_chain within(3, outer.get_token());
  EXPECT_TRUE(within.stop_requested());
}

// Callbacks run before and after the scope's. The last one ends the scope, which is not asked yet: its token stops
// nevertheless.
TEST(scopes, a_scope_may_end_while_a_request_is_about_to_ask_it) {
  std::stop_source outer;
  std::optional<stopping_chain> middle(std::in_place, 1, outer.get_token());
  const std::stop_token of_middle = middle->all.back().source().get_token();
  int called = 0;
  std::optional<scope_stopping> within;
  std::stop_token of_within;
  const auto ends_it = [&] {
    if (++called != 2) return;
    EXPECT_FALSE(of_within.stop_requested());
    within.reset();
  };
  const std::stop_callback one(of_middle, ends_it);
  within.emplace(of_middle);
  of_within = within->source().get_token();
  const std::stop_callback other(of_middle, ends_it);
  outer.request_stop();
  EXPECT_EQ(called, 2);
  EXPECT_TRUE(of_within.stop_requested());
}

// ---- failures and cancellation --------------------------------------------------------------------------------------

task<> is_cancelled() {
  co_await runq::yield();
  throw runq::cancelled();
}

// No task has asked for the token when the first child fails.
TEST_P(scopes, a_token_that_is_asked_for_after_a_failure_has_stopped) {
  runq::run(
      []() -> task<> {
        bool had_stopped = false;
        const auto body = [&](scope& s) -> task<> {
          s.go([] { throw std::runtime_error("first"); });
          co_await sched_test::yield_until([&s] { return s.failed(); });
          s.go(is_cancelled());  // no failure any more
          s.request_stop();
          had_stopped = s.stop_token().stop_requested();
        };
        std::vector<std::exception_ptr> failures;
        EXPECT_EQ(co_await failure_of(body, &failures), "first");
        EXPECT_TRUE(had_stopped);
        EXPECT_THAT(texts_of(failures), ElementsAre("first"));
      },
      {.procs = 2, .forks = GetParam()});
}

// The scope has no stop source of its own, because nobody has asked for the token.
TEST_P(scopes, SC15_a_child_that_heeds_the_outer_token_itself_is_cut_short_and_has_not_failed) {
  runq::run(
      []() -> task<> {
        std::stop_source outer;
        const auto body = [&](scope& s) -> task<> {
          outer.request_stop();
          s.go(is_cancelled());
          co_await s.fork(is_cancelled());
        };
        std::vector<std::exception_ptr> failures;
        bool was_cancelled = false;
        try {
          co_await with_scope(body, outer.get_token(), &failures);
        } catch (const runq::cancelled&) {
          was_cancelled = true;
        }
        EXPECT_TRUE(was_cancelled);
        EXPECT_TRUE(failures.empty());
      },
      {.procs = 2, .forks = GetParam()});
}

}  // namespace
