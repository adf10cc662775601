// SPDX-License-Identifier: MIT
// Locks of the standard library, and what it offers besides the mutex.
// Each program has a macro, which stands first in its lines `// check`. The last program has none.
#include <atomic>
#include <barrier>
#include <cassert>
#include <future>
#include <latch>
#include <memory>
#include <mutex>
#include <semaphore>
#include <shared_mutex>
#include <stdexcept>
#include <thread>

#include <semaphore.h>

#if defined(MUTEX)

// check -DMUTEX: exhaustive, 2 executions
// check -DMUTEX --waits-in-place off: exhaustive, 2 executions
// check -DMUTEX -DNO_LOCK: FAIL data race
// check -DMUTEX -DNO_UNLOCK: FAIL deadlock
// check -DMUTEX -DTWICE: FAIL deadlock
// check -DMUTEX -DNOT_HELD: FAIL misuse
// check -DMUTEX -DBOTH: FAIL deadlock

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

#else

// What the standard library offers besides the mutex.
// check -DSHARED: exhaustive
// check -DSHARED -DWRONG: FAIL data race
// check -DTRY_SHARED: exhaustive
// check -DRECURSIVE: exhaustive, 2 executions
// check -DRECURSIVE -DWRONG: FAIL deadlock
// check -DSEMAPHORE: FAIL deadlock
// check -DPOSIX_SEMAPHORE: exhaustive
// check -DSEMAPHORE -DWRONG: FAIL data race
// check -DLATCH: exhaustive
// check alone -DLATCH -DRUNQ_CHECK_LIBRARY_BARRIERS: exhaustive
// check -DLATCH -DWRONG: FAIL deadlock
// check -DBARRIER: passes
// check -DCALL_ONCE: exhaustive
// check -DCALL_ONCE -DWRONG: FAIL data race
// check -DONCE_THROWS: passes
// check -DJTHREAD: passes
// check -DATOMIC_SHARED: passes
// check -DATOMIC_SHARED -DWRONG: FAIL data race
// check -DFUTURE: passes

int data;
std::shared_mutex shared;
std::recursive_mutex recursive;
std::once_flag once;

int main() {
#if defined(SHARED)
  const auto read = [] {
    const std::shared_lock lock(shared);
    assert(data == 0 || data == 1);
  };
  std::thread a(read);
  std::thread b(read);
  {
#ifdef WRONG
    const std::shared_lock lock(shared);
#else
    const std::unique_lock lock(shared);
#endif
    ++data;
  }
  a.join();
  b.join();
#elif defined(TRY_SHARED)
  std::thread a([] {
    if (!shared.try_lock()) return;
    ++data;
    shared.unlock();
  });
  if (shared.try_lock_shared()) {
    assert(data == 0 || data == 1);
    shared.unlock_shared();
  }
  a.join();
#elif defined(RECURSIVE)
  const auto work = [] {
    recursive.lock();
    recursive.lock();
    ++data;
    recursive.unlock();
#ifndef WRONG
    recursive.unlock();
#endif
  };
  std::thread a(work);
  std::thread b(work);
  a.join();
  b.join();
  assert(data == 2);
#elif defined(POSIX_SEMAPHORE)
  static sem_t room;
  sem_init(&room, 0, 1);
  const auto work = [] {
    sem_wait(&room);
    ++data;
    sem_post(&room);
  };
  std::thread a(work);
  std::thread b(work);
  a.join();
  b.join();
  assert(data == 2);
#elif defined(SEMAPHORE)
  // acquire() of libstdc++ 12 notes the counter before it tries, and sleeps when the counter is the same afterwards:
  // it may have been taken and given back meanwhile. Its users can hang.
  static std::counting_semaphore<2> room{1};
#ifdef WRONG
  room.release();
#endif
  const auto work = [] {
    room.acquire();
    ++data;
    room.release();
  };
  std::thread a(work);
  std::thread b(work);
  a.join();
  b.join();
  assert(data == 2);
#elif defined(LATCH)
  static std::latch all{2};
  std::thread a([] {
    data = 1;
#ifndef WRONG
    all.count_down();
#endif
  });
  all.arrive_and_wait();
  assert(data == 1);
  a.join();
#elif defined(BARRIER)
  static int parts[2];
  static std::barrier all{2};
  std::thread a([] {
    parts[0] = 1;
    all.arrive_and_wait();
    assert(parts[1] == 1);
  });
  parts[1] = 1;
  all.arrive_and_wait();
  assert(parts[0] == 1);
  a.join();
#elif defined(CALL_ONCE) || defined(ONCE_THROWS)
  static std::atomic<int> calls{0};
  const auto work = [] {
#ifdef WRONG
    if (data == 0) data = 1;
#elif defined(ONCE_THROWS)
    try {
      std::call_once(once, [] {
        if (calls.fetch_add(1, std::memory_order::relaxed) == 0) throw std::runtime_error("not yet");
        data = 1;
      });
    } catch (const std::runtime_error&) {
    }
#else
    std::call_once(once, [] { ++data; });
    assert(data == 1);
#endif
  };
  std::thread a(work);
  std::thread b(work);
  a.join();
  b.join();
  assert(data == 1);
#elif defined(JTHREAD)
  static std::atomic<int> stopped{0};
  {
    std::jthread t([](const std::stop_token& token) {
      while (!token.stop_requested()) std::this_thread::yield();
      ++stopped;
    });
    const std::stop_callback at_stop(t.get_stop_token(), [] { ++stopped; });
  }
  assert(stopped == 1 || stopped == 2);
#elif defined(ATOMIC_SHARED)
  static std::atomic<std::shared_ptr<int>> box{std::make_shared<int>(1)};
  std::thread a([] { box.store(std::make_shared<int>(2)); });
  const std::shared_ptr<int> seen = box.load();
#ifdef WRONG
  std::thread b([] { *box.load() = 3; });
#endif
  assert(*seen == 1 || *seen == 2);
  a.join();
#ifdef WRONG
  b.join();
#endif
  box.store(nullptr);
#elif defined(FUTURE)
  std::promise<int> promise;
  std::future<int> answer = promise.get_future();
  std::thread a([&] { promise.set_value(7); });
  assert(answer.get() == 7);
  a.join();
#endif
}

#endif
