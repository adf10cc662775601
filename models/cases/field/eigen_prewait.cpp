// SPDX-License-Identifier: MIT
// Finding eigen-prewait: Eigen's EventCount 3.4.0 (unsupported/Eigen/CXX11/src/ThreadPool/EventCount.h) with one
// waiter, without the counters that only several waiters need.
//
//   1. notifier: what is waited for; a seq_cst fence; reads the state before the waiter's announcement: wakes nobody
//   2. waiter: announces itself by a seq_cst compare-exchange, which is no fence
//   3. waiter: looks once more, and may still read that there is nothing; it sleeps for ever
// Fix: a seq_cst fence after the compare-exchange.
// Caught by: exact (deadlock); Relacy (livelock: its threads spin).
#include "ports.hpp"
#include "waiting.hpp"

namespace runq::model::field {
namespace {

template <bug Bug>
class event_count {
 public:
  void prewait() {
    int state = state_.load(relaxed);
    while (!state_.compare_exchange_weak(state, state + before_sleep, seq_cst, seq_cst)) {
    }
    if (Bug == bug::fixed) atomics::fence(seq_cst);
  }
  void cancel_wait() {
    int state = state_.load(relaxed);
    while (!state_.compare_exchange_weak(state, idle, acq_rel, acquire)) {
    }
  }
  void commit_wait() {
    int state = state_.load(seq_cst);
    for (;;) {
      const bool told = (state & signalled) != 0;
      if (!state_.compare_exchange_weak(state, told ? idle : asleep, acq_rel, acquire)) continue;
      if (!told) waiter_.park();
      return;
    }
  }
  void notify() {
    atomics::fence(seq_cst);
    int state = state_.load(acquire);
    while (state == before_sleep || state == asleep) {
      const int next = state == asleep ? idle : before_sleep | signalled;
      if (!state_.compare_exchange_weak(state, next, acq_rel, acquire)) continue;
      if (next == idle) waiter_.unpark();
      return;
    }
  }

 private:
  static constexpr int idle = 0;
  static constexpr int before_sleep = 1;
  static constexpr int asleep = 2;
  static constexpr int signalled = 4;

  atomic<int> state_{idle};
  parker waiter_;
};

// Waiter: sleeps unless it is ready ‖ notifier: makes it ready, and notifies.
template <bug Bug>
struct sleeps final : scenario {
  void thread(unsigned index) override {
    if (index == 1) {
      ready.store(1, release);
      event.notify();
      return;
    }
    if (ready.load(acquire) != 0) return;
    event.prewait();
    if (ready.load(acquire) != 0) {
      event.cancel_wait();
    } else {
      event.commit_wait();
      require(ready.load(acquire) != 0, "a waiter was woken for nothing");
    }
  }

  atomic<int> ready{0};
  event_count<Bug> event;
};

const bool added[] = {
    add_case<sleeps<bug::seeded>>({
        .name = "field/eigen_prewait",
        .property = "a waiter is woken by a notification that follows what it waits for: wait ‖ set, notify",
        .threads = 2,
        .seeded_bug = true,
    }),
    add_case<sleeps<bug::fixed>>({
        .name = "field/fixed_eigen_prewait",
        .property = "a waiter is woken by a notification that follows what it waits for: wait ‖ set, notify",
        .threads = 2,
    }),
};

}  // namespace
}  // namespace runq::model::field
