// SPDX-License-Identifier: MIT
// Memory that is allocated, freed, and allocated again.
// Each program has a macro, which stands first in its lines `// check`.
#include <atomic>
#include <cassert>
#include <cstdint>
#include <cstdlib>
#include <thread>

#include <pthread.h>

#if defined(ALLOCATED)

// check -DALLOCATED: passes, 2 executions
// check -DALLOCATED -DLEAK: FAIL leak
// check -DALLOCATED -DLEAK --no-leaks: passes
// check -DALLOCATED -DTWICE: FAIL double free
// check -DALLOCATED -DOVERRUN: FAIL outside of what was allocated
// check -DALLOCATED -DVARIABLE: FAIL what is freed was not allocated
// check -DALLOCATED -DLOCAL: FAIL what is freed was not allocated
// check -DALLOCATED -DUNPUBLISHED: FAIL unpublished allocation
// check -DALLOCATED -DGLOBAL: passes, 2 executions

std::atomic<int*> box{nullptr};
int* kept;

int main() {
#if defined(VARIABLE) || defined(LOCAL)
  int local = 0;
#ifdef LOCAL
  void* volatile variable = &local;
#else
  void* volatile variable = &box;
#endif
  std::free(variable);
  return local;
#endif
  std::thread maker([] {
#ifdef UNPUBLISHED
    int* const p = new int[4];
    box.store(p, std::memory_order::relaxed);
#else
    int* const p = new int[4]{1, 2, 3, 4};
#ifdef OVERRUN
    p[4] = 5;
#endif
    box.store(p, std::memory_order::release);
#endif
  });
  std::thread taker([] {
    int* const p = box.exchange(nullptr, std::memory_order::acquire);
    if (p != nullptr) {
      p[0] = 7;
#if defined(LEAK)
#elif defined(GLOBAL)
      kept = p;
#else
      delete[] p;
#endif
#ifdef TWICE
      delete[] p;
#endif
    }
  });
  maker.join();
  taker.join();
  delete[] box.load();
}

#elif defined(FREED_NODE)

// A stack that frees the nodes that it takes while other threads may still read them.
// check -DFREED_NODE: exhaustive, 2 executions
// check -DFREED_NODE --spurious 0: bounded; spurious failures of weak compare-exchanges (--spurious N)
// check -DFREED_NODE -DFREE: FAIL use after free
// check -DFREED_NODE -DBESIDE: FAIL use after free: memory is freed while in use: atomically by T1
// check -DFREED_NODE -DBESIDE -DLOADED: FAIL use after free: memory is freed while in use: atomically by T1
// check -DFREED_NODE -DBESIDE -DPLAIN: FAIL use after free: memory is freed while in use: write by T1
// check -DFREED_NODE -DBESIDE -DPLAIN -DLOADED: FAIL use after free: memory is freed while in use: read by T1
// check -DFREED_NODE -DBESIDE -DTOLD: exhaustive
// check -DFREED_NODE -DBESIDE -DTOLD -DLOADED: exhaustive
// check -DFREED_NODE -DBESIDE -DTOLD -DPLAIN: exhaustive
// check -DFREED_NODE -DAGAIN: exhaustive

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

#elif defined(SAME_ADDRESS)

// An address that was freed may become that of another object: who compares addresses takes the one for the other. The
// right twin frees the old object only when the new one is there.
// check -DSAME_ADDRESS: bounded; memory that is allocated again after it was freed (--reuse N)
// check -DSAME_ADDRESS --reuse 1: FAIL assertion fails: newest != first
// check -DSAME_ADDRESS -DKEPT: exhaustive
// check -DSAME_ADDRESS --reuse 1 -DKEPT: exhaustive
// check -DSAME_ADDRESS -DATOMIC: bounded
// check -DSAME_ADDRESS --reuse 1 -DATOMIC: bounded; more than 1 block that a thread allocates again

std::atomic<std::uintptr_t> latest{0};

// In a block that is given out again lies another atomic variable.
struct counter {
  std::atomic<int> value{0};
};

int main() {
#ifdef ATOMIC
  std::thread other([] {
    for (int i = 0; i != 3; ++i) {
      auto* const c = new counter;
      assert(c->value.fetch_add(1) == 0);
      delete c;
    }
  });
  latest = 1;
  other.join();
#else
  int* const old = new int(1);
  const auto first = reinterpret_cast<std::uintptr_t>(old);
  std::thread other([old] {
#ifndef KEPT
    delete old;
#endif
    latest = reinterpret_cast<std::uintptr_t>(new int(2));
#ifdef KEPT
    delete old;
#endif
  });
  other.join();
  const std::uintptr_t newest = latest.load();
  delete reinterpret_cast<int*>(newest);
  assert(newest != first);
#endif
}

#elif defined(OTHER_THREAD)

// Memory that one thread has freed and another one allocates again. A stack of Treiber's: a thread pops, while another
// one pops and frees, and a third one pushes what it allocates. The first takes the new node for the one that it has
// seen (ABA). The right twin keeps its node until it has popped it.
// check -DOTHER_THREAD --no-leaks: bounded; memory that is allocated again after it was freed (--reuse N)
// check -DOTHER_THREAD --no-leaks --reuse 1: FAIL assertion fails: !b_is_taken
// check -DOTHER_THREAD --no-leaks --reuse 1 -DKEPT: exhaustive
// check -DOTHER_THREAD --no-leaks --reuse 1 -DUNKNOWN: bounded; blocks that another thread frees at the same time
// check -DOTHER_THREAD --reuse 1 -DTWO: bounded; blocks that another thread frees at the same time
// check -DOTHER_THREAD --reuse 1 -DSPIN_LOCK: exhaustive, 3 executions

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

#else
#error "which program?"

#endif
