// SPDX-License-Identifier: MIT
// A wait for a condition variable may end although nobody has notified it. Only a loop around it is right.
// check: bounded; spurious wake-ups (--spurious-wakeups N)
// check -DONCE: bounded
// check --spurious-wakeups 1: bounded; more than 1 spurious wake-up of a thread
// check --spurious-wakeups 1 -DONCE: FAIL assertion fails: ready
// check --spurious-wakeups 1 -DTIMED: bounded
#include <cassert>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

std::mutex mutex;
std::condition_variable changed;
bool ready = false;

int main() {
  std::thread waiter([] {
    std::unique_lock lock(mutex);
#if defined(ONCE)
    if (!ready) changed.wait(lock);
#elif defined(TIMED)
    while (!ready) changed.wait_for(lock, std::chrono::seconds(1));
#else
    while (!ready) changed.wait(lock);
#endif
    assert(ready);
  });
  {
    const std::lock_guard lock(mutex);
    ready = true;
  }
  changed.notify_one();
  waiter.join();
}
