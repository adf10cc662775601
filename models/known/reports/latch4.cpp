// SPDX-License-Identifier: MIT
// Two threads count down and wait; one of them destroys the latch as soon as it is through.
#include <memory>
#include <thread>

#include "portable_concurrency/bits/latch.h"

int main() {
  auto done = std::make_unique<portable_concurrency::latch>(2);
  std::thread worker([latch = done.get()] { latch->count_down_and_wait(); });
  done->count_down_and_wait();
  done.reset();
  worker.join();
}
