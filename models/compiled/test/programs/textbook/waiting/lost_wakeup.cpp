// SPDX-License-Identifier: MIT
// A condition variable: the condition has to change under the lock, or the notification may come too early.
// check: bounded, 2 executions
// check -DWRONG: FAIL deadlock
#include <atomic>
#include <cassert>
#include <condition_variable>
#include <mutex>
#include <thread>

std::mutex m;
std::condition_variable changed;
std::atomic<int> items{0};

void consume() {
  std::unique_lock lock(m);
  while (items == 0) changed.wait(lock);
  assert(items > 0);
  --items;
}
void produce() {
#ifndef WRONG
  const std::lock_guard lock(m);
#endif
  ++items;
  changed.notify_one();
}

int main() {
  std::thread a(consume);
  produce();
  a.join();
}
