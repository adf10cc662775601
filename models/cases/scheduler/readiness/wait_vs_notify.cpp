// SPDX-License-Identifier: MIT
// A task waits for a descriptor while the poller, or a thread that closes it, says that it is ready.
#include "runq/protocol/readiness.hpp"
#include "scenario.hpp"
#include "waiting.hpp"

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
};

}  // namespace
}  // namespace runq::model
