// SPDX-License-Identifier: MIT
// A task waits for a descriptor while the poller, or somebody who closes it, says that it is ready.
#include "runq/readiness.hpp"
#include "scenario.hpp"

namespace runq::model {
namespace {

struct waiter_cell {
  cell<int> frame{0};
};

// Task: sees that there is no data, waits; woken, looks again ‖ notifiers: each makes data, then says so.
template <unsigned Notifiers>
struct wait_vs_notify final : scenario {
  void thread(unsigned index) override {
    if (index == 0) {
      receive();
    } else {
      data.store(static_cast<int>(index), std::memory_order::relaxed);
      notice();
    }
  }
  void finish() override {
    // A task that still waits would wait for ever: nobody else will come.
    require(received, "the task sleeps although it was told of the data");
  }

  void receive() {
    while (data.load(std::memory_order::relaxed) == 0) {
      me.frame.set(1);
      if (word.wait(me)) return;  // whoever wakes the task goes on with it
    }
    got();
  }
  void notice() {
    waiter_cell* const woken = word.notify();
    if (woken == nullptr) return;
    require(woken == &me, "somebody else was woken");
    require(me.frame.get() == 1, "the task runs before it was suspended");
    require(data.load(std::memory_order::relaxed) != 0, "woken without data");
    got();
  }
  void got() {
    require(!received, "the task runs twice");
    received = true;
  }

  readiness<waiter_cell, atomics> word;
  waiter_cell me;
  atomic<int> data{0};
  bool received = false;
};

const bool added[] = {
    add_case<wait_vs_notify<1>>({
        .name = "readiness/wait_vs_notify",
        .property = "no notice is lost: a task that waits is woken, once, and one that does not yet wait sees the data",
        .threads = 2,
        .quick = {.random = 20'000, .bound = 4},
        .mutants = {{"wait_relaxed", "readiness.wait", std::memory_order::relaxed, 0},
                    {"wait_failure_relaxed", "readiness.wait", std::memory_order::relaxed, 1},
                    {"notify_acquire", "readiness.notify", std::memory_order::acquire},
                    {"notify_release", "readiness.notify", std::memory_order::release}},
        .progress = progress_claim::lock_free,
    }),
    add_case<wait_vs_notify<2>>({
        .name = "readiness/notify_twice",
        .property = "the poller and a close at the same time: the task goes on, once",
        .threads = 3,
        .quick = {.random = 20'000, .bound = 2},
        .progress = progress_claim::lock_free,
    }),
};

}  // namespace
}  // namespace runq::model
