// SPDX-License-Identifier: MIT
// A machine takes the newest task of its fork deque to look at it, and puts it back. In between, the task is in no
// queue, while another machine goes to sleep.
#include "park_model.hpp"

namespace runq::model {
namespace {

// Two processors. Machine 0, busy for long, with task 1 in its deque, which is not the one that it wants ‖ machine 1,
// spinning, the last one: look, rest, run the task.
struct put_back_vs_last_spinner final : park_model<2, 2, 1> {
  put_back_vs_last_spinner() {
    settle(0);
    processors[0].queue.put(tasks.make(1));
    constructed();
  }
  struct owner {
    task* pop_or_null() { return queue.take(); }
    bool push(task* t) {
      queue.put(t);
      return true;
    }
    slots<1>& queue;
  };
  void thread(unsigned index) override {
    if (index == 0) {
      owner mine{processors[0].queue};
      require(!parking.take_newest(mine, static_cast<task*>(nullptr)), "a task is taken that was not wanted");
    } else {
      require(run_one(machines[1]) == 1, "the machine left although the scheduler does not stop");
    }
  }
  void finish() override { tasks.require_all_ran(); }
};

const bool added[] = {
    add_case<put_back_vs_last_spinner>({
        .name = "park/put_back_vs_last_spinner",
        .property = "no machine sleeps while a task waits that was popped from the fork deque and put back",
        .threads = 2,
    }),
};

}  // namespace
}  // namespace runq::model
