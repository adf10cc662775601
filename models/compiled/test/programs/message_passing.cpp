// SPDX-License-Identifier: MIT
// check: exhaustive, 2 executions
// check -DORDER=relaxed: FAIL data race
#include <atomic>
#include <cassert>
#include <thread>

#ifndef ORDER
#define ORDER release
#endif

int data;
std::atomic<bool> ready{false};

int main() {
  std::thread writer([] {
    data = 42;
    ready.store(true, std::memory_order::ORDER);
  });
  std::thread reader([] {
    if (ready.load(std::memory_order::acquire)) assert(data == 42);
  });
  writer.join();
  reader.join();
}
