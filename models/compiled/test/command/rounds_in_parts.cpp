// SPDX-License-Identifier: MIT
// A search whose first part leaves out rounds of a loop that fail, and whose last part, which another process may
// explore, writes plainly to an atomic variable: together they ask for a search in which no round is left out.
#include <atomic>
#include <thread>

extern "C" int __VERIFIER_nondet_int();  // NOLINT: its name is given

constexpr auto relaxed = std::memory_order::relaxed;

std::atomic<int> count{0};

// So long that the other process has begun before the first part is explored.
[[gnu::noinline, gnu::no_sanitize("thread")]] void take_time() {
  for (int i = 0; i != 50'000'000; ++i) asm volatile("");
}

void add() {
  int expected = count.load(relaxed);
  while (!count.compare_exchange_strong(expected, expected + 1, relaxed, relaxed)) {
  }
}

int main() {
  const bool is_first_part = __VERIFIER_nondet_int() == 0;
  take_time();
  std::thread other([=] {
    if (is_first_part) {
      add();
    } else {
      *reinterpret_cast<int*>(&count) = 5;
    }
  });
  if (is_first_part) add();
  other.join();
  return 0;
}
