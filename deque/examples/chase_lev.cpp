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
  std::printf("popped %ld, stolen %ld\n", popped, stolen);
  return popped + stolen == count * (count + 1) / 2 ? 0 : 1;
}
