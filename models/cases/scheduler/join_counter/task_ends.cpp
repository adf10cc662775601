// SPDX-License-Identifier: MIT
// A parent is destroyed where it joins its children, because its run has ended: some of them have ended, others wait.
#include <array>

#include "ending_policy.hpp"
#include "runq/protocol/join_counter.hpp"
#include "scenario.hpp"
#include "waking_policy.hpp"

namespace runq::model {
namespace {

// Parent: waits for `Children` ‖ the first `Ending` children: each writes its result and arrives ‖ the end of the run,
// after the machines have left: destroys the children that still wait, whose destructors refer to the parent, and then
// the parent. The thread that would go on with the parent makes it runnable instead, as after
// the end of a run no thread goes on with a task.
template <unsigned Children, unsigned Ending>
struct ends_at_join final : scenario {
  struct parent_frame {
    join_counter<atomics> children;
    cell<int> local;
  };
  struct child_frame {
    cell<int> result;
  };
  struct flag {
    atomic<int> up{0};
  };

  ends_at_join() {
    for (child_frame*& child : children) {
      parent.children.detach();
      child = &make_frame<child_frame>();
    }
  }
  void thread(unsigned index) override {
    if (index == 0) {
      parent.local.set(7);
      if (parent.children.wait()) gives_way();
    } else if (index <= Ending) {
      children[index - 1]->result.set(static_cast<int>(index));
      if (parent.children.arrive()) gives_way();
    } else {
      return end_of_run();
    }
    left[index].up.store(1, std::memory_order::release);
  }
  void finish() override { require(destroyed, "the run has not ended"); }

  void gives_way() {
    require(!task.woken(), "two go on with the parent");
    task.gives_way();
  }
  void end_of_run() {
    for (const flag& machine : left) {
      await([&] { return machine.up.load(std::memory_order::acquire) != 0; });
    }
    require(task.woken() == (Ending == Children), "the parent goes on beside a child that waits, or with none");
    for (unsigned i = 0; i != Children; ++i) {
      require(parent.local.get() == 7, "a child is destroyed after its parent");
      if (i < Ending) require(children[i]->result.get() == static_cast<int>(i) + 1, "a child's result is not seen");
      destroy_frame(*children[i]);
    }
    destroy_frame(parent);
    destroyed = true;
  }

  parent_frame& parent = make_frame<parent_frame>();
  std::array<child_frame*, Children> children{};
  strand task;
  std::array<flag, 1 + Ending> left;
  bool destroyed = false;
};

const bool added[] = {
    add_case<ends_at_join<1, 1>>({
        .name = "join_counter/ends_when_all_have_ended",
        .property = "parent and child meet when their run ends: one of them makes the parent yield, once",
        .threads = 3,
        .kept_for = "parent and child meet after their run has ended",
    }),
    add_case<ends_at_join<2, 1>>({
        .name = "join_counter/ends_beside_a_child",
        .property =
            "a run ends while one of two children waits: no child goes on with the parent, which is destroyed last",
        .threads = 3,
        .kept_for = "the smaller program",
    }),
    add_case<ends_at_join<3, 2>>({
        .name = "join_counter/ends_beside_the_third_child",
        .property =
            "a run ends while one of three children waits: no child goes on with the parent, which is destroyed last",
        .threads = 4,
        .kept_for = "two of three children have ended",
    }),
};

}  // namespace
}  // namespace runq::model
