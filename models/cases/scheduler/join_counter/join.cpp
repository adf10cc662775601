// SPDX-License-Identifier: MIT
// A parent joins its children, or is destroyed where it does.
#include <array>

#include "ending_policy.hpp"
#include "runq/protocol/join_counter.hpp"
#include "scenario.hpp"
#include "waking_policy.hpp"

namespace runq::model {
namespace {

// A parent joins children that other threads run: the thread that comes last goes on with the parent.

// Parent: detaches its children, waits ‖ children: each writes its result and arrives. The parent's frame is
// destroyed as soon as the parent has gone on.
template <unsigned Children>
struct join final : scenario {
  struct parent_frame {
    join_counter<atomics> children;
    cell<int> local;
  };
  struct result {
    cell<int> value;
    end_mark<atomics> ended;
  };

  join() {
    for (unsigned i = 0; i != Children; ++i) parent.children.detach();
  }
  void thread(unsigned index) override {
    if (index == 0) {
      parent.local.set(7);
      if (parent.children.wait()) go_on();
    } else {
      results[index - 1].value.set(static_cast<int>(index));
      results[index - 1].ended.set();
      if (parent.children.arrive()) go_on();
    }
  }
  void finish() override { require(resumed == 1, "the parent did not go on"); }

  void go_on() {
    require(++resumed == 1, "the parent goes on twice");
    require(parent.local.get() == 7, "the parent does not see its own frame");
    for (unsigned i = 0; i != Children; ++i) {
      require(results[i].value.get() == static_cast<int>(i) + 1, "the parent does not see a child's result");
      require(results[i].ended.is_set(), "after the join a child has not ended");
    }
    require(!parent.children.any(), "after the join there are children left");
    destroy_frame(parent);
  }

  parent_frame& parent = make_frame<parent_frame>();
  std::array<result, Children> results;
  int resumed = 0;
};

// The same counter for two joins. Parent: detach, wait; when it goes on: detach again, start child 2, wait ‖ child 1 ‖
// child 2, when it is started.
struct join_twice final : scenario {
  void thread(unsigned index) override {
    if (index == 0) {
      children.detach();
      told[0].up.store(1, std::memory_order::release);
      if (children.wait()) go_on();
    } else {
      await([&] { return told[index - 1].up.load(std::memory_order::acquire) != 0; });
      results[index - 1].up.set(1);
      if (children.arrive()) go_on();
    }
  }
  void finish() override { require(joins == 2, "the parent did not go on"); }

  void go_on() {
    require(results[joins].up.get() == 1, "the parent does not see a child's result, or goes on too early");
    if (++joins == 2) return;
    require(!children.any(), "after the join there are children left");
    children.detach();
    told[1].up.store(1, std::memory_order::release);
    if (children.wait()) go_on();
  }

  struct flag {
    atomic<int> up{0};
  };
  struct plain_flag {
    cell<int> up{0};
  };
  join_counter<atomics> children;
  std::array<flag, 2> told;
  std::array<plain_flag, 2> results;
  unsigned joins = 0;
};

// A counter that moves its children to the shared word by twos. Parent: detaches four and starts each as soon as it is
// detached, then waits ‖ the first and the third child ‖ the second and the fourth.
struct join_in_batches final : scenario {
  struct flag {
    atomic<int> up{0};
  };
  struct plain_flag {
    cell<int> up{0};
  };

  void thread(unsigned index) override {
    if (index == 0) {
      for (flag& f : told) {
        children.detach();
        f.up.store(1, std::memory_order::release);
      }
      if (children.wait()) go_on();
      return;
    }
    for (unsigned i = index - 1; i < told.size(); i += 2) {
      await([&] { return told[i].up.load(std::memory_order::acquire) != 0; });
      results[i].up.set(1);
      if (children.arrive()) go_on();
    }
  }
  void finish() override { require(resumed == 1, "the parent did not go on"); }

  void go_on() {
    require(++resumed == 1, "the parent goes on twice");
    for (const plain_flag& r : results) require(r.up.get() == 1, "the parent goes on before a child has ended");
    require(!children.any(), "after the join there are children left");
  }

  join_counter<atomics, 2> children;
  std::array<flag, 4> told;
  std::array<plain_flag, 4> results;
  int resumed = 0;
};

// Child: writes its result, ends, arrives ‖ parent: drops the child: destroys its frame if it has ended, and else
// leaves that to the join; then it waits. No thread touches the child's frame after its destruction.
struct dropped_before_the_join final : scenario {
  struct child_frame {
    cell<int> value;
    end_mark<atomics> ended;
  };

  dropped_before_the_join() { children.detach(); }
  void thread(unsigned index) override {
    if (index == 0) {
      if (child.ended.is_set()) {
        destroy_child();
      } else {
        destroyed_at_the_join.set(true);
      }
      if (children.wait()) go_on();
    } else {
      child.value.set(1);
      child.ended.set();
      if (children.arrive()) go_on();
    }
  }
  void finish() override { require(joined, "the parent did not go on"); }

  void destroy_child() {
    require(child.value.get() == 1, "the parent does not see a child's result");
    destroy_frame(child);
  }
  void go_on() {
    joined = true;
    if (destroyed_at_the_join.get()) destroy_child();
  }

  join_counter<atomics> children;
  child_frame& child = make_frame<child_frame>();
  cell<bool> destroyed_at_the_join{false};
  bool joined = false;
};

// A parent is destroyed where it joins its children, because its run has ended: some of them have ended, others wait.

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
    add_case<join<1>>({
        .name = "join_counter/one_child",
        .property = "parent and child meet: one of them goes on with the parent, and sees what both did",
        .threads = 2,
        .mutants = {{"arrive_acquire", "join.arrive", std::memory_order::acquire},
                    {"arrive_release", "join.arrive", std::memory_order::release},
                    {"wait_acquire", "join.wait", std::memory_order::acquire},
                    {"wait_release", "join.wait", std::memory_order::release}},
        .kept_for = "the smallest program",
    }),
    add_case<dropped_before_the_join>({
        .name = "join_counter/dropped_before_the_join",
        .property = "a parent that finds the end mark set may destroy the child before the join, and sees all of it",
        .threads = 2,
        .mutants = {{"end_mark_relaxed", "join.end_mark", std::memory_order::relaxed},
                    {"ended_relaxed", "join.ended", std::memory_order::relaxed}},
        .kept_for = "the parent sees the end mark before it joins",
    }),
    add_case<join<2>>({
        .name = "join_counter/two_children",
        .property = "parent and two children meet: the last goes on with the parent, and sees what all did",
        .threads = 3,
        .kept_for = "a child is the last of three",
    }),
    add_case<join_twice>({
        .name = "join_counter/join_twice",
        .property = "a counter can be used again after a join",
        .threads = 3,
        .kept_for = "the counter is used again",
    }),
    add_case<join_in_batches>({
        .name = "join_counter/join_in_batches",
        .property =
            "children that arrive before and after their number was moved to the shared word are all waited for",
        .threads = 3,
    }),
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
