// SPDX-License-Identifier: MIT
// check: passes
// check -DREAD: FAIL data race
// check -DWRITE: FAIL data race
// check -DREUSE: passes
#include <atomic>
#include <cassert>
#include <new>
#include <thread>

int number;

int main() {
#ifdef REUSE
  alignas(std::atomic<int>) unsigned char room[sizeof(std::atomic<int>)];
  auto* a = ::new (room) std::atomic<int>(1);
  std::thread([&] { a->fetch_add(1); }).join();
  assert(a->load() == 2);
  a = ::new (room) std::atomic<int>(10);
  std::thread([&] { a->fetch_add(1); }).join();
  assert(a->load() == 11);
#else
  std::thread t([] { std::atomic_ref<int>(number).fetch_add(1); });
#if defined(READ)
  if (number == 7) return 1;
#elif defined(WRITE)
  number = 2;
#else
  std::atomic_ref<int>(number).fetch_add(1);
#endif
  t.join();
  assert(number > 0);
#endif
}
