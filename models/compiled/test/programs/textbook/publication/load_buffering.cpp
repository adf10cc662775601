// SPDX-License-Identifier: MIT
// Load buffering: each thread reads one variable, then writes the other. May each read what the other writes later?
// With relaxed order C++20 says yes: a processor may carry out the read after the write. With acquire and release it
// may not. This is the one thing that the checker leaves out by itself, and every verdict says so; `--load-buffering`
// adds it.
// check: exhaustive, 3 executions
// check --load-buffering: exhaustive, 3 executions
// check -DWRONG: exhaustive, 3 executions
// check --load-buffering -DWRONG: FAIL assertion fails
// check --load-buffering -DWRONG -DDEPENDS: exhaustive, 1 execution
#include <atomic>
#include <cassert>
#include <thread>

#ifdef WRONG
constexpr auto reading = std::memory_order::relaxed;
constexpr auto writing = std::memory_order::relaxed;
#else
constexpr auto reading = std::memory_order::acquire;
constexpr auto writing = std::memory_order::release;
#endif

#ifdef DEPENDS  // a write that happens only if something was read cannot come before that read
bool goes_on(int seen) { return seen == 1; }
#else
bool goes_on(int) { return true; }
#endif

std::atomic<int> x{0}, y{0};

int main() {
  int a = 0, b = 0;
  std::thread one([&a] {
    a = x.load(reading);
    if (goes_on(a)) y.store(1, writing);
  });
  std::thread two([&b] {
    b = y.load(reading);
    if (goes_on(b)) x.store(1, writing);
  });
  one.join();
  two.join();
  assert(!(a == 1 && b == 1));
}
