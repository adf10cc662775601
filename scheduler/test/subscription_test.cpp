// SPDX-License-Identifier: MIT
// The broker of examples/broker.hpp: a subscription ends in a destructor, in any order with the broker, and at the end
// of a run.
#include <atomic>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "../examples/broker.hpp"
#include "support.hpp"

namespace {

using runq::task;

class subscriptions : public sched_test::alarmed {
 protected:
  template <class F>
  static void on_any_number_of_processors(F&& f) {
    for (const unsigned procs : sched_test::proc_counts) runq::run(f, {.procs = procs});
  }
};

TEST_F(subscriptions, end_before_their_broker_or_after_it) {
  on_any_number_of_processors([]() -> task<> {
    auto news = std::make_unique<broker>();
    auto first = std::make_unique<broker::subscription>(news->subscribe(2));
    auto last = std::make_unique<broker::subscription>(news->subscribe(2));
    co_await news->publish("one");
    EXPECT_EQ(news->size(), 2U);
    first.reset();
    EXPECT_EQ(news->size(), 1U);
    co_await news->publish("two");
    news.reset();
    EXPECT_EQ(co_await last->messages.receive(), "one");
    EXPECT_EQ(co_await last->messages.receive(), "two");
    last.reset();
  });
}

TEST_F(subscriptions, move_and_end_once) {
  on_any_number_of_processors([]() -> task<> {
    broker news;
    std::optional<broker::subscription> moved;
    {
      broker::subscription mine = news.subscribe(1);
      moved.emplace(std::move(mine));
    }
    EXPECT_EQ(news.size(), 1U);
    co_await news.publish("one");
    EXPECT_EQ(co_await moved->messages.receive(), "one");
    moved.reset();
    EXPECT_EQ(news.size(), 0U);
  });
}

TEST_F(subscriptions, let_a_message_that_waits_for_them_go_when_they_end) {
  on_any_number_of_processors([]() -> task<> {
    broker news;
    std::optional<broker::subscription> reads_nothing = news.subscribe(0);
    std::atomic<bool> published{false};
    auto writer = runq::spawn([&]() -> task<> {
      co_await news.publish("never received");
      published = true;
    });
    for (int i = 0; i != 20; ++i) co_await runq::yield();
    EXPECT_FALSE(published);
    reads_nothing.reset();
    co_await writer;
  });
}

TEST_F(subscriptions, of_many_tasks_begin_and_end_beside_messages) {
  on_any_number_of_processors([]() -> task<> {
    broker news;
    const auto body = [&](runq::scope& s) -> task<> {
      std::atomic<int> readers{8};
      for (int i = 0; i != readers; ++i) {
        s.go([&]() -> task<> {
          for (std::size_t round = 0; round != sched_test::rounds(300); ++round) {
            const broker::subscription mine = news.subscribe(round % 2);
            EXPECT_EQ(co_await mine.messages.receive(), "again");
          }
          --readers;
        });
      }
      while (readers != 0) {
        co_await news.publish("again");
        co_await runq::yield();
      }
    };
    co_await runq::with_scope(body);
    EXPECT_EQ(news.size(), 0U);
  });
}

TEST_F(subscriptions, may_be_ended_by_a_thread_outside) {
  on_any_number_of_processors([]() -> task<> {
    broker news;
    auto writer = runq::spawn([&]() -> task<> { co_await news.publish("never received"); });
    std::optional<broker::subscription> mine = news.subscribe(0);
    std::thread outside([&, here = runq::this_task::handle()] { mine.reset(); });
    co_await writer;
    const runq::blocking_section joins;
    outside.join();
  });
}

/// Ends a run while tasks wait for messages, and others wait to send them. `outer`: the broker outlives the run; else
/// it is main's.
void end_beside_subscribers(unsigned procs, broker* outer) {
  std::vector<broker::subscription> outlive;
  runq::run(
      [&]() -> task<> {
        std::optional<broker> in_main;
        broker& news = outer != nullptr ? *outer : in_main.emplace();
        outlive.push_back(news.subscribe(0));
        const broker::subscription of_main = news.subscribe(0);
        std::atomic<int> begun{0};
        const auto reads = [&begun](broker::subscription mine) -> task<> {
          ++begun;
          for (;;) (void)co_await mine.messages.receive();
        };
        const auto writes = [&begun](broker to) -> task<> {
          ++begun;
          co_await to.publish("to one that reads nothing");
        };
        for (int i = 0; i != 3; ++i) {
          runq::go(reads(news.subscribe(0)));
          runq::go(writes(news));
        }
        co_await sched_test::yield_until([&] { return begun == 6; });
        for (int i = 0; i != 20; ++i) co_await runq::yield();
      },
      {.procs = procs});
  if (outer != nullptr) {
    EXPECT_EQ(outer->size(), 1U) << "that of `outlive`";
  }
}

TEST_F(subscriptions, L2_of_tasks_end_with_the_run_and_the_broker_forgets_them) {
  for (const unsigned procs : sched_test::proc_counts) {
    broker news;
    for (int round = 0; round != 5; ++round) {
      end_beside_subscribers(procs, &news);
      EXPECT_EQ(news.size(), 0U);
    }
  }
}

TEST_F(subscriptions, L2_end_with_the_run_although_the_broker_was_mains) {
  for (const unsigned procs : sched_test::proc_counts) {
    for (int round = 0; round != 5; ++round) end_beside_subscribers(procs, nullptr);
  }
}

}  // namespace
