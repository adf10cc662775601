// SPDX-License-Identifier: MIT
// One failure of each kind: FAILURE selects it.
#include <atomic>
#include <cassert>
#include <mutex>
#include <thread>

#define RACE 1
#define STALE 2
#define FREED 3
#define LOCKS 4
#define WAITS 5
#define LEAK 6
#define TWICE 7
#define INTERLEAVING 8
#define LOST_UPDATE 9
#define ALONE 10
#define SAME_NAMES 11
#define WAITS_AND_LOCK 12
#define JOINS 13
#define ENDLESS 14

struct node {
  int value;
};
int data;
std::atomic<int> payload{0};
std::atomic<int> flag{0};
std::atomic<node*> shared{nullptr};
std::mutex first, second;

void one() {
#if FAILURE == RACE
  data = 1;
  flag.store(1, std::memory_order::relaxed);
#elif FAILURE == STALE
  payload.store(1, std::memory_order::relaxed);
  flag.store(1, std::memory_order::release);
#elif FAILURE == FREED
  if (node* const n = shared.load(std::memory_order::acquire)) data = n->value;
#elif FAILURE == LOCKS
  const std::lock_guard a(first);
  const std::lock_guard b(second);
#elif FAILURE == WAITS
  while (flag.load(std::memory_order::acquire) == 0) continue;
#elif FAILURE == LEAK
  node* volatile lost = new node{1};
  lost = nullptr;
#elif FAILURE == TWICE
  delete shared.load(std::memory_order::acquire);
#elif FAILURE == INTERLEAVING
  flag.fetch_add(1);
#elif FAILURE == LOST_UPDATE
  flag.store(flag.load() + 1);
#elif FAILURE == WAITS_AND_LOCK
  const std::lock_guard a(first);
  while (flag.load() == 0) continue;
#elif FAILURE == JOINS
  while (flag.load() == 0) continue;
#endif
}

void other() {
#if FAILURE == RACE
  if (flag.load(std::memory_order::acquire) == 1) data = 2;
#elif FAILURE == STALE
  if (flag.load(std::memory_order::relaxed) == 1) assert(payload.load(std::memory_order::relaxed) == 1);
#elif FAILURE == FREED
  node* const n = shared.exchange(nullptr);
  delete n;
#elif FAILURE == LOCKS
  const std::lock_guard b(second);
  const std::lock_guard a(first);
#elif FAILURE == TWICE
  delete shared.load(std::memory_order::acquire);
#elif FAILURE == INTERLEAVING
  assert(flag.fetch_add(1) == 0);
#elif FAILURE == LOST_UPDATE
  flag.store(flag.load() + 1);
#elif FAILURE == WAITS_AND_LOCK
  const std::lock_guard a(first);
  flag = 1;
#endif
}

int main() {
#if FAILURE == ALONE
  flag = 1;
  assert(flag == 2);
#elif FAILURE == SAME_NAMES
  std::atomic<int> started{0};
  int result = 0;
  std::thread t([&] {
    started.store(1, std::memory_order::relaxed);
    result = 1;
  });
  while (started.load(std::memory_order::relaxed) == 0) continue;
  const int seen = result;
  t.join();
  return seen - seen;
#elif FAILURE == JOINS
  std::thread t(one);
  t.join();
  flag = 1;
#elif FAILURE == ENDLESS
  flag.store(1, std::memory_order::release);
  for (volatile int i = 0;; i = i + 1) continue;
#else
#if FAILURE == FREED || FAILURE == TWICE
  shared = new node{1};
#endif
  std::thread a(one);
  std::thread b(other);
  a.join();
  b.join();
#if FAILURE == LOST_UPDATE
  assert(flag.load() == 2);
#endif
#endif
}
