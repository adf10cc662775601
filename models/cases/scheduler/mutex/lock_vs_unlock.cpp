// SPDX-License-Identifier: MIT
// A mutex that is handed on: one holder at a time; no task waits for ever, and none overtakes another.
#include <array>

#include "runq/mutex.hpp"
#include "scenario.hpp"
#include "waking_policy.hpp"

namespace runq::model {
namespace {

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
};

}  // namespace
}  // namespace runq::model
