// SPDX-License-Identifier: MIT
// try_lock() of a std::mutex may fail although nobody has the mutex. What a load with memory_order::consume carries no
// dependency to is not ordered by it, and every compiler orders it all the same.
// check: bounded; a try_lock() that fails for no reason (--spurious N)
// check --spurious 1: FAIL assertion fails: done
// check --spurious 1 -DAGAIN: bounded, 2 executions; more than 1 try_lock() of a thread that fail for no reason
// check --spurious 1 -DAGAIN -DBESIDE: bounded, 4 executions
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
std::atomic<int> beside{0};

void work() {
#if defined(AGAIN)
#ifdef BESIDE
  static_cast<void>(beside.load(std::memory_order::relaxed));
#endif
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
#ifdef BESIDE
  beside.store(1, std::memory_order::relaxed);
#endif
  other.join();
  assert(done);
#endif
}
