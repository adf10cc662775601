// SPDX-License-Identifier: MIT
// A thread that wakes up by itself again and again keeps no other one from waiting for ever. Before it has done so ten
// thousand times, and for a hundred seconds, it may still be what ends the other's wait.
//
// check -DTICKS=100 -DMILLISECONDS=10: none fails
// check -DTICKS=12000 -DMILLISECONDS=1: none fails
// check -DTICKS=200 -DMILLISECONDS=1000: none fails
// check -DALONE -DTICKS=12000 -DMILLISECONDS=10: none fails
// check -DWAKES=1000 -DTICKS=20000 -DMILLISECONDS=10: none fails
// check -DTICKS=20000 -DMILLISECONDS=10: FAIL deadlock
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

std::mutex lock;
std::condition_variable changed;
std::condition_variable never_notified;
bool is_done = false;

void tick() {
  std::unique_lock held(lock);
  for (unsigned i = 0; i != TICKS; ++i) {
    never_notified.wait_for(held, std::chrono::milliseconds(MILLISECONDS));
#if defined(WAKES)
    if (i % WAKES == 0) changed.notify_one();  // it is not done, and the other one waits again
#endif
  }
  is_done = true;
  changed.notify_one();
}

int main() {
#if defined(ALONE)
  tick();
  return 0;
#endif
  std::thread ticker(tick);
  {
    std::unique_lock held(lock);
    while (!is_done) changed.wait(held);
  }
  ticker.join();
}
