// SPDX-License-Identifier: MIT
// A machine returns from a blocking call while the monitor takes its processor: exactly one of them has it.
#include "oracle.hpp"
#include "runq/protocol/handoff.hpp"
#include "runq/ring.hpp"
#include "scenario.hpp"

namespace runq::model {
namespace {

// A processor: a ring, and what only its holder may touch.
struct held_processor {
  using ring_type = basic_ring<task*, 2, std::uint64_t, atomics>;

  held_processor() : owner(ring.make_owner()) {}
  handoff<atomics> in_call;
  ring_type ring;
  ring_type::owner owner;
  cell<int> used_by{0};
};

struct handoff_model : scenario {
  // The holder's work: what it left before the call must be visible, and no other thread may be working on it.
  void use(int who, bool may_be_stolen) {
    require(p.used_by.get() == 1, "the processor's fields are not as its machine left them");
    p.used_by.set(who);
    ++holders;
    if (const auto t = p.owner.pop()) {
      tasks.run(*t);
    } else {
      require(may_be_stolen, "the processor's queue lost a task");
    }
  }
  // The machine: queues a task, makes a blocking call, comes back.
  void call(bool may_be_stolen) {
    p.used_by.set(1);
    require(p.owner.push(tasks.make(1)), "push on an empty ring");
    const auto ticket = p.in_call.enter();
    if (p.in_call.leave(ticket)) use(2, may_be_stolen);
  }
  // The monitor: takes the processor if it sees the call.
  void watch(int who, bool may_be_stolen) {
    const auto seen = p.in_call.peek();
    if (handoff<atomics>::blocked(seen) && p.in_call.retake(seen)) use(who, may_be_stolen);
  }
  void finish() override {
    require(holders == 1, "the processor has not exactly one holder");
    tasks.require_all_ran();
  }

  held_processor p;
  task_set<1> tasks;
  int holders = 0;
};

// Machine: push, enter, leave ‖ monitor: retake.
struct leave_vs_retake final : handoff_model {
  void thread(unsigned index) override {
    if (index == 0) {
      call(false);
    } else {
      watch(3, false);
    }
  }
};

// Machine: push, enter, leave ‖ monitor: retake ‖ thief: steal.
struct leave_vs_retake_vs_steal final : handoff_model {
  void thread(unsigned index) override {
    if (index == 0) {
      call(true);
    } else if (index == 1) {
      watch(3, true);
    } else if (const auto loot = p.ring.make_thief().steal()) {
      tasks.run(loot.value);
    }
  }
};

// To a slow monitor, a second call differs from the first one only by its ticket. Machine: two calls ‖ monitor: saw the
// first one, and takes the processor by that call's ticket.
struct second_call final : scenario {
  void thread(unsigned index) override {
    if (index == 0) {
      const auto first = in_call.enter();
      seen.store(first, std::memory_order::relaxed);
      if (!in_call.leave(first)) return;
      const auto second = in_call.enter();
      inside.set(1);
      require(in_call.leave(second), "the monitor took the processor for a call that it had not seen");
    } else if (const auto call = seen.load(std::memory_order::relaxed); call != 0) {
      if (in_call.retake(call)) inside.set(2);
    }
  }
  handoff<atomics> in_call;
  atomic<handoff<atomics>::ticket> seen{handoff<atomics>::ticket{0}};
  cell<int> inside{0};
};

const bool added[] = {
    add_case<leave_vs_retake>({
        .name = "handoff/leave_vs_retake",
        .property =
            "machine or monitor has the processor, never both, and sees it as the machine left it: leave ‖ retake",
        .threads = 2,
        .mutants = {{"enter_relaxed", "handoff.enter", std::memory_order::relaxed},
                    {"retake_relaxed", "handoff.retake", std::memory_order::relaxed}},
        .progress = progress_claim::lock_free,
        .kept_for = "the smallest program",
    }),
    add_case<leave_vs_retake_vs_steal>({
        .name = "handoff/leave_vs_retake_vs_steal",
        .property = "leave ‖ retake ‖ steal: one holder, every task runs once",
        .threads = 3,
        .progress = progress_claim::lock_free,
        .kept_for = "a thief looks into the queue meanwhile",
    }),
    add_case<second_call>({
        .name = "handoff/second_call",
        .property = "a monitor that saw one blocking call cannot take the processor during the next one",
        .threads = 2,
        .progress = progress_claim::lock_free,
    }),
};

}  // namespace
}  // namespace runq::model
