// SPDX-License-Identifier: MIT
// Message passing: write plain data, then raise a flag. A thread that sees the flag may read the data, if the flag is
// raised with release and read with acquire. Both are needed: with either side relaxed the flag says nothing about the
// data.
// check: exhaustive, 2 executions
// check -DWRONG: FAIL data race
// check -DWRONG_READER: FAIL data race
#include <atomic>
#include <cassert>
#include <thread>

#ifdef WRONG
constexpr auto raise = std::memory_order::relaxed;
#else
constexpr auto raise = std::memory_order::release;
#endif
#ifdef WRONG_READER
constexpr auto see = std::memory_order::relaxed;
#else
constexpr auto see = std::memory_order::acquire;
#endif

int data = 0;
std::atomic<bool> ready{false};

int main() {
  std::thread writer([] {
    data = 42;
    ready.store(true, raise);
  });
  if (ready.load(see)) assert(data == 42);
  writer.join();
}
