// SPDX-License-Identifier: MIT
// A pointer with a counter: 128 bits at once.
// check -mcx16: passes
// check -mcx16 -DTORN: FAIL data race
// check -mcx16 -DSECOND_HALF: FAIL data race
// check -mcx16 -DSECOND_HALF -DJOINED: passes
// check -mcx16 -DSECOND_HALF -DATOMIC_FIRST: FAIL data race
// check -mcx16 -DSECOND_HALF -DATOMIC_FIRST -DJOINED: passes
// check -mcx16 -DSECOND_HALF -DSEEN: passes
// check -mcx16 -DSECOND_HALF -DREPLACED: passes
// check -mcx16 -DSECOND_HALF -DATOMIC: passes
#include <atomic>
#include <cassert>
#include <cstdint>
#include <thread>

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
