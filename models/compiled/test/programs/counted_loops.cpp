// SPDX-License-Identifier: MIT
// A loop that reads the same value a fixed number of times. What follows it is explored if the rounds are few enough.
// check -DROUNDS=200: FAIL assertion
// check -DROUNDS=300: bounded; unless it ends within 4 rounds or by its count within 256 reads
// check -DROUNDS=300 --every-iteration: FAIL assertion
// check -DROUNDS=6 -DALWAYS -DNEW_VALUES: FAIL assertion
// check -DROUNDS=6 -DALWAYS -DNEW_VALUES --rounds 3: bounded; unless it ends within 3 rounds
// check -DROUNDS=300 -DALWAYS: a loop that waits and counts unless it ends within 4 rounds
#include <atomic>
#include <cassert>
#include <thread>

std::atomic<int> flag{0};
std::atomic<int> value{0};

// Not inlined: a compiler that unrolls the loop would make several reads of one.
[[gnu::noinline]] int look() { return value.load(std::memory_order::relaxed); }

int main() {
  std::thread other([] {
    flag.store(1, std::memory_order::relaxed);
#ifdef NEW_VALUES
    value.store(1, std::memory_order::relaxed);
    value.store(2, std::memory_order::relaxed);
#endif
  });
#if !defined(ALWAYS)
  if (flag.load(std::memory_order::relaxed) == 1)
#endif
  {
#ifdef NEW_VALUES
    // Rounds are counted from the first one that reads a value: four of them may read 1 after two have read 0.
    int seen = 0;
    for (int i = 0; i != ROUNDS; ++i) seen = 10 * seen + look();
    assert(seen != 1112);
#else
    int sum = 0;
    for (int i = 0; i != ROUNDS; ++i) sum += look();
    assert(sum == 1);
#endif
  }
  other.join();
}
