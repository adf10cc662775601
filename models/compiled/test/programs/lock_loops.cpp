// SPDX-License-Identifier: MIT
// Loops that take locks and give them back until they have what they want.
// check: exhaustive
// check -DNESTED: FAIL deadlock
// check -DHELD: FAIL deadlock
// check -DOTHER_LOCK: FAIL data race
// check -DTHREE: exhaustive
// check -DTHREE_THREADS: exhaustive
// check -DMIXED: exhaustive
// check -DMIXED -DNESTED: FAIL deadlock
// check -DTIMED: exhaustive
// check -DSHARED: exhaustive
// check -DSHARED -DWRONG: FAIL data race
// check -DNOTICED: bounded; failures of try_lock because of a thread that repeats a round
// check -DBY_HAND: bounded
// check -DBY_HAND -DHELD: FAIL deadlock
// check -DTRY: bounded
// check -DTRY -DHELD: FAIL deadlock
// check -DTRY -DCOUNTING: passes
// check -DSPIN: exhaustive
// check -DSPIN -DHELD: FAIL deadlock
// check -DPERMIT: exhaustive
// check -DPERMIT -DHELD: FAIL deadlock
// check -DPOLLED: exhaustive
// check -DPOLLED -DHELD: FAIL deadlock
// check -DFLAG_AND_SPIN: exhaustive, 1 execution, +1 blocked
// check -DFLAG_AND_SPIN --waits-in-place off: exhaustive, 1 execution, +3 blocked
// check -DFLAG_AND_SPIN -DHELD: FAIL deadlock
// check -DFLAG_AND_SPIN -DSILENT: FAIL deadlock
// check -DTWO_POLLERS: exhaustive
// check -DTWO_POLLERS -DHELD: FAIL deadlock
// check -DLOOKED_BEFORE: FAIL check failed
// check -DLOOKED_BEFORE -DAT_LOCK: FAIL check failed
// check -DCHANGES_SOMETHING: limit reached
#include <atomic>
#include <cassert>
#include <mutex>
#include <shared_mutex>
#include <thread>

#include <pthread.h>
#include <semaphore.h>

#if defined(TIMED)
std::timed_mutex a, b;
#elif defined(SHARED)
std::shared_mutex a, b;
#elif defined(MIXED)
std::mutex a;
std::recursive_mutex b;
#else
std::mutex a, b;
#endif
std::mutex c;
int data;

/// Where a thread keeps a lock, the loop of the other one begins only then: nobody ends it.
std::atomic<bool> is_held{false};
void say_that_it_is_held() {
#ifdef HELD
  is_held = true;
#endif
}
void wait_where_it_is_held() {
#ifdef HELD
  while (!is_held) continue;
#endif
}

#if defined(THREE)
int main() {
  std::thread other([] {
    std::lock(a, b, c);
    ++data;
    a.unlock();
    b.unlock();
    c.unlock();
  });
  {
    const std::scoped_lock lock(c, b, a);
    ++data;
  }
  other.join();
  assert(data == 2);
}
#elif defined(THREE_THREADS)
int main() {
  std::thread first([] { const std::scoped_lock lock(a, b); });
  std::thread second([] { const std::scoped_lock lock(b, c); });
  {
    const std::scoped_lock lock(c, a);
    ++data;
  }
  first.join();
  second.join();
}
#elif defined(SHARED)
int main() {
  std::thread other([] {
    std::shared_lock reads(a, std::defer_lock);
#ifdef WRONG
    std::shared_lock second(b, std::defer_lock);
#else
    std::unique_lock second(b, std::defer_lock);
#endif
    std::lock(reads, second);
    assert(data == 0 || data == 1);
  });
  {
#ifdef WRONG
    std::shared_lock one(a, std::defer_lock);
    std::shared_lock two(b, std::defer_lock);
    std::lock(two, one);
#else
    const std::scoped_lock lock(b, a);
#endif
    ++data;
  }
  other.join();
}
#elif defined(BY_HAND)
template <class First, class Second>
void lock_both(First& first, Second& second) {
  for (;;) {
    first.lock();
    if (second.try_lock()) return;
    first.unlock();
  }
}
int main() {
  std::thread other([] {
    lock_both(a, b);
    ++data;
#ifndef HELD
    a.unlock();
#endif
    b.unlock();
    say_that_it_is_held();
  });
  wait_where_it_is_held();
  lock_both(b, a);
  ++data;
  a.unlock();
  b.unlock();
  other.join();
  assert(data == 2);
}
#elif defined(TRY)
int main() {
  std::thread other([] {
    a.lock();
    ++data;
#ifndef HELD
    a.unlock();
#endif
    say_that_it_is_held();
  });
  wait_where_it_is_held();
  int rounds = 0;
  while (!a.try_lock()) {
#ifdef COUNTING
    ++rounds;
#endif
    std::this_thread::yield();
  }
  assert(rounds >= 0);
  ++data;
  a.unlock();
  other.join();
}
#elif defined(SPIN)
pthread_spinlock_t spin;
int main() {
  pthread_spin_init(&spin, 0);
  std::thread other([] {
    pthread_spin_lock(&spin);
    ++data;
#ifndef HELD
    pthread_spin_unlock(&spin);
#endif
    say_that_it_is_held();
  });
  wait_where_it_is_held();
  while (pthread_spin_trylock(&spin) != 0) std::this_thread::yield();
  ++data;
  pthread_spin_unlock(&spin);
  other.join();
  assert(data == 2);
}
#elif defined(PERMIT)
int main() {
  sem_t permits;
  sem_init(&permits, 0, 0);
  std::thread other([&] {
    ++data;
#ifndef HELD
    sem_post(&permits);
#endif
  });
  while (sem_trywait(&permits) != 0) std::this_thread::yield();
  ++data;
  other.join();
}
#elif defined(POLLED)
int main() {
  std::thread other([] {
    const std::lock_guard lock(a);
#ifndef HELD
    data = 1;
#endif
  });
  for (;;) {
    const std::lock_guard lock(a);
    if (data == 1) break;
  }
  other.join();
}
#elif defined(FLAG_AND_SPIN)
// A thread sets a flag under a lock, and then spins until the one that polls the flag under the lock tells it to go on.
std::atomic<bool> told{false};
bool flag;
int main() {
  std::thread other([] {
    {
      const std::lock_guard lock(a);
      data = 1;
#ifndef HELD
      flag = true;
#endif
    }
    while (!told.load(std::memory_order::acquire)) continue;
    assert(data == 2);
  });
  for (;;) {
    const std::lock_guard lock(a);
    if (flag) break;
  }
  assert(data == 1);
  data = 2;
#ifndef SILENT
  told.store(true, std::memory_order::release);
#endif
  other.join();
}
#elif defined(TWO_POLLERS)
void wait_for(int value) {
  for (;;) {
    const std::lock_guard lock(a);
    if (data >= value) break;
  }
}
int main() {
  std::thread waiting([] { wait_for(1); });
  std::thread other([] {
    const std::lock_guard lock(a);
#ifndef HELD
    data = 2;
#endif
  });
  wait_for(2);
  waiting.join();
  other.join();
}
#elif defined(LOOKED_BEFORE)
// What was seen before the loop began is older than what ends the loop.
std::atomic<int> flag{0};
int main() {
  std::thread other([] {
    const std::lock_guard lock(a);
    data = 1;
    flag.store(1, std::memory_order::relaxed);
  });
  a.lock();
  const int seen = data;
#ifdef AT_LOCK
  for (int done = 0; done == 0;) {
    a.unlock();
    a.lock();
    done = data;
  }
#else
  while (flag.load(std::memory_order::relaxed) == 0) {
    a.unlock();
    a.lock();
  }
#endif
  a.unlock();
  other.join();
  assert(seen == 1);
}
#elif defined(CHANGES_SOMETHING)
int attempts;
int main() {
  std::thread other([] {
    const std::lock_guard lock(a);
    data = 1;
  });
  for (;;) {
    const std::lock_guard lock(a);
    ++attempts;
    if (data == 1) break;
  }
  other.join();
}
#else
int main() {
  std::thread other([] {
#if defined(NESTED)
    const std::lock_guard first(a);
    const std::lock_guard second(b);
#elif defined(OTHER_LOCK)
    const std::scoped_lock lock(a, c);
#elif defined(HELD)
    a.lock();
    say_that_it_is_held();
    return;
#else
    const std::scoped_lock lock(a, b);
#endif
    ++data;
  });
#ifdef NOTICED
  std::thread noticing([] {
    if (a.try_lock()) a.unlock();
  });
#endif
  wait_where_it_is_held();
  {
#if defined(NESTED)
    const std::lock_guard first(b);
    const std::lock_guard second(a);
#elif defined(OTHER_LOCK)
    const std::scoped_lock lock(b);
#else
    const std::scoped_lock lock(b, a);
#endif
    ++data;
  }
  other.join();
#ifdef NOTICED
  noticing.join();
#endif
#ifndef HELD
  assert(data == 2);
#endif
}
#endif
