// SPDX-License-Identifier: MIT
// What the candidates of the scheduler benchmark have in common: the command line, the clock, the checks.
//
// A candidate is a program `candidate ROW WORKERS N SECONDS`. It carries the row out, of size N, once to warm up and
// then until so many seconds are over (0: just once), checks each result, and prints one number, the mean. It
// ends with status 3 if it does not have the row. The rows:
//
//   fib        ns per fork of fib(N): one fork, one call, one join; no cutoff
//   skynet     ns per leaf of a tree with N leaves, ten children to a node
//   queens     ms for all placements of N queens, a task per partial placement
//   tree       ns per node of a lopsided tree with N nodes
//   spawn      ns per task: one task starts N and waits for all
//   forks      ns per fork: one task forks N children before one join
//   forks_grain   percent, as grain, of such forks, whose children are tasks of N ns
//   scope      ns per child: as forks, by the body of a scope, which joins them
//   pingpong   ns per round: two tasks, two channels, N rounds
//   yield      ns per yield: 1000 tasks yield N times each
//   grain      percent of the workers' time that went into the work, in tasks of N ns
//   grain_again   the same, the second time in a run of the scheduler: its threads exist already
//   all_run    µs until each worker of a new scheduler runs a task: one task starts the others, N is ignored
//   memory     resident bytes per task, N of which wait
//   idle       CPU ms per second while all tasks wait, over N ms
//   pipes      ns per round: two tasks, two pipes, 16 bytes there and back, N rounds
//   beside_yields   as pipes, beside a task that yields all the time
//   beside_waiters  ns per round beside N tasks that wait for ever: a task writes to a pipe and waits for a thread's
//              answer, which comes after 100 µs, so that all machines go idle
//   echo       ns per echo: 64 TCP connections in this process, 16 bytes there and back, N times each
//              (in pipes and echo, a reader has room for 1024 bytes, as if it did not know how much comes)
//   sleep      µs by which a sleep of 1 ms lasts too long: the median of N, one after the other
//   blocking   ms that 8 tasks take to make N calls each that block the thread for 1 ms
//   parked     CPU ms per second while N tasks wait for a socket each, over N / 10 ms
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <map>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <sys/resource.h>
#include <unistd.h>

namespace bench {

inline constexpr int no_such_row = 3;
inline constexpr long yield_tasks = 1000;
inline constexpr long echo_connections = 64;
inline constexpr std::size_t message_bytes = 16;
inline constexpr std::size_t room_bytes = 1024;
inline constexpr long blocking_tasks = 8;
inline constexpr long rounds_beside_waiters = 100;
inline constexpr std::chrono::microseconds answer_time{100};

[[nodiscard]] inline double now_ns() {
  return static_cast<double>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
          .count());
}

inline void require(bool right, const char* what) {
  if (right) return;
  std::fprintf(stderr, "wrong result: %s\n", what);
  std::exit(1);
}

/// Nanoseconds that f takes.
template <class F>
[[nodiscard]] double timed(F&& f) {
  const double begin = now_ns();
  f();
  return now_ns() - begin;
}

// ---- expected results -----------------------------------------------------------------------------------------------

[[nodiscard]] inline long fib_value(long n) {
  long a = 0;
  for (long b = 1; n > 0; --n) a = std::exchange(b, a + b);
  return a;
}
/// Calls of fib(n) that fork: those with an argument of at least 2.
[[nodiscard]] inline double fib_forks(long n) { return static_cast<double>(fib_value(n + 1) - 1); }
[[nodiscard]] inline long skynet_value(long leaves) { return leaves * (leaves - 1) / 2; }
[[nodiscard]] inline long queens_value(long n) {
  constexpr long known[] = {1, 1, 0, 0, 2, 10, 4, 40, 92, 352, 724, 2680, 14200, 73712};
  require(n >= 0 && n < 14, "number of queens");
  return known[n];
}

// ---- the computations -----------------------------------------------------------------------------------------------

/// A partial placement of queens, one per row, by columns.
struct board {
  signed char column[16] = {};
  [[nodiscard]] bool safe(long row, long col) const {
    for (long r = 0; r != row; ++r) {
      const long d = column[r] - col;
      if (d == 0 || d == row - r || d == r - row) return false;
    }
    return true;
  }
  [[nodiscard]] board with(long row, long col) const {
    board next = *this;
    next.column[row] = static_cast<signed char>(col);
    return next;
  }
};

/// How many of the nodes below a node of the lopsided tree go to its left: one or fifteen sixteenths, as a hash of its
/// number says. The left child's number is id + 1.
[[nodiscard]] inline long left_part(long below, long id) {
  const std::uint64_t hash = static_cast<std::uint64_t>(id) * 0x9e3779b97f4a7c15U;
  const long small = below / 16;
  return (hash >> 63U) != 0 ? small : below - small;
}

/// Work: so many dependent steps.
inline std::uint64_t work(long steps) {
  std::uint64_t x = 1;
  for (long i = 0; i != steps; ++i) x = x * 6364136223846793005U + 1442695040888963407U;
  return x;
}
inline std::uint64_t keep = 0;

/// The tasks of the row `grain`: their number, their steps, and how long all of them take without a scheduler.
struct grain {
  explicit grain(long ns) {
    constexpr long many = 1'000'000;
    double best = 1e18;
    for (int i = 0; i != 5; ++i) best = std::min(best, timed([] { keep += work(many); }));
    steps = std::max(1L, static_cast<long>(static_cast<double>(ns) * many / best));
    tasks = std::clamp(20'000'000 / ns, 200L, 200'000L);
    serial_ns = best / many * static_cast<double>(steps) * static_cast<double>(tasks);
  }
  [[nodiscard]] double percent(double wall_ns, unsigned workers) const { return 100 * serial_ns / wall_ns / workers; }
  long steps;
  long tasks;
  double serial_ns;
};

[[nodiscard]] inline double resident_bytes() {
  std::FILE* const f = std::fopen("/proc/self/statm", "r");
  long size = 0;
  long resident = 0;
  require(f != nullptr && std::fscanf(f, "%ld %ld", &size, &resident) == 2, "/proc/self/statm");
  std::fclose(f);
  return static_cast<double>(resident * sysconf(_SC_PAGESIZE));
}

[[nodiscard]] inline double cpu_ms() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) * 1e3 + static_cast<double>(t.tv_nsec) / 1e6;
}
/// CPU ms per second of this process while the calling thread sleeps. This includes some 0.03 ms for the calling
/// thread's own falling asleep and waking up, so `ms` should be some thousands.
[[nodiscard]] inline double idle_cpu(long ms) {
  std::this_thread::sleep_for(std::chrono::milliseconds(std::min(ms, 300L)));  // until spinners have gone to sleep
  const double before = cpu_ms();
  std::this_thread::sleep_for(std::chrono::milliseconds(ms));
  return (cpu_ms() - before) * 1e3 / static_cast<double>(ms);
}

[[nodiscard]] inline double median(std::vector<double>& of) {
  const auto middle = of.begin() + static_cast<std::ptrdiff_t>(of.size() / 2);
  std::nth_element(of.begin(), middle, of.end());
  return *middle;
}

/// Lets this process have as many descriptors as the system allows.
inline void raise_descriptor_limit() {
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

// ---- the program ----------------------------------------------------------------------------------------------------

using row = std::function<double(unsigned workers, long n)>;

inline int run(int argc, char** argv, const std::map<std::string, row>& rows) {
  if (argc != 5) {
    std::fprintf(stderr, "usage: %s ROW WORKERS N SECONDS\nrows:", argv[0]);
    for (const auto& [name, function] : rows) std::fprintf(stderr, " %s", name.c_str());
    std::fprintf(stderr, "\n");
    return 2;
  }
  const auto chosen = rows.find(argv[1]);
  if (chosen == rows.end()) return no_such_row;
  const auto workers = static_cast<unsigned>(std::strtoul(argv[2], nullptr, 10));
  const long n = std::strtol(argv[3], nullptr, 10);
  const double limit_ns = std::strtod(argv[4], nullptr) * 1e9;
  const bool once = chosen->first == "memory" || chosen->first == "started" || chosen->first == "idle" ||
                    chosen->first == "parked" || chosen->first == "beside_waiters";
  const bool by_time = limit_ns > 0 && !once;
  if (by_time) static_cast<void>(chosen->second(workers, n));
  double sum = 0;
  int times = 0;
  const double begin = now_ns();
  do {
    sum += chosen->second(workers, n);
    ++times;
  } while (by_time && now_ns() - begin < limit_ns);
  std::printf("%.4f\n", sum / times);
  return 0;
}

}  // namespace bench
