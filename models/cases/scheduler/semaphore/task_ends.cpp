// SPDX-License-Identifier: MIT
// A task is destroyed where it waits for units, because its run has ended, while another thread gives units back.
#include "ending_policy.hpp"
#include "semaphore_model.hpp"
#include "waking_policy.hpp"

namespace runq::model {
namespace {

using ending_semaphore = runq::detail::semaphore_core<ending_policy>;

// Stands for the frame of a waiting task and the awaiter in it.
struct waiting_task {
  waiting_task(strand& task, std::int64_t wanted) {
    node.who.set(&task);
    node.wanted.set(wanted);
  }
  void end(ending_semaphore& units) {
    if (node.who.get() != nullptr) units.leave(node);
    destroy_frame(*this);
  }
  runq::detail::units_waiter<ending_policy> node;
};

[[nodiscard]] waiting_task& wait(ending_semaphore& units, strand& task, std::int64_t wanted) {
  waiting_task& frame = make_frame<waiting_task>(task, wanted);
  require(!units.acquire_or_wait(frame.node), "acquire_or_wait() took units that are taken");
  return frame;
}

// One of two units is free. A writer waits for both, and a reader waits behind it. The writer ends ‖ the unit that was
// taken is given back.
struct waiter_ends final : scenario {
  void thread(unsigned index) override {
    if (index == 0) {
      writer.end(units);
    } else {
      release(units, 1);
    }
  }
  void finish() override {
    require(tasks[1].woken(), "a task that has ended holds the units");
    reader.end(units);
    require(units.try_acquire(all_units), "a task that has ended holds a unit");
    require(!units.try_acquire(1), "there are more units than there were");
  }

  ending_semaphore units{1, all_units};
  strand tasks[2];
  waiting_task& writer = wait(units, tasks[0], all_units);
  waiting_task& reader = wait(units, tasks[1], 1);
};

// One of two units is free, a writer waits for both, and a reader waits behind it, as above. No unit is given back. The
// writer ends ‖ another reader begins to wait.
struct big_waiter_ends final : scenario {
  void thread(unsigned index) override {
    if (index == 0) {
      writer.end(units);
    } else {
      require(!units.acquire_or_wait(late.node), "a task overtook one that waits");
    }
  }
  void finish() override {
    require(tasks[1].woken() && !tasks[2].woken(), "a task waits behind one that has ended, or two hold one unit");
    reader.end(units);
    require(tasks[2].woken(), "a task that has ended holds the unit");
    late.end(units);
  }

  ending_semaphore units{1, all_units};
  strand tasks[3];
  waiting_task& writer = wait(units, tasks[0], all_units);
  waiting_task& reader = wait(units, tasks[1], 1);
  waiting_task& late = make_frame<waiting_task>(tasks[2], 1);
};

// A task has taken its units without waiting, yields before it goes on, and ends there ‖ a second thread tries to take
// a unit ‖ a second task takes all units, or waits for them.
struct ends_where_it_yields final : scenario {
  ends_where_it_yields() {
    require(units.acquire_or_wait(first.node), "new units are not free");
    tasks[0].gives_way();
  }
  void thread(unsigned index) override {
    if (index == 0) {
      first.end(units);
    } else if (index == 1) {
      looker = units.try_acquire(1);
    } else {
      has = units.acquire_or_wait(second.node);
      if (has) tasks[1].gives_way();
    }
  }
  void finish() override {
    if (looker) release(units, 1);
    require(tasks[1].woken(), "a task that has ended holds the units");
    second.end(units);
    require(units.try_acquire(all_units), "a task that has ended holds the units");
  }

  ending_semaphore units{all_units, all_units};
  strand tasks[2];
  waiting_task& first = make_frame<waiting_task>(tasks[0], all_units);
  waiting_task& second = make_frame<waiting_task>(tasks[1], all_units);
  bool looker = false;
  bool has = false;
};

// The semaphore is destroyed before all tasks that use it have ended. Two tasks wait. One unit is given back, so the
// first task gets it ‖ after that the semaphore is destroyed: before the first task ends (stays), after it has ended
// (ends), or after it has gone on with its unit and ended (goes_on). The second task ends last.
enum class first_one { stays, ends, goes_on };
template <first_one First>
struct semaphore_goes_first final : scenario {
  void thread(unsigned index) override {
    if (index == 0) {
      release(*units, 1);
      done.store(1, std::memory_order::relaxed);
      left.store(1, std::memory_order::release);
      return;
    }
    await([this] { return done.load(std::memory_order::relaxed) != 0; });
    if (First != first_one::stays) await_left();
    if (First == first_one::goes_on) {
      units->arrived(first.node);
      first.node.who.set(nullptr);
    }
    if (First != first_one::stays) first.end(*units);
    destroy_frame(*units);
    await_left();
    if (First == first_one::stays) first.end(*units);
    second.end(*units);
  }
  void await_left() {
    await([this] { return left.load(std::memory_order::acquire) != 0; });
  }
  void finish() override {
    require(tasks[0].woken(), "the first task was not given the unit");
    require(tasks[1].woken() == (First == first_one::ends),
            "the second task was given a unit that is not free, or a task that has ended kept it");
  }

  ending_semaphore* units = &make_frame<ending_semaphore>(0, all_units);
  strand tasks[2];
  waiting_task& first = wait(*units, tasks[0], 1);
  waiting_task& second = wait(*units, tasks[1], 1);
  atomic<int> done{0};  // relaxed: it orders nothing
  atomic<int> left{0};  // as in a scheduler, where all machines leave before tasks are destroyed
};

const bool added[] = {
    add_case<waiter_ends>({
        .name = "semaphore/waiter_ends",
        .property = "a task that ends while it waits leaves the line, or gives back the units it got: end ‖ release",
        .threads = 2,
    }),
    add_case<big_waiter_ends>({
        .name = "semaphore/big_waiter_ends",
        .property = "a task behind one that ends gets its units if there are enough of them: end ‖ acquire",
        .threads = 2,
        .kept_for = "the big waiter ends",
    }),
    add_case<ends_where_it_yields>({
        .name = "semaphore/ends_where_it_yields",
        .property = "a task that got its units and ends before it goes on gives them back: end ‖ try ‖ acquire",
        .threads = 3,
    }),
    add_case<semaphore_goes_first<first_one::stays>>({
        .name = "semaphore/destroyed_before_waiters",
        .property = "a semaphore is destroyed before the tasks that wait or were given units end",
        .threads = 2,
    }),
    add_case<semaphore_goes_first<first_one::ends>>({
        .name = "semaphore/destroyed_after_first_waiter",
        .property = "a semaphore is destroyed after a task was given a unit and ended, which gave the unit back",
        .threads = 2,
        .kept_for = "the unit comes back before the semaphore goes",
    }),
    add_case<semaphore_goes_first<first_one::goes_on>>({
        .name = "semaphore/destroyed_after_holder",
        .property = "a semaphore is destroyed after a task was given a unit, went on and ended with it",
        .threads = 2,
        .kept_for = "the task ends with its unit",
    }),
};

}  // namespace
}  // namespace runq::model
