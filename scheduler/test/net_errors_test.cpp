// SPDX-License-Identifier: MIT
// Reading, writing and accepting with a std::error_code: nothing is thrown, and a write says how much it has written.
#include <array>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <sys/socket.h>

#include "net_support.hpp"

namespace {

using namespace std::chrono_literals;
using runq::scheduler;
using runq::task;
using runq::net::listener;
using runq::net::stream;
using sched_test::bytes_of;
using sched_test::more_than_buffers;
using sched_test::read_text;
using sched_test::somebody_waits;

using net_errors = sched_test::net_fixture;

const std::error_code no_error;

TEST_F(net_errors, success_clears_the_error) {
  runq::run([]() -> task<> {
    auto [a, b] = runq::net::socket_pair();
    std::error_code error = std::make_error_code(std::errc::io_error);
    const std::size_t written = co_await a.write(bytes_of("hello"), error);
    EXPECT_EQ(written, 5U);
    EXPECT_EQ(error, no_error);
    std::array<std::byte, 8> into{};
    error = std::make_error_code(std::errc::io_error);
    const std::size_t got = co_await b.read(into, error);
    EXPECT_EQ(got, 5U);
    EXPECT_EQ(error, no_error);
    a.close();
    const std::size_t end = co_await b.read(into, error);
    EXPECT_EQ(end, 0U);
    EXPECT_EQ(error, no_error);
  });
}

TEST_F(net_errors, errors_of_an_attempt_are_returned) {
  runq::run([]() -> task<> {
    auto [a, b] = runq::net::socket_pair();
    std::array<std::byte, 8> into{};
    std::error_code error;
    b.close();
    const std::size_t written = co_await a.write(bytes_of("hello"), error);
    EXPECT_EQ(written, 0U);
    EXPECT_EQ(error, std::errc::broken_pipe);
    const std::size_t got = co_await b.read(into, error);
    EXPECT_EQ(got, 0U);
    EXPECT_EQ(error, std::errc::operation_canceled);
    a.set_deadline(runq::clock::time_point{});
    const std::size_t late = co_await a.write(bytes_of("hello"), error);
    EXPECT_EQ(late, 0U);
    EXPECT_EQ(error, std::errc::timed_out);
    const stream moved(std::move(a));
    const std::size_t none = co_await a.read(into, error);  // NOLINT(bugprone-use-after-move): that is what is tested
    EXPECT_EQ(none, 0U);
    EXPECT_EQ(error, std::errc::operation_canceled);
  });
}

// What is read until the end of `from`.
task<std::size_t> bytes_left(stream& from) {
  std::vector<std::byte> into(64 * 1024);
  std::size_t sum = 0;
  while (const std::size_t n = co_await from.read(into)) sum += n;
  co_return sum;
}

TEST_F(net_errors, a_write_that_is_stopped_says_how_much_it_has_written) {
  scheduler s({.procs = 2});
  s.run([&]() -> task<> {
    auto [a, b] = runq::net::socket_pair();
    stream& out = a;
    std::stop_source stop;
    runq::channel<std::pair<std::size_t, std::error_code>> ends(1);
    runq::go([&]() -> task<> {
      const std::vector<std::byte> bytes(more_than_buffers);
      std::error_code error;
      const std::size_t n = co_await out.write(bytes, error, stop.get_token());
      co_await ends.send(std::pair(n, error));
    });
    const bool waits = co_await somebody_waits(s);
    EXPECT_TRUE(waits);
    stop.request_stop();
    const auto end = co_await ends.receive();
    EXPECT_EQ(end->second, std::errc::operation_canceled);
    EXPECT_GT(end->first, 0U);
    EXPECT_LT(end->first, more_than_buffers);
    out.close();
    const std::size_t arrived = co_await bytes_left(b);
    EXPECT_EQ(arrived, end->first);
  });
}

TEST_F(net_errors, accepting_returns_nothing_and_an_error) {
  runq::run([]() -> task<> {
    listener l = runq::net::listen_tcp("127.0.0.1", 0);
    std::error_code error = std::make_error_code(std::errc::io_error);
    stream client = co_await runq::net::connect_tcp("127.0.0.1", l.port());
    auto served = co_await l.accept(error);
    EXPECT_TRUE(served.has_value());
    EXPECT_EQ(error, no_error);
    l.close();
    const auto none = co_await l.accept(error);
    EXPECT_FALSE(none.has_value());
    EXPECT_EQ(error, std::errc::operation_canceled);
  });
}

}  // namespace
