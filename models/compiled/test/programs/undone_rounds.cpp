// SPDX-License-Identifier: MIT
// A read-write lock: readers add 1, the writer adds 4, and who fails takes that back. Such a round is left out, unless
// somebody may tell that there was one.
// check --skip-retries on: exhaustive, 14 executions
// check: exhaustive, +0 blocked
// check --skip-retries off: exhaustive, +0 blocked
// check -DLOADED --skip-retries on: FAIL assertion
// check -DLOADED_IN_ROUND --skip-retries on: FAIL assertion
// check -DADDED --skip-retries on: FAIL assertion
// check -DEXCHANGED --skip-retries on: FAIL assertion
// check -DREAD_PLAINLY --skip-retries on: FAIL data race
// check -DWRITTEN --skip-retries on: FAIL assertion
// check -DCOUNTED --skip-retries on: FAIL assertion
#include <atomic>
#include <cassert>
#include <thread>

constexpr auto relaxed = std::memory_order::relaxed;
constexpr auto acquire = std::memory_order::acquire;
constexpr auto release = std::memory_order::release;
constexpr int all = 4;

std::atomic<int> lock{0};
int written = 0;
int failed = 0;

void take_share() {
  int before = lock.fetch_add(1, acquire);
#ifdef COUNTED
  int tried = 0;
#endif
  while (before >= all) {
#ifdef WRITTEN
    failed = 1;
#endif
#ifdef COUNTED
    ++tried;
#endif
    lock.fetch_sub(1, relaxed);
#ifdef LOADED_IN_ROUND
    for (int found = lock.load(relaxed); found >= all; found = lock.load(relaxed)) assert(found != all + 1);
#else
    while (lock.load(relaxed) >= all) {
    }
#endif
    before = lock.fetch_add(1, acquire);
  }
#ifdef COUNTED
  assert(tried == 0);
#endif
  assert(written == 0 || written == 1);
  lock.fetch_sub(1, release);
}

void take_all() {
  while (lock.fetch_add(all, acquire) != 0) {
    lock.fetch_sub(all, relaxed);
    while (lock.load(relaxed) != 0) {
    }
  }
  written = 1;
  lock.fetch_sub(all, release);
}

void look() {
#if defined(LOADED)
  assert(lock.load(relaxed) != all + 1);
#elif defined(ADDED)
  assert(lock.fetch_add(0, relaxed) != all + 1);
#elif defined(EXCHANGED)
  int expected = all + 1;
  assert(!lock.compare_exchange_strong(expected, all + 1, relaxed));
#elif defined(READ_PLAINLY)
  int found;
  __builtin_memcpy(&found, reinterpret_cast<const char*>(&lock), sizeof found);
  assert(found != all + 1);
#else
  take_share();
#endif
}

int main() {
  std::thread writer(take_all), reader(take_share), other(look);
  writer.join();
  reader.join();
  other.join();
#ifdef WRITTEN
  assert(failed == 0);
#endif
}
