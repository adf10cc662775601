// SPDX-License-Identifier: MIT
// A message with orders that are stronger than needed, and an unneeded fence.
#include <atomic>
#include <cassert>
#include <thread>

int data;
std::atomic<bool> ready{false};

int main() {
  std::thread writer([] {
    data = 42;
    std::atomic_thread_fence(std::memory_order::release);
    ready.store(true);
  });
  if (ready.load(std::memory_order::acquire)) assert(data == 42);
  writer.join();
}
