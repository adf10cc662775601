// SPDX-License-Identifier: MIT
// The standard library's objects: used after their end or beside it, destroyed in use, held by a thread that ends.
// check -DCONDITION: passes
// check -DCONDITION -DWRONG: FAIL use after free
// check -DCONDITION -DALL: passes
// check -DCONDITION -DALL -DWRONG: FAIL use after free
// check -DANY: passes
// check -DANY -DWRONG: FAIL use after free
// check -DWAITER: passes
// check -DWAITER -DWRONG: FAIL condition variable
// check -DWAITER -DWRONG -DLOCAL: FAIL condition variable
// check -DABANDONED=mutex: passes
// check -DABANDONED=mutex -DWRONG: FAIL T1 has ended while it holds the mutex
// check -DABANDONED=recursive_mutex -DWRONG: FAIL T1 has ended while it holds the mutex
// check -DABANDONED=timed_mutex -DWRONG: FAIL T1 has ended while it holds the mutex
// check -DABANDONED=recursive_timed_mutex -DWRONG: FAIL T1 has ended while it holds the mutex
// check -DABANDONED=shared_mutex -DWRONG: FAIL T1 has ended while it holds the read-write lock
// check -DABANDONED=shared_mutex -DSHARED -DWRONG: FAIL T1 has ended while it holds the read-write lock
// check -DABANDONED=shared_timed_mutex -DWRONG: FAIL T1 has ended while it holds the read-write lock
// check -DLOCKED=mutex: passes
// check -DLOCKED=mutex -DWRONG: FAIL is freed while T1 holds it, taken at objects.cpp:
// check -DLOCKED=recursive_mutex -DWRONG: FAIL is freed while T1 holds it, taken at objects.cpp:
// check -DLOCKED=timed_mutex -DWRONG: FAIL is freed while T1 holds it, taken at objects.cpp:
// check -DLOCKED=shared_mutex -DWRONG: FAIL is freed while T1 holds it, taken at objects.cpp:
// check -DAT_EXIT: passes
// check -DAGAIN: FAIL misuse: T0 tries to lock the mutex
// check -DHANDLE: passes
// check -DHANDLE -DWRONG: FAIL
// check -DPROMISE: passes
// check -DPROMISE -DWRONG: FAIL
// check -DPROMISE_TWICE: passes
// check -DFREED=latch: passes
// check -DFREED=latch -DWRONG: FAIL use after free
// check -DFREED=binary_semaphore: passes
// check -DFREED=binary_semaphore -DWRONG: FAIL use after free
// check -DFREED=barrier<>: passes
// check -DFREED=barrier<> -DWRONG: FAIL use after free
// check -DFREED=once_flag: passes
// check -DFREED=once_flag -DWRONG: FAIL use after free
// check -DAT_THREAD_EXIT: passes
// check -DFRAMES: passes
// check -DBEFORE_MAIN: passes
#include <atomic>
#include <barrier>
#include <cassert>
#include <condition_variable>
#include <future>
#include <latch>
#include <memory>
#include <mutex>
#include <optional>
#include <semaphore>
#include <shared_mutex>
#include <thread>

#include <pthread.h>
#include <semaphore.h>

std::atomic<int> ready{0};
std::mutex m;
bool waits = false;
bool changed = false;

void use(std::latch& l) { l.count_down(); }
void use(std::binary_semaphore& s) { s.release(); }
void use(std::barrier<>& b) { b.arrive_and_drop(); }
void use(std::once_flag& f) {
  std::call_once(f, [] {});
}
std::latch* make(std::latch*) { return new std::latch(1); }
std::binary_semaphore* make(std::binary_semaphore*) { return new std::binary_semaphore(0); }
std::barrier<>* make(std::barrier<>*) { return new std::barrier<>(2); }
std::once_flag* make(std::once_flag*) { return new std::once_flag; }

struct before_main {
  pthread_spinlock_t spin;
  sem_t semaphore;
  pthread_barrier_t barrier;
  before_main() {
    pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE);
    sem_init(&semaphore, 0, 1);
    pthread_barrier_init(&barrier, nullptr, 1);
  }
};
before_main initialised;

/// Leaves its variables as they are: the next call finds them where its own are.
void use_local_objects() {
  pthread_mutex_t local;
  pthread_mutex_init(&local, nullptr);
  pthread_mutex_lock(&local);
  pthread_mutex_unlock(&local);
}

int main() {
#if defined(CONDITION) || defined(ANY)
#ifdef ANY
  using condition = std::condition_variable_any;
#else
  using condition = std::condition_variable;
#endif
  auto c = std::make_unique<condition>();
  std::thread t([p = c.get()] {
#ifdef ALL
    p->notify_all();
#else
    p->notify_one();
#endif
  });
#ifdef WRONG
  c.reset();
  t.join();
#else
  t.join();
  c.reset();
#endif
#elif defined(WAITER)
#ifdef LOCAL
  std::optional<std::condition_variable> c{std::in_place};
#else
  auto c = std::make_unique<std::condition_variable>();
#endif
  std::thread t([&at = *c] {
    std::unique_lock lock(m);
    if (changed) return;
    waits = true;
    at.wait(lock, [] { return changed; });
  });
  {
    const std::lock_guard lock(m);
    changed = true;
#ifndef WRONG
    if (waits) c->notify_all();
#endif
  }
  c.reset();
  t.join();
#elif defined(ABANDONED)
  static std::ABANDONED lock;
  std::thread t([] {
#ifdef SHARED
    lock.lock_shared();
#else
    lock.lock();
#endif
#ifndef WRONG
    lock.unlock();
#endif
  });
  t.join();
#elif defined(LOCKED)
  auto lock = std::make_unique<std::LOCKED>();
  std::thread t([p = lock.get()] {
    p->lock();
#ifndef WRONG
    p->unlock();
#endif
  });
  t.join();
  lock.reset();
#elif defined(AT_EXIT)
  m.lock();  // a program may end so
#elif defined(AGAIN)
  m.lock();
  if (!m.try_lock()) m.unlock();
#elif defined(HANDLE)
  std::thread t([] {});
#ifdef WRONG
  std::thread other([&t] { t.detach(); });
  t.join();
  other.join();
#else
  t.join();
#endif
#elif defined(PROMISE)
  auto p = std::make_unique<std::promise<int>>();
  std::future<int> f = p->get_future();
  std::thread t([at = p.get()] { at->set_value(1); });
#ifdef WRONG
  p.reset();
#endif
  t.join();
  assert(f.get() == 1);
#elif defined(PROMISE_TWICE)
  std::promise<int> p;
  std::future<int> f = p.get_future();
  p.set_value(1);
  try {
    p.set_value(2);
    assert(false);
  } catch (const std::future_error&) {
  }
  assert(f.get() == 1 && !f.valid());
#elif defined(AT_THREAD_EXIT)
  std::condition_variable c;
  std::thread t([&c] {
    std::unique_lock lock(m);
    changed = true;
    std::notify_all_at_thread_exit(c, std::move(lock));  // the thread holds the lock until it ends
  });
  {
    std::unique_lock lock(m);
    c.wait(lock, [] { return changed; });
  }
  t.join();
#elif defined(FREED)
  auto* const p = make(static_cast<std::FREED*>(nullptr));
  std::thread t([p] { use(*p); });
#ifdef WRONG
  delete p;
  t.join();
#else
  t.join();
  delete p;
#endif
#elif defined(FRAMES)
  use_local_objects();
  use_local_objects();
#elif defined(BEFORE_MAIN)
  assert(pthread_spin_lock(&initialised.spin) == 0 && pthread_spin_unlock(&initialised.spin) == 0);
  assert(sem_trywait(&initialised.semaphore) == 0 && sem_trywait(&initialised.semaphore) != 0);
  assert(pthread_barrier_wait(&initialised.barrier) == PTHREAD_BARRIER_SERIAL_THREAD);
  assert(pthread_spin_destroy(&initialised.spin) == 0 && sem_destroy(&initialised.semaphore) == 0);
#endif
}
