// SPDX-License-Identifier: MIT
// Streams and listeners that are closed while other tasks use them, that several tasks use at once, or that outlive the
// run in which tasks waited for them. If a task is not woken, an alarm ends the program.
#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "net_support.hpp"
#include "repeats.hpp"

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
using sched_test::log_of;
using sched_test::more_than_buffers;
using sched_test::patience;
using sched_test::read_text;
using sched_test::slow_build;
using sched_test::stream_pair;
using sched_test::tcp_pair;
using sched_test::was_cancelled;
using sched_test::write_text;

using net_edges = sched_test::net_fixture;
using net_edges_death = net_edges;

const int rounds = sched_test::repeats(slow_build ? 40 : 300);

/// Waits until exactly n tasks wait for descriptors. False: that took longer than `patience`. With several processors a
/// task that is counted may still be about to join the list of waiters; with one processor it has joined it.
task<bool> n_wait(scheduler& s, std::size_t n) {
  const auto end = runq::clock::now() + patience;
  for (;;) {
    std::size_t waiting = 0;
    const std::string dump = s.dump();
    for (std::size_t at = 0; (at = dump.find("[IO wait]", at)) != std::string::npos; ++at) ++waiting;
    if (waiting == n) co_return true;
    if (runq::clock::now() > end) co_return false;
    co_await runq::yield();
  }
}

/// The number of the error that the call throws; 0 if it succeeds.
template <class F>
int error_of_call(F&& f) {
  try {
    (void)f();
  } catch (const std::system_error& e) {
    return e.code().value();
  }
  return 0;
}

/// A loopback address that only this process uses: no other process takes a port of it as soon as the port is free.
const std::string& address_of_this_process() {
  static const std::string address = [] {
    const auto pid = static_cast<unsigned>(getpid());  // less than 2^22
    const unsigned parts[] = {64 + (pid >> 16), (pid >> 8) % 256, pid % 256};
    std::string text = "127";
    for (const unsigned part : parts) text += "." + std::to_string(part);
    return text;
  }();
  return address;
}

/// Whether a socket without SO_REUSEADDR can be bound to that address and port, and listen.
bool port_is_free(std::uint16_t port) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  EXPECT_EQ(inet_pton(AF_INET, address_of_this_process().c_str(), &address.sin_addr), 1);
  address.sin_port = htons(port);
  const bool is = bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 && listen(fd, 1) == 0;
  close(fd);
  return is;
}

// ---- streams that outlive a run -------------------------------------------------------------------------------------

// Data, a close, a deadline and a stop request that come after the run wake no task of that run.
TEST_F(net_edges, L2_a_stream_outlives_the_run_in_which_tasks_waited_for_it) {
  for (const unsigned procs : {1U, 2U}) {
    scheduler s({.procs = procs});
    std::optional<stream_pair> kept;
    std::stop_source stop;
    for (int i = 0; i != 4 * ((rounds + 3) / 4); ++i) {
      s.run([&]() -> task<> {
        if (!kept) kept.emplace(runq::net::socket_pair());
        for (int k = 0; k != 2; ++k) {  // one task waits for data, the other for its turn to read
          runq::go([&]() -> task<> { (void)co_await error_of_read(kept->first, stop.get_token()); });
        }
        runq::go([&]() -> task<> { (void)co_await error_of_write(kept->first, more_than_buffers, stop.get_token()); });
        const bool wait = co_await n_wait(s, 3);
        EXPECT_TRUE(wait);
      });
      if (i % 4 == 1) stop = {};
      if (i % 4 == 2) {
        stop.request_stop();
        stop = {};
      }
      if (i % 4 == 3) kept->first.close();
      s.run([&]() -> task<> {
        if (i % 4 == 3) {
          kept.reset();
          co_return;
        }
        if (i % 4 == 1) kept->first.set_deadline(runq::clock::now());
        kept->first.set_deadline(runq::clock::time_point::max());
        co_await write_text(kept->second, "x");
        const std::string got = co_await read_text(kept->first, 1);
        EXPECT_EQ(got, "x");
      });
    }
  }
}

TEST_F(net_edges, L2_a_deadline_outlives_the_run_in_which_it_was_set) {
  for (const unsigned procs : {1U, 2U}) {
    scheduler s({.procs = procs});
    std::optional<stream_pair> kept;
    const int last = sched_test::repeats(20) - 1;
    for (int i = 0; i <= last; ++i) {
      s.run([&]() -> task<> {
        if (!kept) kept.emplace(runq::net::socket_pair());
        kept->first.set_deadline(runq::clock::now() + 2ms);
        runq::go([&]() -> task<> { (void)co_await error_of_read(kept->first); });
        co_await runq::yield();
      });
      s.run([&]() -> task<> {
        const int error = co_await error_of_read(kept->first);
        EXPECT_EQ(error, ETIMEDOUT);
        if (i == last) kept.reset();
      });
    }
  }
}

TEST_F(net_edges, a_deadline_that_is_set_outside_a_task_is_misuse) {
  scheduler s({.procs = 1});
  std::optional<stream_pair> kept;
  s.run([&]() -> task<> {
    kept.emplace(runq::net::socket_pair());
    co_return;
  });
  EXPECT_THROW(kept->first.set_deadline(runq::clock::now() + 1h), runq::misuse);
  EXPECT_NO_THROW(kept->first.set_deadline(runq::clock::time_point::max()));
  kept.reset();
}

TEST_F(net_edges, L2_a_listener_outlives_the_run_in_which_tasks_accepted) {
  for (const unsigned procs : {1U, 2U}) {
    scheduler s({.procs = procs});
    std::optional<listener> kept;
    s.run([&]() -> task<> {
      kept.emplace(runq::net::listen_tcp("127.0.0.1", 0));
      co_return;
    });
    for (int i = 0; i != rounds; ++i) {
      s.run([&]() -> task<> {
        for (int k = 0; k != 3; ++k) runq::go([&]() -> task<> { (void)co_await error_of(kept->accept()); });
        const bool wait = co_await n_wait(s, 3);
        EXPECT_TRUE(wait);
      });
      s.run([&]() -> task<> {
        const stream client = co_await runq::net::connect_tcp("127.0.0.1", kept->port());
        const stream server = co_await kept->accept();
        EXPECT_NE(server.fd(), -1);
      });
    }
    kept->close();
  }
}

TEST_F(net_edges, L2_a_stream_closed_by_a_thread_while_the_run_ends) {
  for (const unsigned procs : {1U, 2U}) {
    scheduler s({.procs = procs});
    for (int i = 0; i != rounds; ++i) {
      std::optional<stream_pair> kept;
      std::atomic<bool> ends{false};
      std::jthread outside;
      s.run([&]() -> task<> {
        kept.emplace(runq::net::socket_pair());
        runq::go([&]() -> task<> { (void)co_await error_of_read(kept->first); });
        runq::go([&]() -> task<> { (void)co_await error_of_read(kept->second); });
        const bool wait = co_await n_wait(s, 2);
        EXPECT_TRUE(wait);
        outside = std::jthread([&] {
          while (!ends) std::this_thread::yield();
          kept->first.close();
          kept->second.close();
        });
        ends = true;
      });
      outside.join();
    }
  }
}

// ---- closing --------------------------------------------------------------------------------------------------------

/// A thread outside calls `tell`, which wakes a task, and the task destroys the object. The machines are idle, so the
/// task may run while `tell` is still in progress.
template <class Used, class Make, class Wait, class Tell>
void destroyed_by_who_is_told(
    Make make, Wait wait, Tell tell, int expected, const std::function<void()>& end = [] {}) {
  for (const unsigned procs : {1U, 2U}) {
    scheduler s({.procs = procs});
    s.run([&]() -> task<> {
      for (int i = 0; i != rounds; ++i) {
        auto owned = std::make_unique<Used>(make());
        Used& used = *owned;
        int error = 0;
        runq::wait_group done;
        done.add(1);
        runq::go([&]() -> task<> {
          error = co_await error_of(wait(*owned));
          owned.reset();
          done.done();
        });
        const bool waits = co_await n_wait(s, 1);
        EXPECT_TRUE(waits);
        std::jthread outside([&] {
          EXPECT_TRUE(sched_test::comes_true([&] { return s.stats().idle_procs == procs; }));
          tell(used);
        });
        co_await done.wait();
        outside.join();
        EXPECT_EQ(error, expected);
      }
      end();
    });
  }
}

task<std::size_t> read_a_byte(stream& s) {
  std::byte got{};
  co_return co_await s.read(std::span(&got, 1));
}
stream connected_end(std::optional<stream>& other) {
  auto [a, b] = runq::net::socket_pair();
  other.emplace(std::move(b));
  return std::move(a);
}

TEST_F(net_edges, S14_a_task_that_learns_of_a_close_may_destroy_the_stream) {
  std::optional<stream> other;
  destroyed_by_who_is_told<stream>([&] { return connected_end(other); }, read_a_byte, [](stream& s) { s.close(); },
                                   ECANCELED, [&] { other.reset(); });
}

TEST_F(net_edges, S14_a_task_that_learns_of_a_deadline_may_destroy_the_stream) {
  std::optional<stream> other;
  destroyed_by_who_is_told<stream>([&] { return connected_end(other); }, read_a_byte,
                                   [](stream& s) { s.set_deadline(runq::clock::now()); }, ETIMEDOUT,
                                   [&] { other.reset(); });
}

TEST_F(net_edges, S14_a_task_that_learns_of_a_close_may_destroy_the_listener) {
  destroyed_by_who_is_told<listener>([] { return runq::net::listen_tcp("127.0.0.1", 0); },
                                     [](listener& l) { return l.accept(); }, [](listener& l) { l.close(); }, ECANCELED);
}

TEST_F(net_edges, S14_the_port_of_a_closed_listener_is_free_though_tasks_accept) {
  for (const unsigned procs : {1U, 2U}) {
    scheduler s({.procs = procs});
    s.run([&]() -> task<> {
      for (int i = 0; i != rounds; ++i) {
        listener l = runq::net::listen_tcp(address_of_this_process(), 0);
        const std::uint16_t port = l.port();
        runq::wait_group done;
        done.add(2);
        for (int k = 0; k != 2; ++k) {
          runq::go([&]() -> task<> {
            const int error = co_await error_of(l.accept());
            EXPECT_EQ(error, ECANCELED);
            done.done();
          });
        }
        const bool wait = co_await n_wait(s, 2);
        EXPECT_TRUE(wait);
        l.close();
        EXPECT_TRUE(port_is_free(port));
        co_await done.wait();
      }
    });
  }
}

// As in the test above, but the task does not wait for long: it calls accept(2) again and again, and the close may come
// during such a call.
TEST_F(net_edges, S14_the_port_of_a_closed_listener_is_free_though_a_task_is_accepting) {
  scheduler s({.procs = 2});
  s.run([&]() -> task<> {
    for (int i = 0; i != rounds; ++i) {
      listener l = runq::net::listen_tcp(address_of_this_process(), 0);
      const std::uint16_t port = l.port();
      std::atomic<bool> begun{false};
      runq::wait_group done;
      done.add(1);
      runq::go([&]() -> task<> {
        while (l.fd() != -1) {
          std::stop_source stop;
          runq::go([stop]() mutable { stop.request_stop(); });
          const int error = co_await error_of(l.accept(stop.get_token()));
          EXPECT_TRUE(error == was_cancelled || error == ECANCELED) << error;
          begun = true;
        }
        done.done();
      });
      while (!begun) co_await runq::yield();
      l.close();
      EXPECT_TRUE(port_is_free(port));
      co_await done.wait();
    }
  });
}

TEST_F(net_edges, S14_a_copy_of_a_closed_listener_still_listens) {
  scheduler s;
  s.run([&]() -> task<> {
    listener first = runq::net::listen_tcp("127.0.0.1", 0);
    listener second(fcntl(first.fd(), F_DUPFD_CLOEXEC, 0));
    runq::wait_group done;
    done.add(1);
    runq::go([&]() -> task<> {
      const int error = co_await error_of(first.accept());
      EXPECT_EQ(error, ECANCELED);
      done.done();
    });
    const bool waits = co_await n_wait(s, 1);
    EXPECT_TRUE(waits);
    first.close();
    co_await done.wait();
    stream client = co_await runq::net::connect_tcp("127.0.0.1", second.port());
    stream server = co_await second.accept();
    co_await write_text(client, "x");
    const std::string got = co_await read_text(server, 1);
    EXPECT_EQ(got, "x");
  });
}

TEST_F(net_edges, S14_the_peer_sees_a_close_at_once_though_a_task_reads) {
  scheduler s({.procs = 1});
  s.run([&]() -> task<> {
    auto [a, b] = runq::net::socket_pair();
    runq::wait_group done;
    done.add(1);
    runq::go([&, &a = a]() -> task<> {
      const int error = co_await error_of_read(a);
      EXPECT_EQ(error, ECANCELED);
      done.done();
    });
    const bool waits = co_await n_wait(s, 1);
    EXPECT_TRUE(waits);
    a.close();
    char byte = 0;
    EXPECT_EQ(recv(b.fd(), &byte, 1, MSG_DONTWAIT), 0);  // the reader has not run yet
    co_await done.wait();
  });
}

// ---- the file of a Unix socket --------------------------------------------------------------------------------------

bool exists(const std::string& path) {
  struct stat ignored {};
  return lstat(path.c_str(), &ignored) == 0;
}

TEST_F(net_edges, S14_a_unix_listener_removes_its_file_when_it_closes) {
  const folder f;
  const std::string path = f.file("socket");
  runq::run([&]() -> task<> {
    for (int i = 0; i != 3; ++i) {
      listener l = runq::net::listen_unix(path);
      listener moved = std::move(l);
      EXPECT_TRUE(exists(path));
      const stream client = co_await runq::net::connect_unix(path);
      moved.close();
      EXPECT_FALSE(exists(path));
    }
    // The destructor removes the file, too. A listener that could not listen leaves the existing file.
    {
      const listener l = runq::net::listen_unix(path);
      EXPECT_EQ(error_of_call([&] { return runq::net::listen_unix(path); }), EADDRINUSE);
      EXPECT_TRUE(exists(path));
    }
    EXPECT_FALSE(exists(path));
  });
}

TEST_F(net_edges, S14_a_unix_listener_leaves_a_file_that_is_not_its_own) {
  const folder f;
  const std::string path = f.file("socket");
  runq::run([&]() -> task<> {
    listener first = runq::net::listen_unix(path);
    EXPECT_EQ(unlink(path.c_str()), 0);
    listener second = runq::net::listen_unix(path);
    first.close();
    EXPECT_TRUE(exists(path));
    const stream client = co_await runq::net::connect_unix(path);
    EXPECT_EQ(rename(path.c_str(), f.file("elsewhere").c_str()), 0);
    second.close();
    EXPECT_TRUE(exists(f.file("elsewhere")));
    // `copy` was made from a descriptor and not by listen_unix(), so it does not own the file and leaves it.
    listener third = runq::net::listen_unix(path);
    listener copy(fcntl(third.fd(), F_DUPFD_CLOEXEC, 0));
    copy.close();
    EXPECT_TRUE(exists(path));
  });
}

TEST_F(net_edges, S14_a_unix_listener_finds_its_file_from_another_directory) {
  const folder f;
  const std::filesystem::path before = std::filesystem::current_path();
  runq::run([&]() -> task<> {
    std::filesystem::current_path(f.file("."));
    listener l = runq::net::listen_unix("socket");
    std::filesystem::current_path(before);
    EXPECT_TRUE(exists(f.file("socket")));
    l.close();
    EXPECT_FALSE(exists(f.file("socket")));
    co_return;
  });
}

// ---- several tasks, one descriptor ----------------------------------------------------------------------------------

// Tests of the order begin with one processor, and add the others when all tasks are in the list: see n_wait().

// Without a path the kernel would take a name that every process of the machine can guess.
TEST_F(net_edges, a_unix_socket_without_a_path_is_refused) {
  runq::run([]() -> task<> {
    std::error_code listening;
    EXPECT_FALSE(runq::net::listen_unix("", listening));
    EXPECT_EQ(listening, std::errc::no_such_file_or_directory);
    std::error_code connecting;
    EXPECT_FALSE(co_await runq::net::connect_unix("", connecting));
    EXPECT_EQ(connecting, std::errc::no_such_file_or_directory);
  });
}

TEST_F(net_edges, S13_several_tasks_accept_first_come_first_served) {
  constexpr int acceptors = 8;
  for (const unsigned procs : {1U, 2U}) {
    scheduler s({.procs = 1});
    s.run([&]() -> task<> {
      listener l = runq::net::listen_tcp("127.0.0.1", 0);
      log_of<int> served;
      runq::wait_group done;
      for (int i = 0; i != acceptors; ++i) {
        done.add(1);
        runq::go([&, i]() -> task<> {
          const stream server = co_await l.accept();
          served.note(i);
          done.done();
        });
        const bool wait = co_await n_wait(s, static_cast<std::size_t>(i) + 1);
        EXPECT_TRUE(wait);
      }
      s.set_procs(procs);
      std::vector<int> expected;
      for (int i = 0; i != acceptors; ++i) {
        expected.push_back(i);
        const stream client = co_await runq::net::connect_tcp("127.0.0.1", l.port());
        co_await sched_test::yield_until([&] { return served.size() == static_cast<std::size_t>(i) + 1; });
      }
      co_await done.wait();
      EXPECT_EQ(served.all(), expected);
    });
  }
}

TEST_F(net_edges, S13_several_acceptors_lose_no_connection) {
  constexpr int acceptors = 4;
  const int clients = sched_test::repeated_as_a_whole() ? 20 : slow_build ? 200 : 1000;
  for (const unsigned procs : {1U, 2U}) {
    runq::run(
        [&]() -> task<> {
          listener l = runq::net::listen_tcp("127.0.0.1", 0);
          std::atomic<int> served{0};
          runq::wait_group accepting;
          runq::wait_group asking;
          for (int i = 0; i != acceptors; ++i) {
            accepting.add(1);
            runq::go([&]() -> task<> {
              int error = 0;
              while (error == 0) {
                try {
                  stream server = co_await l.accept();
                  ++served;
                  co_await write_text(server, "x");
                } catch (const std::system_error& e) {
                  error = e.code().value();
                }
              }
              EXPECT_EQ(error, ECANCELED);
              accepting.done();
            });
          }
          for (int i = 0; i != clients; ++i) {
            asking.add(1);
            runq::go([&]() -> task<> {
              stream client = co_await runq::net::connect_tcp("127.0.0.1", l.port());
              const std::string got = co_await read_text(client, 1);
              EXPECT_EQ(got, "x");
              asking.done();
            });
            if (i % 50 == 49) co_await asking.wait();
          }
          co_await asking.wait();
          EXPECT_EQ(served, clients);
          l.close();
          co_await accepting.wait();
        },
        {.procs = procs});
  }
}

TEST_F(net_edges, S13_several_readers_have_their_turns_first_come_first_served) {
  constexpr std::size_t readers = 8;
  for (const unsigned procs : {1U, 2U}) {
    scheduler s({.procs = 1});
    s.run([&]() -> task<> {
      auto [a, b] = runq::net::socket_pair();
      std::array<std::string, readers> got;
      runq::wait_group done;
      for (std::size_t i = 0; i != readers; ++i) {
        done.add(1);
        runq::go([&, &a = a, i]() -> task<> {
          got[i] = co_await read_text(a, 1);
          done.done();
        });
        const bool wait = co_await n_wait(s, i + 1);
        EXPECT_TRUE(wait);
      }
      s.set_procs(procs);
      co_await write_text(b, "01234567");
      co_await done.wait();
      for (std::size_t i = 0; i != readers; ++i) EXPECT_EQ(got[i], std::to_string(i));
    });
  }
}

TEST_F(net_edges, S13_what_several_tasks_write_is_not_mixed) {
  constexpr std::size_t writers = 4;
  // One buffer of a socket holds less than half of the smaller size, so each task has to wait in the middle of its
  // text.
  const std::size_t each = slow_build || sched_test::repeated_as_a_whole() ? std::size_t{1} << 19 : more_than_buffers;
  for (const unsigned procs : {1U, 2U}) {
    runq::run(
        [&]() -> task<> {
          auto [a, b] = runq::net::socket_pair();
          runq::wait_group done;
          for (std::size_t i = 0; i != writers; ++i) {
            done.add(1);
            runq::go([&, &a = a, i]() -> task<> {
              co_await write_text(a, std::string(each, static_cast<char>('a' + i)));
              done.done();
            });
          }
          const std::string got = co_await read_text(b, writers * each);
          co_await done.wait();
          std::size_t changes = 0;
          for (std::size_t i = 1; i != got.size(); ++i) changes += got[i] != got[i - 1] ? 1U : 0U;
          EXPECT_EQ(changes, writers - 1);
        },
        {.procs = procs});
  }
}

/// Four tasks that wait to read from `s`. error(i) is the error of the i-th, 0 if it has read, -1 while it waits.
class four_readers {
 public:
  task<> start(scheduler& of, stream& s) {
    for (std::size_t i = 0; i != 4; ++i) {
      done_.add(1);
      runq::go([this, &s, i]() -> task<> {
        errors_[i] = co_await error_of_read(s, stops_[i].get_token());
        done_.done();
      });
      const bool wait = co_await n_wait(of, i + 1);
      EXPECT_TRUE(wait);
    }
  }
  void stop(std::size_t i) { stops_[i].request_stop(); }
  [[nodiscard]] int error(std::size_t i) const { return errors_[i]; }
  task<std::array<int, 4>> all() {
    co_await done_.wait();
    std::array<int, 4> errors{};
    std::copy(errors_.begin(), errors_.end(), errors.begin());
    co_return errors;
  }

 private:
  std::array<std::stop_source, 4> stops_;
  std::array<std::atomic<int>, 4> errors_{-1, -1, -1, -1};
  runq::wait_group done_;
};

TEST_F(net_edges, S13_a_close_and_a_deadline_end_the_wait_of_all) {
  for (const unsigned procs : {1U, 2U}) {
    scheduler s({.procs = procs});
    s.run([&]() -> task<> {
      for (const bool closes : {true, false}) {
        auto [a, b] = runq::net::socket_pair();
        four_readers readers;
        co_await readers.start(s, a);
        if (closes) {
          a.close();
        } else {
          a.set_read_deadline(runq::clock::now() + 1ms);
        }
        const std::array<int, 4> errors = co_await readers.all();
        const int expected = closes ? ECANCELED : ETIMEDOUT;
        EXPECT_EQ(errors, (std::array<int, 4>{expected, expected, expected, expected}));
      }
    });
  }
}

TEST_F(net_edges, S13_a_stop_request_ends_the_wait_for_a_turn_and_no_other) {
  for (const unsigned procs : {1U, 2U}) {
    scheduler s({.procs = 1});
    s.run([&]() -> task<> {
      auto [a, b] = runq::net::socket_pair();
      four_readers readers;
      co_await readers.start(s, a);
      s.set_procs(procs);
      for (const std::size_t i : {std::size_t{2}, std::size_t{0}}) {  // 2 waits for its turn, 0 has its turn
        readers.stop(i);
        co_await sched_test::yield_until([&readers, i] { return readers.error(i) != -1; });
        EXPECT_EQ(readers.error(i), was_cancelled);
      }
      co_await write_text(b, "x");
      co_await sched_test::yield_until([&readers] { return readers.error(1) != -1; });
      EXPECT_EQ(readers.error(1), 0);
      EXPECT_EQ(readers.error(3), -1);
      co_await write_text(b, "y");
      const std::array<int, 4> errors = co_await readers.all();
      EXPECT_EQ(errors, (std::array<int, 4>{was_cancelled, 0, was_cancelled, 0}));
    });
  }
}

TEST_F(net_edges, S13_stop_requests_race_with_turns) {
  runq::run(
      []() -> task<> {
        auto [a, b] = runq::net::socket_pair();
        int received = 0;
        int sent = 0;
        for (int i = 0; i != 5 * rounds; ++i) {
          std::array<std::stop_source, 3> stops;
          std::array<int, 3> errors{};
          runq::wait_group done;
          done.add(3);
          for (std::size_t k = 0; k != 3; ++k) {
            runq::go([&, &a = a, k]() -> task<> {
              errors[k] = co_await error_of_read(a, stops[k].get_token());
              done.done();
            });
          }
          if (i % 2 == 0) co_await runq::yield();
          if (i % 3 != 0) {
            co_await write_text(b, "x");
            ++sent;
          }
          for (auto& stop : stops) stop.request_stop();
          co_await done.wait();
          for (const int error : errors) {
            EXPECT_TRUE(error == 0 || error == was_cancelled) << error;
            received += error == 0 ? 1 : 0;
          }
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

// ---- addresses ------------------------------------------------------------------------------------------------------

TEST_F(net_edges, listening_at_no_address_means_both_families) {
  if (!has_ipv6()) GTEST_SKIP() << "there is no ::1";
  runq::run([]() -> task<> {
    listener l = runq::net::listen_tcp("", 0);
    for (const char* const host : {"127.0.0.1", "::1"}) {
      stream client = co_await runq::net::connect_tcp(host, l.port());
      stream server = co_await l.accept();
      co_await write_text(server, host);
      const std::string got = co_await read_text(client, std::string(host).size());
      EXPECT_EQ(got, host);
    }
    EXPECT_EQ(error_of_call([&] { return runq::net::listen_tcp("", l.port()); }), EADDRINUSE);
  });
}

/// From now on this process sees a kernel without IPv6; other processes are not affected. False: that was not possible.
bool forbid_ipv6() {
#if defined(__x86_64__)
  sock_filter program[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, arch)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 0, 5),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_socket, 0, 3),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, args[0])),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AF_INET6, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EAFNOSUPPORT),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog filter{std::size(program), program};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0 &&
         socket(AF_INET6, SOCK_STREAM, 0) == -1;
#else
  return false;
#endif
}

TEST_F(net_edges_death, listening_at_no_address_means_ipv4_where_there_is_no_other) {
  constexpr int cannot = 77;
  const auto listen_in_child = [] {
    if (!forbid_ipv6()) {
      std::fputs("passed", stderr);
      std::_Exit(cannot);
    }
    runq::run([]() -> task<> {
      listener l = runq::net::listen_tcp("", 0);
      stream client = co_await runq::net::connect_tcp("127.0.0.1", l.port());
      const stream server = co_await l.accept();
      std::fputs("passed", stderr);
    });
    std::_Exit(0);
  };
  GTEST_FLAG_SET(death_test_style, sched_test::death_test_style);
  EXPECT_EXIT(
      listen_in_child(),
      [](int status) { return WIFEXITED(status) && (WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == cannot); },
      "passed");
}

// ---- streams that were moved from -----------------------------------------------------------------------------------

TEST_F(net_edges, a_stream_that_was_moved_from_says_so) {
  runq::run([]() -> task<> {
    auto [a, b] = runq::net::socket_pair();
    stream elsewhere = std::move(a);
    listener l = runq::net::listen_tcp("127.0.0.1", 0);
    listener moved = std::move(l);
    const auto soon = runq::clock::now() + 1h;
    // NOLINTBEGIN(bugprone-use-after-move): that is what is tested
    const auto expect_closed = [](auto f) {
      EXPECT_EQ(error_of_call([&] {
                  f();
                  return 0;
                }),
                ECANCELED);
    };
    expect_closed([&, &a = a] { a.set_deadline(soon); });
    expect_closed([&, &a = a] { a.set_read_deadline(soon); });
    expect_closed([&, &a = a] { a.set_write_deadline(soon); });
    expect_closed([&a = a] { a.shutdown_write(); });
    expect_closed([&] { l.set_deadline(soon); });
    expect_closed([&] { (void)l.port(); });
    const int reads = co_await error_of_read(a);
    const int writes = co_await error_of_write(a);
    const int accepts = co_await error_of(l.accept());
    EXPECT_EQ(reads, ECANCELED);
    EXPECT_EQ(writes, ECANCELED);
    EXPECT_EQ(accepts, ECANCELED);
    EXPECT_EQ(a.fd(), -1);
    a.close();
    l.close();
    // NOLINTEND(bugprone-use-after-move)
  });
}

// ---- descriptors that are not taken over ----------------------------------------------------------------------------

/// The error of a constructor that takes `fd` over; 0 if it has taken it.
template <class T>
int error_of_taking(int fd) {
  return error_of_call([fd] {
    const T taken(fd);
    return 0;
  });
}

TEST_F(net_edges, a_number_that_another_stream_has_stays_that_streams) {
  runq::run([]() -> task<> {
    auto [a, b] = runq::net::socket_pair();
    listener l = runq::net::listen_tcp("127.0.0.1", 0);
    for (const int fd : {a.fd(), l.fd()}) {
      EXPECT_EQ(error_of_taking<stream>(fd), EEXIST);
      EXPECT_EQ(error_of_taking<listener>(fd), EEXIST);
    }
    co_await write_text(a, "still");
    const std::string read = co_await read_text(b, 5);
    EXPECT_EQ(read, "still");
    co_await write_text(b, "here");
    const std::string answer = co_await read_text(a, 4);
    EXPECT_EQ(answer, "here");
    stream client = co_await runq::net::connect_tcp("127.0.0.1", l.port());
    const stream server = co_await l.accept();
    EXPECT_GE(server.fd(), 0);
  });
}

TEST_F(net_edges, a_closed_stream_does_nothing_to_the_stream_that_has_its_number_now) {
  runq::run([]() -> task<> {
    auto former = runq::net::socket_pair();
    const int number = former.first.fd();
    former.first.close();
    auto [a, b] = runq::net::socket_pair();
    EXPECT_EQ(a.fd(), number);
    std::error_code error;
    former.first.shutdown_write(error);
    EXPECT_EQ(error, std::errc::operation_canceled);
    co_await write_text(a, "still");
    const std::string read = co_await read_text(b, 5);
    EXPECT_EQ(read, "still");
  });
}

// Not even its flags have changed.
TEST_F(net_edges, a_descriptor_that_is_not_taken_over_is_the_callers_as_before) {
  const folder f;
  const int file = open(f.file("regular").c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600);
  ASSERT_GE(file, 0);
  const int flags = fcntl(file, F_GETFL);
  runq::run([file] {
    EXPECT_EQ(error_of_taking<stream>(file), EPERM);
    EXPECT_EQ(error_of_taking<listener>(file), EPERM);
    EXPECT_EQ(error_of_taking<stream>(-1), EBADF);
  });
  EXPECT_EQ(fcntl(file, F_GETFL), flags);
  int ends[2];
  ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
  const int flags_of_end = fcntl(ends[0], F_GETFL);
  const std::string outside = sched_test::misuse_of([&ends] { const stream s(ends[0]); });
  EXPECT_NE(outside, "(threw nothing)");
  EXPECT_NE(outside, "(threw something else)");
  EXPECT_EQ(fcntl(ends[0], F_GETFL), flags_of_end);
  for (const int fd : {file, ends[0], ends[1]}) EXPECT_EQ(close(fd), 0);
}

// A copy of the descriptor keeps the file open. The closed stream must not stay known to the kernel by it.
TEST_F(net_edges, S14_a_copy_of_a_closed_streams_descriptor_may_become_a_stream_with_the_same_number) {
  runq::run([]() -> task<> {
    auto ends = runq::net::pipe();
    const int number = ends.first.fd();
    const int copy = ::dup(number);
    EXPECT_GE(copy, 0);
    ends.first.close();
    EXPECT_EQ(::dup2(copy, number), number);
    ::close(copy);
    runq::net::stream again(number);
    co_await ends.second.write(sched_test::bytes_of("x"));
    const std::string got = co_await sched_test::read_text(again, 1);
    EXPECT_EQ(got, "x");
  });
}

TEST_F(net_edges, S14_a_listener_that_is_assigned_to_closes_what_it_had) {
  runq::run([]() -> task<> {
    listener l = runq::net::listen_tcp("127.0.0.1", 0);
    const std::uint16_t first = l.port();
    listener other = runq::net::listen_tcp("127.0.0.1", 0);
    const std::uint16_t second = other.port();
    l = std::move(other);
    EXPECT_EQ(l.port(), second);
    std::error_code error;
    EXPECT_FALSE((co_await runq::net::connect_tcp("127.0.0.1", first, error)).has_value());
    EXPECT_EQ(error.value(), ECONNREFUSED);
    listener& same = l;
    l = std::move(same);
    EXPECT_EQ(l.port(), second) << "assigned to itself";
  });
}

TEST_F(net_edges, S14_a_stream_that_is_assigned_to_itself_stays_open) {
  runq::run([]() -> task<> {
    auto ends = runq::net::pipe();
    stream& same = ends.first;
    ends.first = std::move(same);
    co_await ends.second.write(bytes_of("x"));
    const std::string got = co_await read_text(ends.first, 1);
    EXPECT_EQ(got, "x");
  });
}

TEST_F(net_edges, S14_what_is_no_socket_says_so) {
  runq::run([]() -> task<> {
    auto ends = runq::net::pipe();
    const auto error_of_call = [](auto call) {
      try {
        call();
      } catch (const std::system_error& e) {
        return e.code().value();
      }
      return 0;
    };
    EXPECT_EQ(error_of_call([&] { ends.second.shutdown_write(); }), ENOTSOCK);
    int numbers[2] = {-1, -1};
    EXPECT_EQ(::pipe(numbers), 0);
    ::close(numbers[1]);
    const listener no_socket(numbers[0]);
    EXPECT_EQ(error_of_call([&] { (void)no_socket.port(); }), ENOTSOCK);
    co_return;
  });
}

TEST_F(net_edges, S14_errors_of_names_have_a_category_of_their_own) {
  EXPECT_STREQ(runq::net::lookup_errors().name(), "runq::net::lookup");
}

// ---- what an operation asks before it does anything -----------------------------------------------------------------

// What could be done at once is left alone, after a request or a deadline.
TEST_F(net_edges, a_request_or_a_deadline_before_an_operation_ends_it_although_it_could_go_on) {
  runq::run([]() -> task<> {
    listener l = runq::net::listen_tcp("127.0.0.1", 0);
    stream there = co_await runq::net::connect_tcp("127.0.0.1", l.port());
    std::stop_source source;
    source.request_stop();
    std::error_code error;
    auto none = co_await l.accept(error, source.get_token());
    EXPECT_FALSE(none.has_value());
    EXPECT_EQ(error, std::errc::operation_canceled);
    l.set_deadline(runq::clock::time_point::min());
    none = co_await l.accept(error);
    EXPECT_FALSE(none.has_value());
    EXPECT_EQ(error, std::errc::timed_out);
    l.set_deadline(runq::clock::time_point::max());
    if (HasFailure()) co_return;  // there is no connection to accept any more
    stream here = co_await l.accept();
    co_await write_text(there, "x");
    const int reads = co_await error_of_read(here, source.get_token());
    EXPECT_EQ(reads, was_cancelled);
    const int writes = co_await error_of_write(here, 1, source.get_token());
    EXPECT_EQ(writes, was_cancelled);
    if (HasFailure()) co_return;  // there is nothing to read any more
    const std::string left = co_await read_text(here, 1);
    EXPECT_EQ(left, "x");
    here.close();
    const std::string written = co_await read_text(there, 1);
    EXPECT_EQ(written, "");
  });
}

// One task waits for data and another one for its turn, when data and the deadline come together.
TEST_F(net_edges, after_the_deadline_a_read_that_waited_takes_no_data) {
  runq::run(
      []() -> task<> {
        auto [a, b] = runq::net::socket_pair();
        log_of<int> errors;
        for (int i = 0; i != 2; ++i) {
          runq::go([&, &from = a]() -> task<> {
            const int error = co_await error_of_read(from);
            errors.note(error);
          });
        }
        co_await runq::yield();
        EXPECT_EQ(::write(b.fd(), "xy", 2), 2);
        a.set_deadline(runq::clock::time_point::min());
        for (int i = 0; i != 20; ++i) co_await runq::yield();
        EXPECT_THAT(errors.all(), testing::ElementsAre(ETIMEDOUT, ETIMEDOUT));
        if (HasFailure()) co_return;  // there is nothing to read any more
        a.set_deadline(runq::clock::time_point::max());
        const std::string got = co_await read_text(a, 2);
        EXPECT_EQ(got, "xy");
      },
      {.procs = 1});
}

TEST_F(net_edges, outside_a_task_no_operation_begins) {
  runq::run([]() -> task<> {
    auto [a, b] = runq::net::socket_pair();
    std::string text;
    std::thread outside([&, &to = a] {
      [](stream& s, std::string& what) -> sched_test::by_hand {
        try {
          co_await s.write(bytes_of("x"));
        } catch (const runq::misuse& error) {
          what = error.what();
        }
      }(to, text);
    });
    outside.join();
    EXPECT_EQ(text, "runq: only a task can wait; this thread runs none, or is in a blocking_section");
    a.close();
    const std::string written = co_await read_text(b, 1);
    EXPECT_EQ(written, "");
  });
}

TEST_F(net_edges, a_write_in_many_parts_says_how_much_it_has_written_in_all) {
  runq::run([]() -> task<> {
    auto [a, b] = runq::net::socket_pair();
    const std::vector<std::byte> bytes(2 * more_than_buffers);
    runq::channel<std::size_t> read(1);
    runq::go([&, &from = b]() -> task<> {
      const std::string got = co_await read_text(from, bytes.size());
      co_await read.send(got.size());
    });
    std::error_code error;
    const std::size_t written = co_await a.write(bytes, error);
    EXPECT_FALSE(error) << error.message();
    EXPECT_EQ(written, bytes.size());
    EXPECT_EQ(*co_await read.receive(), bytes.size());
  });
}

// Reads `count` times two bytes, each time one byte in vain, and then nothing.
task<> read_short(stream& from, int count, runq::wait_group& done) {
  std::array<std::byte, 2> two{};
  for (int i = 0; i != count; ++i) {
    const std::size_t got = co_await from.read(two);
    EXPECT_EQ(got, 1U);
  }
  const std::size_t nothing = co_await from.read({});
  EXPECT_EQ(nothing, 0U);
  done.done();
}

// A read that brings less than it asked for has emptied a pipe, so that the next one waits without asking the system:
// but not one of a pipe of packets, which ends where a packet does; and not one that wants nothing.
TEST_F(net_edges, a_short_read_hides_no_packet_and_a_read_of_nothing_does_not_wait) {
  runq::run(
      []() -> task<> {
        auto [from, to] = runq::net::pipe();
        int ends[2];
        EXPECT_EQ(::pipe2(ends, O_DIRECT | O_CLOEXEC), 0);
        stream packets(ends[0]);
        runq::wait_group done;
        done.add(2);
        runq::go([&, &bytes = from] { return read_short(bytes, 1, done); });
        runq::go([&] { return read_short(packets, 2, done); });
        co_await runq::yield();
        EXPECT_EQ(::write(to.fd(), "x", 1), 1);
        EXPECT_EQ(::write(ends[1], "a", 1), 1);
        EXPECT_EQ(::write(ends[1], "b", 1), 1);
        co_await done.wait();
        ::close(ends[1]);
      },
      {.procs = 1});
}

// ---- assigning ------------------------------------------------------------------------------------------------------

TEST_F(net_edges, S14_an_operation_in_progress_ends_when_its_stream_or_listener_is_assigned_to) {
  runq::run(
      []() -> task<> {
        auto [a, b] = runq::net::socket_pair();
        listener l = runq::net::listen_tcp("127.0.0.1", 0);
        log_of<int> errors;
        runq::go([&, &from = a]() -> task<> {
          const int error = co_await error_of_read(from);
          errors.note(error);
        });
        runq::go([&]() -> task<> {
          const int error = co_await error_of(l.accept());
          errors.note(error);
        });
        co_await runq::yield();
        a = std::move(b);
        l = runq::net::listen_tcp("127.0.0.1", 0);
        for (int i = 0; i != 20; ++i) co_await runq::yield();
        EXPECT_THAT(errors.all(), testing::ElementsAre(ECANCELED, ECANCELED));
      },
      {.procs = 1});
}

// ---- addresses ------------------------------------------------------------------------------------------------------

TEST_F(net_edges, a_port_may_be_listened_at_again_at_once) {
  runq::run([]() -> task<> {
    const listener l = runq::net::listen_tcp("127.0.0.1", 0);
    int on = 0;
    socklen_t size = sizeof on;
    EXPECT_EQ(getsockopt(l.fd(), SOL_SOCKET, SO_REUSEADDR, &on, &size), 0);
    EXPECT_EQ(on, 1);
    co_return;
  });
}

// This machine has the addresses ::1 and 127.0.0.1, in this order, and somebody listens at one of them only.
TEST_F(net_edges, the_first_address_that_answers_is_taken) {
  if (!has_ipv6()) GTEST_SKIP() << "this machine has no IPv6";
  runq::run([]() -> task<> {
    for (const char* const address : {"::1", "127.0.0.1"}) {
      const listener l = runq::net::listen_tcp(address, 0);
      std::error_code error;
      const auto there = co_await runq::net::connect_tcp("localhost", l.port(), error);
      EXPECT_TRUE(there.has_value()) << address << ": " << error.message();
    }
  });
}

TEST_F(net_edges, the_longest_path_of_a_unix_socket_has_107_bytes) {
  runq::run([]() -> task<> {
    const folder here;
    std::string path = here.file("");
    path.resize(107, 'x');
    std::error_code error;
    {
      const auto l = runq::net::listen_unix(path, error);
      EXPECT_TRUE(l.has_value()) << error.message();
      const auto there = co_await runq::net::connect_unix(path, error);
      EXPECT_TRUE(there.has_value()) << error.message();
    }
    EXPECT_FALSE(runq::net::listen_unix(path + "x", error).has_value());
    EXPECT_EQ(error, std::errc::filename_too_long);
  });
}

// A Unix socket whose queue of connections is full refuses the next one at once.
TEST_F(net_edges, a_unix_socket_that_has_too_many_connections_says_so) {
  runq::run([]() -> task<> {
    const folder here;
    const std::string path = here.file("full");
    const listener l = runq::net::listen_unix(path);
    EXPECT_EQ(::listen(l.fd(), 0), 0);  // room for one
    const stream there = co_await runq::net::connect_unix(path);
    std::error_code error;
    const auto none = co_await runq::net::connect_unix(path, error);
    EXPECT_FALSE(none.has_value());
    EXPECT_EQ(error, std::errc::resource_unavailable_try_again);
  });
}

}  // namespace
