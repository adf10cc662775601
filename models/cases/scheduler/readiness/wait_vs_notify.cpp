// SPDX-License-Identifier: MIT
// A task waits for a descriptor, until it is ready or the task is destroyed.
#include "runq/protocol/readiness.hpp"
#include "scenario.hpp"
#include "waiting.hpp"

namespace runq::model {
namespace {

// A task waits for a descriptor while the poller, or a thread that closes it, says that it is ready.

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
    // A task that still waits would wait for ever: no further notice comes.
    require(received, "the task sleeps although it was told of the data");
  }

  void receive() {
    while (data.load(std::memory_order::relaxed) == 0) {
      me.frame.set(1);
      if (word.wait(me)) return;  // the thread that wakes the task goes on with it
    }
    got();
  }
  void notice() {
    waiter_cell* const woken = word.notify();
    if (woken == nullptr) return;
    require(woken == &me, "a task was woken that did not wait here");
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

// Two facts: there is data, and the stream is closed. Task: takes the data, waits for more, until it sees the close ‖
// poller: makes data, says so ‖ closer: closes, says so.
struct data_and_close final : scenario {
  void thread(unsigned index) override {
    if (index == 0) return go_on();
    (index == 1 ? data : closed).happens();
    waiter_cell* const woken = word.notify();
    if (woken == nullptr) return;
    require(woken == &me, "a task was woken that did not wait here");
    require(me.frame.get() == 1, "the task runs before it was suspended");
    go_on();
  }
  void finish() override { require(ended, "the task sleeps although the stream was closed"); }

  // The task, on whichever thread.
  void go_on() {
    while (!closed.known()) {
      if (data.known()) data.forget();
      me.frame.set(1);
      if (word.wait(me)) return;  // the thread that wakes the task goes on with it
    }
    require(!ended, "the task runs twice");
    ended = true;
  }

  readiness<waiter_cell, atomics> word;
  waiter_cell me;
  noticed_fact<atomics> data;
  noticed_fact<atomics> closed;
  bool ended = false;
};

// A word that is used for one descriptor after the other. Task: begins the new use, waits for its data ‖ late poller: a
// notice of the last use ‖ poller: once the new use has begun, makes data, says so.
struct used_again final : scenario {
  void thread(unsigned index) override {
    if (index == 0) {
      word.reset();
      begun.store(1, std::memory_order::release);
      return go_on();
    }
    if (index == 2) {
      await([this] { return begun.load(std::memory_order::acquire) != 0; });
      data.store(1, std::memory_order::relaxed);
    }
    if (word.notify() != nullptr) go_on();
  }
  void finish() override { require(received, "the task sleeps although it was told of the data"); }

  // The task, on whichever thread.
  void go_on() {
    while (data.load(std::memory_order::relaxed) == 0) {
      me.frame.set(1);
      if (word.wait(me)) return;
    }
    require(!received, "the task runs twice");
    received = true;
  }

  readiness<waiter_cell, atomics> word;
  waiter_cell me;
  atomic<int> begun{0};
  atomic<int> data{0};
  bool received = false;
};

// A task is destroyed where it waits for a descriptor, because its run has ended, while others say that it is ready.

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
    add_case<wait_vs_notify<1>>({
        .name = "readiness/wait_vs_notify",
        .property = "no notice is lost: a task that waits is woken, once, and one that does not yet wait sees the data",
        .threads = 2,
        .mutants = {{"wait_relaxed", "readiness.wait", std::memory_order::relaxed, 0},
                    {"notify_acquire", "readiness.notify", std::memory_order::acquire},
                    {"notify_release", "readiness.notify", std::memory_order::release}},
        .progress = progress_claim::lock_free,
        .kept_for = "the smallest program",
    }),
    add_case<wait_vs_notify<2>>({
        .name = "readiness/notify_twice",
        .property = "the poller and a close at the same time: the task goes on, once",
        .threads = 3,
        .progress = progress_claim::lock_free,
        .kept_for = "a poller and a close meet",
    }),
    add_case<data_and_close>({
        .name = "readiness/data_and_close",
        .property = "two notices about two facts: the task that goes on after them sees both",
        .threads = 3,
        .mutants = {{"use_relaxed", "readiness.use", std::memory_order::relaxed}},
        .progress = progress_claim::lock_free,
        .kept_for = "the notices are about two facts",
    }),
    add_case<used_again>({
        .name = "readiness/used_again",
        .property = "a late notice of the last use wakes a task for nothing, but hides no notice of the new one",
        .threads = 3,
        .kept_for = "the last use's notice is late",
    }),
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
