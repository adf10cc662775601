// SPDX-License-Identifier: MIT
// What the harness's headers offer to a program in C++: a thread waits for another, which with FORGETS tells nobody.
#include <condition_variable>
#include <mutex>

#include <librace.h>
#include <model-assert.h>
#include <stdatomic.h>
#include <threads.h>

std::mutex guard;
std::condition_variable told;
uint8_t ready;
atomic<int> woken;

void wait(void*) {
  guard.lock();
  while (load_8(&ready) == 0) told.wait(guard);
  guard.unlock();
  woken.store(1, memory_order_relaxed);
}
void tell(void*) {
  guard.lock();
  store_8(&ready, 1);
  guard.unlock();
#ifndef FORGETS
  told.notify_all();
#endif
}

int user_main(int, char**) {
  thrd_t waits, tells;
  thrd_create(&waits, &wait, NULL);
  thrd_create(&tells, (thrd_start_t)&tell, NULL);
  thrd_join(waits);
  thrd_join(tells);
  MODEL_ASSERT(woken.load() == 1);
  return 0;
}
