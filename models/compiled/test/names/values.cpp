// SPDX-License-Identifier: MIT
// Values that may be negative, and others: what a counterexample calls them stands behind the line. Numbers lie in a
// global variable, on the stack, in a block, and in one of make_shared().
#include <atomic>
#include <cassert>
#include <climits>
#include <cstdint>
#include <memory>

enum class level : short { low = -3 };
struct numbers {
  long before = 0;
  std::atomic<int> count{0};
  std::atomic<long> wide{0};
  std::atomic<unsigned> bits{0};
  std::atomic<std::uint64_t> wide_bits{0};
  std::atomic<signed char> small{0};
  std::atomic<short> several[2] = {};
  std::atomic<level> kind{level{0}};
};
/// A number that is both.
union either {
  either() : number(0) {}
  std::atomic<int> number;
  std::atomic<unsigned> bits;
};

numbers global;
either both;

void change(numbers& n) {
  n.count.store(-1);                           // shown: -1
  n.count.store(INT_MIN);                      // shown: -2147483648
  n.wide.store(-2);                            // shown: -2
  n.wide.store(-0x10000000000);                // shown: …f0000000000
  n.bits.store(~0U);                           // shown: …000ffffffff
  n.wide_bits.store(~std::uint64_t{0});        // shown: 2^64-1
  n.wide_bits.store(~std::uint64_t{0} << 41);  // shown: …e0000000000
  n.small.store(-4);                           // shown: -4
  n.several[1].store(-5);                      // shown: -5
}

int main() {
  numbers local;
  const auto in_block = std::make_unique<numbers>();
  const auto shared = std::make_shared<numbers>();
#if defined(GLOBAL)
  change(global);
#elif defined(LOCAL)
  change(local);
#elif defined(BLOCK)
  change(*in_block);
#else
  change(*shared);
#endif
  both.bits.store(~0U);           // shown: …000ffffffff
  global.kind.store(level::low);  // shown: -3
  assert(global.before != 0);
}
