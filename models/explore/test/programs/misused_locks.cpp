// SPDX-License-Identifier: MIT
// Locks, condition variables, barriers and semaphores that end, or are unlocked, while others use them; and what their
// right use answers.
//
// check -DWAY=0: passes
// check -DWAY=1: FAIL misuse: a condition variable is destroyed while a thread waits for it
// check -DWAY=2: FAIL misuse: a barrier is destroyed while a thread waits at it
// check -DWAY=3: FAIL misuse: a semaphore is destroyed while a thread waits for it
// check -DWAY=4: FAIL misuse: a lock is destroyed while it is locked
// check -DWAY=5: FAIL misuse: a mutex is destroyed while it is locked
// check -DWAY=6: FAIL misuse: a lock is unlocked that this thread has not locked
// check -DWAY=7: FAIL misuse: a thread waits with a mutex that it has not locked
// check -DWAY=8: FAIL data race
// check -DWAY=9: FAIL use after free
// check -DWAY=10: FAIL deadlock
// check -DWAY=11: not supported: a robust mutex
// check -DWAY=12: not supported: a semaphore between processes
#include <atomic>
#include <cassert>
#include <cerrno>
#include <cstdlib>
#include <ctime>
#include <thread>

#include <pthread.h>
#include <semaphore.h>
#include <threads.h>

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
pthread_rwlock_t readers = PTHREAD_RWLOCK_INITIALIZER;
pthread_barrier_t barrier;
sem_t semaphore;
bool is_done = false;

void waits_until_done() {
  pthread_mutex_lock(&mutex);
  while (!is_done) pthread_cond_wait(&changed, &mutex);
  pthread_mutex_unlock(&mutex);
}
void is_done_now(int (*tell)(pthread_cond_t*)) {
  pthread_mutex_lock(&mutex);
  is_done = true;
  tell(&changed);
  pthread_mutex_unlock(&mutex);
}

/// The other thread may wait already.
void destroys_what_another_one_waits_for() {
  pthread_barrier_init(&barrier, nullptr, 2);
  sem_init(&semaphore, 0, 0);
  std::atomic<bool> begins{false};
  std::thread other([&] {
    begins.store(true, std::memory_order::release);
    if (WAY == 1) waits_until_done();
    if (WAY == 2) pthread_barrier_wait(&barrier);
    if (WAY == 3) sem_wait(&semaphore);
  });
  while (!begins.load(std::memory_order::acquire)) std::this_thread::yield();
  pthread_mutex_lock(&mutex);
  pthread_mutex_unlock(&mutex);
  if (WAY == 1) pthread_cond_destroy(&changed);
  if (WAY == 2) pthread_barrier_destroy(&barrier);
  if (WAY == 3) sem_destroy(&semaphore);
  std::exit(0);
}

void begins_a_mutex_that_another_one_locks() {
  std::thread other([] { pthread_mutex_lock(&mutex); });
  pthread_mutex_init(&mutex, nullptr);
  other.join();
}
void locks_a_mutex_that_is_freed() {
  auto* const m = new pthread_mutex_t(PTHREAD_MUTEX_INITIALIZER);
  pthread_mutex_t* volatile kept = m;
  delete m;
  pthread_mutex_lock(kept);
}
/// One of the two is told.
void tells_one_of_two() {
  std::thread first(waits_until_done);
  std::thread second(waits_until_done);
  is_done_now(&pthread_cond_signal);
  first.join();
  second.join();
}
void begins_a_robust_mutex() {
  pthread_mutexattr_t robust;
  pthread_mutexattr_init(&robust);
  pthread_mutexattr_setrobust(&robust, PTHREAD_MUTEX_ROBUST);
  pthread_mutex_init(&mutex, &robust);
}

// --- right use -------------------------------------------------------------------------------------------------------

void one_of_those_that_meet_is_told_so() {
  assert(pthread_barrier_init(&barrier, nullptr, 0) == EINVAL && pthread_barrier_init(&barrier, nullptr, 2) == 0);
  std::atomic<int> told{0};
  const auto meets = [&] {
    for (int i = 0; i != 2; ++i) {
      const int answer = pthread_barrier_wait(&barrier);
      assert(answer == 0 || answer == PTHREAD_BARRIER_SERIAL_THREAD);
      told += answer == PTHREAD_BARRIER_SERIAL_THREAD ? 1 : 0;
    }
  };
  std::thread other(meets);
  meets();
  other.join();
  assert(told == 2 && pthread_barrier_destroy(&barrier) == 0);
}
/// It goes by the clock that it was made for; the time of the other one is long past, or far away.
void a_wait_ends_by_its_own_clock() {
  pthread_condattr_t by_monotonic;
  pthread_condattr_init(&by_monotonic);
  pthread_condattr_setclock(&by_monotonic, CLOCK_MONOTONIC);
  pthread_cond_t never;
  pthread_cond_init(&never, &by_monotonic);
  timespec begun{};
  clock_gettime(CLOCK_MONOTONIC, &begun);
  timespec until = begun;
  until.tv_sec += 5;
  timespec now = begun;
  pthread_mutex_lock(&mutex);
  while (pthread_cond_timedwait(&never, &mutex, &until) == 0) {
  }
  clock_gettime(CLOCK_MONOTONIC, &now);
  assert(now.tv_sec >= until.tv_sec);
  assert(pthread_cond_timedwait(&never, &mutex, &begun) == ETIMEDOUT);
  pthread_mutex_unlock(&mutex);
  pthread_cond_destroy(&never);
}
void locks_hand_on_what_was_done() {
  pthread_spinlock_t spins;
  pthread_spin_init(&spins, PTHREAD_PROCESS_PRIVATE);
  sem_init(&semaphore, 0, 0);
  int by_spins = 0;
  int by_semaphore = 0;
  const auto adds = [&] {
    pthread_spin_lock(&spins);
    ++by_spins;
    pthread_spin_unlock(&spins);
  };
  std::thread other([&] {
    adds();
    by_semaphore = 1;
    sem_post(&semaphore);
  });
  adds();
  while (sem_trywait(&semaphore) != 0) std::this_thread::yield();
  assert(by_semaphore == 1 && by_spins == 2);
  other.join();
  pthread_spin_destroy(&spins);
  sem_destroy(&semaphore);
}
void a_mutex_of_c11_is_locked_twice() {
  mtx_t m;
  assert(mtx_init(&m, mtx_plain | mtx_recursive) == thrd_success);
  assert(mtx_lock(&m) == thrd_success && mtx_trylock(&m) == thrd_success && mtx_unlock(&m) == thrd_success);
  std::thread([&] { assert(mtx_trylock(&m) == thrd_busy); }).join();
  assert(mtx_unlock(&m) == thrd_success);
  std::thread([&] { assert(mtx_trylock(&m) == thrd_success && mtx_unlock(&m) == thrd_success); }).join();
  mtx_destroy(&m);
}

int main() {
  if (WAY >= 1 && WAY <= 3) destroys_what_another_one_waits_for();
  if (WAY == 4) pthread_rwlock_rdlock(&readers), pthread_rwlock_destroy(&readers);
  if (WAY == 5) pthread_mutex_lock(&mutex), pthread_mutex_destroy(&mutex);
  if (WAY == 6) pthread_rwlock_unlock(&readers);
  if (WAY == 7) pthread_cond_wait(&changed, &mutex);
  if (WAY == 8) begins_a_mutex_that_another_one_locks();
  if (WAY == 9) locks_a_mutex_that_is_freed();
  if (WAY == 10) tells_one_of_two();
  if (WAY == 11) begins_a_robust_mutex();
  if (WAY == 12) sem_init(&semaphore, 1, 0);
  if (WAY != 0) return 0;
  one_of_those_that_meet_is_told_so();
  a_wait_ends_by_its_own_clock();
  locks_hand_on_what_was_done();
  a_mutex_of_c11_is_locked_twice();
}
