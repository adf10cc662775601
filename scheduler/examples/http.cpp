// SPDX-License-Identifier: MIT
// A small HTTP/1.1 server with keep-alive: each connection has a task, and Boost.Beast parses the requests.
//   http        serves its own clients, and checks the answers
//   http PORT   serves on 127.0.0.1 until it is killed: curl -i 127.0.0.1:PORT; wrk -c 64 http://127.0.0.1:PORT/
//   http PORT RESTARTS
//               also replaces its scheduler RESTARTS times, after a hundred answers each; no client notices
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <fcntl.h>
#include <runq/runq.hpp>
#include <sys/resource.h>

using namespace std::chrono_literals;

namespace {

constexpr auto patience = 30s;  // how long the server waits for a connection's next request

namespace http = boost::beast::http;

std::span<const std::byte> bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }

// Parses the requests of one connection, and appends an answer to `out` for each complete request.
class conversation {
 public:
  conversation() { expect_request(); }
  /// Parses more bytes of the connection. False when they are not HTTP, or when a request is larger than Beast's limits
  /// (8 KiB of header, 1 MiB of body).
  bool feed(std::span<const std::byte> in) {
    unparsed_.append(reinterpret_cast<const char*>(in.data()), in.size());
    while (keep_alive) {
      boost::system::error_code error;
      unparsed_.erase(0, parser_->put(boost::asio::buffer(unparsed_), error));
      if (error == http::error::need_more) return true;
      if (error) return false;
      if (!parser_->is_done()) return true;
      answer();
      expect_request();
    }
    return true;
  }
  std::string out;
  bool keep_alive = true;

 private:
  using parser = http::request_parser<http::string_body>;

  void expect_request() { parser_.emplace().eager(true); }
  void answer() {
    const bool get = parser_->get().method() == http::verb::get;
    keep_alive = parser_->keep_alive();
    const std::string_view body = get ? "hello, world\n" : "only GET\n";
    out += get ? "HTTP/1.1 200 OK\r\n" : "HTTP/1.1 405 Method Not Allowed\r\n";
    out += "Content-Type: text/plain\r\nContent-Length: " + std::to_string(body.size());
    out += keep_alive ? "\r\n\r\n" : "\r\nConnection: close\r\n\r\n";
    out += body;
  }
  std::optional<parser> parser_;
  std::string unparsed_;  // the parser takes a header only when all of its line is there
};

/// A second descriptor of the same connection. It may outlive the scheduler that uses `fd`.
int copy_of(int fd) {
  const int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
  if (copy < 0) throw std::system_error(errno, std::generic_category(), "fcntl");
  return copy;
}

/// A server whose scheduler may be replaced while it serves. Open connections, and the parts of requests that clients
/// have sent, pass from one scheduler to the next.
class server {
 public:
  /// Serves until the listener is closed or a stop is requested. Returns when all answers that are due have been
  /// written.
  runq::task<> serve(runq::net::listener& from, std::stop_token stop = {}) {
    runq::wait_group open;
    for (connection& c : std::exchange(carried_over_, {})) {
      start(runq::net::stream(c.fd), std::move(c.talk), stop, open);
    }
    for (bool closed = false; !closed;) {
      bool too_many = false;
      try {
        runq::net::stream client = co_await from.accept(stop);
        ++accepted_;
        start(std::move(client), std::make_unique<conversation>(), stop, open);
      } catch (const runq::cancelled&) {
        closed = true;
      } catch (const std::system_error& e) {
        closed = e.code() == std::errc::operation_canceled;
        too_many = !closed;
      }
      if (too_many) co_await runq::sleep_for(10ms);  // no descriptor is free until a connection ends
    }
    co_await open.wait();
  }

  /// Requests a stop after `answers` more answers.
  void stop_after(int answers, std::stop_source& stop) {
    stop_ = &stop;
    answers_until_stop_ = answers;
  }
  [[nodiscard]] int accepted() const { return accepted_; }

 private:
  struct connection {
    int fd;
    std::unique_ptr<conversation> talk;
  };

  void start(runq::net::stream client, std::unique_ptr<conversation> talk, std::stop_token stop,
             runq::wait_group& open) {
    open.add(1);
    runq::go(converse(std::move(client), std::move(talk), std::move(stop), open), "connection");
  }

  runq::task<> converse(runq::net::stream client, std::unique_ptr<conversation> talk, std::stop_token stop,
                        runq::wait_group& open) {
    std::array<std::byte, 4096> in;
    try {
      while (talk->keep_alive && !stop.stop_requested()) {
        client.set_deadline(runq::clock::now() + patience);
        const std::size_t n = co_await client.read(in, stop);
        if (n == 0) {
          talk->keep_alive = false;
        } else if (!talk->feed(std::span(in).first(n))) {
          talk->keep_alive = false;
          co_await client.write(bytes_of("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"));
        } else if (!talk->out.empty()) {  // empty: the request is not complete yet
          co_await client.write(bytes_of(talk->out));
          talk->out.clear();
          if (--answers_until_stop_ == 0) stop_->request_stop();
        }
      }
    } catch (const std::system_error&) {
      talk->keep_alive = false;  // the client was too slow or has gone
    } catch (const runq::cancelled&) {
      // A stop was requested: the connection stays open.
    }
    if (talk->keep_alive) carry_over(client, std::move(talk));
    open.done();
  }

  void carry_over(const runq::net::stream& client, std::unique_ptr<conversation> talk) {
    const std::lock_guard lock(mutex_);
    carried_over_.push_back({copy_of(client.fd()), std::move(talk)});
  }

  std::mutex mutex_;
  std::vector<connection> carried_over_;  // mutex_ protects it while tasks run
  std::atomic<int> accepted_{0};
  std::atomic<long> answers_until_stop_{0};
  std::stop_source* stop_ = nullptr;
};

runq::task<> ask(std::uint16_t port, int requests, int& answered, runq::wait_group& done) {
  const std::string request = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";
  const std::string answer = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 13\r\n\r\nhello, world\n";
  auto server = co_await runq::net::connect_tcp("127.0.0.1", port);
  for (int i = 0; i != requests; ++i) {
    co_await server.write(bytes_of(request));
    std::string got(answer.size(), '\0');
    std::size_t n = 0;
    while (n != got.size()) {
      const std::size_t more = co_await server.read(std::as_writable_bytes(std::span(got)).subspan(n));
      if (more == 0) break;
      n += more;
    }
    if (got == answer) ++answered;
  }
  done.done();
}

runq::task<int> check_itself() {
  auto listener = runq::net::listen_tcp("127.0.0.1", 0);
  server here;
  runq::go(here.serve(listener), "accept");
  std::array<int, 50> answered{};
  runq::wait_group done;
  done.add(answered.size());
  for (int& count : answered) runq::go(ask(listener.port(), 20, count, done), "client");
  co_await done.wait();
  int total = 0;
  for (const int count : answered) total += count;
  std::printf("%d of 1000 requests over 50 connections were answered rightly\n", total);
  co_return total == 1000 ? 0 : 1;
}

// Raises the limit of open descriptors to what the system allows, as Go does: every connection needs one.
void raise_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  (void)setrlimit(RLIMIT_NOFILE, &limit);
}

// One scheduler after the other serves at the same port.
int serve_port(std::uint16_t port, int restarts) {
  raise_limit();
  server here;
  int listening = runq::run([port]() -> runq::task<int> {
    const auto listener = runq::net::listen_tcp("127.0.0.1", port);
    std::printf("http://127.0.0.1:%d/\n", listener.port());
    std::fflush(stdout);
    co_return copy_of(listener.fd());
  });
  for (int i = 0; i != restarts; ++i) {
    listening = runq::run([&]() -> runq::task<int> {
      runq::net::listener listener(listening);
      std::stop_source stop;
      here.stop_after(100, stop);
      co_await here.serve(listener, stop.get_token());
      co_return copy_of(listener.fd());
    });
  }
  if (restarts != 0) std::printf("%d restarts, %d connections\n", restarts, here.accepted());
  std::fflush(stdout);
  runq::run([&]() -> runq::task<> {
    runq::net::listener listener(listening);
    co_await here.serve(listener);
  });
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1) return serve_port(static_cast<std::uint16_t>(std::atoi(argv[1])), argc > 2 ? std::atoi(argv[2]) : 0);
  return runq::run(check_itself());
}
