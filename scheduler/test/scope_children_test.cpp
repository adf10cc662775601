// SPDX-License-Identifier: MIT
// Children of a scope that have a result, scope::spawn(), and children that run within a limit, scope::go_within().
// Rows SC1, SC2.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "support.hpp"

namespace {

using runq::task;

class scope_children : public sched_test::alarmed {
 protected:
  template <class F>
  static void on_any_number_of_processors(F&& f) {
    for (const unsigned procs : sched_test::proc_counts) runq::run(f, {.procs = procs});
  }
};

/// The text of what leaves a scope with this body.
template <class Body>
task<std::string> what_leaves(Body& body, std::stop_token outer = {},
                              std::vector<std::exception_ptr>* failures = nullptr) {
  std::string text = "(nothing)";
  try {
    co_await runq::with_scope(body, std::move(outer), failures);
  } catch (const std::exception& error) {
    text = error.what();
  }
  co_return text;
}

std::string text_of_failure(const std::exception_ptr& failure) {
  try {
    std::rethrow_exception(failure);
  } catch (const std::exception& error) {
    return error.what();
  }
}

const std::string was_cancelled = runq::cancelled().what();

// ---- results --------------------------------------------------------------------------------------------------------

TEST_F(scope_children, SC1_a_result_is_there_after_the_scope) {
  on_any_number_of_processors([]() -> task<> {
    runq::spawned<std::string> text;
    runq::spawned<std::unique_ptr<int>> number;
    runq::spawned<> nothing;
    const auto body = [&](runq::scope& s) -> task<> {
      text = s.spawn([] { return std::string("plain"); });
      number = s.spawn([]() -> task<std::unique_ptr<int>> {
        co_await runq::yield();
        co_return std::make_unique<int>(42);
      });
      const auto empty = []() -> task<> { co_return; };
      nothing = s.spawn(empty());
      co_return;
    };
    co_await runq::with_scope(body);
    EXPECT_EQ(co_await text, "plain");
    EXPECT_EQ(*co_await number, 42);
    co_await nothing;
  });
}

TEST_F(scope_children, SC1_siblings_and_the_body_wait_for_a_result) {
  on_any_number_of_processors([]() -> task<> {
    int sum = 0;
    const auto body = [&](runq::scope& s) -> task<> {
      runq::channel<int> late;
      auto first = s.spawn([&]() -> task<int> { co_return *co_await late.receive(); });
      const auto plus_one = [](runq::spawned<int> of) -> task<int> { co_return co_await of + 1; };
      auto second = s.spawn(plus_one(std::move(first)));
      co_await late.send(41);
      sum = co_await second;
    };
    co_await runq::with_scope(body);
    EXPECT_EQ(sum, 42);
  });
}

TEST_F(scope_children, SC1_the_scope_waits_for_a_child_whose_handle_was_dropped_and_asks_it_nothing) {
  on_any_number_of_processors([]() -> task<> {
    bool ended = false;
    const auto body = [&](runq::scope& s) -> task<> {
      const std::stop_token stop = s.stop_token();
      (void)s.spawn([&ended, stop]() -> task<int> {
        for (int i = 0; i != 10; ++i) co_await runq::yield();
        EXPECT_FALSE(stop.stop_requested());
        ended = true;
        co_return 1;
      });
      co_return;
    };
    co_await runq::with_scope(body);
    EXPECT_TRUE(ended);
  });
}

/// Notes whether the scope had failed when it was destroyed.
class asks_at_its_end {
 public:
  asks_at_its_end(runq::scope& s, bool& failed_then) : s_(&s), failed_then_(failed_then) {}
  asks_at_its_end(asks_at_its_end&& other) noexcept
      : s_(std::exchange(other.s_, nullptr)), failed_then_(other.failed_then_) {}
  asks_at_its_end& operator=(asks_at_its_end&&) = delete;
  ~asks_at_its_end() {
    if (s_ != nullptr) failed_then_ = s_->failed();
  }

 private:
  runq::scope* s_;
  bool& failed_then_;
};

TEST_F(scope_children, SC2_a_failure_is_one_of_the_scope_before_anybody_has_it_from_the_handle) {
  on_any_number_of_processors([]() -> task<> {
    bool failed_then = false;
    const auto body = [&](runq::scope& s) -> task<> {
      // The callable is destroyed before the handle has the failure.
      auto child = s.spawn([last = asks_at_its_end(s, failed_then)]() -> task<int> {
        co_await runq::yield();
        throw std::runtime_error("the child");
      });
      std::string got;
      try {
        (void)co_await child;
      } catch (const std::runtime_error& error) {
        got = error.what();
      }
      EXPECT_EQ(got, "the child");
      EXPECT_TRUE(failed_then);
      EXPECT_TRUE(s.stop_token().stop_requested());
      throw std::runtime_error("the body, because of the child");
    };
    std::vector<std::exception_ptr> failures;
    EXPECT_EQ(co_await what_leaves(body, {}, &failures), "the child");
    EXPECT_EQ(failures.size(), 2U);
  });
}

TEST_F(scope_children, SC2_a_child_that_is_cancelled_after_a_failure_tells_its_handle_and_has_not_failed) {
  on_any_number_of_processors([]() -> task<> {
    runq::spawned<> sleeper;
    const auto body = [&](runq::scope& s) -> task<> {
      const std::stop_token stop = s.stop_token();
      sleeper = s.spawn([stop]() -> task<> { co_await runq::sleep_for(std::chrono::hours(1), stop); });
      s.go([] { throw std::runtime_error("the first"); });
      co_return;
    };
    std::vector<std::exception_ptr> failures;
    EXPECT_EQ(co_await what_leaves(body, {}, &failures), "the first");
    EXPECT_EQ(failures.size(), 1U);
    std::string how = "(nothing)";
    try {
      co_await sleeper;
    } catch (const runq::cancelled& error) {
      how = error.what();
    }
    EXPECT_EQ(how, was_cancelled);
  });
}

// ---- a limit --------------------------------------------------------------------------------------------------------

TEST_F(scope_children, as_many_children_run_as_there_are_units_and_no_more) {
  on_any_number_of_processors([]() -> task<> {
    constexpr int limit = 3;
    constexpr int all = 20;
    runq::semaphore slots(limit);
    runq::channel<int> go_on;
    std::atomic<int> started{0};
    std::atomic<int> inside{0};
    const auto child = [&]() -> task<> {
      ++started;
      EXPECT_LE(++inside, limit);
      (void)co_await go_on.receive();
      --inside;
    };
    const auto body = [&](runq::scope& s) -> task<> {
      s.go([&]() -> task<> {
        for (int let_go = 0; let_go != all; ++let_go) {
          // All units are used, and the body waits for one; nobody but this task can give one back.
          const int most = std::min(all, let_go + limit);
          co_await sched_test::yield_until([&] { return started >= most; });
          for (int i = 0; i != 20; ++i) co_await runq::yield();
          EXPECT_EQ(started, most);
          co_await go_on.send(1);
        }
      });
      for (int i = 0; i != all; ++i) co_await s.go_within(slots, child());
    };
    co_await runq::with_scope(body);
    EXPECT_EQ(started, all);
    EXPECT_EQ(slots.available_approx(), limit);
  });
}

/// Notes how many units were free when it was destroyed.
class sees_the_end {
 public:
  sees_the_end(runq::semaphore& slots, std::int64_t& free_then) : slots_(&slots), free_then_(free_then) {}
  sees_the_end(sees_the_end&& other) noexcept
      : slots_(std::exchange(other.slots_, nullptr)), free_then_(other.free_then_) {}
  sees_the_end& operator=(sees_the_end&&) = delete;
  ~sees_the_end() {
    if (slots_ != nullptr) free_then_ = slots_->available_approx();
  }

 private:
  runq::semaphore* slots_;
  std::int64_t& free_then_;
};

/// A callable that is neither a lambda nor an aggregate, so that it may be a temporary beside a co_await.
template <class F>
class holder {
 public:
  explicit holder(F&& f) : f_(std::move(f)) {}
  auto operator()() { return f_(); }

 private:
  F f_;
};

TEST_F(scope_children, a_unit_comes_back_when_all_that_the_child_owned_is_gone) {
  on_any_number_of_processors([]() -> task<> {
    runq::semaphore slots(1);
    std::int64_t free_then[] = {-1, -1, -1};
    const auto waits = [](sees_the_end owned) -> task<> {
      co_await runq::yield();
      (void)owned;
    };
    const auto body = [&](runq::scope& s) -> task<> {
      co_await s.go_within(slots, waits(sees_the_end(slots, free_then[0])));
      auto plain = [owned = sees_the_end(slots, free_then[1])] { (void)owned; };
      co_await s.go_within(slots, holder(std::move(plain)));
      auto coroutine = [owned = sees_the_end(slots, free_then[2])]() -> task<> { co_await runq::yield(); };
      co_await s.go_within(slots, holder(std::move(coroutine)));
    };
    co_await runq::with_scope(body);
    EXPECT_THAT(free_then, testing::Each(0));
  });
}

TEST_F(scope_children, SC2_a_failure_ends_the_wait_for_a_unit_and_no_child_is_started_any_more) {
  on_any_number_of_processors([]() -> task<> {
    runq::semaphore slots(2);
    runq::channel<int> fail;
    std::atomic<int> started{0};
    const auto child = [&](std::stop_token stop) -> task<> {
      ++started;
      std::optional<int> told;
      if (co_await runq::select(stop, runq::on_receive(fail, told)) != runq::stopped) {
        throw std::runtime_error("a child has failed");
      }
    };
    const auto body = [&](runq::scope& s) -> task<> {
      s.go([&]() -> task<> {
        co_await sched_test::yield_until([&] { return started == 2; });
        for (int i = 0; i != 20; ++i) co_await runq::yield();
        co_await fail.send(1);
      });
      const std::stop_token stop = s.stop_token();
      for (;;) co_await s.go_within(slots, child(stop));
    };
    std::vector<std::exception_ptr> failures;
    EXPECT_EQ(co_await what_leaves(body, {}, &failures), "a child has failed");
    EXPECT_EQ(started, 2);
    EXPECT_EQ(failures.size(), 2U);
    EXPECT_EQ(text_of_failure(failures.back()), was_cancelled);  // of the body
    EXPECT_EQ(slots.available_approx(), 2);
  });
}

TEST_F(scope_children, a_scope_that_was_asked_to_stop_starts_nothing_within_a_limit_although_units_are_free) {
  on_any_number_of_processors([]() -> task<> {
    runq::semaphore slots(5);
    const auto never = []() -> task<> {
      ADD_FAILURE() << "started after the request";
      co_return;
    };
    std::stop_source outer;
    outer.request_stop();
    const auto body = [&](runq::scope& s) -> task<> { co_await s.go_within(slots, never()); };
    EXPECT_EQ(co_await what_leaves(body, outer.get_token()), was_cancelled);
    EXPECT_EQ(slots.available_approx(), 5);
  });
}

TEST_F(scope_children, a_child_of_any_kind_gives_its_unit_back) {
  on_any_number_of_processors([]() -> task<> {
    runq::semaphore slots(1);
    std::atomic<int> ran{0};
    const auto body = [&](runq::scope& s) -> task<> {
      const auto waits = [&]() -> task<> {
        co_await runq::yield();
        ++ran;
      };
      const auto kept = std::make_unique<int>(1);
      for (int i = 0; i != 3; ++i) {
        co_await s.go_within(slots, waits());
        co_await s.go_within(slots, waits);
        co_await s.go_within(slots, [&] { ++ran; });
        auto owner = [&ran, one = std::make_unique<int>(*kept)] { ran += *one; };
        co_await s.go_within(slots, std::ref(owner));
        co_await s.go_within(slots, [&] {
          ++ran;
          throw runq::cancelled();  // a failure: nobody has asked it to stop
        });
      }
    };
    EXPECT_EQ(co_await what_leaves(body), was_cancelled);
    EXPECT_EQ(ran, 5);
    EXPECT_EQ(slots.available_approx(), 1);
  });
}

TEST_F(scope_children, L2_a_run_may_end_while_a_body_waits_for_a_unit) {
  for (const unsigned procs : sched_test::proc_counts) {
    runq::semaphore slots(1);
    const auto owned = std::make_shared<int>(1);
    const auto main = [&]() -> task<> {
      std::atomic<int> begun{0};
      const auto waits = [&](std::shared_ptr<int>) -> task<> {
        ++begun;
        runq::channel<int> never;
        (void)co_await never.receive();
      };
      const auto body = [&](runq::scope& s) -> task<> {
        ++begun;
        for (;;) co_await s.go_within(slots, waits(owned));
      };
      runq::go([&]() -> task<> { co_await runq::with_scope(body); });
      co_await sched_test::yield_until([&] { return begun == 2; });
      for (int i = 0; i != 20; ++i) co_await runq::yield();
    };
    runq::run(main, {.procs = procs});
    EXPECT_EQ(owned.use_count(), 1);
    EXPECT_TRUE(slots.try_acquire());
  }
}

TEST_F(scope_children, a_dump_shows_where_a_body_waits_for_a_unit) {
  runq::run([]() -> task<> {
    runq::semaphore slots(0);
    std::stop_source outer;
    std::atomic<unsigned> line{0};
    const auto body = [&](runq::scope& s) -> task<> {
      line = __LINE__ + 1;
      co_await s.go_within(slots, [] {});
    };
    runq::spawned<std::string> how = runq::spawn(what_leaves(body, outer.get_token()));
    const auto place = [&] { return "scope_children_test.cpp:" + std::to_string(line.load()); };
    co_await sched_test::yield_until(
        [&] { return line != 0 && runq::this_scheduler().dump().find(place()) != std::string::npos; });
    outer.request_stop();
    EXPECT_EQ(co_await how, was_cancelled);
  });
}

}  // namespace
