// SPDX-License-Identifier: MIT
// A stack that frees the nodes that it takes while other threads may still read them.
// check: exhaustive, 4 executions
// check --spurious 0: bounded; spurious failures of weak compare-exchanges (--spurious N)
// check -DFREE: FAIL use after free
// check -DBESIDE: FAIL use after free: memory is freed while in use: atomically by T1
// check -DBESIDE -DLOADED: FAIL use after free: memory is freed while in use: atomically by T1
// check -DBESIDE -DPLAIN: FAIL use after free: memory is freed while in use: write by T1
// check -DBESIDE -DPLAIN -DLOADED: FAIL use after free: memory is freed while in use: read by T1
// check -DBESIDE -DTOLD: exhaustive
// check -DBESIDE -DTOLD -DLOADED: exhaustive
// check -DBESIDE -DTOLD -DPLAIN: exhaustive
// check -DAGAIN: exhaustive
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

#if defined(BESIDE)
// A thread uses an object, and another one, which has seen that it has, deletes it: the use comes first.
struct cell {
  int before = 0;
#ifdef PLAIN
  volatile int value = 0;
#else
  std::atomic<int> value{0};
#endif
};
std::atomic<bool> used{false};
#ifdef TOLD
constexpr auto say = std::memory_order::release, hear = std::memory_order::acquire;
#else
constexpr auto say = std::memory_order::relaxed, hear = std::memory_order::relaxed;
#endif

int main() {
  auto* const c = new cell;
  std::thread user([c] {
#ifdef LOADED
    static_cast<void>(int{c->value});
#else
    c->value = 1;
#endif
    used.store(true, say);
  });
  while (!used.load(hear)) continue;
  delete c;
  user.join();
}
#elif defined(AGAIN)
// A thread deletes what it alone has used, while others use what they have.
int main() {
  std::thread other([] {
    auto* const own = new std::atomic<int>{0};
    own->store(1, std::memory_order::relaxed);
    delete own;
  });
  auto* const own = new std::atomic<int>{0};
  own->store(1, std::memory_order::relaxed);
  delete own;
  other.join();
}
#else
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
#endif
