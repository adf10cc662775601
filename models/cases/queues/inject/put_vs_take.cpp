// SPDX-License-Identifier: MIT
// The global queue: producers put and splice, processors take fair shares.
#include <array>
#include <span>
#include <utility>

#include "linearize.hpp"
#include "oracle.hpp"
#include "runq/inject.hpp"

namespace runq::model {
namespace {

using queue = inject<&task::link>;

template <int Tasks>
class inject_model : public scenario {
 protected:
  void put(int id) {
    task* const t = tasks.make(id);
    const moment began = log.begin();
    global.put(t);
    log.add(began, op_kind::append, {&id, 1});
  }
  void put_batch(int first, int last) {
    std::array<int, Tasks> ids{};
    std::size_t n = 0;
    queue::chain batch;
    for (int id = first; id <= last; ++id) batch.push_back(tasks.make(ids[n++] = id));
    const moment began = log.begin();
    global.splice(std::move(batch));
    log.add(began, op_kind::append, std::span<const int>(ids.data(), n));
  }
  /// Takes one task and runs it. Returns its id, or 0.
  int take() {
    const moment began = log.begin();
    task* const t = global.take();
    if (t == nullptr) {
      log.add(began, op_kind::find_empty, {});
      return 0;
    }
    const int id = tasks.id_of(t);
    log.add(began, op_kind::take_front, {&id, 1});
    tasks.run(t);
    return id;
  }
  /// Takes a fair share and runs its tasks in order. Returns how many there were.
  std::size_t take_batch(std::size_t procs) {
    const moment began = log.begin();
    queue::chain batch = global.take_batch(procs);
    std::array<int, Tasks> ids{};
    std::size_t n = 0;
    while (task* const t = batch.pop_front()) {
      ids[n++] = tasks.id_of(t);
      tasks.run(t);
    }
    log.add(began, n == 0 ? op_kind::find_empty : op_kind::take_front, std::span<const int>(ids.data(), n));
    return n;
  }
  void drain() {
    while (take() != 0) continue;
    require(!global.has_work_approx(), "has_work_approx() promises work in a queue that is empty and stays empty");
    tasks.require_all_ran();
    if (fifo) log.require_linearizable();
  }

  task_set<Tasks> tasks;
  queue global;
  history<31, Tasks> log;
  bool fifo = true;  ///< no task was put in at the front
};

// put, splice of two ‖ a fair share for one of two processors ‖ take.
struct put_vs_take final : inject_model<3> {
  void thread(unsigned index) override {
    if (index == 0) {
      put(1);
      put_batch(2, 3);
    } else if (index == 1) {
      take_batch(2);
    } else {
      take();
    }
  }
  void finish() override { drain(); }
};

// put ×2, splice of two, put ×2 ‖ a fair share ‖ take ‖ take.
struct three_takers final : inject_model<6> {
  void thread(unsigned index) override {
    if (index == 0) {
      put(1);
      put(2);
      put_batch(3, 4);
      put(5);
      put(6);
    } else if (index == 1) {
      take_batch(2);
    } else {
      take();
    }
  }
  void finish() override { drain(); }
};

// One producer, one consumer: when it is told that there is work, the only consumer finds the task.
struct promised_work_is_found final : inject_model<2> {
  void thread(unsigned index) override {
    if (index == 0) {
      put(1);
      put(2);
    } else if (global.has_work_approx()) {
      require(take() == 1, "has_work_approx() promised a task that take() did not find");
    }
  }
  void finish() override { drain(); }
};

// A consumer asks has_work_approx(), and knows of the put by other means: the answer must not be "no".
struct has_work_approx_sees_a_put final : inject_model<1> {
  void thread(unsigned index) override {
    if (index == 0) {
      put(1);
      told.store(1, std::memory_order::release);
    } else if (told.load(std::memory_order::acquire) == 1) {
      require(global.has_work_approx(), "has_work_approx() said no about a task that was put before");
    }
  }
  void finish() override { drain(); }

  model::atomic<int> told{0};
};

// splice at the front (a processor is given up) ‖ put ‖ take: nothing is lost between the two ends.
struct both_ends final : inject_model<4> {
  both_ends() { put(1); }
  void thread(unsigned index) override {
    if (index == 0) {
      fifo = false;
      queue::chain batch;
      batch.push_back(tasks.make(2));
      batch.push_back(tasks.make(3));
      global.splice_front(std::move(batch));
    } else if (index == 1) {
      put(4);
    } else {
      take();
    }
  }
  void finish() override { drain(); }
};

const bool added[] = {
    add_case<put_vs_take>({
        .name = "inject/put_vs_take",
        .property = "every task is taken exactly once, its contents visible, a batch in order",
        .threads = 3,
        .progress = progress_claim::blocking,
        .kept_for = "the smallest program",
    }),
    add_case<three_takers>({
        .name = "inject/three_takers",
        .property = "three consumers take every task of five puts exactly once, in order",
        .threads = 4,
        .kept_for = "the largest program",
    }),
    add_case<promised_work_is_found>({
        .name = "inject/promised_work_is_found",
        .property = "a lone consumer that is told there is work finds it",
        .threads = 2,
        .kept_for = "a lone consumer relies on has_work_approx()",
    }),
    add_case<has_work_approx_sees_a_put>({
        .name = "inject/has_work_approx_sees_a_put",
        .property = "has_work_approx() never denies a task whose put happened before",
        .threads = 2,
    }),
    add_case<both_ends>({
        .name = "inject/both_ends",
        .property = "batches may enter at the front and tasks at the tail while others take",
        .threads = 3,
        .kept_for = "tasks enter at the front, too",
    }),
};

}  // namespace
}  // namespace runq::model
