// SPDX-License-Identifier: MIT
// A task is published without a fence while machines go idle: in the places where the publication and the last look are
// read-modify-writes, or sections under one lock, so that one of the two comes first.
#include <utility>

#include "park_model.hpp"
#include "runq/local_queue.hpp"

namespace runq::model {
namespace {

// The queues that ship, each with the look that is meant for who is about to sleep.
template <unsigned Machines, unsigned Processors, int Tasks>
class in_order_model : public park_model<Machines, Processors, Tasks> {
  using base = park_model<Machines, Processors, Tasks>;

 public:
  using typename base::processor;

  [[nodiscard]] bool work_anywhere() const override {
    const unsigned n = this->parking.limit();
    for (unsigned i = 0; i != n; ++i) {
      if (locals[i].queue.make_thief().look()) return true;
    }
    return injected.look();
  }

 protected:
  task* take_local_or_global(processor& p) override {
    if (task* const t = locals[p.index].owner.pop().task) return t;
    return injected.take();
  }
  task* steal(const processor& mine) override {
    for (local& l : locals) {
      if (&l == &locals[mine.index]) continue;
      const auto got = locals[mine.index].owner.steal_from(l.queue.make_thief(), steal_runnext::yes, 2, 0);
      if (got) return got.value;
    }
    return nullptr;
  }

  inject<&task::link> injected;
  struct local {
    explicit local(inject<&task::link>& global) : queue(global), owner(queue.make_owner()) {}
    basic_local_queue<&task::link, 2> queue;
    typename basic_local_queue<&task::link, 2>::owner owner;
  };
  std::array<local, Processors> locals = make_locals(std::make_index_sequence<Processors>());

 private:
  template <std::size_t... I>
  std::array<local, Processors> make_locals(std::index_sequence<I...>) {
    return {((void)I, local(injected))...};
  }
};

// Outside: puts task 1 in the global queue ‖ machine, spinning, the last one: look, rest, run the task.
struct injected_vs_last_spinner final : in_order_model<1, 1, 1> {
  injected_vs_last_spinner() { constructed(); }
  void thread(unsigned index) override {
    if (index == 0) {
      injected.put(tasks.make(1));
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

// Two processors. Machine 0, busy for long: makes task 1 the next one ‖ machine 1, spinning, the last one: look, rest,
// run the task.
struct next_vs_last_spinner final : in_order_model<2, 2, 1> {
  next_vs_last_spinner() {
    settle(0);
    constructed();
  }
  void thread(unsigned index) override {
    if (index == 0) {
      (void)parking.submit_next(locals[0].owner, tasks.make(1));
    } else {
      require(run_one(machines[1]) == 1, "the machine left although the scheduler does not stop");
    }
  }
  void finish() override {
    tasks.require_all_ran();
    require_all_accounted_for();
  }
};

// Three processors. Machine 0, busy for long, with task 1 next: makes task 2 the next one, which displaces task 1 ‖
// machine 1, spinning ‖ machine 2, asleep: each runs one of them, although for a moment task 1 is in no queue.
struct displaced_vs_spinner final : in_order_model<3, 3, 2> {
  displaced_vs_spinner() {
    settle(0);
    settle(1);
    put_to_sleep(2);
    require(parking.may_spin(machines[1]), "nobody spins, and a machine may not");
    (void)locals[0].owner.push_next(tasks.make(1));
    constructed();
  }
  void thread(unsigned index) override {
    if (index == 0) {
      (void)parking.submit_next(locals[0].owner, tasks.make(2));
    } else {
      machine& m = machines[index];
      if (index == 2) wake_up(m);
      require(run_one(m) != 0, "the machine left although the scheduler does not stop");
    }
  }
  void finish() override {
    tasks.require_all_ran();
    require_all_accounted_for();
  }
};

// One processor of two. Outside: there are two now ‖ machine 1 comes back from a blocking call, perhaps to the new
// processor, and makes task 1 the next one ‖ machine 0, spinning, the last one, which looks at as many processors as it
// knows of: it is ordered with the slot of one that it does not know of by the fence that a machine makes when it has
// got a processor.
struct next_on_a_new_processor final : in_order_model<3, 2, 1> {
  next_on_a_new_processor() {
    settle(0);
    take_from(1, false);
    parking.resize(1);
    parking.found(machines[1]);
    require(parking.may_spin(machines[0]), "nobody spins, and a machine may not");
    constructed();
  }
  void thread(unsigned index) override {
    if (index == 0) {
      parking.resize(2);
    } else if (index == 1) {
      task* const t = tasks.make(1);
      if (processor* const p = parking.come_back()) {
        atomics::fence(std::memory_order::seq_cst);  // core::hold()
        (void)parking.submit_next(locals[p->index].owner, t);
      } else {
        injected.put(t);
        parking.submitted_in_order();
      }
    } else {
      require(run_one(machines[0]) == 1, "the machine left although the scheduler does not stop");
    }
  }
  void finish() override { tasks.require_all_ran(); }
};

const bool added[] = {
    add_case<injected_vs_last_spinner>({
        .name = "park/injected_vs_last_spinner",
        .property = "no fence after a put under a lock: no task is left beside a sleeping machine that looks under it",
        .threads = 2,
        .quick = {.random = 20'000, .bound = 2},
    }),
    add_case<next_vs_last_spinner>({
        .name = "park/next_vs_last_spinner",
        .property =
            "no fence after filling a free runnext slot: no task is left beside a sleeping machine that looks there",
        .threads = 2,
        .quick = {.random = 20'000, .bound = 2},
        .mutants = {{"put_release", "runnext.put", std::memory_order::release}},
    }),
    add_case<next_on_a_new_processor>({
        .name = "park/next_on_a_new_processor",
        .property = "nor is one in the slot of a processor that the sleeping machine does not know of yet",
        .threads = 3,
        .quick = {.random = 10'000, .bound = 1},
    }),
    add_case<displaced_vs_spinner>({
        .name = "park/displaced_vs_spinner",
        .property = "a task that is displaced from runnext, and in no queue for a moment, is left beside no sleeper",
        .threads = 3,
        .quick = {.random = 5'000, .bound = 1},
    }),
};

}  // namespace
}  // namespace runq::model
