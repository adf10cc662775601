// SPDX-License-Identifier: MIT
// The number of processors changes, or falls to none, while tasks are submitted.
#include "park_model.hpp"

namespace runq::model {
namespace {

// One processor. Outside: submit ‖ outside: stop ‖ machine, spinning or asleep: it leaves, having run the task or not.
template <bool Asleep>
struct stop_vs_submit final : park_model<1, 1, 1> {
  stop_vs_submit() {
    if (Asleep) put_to_sleep(0);
    constructed();
  }
  void thread(unsigned index) override {
    machine& m = machines[0];
    if (index == 0) {
      submit(global, 1);
    } else if (index == 1) {
      parking.stop();
    } else {
      if (Asleep) wake_up(m);
      while (run_one(m) != 0) continue;
    }
  }
  void finish() override {
    if (task* const t = global.take()) tasks.run(t);
    tasks.require_all_ran();
    require(parking.spinning() == 0, "a machine still spins in a scheduler that has stopped");
    // The scheduler can be used again.
    started = 0;
    require(parking.limit() == 0, "a stopped scheduler has processors");
    parking.restart(1);
    require(parking.limit() == 1, "a scheduler that was started again lacks processors");
    parking.submitted();
    require(started == 1 && parking.spinning() == 1, "a scheduler that was started again wakes no machine");
    require(!parking.need_spinning(), "another machine is started in a scheduler that has just started");
  }
};

// One processor of two, and a request for more. Outside: stop, and when the machine has left, restart ‖ outside, after
// the stop: raises the limit to two ‖ machine 0, busy until the stop. Machine 1, which answers the request, has a
// processor of its own.
struct resize_vs_restart final : park_model<2, 2, 2> {
  resize_vs_restart() {
    parking.resize(1);
    settle(0);
    constructed();
  }
  void thread(unsigned index) override {
    if (index == 0) {
      parking.stop();
      tell(2);
      wait_for(1);
      parking.restart(2);
    } else if (index == 1) {
      wait_for(2);
      require(parking.resize(2) == 1, "resize() did not return the former number");
    } else {
      wait_for(2);
      while (run_one(machines[0]) != 0) continue;
      tell(1);
    }
  }
  void finish() override {
    require(parking.limit() == 2, "the new number of processors was forgotten");
    require(parking.idle_processors() + parking.held() == 2, "a processor is neither idle nor held, or both");
    require(started == 2 && parking.held() == 1, "not one machine holds a processor");
  }
};

// One processor of two. Machine, busy: submits a task on its own queue and waits for it ‖ outside: raises the limit to
// two ‖ machine, asleep.
struct grow_vs_submit final : park_model<2, 2, 1> {
  grow_vs_submit() {
    settle(0);
    put_to_sleep(1);
    parking.resize(1);
    constructed();
  }
  void thread(unsigned index) override {
    if (index == 0) {
      submit(processors[0].queue, 1);
      wait_for(1);
    } else if (index == 1) {
      require(parking.resize(2) == 1, "resize() did not return the former number");
    } else {
      machine& m = machines[1];
      wake_up(m);
      if (run_one(m) == 1) tell(1);
    }
  }
  void finish() override {
    tasks.require_all_ran();
    require_all_accounted_for();
  }
};

// One processor, whose machine spins and looks at all processors that there are ‖ outside: adds a second one, then
// submits a task.
struct grow_vs_spinner final : park_model<2, 2, 1> {
  grow_vs_spinner() {
    parking.resize(1);
    constructed();
  }
  void thread(unsigned index) override {
    if (index == 0) {
      processors[1].made.set(true);
      parking.resize(2);
      submit(global, 1);
    } else {
      require(run_one(machines[0]) == 1, "the machine left although the scheduler does not stop");
    }
  }
  void finish() override {
    tasks.require_all_ran();
    require_all_accounted_for();
  }
};

// Processor 1 has become surplus. Its machine moves its task to the global queue and gives it up ‖ the machine of
// processor 0, spinning, goes idle: one of them runs the task.
struct retire_vs_last_spinner final : park_model<2, 2, 1> {
  retire_vs_last_spinner() {
    settle(0);
    settle(1);
    require(parking.may_spin(machines[0]), "no machine spins, and yet this machine may not spin");
    processors[1].queue.put(tasks.make(1));
    parking.resize(1);
    constructed();
  }
  void thread(unsigned index) override {
    if (run_one(machines[index]) == 1) parking.stop();
  }
  void finish() override { tasks.require_all_ran(); }
};

// Outside: lowers the limit to one processor, then submits a task ‖ machine 1, spinning, holds the processor that
// becomes surplus ‖ machine 0, asleep.
struct shrink_vs_submit final : park_model<2, 2, 1> {
  shrink_vs_submit() {
    settle(0);
    put_to_sleep(0);
    constructed();
  }
  void thread(unsigned index) override {
    if (index == 0) {
      parking.resize(1);
      submit(global, 1);
    } else {
      machine& m = machines[index - 1];
      if (index == 1) wake_up(m);
      if (run_one(m) == 1) parking.stop();
    }
  }
  void finish() override { tasks.require_all_ran(); }
};

// Processor 2 has become surplus and has two tasks, which go on until the other has begun. Its machine moves them to
// the global queue and goes on with processor 1, which is idle ‖ the machine of processor 0, spinning, which may look
// just when the tasks are in neither queue ‖ a machine, asleep.
struct retire_to_another final : park_model<3, 3, 2, 2> {
  retire_to_another() {
    settle(0);
    settle(1);
    put_to_sleep(1);
    settle(2);
    // settle(2) has woken machine 1 again; it found nothing, and neither did machine 0.
    wake_up(machines[1]);
    put_to_sleep(1);
    require(parking.may_spin(machines[0]), "no machine spins, and yet this machine may not spin");
    processors[2].queue.put(tasks.make(1));
    processors[2].queue.put(tasks.make(2));
    parking.resize(2);
    constructed();
  }
  void thread(unsigned index) override {
    machine& m = machines[index];
    if (index == 1) wake_up(m);
    const int id = run_one(m);
    if (id == 0) return;
    tell(id);
    wait_for(3 - id);
    parking.stop();
  }
  void finish() override { tasks.require_all_ran(); }
};

// Processor 1 has become surplus. Machine 0, busy: raises the limit again at once, submits a task and waits for it ‖
// machine 1 is about to give processor 1 up, which must not get lost.
struct shrink_and_grow final : park_model<2, 2, 1> {
  shrink_and_grow() {
    settle(0);
    settle(1);
    parking.resize(1);
    constructed();
  }
  void thread(unsigned index) override {
    if (index == 0) {
      parking.resize(2);
      submit(processors[0].queue, 1);
      wait_for(1);
    } else if (run_one(machines[1]) == 1) {
      tell(1);
    }
  }
  void finish() override {
    tasks.require_all_ran();
    require_all_accounted_for();
  }
};

const bool added[] = {
    add_case<stop_vs_submit<false>>({
        .name = "park/stop_vs_spinner",
        .property = "every machine leaves when the scheduler stops: submit ‖ stop ‖ a spinning machine goes idle",
        .threads = 3,
        .kept_for = "the machine spins",
    }),
    add_case<stop_vs_submit<true>>({
        .name = "park/stop_vs_sleeper",
        .property = "every machine leaves when the scheduler stops: submit ‖ stop ‖ a sleeping machine",
        .threads = 3,
        .kept_for = "the machine sleeps",
    }),
    add_case<resize_vs_restart>({
        .name = "park/resize_vs_restart",
        .property = "a resize while a run ends makes no processor idle twice: stop, restart ‖ resize ‖ machine",
        .threads = 3,
    }),
    add_case<grow_vs_submit>({
        .name = "park/grow_vs_submit",
        .property = "a new processor gets the work that waits: submit ‖ one processor more ‖ a sleeping machine",
        .threads = 3,
        .kept_for = "the smaller program",
    }),
    add_case<grow_vs_spinner>({
        .name = "park/grow_vs_spinner",
        .property =
            "a thread that reads the new number of processors sees the processors: grow, submit ‖ a spinning machine",
        .threads = 2,
        .mutants = {{"limit_relaxed", "park.limit", std::memory_order::relaxed},
                    {"resize_limit_relaxed", "park.resize.limit", std::memory_order::relaxed}},
        .kept_for = "the processors are new",
    }),
    add_case<retire_vs_last_spinner>({
        .name = "park/retire_vs_last_spinner",
        .property = "no machine sleeps while tasks of a processor that retires wait",
        .threads = 2,
        .kept_for = "a processor with tasks retires",
    }),
    add_case<shrink_vs_submit>({
        .name = "park/shrink_vs_submit",
        .property =
            "a task is run although the processor of the spinning machine retires: shrink, submit ‖ spinner ‖ sleeper",
        .threads = 3,
        .kept_for = "the spinner's processor retires",
    }),
    add_case<retire_to_another>({
        .name = "park/retire_to_another",
        .property = "no machine sleeps while tasks of a retired processor wait, if its machine gets another: retire ‖ "
                    "spinner ‖ sleeper",
        .threads = 3,
    }),
    add_case<shrink_and_grow>({
        .name = "park/shrink_and_grow",
        .property = "a processor that is surplus only for a moment is not lost: retire ‖ grow, submit",
        .threads = 2,
    }),
    add_case<found_vs_resize<>>({
        .name = "park/found_vs_resize",
        .property = "a machine that has found a task does not rely on a request that resize() has withdrawn: found ‖ "
                    "submit ‖ resize",
        .threads = 3,
        .kept_for = "both fences are those of the language",
    }),
};

}  // namespace
}  // namespace runq::model
