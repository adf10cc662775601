// SPDX-License-Identifier: MIT
// An update is lost if one thread goes on between the load and the store of another one; three more threads only make
// noise.
//
// check -DWRONG: FAIL assertion fails: n.load(relaxed) == 2
// check: none fails
#include <atomic>
#include <cassert>
#include <thread>
#include <vector>

constexpr auto relaxed = std::memory_order::relaxed;
std::atomic<int> n{0};
std::atomic<int> noise{0};

void add() {
#if defined(WRONG)
  n.store(n.load(relaxed) + 1, relaxed);
#else
  n.fetch_add(1, relaxed);
#endif
}

int main() {
  std::vector<std::thread> threads;
  for (int i = 0; i != 3; ++i) {
    threads.emplace_back([] {
      for (int k = 0; k != 20; ++k) noise.fetch_add(1, relaxed);
    });
  }
  threads.emplace_back(add);
  add();
  for (std::thread& t : threads) t.join();
  assert(n.load(relaxed) == 2);
}
