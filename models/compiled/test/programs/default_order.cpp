// SPDX-License-Identifier: MIT
// More seq_cst operations than one word has bits, in all threads.
// check: exhaustive, 4 executions
// check -DNEVER_BOTH: FAIL check failed
#include <atomic>
#include <cassert>
#include <thread>

std::atomic<int> own[2];
std::atomic<int> x, y;

int main() {
  int a = 0;
  int b = 0;
  const auto busy = [](int i) {
    for (int n = 0; n != 50; ++n) own[i].store(n);
  };
  std::thread one([&] {
    busy(0);
    x.store(1);
    a = y.load();
  });
  std::thread two([&] {
    busy(1);
    b = x.load();
    y.store(1);
  });
  one.join();
  two.join();
  assert(own[0] == 49 && own[1] == 49);
#ifdef NEVER_BOTH
  assert(a == 0 || b == 0);
#endif
}
