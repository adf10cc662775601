// SPDX-License-Identifier: MIT
// Two threads call a library that is not instrumented.
#include <thread>

extern "C" void bump();

int main() {
  std::thread other(bump);
  bump();
  other.join();
}
