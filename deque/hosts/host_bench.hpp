// SPDX-License-Identifier: MIT
// How the hosts' benchmarks measure, and print what hosts.py reads: for each program a line "PROGRAM NANOSECONDS", the
// time of one task.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdio>

namespace runq_hosts {

/// Runs `program`, which returns how many tasks it had, and prints how long one took.
template <class Program>
void measure(const char* name, Program&& program) {
  const auto begin = std::chrono::steady_clock::now();
  const std::size_t tasks = program();
  const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - begin;
  std::printf("%s %.1f\n", name, took.count() / static_cast<double>(tasks));
}

}  // namespace runq_hosts
