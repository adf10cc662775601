// SPDX-License-Identifier: MIT
// A task that waits for units has its wait withdrawn, as by a stop request, while others take units and give them back.
#include "ending_policy.hpp"
#include "semaphore_model.hpp"
#include "waking_policy.hpp"

namespace runq::model {
namespace {

using semaphore_type = runq::detail::semaphore_core<waking_policy>;

// A task that waits for units, keeps them if it gets them, and whose wait may be withdrawn.
class revocable final : public sleeping_task {
 public:
  revocable(semaphore_type& units, std::int64_t wanted) : units_(units) {
    node_.who.set(this);
    node_.wanted.set(wanted);
  }
  void start() {
    // If this returns false, the task may already have gone on, on another thread.
    if (units_.acquire_or_wait(node_)) resume();
  }
  void call_back() {
    if (units_.withdraw(node_)) waking_policy::wake(this);
  }
  void resume() override {
    if (node_.ok.get()) {
      units_.arrived(node_);
      ++with;
    } else {
      ++without;
    }
  }
  int with = 0;     // went on with its units
  int without = 0;  // went on without

 private:
  semaphore_type& units_;
  runq::detail::units_waiter<waking_policy> node_;
};

// All units are taken for ever. A task begins to wait ‖ its wait is withdrawn.
struct withdraw_vs_acquire final : scenario {
  void thread(unsigned index) override { index == 0 ? task.start() : task.call_back(); }
  void finish() override {
    require(task.without == 1 && task.with == 0, "a task whose wait was withdrawn does not go on, or not once");
    release(units, 1);
    require(units.try_acquire(1), "a task whose wait was withdrawn waits");
  }
  semaphore_type units{0, all_units};
  revocable task{units, 1};
};

// Two tasks wait. One unit is given back ‖ the wait of the first is withdrawn.
struct withdraw_vs_release final : scenario {
  withdraw_vs_release() {
    first.start();
    second.start();
  }
  void thread(unsigned index) override {
    if (index == 0) {
      release(units, 1);
    } else {
      first.call_back();
    }
  }
  void finish() override {
    require(first.with + second.with == 1, "no task has the unit, or two have it");
    require(first.with + first.without == 1, "a task whose wait was withdrawn waits for ever, or goes on twice");
    release(units, 1);
    require(second.with == 1 && second.without == 0,
            "a task waits for ever, or is told that its wait was withdrawn although another task's was");
  }
  semaphore_type units{0, all_units};
  revocable first{units, 1};
  revocable second{units, 1};
};

// One of two units is free. A task waits for both. Its wait is withdrawn ‖ another one begins to wait for one.
struct withdrawn_lets_others_pass final : scenario {
  withdrawn_lets_others_pass() { writer.start(); }
  void thread(unsigned index) override { index == 0 ? writer.call_back() : reader.start(); }
  void finish() override {
    require(writer.without == 1 && writer.with == 0, "a task whose wait was withdrawn does not go on, or not once");
    require(reader.with == 1, "a task waits behind one that has gone on");
    require(!units.try_acquire(1), "the unit was given away twice");
  }
  semaphore_type units{1, all_units};
  revocable writer{units, all_units};
  revocable reader{units, 1};
};

// As withdraw_vs_release, but the task whose wait was withdrawn ends before it goes on.
struct withdrawn_ends final : scenario {
  withdrawn_ends() {
    node.who.set(&task);
    require(!units.acquire_or_wait(node), "taken units are free");
  }
  void thread(unsigned index) override {
    if (index == 0) {
      release(units, 1);
    } else {
      if (units.withdraw(node)) ending_policy::wake(&task);
      units.leave(node);
    }
  }
  void finish() override {
    require(units.try_acquire(1), "a task that has ended has the unit");
    require(!units.try_acquire(1), "a task that had no unit has given one back");
  }

  runq::detail::semaphore_core<ending_policy> units{0, all_units};
  strand task;
  runq::detail::units_waiter<ending_policy> node;
};

const bool added[] = {
    add_case<withdraw_vs_acquire>({
        .name = "semaphore/withdraw_vs_acquire",
        .property = "a task whose wait is withdrawn when it begins goes on, once: acquire ‖ withdraw",
        .threads = 2,
    }),
    add_case<withdraw_vs_release>({
        .name = "semaphore/withdraw_vs_release",
        .property =
            "a task whose wait is withdrawn while it gets its unit has the unit or not, and the next one is served",
        .threads = 2,
        .kept_for = "the wait ends while the unit comes",
    }),
    add_case<withdrawn_lets_others_pass>({
        .name = "semaphore/withdrawn_lets_others_pass",
        .property = "a task behind one whose wait is withdrawn gets its units if there are enough of them",
        .threads = 2,
        .kept_for = "a withdrawn wait lets others pass",
    }),
    add_case<withdrawn_ends>({
        .name = "semaphore/withdrawn_ends",
        .property = "a task whose wait was withdrawn, and that ends, gives its unit back if and only if it has it",
        .threads = 2,
    }),
};

}  // namespace
}  // namespace runq::model
