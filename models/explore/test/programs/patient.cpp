// SPDX-License-Identifier: MIT
// A wait with a limit of time that another thread ends soon. It may end too early all the same; with --patience 60 only
// if it is for less than a minute.
//
// check -DSECONDS=3600 -DLIMIT=1: FAIL check failed
// check -DSECONDS=3600 -DLIMIT=0: none fails
#include <cassert>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

std::mutex lock;
std::condition_variable changed;
bool is_done = false;

int main() {
  std::thread other([] {
    for (int i = 0; i != 20; ++i) std::this_thread::yield();
    const std::lock_guard held(lock);
    is_done = true;
    changed.notify_one();
  });
  {
    std::unique_lock held(lock);
    const bool in_time = changed.wait_for(held, std::chrono::seconds(SECONDS), [] { return is_done; });
    assert(in_time || LIMIT == 0);
  }
  other.join();
}
