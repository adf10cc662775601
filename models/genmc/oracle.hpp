// SPDX-License-Identifier: MIT
// The oracle for GenMC: as models/check/oracle.hpp, but its record is memory that GenMC watches like any other. That
// costs no executions, because in a right program the thread that reads a note is ordered after the thread that wrote
// it. If it is not, GenMC reports a race.
#pragma once

#include <array>
#include <cstddef>

#include "runq/inject.hpp"
#include "scenario.hpp"

namespace runq::model {

struct task {
  cell<int> contents;
  inject_link<task, atomics> link;
};

template <int Count>
class task_set {
 public:
  task_set() {
    for (int i = 0; i != Count; ++i) {
      made_[i].set(0);
      ran_[i].set(0);
    }
  }

  [[nodiscard]] task* make(int id) {
    made_[index(id)].set(1);
    tasks_[index(id)].contents.set(contents_of(id));
    return &tasks_[index(id)];
  }

  void run(task* t) {
    require(t != nullptr, "a taken task is a null pointer");
    require(t >= tasks_.data() && t < tasks_.data() + Count, "a taken task is garbage: it never was pushed");
    const int id = id_of(t);
    require(made_[index(id)].get() != 0, "a task was taken before it was pushed");
    require(ran_[index(id)].get() == 0, failure::run_twice, "a task was run twice");
    ran_[index(id)].set(1);
    require(t->contents.get() == contents_of(id), "a task was run whose contents are not visible");
    t->link.next.set(nullptr);
  }

  void require_all_ran() const {
    for (int id = 1; id <= Count; ++id) {
      require(ran_[index(id)].get() == made_[index(id)].get(), failure::lost, "a task was lost");
    }
  }

  [[nodiscard]] task* get(int id) { return &tasks_[index(id)]; }
  [[nodiscard]] int id_of(const task* t) const { return static_cast<int>(t - tasks_.data()) + 1; }
  /// The number of all tasks. How many there are at one moment depends on the order of all threads' steps, and asking
  /// would be a race here. The exact engine asks it.
  [[nodiscard]] static constexpr int made() noexcept { return Count; }

 private:
  [[nodiscard]] static constexpr std::size_t index(int id) { return static_cast<std::size_t>(id - 1); }
  [[nodiscard]] static constexpr int contents_of(int id) { return 10 * id; }

  std::array<task, Count> tasks_;
  std::array<cell<int>, Count> made_;
  std::array<cell<int>, Count> ran_;
};

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
