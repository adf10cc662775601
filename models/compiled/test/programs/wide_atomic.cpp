// SPDX-License-Identifier: MIT
// A pointer with a counter: 128 bits at once.
// check -mcx16: passes
// check -mcx16 -DTORN: FAIL data race
#include <atomic>
#include <cassert>
#include <cstdint>
#include <thread>

__extension__ using wide = unsigned __int128;
alignas(16) wide value;

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
