// SPDX-License-Identifier: MIT
// Threads that start threads, while main() goes on; nine at once.
// check: exhaustive
// check -DRACE: FAIL data race
// check -DNINE: exhaustive, 1 execution
// check -DNOT_JOINED: FAIL crash
// check -DSELF: FAIL
// check -DOWN_HANDLE: exhaustive
// check -DENDED: FAIL data race
// check -DENDED -DTOLD: exhaustive, 1 execution, +0 blocked
// check -DENDED -DDETACHED: FAIL data race
// check -DENDED -DDETACHED -DTOLD: exhaustive, 1 execution, +0 blocked
#include <atomic>
#include <cassert>
#include <thread>

int data[16];
std::atomic<int> done{0};

int main() {
#if defined(NINE)
  std::thread all[9];
  for (int i = 0; i != 9; ++i) all[i] = std::thread([i] { data[i] = i; });
  for (std::thread& t : all) t.join();
  for (int i = 0; i != 9; ++i) assert(data[i] == i);
#elif defined(NOT_JOINED)
  const std::thread forgotten([] { data[0] = 1; });
#elif defined(SELF)
  std::thread t;
  t = std::thread([&t] { t.join(); });
  t.join();
#elif defined(OWN_HANDLE)
  // The end of the constructor synchronizes with the beginning of the thread [thread.thread.constr].
  std::thread t([&t] { assert(t.get_id() == std::this_thread::get_id()); });
  t.join();
#elif defined(ENDED)
  // The other thread has ended before main() writes. Only what main() has read of it, or a join, orders the two.
#ifdef TOLD
  constexpr auto say = std::memory_order::release, hear = std::memory_order::acquire;
#else
  constexpr auto say = std::memory_order::relaxed, hear = std::memory_order::relaxed;
#endif
  std::thread t([] {
    data[0] = 1;
    done.store(1, say);
  });
#ifdef DETACHED
  t.detach();
#endif
  while (done.load(hear) == 0) continue;
  data[0] = 2;
#ifndef DETACHED
  t.join();
#endif
#else
  std::thread parent([] {
    data[0] = 1;
    std::thread child([] {
      assert(data[0] == 1);
      data[1] = 2;
      done.fetch_add(1);
    });
    done.fetch_add(1);
    child.join();
    assert(data[1] == 2);
  });
  done.fetch_add(1);
#ifdef RACE
  data[1] = 3;
#endif
  parent.join();
  assert(done.load() == 3);
#endif
}
