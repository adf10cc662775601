// SPDX-License-Identifier: MIT
// Two independent writes, two readers: may one reader see x before y, and the other y before x? With release and
// acquire they may, because no one order of all writes exists. With seq_cst, the default, there is one that all
// threads see.
// check: exhaustive, 8 executions
// check -DWRONG: FAIL assertion fails
#include <atomic>
#include <cassert>
#include <thread>

#ifdef WRONG
constexpr auto set = std::memory_order::release;
constexpr auto look = std::memory_order::acquire;
#else
constexpr auto set = std::memory_order::seq_cst;
constexpr auto look = std::memory_order::seq_cst;
#endif

std::atomic<int> x{0}, y{0};

int main() {
  std::thread sets_x([] { x.store(1, set); });
  std::thread sets_y([] { y.store(1, set); });
  bool x_first = false;
  std::thread reader([&x_first] { x_first = x.load(look) == 1 && y.load(look) == 0; });
  const bool y_first = y.load(look) == 1 && x.load(look) == 0;
  reader.join();
  assert(!(x_first && y_first));
  sets_x.join();
  sets_y.join();
}
