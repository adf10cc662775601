// SPDX-License-Identifier: MIT
// Finding fiber-unlock: the locks of Boost.Fiber 1.74 that sleep (boost/fiber/detail/spinlock_ttas_futex.hpp and
// …_adaptive_futex.hpp), without their back-off and their sleep, which the bug does not need.
//
//   1. T0: takes the lock, writes what it protects, and gives it back by an acquire fetch_sub: it releases nothing
//   2. T1: takes the lock, and reads what T0 wrote: nothing orders the two
// Fix: the fetch_sub is release.
// Caught by: exact (data race); Relacy.
#include "ports.hpp"
#include "waiting.hpp"

namespace runq::model::field {
namespace {

// Each of two threads adds 1 under the lock.
template <std::memory_order Unlock>
struct two_additions final : scenario {
  void thread(unsigned) override {
    lock();
    sum.set(sum.get() + 1);
    value.fetch_sub(1, Unlock);
  }
  void lock() {
    for (int expected = 0; !value.compare_exchange_strong(expected, 1, acquire, acquire); expected = 0) {
      await([this] { return value.load(relaxed) == 0; });
    }
  }
  void finish() override { require(sum.get() == 2, "an addition was lost"); }

  atomic<int> value{0};
  cell<int> sum{0};
};

const bool added[] = {
    add_case<two_additions<acquire>>({
        .name = "field/fiber_unlock",
        .property = "a lock protects plain memory: add ‖ add",
        .threads = 2,
        .seeded_bug = true,
    }),
    add_case<two_additions<release>>({
        .name = "field/fixed_fiber_unlock",
        .property = "a lock protects plain memory: add ‖ add",
        .threads = 2,
    }),
};

}  // namespace
}  // namespace runq::model::field
