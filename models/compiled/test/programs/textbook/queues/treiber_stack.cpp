// SPDX-License-Identifier: MIT
// A stack by compare-exchange. A node that is pushed again at once allows ABA: same head, but another node below it.
// check: exhaustive, 2 executions
// check -DWRONG: FAIL data race
// check -DABA: FAIL assertion fails: taken
#include <atomic>
#include <cassert>
#include <thread>

#ifdef WRONG
constexpr auto publish = std::memory_order::relaxed;
#else
constexpr auto publish = std::memory_order::release;
#endif

struct node {
  std::atomic<node*> next{nullptr};
  int value = 0;
};
std::atomic<node*> head{nullptr};
node nodes[2];
std::atomic<int> taken[2];

void push(node* n) {
  node* below = head.load(std::memory_order::relaxed);
  do n->next.store(below, std::memory_order::relaxed);
  while (!head.compare_exchange_strong(below, n, publish, std::memory_order::relaxed));
}
node* pop() {
  node* top = head.load(std::memory_order::acquire);
  while (top != nullptr) {
    node* const below = top->next.load(std::memory_order::relaxed);
    if (head.compare_exchange_strong(top, below, std::memory_order::acquire, std::memory_order::acquire)) break;
  }
  return top;
}
void take() {
  if (node* const n = pop()) assert(taken[n - nodes].fetch_add(1, std::memory_order::relaxed) == 0);
}

int main() {
#ifdef ABA
  push(&nodes[1]);
  push(&nodes[0]);
  std::thread a(take);
  std::thread b([] {
    node* const first = pop();
    take();
    if (first != nullptr) push(first);
  });
  a.join();
  b.join();
  take();
#else
  std::thread a([] {
    nodes[0].value = 1;
    push(&nodes[0]);
  });
  std::thread b([] {
    if (const node* const n = pop()) assert(n->value == 1);
  });
  a.join();
  b.join();
#endif
}
