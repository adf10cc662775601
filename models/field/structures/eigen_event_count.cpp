// SPDX-License-Identifier: MIT
// Eigen's EventCount: a waiter looks once more after it has announced itself, and sleeps until it is told.
#include <atomic>
#include <unsupported/Eigen/CXX11/ThreadPool>

#include "../field.hpp"

class event {
 public:
  /// Notifies everybody.
  void set() {
    letter_ = 1;
    ready_.store(true, std::memory_order::release);
    count_.Notify(true);
  }
  int wait() {
    if (!ready_.load(std::memory_order::acquire)) {
      count_.Prewait();
      if (ready_.load(std::memory_order::acquire)) {
        count_.CancelWait();
      } else {
        count_.CommitWait(&waiters_[next_.fetch_add(1, std::memory_order::relaxed)]);
        if (!ready_.load(std::memory_order::acquire)) return 0;
      }
    }
    return letter_;
  }

 private:
  struct waiters : Eigen::MaxSizeVector<Eigen::EventCount::Waiter> {
    waiters() : Eigen::MaxSizeVector<Eigen::EventCount::Waiter>(2) { resize(2); }
  };
  waiters waiters_;
  Eigen::EventCount count_{waiters_};
  std::atomic<unsigned> next_{0};
  std::atomic<bool> ready_{false};
  int letter_ = 0;
};

static auto make_test() { return runq::field::set_and_wait<event>(); }

RUNQ_FIELD(make_test)
