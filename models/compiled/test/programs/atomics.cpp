// SPDX-License-Identifier: MIT
// All sizes and operations; the answers are those of one thread.
// check: exhaustive, 1 execution
#include <atomic>
#include <cassert>
#include <cstdint>
#include <thread>

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
