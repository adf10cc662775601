// SPDX-License-Identifier: MIT
// A scenario for any queue with one owner and thieves, through an adaptor: what `runq::models` offers to a queue of
// yours.
#pragma once

#include "oracle.hpp"

namespace runq::model {

/// `Queue` is default constructible and has `bool push(task*)`, `task* pop()` and `task* steal()`; the last two return
/// nullptr when they got nothing. Order is not judged.
///
/// Owner: push push pop pop ‖ thief: steal steal. At the end the owner takes what is left.
template <class Queue>
struct owner_and_thief final : scenario {
  void thread(unsigned index) override {
    if (index == 0) {
      push(1);
      push(2);
      run(queue.pop());
      run(queue.pop());
    } else {
      run(queue.steal());
      run(queue.steal());
    }
  }
  void finish() override {
    while (task* const t = queue.pop()) tasks.run(t);
    tasks.require_all_ran();
  }

  void push(int id) {
    task* const t = tasks.make(id);
    if (!queue.push(t)) tasks.run(t);
  }
  void run(task* t) {
    if (t != nullptr) tasks.run(t);
  }

  task_set<2> tasks;
  Queue queue;
};

}  // namespace runq::model
