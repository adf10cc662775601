// SPDX-License-Identifier: MIT
// What is accessed again, by a loop that waits or by the next line.
// Each program has a macro, which stands first in its lines `// check`. The last program has none.
#include <atomic>
#include <cassert>
#include <functional>
#include <thread>

#if defined(BY_A_LOOP)

// A loop that stores in each round what is there already, as a lock that prepares its node before each try, waits. If
// another thread may have written there meanwhile, it does not.
// check -DBY_A_LOOP: bounded; writes between the rounds of a loop that stores the same again
// check -DBY_A_LOOP -DHELD: FAIL deadlock
// check -DBY_A_LOOP -DREAD: bounded
// check -DBY_A_LOOP -DSTAMPS --max-events 24: limit reached
// check -DBY_A_LOOP -DOVERWRITTEN: bounded
// check -DBY_A_LOOP -DOVERWRITTEN -DHELD: FAIL deadlock

#if defined(STAMPS)
// Two threads write one variable until each has found its own value there twice: nobody is deadlocked,
// but they may go on for ever.
std::atomic<int> stamp{0};

void work(int own) {
  for (int found = 0; found != 2;) {
    stamp.store(own, std::memory_order::release);
    if (stamp.load(std::memory_order::acquire) == own) ++found;
  }
}

int main() {
  std::thread other(work, 1);
  work(2);
  other.join();
}
#elif defined(OVERWRITTEN)
// The value that each round stores was overwritten: the next round stores it again, and wakes the other thread.
std::atomic<int> value{0}, is_done{0};

int main() {
  std::thread other([] {
    value.store(2);
#ifndef HELD
    while (value.load() != 1) {
    }
    is_done.store(1);
#endif
  });
  do {
    value.store(1);
  } while (is_done.load() == 0);
  other.join();
}
#else
struct node {
  std::atomic<bool> waits{false};
  std::atomic<node*> next{nullptr};
};

std::atomic<node*> tail{nullptr};
int data = 0;

bool try_acquire(node& n) {
  n.waits.store(true, std::memory_order::relaxed);
  n.next.store(nullptr, std::memory_order::relaxed);
  node* expected = nullptr;
  return tail.compare_exchange_strong(expected, &n, std::memory_order::acq_rel, std::memory_order::relaxed);
}

node first, second;

void work(node& n) {
  while (!try_acquire(n)) {
  }
  ++data;
#ifndef HELD
  tail.store(nullptr, std::memory_order::release);
#endif
}

int main() {
  std::thread other(work, std::ref(first));
#ifdef READ
  static_cast<void>(first.waits.load(std::memory_order::relaxed));
#endif
  work(second);
  other.join();
}
#endif

#else

// What the checker keeps of earlier accesses, to look at the next one for less, must not hide a failure.
// check: exhaustive, 1 execution
// check -DDETACHED: FAIL data race
// check -DSTARTED_LATER: FAIL data race
// check -DBETWEEN: FAIL data race
// check -DOTHER_BYTES: FAIL data race
// check -DREAD_FIRST: FAIL data race
// check -DREAD_LATER: FAIL data race
// check -DFREED: FAIL use after free
// check -DBEYOND: FAIL outside of what was allocated
// check -DUNKNOWN: FAIL unpublished allocation

int data;
int other;
char bytes[8];
std::atomic<char*> box{nullptr};
std::atomic<bool> ready{false};

void touch_bytes(char from, char to) {
  for (char i = from; i != to; ++i) bytes[static_cast<int>(i)] = i;
}

// Not inline: clang++ -O2 would know the value, and leave the read out.
[[gnu::noinline]] int read_data() { return data; }

int main() {
  data = 1;
#if defined(DETACHED)
  // All threads that can be joined have been joined.
  std::thread([] { data = 2; }).detach();
  std::thread t([] { other = 1; });
  t.join();
  assert(data != 0);
#elif defined(STARTED_LATER)
  // Again a thread, after main() was alone between two.
  std::thread([] { data = 2; }).join();
  data = 3;
  std::thread t([] { data = 4; });
  data = 5;
  t.join();
#elif defined(BETWEEN)
  // The same write before and after the store that the other thread sees.
  std::thread t([] {
    data = 2;
    ready.store(true, std::memory_order::release);
    data = 2;
  });
  if (ready.load(std::memory_order::acquire)) assert(data == 2);
  t.join();
#elif defined(OTHER_BYTES)
  // The bytes have been accessed by this thread, but not all of them by the last access.
  std::thread t([] {
    touch_bytes(0, 4);
    touch_bytes(3, 5);
  });
  assert(bytes[4] != 9);
  t.join();
#elif defined(READ_FIRST)
  // A write after reads of the same thread, against another thread's read.
  std::thread t([] {
    assert(data != 9);
    assert(data != 8);
    data = 2;
  });
  assert(data != 9);
  t.join();
#elif defined(READ_LATER)
  // A read of what the same thread has written, after the store that the other thread sees.
  std::thread t([] {
    data = 2;
    ready.store(true, std::memory_order::release);
    assert(read_data() == 2);
  });
  if (ready.load(std::memory_order::acquire)) data = 3;
  t.join();
#elif defined(FREED)
  // Memory that this thread has used, and which another thread frees.
  std::thread t([] {
    char* const p = new char[8]{};
    p[0] = 1;
    box.store(p, std::memory_order::release);
    if (ready.load(std::memory_order::acquire)) p[0] = 1;
  });
  char* const p = box.load(std::memory_order::acquire);
  delete[] p;
  if (p != nullptr) ready.store(true, std::memory_order::release);
  t.join();
  if (p == nullptr) delete[] box.load();
#elif defined(BEYOND)
  // The next byte of the same word. By way of `box`, and read, because clang++ -O2 leaves out what it sees to be beyond
  // the block, and what is written to memory that is freed.
  box.store(new char[5]{}, std::memory_order::relaxed);
  char* const p = box.load(std::memory_order::relaxed);
  assert(p[4] == 0);
  assert(p[5] != 9);
  delete[] p;
#elif defined(UNKNOWN)
  // One thread may use it, another may not.
  std::thread t([] { box.store(new char[1], std::memory_order::relaxed); });
  char* const p = box.load(std::memory_order::relaxed);
  if (p != nullptr) *p = 2;
  t.join();
  delete[] box.load();
#else
  std::thread t([] {
    for (int i = 0; i != 3; ++i) data += i;
  });
  t.join();
  for (int i = 0; i != 3; ++i) data += i;
  std::thread([] { assert(data == 7); }).join();
#endif
}

#endif
