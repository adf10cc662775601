// SPDX-License-Identifier: MIT
// A loop that stores in each round what is there already, as a lock that prepares its node before each try, waits. If
// another thread may have written there meanwhile, it does not.
// check: bounded; writes between the rounds of a loop that stores the same again
// check -DHELD: FAIL deadlock
// check -DREAD: bounded
// check -DSTAMPS --max-events 24: limit reached
// check -DOVERWRITTEN: bounded
// check -DOVERWRITTEN -DHELD: FAIL deadlock
#include <atomic>
#include <functional>
#include <thread>

#if defined(STAMPS)
// Two threads write one variable until each has found its own value there twice: nobody is deadlocked,
// but they may go on for ever.
std::atomic<int> stamp{0};

void work(int own) {
  for (int found = 0; found != 2;) {
    stamp.store(own, std::memory_order::release);
    if (stamp.load(std::memory_order::acquire) == own) ++found;
  }
}

int main() {
  std::thread other(work, 1);
  work(2);
  other.join();
}
#elif defined(OVERWRITTEN)
// The value that each round stores was overwritten: the next round stores it again, and wakes the other thread.
std::atomic<int> value{0}, is_done{0};

int main() {
  std::thread other([] {
    value.store(2);
#ifndef HELD
    while (value.load() != 1) {
    }
    is_done.store(1);
#endif
  });
  do {
    value.store(1);
  } while (is_done.load() == 0);
  other.join();
}
#else
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
#endif
