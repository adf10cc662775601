// SPDX-License-Identifier: MIT
// Streams and listeners: rows S8, S9, S11 and X4 of the scheduler's rules, L7 as far as descriptors go, and every
// sentence of net.hpp. If a task is not woken, an alarm ends the program.
#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "net_support.hpp"
#include "repeats.hpp"
#include "resolver_of_test.hpp"

namespace {

using namespace std::chrono_literals;
using runq::scheduler;
using runq::task;
using runq::net::listener;
using runq::net::stream;
using sched_test::bytes_of;
using sched_test::error_of;
using sched_test::error_of_read;
using sched_test::error_of_write;
using sched_test::folder;
using sched_test::has_ipv6;
using sched_test::more_than_buffers;
using sched_test::names_asked;
using sched_test::patience;
using sched_test::read_text;
using sched_test::slow_build;
using sched_test::somebody_waits;
using sched_test::stream_pair;
using sched_test::tcp_pair;
using sched_test::wait_until;
using sched_test::was_cancelled;
using sched_test::write_text;

using net = sched_test::net_fixture;
using net_death = net;

// ---- the kinds of streams -------------------------------------------------------------------------------------------

TEST_F(net, a_pipe_goes_one_way) {
  runq::run([]() -> task<> {
    auto [in, out] = runq::net::pipe();
    co_await write_text(out, "hello");
    const std::string got = co_await read_text(in, 5);
    EXPECT_EQ(got, "hello");
    const int error = co_await error_of_write(in);
    EXPECT_EQ(error, EBADF);
  });
}

TEST_F(net, a_socket_pair_goes_both_ways) {
  runq::run([]() -> task<> {
    auto [a, b] = runq::net::socket_pair();
    co_await write_text(a, "ping");
    const std::string ping = co_await read_text(b, 4);
    co_await write_text(b, "pong");
    const std::string pong = co_await read_text(a, 4);
    EXPECT_EQ(ping + pong, "pingpong");
  });
}

TEST_F(net, tcp_by_ipv4_by_name_and_by_number) {
  runq::run([]() -> task<> {
    for (const char* const host : {"127.0.0.1", "localhost"}) {
      listener l = runq::net::listen_tcp("127.0.0.1", 0);
      EXPECT_NE(l.port(), 0);
      stream client = co_await runq::net::connect_tcp(host, l.port());
      stream server = co_await l.accept();
      co_await write_text(client, "hello");
      const std::string got = co_await read_text(server, 5);
      EXPECT_EQ(got, "hello");
    }
  });
}

/// Whether the socket sends what is written at once, and does not wait for more.
bool sends_at_once(const stream& s) {
  int on = 0;
  socklen_t size = sizeof on;
  EXPECT_EQ(getsockopt(s.fd(), IPPROTO_TCP, TCP_NODELAY, &on, &size), 0);
  return on != 0;
}

TEST_F(net, both_ends_of_a_tcp_connection_send_at_once) {
  runq::run([]() -> task<> {
    listener l = runq::net::listen_tcp("127.0.0.1", 0);
    const stream client = co_await runq::net::connect_tcp("127.0.0.1", l.port());
    const stream server = co_await l.accept();
    EXPECT_TRUE(sends_at_once(client));
    EXPECT_TRUE(sends_at_once(server));
  });
}

TEST_F(net, localhost_and_the_names_below_it_are_loopback_without_asking_anybody) {
  const int before = names_asked;
  runq::run([]() -> task<> {
    listener l = runq::net::listen_tcp("localhost", 0);
    for (const char* const host :
         {"127.0.0.1", "localhost", "LocalHost", "localhost.", "a.localhost", "b.a.LOCALHOST."}) {
      stream client = co_await runq::net::connect_tcp(host, l.port());
      stream server = co_await l.accept();
      co_await write_text(client, "hello");
      const std::string got = co_await read_text(server, 5);
      EXPECT_EQ(got, "hello") << host;
    }
  });
  EXPECT_EQ(names_asked, before);
}

TEST_F(net, names_that_only_resemble_localhost_are_looked_up) {
  const int before = names_asked;
  runq::run([]() -> task<> {
    int unknown = 0;
    for (const char* const host : {"localhos", "notlocalhost", "localhost.example", "localhost..", "a.localhost.b"}) {
      try {
        (void)co_await runq::net::connect_tcp(host, 1);
      } catch (const std::runtime_error&) {
        ++unknown;
      }
    }
    EXPECT_EQ(unknown, 5);
  });
  EXPECT_EQ(names_asked, before + 5);
}

TEST_F(net, tcp_by_ipv6) {
  if (!has_ipv6()) GTEST_SKIP() << "there is no ::1";
  runq::run([]() -> task<> {
    auto [client, server] = co_await tcp_pair("::1");
    co_await write_text(client, "hello");
    const std::string got = co_await read_text(server, 5);
    EXPECT_EQ(got, "hello");
  });
}

TEST_F(net, listening_at_no_address_means_all) {
  runq::run([]() -> task<> {
    listener l = runq::net::listen_tcp("", 0);
    stream client = co_await runq::net::connect_tcp("127.0.0.1", l.port());
    stream server = co_await l.accept();
    co_await write_text(server, "x");
    const std::string got = co_await read_text(client, 1);
    EXPECT_EQ(got, "x");
  });
}

TEST_F(net, unix_sockets) {
  const folder f;
  runq::run([&]() -> task<> {
    listener l = runq::net::listen_unix(f.file("socket"));
    EXPECT_EQ(l.port(), 0);
    stream client = co_await runq::net::connect_unix(f.file("socket"));
    stream server = co_await l.accept();
    co_await write_text(client, "hello");
    const std::string got = co_await read_text(server, 5);
    EXPECT_EQ(got, "hello");
    const int error = co_await error_of(runq::net::connect_unix(f.file("nobody")));
    EXPECT_EQ(error, ENOENT);
    const int too_long = co_await error_of(runq::net::connect_unix(std::string(200, 'x')));
    EXPECT_EQ(too_long, ENAMETOOLONG);
  });
}

TEST_F(net, files_cannot_be_polled) {
  const folder f;
  runq::run([&]() -> task<> {
    const int fd = open(f.file("regular").c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600);
    EXPECT_GE(fd, 0);
    int error = 0;
    try {
      const stream s(fd);
    } catch (const std::system_error& e) {
      error = e.code().value();
    }
    EXPECT_EQ(error, EPERM);
    EXPECT_EQ(close(fd), 0);  // the constructor has not taken it over
    error = 0;
    try {
      const stream s(-1);
    } catch (const std::system_error& e) {
      error = e.code().value();
    }
    EXPECT_EQ(error, EBADF);
    co_return;
  });
}

TEST_F(net, a_descriptor_that_blocks_is_made_one_that_does_not) {
  int ends[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
  runq::run(
      [&]() -> task<> {
        stream a(ends[0]);
        stream b(ends[1]);
        EXPECT_NE(fcntl(a.fd(), F_GETFL) & O_NONBLOCK, 0);
        if (testing::Test::HasFailure()) co_return;  // the read would keep the only thread
        runq::go([&]() -> task<> { co_await write_text(b, "later"); });
        const std::string got = co_await read_text(a, 5);
        EXPECT_EQ(got, "later");
      },
      {.procs = 1});
}

TEST_F(net, reading_into_nothing_and_writing_nothing) {
  runq::run([]() -> task<> {
    auto [a, b] = runq::net::socket_pair();
    const std::size_t n = co_await a.read({});
    EXPECT_EQ(n, 0U);
    co_await a.write({});
  });
}

TEST_F(net, streams_are_for_tasks_only) { EXPECT_THROW((void)runq::net::pipe(), runq::misuse); }

TEST_F(net, a_stream_can_be_moved) {
  runq::run([]() -> task<> {
    auto [a, b] = runq::net::socket_pair();
    stream c = std::move(a);
    EXPECT_EQ(a.fd(), -1);  // NOLINT(bugprone-use-after-move): that is what it is about
    listener l = runq::net::listen_tcp("127.0.0.1", 0);
    const listener m = std::move(l);
    EXPECT_EQ(l.fd(), -1);  // NOLINT(bugprone-use-after-move)
    EXPECT_NE(m.fd(), -1);
    co_await write_text(c, "x");
    auto [d, e] = runq::net::socket_pair();
    const int old = d.fd();
    d = std::move(c);  // closes the descriptor that d had
    EXPECT_NE(d.fd(), old);
    co_await write_text(d, "y");
    const std::string got = co_await read_text(b, 2);
    EXPECT_EQ(got, "xy");
    const std::string end = co_await read_text(e, 1);
    EXPECT_EQ(end, "");
  });
}

// ---- much data, many connections ------------------------------------------------------------------------------------

std::uint64_t checksum(std::uint64_t sum, std::span<const std::byte> bytes) {
  for (const std::byte b : bytes) sum = (sum ^ static_cast<std::uint64_t>(b)) * 1099511628211U;
  return sum;
}

task<> transfer_much(stream& from, stream& to) {
  constexpr std::size_t size = (slow_build ? std::size_t{2} : std::size_t{8}) << 20;
  std::vector<std::byte> sent(size);
  for (std::size_t i = 0; i != size; ++i) sent[i] = static_cast<std::byte>((i * 2654435761U) >> 13);
  runq::wait_group done;
  done.add(1);
  runq::go([&]() -> task<> {
    co_await to.write(sent);
    to.close();
    done.done();
  });
  std::uint64_t sum = 0;
  std::size_t received = 0;
  std::vector<std::byte> buffer(10'007);
  while (const std::size_t n = co_await from.read(buffer)) {
    sum = checksum(sum, std::span(buffer).first(n));
    received += n;
  }
  co_await done.wait();
  EXPECT_EQ(received, size);
  EXPECT_EQ(sum, checksum(0, sent));
}

TEST_F(net, a_big_write_waits_for_the_reader) {
  for (const unsigned procs : {1U, 2U}) {
    runq::run(
        []() -> task<> {
          auto [in, out] = runq::net::pipe();
          co_await transfer_much(in, out);
          auto [client, server] = co_await tcp_pair();
          co_await transfer_much(client, server);
          auto [a, b] = runq::net::socket_pair();
          co_await transfer_much(a, b);
        },
        {.procs = procs});
  }
}

task<> echo(stream s) {
  std::array<std::byte, 1000> buffer;
  while (const std::size_t n = co_await s.read(buffer)) co_await s.write(std::span(buffer).first(n));
}

task<> accept_for_ever(listener& l) {
  for (;;) runq::go(echo(co_await l.accept()), "echo");
}

task<> accept_until_closed(listener& l, runq::wait_group& done) {
  const int error = co_await error_of(accept_for_ever(l));
  EXPECT_EQ(error, ECANCELED);
  done.done();
}

task<> ask(std::uint16_t port, int who, std::atomic<int>& right, runq::wait_group& done) {
  stream s = co_await runq::net::connect_tcp("127.0.0.1", port);
  for (int i = 0; i != 10; ++i) {
    const std::string text = std::to_string(who) + ":" + std::string(static_cast<std::size_t>(who * 37 + i * 101), 'x');
    co_await write_text(s, text);
    const std::string got = co_await read_text(s, text.size());
    if (got == text) ++right;
  }
  done.done();
}

TEST_F(net, S8_many_connections_are_served_by_few_threads) {
  constexpr int clients = 100;
  for (const unsigned procs : {1U, 2U, 4U}) {
    scheduler s({.procs = procs});
    std::atomic<int> right{0};
    s.run([&]() -> task<> {
      listener l = runq::net::listen_tcp("127.0.0.1", 0);
      runq::wait_group accepting;
      accepting.add(1);
      runq::go(accept_until_closed(l, accepting));
      runq::wait_group done;
      done.add(clients);
      for (int i = 0; i != clients; ++i) runq::go(ask(l.port(), i, right, done));
      co_await done.wait();
      l.close();
      co_await accepting.wait();
    });
    EXPECT_EQ(right, clients * 10);
    // connect_tcp() looks names up in blocking calls, which may need threads of their own.
    EXPECT_LE(s.stats().machines_started, procs + s.stats().handed_off + 2U);
  }
}

TEST_F(net, S8_S9_waiting_descriptors_need_no_threads) {
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  const rlim_t wanted = 20'500;
  const rlimit raised{std::min(wanted, limit.rlim_max), limit.rlim_max};
  if (limit.rlim_cur < raised.rlim_cur) setrlimit(RLIMIT_NOFILE, &raised);
  rlimit now{};
  getrlimit(RLIMIT_NOFILE, &now);
  const std::size_t possible = (static_cast<std::size_t>(std::min(now.rlim_cur, wanted)) - 500) / 2;
  const std::size_t n = slow_build ? std::min<std::size_t>(possible, 2000) : possible;
  scheduler s({.procs = 2});
  s.run([&]() -> task<> {
    std::vector<stream_pair> pairs;
    std::atomic<std::size_t> begun{0};
    std::atomic<std::size_t> right{0};
    runq::wait_group done;
    done.add(static_cast<std::int64_t>(n));
    for (std::size_t i = 0; i != n; ++i) pairs.push_back(runq::net::socket_pair());
    for (std::size_t i = 0; i != n; ++i) {
      runq::go([&, i]() -> task<> {
        ++begun;
        std::uint32_t got = 0;
        const std::size_t bytes = co_await pairs[i].first.read(std::as_writable_bytes(std::span(&got, 1)));
        if (bytes == sizeof got && got == i) ++right;
        done.done();
      });
    }
    while (begun != n) co_await runq::yield();
    co_await runq::sleep_for(2ms);
    EXPECT_LE(s.stats().machines, 2U + 2U);
    for (std::size_t i = 0; i != n; ++i) {
      const auto value = static_cast<std::uint32_t>(i);
      co_await pairs[i].second.write(std::as_bytes(std::span(&value, 1)));
    }
    co_await done.wait();
    EXPECT_EQ(right, n);
  });
  EXPECT_LE(s.stats().machines_started, 2U + 2U);
  setrlimit(RLIMIT_NOFILE, &limit);
}

TEST_F(net, S11_a_task_goes_on_wherever_there_is_a_processor) {
  scheduler s({.procs = 2});
  s.run([]() -> task<> {
    std::atomic<unsigned> where{0};  // bit i: some task ran on processor i
    runq::wait_group done;
    done.add(4);
    for (int i = 0; i != 4; ++i) {
      runq::go([&]() -> task<> {
        auto [a, b] = runq::net::socket_pair();
        for (int round = 0; round != 200; ++round) {
          co_await write_text(a, "x");
          const std::string got = co_await read_text(b, 1);
          EXPECT_EQ(got, "x");
          where |= 1U << runq::this_task::processor();
          if (round % 10 == 0) co_await runq::yield();
        }
        done.done();
      });
    }
    co_await done.wait();
    EXPECT_NE(where, 0U);
    EXPECT_EQ(where & ~3U, 0U);
  });
}

// ---- ends and errors ------------------------------------------------------------------------------------------------

TEST_F(net, the_end_of_a_stream_is_a_read_of_nothing) {
  runq::run([]() -> task<> {
    auto [in, out] = runq::net::pipe();
    co_await write_text(out, "last");
    out.close();
    const std::string got = co_await read_text(in, 100);
    EXPECT_EQ(got, "last");
    const std::string again = co_await read_text(in, 1);
    EXPECT_EQ(again, "");
  });
}

TEST_F(net, a_reader_that_waits_learns_of_the_end) {
  scheduler s;
  s.run([&]() -> task<> {
    auto [client, server] = co_await tcp_pair();
    std::string got = "nothing";
    runq::wait_group done;
    done.add(1);
    runq::go([&, &client = client]() -> task<> {
      got = co_await read_text(client, 1);
      done.done();
    });
    const bool waits = co_await somebody_waits(s);
    EXPECT_TRUE(waits);
    server.close();
    co_await done.wait();
    EXPECT_EQ(got, "");
  });
}

TEST_F(net, a_stream_can_be_closed_half) {
  runq::run([]() -> task<> {
    auto [client, server] = co_await tcp_pair();
    co_await write_text(client, "question");
    client.shutdown_write();
    const std::string question = co_await read_text(server, 100);  // reads up to the end of the stream
    EXPECT_EQ(question, "question");
    co_await write_text(server, "answer");
    server.close();
    const std::string answer = co_await read_text(client, 100);
    EXPECT_EQ(answer, "answer");
    const int error = co_await error_of_write(client);
    EXPECT_EQ(error, EPIPE);
    client.close();
    int closed = 0;
    try {
      client.shutdown_write();
    } catch (const std::system_error& e) {
      closed = e.code().value();
    }
    EXPECT_EQ(closed, ECANCELED);
  });
}

TEST_F(net, a_connection_can_be_reset_by_the_peer) {
  scheduler s;
  s.run([&]() -> task<> {
    auto [client, server] = co_await tcp_pair();
    int error = 0;
    runq::wait_group done;
    done.add(1);
    runq::go([&, &client = client]() -> task<> {
      error = co_await error_of_read(client);
      done.done();
    });
    const bool waits = co_await somebody_waits(s);
    EXPECT_TRUE(waits);
    const linger at_once{1, 0};
    setsockopt(server.fd(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    server.close();
    co_await done.wait();
    EXPECT_EQ(error, ECONNRESET);
  });
}

TEST_F(net, writing_to_nobody_is_an_error_and_no_signal) {
  runq::run([]() -> task<> {
    auto [a, b] = runq::net::socket_pair();
    b.close();
    const int local = co_await error_of_write(a);
    EXPECT_EQ(local, EPIPE);
    auto [client, server] = co_await tcp_pair();
    server.close();
    int error = 0;
    for (int i = 0; i != 1000 && error == 0; ++i) error = co_await error_of_write(client, 100);
    EXPECT_TRUE(error == EPIPE || error == ECONNRESET) << error;
  });
}

TEST_F(net, writing_to_a_pipe_without_a_reader_is_an_error) {
  const auto before = std::signal(SIGPIPE, SIG_IGN);
  runq::run([]() -> task<> {
    auto [in, out] = runq::net::pipe();
    in.close();
    const int error = co_await error_of_write(out);
    EXPECT_EQ(error, EPIPE);
  });
  (void)std::signal(SIGPIPE, before);
}

TEST_F(net, a_writer_that_waits_learns_that_the_reader_is_gone) {
  const auto before = std::signal(SIGPIPE, SIG_IGN);
  scheduler s;
  s.run([&]() -> task<> {
    auto [in, out] = runq::net::pipe();
    int error = 0;
    runq::wait_group done;
    done.add(1);
    runq::go([&, &out = out]() -> task<> {
      error = co_await error_of_write(out, more_than_buffers);
      done.done();
    });
    const bool waits = co_await somebody_waits(s);
    EXPECT_TRUE(waits);
    in.close();
    co_await done.wait();
    EXPECT_EQ(error, EPIPE);
  });
  (void)std::signal(SIGPIPE, before);
}

TEST_F(net, a_refused_connection_is_an_error) {
  runq::run([]() -> task<> {
    std::uint16_t port = 0;
    {
      const listener l = runq::net::listen_tcp("127.0.0.1", 0);
      port = l.port();
    }
    const int error = co_await error_of(runq::net::connect_tcp("127.0.0.1", port));
    EXPECT_EQ(error, ECONNREFUSED);
  });
}

TEST_F(net, an_unknown_name_is_an_error) {
  runq::run([]() -> task<> {
    bool thrown = false;
    try {
      (void)co_await runq::net::connect_tcp("no such host", 1);
    } catch (const std::runtime_error&) {
      thrown = true;
    }
    EXPECT_TRUE(thrown);
  });
}

TEST_F(net, listening_twice_at_an_address_is_an_error) {
  runq::run([]() -> task<> {
    const listener l = runq::net::listen_tcp("127.0.0.1", 0);
    int error = 0;
    try {
      const listener second = runq::net::listen_tcp("127.0.0.1", l.port());
    } catch (const std::system_error& e) {
      error = e.code().value();
    }
    EXPECT_EQ(error, EADDRINUSE);
    co_return;
  });
}

TEST_F(net, too_many_open_files_can_be_tried_again) {
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  runq::run([&]() -> task<> {
    listener l = runq::net::listen_tcp("127.0.0.1", 0);
    stream client = co_await runq::net::connect_tcp("127.0.0.1", l.port());
    // Lowers the limit so that the lowest free descriptor is just not allowed.
    const int next = dup(0);
    close(next);
    const rlimit lowered{static_cast<rlim_t>(next), limit.rlim_max};
    setrlimit(RLIMIT_NOFILE, &lowered);
    const int error = co_await error_of(l.accept());
    setrlimit(RLIMIT_NOFILE, &limit);
    EXPECT_EQ(error, EMFILE);
    stream server = co_await l.accept();
    co_await write_text(client, "x");
    const std::string got = co_await read_text(server, 1);
    EXPECT_EQ(got, "x");
  });
}

// ---- closing --------------------------------------------------------------------------------------------------------

TEST_F(net, closing_ends_what_is_in_progress) {
  for (const unsigned procs : {1U, 2U}) {
    scheduler s({.procs = procs});
    for (const bool reads : {true, false}) {
      s.run([&]() -> task<> {
        auto [a, b] = runq::net::socket_pair();
        int error = 0;
        runq::wait_group done;
        done.add(1);
        runq::go([&, &a = a]() -> task<> {
          if (reads) {
            error = co_await error_of_read(a);
          } else {
            error = co_await error_of_write(a, more_than_buffers);
          }
          done.done();
        });
        const bool waits = co_await somebody_waits(s);
        EXPECT_TRUE(waits);
        a.close();
        EXPECT_EQ(a.fd(), -1);
        a.close();
        co_await done.wait();
        EXPECT_EQ(error, ECANCELED);
      });
    }
    s.run([&]() -> task<> {
      listener l = runq::net::listen_tcp("127.0.0.1", 0);
      int error = 0;
      runq::wait_group done;
      done.add(1);
      runq::go([&]() -> task<> {
        error = co_await error_of(l.accept());
        done.done();
      });
      const bool waits = co_await somebody_waits(s);
      EXPECT_TRUE(waits);
      l.close();
      co_await done.wait();
      EXPECT_EQ(error, ECANCELED);
    });
  }
}

/// Calls f() on a thread that runs no task of the calling scheduler.
template <class F>
void on_a_thread_without_tasks(F f) {
  std::thread(f).join();
}
template <class F>
void in_another_scheduler(F f) {
  std::thread([&f] { runq::run([&f] { f(); }, {.procs = 1}); }).join();
}

// Who destroys it there does not wait as a task does, so the operation is told at once.
TEST_F(net, a_stream_that_another_thread_or_scheduler_destroys_ends_what_is_in_progress_at_once) {
  const auto is_told = [](auto destroy) {
    scheduler s({.procs = 1});
    s.run([&]() -> task<> {
      auto ends = runq::net::socket_pair();
      std::optional<stream> owned(std::move(ends.first));
      auto reading = runq::spawn([&]() -> task<int> { co_return co_await error_of_read(*owned); });
      const bool waits = co_await somebody_waits(s);
      EXPECT_TRUE(waits);
      destroy([&] {
        owned.reset();
        EXPECT_EQ(s.dump().find("[IO wait]"), std::string::npos) << "while the task of the other scheduler goes on";
      });
      const int error = co_await reading;
      EXPECT_EQ(error, ECANCELED);
    });
  };
  is_told([](auto f) { on_a_thread_without_tasks(f); });
  is_told([](auto f) { in_another_scheduler(f); });
}

TEST_F(net, nothing_can_be_done_with_a_closed_stream) {
  runq::run([]() -> task<> {
    auto [a, b] = runq::net::socket_pair();
    a.close();
    const int reads = co_await error_of_read(a);
    const int writes = co_await error_of_write(a);
    EXPECT_EQ(reads, ECANCELED);
    EXPECT_EQ(writes, ECANCELED);
    listener l = runq::net::listen_tcp("127.0.0.1", 0);
    l.close();
    const int accepts = co_await error_of(l.accept());
    EXPECT_EQ(accepts, ECANCELED);
  });
}

TEST_F(net, a_deadline_of_a_closed_stream_is_an_error_and_leaves_nothing_behind) {
  runq::run([]() -> task<> {
    int error = 0;
    {
      auto [a, b] = runq::net::socket_pair();
      a.close();
      try {
        a.set_deadline(runq::clock::now() + 1ms);
      } catch (const std::system_error& e) {
        error = e.code().value();
      }
    }
    co_await runq::sleep_for(5ms);
    EXPECT_EQ(error, ECANCELED);
  });
}

TEST_F(net, closing_races_with_reading) {
  constexpr int rounds = slow_build ? 300 : 2000;
  runq::run(
      []() -> task<> {
        for (int i = 0; i != rounds; ++i) {
          auto [a, b] = runq::net::socket_pair();
          int error = -1;
          runq::wait_group done;
          done.add(1);
          runq::go([&, &a = a]() -> task<> {
            error = co_await error_of_read(a);
            done.done();
          });
          for (int spin = 0; spin != i % 20; ++spin) co_await runq::yield();
          a.close();
          co_await done.wait();
          EXPECT_EQ(error, ECANCELED);
        }
      },
      {.procs = 2});
}

TEST_F(net, closing_races_with_setting_deadlines) {
  constexpr int rounds = slow_build ? 300 : 2000;
  runq::run(
      []() -> task<> {
        for (int i = 0; i != rounds; ++i) {
          auto [a, b] = runq::net::socket_pair();
          std::atomic<bool> begun{false};
          runq::wait_group done;
          done.add(1);
          runq::go([&, &a = a]() -> task<> {
            begun = true;
            try {
              for (int k = 0; k != 20; ++k) a.set_deadline(runq::clock::now() + 50us);
            } catch (const std::system_error& e) {
              EXPECT_EQ(e.code().value(), ECANCELED);
            }
            done.done();
            co_return;
          });
          while (!begun) co_await runq::yield();
          a.close();
          co_await done.wait();
        }
      },
      {.procs = 2});
}

TEST_F(net, the_number_of_a_closed_descriptor_is_used_again_without_mixing_them_up) {
  runq::run(
      []() -> task<> {
        for (int i = 0; i != 500; ++i) {
          auto [a, b] = runq::net::socket_pair();
          co_await write_text(b, "old");  // makes an event on which no task waits
          a.close();
          b.close();
          auto [c, d] = runq::net::socket_pair();
          c.set_read_deadline(runq::clock::now() + 1h);
          runq::go([&d = d, i]() -> task<> { co_await write_text(d, std::to_string(i)); });
          const std::string text = std::to_string(i);
          const std::string got = co_await read_text(c, text.size());
          EXPECT_EQ(got, text);
        }
      },
      {.procs = 2});
}

// ---- deadlines ------------------------------------------------------------------------------------------------------

TEST_F(net, a_deadline_ends_what_is_in_progress) {
  scheduler s;
  s.run([&]() -> task<> {
    auto [a, b] = runq::net::socket_pair();
    const auto when = runq::clock::now() + 5ms;
    a.set_deadline(when);
    const int reads = co_await error_of_read(a);
    EXPECT_EQ(reads, ETIMEDOUT);
    EXPECT_GE(runq::clock::now(), when);
    b.set_write_deadline(runq::clock::now() + 5ms);
    const int writes = co_await error_of_write(b, more_than_buffers);
    EXPECT_EQ(writes, ETIMEDOUT);
    listener l = runq::net::listen_tcp("127.0.0.1", 0);
    l.set_deadline(runq::clock::now() + 5ms);
    const int accepts = co_await error_of(l.accept());
    EXPECT_EQ(accepts, ETIMEDOUT);
  });
}

TEST_F(net, a_deadline_can_be_set_while_somebody_waits) {
  scheduler s;
  s.run([&]() -> task<> {
    for (const auto d : {-1s, 0s, 1s}) {
      auto [a, b] = runq::net::socket_pair();
      int error = 0;
      runq::wait_group done;
      done.add(1);
      runq::go([&, &a = a]() -> task<> {
        error = co_await error_of_read(a);
        done.done();
      });
      const bool waits = co_await somebody_waits(s);
      EXPECT_TRUE(waits);
      a.set_read_deadline(runq::clock::now() + d / 100);
      co_await done.wait();
      EXPECT_EQ(error, ETIMEDOUT);
    }
  });
}

TEST_F(net, after_the_deadline_nothing_is_done_even_if_it_could_be) {
  runq::run([]() -> task<> {
    auto [a, b] = runq::net::socket_pair();
    co_await write_text(b, "x");
    a.set_deadline(runq::clock::now() - 1s);
    const int reads = co_await error_of_read(a);
    EXPECT_EQ(reads, ETIMEDOUT);
    const int writes = co_await error_of_write(a);
    EXPECT_EQ(writes, ETIMEDOUT);
    a.set_deadline(runq::clock::time_point::min());
    const int again = co_await error_of_read(a);
    EXPECT_EQ(again, ETIMEDOUT);
    // With a new deadline the stream can be used again.
    a.set_deadline(runq::clock::now() + 1h);
    const std::string got = co_await read_text(a, 1);
    EXPECT_EQ(got, "x");
  });
}

TEST_F(net, a_deadline_can_be_taken_back) {
  scheduler s({.procs = 1});
  s.run([&]() -> task<> {
    auto [a, b] = runq::net::socket_pair();
    a.set_deadline(runq::clock::now() + 1ms);
    a.set_deadline(runq::clock::time_point::max());
    EXPECT_EQ(s.stats().timers, 0U);
    co_await runq::sleep_for(4ms);
    co_await write_text(b, "x");
    const std::string got = co_await read_text(a, 1);
    EXPECT_EQ(got, "x");
  });
}

TEST_F(net, the_deadlines_of_reading_and_writing_are_two) {
  runq::run([]() -> task<> {
    auto [a, b] = runq::net::socket_pair();
    a.set_read_deadline(runq::clock::now() - 1s);
    co_await write_text(a, "x");
    const std::string got = co_await read_text(b, 1);
    EXPECT_EQ(got, "x");
    const int error = co_await error_of_read(a);
    EXPECT_EQ(error, ETIMEDOUT);
    b.set_write_deadline(runq::clock::now() - 1s);
    co_await write_text(a, "y");
    const std::string more = co_await read_text(b, 1);
    EXPECT_EQ(more, "y");
  });
}

TEST_F(net, a_stream_may_be_destroyed_with_a_deadline_pending) {
  runq::run(
      []() -> task<> {
        for (int i = 0; i != 200; ++i) {
          auto [a, b] = runq::net::socket_pair();
          a.set_deadline(runq::clock::now() + std::chrono::microseconds(i * 10));
          if (i % 4 == 0) co_await runq::sleep_for(std::chrono::microseconds(i * 10));
        }
        co_await runq::sleep_for(4ms);
      },
      {.procs = 2});
}

// ---- stop tokens ----------------------------------------------------------------------------------------------------

TEST_F(net, a_stop_request_ends_what_is_in_progress) {
  scheduler s;
  s.run([&]() -> task<> {
    auto [a, b] = runq::net::socket_pair();
    listener l = runq::net::listen_tcp("127.0.0.1", 0);
    for (int what = 0; what != 3; ++what) {
      std::stop_source stop;
      int error = 0;
      runq::wait_group done;
      done.add(1);
      runq::go([&, &a = a]() -> task<> {
        if (what == 0) {
          error = co_await error_of_read(a, stop.get_token());
        } else if (what == 1) {
          error = co_await error_of_write(a, more_than_buffers, stop.get_token());
        } else {
          error = co_await error_of(l.accept(stop.get_token()));
        }
        done.done();
      });
      const bool waits = co_await somebody_waits(s);
      EXPECT_TRUE(waits);
      stop.request_stop();
      co_await done.wait();
      EXPECT_EQ(error, was_cancelled);
    }
    // The stream can still be used.
    co_await write_text(b, "x");
    const std::string got = co_await read_text(a, 1);
    EXPECT_EQ(got, "x");
  });
}

// Not even the number of a closed stream, which a task that reads still has.
TEST_F(net, programs_that_the_process_starts_get_no_descriptor) {
  const std::set<int> before = sched_test::open_descriptors();
  scheduler s({.procs = 1});
  s.run([&]() -> task<> {
    const folder f;
    const std::string path = f.file("socket");
    const listener by_path = runq::net::listen_unix(path);
    const stream by_unix = co_await runq::net::connect_unix(path);
    const auto by_tcp = co_await tcp_pair();
    const auto by_pipe = runq::net::pipe();
    auto [closed, peer] = runq::net::socket_pair();
    runq::go([&closed = closed]() -> task<> { (void)co_await error_of_read(closed); });
    const bool waits = co_await somebody_waits(s);
    EXPECT_TRUE(waits);
    const int number = closed.fd();
    closed.close();
    EXPECT_NE(fcntl(number, F_GETFD), -1) << "the task that reads has not gone on";
    for (const int fd : sched_test::open_descriptors()) {
      EXPECT_TRUE(before.contains(fd) || fcntl(fd, F_GETFD) == FD_CLOEXEC) << fd;
    }
  });
}

TEST_F(net, a_stop_request_may_come_first_or_from_another_thread) {
  scheduler s;
  s.run([&]() -> task<> {
    auto [a, b] = runq::net::socket_pair();
    std::stop_source early;
    early.request_stop();
    const int first = co_await error_of_read(a, early.get_token());
    EXPECT_EQ(first, was_cancelled);
    std::stop_source late;
    std::jthread outside([&] {
      EXPECT_TRUE(wait_until([&] { return s.dump().find("[IO wait]") != std::string::npos; }));
      late.request_stop();
    });
    const int second = co_await error_of_read(a, late.get_token());
    EXPECT_EQ(second, was_cancelled);
    outside.join();
  });
}

TEST_F(net, a_stop_request_before_connecting_is_heeded) {
  runq::run([]() -> task<> {
    listener l = runq::net::listen_tcp("127.0.0.1", 0);
    std::stop_source stop;
    stop.request_stop();
    const int error = co_await error_of(runq::net::connect_tcp("127.0.0.1", l.port(), stop.get_token()));
    EXPECT_EQ(error, was_cancelled);
    std::error_code code;
    const auto none = co_await runq::net::connect_tcp("127.0.0.1", l.port(), code, stop.get_token());
    EXPECT_FALSE(none.has_value());
    EXPECT_EQ(code, std::errc::operation_canceled);
    const folder f;
    listener u = runq::net::listen_unix(f.file("socket"));
    const int error_unix = co_await error_of(runq::net::connect_unix(f.file("socket"), stop.get_token()));
    EXPECT_EQ(error_unix, was_cancelled);
    code.clear();
    const auto none_unix = co_await runq::net::connect_unix(f.file("socket"), code, stop.get_token());
    EXPECT_FALSE(none_unix.has_value());
    EXPECT_EQ(code, std::errc::operation_canceled);
    std::error_code nobody;
    const auto calls = co_await runq::with_timeout(0ms, u.accept(nobody));
    EXPECT_FALSE(calls.has_value()) << "no connection was tried";
  });
}

TEST_F(net, stop_requests_race_with_data) {
  constexpr int rounds = slow_build ? 300 : 2000;
  runq::run(
      []() -> task<> {
        auto [a, b] = runq::net::socket_pair();
        int received = 0;
        int sent = 0;
        for (int i = 0; i != rounds; ++i) {
          std::stop_source stop;
          runq::wait_group done;
          done.add(1);
          runq::go([&, &a = a]() -> task<> {
            const int error = co_await error_of_read(a, stop.get_token());
            EXPECT_TRUE(error == 0 || error == was_cancelled) << error;
            if (error == 0) ++received;
            done.done();
          });
          if (i % 2 == 0) co_await runq::yield();
          if (i % 3 != 0) {
            co_await write_text(b, "x");
            ++sent;
          }
          stop.request_stop();
          co_await done.wait();
          // What a read that was cancelled has left is still there.
          const std::string rest = co_await read_text(a, static_cast<std::size_t>(sent - received));
          received += static_cast<int>(rest.size());
        }
        b.close();
        const std::string more = co_await read_text(a, 1);
        EXPECT_EQ(more, "");
        EXPECT_EQ(received, sent);
      },
      {.procs = 2});
}

// ---- together with the scheduler ------------------------------------------------------------------------------------

TEST_F(net, X4_a_long_poll_is_broken_by_a_new_timer) {
  scheduler s({.procs = 2});
  s.run([&]() -> task<> {
    auto [a, b] = runq::net::socket_pair();
    a.set_read_deadline(runq::clock::now() + 1h);
    runq::go([&a = a]() -> task<> { (void)co_await error_of_read(a); });
    for (int i = 0; i != 10; ++i) {
      EXPECT_TRUE(wait_until([&] { return s.stats().idle_procs == 1; }));
      co_await runq::sleep_for(1ms);
    }
  });
}

TEST_F(net, L7_a_task_that_waits_for_a_descriptor_is_no_deadlock) {
  scheduler s({.procs = 2});
  s.run([&]() -> task<> {
    auto [in, out] = runq::net::pipe();
    std::jthread outside([&s, fd = out.fd()] {
      EXPECT_TRUE(wait_until([&] { return s.stats().idle_procs == 2; }));
      std::this_thread::sleep_for(20ms);
      EXPECT_EQ(write(fd, "x", 1), 1);
    });
    const std::string got = co_await read_text(in, 1);
    EXPECT_EQ(got, "x");
    co_await runq::blocking([&] { outside.join(); });
  });
}

TEST_F(net_death, L7_an_open_descriptor_alone_does_not_hide_a_deadlock) {
  GTEST_FLAG_SET(death_test_style, sched_test::death_test_style);
  const auto deadlock = [] {
    runq::run(
        []() -> task<> {
          auto ends = runq::net::pipe();
          runq::channel<int> c;
          (void)co_await c.receive();
        },
        {.procs = 2});
  };
  EXPECT_EXIT(deadlock(), testing::ExitedWithCode(2),
              "^fatal error: all goroutines are asleep - deadlock!\n\ngoroutine 1 \\[chan receive\\]:\n");
}

// The machine goes idle while main waits for the pipe, and once more when it waits for ever.
TEST_F(net_death, L7_a_task_that_has_waited_for_a_descriptor_may_be_part_of_a_deadlock) {
  GTEST_FLAG_SET(death_test_style, sched_test::death_test_style);
  const auto deadlock = [](unsigned procs) {
    scheduler s({.procs = procs});
    s.run([&]() -> task<> {
      auto [in, out] = runq::net::pipe();
      std::jthread outside([&s, procs, fd = out.fd()] {
        EXPECT_TRUE(wait_until([&] { return s.stats().idle_procs == procs; }));
        EXPECT_EQ(write(fd, "x", 1), 1);
      });
      const std::string got = co_await read_text(in, 1);
      outside.join();
      runq::channel<int> c;
      (void)co_await c.receive();
    });
  };
  const char* const report = "^fatal error: all goroutines are asleep - deadlock!\n\ngoroutine 1 \\[chan receive\\]:\n";
  EXPECT_EXIT(deadlock(1), testing::ExitedWithCode(2), report);
  EXPECT_EXIT(deadlock(2), testing::ExitedWithCode(2), report);
}

TEST_F(net_death, L7_a_wait_for_a_descriptor_that_ended_with_its_run_hides_no_deadlock) {
  GTEST_FLAG_SET(death_test_style, sched_test::death_test_style);
  const auto deadlock = [] {
    scheduler s({.procs = 1});
    s.run([&s]() -> task<> {
      auto ends = runq::net::pipe();
      runq::go([&ends]() -> task<> { (void)co_await read_text(ends.first, 1); });
      while (s.dump().find("[IO wait]") == std::string::npos) co_await runq::yield();
    });
    s.run([]() -> task<> {
      runq::channel<int> c;
      (void)co_await c.receive();
    });
  };
  EXPECT_EXIT(deadlock(), testing::ExitedWithCode(2),
              "^fatal error: all goroutines are asleep - deadlock!\n\ngoroutine 1 \\[chan receive\\]:\n");
}

TEST_F(net, run_ends_while_tasks_wait_for_descriptors) {
  scheduler s({.procs = 2});
  for (int i = 0; i != 20; ++i) {
    s.run([&]() -> task<> {
      for (int k = 0; k != 10; ++k) {
        runq::go([k]() -> task<> {
          auto [a, b] = runq::net::socket_pair();
          if (k % 3 == 0) a.set_deadline(runq::clock::now() + 1h);
          if (k % 2 == 0) {
            (void)co_await error_of_read(a);
          } else {
            (void)co_await error_of_write(b, more_than_buffers);
          }
        });
      }
      const bool waits = co_await somebody_waits(s);
      EXPECT_TRUE(waits);
    });
  }
}

TEST_F(net, a_thread_outside_may_write_while_everybody_sleeps) {
  scheduler s({.procs = 2});
  s.run([&]() -> task<> {
    auto [in, out] = runq::net::pipe();
    std::jthread outside([&s, fd = out.fd()] {
      for (int i = 0; i != 20; ++i) {
        EXPECT_TRUE(wait_until([&] { return s.stats().idle_procs == 2; }));
        EXPECT_EQ(write(fd, "x", 1), 1);
      }
    });
    for (int i = 0; i != 20; ++i) {
      const std::string got = co_await read_text(in, 1);
      EXPECT_EQ(got, "x");
    }
    co_await runq::blocking([&] { outside.join(); });
  });
}

// ---- after a short read the buffer counts as empty: what that must not hide -----------------------------------------

/// How a peer ends its stream, right behind the data.
enum class ending { close, half, reset };

task<> end_stream(stream& s, ending how) {
  const linger at_once{1, 0};
  if (how == ending::reset) setsockopt(s.fd(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  if (how == ending::half) {
    s.shutdown_write();
  } else {
    s.close();
  }
  co_return;
}

TEST_F(net, the_end_right_behind_the_data_is_not_overlooked) {
  const int rounds = 2 * sched_test::repeats(slow_build ? 15 : 100);
  for (const unsigned procs : {1U, 2U}) {
    for (const ending how : {ending::close, ending::half, ending::reset}) {
      scheduler s({.procs = procs});
      s.run([&]() -> task<> {
        for (int i = 0; i != rounds; ++i) {
          auto [reader, writer] = co_await tcp_pair();
          std::string first;
          int second = -1;
          runq::wait_group done;
          done.add(1);
          runq::go([&, &reader = reader]() -> task<> {
            std::array<std::byte, 100> room;  // larger than the data, so the read is short
            // A reset may arrive before the data was read, and discards the data.
            try {
              const std::size_t n = co_await reader.read(room);
              first.assign(reinterpret_cast<const char*>(room.data()), n);
            } catch (const std::system_error& e) {
              EXPECT_EQ(e.code().value(), ECONNRESET);
            }
            second = co_await error_of_read(reader);
            done.done();
          });
          if (i % 2 == 0) co_await runq::yield();
          co_await write_text(writer, "last");
          co_await end_stream(writer, how);
          co_await done.wait();
          if (how != ending::reset) {
            EXPECT_EQ(first, "last");
            EXPECT_EQ(second, 0);
          }
        }
      });
    }
  }
}

TEST_F(net, the_end_of_a_pipe_right_behind_the_data_is_not_overlooked) {
  for (const unsigned procs : {1U, 2U}) {
    runq::run(
        []() -> task<> {
          for (int i = 0; i != 2 * sched_test::repeats(100); ++i) {
            auto [in, out] = runq::net::pipe();
            std::string got;
            runq::wait_group done;
            done.add(1);
            runq::go([&, &in = in]() -> task<> {
              got = co_await read_text(in, 100);
              done.done();
            });
            if (i % 2 == 0) co_await runq::yield();
            co_await write_text(out, "last");
            out.close();
            co_await done.wait();
            EXPECT_EQ(got, "last");
          }
        },
        {.procs = procs});
  }
}

TEST_F(net, a_read_that_stops_at_urgent_data_is_not_the_last) {
  scheduler s;
  s.run([&]() -> task<> {
    auto [reader, writer] = co_await tcp_pair();
    std::string got;
    runq::wait_group done;
    done.add(1);
    runq::go([&, &reader = reader]() -> task<> {
      got = co_await read_text(reader, 4);  // a read does not return the urgent byte
      done.done();
    });
    const bool waits = co_await somebody_waits(s);
    EXPECT_TRUE(waits);
    // Main does not wait between these calls, so usually all the data is there before the reader runs.
    EXPECT_EQ(send(writer.fd(), "ab", 2, 0), 2);
    EXPECT_EQ(send(writer.fd(), "!", 1, MSG_OOB), 1);
    EXPECT_EQ(send(writer.fd(), "cd", 2, 0), 2);
    co_await done.wait();
    EXPECT_EQ(got, "abcd");
  });
}

TEST_F(net, messages_that_arrive_in_pieces_and_in_bursts) {
  constexpr int rounds = slow_build ? 200 : 2000;
  for (const unsigned procs : {1U, 2U}) {
    runq::run(
        []() -> task<> {
          auto [a, b] = co_await tcp_pair();
          auto [in, out] = runq::net::pipe();
          for (auto [from, to] : {std::pair<stream*, stream*>(&a, &b), {&in, &out}}) {
            runq::wait_group done;
            done.add(1);
            std::size_t sent = 0;
            runq::go([&, to = to]() -> task<> {
              for (int i = 0; i != rounds; ++i) {
                const std::string text(static_cast<std::size_t>(1 + i % 97), static_cast<char>('a' + i % 26));
                co_await write_text(*to, text);
                sent += text.size();
                if (i % 3 == 0) co_await runq::yield();
              }
              to->close();
              done.done();
            });
            std::size_t received = 0;
            std::array<std::byte, 64> room;  // often larger than the data that is there, often smaller
            while (const std::size_t n = co_await from->read(room)) received += n;
            co_await done.wait();
            EXPECT_EQ(received, sent);
          }
        },
        {.procs = procs});
  }
}

TEST_F(net, a_task_that_never_has_to_wait_gives_way_after_its_time_slice) {
  scheduler s({.procs = 1});
  s.run([]() -> task<> {
    auto [a, b] = runq::net::socket_pair();
    bool other_has_run = false;
    runq::go([&] { other_has_run = true; });
    co_await runq::yield();
    other_has_run = false;
    runq::go([&] { other_has_run = true; });
    std::byte byte{};
    while (!other_has_run) {
      co_await a.write(std::span(&byte, 1));
      const std::size_t n = co_await b.read(std::span(&byte, 1));
      EXPECT_EQ(n, 1U);
    }
  });
}

TEST_F(net, an_operation_can_be_a_task) {
  runq::run([]() -> task<> {
    auto [in, out] = runq::net::pipe();
    std::array<std::byte, 10> room;
    auto n = co_await runq::fork(task<std::size_t>(in.read(room)));
    runq::go(task<>(out.write(bytes_of("hello"))));
    co_await runq::join();
    EXPECT_EQ(n.get(), 5U);
  });
}

task<> expect_what_comes_after_a_descriptor(stream& a, int b) {
  std::string got;
  runq::wait_group done;
  done.add(1);
  runq::go([&]() -> task<> {
    got = co_await read_text(a, 2);
    done.done();
  });
  co_await runq::yield();
  // The kernel ends a read behind a message that carries a descriptor. So this read is short although more data comes.
  iovec data{const_cast<char*>("x"), 1};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  cmsghdr* const header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof(int));
  *reinterpret_cast<int*>(CMSG_DATA(header)) = b;
  EXPECT_EQ(sendmsg(b, &message, 0), 1);
  EXPECT_EQ(::write(b, "y", 1), 1);
  co_await done.wait();
  EXPECT_EQ(got, "xy");
}

// In Unix sockets of every origin.
TEST_F(net, passed_descriptors_do_not_hide_what_comes_after_them) {
  runq::run(
      []() -> task<> {
        auto [a, b] = runq::net::socket_pair();
        co_await expect_what_comes_after_a_descriptor(a, b.fd());
        int ends[2];
        EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
        stream adopted(ends[0]);
        co_await expect_what_comes_after_a_descriptor(adopted, ends[1]);
        ::close(ends[1]);
        const folder here;
        listener l = runq::net::listen_unix(here.file("socket"));
        stream client = co_await runq::net::connect_unix(here.file("socket"));
        stream server = co_await l.accept();
        co_await expect_what_comes_after_a_descriptor(client, server.fd());
        co_await expect_what_comes_after_a_descriptor(server, client.fd());
      },
      {.procs = 1});
}

// ---- faults ---------------------------------------------------------------------------------------------------------

/// While an object of this class exists, no descriptor can be opened.
class no_descriptors {
 public:
  no_descriptors() {
    getrlimit(RLIMIT_NOFILE, &before_);
    const rlimit none{0, before_.rlim_max};
    setrlimit(RLIMIT_NOFILE, &none);
  }
  no_descriptors(const no_descriptors&) = delete;
  no_descriptors& operator=(const no_descriptors&) = delete;
  ~no_descriptors() { setrlimit(RLIMIT_NOFILE, &before_); }

 private:
  rlimit before_{};
};

template <class F>
int error_of_call(F&& f) {
  try {
    (void)f();
  } catch (const std::system_error& e) {
    return e.code().value();
  }
  return 0;
}

TEST_F(net, without_descriptors_everything_fails_and_nothing_leaks) {
  const folder f;
  runq::run([&]() -> task<> {
    listener l = runq::net::listen_tcp("127.0.0.1", 0);
    listener u = runq::net::listen_unix(f.file("socket"));
    int connects = 0;
    int connects_unix = 0;
    {
      const no_descriptors none;
      EXPECT_EQ(error_of_call([] { return runq::net::pipe(); }), EMFILE);
      EXPECT_EQ(error_of_call([] { return runq::net::socket_pair(); }), EMFILE);
      EXPECT_EQ(error_of_call([] { return runq::net::listen_tcp("127.0.0.1", 0); }), EMFILE);
      EXPECT_EQ(error_of_call([&] { return runq::net::listen_unix(f.file("other")); }), EMFILE);
      connects = co_await error_of(runq::net::connect_tcp("127.0.0.1", l.port()));
      connects_unix = co_await error_of(runq::net::connect_unix(f.file("socket")));
    }
    EXPECT_EQ(connects, EMFILE);
    EXPECT_EQ(connects_unix, EMFILE);
    stream client = co_await runq::net::connect_tcp("127.0.0.1", l.port());
    stream server = co_await l.accept();
    co_await write_text(client, "x");
    const std::string got = co_await read_text(server, 1);
    EXPECT_EQ(got, "x");
  });
}

/// While an object of this class exists, signals interrupt all threads of the process again and again. The kernel does
/// not restart the interrupted system calls.
class interruptions {
 public:
  interruptions() {
    struct sigaction action {};
    action.sa_handler = [](int) {};
    sigaction(SIGUSR1, &action, nullptr);
    thread_ = std::jthread([this](const std::stop_token& stop) {
      while (!stop.stop_requested()) {
        for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task")) {
          const int id = std::stoi(entry.path().filename());
          if (id != gettid() && syscall(SYS_tgkill, getpid(), id, SIGUSR1) == 0) ++sent_;
        }
        std::this_thread::sleep_for(50us);
      }
    });
  }
  interruptions(const interruptions&) = delete;
  interruptions& operator=(const interruptions&) = delete;
  ~interruptions() {
    thread_.request_stop();
    thread_.join();
    // The handler stays installed, because the last signals may still be pending.
  }
  [[nodiscard]] long sent() const { return sent_; }

 private:
  std::atomic<long> sent_{0};
  std::jthread thread_;
};

TEST_F(net, interrupted_system_calls_are_made_again) {
  constexpr int clients = 20;
  for (const unsigned procs : {1U, 2U}) {
    std::atomic<int> right{0};
    runq::run(
        [&]() -> task<> {
          const interruptions storm;
          listener l = runq::net::listen_tcp("127.0.0.1", 0);
          runq::wait_group accepting;
          accepting.add(1);
          runq::go(accept_until_closed(l, accepting));
          runq::wait_group done;
          done.add(clients + 1);
          for (int i = 0; i != clients; ++i) runq::go(ask(l.port(), i, right, done));
          runq::go([&]() -> task<> {
            const auto begin = runq::clock::now();
            for (int i = 0; i < 20 || storm.sent() <= 20; ++i) co_await runq::sleep_for(1ms);
            EXPECT_GE(runq::clock::now() - begin, 20ms);
            auto [in, out] = runq::net::pipe();
            co_await transfer_much(in, out);
            done.done();
          });
          co_await done.wait();
          l.close();
          co_await accepting.wait();
        },
        {.procs = procs});
    EXPECT_EQ(right, clients * 10);
  }
}

TEST_F(net_death, a_handler_that_throws_ends_the_process_if_nobody_awaits_it) {
  GTEST_FLAG_SET(death_test_style, sched_test::death_test_style);
  const auto serve = [] {
    runq::run([]() -> task<> {
      listener l = runq::net::listen_tcp("127.0.0.1", 0);
      stream client = co_await runq::net::connect_tcp("127.0.0.1", l.port());
      runq::go(
          [](stream s) -> task<> {
            (void)co_await read_text(s, 1);
            throw std::runtime_error("bad request");
          }(co_await l.accept()),
          "handler");
      co_await write_text(client, "x");
      (void)co_await read_text(client, 1);
    });
  };
  EXPECT_EXIT(serve(), testing::ExitedWithCode(2), "^panic: bad request\n\ngoroutine [0-9]+ \\[running\\]:\nhandler\n");
}

TEST_F(net, a_handler_that_throws_can_be_awaited_and_its_connection_is_closed) {
  runq::run([]() -> task<> {
    listener l = runq::net::listen_tcp("127.0.0.1", 0);
    for (int i = 0; i != 10; ++i) {
      stream client = co_await runq::net::connect_tcp("127.0.0.1", l.port());
      const auto handler = [](stream s) -> task<> {
        (void)co_await read_text(s, 1);
        throw std::runtime_error("bad request");
      };
      co_await write_text(client, "x");
      std::string caught;
      try {
        co_await handler(co_await l.accept());
      } catch (const std::runtime_error& e) {
        caught = e.what();
      }
      EXPECT_EQ(caught, "bad request");
      const std::string end = co_await read_text(client, 1);
      EXPECT_EQ(end, "");
    }
  });
}

TEST_F(net, a_reader_and_a_writer_both_learn_of_a_reset) {
  for (const unsigned procs : {1U, 2U}) {
    scheduler s({.procs = procs});
    s.run([&]() -> task<> {
      auto [client, server] = co_await tcp_pair();
      int reads = 0;
      int writes = 0;
      runq::wait_group done;
      done.add(2);
      runq::go([&, &client = client]() -> task<> {
        reads = co_await error_of_read(client);
        done.done();
      });
      runq::go([&, &client = client]() -> task<> {
        writes = co_await error_of_write(client, std::size_t{64} << 20);
        done.done();
      });
      co_await runq::sleep_for(5ms);
      co_await end_stream(server, ending::reset);
      co_await done.wait();
      // The kernel reports the reset to the first of the two tasks. The second one learns only that there is no
      // connection.
      EXPECT_TRUE(reads == ECONNRESET || reads == 0) << reads;
      EXPECT_TRUE(writes == ECONNRESET || writes == EPIPE) << writes;
      EXPECT_TRUE(reads == ECONNRESET || writes == ECONNRESET);
    });
  }
}

TEST_F(net, a_half_open_connection_works_in_the_other_direction_for_long) {
  runq::run([]() -> task<> {
    auto [client, server] = co_await tcp_pair();
    client.shutdown_write();
    const std::string end = co_await read_text(server, 1);
    EXPECT_EQ(end, "");
    for (int i = 0; i != 50; ++i) {
      co_await write_text(server, "x");
      const std::string got = co_await read_text(client, 1);
      EXPECT_EQ(got, "x");
      const std::string still = co_await read_text(server, 1);
      EXPECT_EQ(still, "");
    }
  });
}

TEST_F(net, a_stream_outlives_its_closed_peer) {
  runq::run([]() -> task<> {
    auto [client, server] = co_await tcp_pair();
    co_await write_text(server, "kept");
    server.close();
    co_await runq::sleep_for(2ms);
    const std::string got = co_await read_text(client, 100);
    EXPECT_EQ(got, "kept");
    client.set_deadline(runq::clock::now() + 1h);
    for (int i = 0; i != 3; ++i) {
      const int reads = co_await error_of_read(client);
      EXPECT_EQ(reads, 0);  // each read finds the end of the stream
    }
  });
}

TEST_F(net, connecting_can_be_stopped_while_it_waits) {
  scheduler s;
  s.run([&]() -> task<> {
    // No task accepts. Once the backlog is full, the next connection waits.
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    EXPECT_EQ(bind(fd, reinterpret_cast<const sockaddr*>(&address), size), 0);
    EXPECT_EQ(::listen(fd, 0), 0);
    EXPECT_EQ(getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size), 0);
    constexpr std::size_t many = 8;
    std::array<std::stop_source, many> stops;
    std::array<int, many> errors{};
    runq::wait_group done;
    done.add(many);
    for (std::size_t i = 0; i != many; ++i) {
      runq::go([&, i]() -> task<> {
        errors[i] =
            co_await error_of(runq::net::connect_tcp("127.0.0.1", ntohs(address.sin_port), stops[i].get_token()));
        done.done();
      });
    }
    co_await runq::sleep_for(20ms);
    for (auto& stop : stops) stop.request_stop();
    co_await done.wait();
    close(fd);
    EXPECT_NE(std::count(errors.begin(), errors.end(), was_cancelled), 0);
    for (const int error : errors) EXPECT_TRUE(error == 0 || error == was_cancelled) << error;
  });
}

TEST_F(net, a_read_after_a_deadline_gets_what_came_meanwhile) {
  constexpr int rounds = slow_build ? 50 : 300;
  for (const unsigned procs : {1U, 2U}) {
    runq::run(
        []() -> task<> {
          auto [a, b] = co_await tcp_pair();
          for (int i = 0; i != rounds; ++i) {
            runq::wait_group done;
            done.add(1);
            runq::go([&, &b = b]() -> task<> {
              co_await runq::sleep_for(std::chrono::microseconds(100 + i % 50));
              co_await write_text(b, "x");
              done.done();
            });
            // The deadline passes at about the time at which the data comes.
            a.set_read_deadline(runq::clock::now() + std::chrono::microseconds(100 + (i * 7) % 100));
            std::array<std::byte, 10> room;
            std::size_t n = 0;
            try {
              n = co_await a.read(room);
            } catch (const std::system_error& e) {
              EXPECT_EQ(e.code().value(), ETIMEDOUT);
            }
            a.set_read_deadline(runq::clock::time_point::max());
            if (n == 0) n = co_await a.read(room);
            EXPECT_EQ(n, 1U);
            co_await done.wait();
          }
        },
        {.procs = procs});
  }
}

TEST_F(net, a_stop_request_after_the_operation_changes_nothing) {
  runq::run([]() -> task<> {
    auto [a, b] = runq::net::socket_pair();
    std::stop_source stop;
    co_await write_text(b, "xy");
    std::byte byte{};
    const std::size_t n = co_await a.read(std::span(&byte, 1), stop.get_token());
    EXPECT_EQ(n, 1U);
    stop.request_stop();
    const std::string got = co_await read_text(a, 1);
    EXPECT_EQ(got, "y");
  });
}

TEST_F(net_death, an_open_stream_must_not_outlive_its_scheduler) {
  GTEST_FLAG_SET(death_test_style, sched_test::death_test_style);
  const auto outlive = [] {
    std::optional<stream_pair> kept;
    {
      scheduler s;
      s.run([&]() -> task<> {
        kept.emplace(runq::net::socket_pair());
        co_return;
      });
    }
  };
  EXPECT_EXIT(outlive(), testing::ExitedWithCode(2),
              "a stream or a listener that is still open outlives its scheduler");
}

TEST_F(net, a_closed_stream_may_outlive_its_scheduler) {
  std::optional<stream_pair> kept;
  {
    scheduler s;
    s.run([&]() -> task<> {
      kept.emplace(runq::net::socket_pair());
      kept->first.close();
      kept->second.close();
      co_return;
    });
  }
  EXPECT_EQ(kept->first.fd(), -1);
}

}  // namespace
