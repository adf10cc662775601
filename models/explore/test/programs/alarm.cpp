// SPDX-License-Identifier: MIT
// A wait for an hour, under an alarm after ten seconds: the wait may end early, but not so that the alarm rings while
// a thread can still run that ends it.
//
// check -DNOTIFIES=1: none fails
// check -DNOTIFIES=0: FAIL livelock
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include <unistd.h>

std::mutex lock;
std::condition_variable changed;
bool is_done = false;

int main() {
  alarm(10);
  std::thread other([] {
    for (int i = 0; i != 20; ++i) std::this_thread::yield();
    const std::lock_guard held(lock);
    is_done = NOTIFIES != 0;
    changed.notify_one();
  });
  {
    std::unique_lock held(lock);
    while (!is_done) changed.wait_for(held, std::chrono::hours(1));
  }
  other.join();
}
