// SPDX-License-Identifier: MIT
// One condition variable for two conditions: `notify_one` may wake the thread that waits for the other one. It goes
// back to sleep, and the one that could go on is never told. Use `notify_all`, or a condition variable for each
// condition.
// check: bounded
// check -DWRONG: FAIL deadlock
#include <condition_variable>
#include <mutex>
#include <thread>

std::mutex m;
std::condition_variable changed;
bool red = false, green = false;

void wait_for(const bool& light) {
  std::unique_lock lock(m);
  while (!light) changed.wait(lock);
}
void set(bool& light) {
  const std::lock_guard lock(m);
  light = true;
#ifdef WRONG
  changed.notify_one();
#else
  changed.notify_all();
#endif
}

int main() {
  std::thread waits_for_red([] { wait_for(red); });
  std::thread waits_for_green([] {
    wait_for(green);
    set(red);
  });
  set(green);
  waits_for_green.join();
  waits_for_red.join();
}
