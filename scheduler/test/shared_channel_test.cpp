// SPDX-License-Identifier: MIT
// make_channel(), and the handles of a channel. Row SC13.
#include <concepts>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "support.hpp"

namespace {

using runq::make_channel;
using runq::receive_end;
using runq::send_end;
using runq::shared_channel;
using runq::task;
using sched_test::misuse_of;

template <class Handle>
concept sends = requires(Handle handle) {
  handle.send(1);
  handle.close();
};
template <class Handle>
concept receives = requires(Handle handle) {
  handle.receive();
};

static_assert(sends<shared_channel<int>> && receives<shared_channel<int>>);
static_assert(sends<send_end<int>> && !receives<send_end<int>>);
static_assert(!sends<receive_end<int>> && receives<receive_end<int>>);
static_assert(std::convertible_to<shared_channel<int>, send_end<int>>);
static_assert(std::convertible_to<shared_channel<int>, receive_end<int>>);
static_assert(!std::convertible_to<send_end<int>, shared_channel<int>>);
static_assert(!std::convertible_to<send_end<int>, receive_end<int>>);
static_assert(!std::convertible_to<receive_end<int>, send_end<int>>);

class shared_channels : public sched_test::alarmed {
 protected:
  template <class F>
  static void on_any_number_of_processors(F&& f) {
    for (const unsigned procs : sched_test::proc_counts) runq::run(f, {.procs = procs});
  }
};

task<> count_to(int n, send_end<int> to) {
  for (int i = 1; i <= n; ++i) co_await to.send(i);
  to.close();
}
receive_end<int> numbers_to(int n, std::size_t capacity) {
  const auto c = make_channel<int>(capacity);
  runq::go(count_to(n, c));
  return c;
}

TEST_F(shared_channels, SC13_the_maker_of_a_channel_may_end_first) {
  on_any_number_of_processors([]() -> task<> {
    for (const std::size_t capacity : {0U, 3U}) {
      const auto from = numbers_to(100, capacity);
      int sum = 0;
      while (const auto n = co_await from.receive()) sum += *n;
      EXPECT_EQ(sum, 5050);
    }
  });
}

TEST_F(shared_channels, SC13_the_channel_and_its_values_live_as_long_as_the_last_handle) {
  auto value = std::make_shared<int>(1);
  const std::weak_ptr<int> seen = value;
  auto c = make_channel<std::shared_ptr<int>>(1);
  std::optional<receive_end<std::shared_ptr<int>>> last = c;
  EXPECT_EQ(c.try_send(std::move(value)), runq::channel_result::done);
  c = {};
  EXPECT_FALSE(c);
  EXPECT_FALSE(seen.expired());
  EXPECT_EQ(last->size(), 1u);
  EXPECT_EQ(last->capacity(), 1u);
  last.reset();
  EXPECT_TRUE(seen.expired());
}

TEST_F(shared_channels, copies_are_of_the_same_channel) {
  const auto a = make_channel<int>();
  const send_end<int> in = a;
  const receive_end<int> out = a;
  EXPECT_TRUE(in == out);
  EXPECT_TRUE(a == in);
  EXPECT_FALSE(a == make_channel<int>());
  EXPECT_TRUE(send_end<int>() == receive_end<int>());
}

TEST_F(shared_channels, SC13_ends_are_arms_of_a_select) {
  on_any_number_of_processors([]() -> task<> {
    const auto a = make_channel<int>(1);
    const send_end<int> in = a;
    const receive_end<int> out = a;
    const receive_end<int> none;
    std::optional<int> n;
    EXPECT_EQ(co_await runq::select(runq::on_receive(none, n), runq::on_send(in, 5)), 1u);
    EXPECT_EQ(co_await runq::select(runq::on_send(in, 6), runq::on_receive(out, n)), 1u);
    EXPECT_EQ(n, 5);
    EXPECT_EQ(co_await runq::select(runq::on_send(a, 7), runq::on_receive(none, n)), 0u);
    EXPECT_EQ(co_await runq::select(runq::on_receive(a, n), runq::otherwise()), 0u);
    EXPECT_EQ(n, 7);
    EXPECT_EQ(co_await runq::select(runq::on_receive(out, n), runq::otherwise()), 1u);
  });
}

TEST_F(shared_channels, an_aggregate_is_sent_in_braces) {
  struct named {
    std::string name;
    int number;
  };
  on_any_number_of_processors([]() -> task<> {
    const auto c = make_channel<named>(1);
    co_await c.send({"a name that is too long for the string itself", 1});
    const auto received = co_await c.receive();
    EXPECT_EQ(received->name, "a name that is too long for the string itself");
    EXPECT_EQ(received->number, 1);
  });
}

TEST_F(shared_channels, a_handle_without_a_channel_is_refused) {
  const char* const none = "runq: a channel handle without a channel was used; make one with make_channel()";
  runq::run([&]() -> task<> {
    const shared_channel<int> c;
    std::optional<int> n;
    EXPECT_EQ(misuse_of([&] { (void)c.send(1); }), none);
    EXPECT_EQ(misuse_of([&] { (void)c.receive(); }), none);
    EXPECT_EQ(misuse_of([&] { (void)c.try_send(1); }), none);
    EXPECT_EQ(misuse_of([&] { (void)c.try_receive(n); }), none);
    EXPECT_EQ(misuse_of([&] { c.close(); }), none);
    EXPECT_EQ(misuse_of([&] { (void)c.size(); }), none);
    co_return;
  });
  EXPECT_EQ(misuse_of([] { (void)make_channel<int>(runq::channel<int>::max_capacity + 1); }),
            "runq: the capacity of a channel must be at most channel<T>::max_capacity");
}

}  // namespace
