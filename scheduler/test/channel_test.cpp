// SPDX-License-Identifier: MIT
// Channels: row X7, and the properties that Go's own tests of channels check.
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <new>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "support.hpp"

namespace {

using runq::channel;
using runq::channel_result;
using runq::task;
using sched_test::hold_until;
using sched_test::log_of;
using sched_test::misuse_in_task;
using sched_test::misuse_in_task_void;
using sched_test::misuse_of;
using sched_test::yield_until;
using testing::ElementsAre;

template <class F>
void on_any_number_of_processors(F f) {
  for (const unsigned procs : sched_test::proc_counts) {
    SCOPED_TRACE(procs);
    runq::run(f, {.procs = procs});
  }
}

TEST(channel, X7_an_empty_channel_makes_receivers_wait_and_a_full_one_senders) {
  for (std::size_t capacity = 0; capacity != 10; ++capacity) {
    runq::run(
        [&]() -> task<> {
          channel<int> c(capacity);
          bool received = false;
          bool sent = false;
          runq::go([&]() -> task<> {
            (void)co_await c.receive();
            received = true;
          });
          co_await runq::yield();
          EXPECT_FALSE(received);
          std::optional<int> nothing;
          EXPECT_EQ(c.try_receive(nothing), channel_result::waits);
          co_await c.send(1);
          co_await runq::yield();
          EXPECT_TRUE(received);

          for (std::size_t i = 0; i != capacity; ++i) co_await c.send(1);
          EXPECT_EQ(c.size(), capacity);
          runq::go([&]() -> task<> {
            co_await c.send(1);
            sent = true;
          });
          co_await runq::yield();
          EXPECT_FALSE(sent);
          EXPECT_EQ(c.try_send(1), channel_result::waits);
          (void)co_await c.receive();
          co_await runq::yield();
          EXPECT_TRUE(sent);
        },
        {.procs = 1});
  }
}

TEST(channel, X7_values_come_out_in_the_order_in_which_they_went_in) {
  for (const std::size_t capacity : {0U, 1U, 3U, 100U}) {
    on_any_number_of_processors([capacity]() -> task<> {
      channel<int> c(capacity);
      runq::go([&]() -> task<> {
        for (int i = 0; i != 200; ++i) co_await c.send(i);
        c.close();
      });
      int next = 0;
      while (auto n = co_await c.receive()) EXPECT_EQ(*n, next++);
      EXPECT_EQ(next, 200);
    });
  }
}

TEST(channel, X7_waiting_receivers_are_served_in_the_order_in_which_they_came) {
  log_of<std::pair<int, int>> log;
  runq::run(
      [&]() -> task<> {
        channel<int> c;
        for (int i = 0; i != 10; ++i) {
          runq::go([&, i]() -> task<> {
            const int value = *co_await c.receive();
            log.note({i, value});
          });
          co_await runq::yield();
        }
        for (int i = 0; i != 10; ++i) co_await c.send(i);
        co_await yield_until([&] { return log.size() == 10; });
      },
      {.procs = 1});
  auto all = log.all();
  std::sort(all.begin(), all.end());
  for (const auto& [receiver, value] : all) EXPECT_EQ(receiver, value);
}

TEST(channel, X7_waiting_senders_are_served_in_the_order_in_which_they_came) {
  for (const std::size_t capacity : {0U, 1U, 4U}) {
    runq::run(
        [capacity]() -> task<> {
          channel<int> c(capacity);
          for (int i = 0; i != 10; ++i) {
            runq::go([&, i]() -> task<> { co_await c.send(i); });
            co_await runq::yield();
          }
          EXPECT_EQ(c.size(), capacity);
          for (int i = 0; i != 10; ++i) EXPECT_EQ(*co_await c.receive(), i);
        },
        {.procs = 1});
  }
}

TEST(channel, X7_a_value_goes_straight_to_a_receiver_that_waits) {
  runq::run(
      []() -> task<> {
        channel<int> c(5);
        int received = 0;
        runq::go([&]() -> task<> { received = *co_await c.receive(); });
        co_await runq::yield();
        EXPECT_EQ(c.try_send(7), channel_result::done);
        EXPECT_EQ(c.size(), 0U) << "it is not in the buffer, where other tasks could take it";
        std::optional<int> stolen;
        EXPECT_EQ(c.try_receive(stolen), channel_result::waits);
        co_await runq::yield();
        EXPECT_EQ(received, 7);
      },
      {.procs = 1});
}

TEST(channel, X7_a_waiting_sender_moves_up_when_there_is_room) {
  runq::run(
      []() -> task<> {
        channel<int> c(2);
        co_await c.send(1);
        co_await c.send(2);
        runq::go([&]() -> task<> { co_await c.send(3); });
        co_await runq::yield();
        std::optional<int> n;
        EXPECT_EQ(c.try_receive(n), channel_result::done);
        EXPECT_EQ(n, 1);
        EXPECT_EQ(c.size(), 2U);
        EXPECT_EQ(c.try_send(4), channel_result::waits) << "the waiting sender comes first";
        EXPECT_EQ(*co_await c.receive(), 2);
        EXPECT_EQ(*co_await c.receive(), 3);
      },
      {.procs = 1});
}

TEST(channel, X7_try_send_moves_from_its_value_only_when_it_is_sent) {
  channel<std::unique_ptr<int>> c(1);
  auto first = std::make_unique<int>(1);
  auto second = std::make_unique<int>(2);
  EXPECT_EQ(c.try_send(first), channel_result::done);
  EXPECT_EQ(first, nullptr);
  EXPECT_EQ(c.try_send(second), channel_result::waits);
  EXPECT_NE(second, nullptr);
  c.close();
  EXPECT_EQ(c.try_send(second), channel_result::closed);
  EXPECT_NE(second, nullptr);
}

TEST(channel, X7_a_closed_channel_gives_what_is_in_it_and_then_nothing) {
  for (std::size_t capacity = 1; capacity != 5; ++capacity) {
    on_any_number_of_processors([capacity]() -> task<> {
      channel<std::size_t> c(capacity);
      for (std::size_t i = 0; i != capacity; ++i) co_await c.send(i);
      c.close();
      for (std::size_t i = 0; i != capacity; ++i) EXPECT_EQ(*co_await c.receive(), i);
      for (int i = 0; i != 3; ++i) EXPECT_FALSE((co_await c.receive()).has_value());
      std::optional<std::size_t> n = 5;
      EXPECT_EQ(c.try_receive(n), channel_result::closed);
    });
  }
}

TEST(channel, X7_closing_wakes_all_waiting_receivers_with_nothing) {
  on_any_number_of_processors([]() -> task<> {
    channel<int> c;
    std::atomic<int> waiting{0};
    std::atomic<int> woken{0};
    for (int i = 0; i != 20; ++i) {
      runq::go([&]() -> task<> {
        ++waiting;
        EXPECT_FALSE((co_await c.receive()).has_value());
        ++woken;
      });
    }
    co_await yield_until([&] { return waiting == 20; });
    c.close();
    co_await yield_until([&] { return woken == 20; });
  });
}

TEST(channel, X7_closing_makes_all_waiting_senders_throw) {
  on_any_number_of_processors([]() -> task<> {
    channel<int> c;
    std::atomic<int> waiting{0};
    std::atomic<int> threw{0};
    for (int i = 0; i != 20; ++i) {
      runq::go([&]() -> task<> {
        ++waiting;
        const std::string text = co_await misuse_in_task_void([&] { return c.send(1); });
        EXPECT_EQ(text, "send on closed channel");
        ++threw;
      });
    }
    co_await yield_until([&] { return waiting == 20; });
    c.close();
    co_await yield_until([&] { return threw == 20; });
  });
}

TEST(channel, X7_sending_on_a_closed_channel_throws) {
  for (const std::size_t capacity : {0U, 2U}) {
    runq::run([capacity]() -> task<> {
      channel<int> c(capacity);
      c.close();
      EXPECT_EQ(co_await misuse_in_task_void([&] { return c.send(1); }), "send on closed channel");
      EXPECT_EQ(c.try_send(1), channel_result::closed);
    });
  }
}

TEST(channel, X7_closing_a_closed_channel_throws) {
  channel<int> c;
  c.close();
  EXPECT_EQ(misuse_of([&] { c.close(); }), "close of closed channel");
}

TEST(channel, waiting_on_a_channel_outside_a_scheduler_throws) {
  channel<int> c;
  std::string receive_text;
  std::string send_text;
  [](channel<int>& on, std::string& text) -> sched_test::by_hand {
    try {
      (void)co_await on.receive();
    } catch (const runq::misuse& error) {
      text = error.what();
    }
  }(c, receive_text);
  [](channel<int>& on, std::string& text) -> sched_test::by_hand {
    try {
      co_await on.send(1);
    } catch (const runq::misuse& error) {
      text = error.what();
    }
  }(c, send_text);
  EXPECT_EQ(receive_text, "runq: only a task can wait; this thread runs none, or is in a blocking_section");
  EXPECT_EQ(send_text, "runq: only a task can wait; this thread runs none, or is in a blocking_section");
}

TEST(channel, X7_a_channel_destroys_what_nobody_received) {
  const auto value = std::make_shared<int>(1);
  {
    channel<std::shared_ptr<int>> c(5);
    for (int i = 0; i != 4; ++i) EXPECT_EQ(c.try_send(std::shared_ptr<int>(value)), channel_result::done);
    std::optional<std::shared_ptr<int>> one;
    EXPECT_EQ(c.try_receive(one), channel_result::done);
    EXPECT_EQ(value.use_count(), 5);
  }
  EXPECT_EQ(value.use_count(), 1);
}

// Go's TestChan: a non-blocking receive never fails while there is a value for it, even if another task sends at the
// same time.
TEST(channel, X7_a_receive_that_does_not_wait_finds_the_value_that_was_there_before) {
  runq::run(
      []() -> task<> {
        for (std::size_t i = 0; i != sched_test::rounds(20'000); ++i) {
          channel<int> c(1);
          co_await c.send(1);
          std::atomic<bool> done{false};
          // The channel holds the value 1 until try_receive() takes it, whatever this sender does.
          runq::go([&]() -> task<> {
            co_await c.send(2);
            done = true;
          });
          std::optional<int> n;
          EXPECT_EQ(c.try_receive(n), channel_result::done);
          EXPECT_EQ(n, 1);
          EXPECT_EQ(*co_await c.receive(), 2);
          co_await yield_until([&] { return done.load(); });
        }
      },
      {.procs = 4});
}

// Go's TestChan: producers and consumers; every value is received as often as it was sent.
TEST(channel, X7_producers_and_consumers_neither_lose_nor_double_a_value) {
  const int each = static_cast<int>(sched_test::rounds(10'000));
  for (const std::size_t capacity : {0U, 1U, 10U}) {
    on_any_number_of_processors([=]() -> task<> {
      constexpr int producers = 4;
      constexpr int consumers = 4;
      channel<int> c(capacity);
      std::array<std::vector<int>, consumers> received;
      runq::wait_group sending;
      runq::wait_group receiving;
      sending.add(producers);
      receiving.add(consumers);
      for (int p = 0; p != producers; ++p) {
        runq::go([&, p]() -> task<> {
          for (int i = 0; i != each; ++i) co_await c.send(p * each + i);
          sending.done();
        });
      }
      for (auto& mine : received) {
        runq::go([&]() -> task<> {
          while (auto n = co_await c.receive()) mine.push_back(*n);
          receiving.done();
        });
      }
      co_await sending.wait();
      c.close();
      co_await receiving.wait();
      std::vector<int> all;
      for (auto& mine : received) {
        // Each consumer sees the values of one producer in order.
        std::array<int, producers> last{-1, -1, -1, -1};
        for (const int n : mine) {
          EXPECT_LT(last[static_cast<std::size_t>(n / each)], n);
          last[static_cast<std::size_t>(n / each)] = n;
        }
        all.insert(all.end(), mine.begin(), mine.end());
      }
      std::sort(all.begin(), all.end());
      std::vector<int> expected(static_cast<std::size_t>(producers * each));
      std::iota(expected.begin(), expected.end(), 0);
      EXPECT_EQ(all, expected);
    });
  }
}

// Go's TestMultiConsumer: tasks receive work from one channel and send the results to another.
TEST(channel, X7_several_workers_do_all_the_work_once) {
  const int items = static_cast<int>(sched_test::rounds(50'000));
  on_any_number_of_processors([=]() -> task<> {
    constexpr int workers = 23;
    channel<int> todo(static_cast<std::size_t>(workers * 2));
    channel<int> done(static_cast<std::size_t>(workers * 3));
    constexpr std::array primes{2, 3, 7, 11, 13, 17, 19, 23, 27, 31};
    runq::wait_group group;
    group.add(workers);
    for (int w = 0; w != workers; ++w) {
      runq::go([&, w]() -> task<> {
        while (auto n = co_await todo.receive()) {
          if (primes[static_cast<std::size_t>(w) % primes.size()] == *n) co_await runq::yield();
          co_await done.send(*n);
        }
        group.done();
      });
    }
    std::int64_t expected = 0;
    runq::go([&]() -> task<> {
      for (int i = 0; i != items; ++i) {
        const int n = primes[static_cast<std::size_t>(i) % primes.size()];
        expected += n;
        co_await todo.send(n);
      }
      todo.close();
      co_await group.wait();
      done.close();
    });
    std::int64_t sum = 0;
    int n = 0;
    while (auto v = co_await done.receive()) {
      sum += *v;
      ++n;
    }
    EXPECT_EQ(n, items);
    EXPECT_EQ(sum, expected);
  });
}

TEST(channel, X7_threads_outside_may_send_and_receive_without_waiting) {
  const int n = static_cast<int>(sched_test::rounds(100'000));
  runq::scheduler s({.procs = 2});
  channel<int> in(16);
  channel<int> out(16);
  const auto here = s.attach();
  std::thread sender([&] {
    for (int i = 0; i != n; ++i) {
      while (in.try_send(i) != channel_result::done) std::this_thread::yield();
    }
    in.close();
  });
  std::int64_t sum = 0;
  std::thread receiver([&] {
    std::optional<int> v;
    for (;;) {
      const auto result = out.try_receive(v);
      if (result == channel_result::closed) break;
      if (result == channel_result::done) {
        sum += *v;
      } else {
        std::this_thread::yield();
      }
    }
  });
  s.run([&]() -> task<> {
    while (auto v = co_await in.receive()) co_await out.send(*v);
    out.close();
  });
  sender.join();
  receiver.join();
  EXPECT_EQ(sum, std::int64_t{n} * (n - 1) / 2);
}

// The values are larger than a machine word, and have a move constructor that must be called.
TEST(channel, X7_values_may_be_of_any_movable_type) {
  on_any_number_of_processors([]() -> task<> {
    for (const std::size_t capacity : {0U, 3U}) {
      channel<std::array<std::string, 4>> c(capacity);
      runq::go([&]() -> task<> {
        for (char ch = 'a'; ch != 'k'; ++ch) {
          const std::string text(50, ch);
          std::array<std::string, 4> value{text, text, text, text};
          co_await c.send({std::move(value)});
        }
        c.close();
      });
      char expected = 'a';
      while (auto v = co_await c.receive()) {
        for (const std::string& text : *v) EXPECT_EQ(text, std::string(50, expected));
        ++expected;
      }
      EXPECT_EQ(expected, 'k');
    }
  });
}

TEST(channel, X7_values_are_aligned_as_their_type_wants) {
  struct alignas(128) wide {
    int n = 0;
  };
  const auto expect_aligned = [](const wide& w) {
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(&w) % alignof(wide), 0U);
  };
  struct checked : wide {
    explicit checked(int i) : wide{i} {}
    checked(checked&& other) noexcept : wide{other.n} {
      misaligned += reinterpret_cast<std::uintptr_t>(this) % 128 != 0;
    }
    std::size_t& misaligned = count();
    static std::size_t& count() {
      static std::size_t n = 0;
      return n;
    }
  };
  for (std::size_t capacity = 1; capacity != 50; ++capacity) {
    const auto c = std::make_unique<channel<checked>>(capacity);
    for (std::size_t i = 0; i != capacity; ++i) {
      EXPECT_EQ(c->try_send(checked(static_cast<int>(i))), channel_result::done);
    }
    std::optional<checked> got;
    for (std::size_t i = 0; i != capacity; ++i) {
      EXPECT_EQ(c->try_receive(got), channel_result::done);
      EXPECT_EQ(got->n, static_cast<int>(i));
      expect_aligned(*got);
    }
  }
  EXPECT_EQ(checked::count(), 0U);
}

TEST(channel, X7_a_capacity_that_no_memory_has_room_for_is_misuse) {
  constexpr const char* text = "runq: the capacity of a channel must be at most channel<T>::max_capacity";
  EXPECT_EQ(channel<double>::max_capacity, (std::size_t{1} << 60) - 1);
  for (const std::size_t capacity : {std::size_t{1} << 61, (std::size_t{1} << 61) + 1, ~std::size_t{0}}) {
    EXPECT_EQ(sched_test::misuse_of([&] { channel<double> c(capacity); }), text) << capacity;
  }
  EXPECT_EQ(sched_test::misuse_of([] { channel<double> c(channel<double>::max_capacity + 1); }), text);
#if !RUNQ_TEST_TSAN && !RUNQ_TEST_ASAN  // sanitizers end the process when a program allocates that much
  EXPECT_THROW(channel<double> c(channel<double>::max_capacity), std::bad_alloc);
#endif
}

// A move constructor that throws while the channel is locked ends the process.
TEST(channel, X7_a_move_that_throws_inside_ends_the_process) {
  GTEST_FLAG_SET(death_test_style, sched_test::death_test_style);
  struct explosive {
    explosive() = default;
    explosive(explosive&& other) noexcept(false) : charged(other.charged) {
      if (charged) throw std::runtime_error("boom");
    }
    explosive& operator=(explosive&&) = default;
    bool charged = false;
  };
  EXPECT_DEATH(
      {
        channel<explosive> c(1);
        explosive e;
        e.charged = true;
        (void)c.try_send(e);
      },
      "boom");
}

// ---- tasks that wait when their run ends ----------------------------------------------------------------------------

/// A value that counts how many of its kind are alive: a test sees whether each is destroyed exactly once.
struct parcel {
  parcel(int n, std::atomic<int>& of) : number(n), alive(&of) { ++*alive; }
  parcel(parcel&& other) noexcept : number(std::exchange(other.number, 0)), alive(other.alive) { ++*alive; }
  parcel& operator=(parcel&&) = delete;
  ~parcel() { --*alive; }
  int number;
  std::atomic<int>* alive;
};

TEST(channel, a_receiver_that_ended_with_main_takes_nothing) {
  runq::scheduler s({.procs = 1});
  channel<int> c;
  for (int i = 0; i != 3; ++i) {
    s.run([&]() -> task<> {
      for (int k = 0; k != 3; ++k) runq::go([&]() -> task<> { (void)co_await c.receive(); });
      co_await runq::yield();
    });
    EXPECT_EQ(c.try_send(1), channel_result::waits) << "a task that has ended has taken a value";
  }
}

TEST(channel, a_sender_that_ended_with_main_sends_nothing_and_its_value_is_destroyed_once) {
  for (const std::size_t capacity : {0U, 2U}) {
    runq::scheduler s({.procs = 1});
    std::atomic<int> alive{0};
    {
      channel<parcel> c(capacity);
      s.run([&]() -> task<> {
        for (int k = 1; k != 5; ++k) runq::go([&, k]() -> task<> { co_await c.send(parcel(k, alive)); });
        co_await runq::yield();
        co_await runq::yield();
      });
      EXPECT_EQ(alive, static_cast<int>(capacity)) << "what is in the buffer stays, what was to be sent does not";
      std::optional<parcel> value;
      for (std::size_t k = 0; k != capacity; ++k) {
        value.reset();
        EXPECT_EQ(c.try_receive(value), channel_result::done);
      }
      value.reset();
      EXPECT_EQ(c.try_receive(value), channel_result::waits) << "a task that has ended has sent a value";
    }
    EXPECT_EQ(alive, 0);
  }
}

TEST(channel, a_value_handed_to_a_task_that_does_not_go_on_is_destroyed_once) {
  runq::scheduler s({.procs = 1});
  std::atomic<int> alive{0};
  channel<parcel> c;
  bool went_on = false;
  s.run([&]() -> task<> {
    runq::go([&]() -> task<> {
      (void)co_await c.receive();
      went_on = true;
    });
    co_await runq::yield();
    EXPECT_EQ(c.try_send(parcel(1, alive)), channel_result::done);
    EXPECT_EQ(alive, 1);
  });
  EXPECT_FALSE(went_on);
  EXPECT_EQ(alive, 0);
}

TEST(channel, tasks_that_wait_when_main_ends_may_outlive_the_channel) {
  for (const unsigned procs : sched_test::proc_counts) {
    std::atomic<int> alive{0};
    runq::scheduler s({.procs = procs});
    s.run([&]() -> task<> {
      const auto receives = std::make_unique<channel<parcel>>();
      const auto sends = std::make_unique<channel<parcel>>();
      std::atomic<int> begun{0};
      for (int k = 0; k != 10; ++k) {
        runq::go([&]() -> task<> {
          ++begun;
          (void)co_await receives->receive();
        });
        runq::go([&]() -> task<> {
          ++begun;
          co_await sends->send(parcel(1, alive));
        });
      }
      co_await yield_until([&] { return begun == 20; });
      // On several processors a task may have begun without waiting yet. An idle processor has no such task.
      hold_until([&] { return s.stats().idle_procs == procs - 1; }, "all others wait");
      // These two operations take the channels' locks after the waiting tasks had them. So all that the tasks did
      // happens before the channels are destroyed.
      std::optional<parcel> sent;
      EXPECT_EQ(sends->try_receive(sent), channel_result::done);
      EXPECT_EQ(receives->try_send(parcel(0, alive)), channel_result::done);
    });
    EXPECT_EQ(alive, 0);
  }
}

// Threads outside send and receive while one run after the other ends. Each value is received, stays in the channel, or
// is destroyed with a task. A thread that finds no partner gives its processor to the run that would bring one.
TEST(channel, threads_outside_meet_tasks_that_end_with_main) {
  runq::scheduler s({.procs = 2});
  const auto outside = s.attach();
  std::atomic<int> alive{0};
  {
    channel<parcel> up;
    channel<parcel> down(1);
    std::atomic<bool> stop{false};
    std::thread sender([&] {
      while (!stop) {
        if (up.try_send(parcel(1, alive)) != channel_result::done) std::this_thread::yield();
      }
    });
    std::thread receiver([&] {
      std::optional<parcel> value;
      while (!stop) {
        value.reset();
        if (down.try_receive(value) == channel_result::done) {
          EXPECT_EQ(value->number, 2);
        } else {
          std::this_thread::yield();
        }
      }
    });
    for (std::size_t i = 0; i != std::max<std::size_t>(sched_test::rounds(5'000), 200); ++i) {
      s.run([&]() -> task<> {
        for (int k = 0; k != 4; ++k) {
          runq::go([&]() -> task<> {
            while (const auto got = co_await up.receive()) EXPECT_EQ(got->number, 1);
          });
          runq::go([&]() -> task<> {
            for (;;) co_await down.send(parcel(2, alive));
          });
        }
        for (std::size_t k = 0; k != i % 7; ++k) co_await runq::yield();
      });
    }
    stop = true;
    sender.join();
    receiver.join();
    EXPECT_EQ(up.try_send(parcel(1, alive)), channel_result::waits);
    channel_result left = channel_result::done;
    while (left == channel_result::done) {
      std::optional<parcel> value;
      left = down.try_receive(value);
    }
  }
  EXPECT_EQ(alive, 0);
}

}  // namespace
