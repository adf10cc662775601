// SPDX-License-Identifier: MIT
// Small programs for the memory model.
// Each program has a macro, which stands first in its lines `// check`.
#include <atomic>
#include <cassert>
#include <thread>

#if defined(MESSAGE_PASSING)

// check -DMESSAGE_PASSING: exhaustive, 2 executions
// check -DMESSAGE_PASSING -DORDER=relaxed: FAIL data race

#ifndef ORDER
#define ORDER release
#endif

int data;
std::atomic<bool> ready{false};

int main() {
  std::thread writer([] {
    data = 42;
    ready.store(true, std::memory_order::ORDER);
  });
  std::thread reader([] {
    if (ready.load(std::memory_order::acquire)) assert(data == 42);
  });
  writer.join();
  reader.join();
}

#elif defined(STORE_BUFFERING)

// check -DSTORE_BUFFERING: exhaustive, 3 executions
// check -DSTORE_BUFFERING -DORDER=release: FAIL check failed
// check -DSTORE_BUFFERING -DORDER=relaxed: FAIL check failed

#ifndef ORDER
#define ORDER seq_cst
#endif

std::atomic<int> x, y;

int main() {
  int a = 0;
  int b = 0;
  std::thread one([&] {
    x.store(1, std::memory_order::ORDER);
    a = y.load();
  });
  std::thread two([&] {
    y.store(1, std::memory_order::ORDER);
    b = x.load();
  });
  one.join();
  two.join();
  assert(a == 1 || b == 1);
}

#elif defined(SEQ_CST)

// Two seq_cst stores beside each other, and a thread that acquires the second one. C++20 orders the first store before
// what that thread does next, and so forbids one of these executions; RC11 does not. With other variables between the
// stores and the acquire, both forbid it.
// check -DSEQ_CST: exhaustive, 18 executions
// check -DSEQ_CST -DASSERTED: FAIL check failed
// check -DSEQ_CST -DASSERTED -DOTHER_VARIABLE: exhaustive

std::atomic<int> x, y, z;

int main() {
  int acquired = 0;
  int read_y = 0;
  int read_x = 0;
  std::thread reader([&] {
#ifdef OTHER_VARIABLE
    acquired = 2 * z.load(std::memory_order::acquire);
#else
    acquired = x.load(std::memory_order::acquire);
#endif
    read_y = y.load();
  });
  std::thread writer([] {
    x.store(1);
#ifdef OTHER_VARIABLE
    z.store(1);
#else
    x.store(2);
#endif
  });
  std::thread other([&] {
    y.store(1);
    read_x = x.load();
  });
  reader.join();
  writer.join();
  other.join();
#ifdef ASSERTED
  assert(!(acquired == 2 && read_y == 0 && read_x == 0));
#else
  static_cast<void>(acquired + read_y + read_x);
#endif
}

#elif defined(DEFAULT_ORDER)

// More seq_cst operations than one word has bits, in all threads.
// check -DDEFAULT_ORDER: exhaustive, 4 executions
// check -DDEFAULT_ORDER -DNEVER_BOTH: FAIL check failed

std::atomic<int> own[2];
std::atomic<int> x, y;

int main() {
  int a = 0;
  int b = 0;
  const auto busy = [](int i) {
    for (int n = 0; n != 50; ++n) own[i].store(n);
  };
  std::thread one([&] {
    busy(0);
    x.store(1);
    a = y.load();
  });
  std::thread two([&] {
    busy(1);
    b = x.load();
    y.store(1);
  });
  one.join();
  two.join();
  assert(own[0] == 49 && own[1] == 49);
#ifdef NEVER_BOTH
  assert(a == 0 || b == 0);
#endif
}

#elif defined(DELAYED_READS)

// Load buffering where the write depends on the read: the threads cannot both read 1. The checker tries executions that
// turn out to be impossible; a failure in such an attempt is not reported.
// check -DDELAYED_READS --load-buffering -DCRASHES: exhaustive, 2 executions
// check -DDELAYED_READS --load-buffering -DSTORES_WHAT_IT_READ: exhaustive, 2 executions
// check -DDELAYED_READS --load-buffering -DTHROWS: exhaustive, 2 executions
// check -DDELAYED_READS --load-buffering: FAIL assertion fails: kept == 0

constexpr auto relaxed = std::memory_order::relaxed;
std::atomic<int> x{0}, y{0};
int kept = 0;

int main() {
  std::thread one([] {
    const int a = x.load(relaxed);
#if defined(CRASHES)
    if (a == 1) *static_cast<volatile int*>(nullptr) = 1;
    y.store(1, relaxed);
#elif defined(STORES_WHAT_IT_READ)
    kept = a;
    y.store(kept, relaxed);
#elif defined(THROWS)
    if (a == 1) throw a;
    y.store(1, relaxed);
#else
    kept = a;
    y.store(1, relaxed);
#endif
  });
  std::thread two([] {
    const int b = y.load(relaxed);
    if (b == 1) x.store(1, relaxed);
  });
  one.join();
  two.join();
  assert(kept == 0);
}

#else
#error "which program?"

#endif
