// SPDX-License-Identifier: MIT
// A stack whose pop() reads what others push. Before a thread is told of a block of the heap, none of its loops has
// read it: that the block was written is no access after such a loop, which would be left out.
//
// check --keep-rounds off: exhaustive
#include <atomic>
#include <thread>
#include <utility>

struct node {
  int value;
  node* next = nullptr;
  node* retired = nullptr;
};
std::atomic<node*> head{nullptr};
std::atomic<node*> retired{nullptr};

void link(std::atomic<node*>& to, node* n, node* node::*next) {
  n->*next = to.load(std::memory_order::relaxed);
  while (!to.compare_exchange_strong(n->*next, n, std::memory_order::release, std::memory_order::relaxed)) {
  }
}
void push(int value) { link(head, new node{value}, &node::next); }
void pop() {
  node* top = head.load(std::memory_order::acquire);
  while (top != nullptr) {
    node* const n = top;
    if (head.compare_exchange_strong(top, n->next, std::memory_order::acquire, std::memory_order::acquire)) {
      link(retired, n, &node::retired);
      return;
    }
  }
}

int main() {
  std::thread other([] {
    push(1);
    pop();
  });
  push(2);
  pop();
  other.join();
  while (head.load() != nullptr) pop();
  for (node* n = retired.load(); n != nullptr;) delete std::exchange(n, n->retired);
}
