// SPDX-License-Identifier: MIT
// A machine loses its processor, or its scheduler ends: the tasks that wait on the processor are not lost, and the
// machine counts as asleep and as nothing else.
#include "machine_loop_model.hpp"

namespace runq::model {
namespace {

// Processor 1 has become surplus, with task 1 next, task 2 in its ring, and a fork, 3. Machine 1, busy: gives it up ‖
// machine 0, spinning. The machine with the other processor runs them, in that order; the last task stops the
// scheduler.
template <std::size_t Capacity, class Forks = fork_deques>
struct evacuated final : machine_loop_model<2, 2, 3, shipped_queues<Capacity, Forks>> {
  using typename machine_loop_model<2, 2, 3, shipped_queues<Capacity, Forks>>::machine;
  evacuated() {
    this->settle(0);
    this->settle(1);
    this->look_for_work(0);
    (void)this->processors[1].own_queue.push_next(this->tasks.make(2));
    (void)this->processors[1].own_queue.push_next(this->tasks.make(1));
    require(this->processors[1].own_forks.push(this->tasks.make(3)), "no memory for a fork");
    this->parking.resize(1);
    this->constructed();
  }
  void thread(unsigned index) override {
    machine& m = this->machines[index];
    while (const int id = this->run_one(m)) {
      require(m.held == &this->processors[0], "a task is run on a processor that is surplus");
      order.see(id);
      if (id == 3) this->parking.stop();
    }
  }
  void finish() override { this->tasks.require_all_ran(); }

  fifo_view order;  // of the tasks that were run: there is one processor
};

// Processor 1 has become surplus; its machine, 1, spins, and gives it up ‖ machine 0, busy until now: puts task 1 in
// the global queue. The machine with the other processor runs it, and stops the scheduler.
struct spinner_retires final : machine_loop_model<2, 2, 1> {
  spinner_retires() {
    settle(0);
    parking.resize(1);
    constructed();
  }
  void thread(unsigned index) override {
    if (index == 0) {
      global.put(tasks.make(1));
      parking.submitted_in_order();
    }
    if (run_one(machines[index]) == 1) parking.stop();
  }
  void finish() override {
    tasks.require_all_ran();
    require(parking.spinning() == 0, "a machine still spins in a scheduler that has stopped");
  }
};

// One processor. Machine 0 has lost it in a blocking call; machine 1 holds it, and spins ‖ machine 0 comes back, waits
// for the processor, and puts task 1 in the global queue. Either machine runs the task, and stops the scheduler.
struct spinner_hands_its_processor_over final : machine_loop_model<2, 1, 1> {
  spinner_hands_its_processor_over() {
    settle(0);
    take_from(0, true);
    constructed();
  }
  void thread(unsigned index) override {
    machine& m = machines[index];
    if (index == 0) {
      processor* const p = parking.come_back_waiting(m);
      require(p != nullptr, "the machine has no processor although the scheduler does not stop");
      looping.hold(m, *p);
      global.put(tasks.make(1));
      parking.submitted_in_order();
    }
    if (run_one(m) == 1) parking.stop();
  }
  void finish() override {
    tasks.require_all_ran();
    require(parking.spinning() == 0, "a machine still spins in a scheduler that has stopped");
  }
};

// Two processors; task 1 is in the global queue. Outside: the scheduler stops ‖ machine 1, spinning: runs the task or
// not, and leaves.
struct spinner_vs_stop final : machine_loop_model<2, 2, 1> {
  spinner_vs_stop() {
    settle(0);
    global.put(tasks.make(1));
    constructed();
  }
  void thread(unsigned index) override {
    if (index == 0) return parking.stop();
    while (run_one(machines[1]) != 0) continue;
  }
  void finish() override {
    require(parking.spinning() == 0, "a machine still spins in a scheduler that has stopped");
    if (task* const t = global.take()) tasks.run(t);
    tasks.require_all_ran();
  }
};

// Main ends; then destructors make task 2 runnable. Task 1 was queued before. The run is over when the machine has
// left.
template <bool InRing>
struct run_ends final : machine_loop_model<1, 1, 2> {
  run_ends() {
    task* const before = tasks.make(1);
    if (InRing) {
      (void)processors[0].own_queue.push_next(before);
    } else {
      global.put(before);
    }
    constructed();
  }
  void thread(unsigned index) override {
    if (index == 0) {
      looping.end();
      global.put(tasks.make(2));
      parking.submitted_in_order();
      parking.stop();
      return;
    }
    while (const int id = run_one(machines[0])) require(id == 1, "a task begins although main has ended");
  }
  void finish() override {
    require(looping.ends(), "the end of the run was forgotten");
    looping.end_is_over();
    require(!looping.ends(), "the next run ends as it begins");
    require(parking.spinning() == 0, "a machine still spins in a scheduler that has stopped");
    processors[0].own_queue.rebind();
    for (task_list left = processors[0].own_queue.drain(); task* const t = left.pop_front();) tasks.run(t);
    while (task* const t = global.take()) tasks.run(t);
    tasks.require_all_ran();
  }
};

const bool added[] = {
    add_case<evacuated<2>>({
        .name = "machine_loop/evacuated",
        .property = "the tasks and forks of a processor that retires are run, in their order",
        .threads = 2,
        .kept_for = "a ring of 2",
    }),
    add_case<evacuated<4>>({
        .name = "machine_loop/evacuated_ring_of_4",
        .property = "the tasks and forks of a processor with a ring of 4 that retires are run, in their order",
        .threads = 2,
        .kept_for = "a ring of 4",
    }),
    add_case<evacuated<2, split_fork_deques>>({
        .name = "machine_loop/evacuated_split_deque",
        .property = "the tasks and the forks, in a split_deque, of a processor that retires are run, in their order",
        .threads = 2,
        .kept_for = "the forks are in a split_deque",
    }),
    add_case<spinner_retires>({
        .name = "machine_loop/spinner_retires",
        .property =
            "a spinning machine whose processor retires does not count as spinning, and a task is run: submit ‖ retire",
        .threads = 2,
        .kept_for = "the processor retires",
    }),
    add_case<spinner_hands_its_processor_over>({
        .name = "machine_loop/spinner_hands_its_processor_over",
        .property = "a spinning machine that passes its processor on does not count as spinning, and a task is run",
        .threads = 2,
    }),
    add_case<spinner_vs_stop>({
        .name = "machine_loop/spinner_vs_stop",
        .property = "a machine that looks for work leaves when the scheduler stops",
        .threads = 2,
        .kept_for = "the machine spins",
    }),
    add_case<run_ends<false>>({
        .name = "machine_loop/run_ends",
        .property = "a task that becomes runnable after main has ended does not begin, and is not lost",
        .threads = 2,
        .kept_for = "the task becomes runnable late",
    }),
    add_case<run_ends<true>>({
        .name = "machine_loop/run_ends_task_in_ring",
        .property = "a task in the processor's own queue does not begin after main has ended, and is not lost",
        .threads = 2,
        .kept_for = "the task is in the processor's own queue",
    }),
};

}  // namespace
}  // namespace runq::model
