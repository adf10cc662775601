// SPDX-License-Identifier: MIT
// A stack that is safe from ABA: next to the top node, the head holds a number that changes with every pop. A
// compare-exchange of both fails if the head was changed and changed back. (treiber_stack shows what happens without
// the number.)
// check: exhaustive, 7 executions
// check --skip-retries off: exhaustive, 18 executions
// check -DWRONG: FAIL assertion fails: taken
#include <atomic>
#include <cassert>
#include <cstdint>
#include <thread>

constexpr auto relaxed = std::memory_order::relaxed;
#ifdef WRONG
constexpr std::uint32_t step = 0;
#else
constexpr std::uint32_t step = 1;
#endif

struct top {
  std::uint32_t node;  // 0: none
  std::uint32_t tag;
};
std::atomic<top> head{top{0, 0}};
std::atomic<std::uint32_t> below[3];
std::atomic<int> taken[3];

void push(std::uint32_t node) {
  top old = head.load(relaxed);
  do below[node].store(old.node, relaxed);
  while (!head.compare_exchange_strong(old, top{node, old.tag}, std::memory_order::release, relaxed));
}
std::uint32_t pop() {
  top old = head.load(std::memory_order::acquire);
  while (old.node != 0) {
    const top next{below[old.node].load(relaxed), old.tag + step};
    if (head.compare_exchange_strong(old, next, std::memory_order::acquire, std::memory_order::acquire)) break;
  }
  return old.node;
}
void take() {
  if (const std::uint32_t node = pop()) assert(taken[node].fetch_add(1, relaxed) == 0);
}

int main() {
  push(1);
  push(2);
  std::thread a(take);
  std::thread b([] {
    const std::uint32_t first = pop();
    take();
    if (first != 0) push(first);
  });
  a.join();
  b.join();
  take();
}
