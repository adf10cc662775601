// SPDX-License-Identifier: MIT
// A ring with one producer and one consumer.
// check: exhaustive, 6 executions
// check -DWRONG: FAIL data race
// check -DWRONG_FREE: FAIL data race
#include <atomic>
#include <cassert>
#include <thread>

#ifdef WRONG
constexpr auto filled = std::memory_order::relaxed;
#else
constexpr auto filled = std::memory_order::release;
#endif
#ifdef WRONG_FREE
constexpr auto emptied = std::memory_order::relaxed;
#else
constexpr auto emptied = std::memory_order::release;
#endif

int slots[1];
std::atomic<unsigned> head{0}, tail{0};

bool push(int value) {
  const unsigned t = tail.load(std::memory_order::relaxed);
  if (t - head.load(std::memory_order::acquire) == 1) return false;
  slots[0] = value;
  tail.store(t + 1, filled);
  return true;
}
bool pop(int& value) {
  const unsigned h = head.load(std::memory_order::relaxed);
  if (tail.load(std::memory_order::acquire) == h) return false;
  value = slots[0];
  head.store(h + 1, emptied);
  return true;
}

int main() {
  std::thread producer([] {
    push(1);
    push(2);
  });
  int last = 0;
  for (int i = 0; i != 2; ++i) {
    int value = 0;
    if (!pop(value)) continue;
    assert(value == last + 1);
    last = value;
  }
  producer.join();
}
