// SPDX-License-Identifier: MIT
// The one slot in front of a ring: its owner puts and takes, thieves want what is in it.
#include "oracle.hpp"
#include "runq/runnext.hpp"

namespace runq::model {
namespace {

template <int Tasks>
class runnext_model : public scenario {
 protected:
  using slot_type = basic_runnext<task*, atomics>;

  /// The owner puts task `id`; what it displaces is run by the owner.
  void put(int id) {
    if (const auto displaced = owner.put(tasks.make(id))) tasks.run(*displaced);
  }
  void take() {
    if (const auto t = owner.take()) tasks.run(*t);
  }
  void steal(std::size_t backoff) {
    if (const auto got = slot.make_thief().steal(backoff)) tasks.run(got.value);
  }

  task_set<Tasks> tasks;
  slot_type slot;
  typename slot_type::owner owner = slot.make_owner();
};

// Owner: put put take ‖ thief: steal with one pause.
struct put_vs_steal final : runnext_model<2> {
  void thread(unsigned index) override {
    if (index == 0) {
      put(1);
      put(2);
      take();
    } else {
      steal(1);
    }
  }
  void finish() override {
    take();
    tasks.require_all_ran();
  }
};

// Owner: put take put ‖ two thieves, who may see the same task.
struct two_thieves final : runnext_model<2> {
  void thread(unsigned index) override {
    if (index == 0) {
      put(1);
      take();
      put(2);
    } else {
      steal(0);
    }
  }
  void finish() override {
    take();
    tasks.require_all_ran();
  }
};

// The same task leaves and comes back while a thief sleeps between its look and its claim: harmless, it is runnable
// again. Owner: take, and if it got the task, put it again ‖ thief: steal.
struct comes_back final : runnext_model<1> {
  comes_back() { require(!owner.put(tasks.make(1)), "an empty slot displaced something"); }
  void thread(unsigned index) override {
    if (index == 0) {
      if (const auto t = owner.take()) {
        (*t)->contents.set((*t)->contents.get());
        require(!owner.put(*t), "an empty slot displaced something");
      }
    } else {
      steal(0);
    }
  }
  void finish() override {
    take();
    tasks.require_all_ran();
  }
};

const bool added[] = {
    add_case<put_vs_steal>({
        .name = "runnext/put_vs_steal",
        .property = "displaced, taken or stolen: every task runs exactly once, its contents visible",
        .threads = 2,
        .quick = {.random = 50'000, .bound = 4, .full = true},
        .mutants = {{"put_relaxed", "runnext.put", std::memory_order::relaxed},
                    {"steal_claim_relaxed", "runnext.steal.claim", std::memory_order::relaxed}},
    }),
    add_case<two_thieves>({
        .name = "runnext/two_thieves",
        .property = "two thieves and the owner together run every task exactly once",
        .threads = 3,
        .quick = {.random = 50'000, .bound = 3},
        .mutants = {{"put_relaxed", "runnext.put", std::memory_order::relaxed},
                    {"steal_claim_relaxed", "runnext.steal.claim", std::memory_order::relaxed}},
    }),
    add_case<comes_back>({
        .name = "runnext/comes_back",
        .property = "a task that leaves the slot and comes back may be claimed by a thief who saw it before",
        .threads = 2,
        .quick = {.random = 50'000, .bound = 4, .full = true},
        .mutants = {{"put_relaxed", "runnext.put", std::memory_order::relaxed}},
    }),
};

}  // namespace
}  // namespace runq::model
