// SPDX-License-Identifier: MIT
// A stack that frees the nodes that it takes while other threads may still read them.
// check: bounded
// check -DFREE: FAIL use after free
#include <atomic>
#include <thread>

struct node {
  int value;
  node* next;
};
std::atomic<node*> head{nullptr};
node* removed[2];

void push(int value) {
  auto* const n = new node{value, head.load(std::memory_order::relaxed)};
  while (!head.compare_exchange_weak(n->next, n, std::memory_order::release, std::memory_order::relaxed)) continue;
}
node* pop() {
  node* n = head.load(std::memory_order::acquire);
  while (n != nullptr && !head.compare_exchange_weak(n, n->next, std::memory_order::acquire)) continue;
  return n;
}

int main() {
  push(1);
  push(2);
  std::thread other([] {
    removed[0] = pop();
#ifdef FREE
    delete removed[0];
#endif
  });
  removed[1] = pop();
  other.join();
#ifdef FREE
  delete removed[1];
#else
  delete removed[0];
  delete removed[1];
#endif
}
