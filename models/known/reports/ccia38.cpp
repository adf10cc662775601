// SPDX-License-Identifier: MIT
// Two threads pop the only element.
#include <thread>

#include "listing_7.13.cpp"

int main() {
  lock_free_stack<int> stack;
  stack.push(1);
  std::thread other([&stack] { stack.pop(); });
  stack.pop();
  other.join();
}
