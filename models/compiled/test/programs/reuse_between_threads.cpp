// SPDX-License-Identifier: MIT
// Memory that one thread has freed and another one allocates again. A stack of Treiber's: a thread pops, while another
// one pops and frees, and a third one pushes what it allocates. The first takes the new node for the one that it has
// seen (ABA). The right twin keeps its node until it has popped it.
// check --no-leaks: bounded; memory that is allocated again after it was freed (--reuse N)
// check --no-leaks --reuse 1: FAIL assertion fails: !b_is_taken
// check --no-leaks --reuse 1 -DKEPT: exhaustive
// check --no-leaks --reuse 1 -DUNKNOWN: bounded; blocks that another thread frees at the same time
// check --reuse 1 -DTWO: bounded; blocks that another thread frees at the same time
// check --reuse 1 -DSPIN_LOCK: exhaustive, 3 executions
#include <atomic>
#include <cassert>
#include <thread>

#include <pthread.h>

#if defined(TWO)
// Two threads that know of one free: only one of them gets the block.
std::atomic<int*> first{nullptr}, second{nullptr};
std::atomic<int> freed{0};

void allocate(std::atomic<int*>& mine, std::atomic<int*>& other) {
  if (freed.load(std::memory_order::acquire) == 0) return;
  int* const p = new int(1);
  mine = p;
  assert(p != other.load());
}

int main() {
  int* const old = new int(1);
  std::thread t([] { allocate(first, second); });
  std::thread u([] { allocate(second, first); });
  delete old;
  freed.store(1, std::memory_order::release);
  t.join();
  u.join();
  delete first.load();
  delete second.load();
}

#elif defined(SPIN_LOCK)
// A lock in memory that is allocated again is another lock than the one that was there.
std::atomic<bool> is_freed{false};

struct lock {
  pthread_spinlock_t spin;
  lock() { pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE); }
  void use() {
    pthread_spin_lock(&spin);
    pthread_spin_unlock(&spin);
  }
};

int main() {
  auto* const old = new lock;
  std::thread t([] {
    if (!is_freed.load(std::memory_order::acquire)) return;
    auto* const next = new lock;
    next->use();
    delete next;
  });
  old->use();
  delete old;
  is_freed.store(true, std::memory_order::release);
  t.join();
}

#else
struct node {
  node* next;
};

std::atomic<node*> head{nullptr};
std::atomic<node*> seen{nullptr};  // what the first thread uses
std::atomic<bool> is_freed{false};
bool b_is_taken = false;

int main() {
  auto* const b = new node{nullptr};
  auto* const a = new node{b};
  head = a;
  std::thread pops([a, b] {
    seen = a;
    if (head.load() != a) {
      seen = nullptr;
      return;
    }
    node* const next = a->next;
#ifndef KEPT
    seen = nullptr;
#endif
    node* expected = a;
    if (head.compare_exchange_strong(expected, next) && next == b) {
      // Now `b` is the newest node.
      assert(!b_is_taken);
    }
#ifdef KEPT
    seen = nullptr;
#endif
  });
  std::thread frees([a, b] {
    node* expected = a;
    if (!head.compare_exchange_strong(expected, b)) return;
    expected = b;
    if (!head.compare_exchange_strong(expected, nullptr)) return;
    b_is_taken = true;
    if (seen.load() == a) return;
    delete a;
#ifdef UNKNOWN
    is_freed.store(true, std::memory_order::relaxed);
#else
    is_freed.store(true, std::memory_order::release);
#endif
  });
  if (is_freed.load(std::memory_order::acquire)) {
    auto* const n = new node{nullptr};
    node* expected = nullptr;
    head.compare_exchange_strong(expected, n);
  }
  pops.join();
  frees.join();
}
#endif
