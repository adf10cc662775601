// SPDX-License-Identifier: MIT
// Of each thing that a search leaves out unless an option asks for it there is some here. Nothing fails.
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>
extern "C" int __VERIFIER_nondet_int();
std::atomic<int> numbers[2];
std::mutex lock, free_lock;
std::condition_variable told;
bool ready;
int main() {
  std::thread other([] {
    std::lock_guard hold(lock);
    ready = true;
    told.notify_one();
  });
  {
    std::unique_lock hold(lock);
    for (int i = 0; i != 2 && !ready; ++i) told.wait(hold);
  }
  other.join();
  for (int i = 0; i != 2; ++i) {
    int expected = 0;
    numbers[i].compare_exchange_weak(expected, 1);
  }
  if (free_lock.try_lock()) free_lock.unlock();
  return __VERIFIER_nondet_int() > 9;
}
