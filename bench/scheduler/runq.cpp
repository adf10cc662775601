// SPDX-License-Identifier: MIT
// The scheduler benchmark: this project. Built twice: with the run queues, and with one global queue and nothing per
// processor. RUNQ_FORKS=child|task in the environment chooses what a fork does, RUNQ_THREADS=at_once that the threads
// exist before the first task.
#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <runq/runq.hpp>
#include <unistd.h>

#include "rows.hpp"

namespace {

using runq::fork;
using runq::join;
using runq::task;

runq::options with(unsigned workers) {
  runq::options o;
  o.procs = workers;
  const char* const wanted = std::getenv("RUNQ_FORKS");
  const std::string_view policy = wanted == nullptr ? "" : wanted;
  if (policy == "child") o.forks = runq::fork_policy::child;
  if (policy == "task") o.forks = runq::fork_policy::task;
  const char* const threads = std::getenv("RUNQ_THREADS");
  o.threads_at_once = threads != nullptr && std::string_view(threads) == "at_once";
  return o;
}

// The time of the main task, without the time of making a scheduler.
template <class F>
double timed_in(unsigned workers, F body) {
  runq::scheduler s(with(workers));
  double ns = 0;
  s.run([&]() -> task<> {
    const double begin = bench::now_ns();
    co_await body();
    ns = bench::now_ns() - begin;
  });
  return ns;
}

task<long> fib(long n) {
  if (n < 2) co_return n;
  auto a = co_await fork(fib(n - 1));
  const long b = co_await fib(n - 2);
  co_await join();
  co_return a.get() + b;
}

double fib_row(unsigned workers, long n) {
  return timed_in(workers, [n]() -> task<> { bench::require(co_await fib(n) == bench::fib_value(n), "fib"); }) /
         bench::fib_forks(n);
}

task<> skynet(long first, long leaves, long* sum) {
  if (leaves == 1) {
    *sum = first;
    co_return;
  }
  long sums[10];
  for (int i = 0; i != 10; ++i) co_await fork(skynet(first + i * (leaves / 10), leaves / 10, &sums[i]));
  co_await join();
  long total = 0;
  for (const long part : sums) total += part;
  *sum = total;
}

double skynet_row(unsigned workers, long leaves) {
  const auto body = [leaves]() -> task<> {
    long sum = 0;
    co_await fork(skynet(0, leaves, &sum));
    co_await join();
    bench::require(sum == bench::skynet_value(leaves), "skynet");
  };
  return timed_in(workers, body) / static_cast<double>(leaves);
}

task<> queens(bench::board b, long n, long row, long* solutions) {
  if (row == n) {
    *solutions = 1;
    co_return;
  }
  long found[16] = {};
  for (long col = 0; col != n; ++col) {
    if (b.safe(row, col)) co_await fork(queens(b.with(row, col), n, row + 1, &found[col]));
  }
  co_await join();
  long total = 0;
  for (const long some : found) total += some;
  *solutions = total;
}

double queens_row(unsigned workers, long n) {
  const auto body = [n]() -> task<> {
    long solutions = 0;
    co_await queens({}, n, 0, &solutions);
    bench::require(solutions == bench::queens_value(n), "queens");
  };
  return timed_in(workers, body) / 1e6;
}

task<long> tree(long nodes, long id) {
  if (nodes == 0) co_return 0;
  if (nodes == 1) co_return 1;
  const long left = bench::left_part(nodes - 1, id);
  auto a = co_await fork(tree(left, id + 1));
  const long b = co_await tree(nodes - 1 - left, id + 1 + left);
  co_await join();
  co_return a.get() + b + 1;
}

double tree_row(unsigned workers, long nodes) {
  return timed_in(workers, [nodes]() -> task<> { bench::require(co_await tree(nodes, 1) == nodes, "tree"); }) /
         static_cast<double>(nodes);
}

task<> counts(std::atomic<long>& counter) {
  counter.fetch_add(1, std::memory_order::relaxed);
  co_return;
}

double forks_row(unsigned workers, long n) {
  const auto body = [n]() -> task<> {
    std::atomic<long> done{0};
    for (long i = 0; i != n; ++i) co_await fork(counts(done));
    co_await join();
    bench::require(done == n, "forks");
  };
  return timed_in(workers, body) / static_cast<double>(n);
}

task<> works(std::atomic<long>& counter, long steps) {
  counter.fetch_add(bench::work(steps) != 0 ? 1 : 0, std::memory_order::relaxed);
  co_return;
}

double forks_grain_row(unsigned workers, long ns) {
  const bench::grain g(ns);
  const auto body = [&]() -> task<> {
    std::atomic<long> done{0};
    for (long i = 0; i != g.tasks; ++i) co_await fork(works(done, g.steps));
    co_await join();
    bench::require(done == g.tasks, "forks_grain");
  };
  return g.percent(timed_in(workers, body), workers);
}

double scope_row(unsigned workers, long n) {
  const auto body = [n]() -> task<> {
    std::atomic<long> done{0};
    const auto forks_all = [n, &done](runq::scope& s) -> task<> {
      for (long i = 0; i != n; ++i) co_await s.fork(counts(done));
    };
    co_await runq::with_scope(forks_all);
    bench::require(done == n, "scope");
  };
  return timed_in(workers, body) / static_cast<double>(n);
}

double spawn_row(unsigned workers, long n) {
  // The tasks write these, so they lie beside nothing that the main task's loop uses: not in its frame, where the loop
  // keeps its counter. The other candidates have that in a register.
  struct alignas(2 * runq::cache_line) {
    std::atomic<long> done{0};
    runq::wait_group group;
  } counters;
  const auto body = [n, counters = &counters]() -> task<> {
    auto& [done, group] = *counters;
    group.add(n);
    for (long i = 0; i != n; ++i) {
      runq::go([counters] {
        counters->done.fetch_add(1, std::memory_order::relaxed);
        counters->group.done();
      });
    }
    co_await group.wait();
    bench::require(done == n, "spawn");
  };
  return timed_in(workers, body) / static_cast<double>(n);
}

double pingpong_row(unsigned workers, long rounds) {
  const auto body = [rounds]() -> task<> {
    runq::channel<long> there;
    runq::channel<long> back;
    runq::go([&]() -> task<> {
      while (const auto n = co_await there.receive()) co_await back.send(*n + 1);
      back.close();
    });
    for (long i = 0; i != rounds; ++i) {
      co_await there.send(i);
      bench::require(*co_await back.receive() == i + 1, "pingpong");
    }
    there.close();
    static_cast<void>(co_await back.receive());
  };
  return timed_in(workers, body) / static_cast<double>(rounds);
}

double yield_row(unsigned workers, long each) {
  const auto body = [each]() -> task<> {
    runq::wait_group group;
    group.add(bench::yield_tasks);
    for (long i = 0; i != bench::yield_tasks; ++i) {
      runq::go([&]() -> task<> {
        for (long k = 0; k != each; ++k) co_await runq::yield();
        group.done();
      });
    }
    co_await group.wait();
  };
  return timed_in(workers, body) / static_cast<double>(bench::yield_tasks * each);
}

task<> grain_once(const bench::grain& g) {
  std::atomic<long> done{0};
  runq::wait_group group;
  group.add(g.tasks);
  for (long i = 0; i != g.tasks; ++i) {
    runq::go([&] {
      done.fetch_add(bench::work(g.steps) != 0 ? 1 : 0, std::memory_order::relaxed);
      group.done();
    });
  }
  co_await group.wait();
  bench::require(done == g.tasks, "grain");
}

double grain_row(unsigned workers, long ns) {
  const bench::grain g(ns);
  return g.percent(timed_in(workers, [&]() -> task<> { co_await grain_once(g); }), workers);
}

double grain_again_row(unsigned workers, long ns) {
  const bench::grain g(ns);
  double wall = 0;
  static_cast<void>(timed_in(workers, [&]() -> task<> {
    co_await grain_once(g);
    const double begin = bench::now_ns();
    co_await grain_once(g);
    wall = bench::now_ns() - begin;
  }));
  return g.percent(wall, workers);
}

// Each task keeps its worker until all have begun.
double all_run_row(unsigned workers, long /*n*/) {
  const auto body = [workers]() -> task<> {
    std::atomic<unsigned> running{1};
    runq::wait_group group;
    const auto keep = [workers, &running] {
      ++running;
      while (running != workers) std::this_thread::yield();
    };
    group.add(workers - 1);
    for (unsigned i = 1; i != workers; ++i) {
      runq::go([&] {
        keep();
        group.done();
      });
    }
    while (running != workers) std::this_thread::yield();
    co_await group.wait();
  };
  return timed_in(workers, body) / 1e3;
}

double memory_row(unsigned workers, long n) {
  double bytes = 0;
  static_cast<void>(timed_in(workers, [&]() -> task<> {
    runq::channel<int> never;
    runq::wait_group begun;
    const double before = bench::resident_bytes();
    begun.add(n);
    for (long i = 0; i != n; ++i) {
      runq::go([&]() -> task<> {
        begun.done();
        static_cast<void>(co_await never.receive());
      });
    }
    co_await begun.wait();
    bytes = (bench::resident_bytes() - before) / static_cast<double>(n);
    never.close();
  }));
  return bytes;
}

// One worker: no task runs before the main task waits.
double started_row(unsigned workers, long n) {
  double bytes = 0;
  static_cast<void>(timed_in(workers, [&]() -> task<> {
    runq::wait_group group;
    group.add(n);
    const double before = bench::resident_bytes();
    for (long i = 0; i != n; ++i) runq::go([&group] { group.done(); });
    bytes = (bench::resident_bytes() - before) / static_cast<double>(n);
    co_await group.wait();
  }));
  return bytes;
}

double idle_row(unsigned workers, long ms) {
  runq::scheduler s(with(workers));
  const auto keep = s.attach();
  for (unsigned i = 0; i != workers; ++i) keep.go([] {});
  return bench::idle_cpu(ms);
}

// ---- descriptors and time -------------------------------------------------------------------------------------------

using runq::net::stream;

/// Sends back what it receives, until the end of the stream.
task<> echo(stream& from, stream& to) {
  std::byte buffer[bench::room_bytes];
  while (const std::size_t n = co_await from.read(buffer)) co_await to.write(std::span(buffer).first(n));
  to.close();
}

/// Sends, waits for the answer, and repeats.
task<> ask(stream& from, stream& to, long times) {
  for (long i = 0; i != times; ++i) {
    const long sent[2] = {i, ~i};
    static_assert(sizeof sent == bench::message_bytes);
    co_await to.write(std::as_bytes(std::span(sent)));
    std::byte buffer[bench::room_bytes];
    std::size_t have = 0;
    while (have < sizeof sent) {
      const std::size_t n = co_await from.read(std::span(buffer).subspan(have));
      bench::require(n != 0, "the end of a stream");
      have += n;
    }
    bench::require(have == sizeof sent && std::memcmp(buffer, sent, sizeof sent) == 0, "echo");
  }
  to.close();
}

double pipes_row(unsigned workers, long rounds) {
  const auto body = [rounds]() -> task<> {
    auto there = runq::net::pipe();
    auto back = runq::net::pipe();
    runq::wait_group group;
    group.add(1);
    runq::go([&]() -> task<> {
      co_await echo(there.first, back.second);
      group.done();
    });
    co_await ask(back.first, there.second, rounds);
    co_await group.wait();
  };
  return timed_in(workers, body) / static_cast<double>(rounds);
}

double beside_yields_row(unsigned workers, long rounds) {
  const auto body = [rounds]() -> task<> {
    auto there = runq::net::pipe();
    auto back = runq::net::pipe();
    bool over = false;
    runq::wait_group group;
    group.add(2);
    runq::go([&]() -> task<> {
      co_await echo(there.first, back.second);
      group.done();
    });
    runq::go([&]() -> task<> {
      while (!std::atomic_ref(over).load(std::memory_order::relaxed)) co_await runq::yield();
      group.done();
    });
    co_await ask(back.first, there.second, rounds);
    std::atomic_ref(over).store(true, std::memory_order::relaxed);
    co_await group.wait();
  };
  return timed_in(workers, body) / static_cast<double>(rounds);
}

/// Sends back what it receives, until the end, but so late that the machine that waits for it has gone idle.
void echo_by_thread(int from, int to) {
  char buffer[bench::room_bytes];
  for (;;) {
    const ssize_t n = read(from, buffer, sizeof buffer);
    if (n <= 0) break;
    std::this_thread::sleep_for(bench::answer_time);
    bench::require(write(to, buffer, static_cast<std::size_t>(n)) == n, "a write to a pipe");
  }
  close(from);
  close(to);
}

double beside_waiters_row(unsigned workers, long n) {
  runq::scheduler s(with(workers));
  double ns = 0;
  int there[2];
  int back[2];
  bench::require(pipe(there) == 0 && pipe(back) == 0, "two pipes");
  std::thread other(echo_by_thread, there[0], back[1]);
  s.run([&]() -> task<> {
    runq::channel<int> never;
    runq::wait_group begun;
    begun.add(n);
    for (long i = 0; i != n; ++i) {
      runq::go([&]() -> task<> {
        begun.done();
        static_cast<void>(co_await never.receive());
      });
    }
    co_await begun.wait();
    stream from(back[0]);
    stream to(there[1]);
    const double begin = bench::now_ns();
    co_await ask(from, to, bench::rounds_beside_waiters);
    ns = bench::now_ns() - begin;
    never.close();
  });
  other.join();
  return ns / bench::rounds_beside_waiters;
}

double echo_row(unsigned workers, long each) {
  runq::scheduler s(with(workers));
  double ns = 0;
  s.run([&]() -> task<> {
    auto listener = runq::net::listen_tcp("127.0.0.1", 0);
    std::vector<stream> clients;
    std::vector<stream> servers;
    runq::wait_group group;
    for (long i = 0; i != bench::echo_connections; ++i) {
      clients.push_back(co_await runq::net::connect_tcp("127.0.0.1", listener.port()));
      servers.push_back(co_await listener.accept());
    }
    group.add(2 * bench::echo_connections);
    const double begin = bench::now_ns();
    for (stream& server : servers) {
      runq::go([&]() -> task<> {
        co_await echo(server, server);
        group.done();
      });
    }
    for (stream& client : clients) {
      runq::go([&]() -> task<> {
        co_await ask(client, client, each);
        group.done();
      });
    }
    co_await group.wait();
    ns = bench::now_ns() - begin;
  });
  return ns / static_cast<double>(bench::echo_connections * each);
}

double sleep_row(unsigned workers, long times) {
  std::vector<double> late_us;
  static_cast<void>(timed_in(workers, [&]() -> task<> {
    for (long i = 0; i != times; ++i) {
      const double begin = bench::now_ns();
      co_await runq::sleep_for(std::chrono::milliseconds(1));
      late_us.push_back((bench::now_ns() - begin - 1e6) / 1e3);
    }
  }));
  return bench::median(late_us);
}

double blocking_row(unsigned workers, long each) {
  const auto body = [each]() -> task<> {
    runq::wait_group group;
    group.add(bench::blocking_tasks);
    for (long i = 0; i != bench::blocking_tasks; ++i) {
      runq::go([&]() -> task<> {
        for (long k = 0; k != each; ++k) {
          co_await runq::blocking([] { std::this_thread::sleep_for(std::chrono::milliseconds(1)); });
        }
        group.done();
      });
    }
    co_await group.wait();
  };
  return timed_in(workers, body) / 1e6;
}

double parked_row(unsigned workers, long n) {
  bench::raise_descriptor_limit();
  double cpu = 0;
  static_cast<void>(timed_in(workers, [&]() -> task<> {
    std::vector<std::pair<stream, stream>> sockets;
    runq::wait_group group;
    for (long i = 0; i != n / 2; ++i) sockets.push_back(runq::net::socket_pair());
    group.add(2 * (n / 2));
    const auto wait = [&](stream& s) -> task<> {
      std::byte b{};
      bench::require(co_await s.read(std::span(&b, 1)) == 0, "parked");
      group.done();
    };
    for (auto& [a, b] : sockets) {
      runq::go(wait(a));
      runq::go(wait(b));
    }
    // Blocks this thread, for which there is no other task: the row measures the other threads and the monitor.
    cpu = co_await runq::blocking([n] { return bench::idle_cpu(n / 4); });
    for (auto& [a, b] : sockets) {
      a.shutdown_write();
      b.shutdown_write();
    }
    co_await group.wait();
  }));
  return cpu;
}

}  // namespace

int main(int argc, char** argv) {
  return bench::run(argc, argv,
                    {{"fib", fib_row},
                     {"skynet", skynet_row},
                     {"queens", queens_row},
                     {"tree", tree_row},
                     {"forks", forks_row},
                     {"forks_grain", forks_grain_row},
                     {"scope", scope_row},
                     {"spawn", spawn_row},
                     {"pingpong", pingpong_row},
                     {"yield", yield_row},
                     {"grain", grain_row},
                     {"grain_again", grain_again_row},
                     {"all_run", all_run_row},
                     {"memory", memory_row},
                     {"started", started_row},
                     {"idle", idle_row},
                     {"pipes", pipes_row},
                     {"beside_yields", beside_yields_row},
                     {"beside_waiters", beside_waiters_row},
                     {"echo", echo_row},
                     {"sleep", sleep_row},
                     {"blocking", blocking_row},
                     {"parked", parked_row}});
}
