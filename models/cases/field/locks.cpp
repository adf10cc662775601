// SPDX-License-Identifier: MIT
// Locks and a semaphore: findings fiber-unlock, ticket-unlock and semaphore-sleeps.
#include "futex.hpp"
#include "ports.hpp"
#include "waiting.hpp"

namespace runq::model::field {
namespace {

// Finding fiber-unlock: the locks of Boost.Fiber 1.74 that sleep (boost/fiber/detail/spinlock_ttas_futex.hpp and
// …_adaptive_futex.hpp), without their back-off and their sleep, which the bug does not need.
//
//   1. T0: takes the lock, writes what it protects, and gives it back by an acquire fetch_sub: it releases nothing
//   2. T1: takes the lock, and reads what T0 wrote: nothing orders the two
// Fix: the fetch_sub is release.
// Caught by: exact (data race); Relacy.

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

// Finding ticket-unlock: atomic_queue's TicketSpinlock of 2022 (atomic_queue/spinlock.h), by lock() and unlock().
//
//   1. one thread: lock, ticket 0; unlock() adds 1 to the ticket that is served, and unlock(ticket) adds 1 again: 2
//   2. the other: lock, ticket 1, which is never served
// Fix: unlock() hands on the ticket that is served.
// Caught by: exact (deadlock); Relacy (livelock: its threads spin).

// Each of two threads: lock unlock.
template <bug Bug>
struct two_owners final : scenario {
  void thread(unsigned) override {
    const unsigned mine = ticket.fetch_add(1, relaxed);
    await([this, mine] { return next.load(acquire) == mine; });
    const unsigned served = next.load(relaxed) + (Bug == bug::seeded ? 1 : 0);
    next.store(served + 1, release);
  }

  atomic<unsigned> ticket{0};
  atomic<unsigned> next{0};
};

// Finding semaphore-sleeps: counting_semaphore of libstdc++ 12 (bits/semaphore_base.h, bits/atomic_wait.h). It tries 16
// times before it sleeps, here once.
//
//   1. T1: acquire: reads the counter, 1, which it will sleep on
//   2. T0: try_acquire: the counter is 0. T1: tries to take one, and finds none
//   3. T0: release: the counter is 1; wakes nobody, because nobody sleeps
//   4. T1: sleeps if the counter is still 1: it is; nobody will wake it
// Fix: sleep only while the counter is 0.
// Caught by: exact (deadlock); Relacy (livelock: its threads spin).

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
    add_case<two_owners<bug::seeded>>({
        .name = "field/ticket_unlock",
        .property = "a lock that is given back can be taken: lock unlock ‖ lock unlock",
        .threads = 2,
        .seeded_bug = true,
    }),
    add_case<two_owners<bug::fixed>>({
        .name = "field/fixed_ticket_unlock",
        .property = "a lock that is given back can be taken: lock unlock ‖ lock unlock",
        .threads = 2,
    }),
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
