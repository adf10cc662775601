// SPDX-License-Identifier: MIT
// A loop that leaves in each round what it has changed as it was, as a lock that backs off, waits.
// check: bounded; further rounds of a loop that undoes in each what it changes
// check -DRELAXED: FAIL data race
// check -DSPIN_LOCK: bounded; further rounds of a loop that undoes
// check -DSPIN_LOCK -DRELAXED: FAIL data race
// check -DEXCHANGES: bounded; further rounds of a loop that undoes
// check -DSEEN: FAIL assertion
// check -DWAITS: bounded
// check -DTRIES: exhaustive
// check -DTWO_VALUES: limit reached
// check -DKEEPS_ONE: limit reached
// check -DPLAIN: limit reached
#include <atomic>
#include <cassert>
#include <thread>

using enum std::memory_order;

std::atomic<int> a{0}, b{0}, c{0};
int data = 0;

// Not inlined: the compiler would count rounds in registers.
[[gnu::noinline]] int look(std::atomic<int>& at) { return at.load(); }

#if defined(SPIN_LOCK)
// Polls under a lock of its own.
#ifdef RELAXED
constexpr auto unlocks = relaxed;
#else
constexpr auto unlocks = release;
#endif
void lock() {
  while (a.exchange(1, acquire) != 0) {
  }
}
void unlock() { a.store(0, unlocks); }
bool is_done() {
  lock();
  const bool is = data == 1;
  unlock();
  return is;
}
int main() {
  std::thread other([] {
    lock();
    data = 1;
    unlock();
  });
  while (!is_done()) {
  }
  other.join();
}
#elif defined(EXCHANGES)
int main() {
  std::thread other([] { b.store(1); });
  int expected = 1;
  do {
    a.fetch_xor(1);
    a.compare_exchange_strong(expected, 0);
  } while (look(b) == 0);
  other.join();
}
#elif defined(SEEN)
// Others see what the round changes.
int main() {
  std::thread other([] {
    assert(a.load() == 0);
    b.store(1);
  });
  do {
    a.store(1);
    a.store(0);
  } while (look(b) == 0);
  other.join();
}
#elif defined(WAITS)
// The other thread waits for what each round changes, so nothing is deadlocked.
int main() {
  std::thread other([] {
    while (look(a) == 0) {
    }
    b.store(1);
  });
  do {
    a.fetch_add(1);
    a.fetch_sub(1);
  } while (look(b) == 0);
  other.join();
}
#elif defined(TRIES)
// A lock whose try takes back what it has changed, and which waits between two tries: no round goes on for ever.
void lock() {
  while (a.fetch_add(1) != 0) {
    a.fetch_sub(1);
    while (look(a) != 0) {
    }
  }
}
int main() {
  std::thread other([] {
    lock();
    ++data;
    a.fetch_sub(1);
  });
  lock();
  ++data;
  a.fetch_sub(1);
  other.join();
  assert(data == 2);
}
#elif defined(TWO_VALUES)
// Other than before the loop, and other than in the round before: the second variable is never as it was.
int main() {
  std::thread other([] { b.store(1); });
  do {
    a.store(1);
    a.store(0);
    c.fetch_add(1);
  } while (look(b) == 0);
  other.join();
}
#elif defined(KEEPS_ONE)
int main() {
  std::thread other([] { b.store(1); });
  do {
    a.fetch_add(2);
    a.fetch_sub(1);
  } while (look(b) == 0);
  other.join();
}
#elif defined(PLAIN)
// The checker keeps no values of plain variables: it cannot know that two rounds undo each other.
int main() {
  std::thread other([] { b.store(1); });
  do {
    a.store(1);
    a.store(0);
    data ^= 1;
  } while (look(b) == 0);
  other.join();
}
#else
// Two threads say that they come, and back off if the other one does.
#ifdef RELAXED
constexpr auto order = relaxed;
#else
constexpr auto order = seq_cst;
#endif
void work(std::atomic<int>& mine, std::atomic<int>& other) {
  for (;;) {
    mine.store(1, order);
    if (other.load(order) == 0) break;
    mine.store(0, order);
  }
  ++data;
  mine.store(0, release);
}
int main() {
  std::thread other([] { work(b, a); });
  work(a, b);
  other.join();
  assert(data == 2);
}
#endif
