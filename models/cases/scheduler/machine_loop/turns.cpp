// SPDX-License-Identifier: MIT
// A machine has a task in its runnext slot, but it is the turn of another task. Another machine may take that other
// task at the same time.
#include "machine_loop_model.hpp"

namespace runq::model {
namespace {

enum class taker : bool { at_once, late };

// One processor. It is the turn of task 1, before task 2, which is in the runnext slot. Machine 0: runs both ‖ another
// machine: may take task 1, or comes too late for that.
template <class Forks = fork_deques>
struct turn_vs_taker : machine_loop_model<1, 1, 2, shipped_queues<2, Forks>> {
  explicit turn_vs_taker(taker comes) : comes_(comes) { this->tasks_stay = true; }
  void next_is_2() {
    (void)this->processors[0].own_queue.push_next(this->tasks.make(2));
    this->constructed();
  }
  void thread(unsigned index) override {
    if (index == 0) {
      first = this->run_one(this->machines[0]);
      this->tell(2);
      if (first == 1)
        require(this->run_one(this->machines[0]) == 2, "the task that is next is not run after the other");
      return;
    }
    if (comes_ == taker::late) this->wait_for(2);
    if (task* const t = take()) {
      this->tasks.run(t);
      taken = true;
    }
  }
  virtual task* take() = 0;
  void finish() override {
    this->tasks.require_all_ran();
    require(first == (taken ? 2 : 1), "a task was run before its turn");
    require(!taken || comes_ == taker::at_once, "a task did not have its turn");
  }

  int first = 0;
  bool taken = false;

 private:
  taker comes_;
};

// It is the turn of the global queue, which has task 1.
template <taker Comes>
struct global_turn final : turn_vs_taker<> {
  global_turn() : turn_vs_taker(Comes) {
    global.put(tasks.make(1));
    processors[0].global_first = true;
    next_is_2();
  }
  task* take() override { return global.take(); }
};

// Something has happened to a descriptor that task 1 waits for, and no machine sleeps in the poller. Another machine
// may poll at the same time, and then that machine gets the task.
template <taker Comes>
struct poll_turn final : turn_vs_taker<> {
  poll_turn() : turn_vs_taker(Comes) {
    processors[0].global_first = true;
    next_is_2();
  }
  [[nodiscard]] bool nobody_polls() const override { return true; }
  void poll() override {
    if (task* const t = event()) (void)parking.submit_next(processors[0].own_queue, t);
  }
  task* take() override { return event(); }

 private:
  // If several threads poll, the kernel gives the event to one of them.
  task* event() { return happened_.exchange(0, std::memory_order::acq_rel) != 0 ? tasks.make(1) : nullptr; }
  atomic<int> happened_{1};
};

// As poll_turn, but task 3 yields, and so there is always a task in the global queue.
struct poll_turn_beside_global final : machine_loop_model<1, 1, 3> {
  poll_turn_beside_global() {
    processors[0].global_first = true;
    (void)processors[0].own_queue.push_next(tasks.make(2));
    constructed();
  }
  [[nodiscard]] bool nobody_polls() const override { return true; }
  void poll() override { (void)parking.submit_next(processors[0].own_queue, tasks.make(1)); }
  void thread(unsigned index) override {
    if (index == 1) {
      global.put(tasks.make(3));
      parking.submitted_in_order();
      tell(3);
      return;
    }
    wait_for(3);
    require(run_one(machines[0]) == 3, "the global queue does not have its turn");
    processors[0].global_first = false;
    require(run_one(machines[0]) == 1, "descriptors do not have their turn beside the global queue");
    require(run_one(machines[0]) == 2, "the task that was next is not run after them");
  }
  void finish() override { tasks.require_all_ran(); }
};

// Another machine sleeps in the poller, and makes task 1 runnable: a machine that has tasks leaves the polling to it.
struct no_poll_beside_the_poller final : turn_vs_taker<> {
  no_poll_beside_the_poller() : turn_vs_taker(taker::late) {
    global.put(tasks.make(1));
    processors[0].global_first = true;
    next_is_2();
  }
  task* take() override { return nullptr; }
};

// The chain of tasks that wake each other is full, so it is the turn of task 1, which is in the ring.
template <taker Comes>
struct full_chain_then_ring final : turn_vs_taker<> {
  full_chain_then_ring() : turn_vs_taker(Comes) {
    (void)processors[0].own_queue.push(tasks.make(1));
    processors[0].chain.is_due = true;
    next_is_2();
  }
  task* take() override { return owner_of_another.steal_from(processors[0].queue_thief).value; }

  local_queue another{global.near(0)};
  local_queue::owner owner_of_another = another.make_owner();
};

// As full_chain_then_ring, with task 1 in the global queue.
template <taker Comes>
struct full_chain_then_global final : turn_vs_taker<> {
  full_chain_then_global() : turn_vs_taker(Comes) {
    global.put(tasks.make(1));
    processors[0].chain.is_due = true;
    next_is_2();
  }
  task* take() override { return global.take(); }
};

// The processor has forked task 1, and it is the turn of its forks.
template <taker Comes, class Forks = fork_deques>
struct own_fork final : turn_vs_taker<Forks> {
  own_fork() : turn_vs_taker<Forks>(Comes) {
    require(this->processors[0].own_forks.push(this->tasks.make(1)), "no memory for a fork");
    this->next_is_2();
  }
  task* take() override {
    const auto fork = this->processors[0].forks_thief.steal();
    return fork ? fork.value : nullptr;
  }
};

const bool added[] = {
    add_case<global_turn<taker::late>>({
        .name = "machine_loop/global_turn",
        .property = "now and then the global queue comes first",
        .threads = 2,
        .kept_for = "the order of the tasks is asked",
    }),
    add_case<global_turn<taker::at_once>>({
        .name = "machine_loop/global_turn_vs_taker",
        .property =
            "a machine for which the global queue comes first, and which finds it empty, goes on with its own task",
        .threads = 2,
        .kept_for = "another machine is faster",
    }),
    add_case<poll_turn<taker::late>>({
        .name = "machine_loop/poll_turn",
        .property = "descriptors are polled now and then although a task is always runnable",
        .threads = 2,
        .kept_for = "no other machine is faster",
    }),
    add_case<poll_turn<taker::at_once>>({
        .name = "machine_loop/poll_turn_vs_taker",
        .property = "a machine that polls in vain, because another one was faster, goes on with its own task",
        .threads = 2,
        .kept_for = "another machine is faster",
    }),
    add_case<poll_turn_beside_global>({
        .name = "machine_loop/poll_turn_beside_global",
        .property = "descriptors and the global queue come first at the same time, and both are served",
        .threads = 2,
    }),
    add_case<no_poll_beside_the_poller>({
        .name = "machine_loop/no_poll_beside_the_poller",
        .property = "while a machine sleeps in the poller, machines with tasks do not poll",
        .threads = 2,
        .kept_for = "a machine sleeps in the poller",
    }),
    add_case<full_chain_then_ring<taker::late>>({
        .name = "machine_loop/full_chain_then_ring",
        .property = "after a full chain the ring's oldest task runs",
        .threads = 2,
    }),
    add_case<full_chain_then_ring<taker::at_once>>({
        .name = "machine_loop/full_chain_then_ring_vs_taker",
        .property = "after a full chain the next task runs if a thief takes the oldest",
        .threads = 2,
        .kept_for = "a thief takes from the ring",
    }),
    add_case<full_chain_then_global<taker::late>>({
        .name = "machine_loop/full_chain_then_global",
        .property = "after a full chain the global queue's oldest task runs if the ring is empty",
        .threads = 2,
    }),
    add_case<full_chain_then_global<taker::at_once>>({
        .name = "machine_loop/full_chain_then_global_vs_taker",
        .property = "after a full chain the machine's own task runs if another machine takes the global queue's",
        .threads = 2,
        .kept_for = "the global queue is emptied",
    }),
    add_case<own_fork<taker::late>>({
        .name = "machine_loop/own_fork",
        .property = "a machine takes the fork that it made last",
        .threads = 2,
    }),
    add_case<own_fork<taker::at_once>>({
        .name = "machine_loop/own_fork_vs_taker",
        .property = "a machine whose last fork is stolen goes on with other work",
        .threads = 2,
        .kept_for = "the forks are in a chase_lev",
    }),
    add_case<own_fork<taker::at_once, split_fork_deques>>({
        .name = "machine_loop/own_fork_in_a_split_deque_vs_taker",
        .property = "a machine whose last fork is stolen from a split_deque goes on with other work",
        .threads = 2,
        .kept_for = "the forks are in a split_deque",
    }),
};

}  // namespace
}  // namespace runq::model
