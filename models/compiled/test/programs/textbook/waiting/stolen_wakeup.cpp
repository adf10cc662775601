// SPDX-License-Identifier: MIT
// A notification means "look again", not "it is yours": between the notification and the moment in which the woken
// thread has the lock again, another thread may have taken the item. So wait in a loop, or with a predicate; an `if` is
// wrong.
// check: bounded
// check -DWRONG: FAIL assertion fails: items > 0
#include <cassert>
#include <condition_variable>
#include <mutex>
#include <thread>

std::mutex m;
std::condition_variable changed;
int items = 0;

void wait_and_take() {
  std::unique_lock lock(m);
#ifdef WRONG
  if (items == 0) changed.wait(lock);
#else
  while (items == 0) changed.wait(lock);
#endif
  assert(items > 0);
  --items;
}
void put() {
  const std::lock_guard lock(m);
  ++items;
  changed.notify_one();
}

int main() {
  std::thread waits(wait_and_take);
  std::thread gives([] {
    put();
    put();
  });
  {
    const std::lock_guard lock(m);
    if (items > 0)
      --items;  // does not wait: takes what is there
    else
      ++items;  // and puts one back for the count, if nothing was
  }
  waits.join();
  gives.join();
}
