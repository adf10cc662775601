// SPDX-License-Identifier: MIT
// Waits for condition variables.
// Each program has a macro, which stands first in its lines `// check`. The last program has none.
#include <cassert>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include <pthread.h>

#if defined(NOTIFIED)

// check -DNOTIFIED: bounded
// check -DNOTIFIED -DLOST: FAIL deadlock
// check -DNOTIFIED -DONE: FAIL deadlock
// check -DNOTIFIED -DTIMEOUT: bounded

std::mutex m;
std::condition_variable changed;
bool ready;

void wait() {
  std::unique_lock lock(m);
#ifdef LOST
  if (!ready) {
    lock.unlock();
    lock.lock();  // here the notification may come
    changed.wait(lock);
  }
#elif defined(TIMEOUT)
  const timespec some_time{1, 0};
  while (!ready) {
    if (pthread_cond_timedwait(changed.native_handle(), m.native_handle(), &some_time) == ETIMEDOUT) return;
  }
#else
  changed.wait(lock, [] { return ready; });
#endif
}

int main() {
  std::thread a(wait);
#ifdef ONE
  std::thread b(wait);
#endif
  {
    const std::lock_guard lock(m);
    ready = true;
  }
#ifdef ONE
  changed.notify_one();  // two may wait
#else
  changed.notify_all();
#endif
  a.join();
#ifdef ONE
  b.join();
#endif
}

#else

// A wait for a condition variable may end although nobody has notified it. Only a loop around it is right. A thread
// that comes back to the wait in the same state might have waited on: such rounds add nothing, however many they are.
// By default a wait may end when it has just begun, with --spurious-wakeups at any time.
// check: bounded, 2 executions
// check -DONCE: FAIL assertion fails: s.stage != 0
// check --spurious-wakeups 0 -DONCE: bounded, 2 executions
// check -DPREDICATE: bounded, 2 executions
// check --every-iteration: bounded, 3 executions
// check --spurious-wakeups 1: exhaustive, 5 executions
// check --spurious-wakeups 2: exhaustive, 5 executions
// check --spurious-wakeups 2 --every-iteration: bounded
// check --spurious-wakeups 1 -DONCE: FAIL assertion fails: s.stage != 0
// check --spurious-wakeups 1 -DPREDICATE: exhaustive, 5 executions
// check -DANY_LOCK: bounded
// check -DANY_LOCK -DONCE: FAIL assertion fails: s.stage != 0
// check --spurious-wakeups 1 -DANY_LOCK: bounded
// check -DCOUNTS: bounded, 3 executions
// check --spurious-wakeups 1 -DCOUNTS: bounded, 6 executions
// check -DTWICE: bounded, 6 executions
// check --spurious-wakeups 1 -DTWICE: bounded, 30 executions
// check --spurious-wakeups 2 -DTWICE: exhaustive, 56 executions
// check -DTIMED: bounded
// check -DTIMED -DONCE: FAIL assertion fails: s.stage != 0
// check --spurious-wakeups 0 -DTIMED -DONCE: bounded
// check --spurious-wakeups 1 -DTIMED: bounded

struct shared {
  std::mutex mutex;
#ifdef ANY_LOCK
  std::condition_variable_any changed;  // its waits count the users of its own mutex
#else
  std::condition_variable changed;
#endif
  int stage = 0;
  int rounds = 0;
};

shared s;

void wait_for_stage(int stage, std::unique_lock<std::mutex>& lock) {
#if defined(PREDICATE)
  s.changed.wait(lock, [&] { return s.stage >= stage; });
#else
  while (s.stage < stage) {
#ifdef COUNTS
    ++s.rounds;
#endif
    s.changed.wait(lock);
  }
#endif
}

void set_stage(int stage) {
  {
    const std::lock_guard lock(s.mutex);
    s.stage = stage;
  }
  s.changed.notify_one();
}

int main() {
  std::thread waiter([] {
    std::unique_lock lock(s.mutex);
#if defined(TIMED)
    bool in_time = true;
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(1);
#ifdef ONCE
    if (s.stage == 0) in_time = s.changed.wait_until(lock, end) == std::cv_status::no_timeout;
#else
    while (s.stage == 0 && in_time) in_time = s.changed.wait_until(lock, end) == std::cv_status::no_timeout;
#endif
    if (in_time) assert(s.stage != 0);
#elif defined(ONCE)
    if (s.stage == 0) s.changed.wait(lock);
    assert(s.stage != 0);
#else
    wait_for_stage(1, lock);
#ifdef TWICE
    wait_for_stage(2, lock);
#endif
#endif
  });
  set_stage(1);
#ifdef TWICE
  set_stage(2);
#endif
  waiter.join();
}

#endif
