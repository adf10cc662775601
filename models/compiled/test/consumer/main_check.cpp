// SPDX-License-Identifier: MIT
// A program that is checked as a whole; wrong if WRONG.
#include <atomic>
#include <cassert>
#include <thread>

#if defined(WRONG)
constexpr auto publishes = std::memory_order::relaxed;
#else
constexpr auto publishes = std::memory_order::release;
#endif

int data;
std::atomic<bool> ready{false};

int main() {
  std::thread writer([] {
    data = 42;
    ready.store(true, publishes);
  });
  if (ready.load(std::memory_order::acquire)) assert(data == 42);
  writer.join();
}
