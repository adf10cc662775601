// SPDX-License-Identifier: MIT
// check: bounded
// check -DLOST: FAIL deadlock
// check -DONE: FAIL deadlock
// check -DTIMEOUT: bounded
#include <cerrno>
#include <condition_variable>
#include <mutex>
#include <thread>

#include <pthread.h>

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
