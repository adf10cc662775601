// SPDX-License-Identifier: MIT
// A task is made runnable while a machine that has found nothing goes to sleep. No fence is needed where the
// publication and the machine's last look are read-modify-writes of one variable, or sections under one lock: then one
// of the two comes first.
#include <functional>

#include "vs_last_spinner.hpp"

namespace runq::model {
namespace {

// Outside: puts task 1 in the global queue ‖ machine, spinning, the last one: look, rest, run the task.
struct injected_vs_last_spinner final : machine_loop_model<1, 1, 1> {
  injected_vs_last_spinner() { constructed(); }
  void thread(unsigned index) override {
    if (index == 0) {
      global.put(tasks.make(1));
      parking.submitted_in_order();
    } else {
      require(run_one(machines[0]) == 1, "the machine left although the scheduler does not stop");
    }
  }
  void finish() override {
    tasks.require_all_ran();
    require_all_accounted_for();
  }
};

// Machine 0 puts task 1 into its runnext slot.
struct next_vs_last_spinner final : vs_last_spinner<> {
  void make_runnable() override { (void)parking.submit_next(processors[0].own_queue, tasks.make(1)); }
};

// Three processors. Machine 0, busy for long, with task 1 in its runnext slot: puts task 2 there, which displaces task
// 1 ‖ machine 1, spinning ‖ machine 2, asleep: each runs one of them, although for a moment task 1 is in no queue.
struct displaced_vs_spinner final : machine_loop_model<3, 3, 2> {
  displaced_vs_spinner() {
    settle(0);
    settle(1);
    put_to_sleep(2);
    look_for_work(1);
    (void)processors[0].own_queue.push_next(tasks.make(1));
    constructed();
  }
  void thread(unsigned index) override {
    if (index == 0) {
      (void)parking.submit_next(processors[0].own_queue, tasks.make(2));
    } else {
      machine& m = machines[index];
      if (index == 2 && !wake_up(m)) return;
      require(run_one(m) != 0, "the machine left although the scheduler does not stop");
    }
  }
  void finish() override {
    tasks.require_all_ran();
    require_all_accounted_for();
  }
};

// One of two processors is in use. Outside: raises the limit to two ‖ machine 1: comes back from a blocking call,
// perhaps to the new processor, and puts task 1 into its runnext slot ‖ machine 0, spinning, the last one: looks at as
// many processors as it knows of. If it does not know of the new one, its look is ordered with that runnext slot by the
// fence that a machine makes when it has got a processor.
struct next_on_a_new_processor final : machine_loop_model<3, 2, 1> {
  next_on_a_new_processor() {
    settle(0);
    take_from(1, false);
    parking.resize(1);
    parking.found(machines[1]);
    look_for_work(0);
    constructed();
  }
  void thread(unsigned index) override {
    if (index == 0) {
      parking.resize(2);
    } else if (index == 1) {
      task* const t = tasks.make(1);
      if (processor* const p = parking.come_back()) {
        looping.hold(machines[1], *p);
        (void)parking.submit_next(p->own_queue, t);
      } else {
        global.put(t);
        parking.submitted_in_order();
      }
    } else {
      require(run_one(machines[0]) == 1, "the machine left although the scheduler does not stop");
    }
  }
  void finish() override { tasks.require_all_ran(); }
};

// Two processors, tasks 1 and 2 in the global queue, each of which goes on until the other has begun. Machine 0, which
// does not spin, takes both, and runs one ‖ machine 1, spinning, the last one, which may look just when the other is on
// its way from the global queue to the ring of machine 0.
template <std::size_t Capacity>
struct share_vs_last_spinner final : machine_loop_model<2, 2, 2, shipped_queues<Capacity>> {
  using base = machine_loop_model<2, 2, 2, shipped_queues<Capacity>>;
  share_vs_last_spinner() {
    this->settle(0);
    this->global.put(this->tasks.make(1));
    this->global.put(this->tasks.make(2));
    this->constructed();
  }
  void thread(unsigned index) override {
    const int id = this->run_one(this->machines[index]);
    require(id != 0, "the machine left although the scheduler does not stop");
    this->tell(id);
    this->wait_for(3 - id);
  }
  void finish() override {
    this->tasks.require_all_ran();
    this->require_all_accounted_for();
  }
};

// Two tasks are queued, each goes on until the other has begun; no machine was woken for the second because one
// was spinning. Machine 0, spinning, with one of them in its own queue: finds one ‖ machine 1, asleep.
struct finder_wakes_another final : machine_loop_model<2, 2, 2> {
  finder_wakes_another() {
    settle(0);
    put_to_sleep(1);
    look_for_work(0);
    (void)processors[0].own_queue.push_next(tasks.make(1));
    global.put(tasks.make(2));
    constructed();
  }
  void thread(unsigned index) override {
    machine& m = machines[index];
    if (index == 1 && !wake_up(m)) return;
    const int id = run_one(m);
    require(id != 0, "the machine left although the scheduler does not stop");
    tell(id);
    wait_for(3 - id);
  }
  void finish() override {
    tasks.require_all_ran();
    require_all_accounted_for();
  }
};

// Processor 1 has one fork, processor 2 has two. Machine 0 looks for work: it takes the oldest fork of those that are
// not alone, although it comes to processor 1 first.
struct lone_fork_comes_last final : machine_loop_model<2, 3, 3, queues_of_two_rounds<fork_deques>> {
  lone_fork_comes_last() {
    for (int id = 1; id <= 3; ++id) {
      require(processors[id == 1 ? 1 : 2].own_forks.push(tasks.make(id)), "no memory for a fork");
    }
    constructed();
  }
  void thread(unsigned index) override {
    if (index != 0) return;
    require(run_one(machines[0]) == 2, "a thief takes a fork that is alone, or not the oldest");
  }
};

/// A fork deque whose owner acts while a thief watches it: after each look at the oldest fork `meanwhile` is called.
class watched_forks : public fork_deques {
 public:
  class thief {
   public:
    explicit thief(const watched_forks& deque) : deque_(&deque), of_(deque.fork_deques::make_thief()) {}
    [[nodiscard]] bool has_work() const { return of_.has_work(); }
    [[nodiscard]] std::size_t size_approx() const { return of_.size_approx(); }
    [[nodiscard]] steal_result<task*> steal() { return of_.steal(); }
    [[nodiscard]] std::size_t oldest_approx() const {
      const std::size_t oldest = of_.oldest_approx();
      if (deque_->meanwhile) deque_->meanwhile();
      return oldest;
    }

   private:
    const watched_forks* deque_;
    fork_deques::thief of_;
  };
  using fork_deques::fork_deques;
  [[nodiscard]] thief make_thief() const { return thief(*this); }
  std::function<void()> meanwhile;
};

// Processor 1 has fork 1. While a thief watches it for the first time, the processor takes it back and makes fork 2,
// which stays. Machine 0 looks for work: it leaves the forks, and looks once more before it sleeps. It takes fork 3
// without watching it, and watches fork 4.
struct lone_fork_that_moves final : machine_loop_model<2, 2, 4, shipped_queues<2, watched_forks>> {
  lone_fork_that_moves() {
    require(processors[1].own_forks.push(tasks.make(1)), "no memory for a fork");
    processors[1].forks.meanwhile = [this] {
      if (++looks != 1) return;
      processors[1].own_forks.rebind();
      tasks.run(*processors[1].own_forks.pop());
      require(processors[1].own_forks.push(tasks.make(2)), "no memory for a fork");
    };
    may_look = 4;
    constructed();
  }
  void thread(unsigned index) override {
    if (index != 0) return;
    require(run_one(machines[0]) == 2, "a thief takes a fork that its processor has taken back");
    // Two of them count what began meanwhile: after it has looked around, and before it goes to sleep.
    require(looks == 6, "a thief takes a fork that is alone after it has watched another one, or none");
    parking.found(machines[1]);  // which was woken for what is left, and would look for work beside this one
    for (const int id : {3, 4}) {
      require(processors[1].own_forks.push(tasks.make(id)), "no memory for a fork");
      require(run_one(machines[0]) == id, "a thief leaves a fork that stays");
      require(looks == (id == 3 ? 6 : 8), "after a fork that stayed, a thief takes not one unwatched");
    }
  }
  void finish() override {
    tasks.require_all_ran();
    require_all_accounted_for();
  }
  int looks = 0;
};

// Machine 0 takes its fork back and forks again, so there is always one, while machine 1 looks for work, the last one.
// Each fork runs once, and machine 1 does not sleep while machine 0 is busy and its last fork waits.
struct uncounted_forks : shipped_queues<2, fork_deques> {
  static constexpr bool counted = false;
};
struct lone_forks_vs_last_spinner final : machine_loop_model<2, 2, 2, uncounted_forks> {
  lone_forks_vs_last_spinner() {
    settle(0);
    fork(1);
    constructed();
  }
  void fork(int id) { require(processors[0].own_forks.push(tasks.make(id)), "no memory for a fork"); }
  void thread(unsigned index) override {
    if (index == 0) {
      if (const auto back = processors[0].own_forks.pop()) {
        tasks.run(*back);
        fork(2);
        parking.submitted();
      } else {
        tasks.run(tasks.make(2));
      }
    } else {
      require(run_one(machines[1]) != 0, "the machine left although the scheduler does not stop");
    }
  }
  void finish() override {
    tasks.require_all_ran();
    require_all_accounted_for();
  }
};

const bool added[] = {
    add_case<injected_vs_last_spinner>({
        .name = "machine_loop/injected_vs_last_spinner",
        .property =
            "a put under a lock needs no fence: a machine that looks under the lock before it sleeps sees the task",
        .threads = 2,
        .kept_for = "the last look is under the lock",
    }),
    add_case<next_vs_last_spinner>({
        .name = "machine_loop/next_vs_last_spinner",
        .property = "filling a free runnext slot needs no fence: a machine that asks has_work() there before it sleeps "
                    "sees the task",
        .threads = 2,
        .mutants = {{"put_release", "runnext.put", std::memory_order::release}},
        .kept_for = "the processor is known before",
    }),
    add_case<fork_vs_last_spinner<fork_deques, atomics, queues_of_two_rounds<fork_deques>>>({
        .name = "machine_loop/lone_fork_vs_last_spinner",
        .property =
            "a fork that is alone is found in the last round: push, fence ‖ the last spinning machine goes idle",
        .threads = 2,
        .kept_for = "the thief leaves the fork at first",
    }),
    add_case<lone_fork_comes_last>({
        .name = "machine_loop/lone_fork_comes_last",
        .property = "a thief takes a fork that is alone after those that are not",
        .threads = 2,
    }),
    add_case<lone_fork_that_moves>({
        .name = "machine_loop/lone_fork_that_moves",
        .property = "a thief leaves a fork that is alone and does not stay, and takes one that stays before it sleeps",
        .threads = 2,
    }),
    add_case<lone_forks_vs_last_spinner>({
        .name = "machine_loop/lone_forks_vs_last_spinner",
        .property = "no machine sleeps while a fork waits: take a fork back, fork ‖ the last spinning machine goes "
                    "idle",
        .threads = 2,
        .kept_for = "the thief's watch sees one fork or two",
    }),
    add_case<fork_vs_last_spinner<>>({
        .name = "machine_loop/fork_vs_last_spinner",
        .property = "no machine sleeps while a fork waits: push, fence ‖ the last spinning machine goes idle",
        .threads = 2,
        .kept_for = "the forks are in a chase_lev",
    }),
    add_case<fork_vs_last_spinner<split_fork_deques>>({
        .name = "machine_loop/fork_in_a_split_deque_vs_last_spinner",
        .property =
            "no machine sleeps while a fork waits in a split_deque: push, fence ‖ the last spinning machine goes idle",
        .threads = 2,
        .kept_for = "the forks are in a split_deque",
    }),
    add_case<next_on_a_new_processor>({
        .name = "machine_loop/next_on_a_new_processor",
        .property = "no machine sleeps while a task waits in the runnext of a processor that it does not know of yet",
        .threads = 3,
        .kept_for = "the processor is new",
    }),
    add_case<displaced_vs_spinner>({
        .name = "machine_loop/displaced_vs_spinner",
        .property =
            "no machine sleeps while a task that was displaced from runnext, and was in no queue for a moment, waits",
        .threads = 3,
    }),
    add_case<share_vs_last_spinner<2>>({
        .name = "machine_loop/share_vs_last_spinner",
        .property = "no machine sleeps while a task that was moved from the global queue to a ring waits",
        .threads = 2,
        .kept_for = "a ring of 2",
    }),
    add_case<share_vs_last_spinner<4>>({
        .name = "machine_loop/share_vs_last_spinner_ring_of_4",
        .property = "no machine sleeps while a task that was moved from the global queue to a ring of 4 waits",
        .threads = 2,
        .kept_for = "a ring of 4",
    }),
    add_case<finder_wakes_another>({
        .name = "machine_loop/finder_wakes_another",
        .property =
            "a spinning machine that finds a task wakes a machine for the next one: two queued tasks, an idle machine",
        .threads = 2,
        .kept_for = "two tasks are queued from the start",
    }),
};

}  // namespace
}  // namespace runq::model
