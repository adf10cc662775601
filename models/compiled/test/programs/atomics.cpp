// SPDX-License-Identifier: MIT
// Atomic operations: of all sizes, of 128 bits, beside plain accesses, and that wait.
// Each program has a macro, which stands first in its lines `// check`.
#include <atomic>
#include <cassert>
#include <cstdint>
#include <new>
#include <thread>

#if defined(SIZES)

// All sizes and operations; the answers are those of one thread.
// check -DSIZES: exhaustive, 1 execution

template <class T>
void integers() {
  std::atomic<T> a{5};
  assert(a.fetch_add(3) == 5);
  assert(a.fetch_sub(1) == 8);
  assert(a.fetch_or(8) == 7);
  assert(a.fetch_and(12) == 15);
  assert(a.fetch_xor(4) == 12);
  assert(a.exchange(static_cast<T>(-1)) == 8);
  assert(++a == 0);
  T expected = 1;
  assert(!a.compare_exchange_strong(expected, 2) && expected == 0);
  assert(a.compare_exchange_strong(expected, 2));
  while (!a.compare_exchange_weak(expected, 3)) continue;
  assert(a == 3);
  a = 4;
  assert(a.load() == 4);
}

int main() {
  std::thread([] {
    integers<std::uint8_t>();
    integers<std::int16_t>();
    integers<std::uint32_t>();
    integers<std::int64_t>();
    std::atomic<bool> flag{false};
    assert(!flag.exchange(true) && flag.load());
    std::atomic<double> d{1.5};
    assert(d.exchange(2.5) == 1.5 && d.load() == 2.5);
    int array[4]{};
    std::atomic<int*> p{array};
    assert(p.fetch_add(2) == array && p.load() == array + 2);
    std::atomic_flag f;
    assert(!f.test_and_set() && f.test());
    f.clear();
    assert(!f.test());
    int plain = 1;
    assert(std::atomic_ref<int>(plain).fetch_add(1) == 1);
    assert(plain == 2);  // a plain read sees what was written atomically
    plain = 7;
    assert(std::atomic_ref<int>(plain).load() == 7);
  }).join();
}

#elif defined(WAIT)

// check -DWAIT: exhaustive
// check -DWAIT -DSILENT: FAIL deadlock
// check -DWAIT -DTWO: passes
// check -DWAIT -DTWO -DONE: FAIL deadlock

std::atomic<int> state{0};
int data;

int main() {
#ifdef TWO
  // Two that wait are woken together.
  std::thread second([] { state.wait(0); });
#endif
  std::thread waiter([] {
    state.wait(0);
    assert(data == 1);
  });
  data = 1;
  state.store(1);
#if defined(TWO) && !defined(ONE)
  state.notify_all();
#elif !defined(SILENT)
  state.notify_one();
#endif
  waiter.join();
#ifdef TWO
  second.join();
#endif
}

#elif defined(WIDE)

// A pointer with a counter: 128 bits at once.
// check -DWIDE -mcx16: passes
// check -DWIDE -mcx16 -DTORN: FAIL data race
// check -DWIDE -mcx16 -DSECOND_HALF: FAIL data race
// check -DWIDE -mcx16 -DSECOND_HALF -DJOINED: passes
// check -DWIDE -mcx16 -DSECOND_HALF -DATOMIC_FIRST: FAIL data race
// check -DWIDE -mcx16 -DSECOND_HALF -DATOMIC_FIRST -DJOINED: passes
// check -DWIDE -mcx16 -DSECOND_HALF -DSEEN: passes
// check -DWIDE -mcx16 -DSECOND_HALF -DREPLACED: passes
// check -DWIDE -mcx16 -DSECOND_HALF -DATOMIC: passes

__extension__ using wide = unsigned __int128;
alignas(16) wide value;

#ifdef SECOND_HALF
// Beside an atomic access to all of it, one to the upper half.
void access_plainly() {
  auto* const upper = reinterpret_cast<std::uint64_t*>(&value) + 1;
#ifdef ATOMIC
  __atomic_store_n(upper, 1, __ATOMIC_RELAXED);
#else
  *upper = 1;
#endif
}
void access_atomically() { static_cast<void>(__atomic_load_n(&value, __ATOMIC_RELAXED)); }

int main() {
#if defined(SEEN)
  std::thread([] { __atomic_store_n(&value, (wide{2} << 64) + 1, __ATOMIC_RELAXED); }).join();
  assert(reinterpret_cast<std::uint64_t*>(&value)[1] == 2);
#elif defined(REPLACED)
  // Two variables live in the memory of one.
  access_atomically();
  std::thread([] { reinterpret_cast<std::uint64_t*>(&value)[0] = 1; }).join();
  __atomic_store_n(reinterpret_cast<std::uint64_t*>(&value) + 1, 1, __ATOMIC_RELAXED);
#else
#ifdef ATOMIC_FIRST
  constexpr auto first = access_atomically;
  constexpr auto second = access_plainly;
#else
  constexpr auto first = access_plainly;
  constexpr auto second = access_atomically;
#endif
#ifdef JOINED
  std::thread(first).join();
  std::thread(second).join();
#else
  std::thread other(first);
  second();
  other.join();
#endif
#endif
}
#else
wide read() {
#ifdef TORN
  return value;
#else
  return __atomic_load_n(&value, __ATOMIC_ACQUIRE);
#endif
}
void increment() {
  wide old = read();
  const wide both = (wide{1} << 64) + 1;
  while (!__atomic_compare_exchange_n(&value, &old, old + both, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) continue;
}

int main() {
  std::thread a(increment);
  std::thread b(increment);
  const wide seen = read();
  assert(static_cast<std::uint64_t>(seen) == static_cast<std::uint64_t>(seen >> 64));
  a.join();
  b.join();
  assert(read() == (wide{2} << 64) + 2);
}
#endif

#elif defined(PLAIN)

// check -DPLAIN: passes
// check -DPLAIN -DREAD: FAIL data race
// check -DPLAIN -DWRITE: FAIL data race
// check -DPLAIN -DREUSE: passes

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

#else
#error "which program?"

#endif
