// SPDX-License-Identifier: MIT
// A task is destroyed where it waits for a descriptor, because its run has ended, while others say that it is ready.
#include "runq/protocol/readiness.hpp"
#include "scenario.hpp"
#include "waiting.hpp"

namespace runq::model {
namespace {

/// What is left of a task when its frame is destroyed, like production's strand: another task soon uses it.
struct strand {
  atomic<int> woken{0};
  cell<int> task{1};
};

/// Stands in for production's task_waiting (runq/protocol/waiting.hpp). Waking a task only makes it runnable.
struct ending_policy {
  static void wake(strand& r) {
    require(r.task.get() == 1, "a task was woken that did not wait here");
    r.woken.store(1, std::memory_order::release);
  }
  [[nodiscard]] static bool asleep(const strand* r) { return r->woken.load(std::memory_order::acquire) == 0; }
  template <class Condition>
  static void spin_until(Condition&& condition) {
    await(condition);
  }
};

// A task that waits ends, and its strand is used again ‖ notifiers.
template <unsigned Notifiers>
struct waiter_ends final : scenario {
  waiter_ends() { require(word.wait(me), "a new word has a notice"); }
  void thread(unsigned index) override {
    if (index == 0) {
      word.template leave<ending_policy>(me);
      me.task.set(2);
    } else if (strand* const woken = word.notify()) {
      require(woken == &me, "a task was woken that did not wait here");
      ending_policy::wake(*woken);
    }
  }
  void finish() override { require(word.notify() == nullptr, "a task that has ended waits"); }

  readiness<strand, atomics> word;
  strand me;
};

const bool added[] = {
    add_case<waiter_ends<1>>({
        .name = "readiness/waiter_ends",
        .property = "a task that ends while it waits has left, or its waker does not touch it any more: end ‖ notice",
        .threads = 2,
        .kept_for = "the smaller program",
    }),
    add_case<waiter_ends<2>>({
        .name = "readiness/waiter_ends_beside_two",
        .property =
            "a task that ends while it waits has left, or its waker does not touch it any more: end ‖ notice ‖ close",
        .threads = 3,
        .kept_for = "two notices meet",
    }),
};

}  // namespace
}  // namespace runq::model
