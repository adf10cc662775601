// SPDX-License-Identifier: MIT
// A timeout may always happen, and the time changes only where a deadline may pass.
// check -DMUTEX: bounded
// check -DMUTEX -DWRONG: FAIL assertion fails: data == 2
// check -DRECURSIVE: bounded
// check -DWAIT_FOR: bounded
// check -DWAIT_FOR -DWRONG: FAIL assertion fails: got
// check -DWAIT_LOOP: bounded
// Only the timeout ends the wait if the flag is raised without the lock, between the look at it and the wait.
// check -DWAIT_LOOP -DWRONG: bounded
// check -DWAIT_LOOP -DWRONG --judge-timed-waits --timeouts 0: FAIL deadlock
// check -DWAIT_LOOP --judge-timed-waits --timeouts 0: bounded
// check -DDEADLINE: bounded
// check -DDEADLINE -DWRONG: FAIL assertion fails: ready
// check -DMONOTONIC: passes
// check -DSHARED: bounded
// check -DSEMAPHORE: bounded
// check -DSLEEPING_RACE: FAIL data race
#include <atomic>
#include <cassert>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <semaphore>
#include <shared_mutex>
#include <thread>

using namespace std::chrono_literals;
int data;

int main() {
#if defined(MUTEX)
  static std::timed_mutex m;
  const auto work = [] {
    if (!m.try_lock_for(10ms)) return;
    ++data;
    m.unlock();
  };
  std::thread a(work);
  std::thread b(work);
  a.join();
  b.join();
#ifdef WRONG
  assert(data == 2);
#endif
#elif defined(RECURSIVE)
  static std::recursive_timed_mutex m;
  const auto work = [] {
    const std::lock_guard outer(m);
    if (!m.try_lock_for(10ms)) return;
    ++data;
    m.unlock();
  };
  std::thread a(work);
  std::thread b(work);
  a.join();
  b.join();
  assert(data == 2);
#elif defined(WAIT_FOR) || defined(WAIT_LOOP)
  static std::mutex m;
  static std::condition_variable changed;
  static std::atomic<bool> ready = false;
  std::thread waiter([] {
    std::unique_lock lock(m);
#ifdef WAIT_FOR
    [[maybe_unused]] const bool got = changed.wait_for(lock, 10ms, [] { return ready.load(); });
#ifdef WRONG
    assert(got);
#endif
#else
    while (!ready) changed.wait_for(lock, 1ms);
#endif
  });
#if defined(WAIT_LOOP) && defined(WRONG)
  ready = true;
#else
  {
    const std::lock_guard lock(m);
    ready = true;
  }
#endif
  changed.notify_one();
  waiter.join();
#elif defined(DEADLINE)
  static std::atomic<bool> ready{false};
  std::thread setter([] { ready.store(true); });
  const auto deadline = std::chrono::steady_clock::now() + 10ms;
  while (!ready.load() && std::chrono::steady_clock::now() < deadline) std::this_thread::yield();
#ifdef WRONG
  assert(ready);
#endif
  setter.join();
#elif defined(MONOTONIC)
  const auto before = std::chrono::steady_clock::now();
  static std::chrono::steady_clock::time_point within;
  std::thread t([] {
    std::this_thread::sleep_for(5ms);
    within = std::chrono::steady_clock::now();
  });
  t.join();
  assert(within >= before + 5ms);
  assert(std::chrono::steady_clock::now() >= within);
#elif defined(SHARED)
  static std::shared_timed_mutex m;
  std::thread reader([] {
    if (!m.try_lock_shared_for(1ms)) return;
    assert(data == 0 || data == 1);
    m.unlock_shared();
  });
  if (m.try_lock_until(std::chrono::steady_clock::now() + 1ms)) {
    ++data;
    m.unlock();
  }
  reader.join();
#elif defined(SEMAPHORE)
  static std::counting_semaphore<4> s{0};
  std::thread giver([] {
    data = 1;
    s.release();
  });
  if (s.try_acquire_for(1ms)) assert(data == 1);
  giver.join();
#elif defined(SLEEPING_RACE)
  std::thread t([] { data = 1; });
  std::this_thread::sleep_for(1s);  // orders nothing
  ++data;
  t.join();
#endif
}
