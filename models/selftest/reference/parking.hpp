// SPDX-License-Identifier: MIT
// The handshake of a worker that goes to sleep and a submitter that must not overlook it: announce, fence, look again.
// A yardstick for the engines: it never deadlocks, but with any of three seeded bugs the wake-up can get lost.
#pragma once

#include <atomic>

#include "atomics.hpp"
#include "scenario.hpp"
#include "waiting.hpp"

namespace runq::model::reference {

struct parking_bugs {
  bool no_submitter_fence = false;
  bool no_worker_fence = false;
  bool no_recheck = false;
};
inline parking_bugs parking_bug;

class parking_scenario final : public scenario {
 public:
  void thread(unsigned index) override {
    if (index == 0) {
      submit();
    } else {
      work();
    }
  }

 private:
  static constexpr std::memory_order relaxed = std::memory_order::relaxed;

  void submit() {
    work_.store(1, relaxed);
    if (!parking_bug.no_submitter_fence) atomics::fence(std::memory_order::seq_cst);
    if (spinning_.load(relaxed) == 0) wake();
  }

  void work() {
    if (work_.load(relaxed) != 0) return;
    spinning_.fetch_sub(1, relaxed);
    if (!parking_bug.no_worker_fence) atomics::fence(std::memory_order::seq_cst);
    if (!parking_bug.no_recheck && work_.load(relaxed) != 0) return;
    sleep();
    require(work_.load(relaxed) == 1, "woken without work");
  }

  void wake() {
    mutex_.lock();
    token_.set(true);
    awake_.notify_all();
    mutex_.unlock();
  }

  void sleep() {
    mutex_.lock();
    while (!token_.get()) awake_.wait(mutex_);
    token_.set(false);
    mutex_.unlock();
  }

  atomic<int> work_{0};
  atomic<int> spinning_{1};
  mutex mutex_;
  condition_variable awake_;
  cell<bool> token_{false};
};

}  // namespace runq::model::reference
