// SPDX-License-Identifier: MIT
// A readers-writer spin lock in one number: the number of readers, or -1 for a writer. A reader changes no data, but it
// must release when it leaves: otherwise the next writer writes while the reader still reads.
// check: exhaustive
// check -DWRONG: FAIL data race
#include <atomic>
#include <cassert>
#include <thread>

#ifdef WRONG
constexpr auto reader_leaves = std::memory_order::relaxed;
#else
constexpr auto reader_leaves = std::memory_order::release;
#endif

std::atomic<int> inside{0};
int first = 0, second = 0;

void use() {
  int n = inside.load(std::memory_order::relaxed);
  do {
    while (n == -1) n = inside.load(std::memory_order::relaxed);
  } while (!inside.compare_exchange_strong(n, n + 1, std::memory_order::acquire, std::memory_order::relaxed));
  assert(first == second);
  inside.fetch_sub(1, reader_leaves);
}

void change() {
  int nobody = 0;
  while (!inside.compare_exchange_strong(nobody, -1, std::memory_order::acquire, std::memory_order::relaxed)) {
    nobody = 0;
  }
  ++first;
  ++second;
  inside.store(0, std::memory_order::release);
}

int main() {
  std::thread reader(use);
  std::thread writer(change);
  use();
  reader.join();
  writer.join();
}
