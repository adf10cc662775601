// SPDX-License-Identifier: MIT
// A machine that has found a task, and sees that others wait, wakes more machines than one, if work and processors
// allow it. A wake-up more or less loses no task, so these cases say whom it wakes.
#include "../short_lock/short_lock_model.hpp"
#include "machine_loop_model.hpp"

namespace runq::model {
namespace {

// Machine 0 is busy for long, with tasks in its ring. Machine 1, spinning, finds one of them ‖ outside: puts task 5 in
// the global queue. Of the others some spin, and have not looked yet; the rest sleep. At first the last machine spins,
// and all others have work.
template <unsigned Machines, class Parking = atomics>
struct finder : machine_loop_model<Machines, Machines, 5, shipped_queues<4>, Parking> {
  finder() {
    for (unsigned i = 0; i + 1 != Machines; ++i) this->settle(i);
  }
  void tasks_wait(int n) {
    for (int id = 1; id <= n; ++id) (void)this->processors[0].own_queue.push(this->tasks.make(id));
    this->constructed();
  }
  void thread(unsigned index) override {
    if (index == 0) {
      (void)this->run_one(this->machines[1]);
    } else {
      this->global.put(this->tasks.make(5));
      this->parking.submitted_in_order();
    }
  }
  [[nodiscard]] int woken(unsigned which) const { return this->machines[which].parker.unparked; }
  void require_woken(unsigned which, int times) {
    require(woken(which) >= times, "tasks wait, a processor is idle, and a machine sleeps");
    require(woken(which) <= times, "a machine is woken although enough others look for work");
    this->require_all_accounted_for();
    // The other tasks are left.
    for (auto& p : this->processors) {
      auto left = p.own_queue.drain();
      while (left.pop_front() != nullptr) continue;
    }
    while (this->global.take() != nullptr) continue;
  }
};

// Machine 2 spins, and is slow; machine 3 sleeps. Machine 1: finds one of three tasks, and waits until the others have
// begun ‖ machine 3: runs both.
struct more_beside_spinner final : finder<4> {
  more_beside_spinner() {
    put_to_sleep(3);
    look_for_work(1);
    look_for_work(2);
    tasks_wait(3);
  }
  void thread(unsigned index) override {
    if (index == 0) {
      const int first = run_one(machines[1]);
      for (const int id : {1, 2, 3}) {
        if (id != first) wait_for(id);
      }
      return;
    }
    wake_up(machines[3]);
    for (int i = 0; i != 2; ++i) tell(run_one(machines[3]));
  }
  void finish() override {
    tasks.require_all_ran();
    require_woken(3, 1);
  }
};

// One task at most is left in the ring, for which machine 2 looks.
struct no_more_than_tasks final : finder<4> {
  no_more_than_tasks() {
    put_to_sleep(3);
    look_for_work(1);
    look_for_work(2);
    tasks_wait(1);
  }
  void finish() override { require_woken(3, 0); }
};

// Machines 2 and 4 spin, machine 3 sleeps, and three tasks are left: as many machines look for work as have some.
struct no_more_than_busy final : finder<5> {
  no_more_than_busy() {
    look_for_work(1);
    look_for_work(2);
    put_to_sleep(3);
    tasks_wait(4);
  }
  void finish() override { require_woken(3, 0); }
};

// Machines 2 and 3 sleep. Machine 1 finds one of five tasks. One of the two is woken, by machine 1 or by the thread
// outside, and the other one if machine 1 finds the lock free, and sees which processors are idle. The lock is the
// shipped one.
struct two_more final : finder<4, atomics_and_short_lock> {
  two_more() {
    put_to_sleep(3);
    put_to_sleep(2);
    look_for_work(1);
    tasks_wait(4);
  }
  void finish() override {
    require_woken(2, 1);
    require_woken(3, woken(3) == 0 ? 0 : 1);
  }
};

const bool added[] = {
    add_case<more_beside_spinner>({
        .name = "machine_loop/more_beside_spinner",
        .property = "a machine that has found one of three tasks wakes another, although one spins that is slow",
        .threads = 2,
    }),
    add_case<no_more_than_tasks>({
        .name = "machine_loop/no_more_than_tasks",
        .property = "a machine that leaves one task behind, for which another spins, wakes none",
        .threads = 2,
    }),
    add_case<no_more_than_busy>({
        .name = "machine_loop/no_more_than_busy",
        .property = "a machine that leaves tasks behind wakes none while as many spin as have work",
        .threads = 2,
        .kept_for = "as many spin as have work",
    }),
    add_case<two_more>({
        .name = "machine_loop/two_more",
        .property = "a machine that leaves tasks behind wakes one or two, each of them once: found ‖ submit",
        .threads = 2,
        .kept_for = "a submitter meets a machine that wakes two",
    }),
};

}  // namespace
}  // namespace runq::model
