// SPDX-License-Identifier: MIT
// A wake-up that comes while the task is still falling asleep; in Go's terms, gopark ‖ goready.
#include <array>
#include <cstdint>

#include "runq/protocol/suspension.hpp"
#include "scenario.hpp"

namespace runq::model {
namespace {

// Task: writes its frame, falls asleep ‖ wakers: each writes what it brings, claims the task, and if it won and the
// task sleeps, goes on with it.
template <unsigned Wakers>
struct park_vs_ready final : scenario {
  void thread(unsigned index) override {
    if (index == 0) {
      frame.set(7);
      if (!state.commit()) go_on();
    } else {
      wake(index - 1);
    }
  }
  void finish() override {
    require(resumed == 1, "the task did not go on");
    require(won == 1, "not exactly one waker won");
    require(!state.open(), "a task that was woken can still be claimed");
  }

  void wake(std::uint32_t arm) {
    brought[arm].value.set(static_cast<int>(arm) + 1);
    const claim_result result = state.claim(arm);
    won += result != claim_result::lost ? 1 : 0;
    if (result == claim_result::must_wake) go_on();
  }
  // The task, on its own thread or on its waker's.
  void go_on() {
    require(++resumed == 1, "the task runs twice");
    require(frame.get() == 7, "the task does not see its own frame");
    const std::uint32_t arm = state.arm();
    require(arm < Wakers, "no waker claimed the task, and it runs");
    require(brought[arm].value.get() == static_cast<int>(arm) + 1, "the task does not see what its waker brought");
  }

  struct gift {
    cell<int> value;
  };
  suspension<atomics> state;
  cell<int> frame;
  std::array<gift, Wakers> brought;
  int resumed = 0;
  int won = 0;
};

const bool added[] = {
    add_case<park_vs_ready<1>>({
        .name = "suspension/park_vs_ready",
        .property = "a task that is woken while it falls asleep goes on, once, and sees what its waker did",
        .threads = 2,
        .mutants = {{"commit_relaxed", "suspension.commit", std::memory_order::relaxed},
                    {"arm_relaxed", "suspension.arm", std::memory_order::relaxed},
                    {"claim_release", "suspension.claim", std::memory_order::release},
                    {"claim_acquire", "suspension.claim", std::memory_order::acquire}},
        .progress = progress_claim::none,
        .kept_for = "the smaller program",
    }),
    add_case<park_vs_ready<2>>({
        .name = "suspension/two_wakers",
        .property = "of two wakers one wins, and the task knows which: park ‖ ready ‖ ready",
        .threads = 3,
        .kept_for = "one of two wakers must lose",
    }),
};

}  // namespace
}  // namespace runq::model
