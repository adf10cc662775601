// SPDX-License-Identifier: MIT
// The one slot in front of a ring: its owner puts and takes, thieves want what is in it.
#include <array>
#include <optional>

#include "linearize.hpp"
#include "oracle.hpp"
#include "runq/runnext.hpp"

namespace runq::model {
namespace {

template <int Tasks>
class runnext_model : public scenario {
 protected:
  using slot_type = basic_runnext<task*, atomics>;

  /// The owner puts task `id`; what it displaced is run by the owner.
  void put(int id) {
    task* const t = tasks.make(id);
    const moment began = log.begin();
    const std::optional<task*> displaced = owner.put(t);
    const std::array<int, 2> ids{id, displaced ? tasks.id_of(*displaced) : 0};
    log.add(began, op_kind::replace, ids);
    if (displaced) tasks.run(*displaced);
  }
  void take() {
    const moment began = log.begin();
    const std::optional<task*> got = owner.take();
    took(began, got ? *got : nullptr);
  }
  void steal(std::size_t backoff) {
    const moment began = log.begin();
    const steal_result<task*> got = slot.make_thief().steal(backoff);
    // A lost race has changed nothing, so it is no operation of the history.
    if (got.status != steal_status::lost) took(began, got.value);
  }
  void took(moment began, task* t) {
    if (t == nullptr) return log.add(began, op_kind::find_empty, {});
    const int id = tasks.id_of(t);
    log.add(began, op_kind::take_front, {&id, 1});
    tasks.run(t);
  }
  void finish() override {
    take();
    tasks.require_all_ran();
    log.require_linearizable();
  }

  task_set<Tasks> tasks;
  slot_type slot;
  typename slot_type::owner owner = slot.make_owner();
  history<31, 2> log{1};
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
};

// What has_work() is for: put() and has_work() are totally ordered, and whichever comes second sees what the other
// thread did before. Owner: sets its flag, puts, reads the other flag ‖ a thread about to sleep: sets its flag, looks,
// reads the other flag.
struct has_work_vs_put final : runnext_model<1> {
  void thread(unsigned index) override {
    if (index == 0) {
      owner_was_here.store(1, std::memory_order::relaxed);
      put(1);
      sleeper_seen = sleeper_was_here.load(std::memory_order::relaxed) == 1;
    } else {
      sleeper_was_here.store(1, std::memory_order::relaxed);
      occupied = slot.make_thief().has_work();
      const bool owner_seen = owner_was_here.load(std::memory_order::relaxed) == 1;
      require(!occupied || owner_seen, "has_work() saw an element, but not what its owner had done before the put");
    }
  }
  void finish() override {
    require(occupied || sleeper_seen,
            "has_work() did not see the element, and the owner did not see what came before has_work()");
    runnext_model::finish();
  }

  model::atomic<int> owner_was_here{0};
  model::atomic<int> sleeper_was_here{0};
  bool sleeper_seen = false;
  bool occupied = false;
};

// Owner: put put take put take put ‖ three thieves.
struct three_thieves final : runnext_model<4> {
  void thread(unsigned index) override {
    if (index != 0) {
      steal(0);
      return;
    }
    put(1);
    put(2);
    take();
    put(3);
    take();
    put(4);
  }
};

// Owner: put take put ‖ two thieves, which may see the same task.
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
};

// The same task leaves and comes back while a thief sleeps between its look and its claim: harmless, it is runnable
// again. Owner: take, and if it got the task, put it again ‖ thief: steal.
struct task_comes_back final : runnext_model<1> {
  task_comes_back() { put(1); }
  void thread(unsigned index) override {
    if (index == 0) {
      const moment began = log.begin();
      const std::optional<task*> got = owner.take();
      if (!got) return log.add(began, op_kind::find_empty, {});
      const int id = 1;
      log.add(began, op_kind::take_front, {&id, 1});
      (*got)->contents.set((*got)->contents.get());
      const moment again = log.begin();
      require(!owner.put(*got), "a put into the empty slot returned a displaced task");
      log.add(again, op_kind::replace, {&id, 1});
    } else {
      steal(0);
    }
  }
};

const bool added[] = {
    add_case<has_work_vs_put>({
        .name = "runnext/has_work_vs_put",
        .property = "has_work() and put() are totally ordered: the second one sees what was done before the first",
        .threads = 2,
        .mutants = {{"put_release", "runnext.put", std::memory_order::release},
                    {"has_work_acquire", "runnext.has_work", std::memory_order::acquire}},
        .progress = progress_claim::lock_free,
        .kept_for = "the orders of put() and has_work(), which must be seq_cst",
    }),
    add_case<put_vs_steal>({
        .name = "runnext/put_vs_steal",
        .property = "displaced, taken or stolen: every task runs exactly once, its contents visible",
        .threads = 2,
        .mutants = {{"put_relaxed", "runnext.put", std::memory_order::relaxed},
                    {"steal_claim_relaxed", "runnext.steal.claim", std::memory_order::relaxed}},
        .progress = progress_claim::lock_free,
        .kept_for = "small enough for Relacy's full search",
    }),
    add_case<three_thieves>({
        .name = "runnext/three_thieves",
        .property = "three thieves and an owner that makes six calls run every task exactly once",
        .threads = 4,
        .kept_for = "the largest program",
    }),
    add_case<two_thieves>({
        .name = "runnext/two_thieves",
        .property = "two thieves and the owner together run every task exactly once",
        .threads = 3,
        .mutants = {{"put_relaxed", "runnext.put", std::memory_order::relaxed},
                    {"steal_claim_relaxed", "runnext.steal.claim", std::memory_order::relaxed}},
        .progress = progress_claim::lock_free,
        .kept_for = "two thieves meet",
    }),
    add_case<task_comes_back>({
        .name = "runnext/task_comes_back",
        .property = "a task that leaves the slot and comes back may be claimed by a thief that saw it before",
        .threads = 2,
        .mutants = {{"put_relaxed", "runnext.put", std::memory_order::relaxed}},
        .progress = progress_claim::lock_free,
        .kept_for = "a task has left the slot and come back",
    }),
};

}  // namespace
}  // namespace runq::model
