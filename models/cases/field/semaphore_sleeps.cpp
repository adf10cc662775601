// SPDX-License-Identifier: MIT
// Finding semaphore-sleeps: counting_semaphore of libstdc++ 12 (bits/semaphore_base.h, bits/atomic_wait.h). It tries 16
// times before it sleeps, here once.
//
//   1. T1: acquire: reads the counter, 1, which it will sleep on
//   2. T0: try_acquire: the counter is 0. T1: tries to take one, and finds none
//   3. T0: release: the counter is 1; wakes nobody, because nobody sleeps
//   4. T1: sleeps if the counter is still 1: it is; nobody will wake it
// Fix: sleep only while the counter is 0.
// Caught by: exact (deadlock); Relacy (livelock: its threads spin).
#include "futex.hpp"
#include "ports.hpp"

namespace runq::model::field {
namespace {

template <bug Bug>
class semaphore {
 public:
  bool try_acquire() {
    int count = counter_.load(acquire);
    return count != 0 && counter_.compare_exchange_strong(count, count - 1, acquire, relaxed);
  }
  void acquire_one() {
    do {
      const int seen = counter_.load(acquire);
      if (try_acquire()) return;
      sleepers_.wait(counter_, Bug == bug::seeded ? seen : 0);
    } while (!try_acquire());
  }
  void release_one() {
    if (counter_.fetch_add(1, release) > 0) return;
    sleepers_.wake(counter_);
  }

 private:
  atomic<int> counter_{1};
  futex sleepers_;
};

// T0: try_acquire, and release if it has one ‖ T1: acquire.
template <bug Bug>
struct one_of_two final : scenario {
  void thread(unsigned index) override {
    if (index == 1) {
      inside.acquire_one();
    } else if (inside.try_acquire()) {
      inside.release_one();
    }
  }

  semaphore<Bug> inside;
};

const bool added[] = {
    add_case<one_of_two<bug::seeded>>({
        .name = "field/semaphore_sleeps",
        .property = "who waits for a semaphore gets it when it is released: try_acquire release ‖ acquire",
        .threads = 2,
        .seeded_bug = true,
    }),
    add_case<one_of_two<bug::fixed>>({
        .name = "field/fixed_semaphore_sleeps",
        .property = "who waits for a semaphore gets it when it is released: try_acquire release ‖ acquire",
        .threads = 2,
    }),
};

}  // namespace
}  // namespace runq::model::field
