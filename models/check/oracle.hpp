// SPDX-License-Identifier: MIT
// What every model of a queue asserts about the tasks that pass through it: each is run exactly once, its contents are
// visible to the thread that runs it, and each thread sees the tasks of one queue in the order in which they were
// pushed.
#pragma once

#include <array>
#include <cstddef>

#include "runq/inject.hpp"
#include "scenario.hpp"

namespace runq::model {

/// A task as a scheduler would queue it: contents in plain memory, a link for the global queue.
struct task {
  cell<int> contents;
  inject_link<task, atomics> link;
};

/// Tasks 1 … Count, and the record of which thread ran which. The record is ordinary memory: all threads of a model are
/// fibers of one operating-system thread, and an execution is never resumed after it failed.
template <int Count>
class task_set {
 public:
  task_set() {
    for (int id = 1; id <= Count; ++id) name_value(&tasks_[index(id)], "task", id);
  }

  /// Writes the contents of task `id` (plain memory) and returns it, ready to be queued. Once per task.
  [[nodiscard]] task* make(int id) {
    made_[index(id)] = true;
    tasks_[index(id)].contents.set(contents_of(id));
    return &tasks_[index(id)];
  }

  /// To be called by a thread that takes a task out of a queue for good. Fails the execution if the task was run before
  /// or if its contents are not what make() wrote.
  void run(task* t) {
    require(t != nullptr, "a taken task is a null pointer");
    require(t >= tasks_.data() && t < tasks_.data() + Count, "a taken task is garbage: it never was pushed");
    const int id = id_of(t);
    require(made_[index(id)], "a task was taken before it was pushed");
    require(!ran_[index(id)], failure::run_twice, "a task was run twice");
    ran_[index(id)] = true;
    require(t->contents.get() == contents_of(id), "a task was run whose contents are not visible");
    // The thread that holds a task may queue it again, and so writes its link: no other thread may be touching the link
    // now.
    t->link.next.set(nullptr);
  }

  /// In finish(): every task that was made has been run.
  void require_all_ran() const {
    for (int id = 1; id <= Count; ++id) require(ran_[index(id)] == made_[index(id)], failure::lost, "a task was lost");
  }

  [[nodiscard]] task* get(int id) { return &tasks_[index(id)]; }
  [[nodiscard]] int id_of(const task* t) const { return static_cast<int>(t - tasks_.data()) + 1; }
  [[nodiscard]] int made() const {
    int n = 0;
    for (const bool m : made_) n += m ? 1 : 0;
    return n;
  }

 private:
  [[nodiscard]] static constexpr std::size_t index(int id) { return static_cast<std::size_t>(id - 1); }
  [[nodiscard]] static constexpr int contents_of(int id) { return 10 * id; }

  std::array<task, Count> tasks_;
  std::array<bool, Count> made_{};
  std::array<bool, Count> ran_{};
};

/// Checks that the ids it is shown only grow: one thread's view of a FIFO queue whose tasks were pushed in order of id.
class fifo_view {
 public:
  void see(int id) {
    require(id > last_, failure::out_of_order, "FIFO order is broken: an older task came after a newer one");
    last_ = id;
  }

 private:
  int last_ = 0;
};

}  // namespace runq::model
