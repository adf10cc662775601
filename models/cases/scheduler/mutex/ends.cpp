// SPDX-License-Identifier: MIT
// What ends while it is of use to others: a task that waits, a guard, a mutex.
#include "ending_policy.hpp"
#include "runq/mutex.hpp"
#include "scenario.hpp"
#include "waking_policy.hpp"

namespace runq::model {
namespace {

// A task is destroyed where it waits for a mutex, because its run has ended, while another thread unlocks it.

using ending_mutex = runq::detail::mutex_core<ending_policy>;

// The frame of a task that waits, as the awaiter does.
struct waiting_task {
  waiting_task(ending_mutex& on, strand& task) {
    node.who.set(&task);
    require(!on.lock_or_wait(node), "a held mutex is free");
  }
  explicit waiting_task(strand& task) { node.who.set(&task); }
  void end(ending_mutex& on) {
    if (node.who.get() != nullptr) on.leave(node);
    destroy_frame(*this);
  }
  runq::detail::waiter<ending_policy> node;
};

// The mutex is held, two tasks wait. The first of them ends ‖ the holder unlocks it, so the second gets it.
struct waiter_ends final : scenario {
  waiter_ends() {
    require(lock.try_lock(), "a new mutex is not free");
    first = &make_frame<waiting_task>(lock, tasks[0]);
    second = &make_frame<waiting_task>(lock, tasks[1]);
  }
  void thread(unsigned index) override {
    if (index == 0) {
      first->end(lock);
    } else {
      require(lock.unlock(), "a held mutex is free");
    }
  }
  void finish() override {
    require(tasks[1].woken(), "a task that has ended has the mutex");
    require(!lock.try_lock(), "the mutex was handed over, and is free");
    second->end(lock);
    require(lock.try_lock(), "a task that has ended has the mutex");
  }

  ending_mutex lock;
  strand tasks[2];
  waiting_task* first = nullptr;
  waiting_task* second = nullptr;
};

// The mutex is held, three tasks wait. The first and the second end ‖ the holder unlocks it.
struct two_waiters_end final : scenario {
  two_waiters_end() {
    require(lock.try_lock(), "a new mutex is not free");
    for (int i = 0; i != 3; ++i) frames[i] = &make_frame<waiting_task>(lock, tasks[i]);
  }
  void thread(unsigned index) override {
    if (index == 0) {
      frames[0]->end(lock);
      frames[1]->end(lock);
    } else {
      require(lock.unlock(), "a held mutex is free");
    }
  }
  void finish() override {
    require(tasks[2].woken(), "a task that has ended has the mutex");
    frames[2]->end(lock);
    require(lock.try_lock(), "a task that has ended has the mutex");
  }

  ending_mutex lock;
  strand tasks[3];
  waiting_task* frames[3] = {};
};

// A task has taken the mutex without waiting, yields before it goes on, and ends there ‖ a second task takes the mutex
// or waits for it ‖ a third task takes the mutex or waits for it.
struct ends_where_it_yields final : scenario {
  ends_where_it_yields() {
    require(lock.lock_or_wait(frame.node), "a new mutex is not free");
    tasks[0].gives_way();
  }
  void thread(unsigned index) override {
    if (index == 0) {
      frame.end(lock);
    } else {
      others[index - 1] = &make_frame<waiting_task>(tasks[index]);
      has_it[index - 1] = lock.lock_or_wait(others[index - 1]->node);
    }
  }
  void finish() override {
    const int first = has_it[0] || tasks[1].woken() ? 0 : 1;
    require(has_it[first] || tasks[first + 1].woken(), "a task that has ended has the mutex");
    if (has_it[first]) tasks[first + 1].gives_way();
    others[first]->end(lock);
    require(tasks[2 - first].woken(), "two tasks have the mutex, or a task that has ended has it");
    others[1 - first]->end(lock);
    require(lock.try_lock(), "a task that has ended has the mutex");
  }

  ending_mutex lock;
  strand tasks[3];
  waiting_task& frame = make_frame<waiting_task>(tasks[0]);
  waiting_task* others[2] = {};
  bool has_it[2] = {false, false};
};

// The mutex is destroyed before the tasks that use it end. Two tasks wait. The holder unlocks the mutex, which hands it
// to the first task ‖ then the mutex is destroyed: before or after the first task has ended, or has gone on and then
// ended. If the first task ends where it waits, the second one is handed the mutex.
enum class first_one { stays, ends, goes_on };
template <first_one First>
struct mutex_goes_first final : scenario {
  mutex_goes_first() {
    require(lock->try_lock(), "a new mutex is not free");
    for (int i = 0; i != 2; ++i) frames[i] = &make_frame<waiting_task>(*lock, tasks[i]);
  }
  void thread(unsigned index) override {
    if (index == 0) {
      require(lock->unlock(), "a held mutex is free");
      done.store(1, std::memory_order::relaxed);
      left.store(1, std::memory_order::release);
      return;
    }
    await([this] { return done.load(std::memory_order::relaxed) != 0; });
    if (First != first_one::stays) await_left();
    if (First == first_one::goes_on) {
      lock->arrived();
      frames[0]->node.who.set(nullptr);
    }
    if (First != first_one::stays) frames[0]->end(*lock);
    destroy_frame(*lock);
    await_left();
    if (First == first_one::stays) frames[0]->end(*lock);
    frames[1]->end(*lock);
  }
  void await_left() {
    await([this] { return left.load(std::memory_order::acquire) != 0; });
  }
  void finish() override {
    require(tasks[0].woken(), "the mutex was not handed over");
    require(tasks[1].woken() == (First == first_one::ends),
            "the second task was handed a mutex that is not free, or a task that has ended kept it");
  }

  ending_mutex* lock = &make_frame<ending_mutex>();
  strand tasks[2];
  waiting_task* frames[2] = {};
  atomic<int> done{0};  // relaxed: it orders nothing
  atomic<int> left{0};  // as in a scheduler, where all machines leave before tasks are destroyed
};

// A task has taken the mutex without waiting, and yields. The mutex is destroyed, and then the task ‖ before that,
// another task has looked whether the mutex is free.
struct mutex_goes_before_who_gives_way final : scenario {
  mutex_goes_before_who_gives_way() {
    require(lock->lock_or_wait(frame.node), "a new mutex is not free");
    task.gives_way();
  }
  void thread(unsigned index) override {
    if (index == 0) {
      require(!lock->try_lock(), "two tasks have the mutex");
      through.store(1, std::memory_order::relaxed);
      return;
    }
    await([this] { return through.load(std::memory_order::relaxed) != 0; });
    destroy_frame(*lock);
    frame.end(*lock);
  }

  ending_mutex* lock = &make_frame<ending_mutex>();
  strand task;
  waiting_task& frame = make_frame<waiting_task>(task);
  atomic<int> through{0};
};

// A guard and its mutex: each of them may end first, and the other one learns of it.

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
    add_case<two_waiters_end>({
        .name = "mutex/two_waiters_end",
        .property = "tasks that end while they wait hand the mutex on, to a task that does not end",
        .threads = 2,
        .kept_for = "two waiters end and a third does not",
    }),
    add_case<ends_where_it_yields>({
        .name = "mutex/ends_where_it_yields",
        .property = "a task that has got the mutex and ends before it goes on hands it on: end ‖ lock ‖ lock",
        .threads = 3,
    }),
    add_case<mutex_goes_first<first_one::stays>>({
        .name = "mutex/destroyed_before_waiters",
        .property = "a mutex is destroyed before the task that it was handed to and the tasks that wait end",
        .threads = 2,
    }),
    add_case<mutex_goes_first<first_one::ends>>({
        .name = "mutex/destroyed_after_first_waiter",
        .property = "a mutex is destroyed after the task that it was handed to has ended, and handed it on",
        .threads = 2,
        .kept_for = "the mutex is destroyed before the task",
    }),
    add_case<mutex_goes_first<first_one::goes_on>>({
        .name = "mutex/destroyed_after_holder",
        .property = "a mutex is destroyed after a task was handed it, went on and ended with it",
        .threads = 2,
    }),
    add_case<mutex_goes_before_who_gives_way>({
        .name = "mutex/destroyed_before_yielding_task",
        .property = "a mutex is destroyed before a task ends that took it without waiting and has not gone on",
        .threads = 2,
    }),
    add_case<waiter_ends>({
        .name = "mutex/waiter_ends",
        .property = "a task that ends while it waits leaves the list, or hands the mutex on: end ‖ unlock",
        .threads = 2,
        .kept_for = "the smallest program",
    }),
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
