// SPDX-License-Identifier: MIT
// libfork with its own deque, or, compiled with `-include libfork_deque.hpp`, with ours. For each program
// it prints a line "PROGRAM NANOSECONDS", the time of one fork. hosts.py compares the two.
#include <cstddef>
#include <cstdlib>

#include <libfork/core.hpp>
#include <libfork/schedule.hpp>

#include "host_bench.hpp"

namespace {

constexpr std::size_t workers = 2;

// Fork and join: the naive Fibonacci numbers.
constexpr auto fibonacci = [](auto self, std::size_t n) -> lf::task<std::size_t> {
  if (n < 2) co_return n;
  std::size_t one = 0;
  std::size_t other = 0;
  co_await lf::fork(&one, self)(n - 1);
  co_await lf::call(&other, self)(n - 2);
  co_await lf::join;
  co_return one + other;
};

// Returns how many forks there were.
template <class Pool>
std::size_t fork_join(Pool& pool) {
  if (lf::sync_wait(pool, fibonacci, std::size_t{30}) != 832'040) std::abort();
  return 1'346'268;
}

template <class Pool>
void measure(const char* name) {
  Pool pool(workers);
  runq_hosts::measure(name, [&] { return fork_join(pool); });
}

}  // namespace

int main() {
  measure<lf::lazy_pool>("lazy_pool");
  measure<lf::busy_pool>("busy_pool");
}
