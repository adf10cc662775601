// SPDX-License-Identifier: MIT
// select: row X8, the null channels of row X7, the properties that Go's own tests of select check, and stop tokens.
#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "support.hpp"

namespace {

using runq::channel;
using runq::channel_result;
using runq::on_receive;
using runq::on_send;
using runq::otherwise;
using runq::select;
using runq::task;
using sched_test::misuse_in_task;
using sched_test::rounds;
using sched_test::yield_until;

// ---- one select -----------------------------------------------------------------------------------------------------

TEST(select, X8_takes_the_arm_that_can_go_on) {
  runq::run([]() -> task<> {
    channel<int> empty;
    channel<int> full(1);
    channel<std::string> text(1);
    co_await full.send(1);
    std::optional<int> n;
    EXPECT_EQ(co_await select(on_receive(empty, n), on_send(text, "sent")), 1U);
    EXPECT_EQ(*co_await text.receive(), "sent");
    EXPECT_EQ(co_await select(on_send(full, 2), on_receive(full, n), on_receive(empty, n)), 1U);
    EXPECT_EQ(n, 1);
  });
}

TEST(select, X8_without_a_ready_arm_otherwise_is_taken) {
  runq::run([]() -> task<> {
    channel<int> empty;
    channel<int> full(1);
    std::optional<int> n;
    EXPECT_EQ(co_await select(on_receive(empty, n), otherwise()), 1U);
    EXPECT_EQ(co_await select(on_send(full, 1), otherwise()), 0U);
    EXPECT_EQ(co_await select(on_send(full, 2), on_receive(empty, n), otherwise()), 2U);
    EXPECT_EQ(co_await select(otherwise()), 0U);
    EXPECT_EQ(*co_await full.receive(), 1);
  });
}

TEST(select, X8_waits_until_an_arm_can_go_on) {
  for (const unsigned procs : sched_test::proc_counts) {
    runq::run(
        []() -> task<> {
          channel<int> a;
          channel<int> b;
          for (int i = 0; i != 100; ++i) {
            runq::go([&, i]() -> task<> { co_await (i % 2 == 0 ? a : b).send(i); });
            std::optional<int> from_a;
            std::optional<int> from_b;
            const auto arm = co_await select(on_receive(a, from_a), on_receive(b, from_b));
            EXPECT_EQ(arm, static_cast<std::size_t>(i % 2));
            EXPECT_EQ(arm == 0 ? from_a : from_b, i);
            EXPECT_FALSE(arm == 0 ? from_b : from_a);
          }
        },
        {.procs = procs});
  }
}

// select() tries its arms in random order. An arm that it tries and does not choose must not write to its destination.
TEST(select, X8_only_the_chosen_arm_writes_to_its_destination) {
  runq::run(
      []() -> task<> {
        channel<int> ready(1);
        channel<int> never;
        std::stop_source stop;
        stop.request_stop();
        for (int i = 0; i != 1000; ++i) {
          std::optional<int> from_never = 7;
          std::optional<int> from_ready = 8;
          EXPECT_EQ(co_await select(on_receive(never, from_never), otherwise()), 1U);
          EXPECT_EQ(co_await select(stop.get_token(), on_receive(never, from_never)), runq::stopped);
          co_await ready.send(i);
          EXPECT_EQ(co_await select(on_receive(never, from_never), on_receive(ready, from_ready)), 1U);
          EXPECT_EQ(from_ready, i);
          runq::go([&]() -> task<> { co_await ready.send(-i); });
          EXPECT_EQ(co_await select(on_receive(ready, from_ready), on_receive(never, from_never)), 0U);
          EXPECT_EQ(from_ready, -i);
          EXPECT_EQ(from_never, 7);
        }
        // The same when an arm is chosen because its channel is closed, before the select or while it waits.
        for (const bool before : {true, false}) {
          channel<int> closed;
          std::optional<int> from_never = 7;
          std::optional<int> from_closed = 8;
          if (before) {
            closed.close();
          } else {
            runq::go([&] { closed.close(); });
          }
          EXPECT_EQ(co_await select(on_receive(never, from_never), on_receive(closed, from_closed)), 1U);
          EXPECT_FALSE(from_closed);
          EXPECT_EQ(from_never, 7);
        }
      },
      {.procs = 1});
}

TEST(select, X7_a_null_channel_is_never_ready) {
  runq::run([]() -> task<> {
    channel<int>* const none = nullptr;
    channel<int> c(1);
    std::optional<int> n;
    EXPECT_EQ(co_await select(on_receive(none, n), on_send(none, 1), otherwise()), 2U);
    EXPECT_EQ(co_await select(on_receive(none, n), on_send(c, 1), on_send(none, 1)), 1U);
    runq::go([&]() -> task<> {
      co_await runq::yield();
      co_await c.send(2);
      co_await c.send(3);
    });
    EXPECT_EQ(co_await select(on_receive(none, n), on_receive(c, n)), 1U);
    EXPECT_EQ(n, 1);
    (void)co_await c.receive();
    (void)co_await c.receive();
    EXPECT_EQ(co_await select(on_receive(none, n), on_receive(c, n), otherwise()), 2U) << "nothing is left";
  });
}

TEST(select, X7_a_closed_channel_is_ready_to_be_received_from) {
  runq::run([]() -> task<> {
    channel<int> c(1);
    co_await c.send(1);
    c.close();
    std::optional<int> n;
    EXPECT_EQ(co_await select(on_receive(c, n)), 0U);
    EXPECT_EQ(n, 1);
    EXPECT_EQ(co_await select(on_receive(c, n)), 0U);
    EXPECT_FALSE(n.has_value());
  });
}

TEST(select, X7_closing_wakes_a_waiting_select) {
  for (const unsigned procs : sched_test::proc_counts) {
    runq::run(
        []() -> task<> {
          for (std::size_t i = 0; i != rounds(2000); ++i) {
            channel<int> a;
            channel<int> b;
            runq::go([&]() -> task<> {
              (i % 2 == 0 ? a : b).close();
              co_return;
            });
            std::optional<int> n;
            EXPECT_EQ(co_await select(on_receive(a, n), on_receive(b, n)), i % 2);
            EXPECT_FALSE(n.has_value());
            co_await runq::yield();  // lets the task that closes leave close() before the channels are destroyed
            co_await runq::yield();
            std::optional<int> nothing;
            while ((i % 2 == 0 ? a : b).try_receive(nothing) != channel_result::closed) co_await runq::yield();
          }
        },
        {.procs = procs});
  }
}

TEST(select, X7_sending_on_a_closed_channel_throws) {
  runq::run([]() -> task<> {
    channel<int> c;
    std::atomic<int> threw{0};
    for (int i = 0; i != 5; ++i) {
      runq::go([&]() -> task<> {
        EXPECT_EQ(co_await misuse_in_task([&] { return select(on_send(c, 1)); }), "send on closed channel");
        ++threw;
      });
    }
    for (int i = 0; i != 20; ++i) co_await runq::yield();
    c.close();
    EXPECT_EQ(co_await misuse_in_task([&] { return select(on_send(c, 1), otherwise()); }), "send on closed channel");
    co_await yield_until([&] { return threw == 5; });
  });
}

TEST(select, outside_a_scheduler_it_throws) {
  channel<int> c;
  std::string text;
  [](channel<int>& on, std::string& what) -> sched_test::by_hand {
    try {
      std::optional<int> n;
      (void)co_await select(on_receive(on, n));
    } catch (const runq::misuse& error) {
      what = error.what();
    }
  }(c, text);
  EXPECT_EQ(text, "runq: only a task can wait; this thread runs none, or is in a blocking_section");
}

// ---- fairness -------------------------------------------------------------------------------------------------------

// The order of arms is random, so the bounds are so wide that these tests practically never fail by chance. A count of
// n independent choices differs from its expected value by t or more with a probability of at most 2·exp(-2t²/n)
// (Hoeffding's inequality). That is below 10^-50 for each of these tests.

// t = 2,500 of n = 100,000.
TEST(select, X8_arms_that_are_ready_are_chosen_equally_often) {
  runq::run([]() -> task<> {
    constexpr int n = 100'000;
    std::array<channel<int>, 4> c{channel<int>(1), channel<int>(1), channel<int>(1), channel<int>(1)};
    std::array<int, 4> chosen{};
    for (auto& full : c) co_await full.send(0);
    for (int i = 0; i != n; ++i) {
      std::optional<int> v;
      const auto arm =
          co_await select(on_receive(c[0], v), on_receive(c[1], v), on_receive(c[2], v), on_receive(c[3], v));
      ++chosen[arm];
      co_await c[arm].send(0);
    }
    for (const int count : chosen) EXPECT_NEAR(count, n / 4, n / 4 / 10);
  });
}

// t = 5,000 of n = 100,000.
TEST(select, X8_arms_beside_otherwise_are_chosen_equally_often) {
  runq::run([]() -> task<> {
    constexpr int n = 100'000;
    channel<int> a(1);
    channel<int> b(1);
    std::array<int, 2> chosen{};
    co_await a.send(0);
    co_await b.send(0);
    for (int i = 0; i != n; ++i) {
      std::optional<int> v;
      const auto arm = co_await select(on_receive(a, v), on_receive(b, v), otherwise());
      ++chosen[arm];
      co_await (arm == 0 ? a : b).send(0);
    }
    for (const int count : chosen) EXPECT_NEAR(count, n / 2, n / 2 / 10);
  });
}

// Go's TestSelectFairness, without its time limit. Two arms are always ready and two never are. Each ready arm must be
// chosen at least every tenth time: t = 0.4 n, and n is 2,000 or more.
TEST(select, X8_two_busy_senders_get_a_tenth_each_at_least) {
  for (const unsigned procs : {1U, 2U, 4U}) {
    runq::run(
        []() -> task<> {
          const int trials = static_cast<int>(rounds(100'000));
          channel<int> c1(static_cast<std::size_t>(trials + 1));
          channel<int> c2(static_cast<std::size_t>(trials + 1));
          channel<int> never1;
          channel<int> never2;
          for (int i = 0; i != trials + 1; ++i) {
            co_await c1.send(1);
            co_await c2.send(2);
          }
          std::array<int, 4> chosen{};
          for (int i = 0; i != trials; ++i) {
            std::optional<int> v;
            ++chosen[co_await select(on_receive(never1, v), on_receive(c1, v), on_receive(c2, v),
                                     on_receive(never2, v))];
          }
          EXPECT_EQ(chosen[0] + chosen[3], 0);
          EXPECT_GE(chosen[1], trials / 10);
          EXPECT_GE(chosen[2], trials / 10);
        },
        {.procs = procs});
  }
}

// Go's TestPseudoRandomSend: t = 160 of n = 400.
TEST(select, X8_a_random_bit_is_sent_either_way) {
  for (const std::size_t capacity : {0U, 1U}) {
    runq::run([capacity]() -> task<> {
      constexpr int n = 400;
      channel<int> c(capacity);
      channel<int> done;
      std::array<int, n> bits{};
      runq::go([&]() -> task<> {
        for (int& bit : bits) {
          co_await runq::yield();
          bit = *co_await c.receive();
        }
        co_await done.send(0);
      });
      for (int i = 0; i != n; ++i) (void)co_await select(on_send(c, 0), on_send(c, 1));
      (void)co_await done.receive();
      const auto ones = std::count(bits.begin(), bits.end(), 1);
      EXPECT_GT(ones, n / 10);
      EXPECT_LT(ones, n - n / 10);
    });
  }
}

// ---- Go's own tests -------------------------------------------------------------------------------------------------

// TestSelectDuplicateChannel: a select waits on three channels, and another task waits on one of them behind it. When
// the select leaves the channels' queues, the other task must stay in its queue.
TEST(select, X8_the_same_channel_in_several_arms) {
  for (const unsigned procs : {1U, 4U}) {
    runq::run(
        []() -> task<> {
          for (std::size_t i = 0; i != rounds(2000); ++i) {
            channel<int> c;
            channel<int> d;
            channel<int> e;
            std::atomic<bool> first{false};
            std::atomic<bool> second{false};
            runq::go([&]() -> task<> {
              std::optional<int> v;
              (void)co_await select(on_receive(c, v), on_receive(d, v), on_receive(e, v));
              co_await e.send(9);
              first = true;
            });
            co_await runq::yield();
            runq::go([&]() -> task<> {
              (void)co_await c.receive();
              second = true;
            });
            co_await runq::yield();
            co_await d.send(7);
            EXPECT_EQ(*co_await e.receive(), 9);
            co_await c.send(8);
            co_await yield_until([&] { return first && second; });
          }
        },
        {.procs = procs});
  }
}

TEST(select, X8_one_channel_twice_in_both_directions) {
  runq::run([]() -> task<> {
    channel<int> c(1);
    std::optional<int> v;
    // While the channel is empty only the send is possible. While it is full only the receives are.
    for (int i = 0; i != 100; ++i) {
      EXPECT_EQ(co_await select(on_receive(c, v), on_send(c, i), on_receive(c, v)), 1U);
      EXPECT_NE(co_await select(on_receive(c, v), on_send(c, -1), on_receive(c, v)), 1U);
      EXPECT_EQ(v, i);
    }
  });
}

// TestSelfSelect: two tasks that both send and receive on the same channel. No task receives what it sent itself.
TEST(select, X8_two_tasks_that_send_and_receive_on_one_channel_do_not_serve_themselves) {
  for (const std::size_t capacity : {0U, 10U}) {
    runq::run(
        [capacity]() -> task<> {
          const int n = static_cast<int>(rounds(10'000));
          channel<int> c(capacity);
          runq::wait_group group;
          group.add(2);
          for (int self = 0; self != 2; ++self) {
            runq::go([&, self]() -> task<> {
              for (int i = 0; i != n; ++i) {
                std::optional<int> v;
                const bool first = (i + self) % 2 == 0;
                std::size_t arm = 0;
                if (first) {
                  arm = co_await select(on_send(c, self), on_receive(c, v));
                } else {
                  arm = 1 - co_await select(on_receive(c, v), on_send(c, self));
                }
                if (arm == 1 && c.capacity() == 0) {
                  EXPECT_TRUE(v.has_value());
                  EXPECT_NE(v, self) << "received its own value";
                }
              }
              group.done();
            });
          }
          // When one task has done all its rounds, the other may still wait. Main serves it until it has ended, too.
          bool ended = false;
          runq::go([&]() -> task<> {
            co_await group.wait();
            ended = true;
          });
          while (!ended) {
            std::optional<int> v;
            (void)co_await select(on_receive(c, v), otherwise());
            (void)co_await select(on_send(c, 2), otherwise());
            co_await runq::yield();
          }
        },
        {.procs = 1});
  }
}

// TestNonblockSelectRace2: c2 is closed before the value in c1 is taken, so at any moment one of them is ready.
TEST(select, X8_otherwise_is_not_taken_while_a_receive_is_possible) {
  runq::run(
      []() -> task<> {
        for (std::size_t i = 0; i != rounds(20'000); ++i) {
          channel<int> c1(1);
          channel<int> c2;
          std::atomic<bool> closed{false};
          co_await c1.send(1);
          runq::go([&] {
            c2.close();
            std::optional<int> v;
            (void)c1.try_receive(v);
            closed = true;
          });
          std::optional<int> v;
          EXPECT_NE(co_await select(on_receive(c1, v), on_receive(c2, v), otherwise()), 2U);
          co_await yield_until([&] { return closed.load(); });
        }
      },
      {.procs = 4});
}

// TestSelectStress: four channels with two different capacities, and senders and receivers with and without select.
TEST(select, X8_selects_and_plain_operations_on_four_channels_neither_lose_nor_wait_for_ever) {
  for (const unsigned procs : sched_test::proc_counts) {
    runq::run(
        []() -> task<> {
          const int n = static_cast<int>(rounds(10'000));
          std::array<channel<int>, 4> c{channel<int>(0), channel<int>(0), channel<int>(2), channel<int>(3)};
          runq::wait_group group;
          group.add(10);
          for (std::size_t k = 0; k != 4; ++k) {
            runq::go([&, k]() -> task<> {
              for (int i = 0; i != n; ++i) co_await c[k].send(i);
              group.done();
            });
            runq::go([&, k]() -> task<> {
              for (int i = 0; i != n; ++i) (void)co_await c[k].receive();
              group.done();
            });
          }
          runq::go([&]() -> task<> {
            std::array<int, 4> left{n, n, n, n};
            const std::array<std::size_t, 4> place{3, 2, 0, 1};
            for (int i = 0; i != 4 * n; ++i) {
              const auto at = [&](std::size_t k) { return left[k] == 0 ? nullptr : &c[k]; };
              const auto arm =
                  co_await select(on_send(at(3), i), on_send(at(2), i), on_send(at(0), i), on_send(at(1), i));
              --left[place[arm]];
            }
            group.done();
          });
          runq::go([&]() -> task<> {
            std::array<int, 4> left{n, n, n, n};
            for (int i = 0; i != 4 * n; ++i) {
              const auto at = [&](std::size_t k) { return left[k] == 0 ? nullptr : &c[k]; };
              std::optional<int> v;
              --left[co_await select(on_receive(at(0), v), on_receive(at(1), v), on_receive(at(2), v),
                                     on_receive(at(3), v))];
            }
            group.done();
          });
          co_await group.wait();
        },
        {.procs = procs});
  }
}

// TestYieldProgress: a task that loops over a select that does not wait and a yield still receives its message.
TEST(select, L22_a_loop_that_looks_and_yields_gets_its_message) {
  runq::run(
      []() -> task<> {
        channel<int> c;
        channel<int> answer;
        runq::go([&]() -> task<> {
          std::optional<int> v;
          while (co_await select(on_receive(c, v), otherwise()) == 1) co_await runq::yield();
          co_await answer.send(*v + 1);
        });
        for (int i = 0; i != 10; ++i) co_await runq::yield();
        co_await c.send(1);
        EXPECT_EQ(*co_await answer.receive(), 2);
      },
      {.procs = 1});
}

// ---- stop tokens ----------------------------------------------------------------------------------------------------

TEST(select, a_stop_that_was_requested_before_ends_the_wait_at_once) {
  runq::run([]() -> task<> {
    channel<int> never;
    std::stop_source source;
    source.request_stop();
    std::optional<int> v;
    EXPECT_EQ(co_await select(source.get_token(), on_receive(never, v)), runq::stopped);
    EXPECT_EQ(co_await select(source.get_token()), runq::stopped);
  });
}

TEST(select, an_arm_that_is_ready_may_win_against_a_stop_and_a_default_is_not_stopped) {
  runq::run([]() -> task<> {
    channel<int> full(1);
    channel<int> empty;
    co_await full.send(1);
    std::stop_source source;
    source.request_stop();
    std::optional<int> v;
    const auto arm = co_await select(source.get_token(), on_receive(full, v));
    EXPECT_EQ(arm == 0, v.has_value());
    EXPECT_EQ(co_await select(source.get_token(), on_receive(empty, v), otherwise()), 1U);
  });
}

TEST(select, a_stop_while_it_waits_ends_the_wait_and_leaves_the_channels) {
  for (const unsigned procs : sched_test::proc_counts) {
    runq::run(
        []() -> task<> {
          channel<int> c;
          std::stop_source source;
          std::atomic<bool> ended{false};
          runq::go([&]() -> task<> {
            std::optional<int> v;
            EXPECT_EQ(co_await select(source.get_token(), on_receive(c, v), on_send(c, 1)), runq::stopped);
            ended = true;
          });
          for (int i = 0; i != 5; ++i) co_await runq::yield();
          source.request_stop();
          co_await yield_until([&] { return ended.load(); });
          std::optional<int> v;
          EXPECT_EQ(c.try_receive(v), channel_result::waits);
          EXPECT_EQ(c.try_send(1), channel_result::waits);
        },
        {.procs = procs});
  }
}

TEST(select, a_stop_after_it_was_woken_changes_nothing) {
  runq::run([]() -> task<> {
    channel<int> c;
    std::stop_source source;
    std::atomic<bool> ended{false};
    runq::go([&]() -> task<> {
      std::optional<int> v;
      EXPECT_EQ(co_await select(source.get_token(), on_receive(c, v)), 0U);
      EXPECT_EQ(v, 1);
      ended = true;
    });
    co_await c.send(1);
    source.request_stop();
    co_await yield_until([&] { return ended.load(); });
  });
}

TEST(select, a_plain_thread_may_stop_it) {
  for (const unsigned procs : {1U, 4U}) {
    runq::scheduler s({.procs = procs});
    const auto outside = s.attach();
    for (std::size_t i = 0; i != rounds(500); ++i) {
      std::stop_source source;
      std::thread stopper;
      s.run([&]() -> task<> {
        channel<int> never;
        stopper = std::thread([&] { source.request_stop(); });
        std::optional<int> v;
        EXPECT_EQ(co_await select(source.get_token(), on_receive(never, v)), runq::stopped);
      });
      stopper.join();
    }
  }
}

// A stop request and a send at the same moment: the select reports exactly one of them, and the value is not lost.
TEST(select, a_stop_and_a_value_at_the_same_moment_leave_the_value_with_one_of_both) {
  for (const unsigned procs : {2U, 4U}) {
    runq::run(
        []() -> task<> {
          for (std::size_t i = 0; i != rounds(20'000); ++i) {
            channel<int> c;
            std::stop_source source;
            std::atomic<int> left{2};
            bool sent = false;
            runq::go([&]() -> task<> {
              sent = c.try_send(7) == channel_result::done;
              --left;
              co_return;
            });
            runq::go([&] {
              source.request_stop();
              --left;
            });
            std::optional<int> v;
            const auto arm = co_await select(source.get_token(), on_receive(c, v));
            co_await yield_until([&] { return left == 0; });
            EXPECT_EQ(arm == 0, sent);
            EXPECT_EQ(v.has_value(), sent);
          }
        },
        {.procs = procs});
  }
}

// ---- tasks that wait when their run ends ----------------------------------------------------------------------------

TEST(select, a_select_that_ended_with_main_is_in_no_channel_any_more) {
  runq::scheduler s({.procs = 1});
  channel<int> in[3];
  channel<int> out;
  std::stop_source source;
  for (int i = 0; i != 3; ++i) {
    s.run([&]() -> task<> {
      for (int k = 0; k != 3; ++k) {
        runq::go([&]() -> task<> {
          std::optional<int> a, b, c;
          (void)co_await select(source.get_token(), on_receive(in[0], a), on_receive(in[1], b), on_send(out, 1),
                                on_receive(in[2], c), on_receive(in[0], c));
        });
      }
      co_await runq::yield();
    });
    for (channel<int>& c : in) EXPECT_EQ(c.try_send(1), channel_result::waits) << "a task that has ended has received";
    std::optional<int> value;
    EXPECT_EQ(out.try_receive(value), channel_result::waits) << "a task that has ended has sent";
  }
  source.request_stop();
}

// A select on three channels has been woken by the first when main ends. A sender on the second has skipped it, because
// it was woken already. In the third channel it still waits.
TEST(select, a_select_that_was_woken_when_main_ended_leaves_the_other_channels) {
  for (const bool channels_stay : {true, false}) {
    runq::scheduler s({.procs = 1});
    auto a = std::make_unique<channel<int>>();
    auto b = std::make_unique<channel<int>>(1);
    channel<int> c;
    bool went_on = false;
    s.run([&]() -> task<> {
      runq::go([&]() -> task<> {
        std::optional<int> value;
        (void)co_await select(on_receive(*a, value), on_receive(*b, value), on_receive(c, value));
        went_on = true;
      });
      co_await runq::yield();
      EXPECT_EQ(a->try_send(1), channel_result::done);
      EXPECT_EQ(b->try_send(2), channel_result::done);
      EXPECT_EQ(b->size(), 1U) << "a select that was woken by another channel has received";
      if (channels_stay) co_return;
      a.reset();
      b.reset();
    });
    EXPECT_FALSE(went_on);
    EXPECT_EQ(c.try_send(3), channel_result::waits) << "a task that has ended has received";
  }
}

TEST(select, a_select_that_waits_when_main_ends_may_outlive_its_channels) {
  runq::run(
      []() -> task<> {
        const auto a = std::make_unique<channel<int>>();
        const auto b = std::make_unique<channel<int>>();
        runq::go([&a = *a, &b = *b]() -> task<> {
          std::optional<int> value;
          (void)co_await select(on_receive(a, value), on_send(b, 1), on_receive(a, value));
        });
        runq::go([]() -> task<> { (void)co_await select(); });
        co_await runq::yield();
      },
      {.procs = 1});
}

// A channel is closed in which a select waits that another channel has just woken.
TEST(select, X7_closing_a_channel_does_not_wake_a_select_that_was_woken_already) {
  runq::run(
      []() -> task<> {
        channel<int> a;
        channel<int> b;
        int received = 0;
        runq::go([&]() -> task<> {
          std::optional<int> of_a;
          std::optional<int> of_b;
          EXPECT_EQ(co_await select(on_receive(a, of_a), on_receive(b, of_b)), 0U);
          EXPECT_EQ(of_a, 1);
          ++received;
          co_await runq::yield();
          ++received;
        });
        co_await runq::yield();
        EXPECT_EQ(a.try_send(1), channel_result::done);
        b.close();
        for (int i = 0; i != 5; ++i) co_await runq::yield();
        EXPECT_EQ(received, 2);
      },
      {.procs = 1});
}

// In its first select the second arm came too late: the first channel had woken the task. In its second select both
// arms wait when main ends.
TEST(select, an_arm_of_a_range_that_once_came_too_late_is_in_no_channel_after_the_run) {
  channel<int> a;
  channel<int> b;
  int went_on = 0;
  runq::run(
      [&]() -> task<> {
        runq::go([&]() -> task<> {
          std::optional<int> of_a;
          std::optional<int> of_b;
          std::array<runq::receive_arm<int>, 2> arms{on_receive(a, of_a), on_receive(b, of_b)};
          for (;;) {
            (void)co_await select(arms);
            ++went_on;
          }
        });
        co_await runq::yield();
        EXPECT_EQ(a.try_send(1), channel_result::done);
        EXPECT_EQ(b.try_send(1), channel_result::waits) << "the task has been woken by the other channel";
        co_await runq::yield();
      },
      {.procs = 1});
  EXPECT_EQ(went_on, 1);
  EXPECT_EQ(a.try_send(1), channel_result::waits) << "a task that has ended has received";
  EXPECT_EQ(b.try_send(1), channel_result::waits) << "a task that has ended has received";
}

// Threads outside send, receive and request stops while one run after the other ends. A thread that finds no partner
// gives its processor to the run that would bring one.
TEST(select, threads_outside_meet_selects_that_end_with_main) {
  runq::scheduler s({.procs = 2});
  const auto outside = s.attach();
  channel<int> up;
  channel<int> down;
  std::atomic<bool> stop{false};
  std::mutex of_source;
  std::stop_source source;
  std::thread sender([&] {
    while (!stop) {
      if (up.try_send(1) != channel_result::done) std::this_thread::yield();
    }
  });
  std::thread receiver([&] {
    std::optional<int> value;
    while (!stop) {
      if (down.try_receive(value) != channel_result::done) std::this_thread::yield();
    }
  });
  std::thread stopper([&] {
    while (!stop) {
      {
        const std::lock_guard lock(of_source);
        source.request_stop();
      }
      std::this_thread::yield();  // std::mutex is not fair, and the loop below needs it, too
    }
  });
  for (std::size_t i = 0; i != std::max<std::size_t>(rounds(1'000), 200); ++i) {
    {
      const std::lock_guard lock(of_source);
      source = std::stop_source();
    }
    s.run([&]() -> task<> {
      for (int k = 0; k != 4; ++k) {
        runq::go([&, token = source.get_token()]() -> task<> {
          std::optional<int> value;
          while (co_await select(token, on_receive(up, value), on_send(down, 2)) != runq::stopped) {
          }
          (void)co_await select(on_receive(up, value), on_send(down, 2));
        });
      }
      for (std::size_t k = 0; k != i % 7; ++k) co_await runq::yield();
    });
  }
  stop = true;
  sender.join();
  receiver.join();
  stopper.join();
  EXPECT_EQ(up.try_send(1), channel_result::waits);
}

// ---- a number of arms that is known at run time ---------------------------------------------------------------------

std::vector<runq::receive_arm<int>> arms_of(std::vector<std::unique_ptr<channel<int>>>& from,
                                            std::vector<std::optional<int>>& into) {
  std::vector<runq::receive_arm<int>> arms;
  for (std::size_t i = 0; i != from.size(); ++i) arms.push_back(on_receive(*from[i], into[i]));
  return arms;
}
std::vector<std::unique_ptr<channel<int>>> channels(std::size_t n, std::size_t capacity) {
  std::vector<std::unique_ptr<channel<int>>> made;
  for (std::size_t i = 0; i != n; ++i) made.push_back(std::make_unique<channel<int>>(capacity));
  return made;
}

TEST(select, X8_a_range_of_arms_takes_the_one_that_can_go_on_and_serves_again) {
  for (const std::size_t n : {std::size_t{1}, std::size_t{2}, std::size_t{100}}) {
    runq::run([n]() -> task<> {
      auto from = channels(n, 1);
      std::vector<std::optional<int>> into(n);
      auto arms = arms_of(from, into);
      for (std::size_t i = 0; i != n; ++i) {
        EXPECT_EQ(co_await select(arms, otherwise()), n);
        co_await from[i]->send(static_cast<int>(i));
        EXPECT_EQ(co_await select(arms), i);
        EXPECT_EQ(into[i], static_cast<int>(i));
      }
    });
  }
}

TEST(select, X8_a_range_of_arms_waits_again_and_again_and_writes_only_what_it_received) {
  for (const unsigned procs : sched_test::proc_counts) {
    runq::run(
        []() -> task<> {
          constexpr std::size_t n = 5;
          auto from = channels(n, 0);
          std::vector<std::optional<int>> into(n);
          auto arms = arms_of(from, into);
          runq::wait_group sent;
          sent.add(n);
          const int each = static_cast<int>(rounds(1'000));
          for (std::size_t i = 0; i != n; ++i) {
            runq::go([&, i]() -> task<> {
              for (int v = 0; v != each; ++v) co_await from[i]->send(v);
              sent.done();
            });
          }
          std::vector<int> next(n);
          for (int k = 0; k != each * static_cast<int>(n); ++k) {
            const std::size_t which = co_await select(arms);
            EXPECT_EQ(into[which], next[which]);
            ++next[which];
            for (auto& other : into) {
              EXPECT_EQ(other.has_value(), &other == &into[which]);
              other.reset();
            }
          }
          co_await sent.wait();
        },
        {.procs = procs});
  }
}

TEST(select, X8_arms_of_a_range_that_are_ready_are_chosen_equally_often) {
  runq::run([]() -> task<> {
    constexpr std::size_t n = 4;
    const int total = 4'000;
    auto from = channels(n, 1);
    std::vector<std::optional<int>> into(n);
    auto arms = arms_of(from, into);
    for (auto& c : from) co_await c->send(0);
    std::vector<int> chosen(n);
    for (int i = 0; i != total; ++i) {
      const std::size_t which = co_await select(arms);
      ++chosen[which];
      co_await from[which]->send(0);
    }
    // 1,000 each; nine standard deviations.
    for (const int times : chosen) EXPECT_NEAR(times, 1'000, 250);
  });
}

TEST(select, X8_a_range_of_arms_of_any_type_keeps_what_it_has_not_sent) {
  runq::run([]() -> task<> {
    channel<std::string> text;
    channel<std::unique_ptr<int>> numbers(1);
    std::optional<std::string> got;
    std::vector<runq::any_arm> arms;
    arms.emplace_back(on_receive(text, got));
    arms.emplace_back(on_send(numbers, std::make_unique<int>(7)));
    EXPECT_EQ(co_await select(arms), 1U);
    EXPECT_EQ(**co_await numbers.receive(), 7);

    arms[1] = on_send(numbers, std::make_unique<int>(8));
    co_await numbers.send(nullptr);
    runq::go([&]() -> task<> { co_await text.send("text"); });
    EXPECT_EQ(co_await select(arms), 0U);
    EXPECT_EQ(got, "text");
    EXPECT_EQ(*co_await numbers.receive(), nullptr);
    EXPECT_EQ(co_await select(arms), 1U);
    EXPECT_EQ(**co_await numbers.receive(), 8);
  });
}

TEST(select, X8_a_range_of_arms_may_be_a_temporary_a_span_or_have_null_channels) {
  runq::run([]() -> task<> {
    auto from = channels(3, 1);
    std::vector<std::optional<int>> into(3);
    co_await from[2]->send(5);
    EXPECT_EQ(co_await select(arms_of(from, into)), 2U);
    EXPECT_EQ(into[2], 5);

    auto arms = arms_of(from, into);
    arms[0] = on_receive(static_cast<channel<int>*>(nullptr), into[0]);
    co_await from[1]->send(6);
    co_await from[2]->send(7);
    EXPECT_EQ(co_await select(std::span(arms).first(2)), 1U);
    EXPECT_EQ(co_await select(arms), 2U);
  });
}

TEST(select, X7_a_range_of_arms_with_closed_channels) {
  runq::run([]() -> task<> {
    auto from = channels(2, 0);
    std::vector<std::optional<int>> into(2, 1);
    auto arms = arms_of(from, into);
    runq::go([&] { from[1]->close(); });
    EXPECT_EQ(co_await select(arms), 1U);
    EXPECT_EQ(into[0], 1);
    EXPECT_EQ(into[1], std::nullopt);
    EXPECT_EQ(co_await misuse_in_task([&] {
                std::vector<runq::send_arm<int>> sends;
                sends.push_back(on_send(*from[1], 1));
                return select(std::move(sends));
              }),
              "send on closed channel");
  });
}

TEST(select, X7_arms_of_any_type_with_closed_channels) {
  runq::run([]() -> task<> {
    channel<int> c;
    c.close();
    std::optional<int> n = 1;
    std::vector<runq::any_arm> receives;
    receives.emplace_back(on_receive(c, n));
    EXPECT_EQ(co_await select(receives), 0U);
    EXPECT_EQ(n, std::nullopt);
    std::vector<runq::any_arm> sends;
    sends.emplace_back(on_send(c, 1));
    EXPECT_EQ(co_await misuse_in_task([&] { return select(sends); }), "send on closed channel");
  });
}

TEST(select, X8_an_arm_that_is_assigned_is_the_other_arm) {
  runq::run([]() -> task<> {
    channel<int> a(1);
    channel<int> b(1);
    std::vector<runq::send_arm<int>> sends;
    sends.push_back(on_send(a, 1));
    sends[0] = on_send(b, 2);
    EXPECT_EQ(co_await select(sends), 0U);
    EXPECT_EQ(a.size(), 0U);
    EXPECT_EQ(b.size(), 1U);
    std::optional<int> of_a;
    std::optional<int> of_b;
    std::vector<runq::receive_arm<int>> receives;
    receives.push_back(on_receive(a, of_a));
    receives[0] = on_receive(b, of_b);
    EXPECT_EQ(co_await select(receives), 0U);
    EXPECT_EQ(of_a, std::nullopt);
    EXPECT_EQ(of_b, 2);
  });
}

TEST(select, a_stop_ends_the_wait_of_a_range_of_arms) {
  runq::run([]() -> task<> {
    auto from = channels(3, 1);
    std::vector<std::optional<int>> into(3);
    auto arms = arms_of(from, into);
    std::stop_source source;
    // With a source of its own: the request may still be at work when main has ended.
    runq::go([source]() mutable { source.request_stop(); });
    EXPECT_EQ(co_await select(source.get_token(), arms), runq::stopped);
    std::vector<runq::any_arm> none;
    EXPECT_EQ(co_await select(source.get_token(), none), runq::stopped);
    // It has left all channels, so values stay in their buffers.
    for (auto& c : from) co_await c->send(1);
    for (auto& c : from) EXPECT_EQ(c->size(), 1U);
    EXPECT_NE(co_await select(arms), runq::stopped);
  });
}

TEST(select, a_range_of_arms_that_ended_with_main_is_in_no_channel_any_more) {
  auto from = channels(3, 1);
  std::vector<std::optional<int>> into(3);
  auto arms = arms_of(from, into);
  runq::run([&]() -> task<> {
    runq::go([&]() -> task<> { (void)co_await select(arms); });
    co_await runq::yield();
  });
  for (auto& c : from) {
    EXPECT_EQ(c->try_send(1), channel_result::done);
    EXPECT_EQ(c->size(), 1U);
  }
}

TEST(select, misuse_of_a_range_of_arms) {
  RUNQ_EXPECT_STATUS_2(runq::run([]() -> task<> {
                         std::vector<runq::any_arm> none;
                         (void)co_await select(none);
                       }),
                       testing::ContainsRegex("goroutine 1 \\[select \\(no cases\\)\\]:"));
  runq::run([]() -> task<> {
    channel<int> c(1);
    std::optional<int> n;
    std::vector<runq::any_arm> arms;
    arms.emplace_back(on_receive(c, n));
    const runq::any_arm taken = std::move(arms[0]);
    EXPECT_EQ(co_await misuse_in_task([&] { return select(arms); }),
              "runq: select() was given an arm that was moved from");
    std::vector<runq::receive_arm<int>> many;
    for (int i = 0; i != 65'536; ++i) many.push_back(on_receive(c, n));
    co_await c.send(1);
    EXPECT_LT(co_await select(many), 65'536U);
    many.push_back(on_receive(c, n));
    EXPECT_EQ(co_await misuse_in_task([&] { return select(many); }), "runq: a select() has more than 65536 arms");
  });
}

}  // namespace
