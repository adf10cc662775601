// SPDX-License-Identifier: MIT
// try_lock() of a std::mutex may fail although nobody has the mutex. What a load with memory_order::consume carries no
// dependency to is not ordered by it, and every compiler orders it all the same.
// check: bounded
// check --spurious 1: FAIL assertion fails: done
// check --spurious 1 -DAGAIN: bounded
// check -DSTD_LOCK: exhaustive
// check -DCONSUME: bounded
#include <atomic>
#include <cassert>
#include <mutex>
#include <thread>

std::mutex mutex;
std::mutex second;
std::atomic<int*> pointer{nullptr};
int number = 0;
bool done = false;

void work() {
#if defined(AGAIN)
  while (!mutex.try_lock()) {
  }
  done = true;
  mutex.unlock();
#elif defined(STD_LOCK)
  const std::scoped_lock both(mutex, second);
  done = true;
#elif defined(CONSUME)
  number = 1;
  pointer.store(&number, std::memory_order::release);
#else
  if (mutex.try_lock()) {
    done = true;
    mutex.unlock();
  }
#endif
}

int main() {
  std::thread other(work);
#ifdef CONSUME
  if (const int* const read = pointer.load(std::memory_order::consume)) assert(*read == 1);
  other.join();
#else
  other.join();
  assert(done);
#endif
}
