// SPDX-License-Identifier: MIT
// check: exhaustive, 2 executions
// check --waits-in-place off: exhaustive, 2 executions
// check -DNO_LOCK: FAIL data race
// check -DNO_UNLOCK: FAIL deadlock
// check -DTWICE: FAIL deadlock
// check -DNOT_HELD: FAIL misuse
// check -DBOTH: FAIL deadlock
#include <cassert>
#include <mutex>
#include <thread>

std::mutex m, other;
int count;

void work() {
#ifndef NO_LOCK
  m.lock();
#endif
#ifdef TWICE
  m.lock();
#endif
  ++count;
#ifndef NO_UNLOCK
#ifndef NO_LOCK
  m.unlock();
#endif
#endif
}

int main() {
#ifdef NOT_HELD
  m.unlock();
#endif
#ifdef BOTH
  std::thread a([] {
    const std::scoped_lock first(m);
    const std::lock_guard second(other);
  });
  std::thread b([] {
    const std::lock_guard first(other);
    const std::lock_guard second(m);
  });
#else
  std::thread a(work);
  std::thread b(work);
#endif
  a.join();
  b.join();
#ifndef BOTH
  assert(count == 2);
#endif
}
