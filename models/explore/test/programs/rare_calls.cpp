// SPDX-License-Identifier: MIT
// What few programs ask of locks, keys, alarms, timers and compare-exchanges. A wait gives a recursive mutex back as
// often as it was locked; a new key has no values of an old one; what two readers have done under one lock has no
// order; a compare-exchange that fails acquires by its order for failures only.
//
// check -DWAY=0: passes
// check -DWAY=1: FAIL data race
// check -DWAY=2: FAIL data race
#include <atomic>
#include <cassert>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <shared_mutex>
#include <stdexcept>
#include <thread>

#include <pthread.h>
#include <semaphore.h>
#include <sys/timerfd.h>
#include <threads.h>
#include <unistd.h>

using namespace std::chrono_literals;

void a_wait_with_a_mutex_that_is_locked_twice() {
  pthread_mutexattr_t recursive;
  pthread_mutexattr_init(&recursive);
  pthread_mutexattr_settype(&recursive, PTHREAD_MUTEX_RECURSIVE);
  pthread_mutex_t m;
  pthread_mutex_init(&m, &recursive);
  pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
  bool is_done = false;
  std::thread other([&] {
    pthread_mutex_lock(&m);
    is_done = true;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&m);
  });
  pthread_mutex_lock(&m);
  pthread_mutex_lock(&m);
  while (!is_done) pthread_cond_wait(&changed, &m);
  assert(pthread_mutex_unlock(&m) == 0);
  std::thread([&] { assert(pthread_mutex_trylock(&m) == EBUSY); }).join();
  assert(pthread_mutex_trylock(&m) == 0 && pthread_mutex_unlock(&m) == 0);
  assert(pthread_mutex_unlock(&m) == 0);
  std::thread([&] { assert(pthread_mutex_trylock(&m) == 0 && pthread_mutex_unlock(&m) == 0); }).join();
  assert(pthread_mutex_unlock(&m) == EPERM);
  other.join();
  pthread_mutex_destroy(&m);
  pthread_cond_destroy(&changed);
}

void mistakes_that_are_told() {
  pthread_mutexattr_t checks;
  pthread_mutexattr_init(&checks);
  pthread_mutexattr_settype(&checks, PTHREAD_MUTEX_ERRORCHECK);
  pthread_mutex_t m;
  pthread_mutex_init(&m, &checks);
  assert(pthread_mutex_unlock(&m) == EPERM);
  assert(pthread_mutex_lock(&m) == 0 && pthread_mutex_lock(&m) == EDEADLK && pthread_mutex_trylock(&m) == EBUSY);
  assert(pthread_mutex_unlock(&m) == 0 && pthread_mutex_destroy(&m) == 0);

  pthread_rwlock_t l = PTHREAD_RWLOCK_INITIALIZER;
  assert(pthread_rwlock_wrlock(&l) == 0 && pthread_rwlock_rdlock(&l) == EDEADLK &&
         pthread_rwlock_tryrdlock(&l) == EBUSY);
  assert(pthread_rwlock_unlock(&l) == 0);
  assert(pthread_rwlock_rdlock(&l) == 0 && pthread_rwlock_tryrdlock(&l) == 0 && pthread_rwlock_trywrlock(&l) == EBUSY);
  assert(pthread_rwlock_unlock(&l) == 0 && pthread_rwlock_trywrlock(&l) == EBUSY);
  assert(pthread_rwlock_unlock(&l) == 0 && pthread_rwlock_trywrlock(&l) == 0 && pthread_rwlock_unlock(&l) == 0);

  sem_t s;
  assert(sem_init(&s, 0, 1) == 0 && sem_trywait(&s) == 0 && sem_trywait(&s) == -1 && errno == EAGAIN);
  timespec past{0, 0};
  assert(sem_timedwait(&s, &past) == -1 && errno == ETIMEDOUT);
  int value = -1;
  assert(sem_post(&s) == 0 && sem_post(&s) == 0 && sem_getvalue(&s, &value) == 0 && value == 2);
  sem_destroy(&s);

  pthread_spinlock_t spins;
  assert(pthread_spin_init(&spins, PTHREAD_PROCESS_PRIVATE) == 0 && pthread_spin_trylock(&spins) == 0);
  assert(pthread_spin_trylock(&spins) == EBUSY && pthread_spin_unlock(&spins) == 0 &&
         pthread_spin_trylock(&spins) == 0);
  pthread_spin_unlock(&spins);

  mtx_t c11;
  assert(mtx_init(&c11, mtx_timed) == thrd_success && mtx_lock(&c11) == thrd_success);
  std::thread([&] { assert(mtx_trylock(&c11) == thrd_busy && mtx_timedlock(&c11, &past) == thrd_timedout); }).join();
  assert(mtx_unlock(&c11) == thrd_success);
  mtx_destroy(&c11);
  assert(pthread_join(pthread_self(), nullptr) == EDEADLK);
}

std::once_flag flag;
void a_call_that_throws_is_made_again() {
  int calls = 0;
  for (int i = 0; i != 3; ++i) {
    try {
      std::call_once(flag, [&] {
        if (++calls == 1) throw std::runtime_error("not yet");
      });
      assert(i != 0);
    } catch (const std::runtime_error&) {
      assert(i == 0);
    }
  }
  assert(calls == 2);
}

/// The new key is the old one's successor at the same place. Another thread that lives on had a value of the old one.
void a_new_key_has_no_values() {
  int value = 1;
  pthread_key_t old_key;
  pthread_key_t new_key;
  assert(pthread_key_create(&old_key, nullptr) == 0);
  std::atomic<int> turn{0};
  std::thread other([&] {
    assert(pthread_setspecific(old_key, &value) == 0);
    turn.store(1, std::memory_order::release);
    turn.notify_one();
    turn.wait(1, std::memory_order::acquire);
    assert(pthread_getspecific(new_key) == nullptr);
  });
  turn.wait(0, std::memory_order::acquire);
  assert(pthread_setspecific(old_key, &value) == 0 && pthread_key_delete(old_key) == 0);
  assert(pthread_setspecific(old_key, &value) == EINVAL && pthread_key_delete(old_key) == EINVAL);
  assert(pthread_key_create(&new_key, nullptr) == 0 && pthread_getspecific(new_key) == nullptr);
  turn.store(2, std::memory_order::release);
  turn.notify_one();
  other.join();
  pthread_key_delete(new_key);
}

void an_alarm_that_is_called_off() {
  assert(alarm(20) == 0);
  std::this_thread::sleep_for(5s);
  assert(alarm(30) == 15 && alarm(0) != 0 && alarm(0) == 0);
  std::this_thread::sleep_for(1h);
}

/// What a timer has counted before it is set anew is not read.
void a_timer_that_is_set_anew() {
  const int fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
  itimerspec every_second{{1, 0}, {1, 0}};
  itimerspec in_an_hour{{0, 0}, {3600, 0}};
  itimerspec left{};
  assert(timerfd_settime(fd, 0, &every_second, nullptr) == 0);
  std::this_thread::sleep_for(3500ms);
  std::uint64_t times = 0;
  assert(read(fd, &times, sizeof times) == sizeof times && times == 3);
  std::this_thread::sleep_for(2s);
  assert(timerfd_settime(fd, 0, &in_an_hour, &left) == 0 && left.it_interval.tv_sec == 1);
  assert(read(fd, &times, sizeof times) == -1 && errno == EAGAIN);
  std::this_thread::sleep_for(1s);
  assert(timerfd_gettime(fd, &left) == 0 && left.it_value.tv_sec < 3600 && left.it_value.tv_sec > 3590);
  close(fd);
}

/// The second reader comes later, and knows nothing of what the first one has written.
void readers_write() {
  std::shared_mutex lock;
  int plain = 0;
  std::atomic<bool> first_has_ended{false};
  std::thread first([&] {
    {
      const std::shared_lock hold(lock);
      plain = 1;
    }
    first_has_ended.store(true, std::memory_order::relaxed);
  });
  while (!first_has_ended.load(std::memory_order::relaxed)) std::this_thread::yield();
  {
    const std::shared_lock hold(lock);
    plain = 2;
  }
  first.join();
}

void a_failed_exchange_reads() {
  std::atomic<int> state{0};
  int plain = 0;
  std::thread other([&] {
    plain = 1;
    state.store(1, std::memory_order::release);
  });
  int seen = 7;
  while (!state.compare_exchange_strong(seen, 8, std::memory_order::acquire, std::memory_order::relaxed) && seen != 1) {
    seen = 7;
    std::this_thread::yield();
  }
  plain = 2;
  other.join();
}

int main() {
  if (WAY == 1) {
    readers_write();
  } else if (WAY == 2) {
    a_failed_exchange_reads();
  } else {
    a_wait_with_a_mutex_that_is_locked_twice();
    mistakes_that_are_told();
    a_call_that_throws_is_made_again();
    a_new_key_has_no_values();
    an_alarm_that_is_called_off();
    a_timer_that_is_set_anew();
  }
}
