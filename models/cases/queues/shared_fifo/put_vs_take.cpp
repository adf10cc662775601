// SPDX-License-Identifier: MIT
// The global queue of values: producers put single values and batches, processors take fair shares. Segments of one and
// two values, so that each program crosses from one to the next.
#include <array>
#include <optional>
#include <span>

#include "linearize.hpp"
#include "oracle.hpp"
#include "runq/all_empty.hpp"
#include "runq/shared_fifo.hpp"

namespace runq::model {
namespace {

template <int Tasks, std::size_t InASegment>
class shared_fifo_model : public scenario {
 protected:
  void put(int id) {
    task* const t = tasks.make(id);
    const moment began = log.begin();
    require(global.put(t), "a put failed although there is memory");
    log.add(began, op_kind::append, {&id, 1});
  }
  void put_batch(int first, int last) {
    std::array<int, Tasks> ids{};
    std::array<task*, Tasks> batch{};
    std::size_t n = 0;
    for (int id = first; id <= last; ++id, ++n) batch[n] = tasks.make(ids[n] = id);
    const moment began = log.begin();
    require(global.put_batch(std::span(batch).first(n)), "a batch was refused although there is memory");
    log.add(began, op_kind::append, std::span<const int>(ids.data(), n));
  }
  /// Takes a fair share and runs its tasks in order. Returns how many there were.
  std::size_t take_batch(std::size_t procs, std::size_t most = Tasks) {
    std::array<task*, Tasks> room{};
    const moment began = log.begin();
    const std::size_t n = global.take_batch(procs, std::span(room).first(most));
    std::array<int, Tasks> ids{};
    for (std::size_t i = 0; i != n; ++i) {
      ids[i] = tasks.id_of(room[i]);
      tasks.run(room[i]);
    }
    log.add(began, n == 0 ? op_kind::find_empty : op_kind::take_front, std::span<const int>(ids.data(), n));
    return n;
  }
  bool take() { return take_batch(1, 1) != 0; }
  void finish() override {
    while (take()) continue;
    require(!global.has_work_approx(), "has_work_approx() promises work in a queue that is empty and stays empty");
    tasks.require_all_ran();
    log.require_linearizable();
  }

  task_set<Tasks> tasks;
  basic_shared_fifo<task*, atomics, InASegment> global;
  history<31, Tasks> log;
};

// put, a batch of two ‖ a fair share for one of two processors ‖ take.
struct put_vs_take final : shared_fifo_model<3, 2> {
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
};

// Three values in a segment of two and in the next one. put put ‖ take ‖ take.
struct one_segment final : shared_fifo_model<3, 2> {
  one_segment() { put(1); }
  void thread(unsigned index) override {
    if (index == 0) {
      put(2);
      put(3);
    } else {
      take();
    }
  }
};

// An emptied segment is there. put ‖ put ‖ take: one of the two producers may reuse it, the other one allocates.
struct spare_is_shared final : shared_fifo_model<3, 1> {
  spare_is_shared() {
    put(1);
    take();
  }
  void thread(unsigned index) override {
    if (index == 0) {
      put(2);
    } else if (index == 1) {
      put(3);
    } else {
      take();
    }
  }
};

// Two producers find the last segment full at the same time, and link one each. put put ‖ put ‖ a fair share.
struct both_allocate final : shared_fifo_model<4, 1> {
  both_allocate() { put(1); }
  void thread(unsigned index) override {
    if (index == 0) {
      put(2);
      put(3);
    } else if (index == 1) {
      put(4);
    } else {
      take_batch(2);
    }
  }
};

// A consumer asks has_work_approx(), and knows of the put by other means: the answer must not be "no".
struct has_work_approx_sees_a_put final : shared_fifo_model<1, 1> {
  void thread(unsigned index) override {
    if (index == 0) {
      put(1);
      told.store(1, std::memory_order::release);
    } else if (told.load(std::memory_order::acquire) == 1) {
      require(global.has_work_approx(), "has_work_approx() said no about a task that was put before");
      require(global.has_work(), "has_work() said no about a task that was put before");
    }
  }
  model::atomic<int> told{0};
};

// At each moment one of two queues holds a task. The first one has had a task, and keeps its segment. put into the
// first, take from the second ‖ are both empty?
struct all_empty_vs_put_and_take final : scenario {
  all_empty_vs_put_and_take() {
    put(first, 1);
    take(first);
    put(second, 2);
  }
  void thread(unsigned index) override {
    if (index == 0) {
      put(first, 3);
      take(second);
    } else {
      require(!all_empty(first, second), "both were called empty, but at each moment one of them held a task");
    }
  }
  void finish() override {
    take(first);
    tasks.require_all_ran();
    require(all_empty(first, second), "queues that nobody uses and that hold nothing are not empty");
  }

  using queue = basic_shared_fifo<task*, atomics, 2>;
  void put(queue& to, int id) { require(to.put(tasks.make(id)), "a put failed although there is memory"); }
  void take(queue& from) {
    const std::optional<task*> t = from.take();
    require(t.has_value(), failure::lost, "the only consumer of a queue does not find its task");
    tasks.run(*t);
  }
  task_set<3> tasks;
  queue first;
  queue second;
};

const bool added[] = {
    add_case<put_vs_take>({
        .name = "shared_fifo/put_vs_take",
        .property = "every task is taken exactly once, its contents visible, a batch in order",
        .threads = 3,
        .progress = progress_claim::blocking,
    }),
    add_case<one_segment>({
        .name = "shared_fifo/one_segment",
        .property = "two consumers take the values of one segment while a producer fills it and begins the next one",
        .threads = 3,
        .kept_for = "two consumers empty one segment",
    }),
    add_case<spare_is_shared>({
        .name = "shared_fifo/spare_is_shared",
        .property = "one of two producers reuses the segment that was emptied last",
        .threads = 3,
        .kept_for = "a producer reuses an emptied segment",
    }),
    add_case<both_allocate>({
        .name = "shared_fifo/both_allocate",
        .property = "two producers that find the last segment full link one each, and nothing is lost",
        .threads = 3,
    }),
    add_case<has_work_approx_sees_a_put>({
        .name = "shared_fifo/has_work_approx_sees_a_put",
        .property = "has_work_approx() and has_work() never deny a task whose put happened before",
        .threads = 2,
    }),
    add_case<all_empty_vs_put_and_take>({
        .name = "shared_fifo/all_empty_vs_put_and_take",
        .property = "all_empty() is not misled by a task that comes and goes",
        .threads = 2,
    }),
};

}  // namespace
}  // namespace runq::model
