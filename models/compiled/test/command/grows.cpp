// SPDX-License-Identifier: MIT
// A ring of two whose producers may overwrite an element. One producer with one round, or two with one, never wrap
// around it; the third element does. With RIGHT a producer waits for room.
#include <atomic>
#include <cassert>
#include <thread>
#include <vector>

#include <runq/grow.hpp>

std::atomic<int> next{0};
std::atomic<int> ring[2];

void produce() {
  for (int i = 0; i != runq::rounds(); ++i) {
    const int at = next.fetch_add(1, std::memory_order::relaxed);
#ifdef RIGHT
    if (at >= 2) return;  // full
#endif
    const int before = ring[at % 2].exchange(at + 1, std::memory_order::relaxed);
    assert(before == 0);
  }
}

int main() {
  std::vector<std::thread> all;
  for (int i = 0; i != runq::producers(); ++i) all.emplace_back(produce);
  for (std::thread& t : all) t.join();
}
