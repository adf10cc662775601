// SPDX-License-Identifier: MIT
// What a thread writes after a release is not part of it. A semaphore may be destroyed by who has acquired it, although
// release() wakes after its last access: the wake-up looks at no memory.
// check -DAFTER=0: passes
// check -DAFTER=1: FAIL data race
// check -DAFTER=2: passes
// check -DAFTER=3: FAIL use after free
#include <atomic>
#include <semaphore>
#include <thread>

std::atomic<bool> ready{false};
int data = 0;

void semaphore_of_its_waiter() {
  auto* const done = new std::binary_semaphore(0);
  std::thread other([done] {
    done->release();
    if (AFTER == 3) static_cast<void>(done->try_acquire());
  });
  done->acquire();
  delete done;
  other.join();
}

int main() {
  if (AFTER >= 2) {
    semaphore_of_its_waiter();
    return 0;
  }
  std::thread writer([] {
    if (AFTER == 0) data = 1;
    ready.store(true, std::memory_order::release);
    if (AFTER == 1) data = 1;
  });
  while (!ready.load(std::memory_order::acquire)) std::this_thread::yield();
  const int seen = data;
  writer.join();
  return seen > 1 ? 1 : 0;
}
