// SPDX-License-Identifier: MIT
// A test that the project has, and that is explored, too.
#include "counter.hpp"

#include <cstdlib>
#include <thread>

int main() {
  std::thread other(count_once);
  count_once();
  other.join();
  return count_of_all() == 2 ? EXIT_SUCCESS : EXIT_FAILURE;
}
