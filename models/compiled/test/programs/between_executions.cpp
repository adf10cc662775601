// SPDX-License-Identifier: MIT
// What an execution leaves behind, the next one does not find: memory, keys, the time that has passed, exit
// handlers, and threads that nobody has joined.
// check -DMEMORY: exhaustive, 2 executions
// check -DKEYS: exhaustive
// check -DKEYS -DWRONG: FAIL misuse: a key is deleted after
// check -DTIME --timeouts 0: passes
// check -DTIME -DWRONG --timeouts 0: FAIL check failed
// check -DHANDLERS: exhaustive
// check -DHANDLERS --waits-in-place off: exhaustive
// check -DHANDLERS -DWRONG: FAIL check failed
// check -DUNJOINED --waits-in-place off: exhaustive, 1 execution, +1 blocked
// check -DUNJOINED -DWRONG: bounded; memory that is allocated again
// check -DJOINED: exhaustive, 1 execution
#include <atomic>
#include <cassert>
#include <chrono>
#include <cstdlib>
#include <thread>

#include <pthread.h>

std::atomic<int> flag{0};

#if defined(MEMORY)
int count = 0;
int main() {
  assert(++count == 1);
  std::thread other([] { flag.store(1); });
  flag.load();
  other.join();
}
#elif defined(KEYS)
// A key that was there before main() is deleted in each execution.
pthread_key_t created() {
  pthread_key_t key = 0;
  pthread_key_create(&key, nullptr);
  return key;
}
const pthread_key_t key = created();
int main() {
  std::thread other([] { flag.store(1); });
  flag.load();
#ifdef WRONG
  pthread_key_delete(key);
#endif
  pthread_key_delete(key);
  other.join();
}
#elif defined(TIME)
// A thread sleeps in some executions only.
int main() {
  const auto begin = std::chrono::steady_clock::now();
  bool has_slept = false;
  std::thread other([&] {
    if (flag.load() == 0) return;
    std::this_thread::sleep_for(std::chrono::hours(1));
    has_slept = true;
  });
  flag.store(1);
  other.join();
  const auto passed = std::chrono::steady_clock::now() - begin;
#ifdef WRONG
  has_slept = true;
#endif
  assert((passed >= std::chrono::hours(1)) == has_slept);
}
#elif defined(HANDLERS)
// Executions that wait for another thread do not come to their handlers.
int ended = 0;
int main() {
  std::atexit([] { assert(++ended == 1); });
#ifdef WRONG
  std::atexit([] { assert(++ended == 1); });
#endif
  std::thread other([] { flag.store(1); });
  while (flag.load() == 0) {
  }
  other.join();
}
#elif defined(UNJOINED)
// Before the first thread starts, memory that is allocated again is no choice: nobody can tell.
int main() {
  delete new int;
  delete new int;
  std::thread other([] { flag.store(1); });
#ifdef WRONG
  delete new int;
  delete new int;
#endif
  while (flag.load() == 0) {
  }
  other.join();
}
#else
// Nor is it when all threads have been joined.
int main() {
  std::thread other([] {});
  other.join();
  delete new int;
  delete new int;
}
#endif
