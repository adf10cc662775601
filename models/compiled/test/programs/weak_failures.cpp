// SPDX-License-Identifier: MIT
// Without --spurious, one weak compare-exchange of each thread may fail for no reason. A loop that only tries again
// makes no other execution of that.
// check: exhaustive, 2 executions
// check --skip-retries off: exhaustive, 4 executions, +0 blocked
// check --skip-retries off --spurious 0: bounded, 4 executions; spurious failures of weak compare-exchanges
// check --spurious 1: bounded; more than 1 spurious failures in an execution
// check --every-iteration: bounded, 4 executions
// check -DLOADS_AGAIN --skip-retries off: exhaustive, 4 executions, +0 blocked
// check -DONCE: FAIL check failed
// check -DONCE --spurious 0: bounded, 1 execution
// check -DONCE -DSTRONG: exhaustive, 1 execution
// check -DCOUNTS: FAIL check failed
// check -DCOUNTS --spurious 0: bounded
// check -DTWO: FAIL check failed
// check -DTWO -DOF_ONE: bounded
// check -DTWO -DOF_ONE --spurious 2: FAIL check failed
#include <atomic>
#include <cassert>
#include <thread>

std::atomic<int> counter{0};

#if defined(LOADS_AGAIN)
void add() {
  int seen = 0;
  do {
    seen = counter.load(std::memory_order_relaxed);
  } while (!counter.compare_exchange_weak(seen, seen + 1));
}
#else
void add() {
  int seen = counter.load(std::memory_order_relaxed);
  while (!counter.compare_exchange_weak(seen, seen + 1)) continue;
}
#endif

bool try_to_add(int to) {
  int seen = to;
#ifdef STRONG
  return counter.compare_exchange_strong(seen, seen + 1);
#else
  return counter.compare_exchange_weak(seen, seen + 1);
#endif
}

int main() {
#if defined(ONCE)
  assert(try_to_add(0));
#elif defined(COUNTS)
  // A loop that notes how often it has tried is in no state again.
  int tried = 0;
  for (int seen = 0; !counter.compare_exchange_weak(seen, 1);) ++tried;
  assert(tried == 0);
#elif defined(TWO) && defined(OF_ONE)
  const bool first = try_to_add(0);
  const bool second = try_to_add(first ? 1 : 0);
  assert(first || second);
#elif defined(TWO)
  // One of each thread.
  bool done = true;
  std::thread other([&] { done = try_to_add(0); });
  other.join();
  const bool mine = try_to_add(done ? 1 : 0);
  assert(done || mine);
#else
  std::thread other(add);
  add();
  other.join();
  assert(counter.load() == 2);
#endif
}
