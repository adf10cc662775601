// SPDX-License-Identifier: MIT
// A small HTTP/1.1 server with keep-alive: a task per connection, the parser is libhttp-parser's.
//   http        serves itself: clients ask, the answers are checked
//   http PORT   serves on 127.0.0.1 until it is killed: curl -i 127.0.0.1:PORT; wrk -c 64 http://127.0.0.1:PORT/
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <system_error>

#include <http_parser.h>
#include <runq/runq.hpp>
#include <sys/resource.h>

using namespace std::chrono_literals;

namespace {

constexpr auto patience = 30s;  // for the next request of a connection

std::span<const std::byte> bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }

// Parses a connection's requests; each complete one leaves an answer in `out`.
class conversation {
 public:
  conversation() {
    http_parser_init(&parser_, HTTP_REQUEST);
    parser_.data = this;
    settings_.on_message_complete = [](http_parser* p) {
      static_cast<conversation*>(p->data)->answer();
      return 0;
    };
  }
  /// False when what came is no HTTP.
  bool feed(std::span<const std::byte> in) {
    const auto* const text = reinterpret_cast<const char*>(in.data());
    return http_parser_execute(&parser_, &settings_, text, in.size()) == in.size();
  }
  std::string out;
  bool keep_alive = true;

 private:
  void answer() {
    keep_alive = http_should_keep_alive(&parser_) != 0;
    const std::string_view body = parser_.method == HTTP_GET ? "hello, world\n" : "only GET\n";
    out += parser_.method == HTTP_GET ? "HTTP/1.1 200 OK\r\n" : "HTTP/1.1 405 Method Not Allowed\r\n";
    out += "Content-Type: text/plain\r\nContent-Length: " + std::to_string(body.size());
    out += keep_alive ? "\r\n\r\n" : "\r\nConnection: close\r\n\r\n";
    out += body;
  }
  http_parser parser_{};
  http_parser_settings settings_{};
};

runq::task<> serve(runq::net::stream client) {
  std::array<std::byte, 4096> in;
  conversation talk;
  try {
    while (talk.keep_alive) {
      client.set_read_deadline(runq::clock::now() + patience);
      const std::size_t n = co_await client.read(in);
      if (n == 0) break;
      if (!talk.feed(std::span(in).first(n))) {
        co_await client.write(bytes_of("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"));
        break;
      }
      if (talk.out.empty()) continue;  // not all of a request yet
      co_await client.write(bytes_of(talk.out));
      talk.out.clear();
    }
  } catch (const std::system_error&) {
    // The client was too slow, or is gone: that is its own affair.
  }
}

runq::task<> accept_all(runq::net::listener& from) {
  for (bool closed = false; !closed;) {
    bool too_many = false;
    try {
      runq::go(serve(co_await from.accept()), "connection");
    } catch (const std::system_error& e) {
      closed = e.code() == std::errc::operation_canceled;
      too_many = !closed;
    }
    if (too_many) co_await runq::sleep_for(10ms);  // out of descriptors: until connections end
  }
}

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
  runq::go(accept_all(listener), "accept");
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

// A connection is a descriptor: as many as the system allows, as Go does it.
void raise_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  (void)setrlimit(RLIMIT_NOFILE, &limit);
}

runq::task<int> serve_port(std::uint16_t port) {
  raise_limit();
  auto listener = runq::net::listen_tcp("127.0.0.1", port);
  std::printf("http://127.0.0.1:%d/\n", listener.port());
  std::fflush(stdout);
  co_await accept_all(listener);
  co_return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1) return runq::run(serve_port(static_cast<std::uint16_t>(std::atoi(argv[1]))));
  return runq::run(check_itself());
}
