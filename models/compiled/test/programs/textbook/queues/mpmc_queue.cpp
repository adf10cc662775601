// SPDX-License-Identifier: MIT
// Vyukov's bounded queue: many producers, many consumers. Each slot has a turn: 2n is "empty, for round n", 2n + 1
// "full". The thread that wins a position by compare-exchange owns the slot until it sets the next turn, and that store
// publishes the contents.
// check: exhaustive, 29 executions
// check -DWRONG: FAIL data race
// check -DWRONG_EMPTIED: FAIL data race
#include <atomic>
#include <cassert>
#include <thread>

constexpr auto relaxed = std::memory_order::relaxed;
#ifdef WRONG
constexpr auto filled = std::memory_order::relaxed;
#else
constexpr auto filled = std::memory_order::release;
#endif
#ifdef WRONG_EMPTIED
constexpr auto emptied = std::memory_order::relaxed;
#else
constexpr auto emptied = std::memory_order::release;
#endif

struct slot {
  std::atomic<unsigned> turn{0};
  int value = 0;
};
constexpr unsigned capacity = 1;
slot slots[capacity];
std::atomic<unsigned> head{0}, tail{0};

bool push(int value) {
  unsigned t = tail.load(relaxed);
  slot& s = slots[t % capacity];
  if (s.turn.load(std::memory_order::acquire) != t / capacity * 2) return false;  // full
  if (!tail.compare_exchange_strong(t, t + 1, relaxed)) return false;             // another was faster
  s.value = value;
  s.turn.store(t / capacity * 2 + 1, filled);
  return true;
}
int pop() {
  unsigned h = head.load(relaxed);
  slot& s = slots[h % capacity];
  if (s.turn.load(std::memory_order::acquire) != h / capacity * 2 + 1) return 0;  // empty
  if (!head.compare_exchange_strong(h, h + 1, relaxed)) return 0;
  const int value = s.value;
  s.turn.store(h / capacity * 2 + 2, emptied);
  return value;
}

int main() {
  int pushed = 0, popped = 0;
  std::thread producer([&pushed] {
    for (int i = 1; i != 3; ++i) pushed += push(i) ? i : 0;
  });
  std::thread consumer([&popped] { popped += pop(); });
  const int mine = pop();
  producer.join();
  consumer.join();
  assert(pushed == popped + mine + pop());
}
