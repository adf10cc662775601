// SPDX-License-Identifier: MIT
// What a program asks to be called when it forks is for its own forks, not for the processes in which its runs are
// made. Here the handler would wait for ever for a lock that is taken before main().
//
// check: none fails
#include <atomic>

#include <pthread.h>

std::atomic<bool> is_taken{false};

[[gnu::constructor]] void take_before_main() {
  is_taken.store(true, std::memory_order_relaxed);
  pthread_atfork(
      [] {
        while (is_taken.load(std::memory_order_relaxed)) continue;
      },
      nullptr, nullptr);
}

int main() {
  is_taken.store(false, std::memory_order_relaxed);
  return 0;
}
