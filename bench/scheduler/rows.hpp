// SPDX-License-Identifier: MIT
// What the candidates of the scheduler benchmark have in common: the command line, the sizes, the clock, the check.
//
// A candidate is a program `candidate ROW WORKERS` that carries out a row once to warm up and once with the clock,
// checks the result, and prints one number: nanoseconds per operation, or what the row counts. A row it does not have:
// status 3.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <string>

namespace bench {

inline constexpr int fib_n = 27;
inline constexpr long fib_value = 196418;
inline constexpr double fib_forks = 317810;  // calls with n >= 2: one fork each
inline constexpr long skynet_leaves = 1'000'000;
inline constexpr long skynet_value = 499'999'500'000;
inline constexpr int spawns = 1'000'000;
inline constexpr int ping_rounds = 500'000;
inline constexpr int yield_tasks = 1000;
inline constexpr int yields_each = 500;
inline constexpr int queens = 11;
inline constexpr long queens_value = 2680;
inline constexpr int blocked_tasks = 200'000;

inline constexpr int no_such_row = 3;

[[nodiscard]] inline double now_ns() {
  return static_cast<double>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
          .count());
}

inline void require(bool ok, const char* what) {
  if (ok) return;
  std::fprintf(stderr, "wrong result: %s\n", what);
  std::exit(1);
}

/// Resident bytes of this process.
[[nodiscard]] inline double resident_bytes() {
  std::FILE* const f = std::fopen("/proc/self/statm", "r");
  long size = 0;
  long resident = 0;
  if (f == nullptr || std::fscanf(f, "%ld %ld", &size, &resident) != 2) std::exit(1);
  std::fclose(f);
  return static_cast<double>(resident) * 4096;
}

/// A row returns its figure; it is called twice, and the second one counts.
using rows = std::map<std::string, std::function<double(unsigned workers)>>;

inline int run(int argc, char** argv, const rows& all) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: %s ROW WORKERS\nrows:", argv[0]);
    for (const auto& [name, row] : all) std::fprintf(stderr, " %s", name.c_str());
    std::fprintf(stderr, "\n");
    return 2;
  }
  const auto row = all.find(argv[1]);
  if (row == all.end()) return no_such_row;
  const unsigned workers = static_cast<unsigned>(std::strtoul(argv[2], nullptr, 10));
  if (row->first != "memory" && row->first != "idle") (void)row->second(workers);
  std::printf("%.2f\n", row->second(workers));
  return 0;
}

/// A partial placement of queens, one per row, by columns.
struct board {
  signed char column[16] = {};
  [[nodiscard]] bool safe(int row, int col) const {
    for (int r = 0; r != row; ++r) {
      const int d = column[r] - col;
      if (d == 0 || d == row - r || d == r - row) return false;
    }
    return true;
  }
};

}  // namespace bench
