// SPDX-License-Identifier: MIT
// An owner works on the newest tasks while a thief takes the oldest.
#include "runq/chase_lev.hpp"

#include <atomic>
#include <cstdio>
#include <thread>

int main() {
  constexpr long count = 100'000;
  runq::chase_lev<long> deque;
  auto owner = deque.make_owner();
  std::atomic<bool> done{false};
  long stolen = 0;

  std::thread other([&, thief = deque.make_thief()] {
    while (!done.load(std::memory_order::acquire)) {
      if (const auto got = thief.steal()) {
        stolen += got.value;
      } else {
        std::this_thread::yield();
      }
    }
  });
  long popped = 0;
  for (long i = 1; i <= count; ++i) {
    if (!owner.push(i)) return 1;
    if (i % 2 == 0) popped += owner.pop().value_or(0);
  }
  while (const auto left = owner.pop()) popped += *left;
  done.store(true, std::memory_order::release);
  other.join();
  const long all = count * (count + 1) / 2;
  std::printf("the numbers 1 to %ld were pushed; their sum is %ld\n", count, all);
  std::printf("  the owner popped numbers with the sum %ld, the newest first\n", popped);
  std::printf("  the thief stole numbers with the sum %ld, the oldest first\n", stolen);
  std::printf("%s\n", popped + stolen == all ? "together they are the sum of all"
                                             : "together they are not: a number was lost, or taken twice");
  return popped + stolen == all ? 0 : 1;
}
