// SPDX-License-Identifier: MIT
// An address that was freed may become that of another object: who compares addresses takes the one for the other. The
// right twin frees the old object only when the new one is there.
// check: bounded; memory that is allocated again after it was freed (--reuse N)
// check --reuse 1: FAIL assertion fails: newest != first
// check -DKEPT: exhaustive
// check --reuse 1 -DKEPT: exhaustive
// check -DATOMIC: bounded
// check --reuse 1 -DATOMIC: bounded; more than 1 block that a thread allocates again
#include <atomic>
#include <cassert>
#include <cstdint>
#include <thread>

std::atomic<std::uintptr_t> latest{0};

// In a block that is given out again lies another atomic variable.
struct counter {
  std::atomic<int> value{0};
};

int main() {
#ifdef ATOMIC
  std::thread other([] {
    for (int i = 0; i != 3; ++i) {
      auto* const c = new counter;
      assert(c->value.fetch_add(1) == 0);
      delete c;
    }
  });
  latest = 1;
  other.join();
#else
  int* const old = new int(1);
  const auto first = reinterpret_cast<std::uintptr_t>(old);
  std::thread other([old] {
#ifndef KEPT
    delete old;
#endif
    latest = reinterpret_cast<std::uintptr_t>(new int(2));
#ifdef KEPT
    delete old;
#endif
  });
  other.join();
  const std::uintptr_t newest = latest.load();
  delete reinterpret_cast<int*>(newest);
  assert(newest != first);
#endif
}
