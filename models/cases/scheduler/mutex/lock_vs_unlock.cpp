// SPDX-License-Identifier: MIT
// Tasks lock a mutex, unlock it, and withdraw from waiting for it.
#include <array>

#include "ending_policy.hpp"
#include "runq/mutex.hpp"
#include "scenario.hpp"
#include "waking_policy.hpp"

namespace runq::model {
namespace {

// A mutex that is handed on: one holder at a time; no task waits for ever, and none overtakes another.

using mutex_type = runq::detail::mutex_core<waking_policy>;

/// What the mutex protects.
struct guarded {
  mutex_type lock;
  cell<int> entered{0};
  bool inside = false;

  void critical() {
    require(!inside, "two tasks hold the mutex");
    inside = true;
    entered.set(entered.get() + 1);
    inside = false;
  }
};

// A task that takes the mutex, does something and gives it back.
class visitor final : public sleeping_task {
 public:
  static void start(guarded& place) {
    visitor& self = make_frame<visitor>(place);
    // As the awaiter does. When both calls have returned false, the frame may be destroyed.
    if (place.lock.try_lock()) return self.visit();
    if (place.lock.lock_or_wait(self.node_)) self.resume();
  }
  explicit visitor(guarded& place) : place_(place) { node_.who.set(this); }
  void resume() override {
    place_.lock.arrived();
    visit();
  }

 private:
  void visit() {
    guarded& place = place_;
    destroy_frame(*this);
    place.critical();
    require(place.lock.unlock(), "a mutex that a task holds is not locked");
  }
  guarded& place_;
  runq::detail::waiter<waking_policy> node_;
};

// Each thread: a visitor.
template <int Threads>
struct visitors final : scenario {
  void thread(unsigned) override { visitor::start(place); }
  void finish() override {
    require(place.entered.get() == Threads, "a task waits for a free mutex");
    require(!place.lock.unlock(), "a free mutex could be unlocked");
  }
  guarded place;
};

// The mutex is held, a visitor waits. The holder unlocks it: the visitor has it, and keeps it ‖ a thread that tries to
// take it.
struct not_overtaken final : scenario {
  class keeper final : public sleeping_task {
   public:
    explicit keeper(bool& has) : has_(has) { node.who.set(this); }
    void resume() override { has_ = true; }
    runq::detail::waiter<waking_policy> node;

   private:
    bool& has_;
  };

  not_overtaken() {
    require(lock.try_lock(), "a new mutex is not free");
    require(!lock.lock_or_wait(waiting.node), "a held mutex is free");
  }
  void thread(unsigned index) override {
    if (index == 0) {
      require(lock.unlock(), "a held mutex is free");
    } else {
      require(!lock.try_lock(), "a waiting task was overtaken");
    }
  }
  void finish() override {
    require(has, "the waiting task was not woken");
    require(!lock.try_lock(), "the mutex was handed over, and is free");
    require(lock.unlock() && lock.try_lock(), "the mutex is not free after all have unlocked it");
  }

  bool has = false;
  mutex_type lock;
  keeper waiting{has};
};

// A task that waits for a mutex has its wait withdrawn, as by a stop request, while others lock and unlock.

using mutex_type = runq::detail::mutex_core<waking_policy>;

/// A mutex, and how often a revocable task has gone on, with it and without it.
struct visit {
  mutex_type lock;
  int with_it = 0;     // went on with the mutex
  int without_it = 0;  // went on without
};

// A task that waits for the mutex and keeps it if it gets it, like connection::turn::taking. Its wait may be withdrawn.
class revocable final : public sleeping_task {
 public:
  explicit revocable(visit& place) : place_(place) { node_.who.set(this); }
  void start() {
    // If this returns false, the task may already have gone on, on another thread.
    if (place_.lock.lock_or_wait(node_)) resume();
  }
  void call_back() {
    if (place_.lock.withdraw(node_)) waking_policy::wake(this);
  }
  void resume() override {
    if (node_.ok.get()) {
      place_.lock.arrived();
      ++place_.with_it;
    } else {
      ++place_.without_it;
    }
  }

 private:
  visit& place_;
  runq::detail::revocable_waiter<waking_policy> node_;
};

// The mutex is held for ever. A task begins to wait for it ‖ its wait is withdrawn.
struct withdraw_vs_lock final : scenario {
  withdraw_vs_lock() { require(place.lock.try_lock(), "a new mutex is not free"); }
  void thread(unsigned index) override { index == 0 ? task.start() : task.call_back(); }
  void finish() override {
    require(place.without_it == 1 && place.with_it == 0, "a task whose wait was withdrawn does not go on, or not once");
    require(place.lock.unlock(), "a held mutex is free");
    require(place.lock.try_lock(), "a task whose wait was withdrawn waits");
  }
  visit place;
  revocable task{place};
};

// The mutex is held, two tasks wait. The holder unlocks it ‖ the wait of the first is withdrawn.
struct withdraw_vs_unlock final : scenario {
  withdraw_vs_unlock() {
    require(place.lock.try_lock(), "a new mutex is not free");
    first.start();
    second.start();
  }
  void thread(unsigned index) override {
    if (index == 0) {
      require(place.lock.unlock(), "a held mutex is free");
    } else {
      first.call_back();
    }
  }
  void finish() override {
    require(place.with_it == 1, "no task has the mutex, or two have it");
    require(place.lock.unlock(), "the mutex was handed over, and is free");
    require(place.with_it + place.without_it == 2, "a task waits for ever");
    if (place.without_it == 0) require(place.lock.unlock(), "the mutex was handed over, and is free");
    require(place.lock.try_lock(), "a task that went on without the mutex holds it");
  }
  visit place;
  revocable first{place};
  revocable second{place};
};

// As withdraw_vs_unlock, but the task whose wait was withdrawn ends before it goes on.
struct withdrawn_ends final : scenario {
  using ending_mutex = runq::detail::mutex_core<ending_policy>;

  withdrawn_ends() {
    require(lock.try_lock(), "a new mutex is not free");
    node.who.set(&task);
    require(!lock.lock_or_wait(node), "a held mutex is free");
  }
  void thread(unsigned index) override {
    if (index == 0) {
      require(lock.unlock(), "a held mutex is free");
    } else {
      if (lock.withdraw(node)) ending_policy::wake(&task);
      lock.leave(node);
    }
  }
  void finish() override { require(lock.try_lock(), "a task that has ended has the mutex"); }

  ending_mutex lock;
  strand task;
  runq::detail::revocable_waiter<ending_policy> node;
};

const bool added[] = {
    add_case<visitors<2>>({
        .name = "mutex/lock_vs_unlock",
        .property = "one holder at a time, and no task waits for a free mutex: two tasks",
        .threads = 2,
        .kept_for = "the smallest program",
    }),
    add_case<visitors<3>>({
        .name = "mutex/three_tasks",
        .property = "one holder at a time, and no task waits for a free mutex: three tasks",
        .threads = 3,
        .kept_for = "two tasks wait at once",
    }),
    add_case<not_overtaken>({
        .name = "mutex/not_overtaken",
        .property = "an unlock hands the mutex to the task that waits, and no other task gets it in between",
        .threads = 2,
        .kept_for = "a third task must not get in between",
    }),
    add_case<withdraw_vs_lock>({
        .name = "mutex/withdraw_vs_lock",
        .property = "a task whose wait is withdrawn when it begins goes on, once: lock ‖ withdraw",
        .threads = 2,
    }),
    add_case<withdraw_vs_unlock>({
        .name = "mutex/withdraw_vs_unlock",
        .property =
            "a task whose wait is withdrawn while it is handed the mutex has it or not, and the next one is served",
        .threads = 2,
        .kept_for = "the next task in the list is served",
    }),
    add_case<withdrawn_ends>({
        .name = "mutex/withdrawn_ends",
        .property = "a task whose wait was withdrawn, and that ends, unlocks the mutex if and only if it has it",
        .threads = 2,
    }),
};

}  // namespace
}  // namespace runq::model
