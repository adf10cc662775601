// SPDX-License-Identifier: MIT
// A loop that stores in each round what is there already, as a lock that prepares its node before each try, waits. If
// another thread may have written there meanwhile, it does not.
// check: bounded; writes between the rounds of a loop that stores the same again
// check -DHELD: FAIL deadlock
// check -DREAD: bounded
#include <atomic>
#include <functional>
#include <thread>

struct node {
  std::atomic<bool> waits{false};
  std::atomic<node*> next{nullptr};
};

std::atomic<node*> tail{nullptr};
int data = 0;

bool try_acquire(node& n) {
  n.waits.store(true, std::memory_order::relaxed);
  n.next.store(nullptr, std::memory_order::relaxed);
  node* expected = nullptr;
  return tail.compare_exchange_strong(expected, &n, std::memory_order::acq_rel, std::memory_order::relaxed);
}

node first, second;

void work(node& n) {
  while (!try_acquire(n)) {
  }
  ++data;
#ifndef HELD
  tail.store(nullptr, std::memory_order::release);
#endif
}

int main() {
  std::thread other(work, std::ref(first));
#ifdef READ
  static_cast<void>(first.waits.load(std::memory_order::relaxed));
#endif
  work(second);
  other.join();
}
