// SPDX-License-Identifier: MIT
// The queue lock of Mellor-Crummey and Scott: a waiting thread spins on its own flag.
// check: exhaustive
// check -DWRONG: FAIL data race
#include <atomic>
#include <cassert>
#include <thread>

#ifdef WRONG
constexpr auto handing_on = std::memory_order::relaxed;
#else
constexpr auto handing_on = std::memory_order::release;
#endif

struct node {
  std::atomic<node*> next{nullptr};
  std::atomic<bool> waits{true};
};
std::atomic<node*> tail{nullptr};
node nodes[2];
int data;

void lock(node& mine) {
  node* const before = tail.exchange(&mine, std::memory_order::acq_rel);
  if (before == nullptr) return;
  before->next.store(&mine, std::memory_order::release);
  while (mine.waits.load(std::memory_order::acquire)) std::this_thread::yield();
}
void unlock(node& mine) {
  node* next = mine.next.load(std::memory_order::acquire);
  if (next == nullptr) {
    node* expected = &mine;
    if (tail.compare_exchange_strong(expected, nullptr, std::memory_order::release, std::memory_order::relaxed)) return;
    while ((next = mine.next.load(std::memory_order::acquire)) == nullptr) std::this_thread::yield();
  }
  next->waits.store(false, handing_on);
}

int main() {
  const auto work = [](int i) {
    lock(nodes[i]);
    ++data;
    unlock(nodes[i]);
  };
  std::thread a(work, 0);
  std::thread b(work, 1);
  a.join();
  b.join();
  assert(data == 2);
}
