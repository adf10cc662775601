// SPDX-License-Identifier: MIT
// A loop waits if its rounds are alike. They differ if the thread has other locks than before, or has given
// something away.
// check -DTAKEN: passes
// check -DTAKEN -DKEPT: FAIL deadlock
// check -DREPEATED: passes
// check -DREPEATED -DONCE_TOO_OFTEN: FAIL assertion
// check -DPERMITS: exhaustive, 1 execution
// check -DPERMITS -DNOBODY: FAIL deadlock
// check -DOUTER: passes
// check -DADVANCES: exhaustive, 1 execution
// check -DWEAK --spurious 1: bounded, 2 executions
// check -DROUNDS: exhaustive, 7 executions
#include <atomic>
#include <cassert>
#include <thread>

#include <pthread.h>
#include <semaphore.h>

std::atomic<int> flag{0};

pthread_mutex_t mutex;
void make_mutex(int kind) {
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_settype(&attributes, kind);
  pthread_mutex_init(&mutex, &attributes);
}

#if defined(TAKEN)
// Only the mutex knows whether the thread has it: a round takes it, and the next one gives it back.
int main() {
  make_mutex(PTHREAD_MUTEX_ERRORCHECK);
  std::thread other([] {
    pthread_mutex_lock(&mutex);
    flag.store(1, std::memory_order::relaxed);
    pthread_mutex_unlock(&mutex);
  });
  while (flag.load(std::memory_order::relaxed) == 0) {
    const bool had_it = pthread_mutex_lock(&mutex) != 0;
#ifdef KEPT
    static_cast<void>(had_it);
#else
    if (had_it) pthread_mutex_unlock(&mutex);
#endif
  }
  pthread_mutex_unlock(&mutex);
  other.join();
}
#elif defined(REPEATED)
// Each round gives a recursive mutex back once.
int main() {
  make_mutex(PTHREAD_MUTEX_RECURSIVE);
  for (int i = 0; i != 3; ++i) pthread_mutex_lock(&mutex);
  std::thread other([] { flag.store(1, std::memory_order::relaxed); });
#ifdef ONCE_TOO_OFTEN
  while (flag.load(std::memory_order::relaxed) == 0) assert(pthread_mutex_unlock(&mutex) == 0);
#else
  for (int i = 0; i != 3; ++i) assert(pthread_mutex_unlock(&mutex) == 0);
  while (flag.load(std::memory_order::relaxed) == 0) {
  }
#endif
  other.join();
}
#elif defined(PERMITS)
// Each round gives a permit.
sem_t permits;
int count() {
  int value = 0;
  sem_getvalue(&permits, &value);
  return value;
}
int main() {
  sem_init(&permits, 0, 0);
  std::thread other([] { flag.store(1); });
#ifdef NOBODY
  while (count() < 3) {
  }
#else
  while (count() < 3) sem_post(&permits);
#endif
  other.join();
}
#elif defined(OUTER)
// A lock that is taken in each round is not the one that the thread has all the time.
pthread_mutex_t outer = PTHREAD_MUTEX_INITIALIZER;
int data = 0;
int main() {
  make_mutex(PTHREAD_MUTEX_NORMAL);
  std::thread other([] {
    pthread_mutex_lock(&mutex);
    data = 1;
    pthread_mutex_unlock(&mutex);
  });
  pthread_mutex_lock(&outer);
  for (bool is_done = false; !is_done;) {
    pthread_mutex_lock(&mutex);
    is_done = data == 1;
    pthread_mutex_unlock(&mutex);
  }
  pthread_mutex_unlock(&outer);
  other.join();
}
#elif defined(ADVANCES)
// Each round changes the variable, by one compare-exchange or another. Not inlined, so that registers do not tell
// the rounds apart.
std::atomic<int> at{0};
[[gnu::noinline]] bool is_at_the_end() { return at.load() == 3; }
[[gnu::noinline]] void advance() {
  for (int from = 0; from != 3; ++from) {
    int expected = from;
    if (at.compare_exchange_strong(expected, from + 1)) return;
  }
}
int main() {
  std::thread other([] { flag.store(1); });
  while (!is_at_the_end()) advance();
  other.join();
}
#elif defined(WEAK)
// A compare-exchange that has failed for no reason succeeds in the next round.
[[gnu::noinline]] bool take() {
  int expected = 0;
  return flag.compare_exchange_weak(expected, 1);
}
int main() {
  std::thread other([] {});
  while (!take()) {
  }
  other.join();
}
#else
// What a loop has read before it takes a lock says nothing of what it reads afterwards.
int main() {
  std::thread other([] { flag.store(1, std::memory_order::relaxed); });
  pthread_mutex_t all[6];
  int seen = 0;
  for (pthread_mutex_t& each : all) {
    pthread_mutex_init(&each, nullptr);
    pthread_mutex_lock(&each);
    seen += flag.load(std::memory_order::relaxed);
  }
  for (pthread_mutex_t& each : all) pthread_mutex_unlock(&each);
  other.join();
  assert(seen <= 6);
}
#endif
