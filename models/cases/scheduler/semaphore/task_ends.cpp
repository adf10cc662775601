// SPDX-License-Identifier: MIT
// A task is destroyed where it waits for units, because its run has ended, while somebody else gives some back.
#include "ending_policy.hpp"
#include "semaphore_model.hpp"
#include "waking_policy.hpp"

namespace runq::model {
namespace {

using ending_semaphore = runq::detail::semaphore_core<ending_policy>;

// The frame of a task that waits, as the awaiter does.
struct waiting_task {
  waiting_task(record& task, std::int64_t wanted) {
    node.who.set(&task);
    node.wanted.set(wanted);
  }
  void end(ending_semaphore& units) {
    if (node.who.get() != nullptr) units.leave(node);
    destroy_frame(*this);
  }
  runq::detail::units_waiter<ending_policy> node;
};

[[nodiscard]] waiting_task& wait(ending_semaphore& units, record& task, std::int64_t wanted) {
  waiting_task& frame = make_frame<waiting_task>(task, wanted);
  require(!units.acquire_or_wait(frame.node), "taken units are free");
  return frame;
}

// One of two units is free. A writer waits for both, a reader behind it. The writer ends ‖ the other unit is given
// back.
struct waiter_ends final : scenario {
  void thread(unsigned index) override {
    if (index == 0) {
      writer.end(units);
    } else {
      release(units, 1);
    }
  }
  void finish() override {
    require(tasks[1].woken(), "a task that is gone has the units");
    reader.end(units);
    require(units.try_acquire(all_units), "a task that is gone has a unit");
    require(!units.try_acquire(1), "there are more units than there were");
  }

  ending_semaphore units{1, all_units};
  record tasks[2];
  waiting_task& writer = wait(units, tasks[0], all_units);
  waiting_task& reader = wait(units, tasks[1], 1);
};

// The same, and nothing is given back. The writer ends ‖ another reader begins to wait.
struct big_waiter_ends final : scenario {
  void thread(unsigned index) override {
    if (index == 0) {
      writer.end(units);
    } else {
      require(!units.acquire_or_wait(late.node), "somebody was overtaken");
    }
  }
  void finish() override {
    require(tasks[1].woken() && !tasks[2].woken(), "a task waits behind one that is gone, or two have one unit");
    reader.end(units);
    require(tasks[2].woken(), "a task that is gone has the unit");
    late.end(units);
  }

  ending_semaphore units{1, all_units};
  record tasks[3];
  waiting_task& writer = wait(units, tasks[0], all_units);
  waiting_task& reader = wait(units, tasks[1], 1);
  waiting_task& late = make_frame<waiting_task>(tasks[2], 1);
};

// A task has taken its units without waiting, gives way before it goes on, and ends there ‖ another one looks whether
// there are units ‖ a third one takes or waits for them.
struct ends_where_it_gives_way final : scenario {
  ends_where_it_gives_way() {
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
    require(tasks[1].woken(), "a task that is gone has the units");
    second.end(units);
    require(units.try_acquire(all_units), "a task that is gone has the units");
  }

  ending_semaphore units{all_units, all_units};
  record tasks[2];
  waiting_task& first = make_frame<waiting_task>(tasks[0], all_units);
  waiting_task& second = make_frame<waiting_task>(tasks[1], all_units);
  bool looker = false;
  bool has = false;
};

// The semaphore is destroyed before the tasks that use it end. Two tasks wait. One unit is given back, and so given to
// the first ‖ then the semaphore is destroyed: before or after the first task has ended, or has gone on and then ended.
enum class first_one { stays, ends, goes_on };
template <first_one First>
struct semaphore_goes_first final : scenario {
  void thread(unsigned index) override {
    if (index == 0) {
      release(*units, 1);
      through.store(1, std::memory_order::release);
      return;
    }
    await([this] { return through.load(std::memory_order::acquire) != 0; });
    if (First == first_one::goes_on) {
      units->arrived(first.node);
      first.node.who.set(nullptr);
    }
    if (First != first_one::stays) first.end(*units);
    destroy_frame(*units);
    if (First == first_one::stays) first.end(*units);
    second.end(*units);
  }
  void finish() override {
    require(tasks[0].woken(), "the unit was not given to who waits");
    require(tasks[1].woken() == (First == first_one::ends),
            "the unit was passed on by nobody, or kept by a task that is gone");
  }

  ending_semaphore* units = &make_frame<ending_semaphore>(0, all_units);
  record tasks[2];
  waiting_task& first = wait(*units, tasks[0], 1);
  waiting_task& second = wait(*units, tasks[1], 1);
  atomic<int> through{0};
};

const bool added[] = {
    add_case<waiter_ends>({
        .name = "semaphore/waiter_ends",
        .property = "a task that ends where it waits has left, or passes on what it was given: end ‖ release",
        .threads = 2,
        .quick = {.random = 10'000, .bound = 3},
    }),
    add_case<big_waiter_ends>({
        .name = "semaphore/big_waiter_ends",
        .property = "who waited behind a task that ends goes on if there is enough for it: end ‖ acquire",
        .threads = 2,
        .quick = {.random = 10'000, .bound = 3},
    }),
    add_case<ends_where_it_gives_way>({
        .name = "semaphore/ends_where_it_gives_way",
        .property = "a task that has its units and ends where it gives way passes them on: end ‖ look ‖ acquire",
        .threads = 3,
        .quick = {.random = 10'000, .bound = 2},
    }),
    add_case<semaphore_goes_first<first_one::stays>>({
        .name = "semaphore/goes_first",
        .property = "a semaphore that goes forgets who was given units and who waits, and they end after it",
        .threads = 2,
        .quick = {.random = 10'000, .bound = 3},
    }),
    add_case<semaphore_goes_first<first_one::ends>>({
        .name = "semaphore/goes_after_the_first",
        .property = "a semaphore goes after a task that was given its unit has ended, and passed it on",
        .threads = 2,
        .quick = {.random = 10'000, .bound = 3},
    }),
    add_case<semaphore_goes_first<first_one::goes_on>>({
        .name = "semaphore/goes_after_the_holder",
        .property = "a semaphore goes after a task that was given its unit, went on and ended with it",
        .threads = 2,
        .quick = {.random = 10'000, .bound = 3},
    }),
};

}  // namespace
}  // namespace runq::model
