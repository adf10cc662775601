// SPDX-License-Identifier: MIT
// A data race: two threads add to the same plain variable. C++ gives such a program no meaning at all, not even "one of
// the two counts". An atomic variable adds in one step, and no other thread can come in between.
// check: exhaustive, 2 executions
// check -DWRONG: FAIL data race
#include <atomic>
#include <cassert>
#include <thread>

#ifdef WRONG
int visits = 0;
#else
std::atomic<int> visits{0};
#endif

void visit() { ++visits; }

int main() {
  std::thread a(visit);
  std::thread b(visit);
  a.join();
  b.join();
  assert(visits == 2);
}
