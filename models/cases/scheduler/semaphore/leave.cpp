// SPDX-License-Identifier: MIT
// A task that waits for units leaves: its run has ended, or its wait is withdrawn.
#include "ending_policy.hpp"
#include "semaphore_model.hpp"
#include "waking_policy.hpp"

namespace runq::model {
namespace {

// A task is destroyed where it waits for units, because its run has ended, while another thread gives units back.

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

// A task that waits for units has its wait withdrawn, as by a stop request, while others take units and give them back.

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
        .kept_for = "a third thread may take the units that are given back",
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
