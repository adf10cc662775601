// SPDX-License-Identifier: MIT
// Streams and listeners: rows S8, S9, S11 and X4 of the scheduler's rules, L7 as far as descriptors go, and every
// sentence of net.hpp. What waits and must be woken is bounded by an alarm.
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
#include <set>
#include <span>
#include <stop_token>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <runq/runq.hpp>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#if defined(__has_feature)
#define RUNQ_TEST_HAS_FEATURE(x) __has_feature(x)
#else
#define RUNQ_TEST_HAS_FEATURE(x) 0
#endif
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__) || RUNQ_TEST_HAS_FEATURE(thread_sanitizer) || \
    RUNQ_TEST_HAS_FEATURE(address_sanitizer)
#define RUNQ_TEST_SLOW 1
#else
#define RUNQ_TEST_SLOW 0
#endif

namespace {

using namespace std::chrono_literals;
using runq::scheduler;
using runq::task;
using runq::net::listener;
using runq::net::stream;
using stream_pair = std::pair<stream, stream>;

constexpr auto patience = 20s;
constexpr unsigned longest_test = 120;  // s; then the alarm ends the program

std::set<int> open_descriptors() {
  std::set<int> open;
  for (int fd = 0; fd != 4096; ++fd) {
    if (fcntl(fd, F_GETFD) != -1) open.insert(fd);
  }
  return open;
}

// Every test leaves as many descriptors open as it found.
class net : public testing::Test {
 protected:
  void SetUp() override {
    alarm(longest_test);
    before_ = open_descriptors();
  }
  void TearDown() override {
    EXPECT_EQ(open_descriptors(), before_);
    alarm(0);
  }

 private:
  std::set<int> before_;
};
using net_death = net;

/// Waits, blocking the thread, until `done()`; false when that takes too long.
template <class Done>
bool wait_until(Done&& done) {
  const auto end = runq::clock::now() + patience;
  while (!done()) {
    if (runq::clock::now() > end) return false;
    std::this_thread::sleep_for(100us);
  }
  return true;
}

std::span<const std::byte> bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }

/// Reads until there are n bytes or the stream ends.
task<std::string> read_text(stream& from, std::size_t n) {
  std::string text(n, '\0');
  std::size_t have = 0;
  while (have != n) {
    const std::size_t more = co_await from.read(std::as_writable_bytes(std::span(text)).subspan(have));
    if (more == 0) break;
    have += more;
  }
  text.resize(have);
  co_return text;
}

task<> write_text(stream& to, std::string text) { co_await to.write(bytes_of(text)); }

/// The number of the error with which `operation` ends; 0 if it succeeds.
template <class T>
task<int> error_of(task<T> operation) {
  int error = 0;
  try {
    static_cast<void>(co_await operation);
  } catch (const std::system_error& e) {
    error = e.code().value();
  }
  co_return error;
}

task<int> error_of_read(stream& s, std::stop_token stop = {}) {
  std::byte got{};
  co_return co_await error_of(s.read(std::span(&got, 1), stop));
}

task<int> error_of_write(stream& s, std::size_t n = 1, std::stop_token stop = {}) {
  const std::vector<std::byte> bytes(n);
  co_return co_await error_of(s.write(bytes, stop));
}

constexpr std::size_t more_than_buffers = std::size_t{1} << 20;  // of pipes and socket pairs

/// Whether some task comes to wait for the poller: the scheduler's dump says so.
task<bool> somebody_waits(scheduler& s) {
  const auto end = runq::clock::now() + patience;
  while (s.dump().find("[IO wait]") == std::string::npos) {
    if (runq::clock::now() > end) co_return false;
    co_await runq::yield();
  }
  co_return true;
}

task<stream_pair> tcp_pair(std::string address = "127.0.0.1") {
  listener l = runq::net::listen_tcp(address, 0);
  stream client = co_await runq::net::connect_tcp(address, l.port());
  stream server = co_await l.accept();
  co_return stream_pair(std::move(client), std::move(server));
}

bool has_ipv6() {
  const int fd = socket(AF_INET6, SOCK_STREAM, 0);
  if (fd < 0) return false;
  sockaddr_in6 address{};
  address.sin6_family = AF_INET6;
  address.sin6_addr = in6addr_loopback;
  const bool bound = bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  close(fd);
  return bound;
}

class folder {
 public:
  folder() {
    if (mkdtemp(name_.data()) == nullptr) throw std::system_error(errno, std::generic_category(), "mkdtemp");
  }
  folder(const folder&) = delete;
  folder& operator=(const folder&) = delete;
  ~folder() { std::filesystem::remove_all(name_); }
  [[nodiscard]] std::string file(const char* name) const { return name_ + "/" + name; }

 private:
  std::string name_ = (std::filesystem::temp_directory_path() / "runq_net_XXXXXX").string();
};

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
    EXPECT_EQ(error, EPERM);  // and it is closed: see TearDown
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
    co_await write_text(c, "x");
    auto [d, e] = runq::net::socket_pair();
    const int old = d.fd();
    d = std::move(c);  // closes what it was
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
  constexpr std::size_t size = (RUNQ_TEST_SLOW ? std::size_t{2} : std::size_t{8}) << 20;
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
    // Names are looked up in blocking calls, which may need threads of their own.
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
  const std::size_t n = RUNQ_TEST_SLOW ? std::min<std::size_t>(possible, 2000) : possible;
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
    std::atomic<unsigned> where{0};  // bit i: ran on processor i
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
    const std::string question = co_await read_text(server, 100);  // up to the end
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
    // The lowest free descriptor is the first that is not allowed.
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
  constexpr int rounds = RUNQ_TEST_SLOW ? 300 : 2000;
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
  constexpr int rounds = RUNQ_TEST_SLOW ? 300 : 2000;
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
          co_await write_text(b, "old");  // an event that nobody waits for
          a.close();
          b.close();
          auto [c, d] = runq::net::socket_pair();
          c.set_read_deadline(runq::clock::now() + 10s);
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
    // A new one allows it.
    a.set_deadline(runq::clock::now() + 1h);
    const std::string got = co_await read_text(a, 1);
    EXPECT_EQ(got, "x");
  });
}

TEST_F(net, a_deadline_can_be_taken_back) {
  runq::run([]() -> task<> {
    auto [a, b] = runq::net::socket_pair();
    a.set_deadline(runq::clock::now() + 1ms);
    a.set_deadline(runq::clock::time_point::max());
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
      EXPECT_EQ(error, ECANCELED);
    }
    // The stream is as good as before.
    co_await write_text(b, "x");
    const std::string got = co_await read_text(a, 1);
    EXPECT_EQ(got, "x");
  });
}

TEST_F(net, a_stop_request_may_come_first_or_from_another_thread) {
  scheduler s;
  s.run([&]() -> task<> {
    auto [a, b] = runq::net::socket_pair();
    std::stop_source early;
    early.request_stop();
    const int first = co_await error_of_read(a, early.get_token());
    EXPECT_EQ(first, ECANCELED);
    std::stop_source late;
    std::jthread outside([&] {
      EXPECT_TRUE(wait_until([&] { return s.dump().find("[IO wait]") != std::string::npos; }));
      late.request_stop();
    });
    const int second = co_await error_of_read(a, late.get_token());
    EXPECT_EQ(second, ECANCELED);
    outside.join();
  });
}

TEST_F(net, a_stop_request_ends_connecting) {
  runq::run([]() -> task<> {
    listener l = runq::net::listen_tcp("127.0.0.1", 0);
    std::stop_source stop;
    stop.request_stop();
    // Connecting to this machine may be over at once: then it succeeds.
    const int error = co_await error_of(runq::net::connect_tcp("127.0.0.1", l.port(), stop.get_token()));
    EXPECT_TRUE(error == 0 || error == ECANCELED) << error;
  });
}

TEST_F(net, stop_requests_race_with_data) {
  constexpr int rounds = RUNQ_TEST_SLOW ? 300 : 2000;
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
            EXPECT_TRUE(error == 0 || error == ECANCELED);
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
        }
        b.close();
        const std::string rest = co_await read_text(a, static_cast<std::size_t>(rounds));
        EXPECT_EQ(received + static_cast<int>(rest.size()), sent);
      },
      {.procs = 2});
}

// ---- together with the scheduler ------------------------------------------------------------------------------------

TEST_F(net, X4_a_long_poll_is_broken_by_a_new_timer) {
  scheduler s({.procs = 2});
  const auto begin = runq::clock::now();
  s.run([&]() -> task<> {
    auto [a, b] = runq::net::socket_pair();
    a.set_read_deadline(runq::clock::now() + 10s);
    runq::go([&a = a]() -> task<> { (void)co_await error_of_read(a); });
    for (int i = 0; i != 10; ++i) {
      EXPECT_TRUE(wait_until([&] { return s.stats().idle_procs == 1; }));
      co_await runq::sleep_for(1ms);
    }
  });
  EXPECT_LT(runq::clock::now() - begin, 5s);
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
  GTEST_FLAG_SET(death_test_style, "threadsafe");
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

}  // namespace
