// SPDX-License-Identifier: MIT
// A thread that looks, sleeps and looks again, alone: it does not end, as if it looked without sleeping.
//
// check -DEND=1000: none fails
// check -DEND=3000000: FAIL livelock: no end:
#include <atomic>
#include <chrono>
#include <thread>

std::atomic<bool> is_done{false};

int main() {
  for (unsigned i = 0; i != END && !is_done.load(std::memory_order_relaxed); ++i) {
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
}
