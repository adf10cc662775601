// SPDX-License-Identifier: MIT
// A chat server: a channel and two tasks for each member, so that one that does not read holds up no other.
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <map>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <system_error>
#include <utility>

#include <runq/runq.hpp>

using runq::task;
using runq::net::stream;

class room {
 public:
  task<int> join(runq::send_end<std::string> to) {
    const auto guard = co_await m_.scoped_lock();
    members_.emplace(++last_, std::move(to));
    send_to_all("* " + std::to_string(last_) + " is here\n");
    co_return last_;
  }
  task<> leave(int who) {
    const auto guard = co_await m_.scoped_lock();
    members_.erase(who);
    send_to_all("* " + std::to_string(who) + " has left\n");
  }
  task<> say(int who, std::string line) {
    const auto guard = co_await m_.scoped_lock();
    send_to_all(std::to_string(who) + ": " + line);
  }

 private:
  void send_to_all(const std::string& line) {
    for (const auto& [who, to] : members_) (void)to.try_send(std::string(line));
  }
  runq::mutex m_;
  std::map<int, runq::send_end<std::string>> members_;  // under m_
  int last_ = 0;                                        // under m_
};

// Until the channel is closed and empty, or the member is to leave.
task<> write_lines(stream& peer, runq::receive_end<std::string> lines, std::stop_token stop) {
  std::optional<std::string> line;
  while (co_await runq::select(stop, runq::on_receive(lines, line)) == 0 && line) {
    co_await peer.write(std::as_bytes(std::span(*line)), stop);
  }
}

// Returns at the end of what the peer says. A line of more than 1,024 bytes is a std::system_error.
task<> read_lines(stream& peer, room& all, int me, std::stop_token stop) {
  runq::net::buffered_reader from(peer, 1024);
  while (const auto line = co_await from.read_line(stop)) co_await all.say(me, std::string(*line) + '\n');
}

task<> member(stream peer, room& all, std::stop_token stop) {
  const auto lines = runq::make_channel<std::string>(16);
  const int me = co_await all.join(lines);
  const auto talk = [&](runq::scope& s) -> task<> {
    s.go(write_lines(peer, lines, s.stop_token()));
    co_await read_lines(peer, all, me, s.stop_token());
    lines.close();  // what is in it is still written
  };
  try {
    co_await runq::with_scope(talk, stop);
  } catch (const std::system_error&) {
    // The peer is gone.
  } catch (const runq::cancelled&) {
    // The server stops.
  }
  co_await all.leave(me);
}

task<> accept_all(runq::net::listener& at, room& all, runq::scope& s) {
  const std::stop_token stop = s.stop_token();
  for (;;) {
    stream peer = co_await at.accept(stop);
    s.go(member(std::move(peer), all, stop));
  }
}

task<> print_line(runq::net::buffered_reader& from) {
  const auto line = co_await from.read_line();
  std::puts(line ? std::string(*line).c_str() : "the server has closed");
}

// Two members, who try the server; then it is ended as by Ctrl-C.
task<> clients(std::uint16_t port) {
  stream one = co_await runq::net::connect_tcp("127.0.0.1", port);
  runq::net::buffered_reader to_one(one);
  co_await print_line(to_one);
  stream two = co_await runq::net::connect_tcp("127.0.0.1", port);
  runq::net::buffered_reader to_two(two);
  co_await print_line(to_one);
  co_await print_line(to_two);
  const std::string hello = "hello\n";
  co_await one.write(std::as_bytes(std::span(hello)));
  co_await print_line(to_two);
  std::raise(SIGINT);
}

task<> serve() {
  const runq::signals interrupts({SIGINT, SIGTERM});
  runq::net::listener at = runq::net::listen_tcp("127.0.0.1", 0);
  room all;
  co_await runq::with_scope([&](runq::scope& s) -> task<> {
    s.go(accept_all(at, all, s));
    s.go(clients(at.port()));
    (void)co_await interrupts.received().receive();
    s.request_stop();
  });
  std::puts("everybody has left");
}

int main() { runq::run(serve()); }
