// SPDX-License-Identifier: MIT
// A task is destroyed where it waits for a mutex, because its run has ended, while somebody else unlocks it.
#include "ending_policy.hpp"
#include "runq/mutex.hpp"
#include "scenario.hpp"
#include "waking_policy.hpp"

namespace runq::model {
namespace {

using ending_mutex = runq::detail::mutex_core<ending_policy>;

// The frame of a task that waits. As the awaiter does.
struct waiting_task {
  waiting_task(ending_mutex& on, record& task) {
    node.who.set(&task);
    require(!on.lock_or_wait(node), "a held mutex is free");
  }
  void end(ending_mutex& on) {
    on.leave(node);
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
    require(tasks[1].woken(), "a task that is gone has the mutex");
    require(!lock.try_lock(), "the mutex was handed over, and is free");
    second->end(lock);
    require(lock.try_lock(), "a task that is gone has the mutex");
  }

  ending_mutex lock;
  record tasks[2];
  waiting_task* first = nullptr;
  waiting_task* second = nullptr;
};

const bool added[] = {
    add_case<waiter_ends>({
        .name = "mutex/waiter_ends",
        .property = "a task that ends where it waits has left, or passes on what it was handed: end ‖ unlock",
        .threads = 2,
        .quick = {.random = 10'000, .bound = 3},
    }),
};

}  // namespace
}  // namespace runq::model
