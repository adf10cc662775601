// SPDX-License-Identifier: MIT
// The writer writes four times while the reader reads twice.
#include <cassert>
#include <cstddef>
#include <thread>

#include "boost/lockfree/spsc_value.hpp"

int main() {
  boost::lockfree::spsc_value<int> shared;
  std::thread writer([&shared] {
    for (int value = 1; value <= 4; ++value) shared.write(value);
  });
  int last = 0;
  for (int round = 0; round < 2; ++round) {
    int value = 0;
    if (!shared.read(value)) continue;
    assert(value > last);
    last = value;
  }
  writer.join();
}
