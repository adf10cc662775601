// SPDX-License-Identifier: MIT
// A guard and its mutex: each of them may end first, and the other one learns of it.
#include "runq/mutex.hpp"
#include "scenario.hpp"
#include "waking_policy.hpp"

namespace runq::model {
namespace {

using tie = runq::detail::guard_tie<waking_policy>;
using mutex_type = runq::detail::mutex_core<waking_policy>;

// A guard has the mutex, moved there from another guard if `Moved`. The mutex is destroyed on another thread. Then the
// guard ends.
template <bool Moved>
struct mutex_goes final : scenario {
  void thread(unsigned index) override {
    if (index == 0) {
      first.hold(*end_of_mutex);
      if (Moved) second.take_over(first);
      held.store(1, std::memory_order::release);
      return;
    }
    await([this] { return held.load(std::memory_order::acquire) != 0; });
    destroy_frame(*end_of_mutex);
  }
  void finish() override {
    tie::holder& last = Moved ? second : first;
    require(last.lost(), "a guard does not know that its mutex was destroyed");
    require(!last.has_mutex() && last.let_go() == nullptr, "a guard would unlock a mutex that was destroyed");
    require(!Moved || (!first.lost() && !first.has_mutex()), "a guard that was moved from has something left");
  }
  tie* end_of_mutex = &make_frame<tie>();
  tie::holder first;
  tie::holder second;
  atomic<int> held{0};
};

// A guard takes the mutex ‖ the mutex ends, in a task that was not told of the guard.
struct mutex_goes_untold final : scenario {
  void thread(unsigned index) override {
    if (index == 0) {
      guard.hold(*end_of_mutex);
    } else {
      end_of_mutex->ends();
    }
  }
  void finish() override {
    require(guard.lost() != guard.has_mutex(), "a guard has lost a mutex that it has, or has lost it unseen");
    destroy_frame(*end_of_mutex);
  }
  tie* end_of_mutex = &make_frame<tie>();
  tie::holder guard;
};

// Two tasks: each takes the mutex or gives up; takes it by a guard, which unlocks it at its end. Then the mutex is
// destroyed.
struct guards_go final : scenario {
  void thread(unsigned) override {
    if (!lock.try_lock()) return;
    tie::holder& guard = make_frame<tie::holder>();
    guard.hold(*end_of_mutex);
    require(guard.let_go() == end_of_mutex, "a guard does not know its mutex");
    require(!guard.has_mutex() && !guard.lost(), "a guard that has unlocked has something left");
    destroy_frame(guard);
    require(lock.unlock(), "a mutex that a task holds is not locked");
  }
  void finish() override { destroy_frame(*end_of_mutex); }
  mutex_type lock;
  tie* end_of_mutex = &make_frame<tie>();
};

const bool added[] = {
    add_case<mutex_goes<false>>({
        .name = "mutex/destroyed_before_guard",
        .property = "a guard that ends after its mutex knows that there is nothing to unlock",
        .threads = 2,
        .kept_for = "the smallest program",
    }),
    add_case<mutex_goes<true>>({
        .name = "mutex/destroyed_before_moved_guard",
        .property =
            "a guard that got the mutex from another one and ends after it knows that there is nothing to unlock",
        .threads = 2,
    }),
    add_case<mutex_goes_untold>({
        .name = "mutex/destroyed_beside_guard",
        .property = "a mutex that is destroyed writes to no guard that is still being made: hold ‖ destroy",
        .threads = 2,
        .kept_for = "nothing but the two orders relates the threads",
    }),
    add_case<guards_go>({
        .name = "mutex/destroyed_after_guards",
        .property = "a mutex that is destroyed writes to no guard that has ended: guard ‖ guard",
        .threads = 2,
    }),
};

}  // namespace
}  // namespace runq::model
