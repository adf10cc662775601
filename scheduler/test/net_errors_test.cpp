// SPDX-License-Identifier: MIT
// Reading, writing, accepting and connecting with a std::error_code: nothing is thrown, and a write says how much it
// has written, also when it throws.
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
#include <unistd.h>

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

// How a write has ended: how much it has written, and its error.
using write_end = std::pair<std::size_t, std::error_code>;

task<write_end> write_with_error(stream& out, std::size_t n, std::stop_token stop) {
  const std::vector<std::byte> bytes(n);
  std::error_code error;
  const std::size_t written = co_await out.write(bytes, error, std::move(stop));
  co_return write_end(written, error);
}

task<write_end> write_with_exception(stream& out, std::size_t n, std::stop_token stop) {
  const std::vector<std::byte> bytes(n);
  try {
    co_await out.write(bytes, std::move(stop));
  } catch (const runq::net::write_error& e) {
    co_return write_end(e.written(), e.code());
  } catch (const runq::net::write_cancelled& e) {
    co_return write_end(e.written(), std::make_error_code(std::errc::operation_canceled));
  }
  co_return write_end(n, no_error);
}

using write_function = task<write_end> (*)(stream&, std::size_t, std::stop_token);

// Fills the buffers by `write`, which then waits; `end_it` ends it. Returns how it has ended, and how much has arrived.
template <class EndIt>
task<std::pair<write_end, std::size_t>> interrupted_write(scheduler& s, write_function write, EndIt& end_it) {
  auto [a, b] = runq::net::socket_pair();
  stream& out = a;
  std::stop_source stop;
  runq::channel<write_end> ends(1);
  runq::go([&]() -> task<> {
    const write_end end = co_await write(out, more_than_buffers, stop.get_token());
    co_await ends.send(end);
  });
  const bool waits = co_await somebody_waits(s);
  EXPECT_TRUE(waits);
  end_it(out, stop);
  const auto end = co_await ends.receive();
  out.close();
  const std::size_t arrived = co_await bytes_left(b);
  co_return std::pair(*end, arrived);
}

class net_write_errors : public net_errors, public testing::WithParamInterface<write_function> {
 protected:
  template <class EndIt>
  void expect_end(std::errc error, EndIt end_it) {
    scheduler s({.procs = 2});
    s.run([&]() -> task<> {
      const auto [end, arrived] = co_await interrupted_write(s, GetParam(), end_it);
      EXPECT_EQ(end.second, error);
      EXPECT_GT(end.first, 0U);
      EXPECT_LT(end.first, more_than_buffers);
      EXPECT_EQ(arrived, end.first);
    });
  }
};

TEST_P(net_write_errors, a_write_that_is_stopped_says_how_much_it_has_written) {
  expect_end(std::errc::operation_canceled, [](stream&, std::stop_source& stop) { stop.request_stop(); });
}

TEST_P(net_write_errors, a_write_whose_stream_is_closed_says_how_much_it_has_written) {
  expect_end(std::errc::operation_canceled, [](stream& out, std::stop_source&) { out.close(); });
}

TEST_P(net_write_errors, a_write_whose_deadline_passes_says_how_much_it_has_written) {
  expect_end(std::errc::timed_out,
             [](stream& out, std::stop_source&) { out.set_write_deadline(runq::clock::time_point{}); });
}

INSTANTIATE_TEST_SUITE_P(, net_write_errors, testing::Values(&write_with_error, &write_with_exception),
                         [](const auto& chosen) { return chosen.index == 0 ? "with_error" : "with_exception"; });

TEST_F(net_errors, a_write_waits_for_its_turn_and_then_says_what_it_has_written) {
  scheduler s({.procs = 2});
  s.run([&]() -> task<> {
    auto [a, b] = runq::net::socket_pair();
    stream& out = a;
    std::stop_source stop;
    runq::wait_group done;
    done.add(2);
    std::array<write_end, 2> ends;
    for (write_end& end : ends) {
      runq::go([&]() -> task<> {
        end = co_await write_with_error(out, more_than_buffers, stop.get_token());
        done.done();
      });
    }
    const bool waits = co_await somebody_waits(s);
    EXPECT_TRUE(waits);
    stop.request_stop();
    co_await done.wait();
    out.close();
    const std::size_t arrived = co_await bytes_left(b);
    EXPECT_EQ(arrived, ends[0].first + ends[1].first);
    EXPECT_EQ(ends[0].second, std::errc::operation_canceled);
    EXPECT_EQ(ends[1].second, std::errc::operation_canceled);
    EXPECT_TRUE(ends[0].first == 0 || ends[1].first == 0);
  });
}

TEST_F(net_errors, operations_with_an_error_code_are_tasks_too) {
  runq::run([]() -> task<> {
    auto [a, b] = runq::net::socket_pair();
    std::array<std::byte, 8> into{};
    std::error_code read_error = std::make_error_code(std::errc::io_error);
    std::error_code write_error = read_error;
    task<std::size_t> reads = b.read(into, read_error);
    task<std::size_t> writes = a.write(bytes_of("hello"), write_error);
    const std::size_t written = co_await writes;
    const std::size_t got = co_await reads;
    EXPECT_EQ(written, 5U);
    EXPECT_EQ(got, 5U);
    EXPECT_EQ(read_error, no_error);
    EXPECT_EQ(write_error, no_error);
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

TEST_F(net_errors, an_accept_that_is_stopped_returns_nothing) {
  scheduler s({.procs = 2});
  s.run([&]() -> task<> {
    listener l = runq::net::listen_tcp("127.0.0.1", 0);
    std::stop_source stop;
    std::error_code error;
    runq::channel<bool> accepted(1);
    runq::go([&]() -> task<> {
      const auto none = co_await l.accept(error, stop.get_token());
      co_await accepted.send(none.has_value());
    });
    const bool waits = co_await somebody_waits(s);
    EXPECT_TRUE(waits);
    stop.request_stop();
    const auto got = co_await accepted.receive();
    EXPECT_FALSE(*got);
    EXPECT_EQ(error, std::errc::operation_canceled);
  });
}

TEST_F(net_errors, ending_to_write_sets_an_error) {
  runq::run([]() -> task<> {
    auto [client, server] = co_await sched_test::tcp_pair();
    std::error_code error = std::make_error_code(std::errc::io_error);
    client.shutdown_write(error);
    EXPECT_FALSE(error) << error.message();
    EXPECT_EQ(co_await read_text(server, 1), "");

    // A second end is no error, as long as there is a connection.
    client.shutdown_write(error);
    EXPECT_FALSE(error) << error.message();
    const linger at_once = {1, 0};
    setsockopt(server.fd(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    server.close();
    EXPECT_EQ(co_await sched_test::error_of_read(client), ECONNRESET);
    client.shutdown_write(error);
    EXPECT_EQ(error, std::errc::not_connected);
    int thrown = 0;
    try {
      client.shutdown_write();
    } catch (const std::system_error& e) {
      thrown = e.code().value();
    }
    EXPECT_EQ(thrown, ENOTCONN);

    auto [from, to] = runq::net::pipe();
    to.shutdown_write(error);
    EXPECT_EQ(error, std::errc::not_a_socket);
    client.close();
    client.shutdown_write(error);
    EXPECT_EQ(error, std::errc::operation_canceled);
    const stream elsewhere = std::move(client);
    client.shutdown_write(error);  // NOLINT(bugprone-use-after-move): what was moved from is as what was closed
    EXPECT_EQ(error, std::errc::operation_canceled);
  });
}

TEST_F(net_errors, listening_returns_a_listener_or_an_error) {
  runq::run([]() -> task<> {
    std::error_code error = std::make_error_code(std::errc::io_error);
    const auto first = runq::net::listen_tcp("127.0.0.1", 0, error);
    EXPECT_TRUE(first.has_value());
    EXPECT_EQ(error, no_error);
    EXPECT_FALSE(runq::net::listen_tcp("127.0.0.1", first->port(), error).has_value());
    EXPECT_EQ(error, std::errc::address_in_use);
    EXPECT_FALSE(runq::net::listen_tcp("no address", 0, error).has_value());
    EXPECT_EQ(error.category(), runq::net::lookup_errors());
    const std::string path = testing::TempDir() + "runq_net_errors_listen." + std::to_string(getpid());
    const auto at_path = runq::net::listen_unix(path, error);
    EXPECT_TRUE(at_path.has_value());
    EXPECT_EQ(error, no_error);
    EXPECT_FALSE(runq::net::listen_unix(path, error).has_value());
    EXPECT_EQ(error, std::errc::address_in_use);
    EXPECT_FALSE(runq::net::listen_unix(std::string(1000, 'x'), error).has_value());
    EXPECT_EQ(error, std::errc::filename_too_long);
    co_return;
  });
}

TEST_F(net_errors, connecting_returns_a_stream_or_an_error) {
  runq::run([]() -> task<> {
    listener l = runq::net::listen_tcp("127.0.0.1", 0);
    const std::uint16_t port = l.port();
    std::error_code error = std::make_error_code(std::errc::io_error);
    {
      auto client = co_await runq::net::connect_tcp("localhost", port, error);
      EXPECT_EQ(error, no_error);
      EXPECT_TRUE(client.has_value());
      stream server = co_await l.accept();
      if (client) co_await client->write(bytes_of("hello"));
      const std::string text = co_await read_text(server, 5);
      EXPECT_EQ(text, "hello");
    }
    l.close();
    const auto refused = co_await runq::net::connect_tcp("localhost", port, error);
    EXPECT_FALSE(refused.has_value());
    EXPECT_EQ(error, std::errc::connection_refused);
    const auto unknown = co_await runq::net::connect_tcp("no such host", 1, error);
    EXPECT_FALSE(unknown.has_value());
    EXPECT_EQ(error.category(), runq::net::lookup_errors());
    EXPECT_FALSE(error.message().empty());
  });
}

TEST_F(net_errors, connecting_to_a_unix_socket_returns_a_stream_or_an_error) {
  runq::run([]() -> task<> {
    const std::string path = testing::TempDir() + "runq_net_errors." + std::to_string(getpid());
    std::error_code error;
    {
      listener l = runq::net::listen_unix(path);
      const auto client = co_await runq::net::connect_unix(path, error);
      EXPECT_TRUE(client.has_value());
      EXPECT_EQ(error, no_error);
    }
    const auto none = co_await runq::net::connect_unix(path, error);
    EXPECT_FALSE(none.has_value());
    EXPECT_EQ(error, std::errc::no_such_file_or_directory);
    const auto too_long = co_await runq::net::connect_unix(std::string(1000, 'x'), error);
    EXPECT_FALSE(too_long.has_value());
    EXPECT_EQ(error, std::errc::filename_too_long);
  });
}

TEST_F(net_errors, an_unknown_name_says_which) {
  runq::run([]() -> task<> {
    std::string what;
    try {
      (void)co_await runq::net::connect_tcp("no such host", 1);
    } catch (const std::system_error& e) {
      EXPECT_EQ(e.code().category(), runq::net::lookup_errors());
      what = e.what();
    }
    EXPECT_NE(what.find("no such host"), std::string::npos);
  });
}

}  // namespace
