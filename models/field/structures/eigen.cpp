// SPDX-License-Identifier: MIT
// Structures of Eigen: one of them is compiled, which the macro FIELD_<name> chooses.

#ifdef FIELD_eigen_run_queue
// Eigen's RunQueue: an owner at the front, others at the back.
#include <optional>
#include <unsupported/Eigen/CXX11/ThreadPool>

#include "../field.hpp"

class queue {
 public:
  ~queue() { queue_.Flush(); }
  bool push(int value) { return queue_.PushFront(value) == 0; }
  std::optional<int> pop() { return not_0(queue_.PopFront()); }
  std::optional<int> steal() { return not_0(queue_.PopBack()); }

 private:
  static std::optional<int> not_0(int value) { return value == 0 ? std::nullopt : std::optional<int>(value); }
  Eigen::RunQueue<int, 4> queue_;
};
class specification {
 public:
  bool push(int value) { return inside_.push_front(value); }
  std::optional<int> pop() { return inside_.pop_front(); }
  std::optional<int> steal() { return inside_.pop_back(); }

 private:
  runq::spec::deque<int> inside_{4};
};

static auto make_test() {
  runq::linearizable<queue, specification> test;
  test.operation("push", RUNQ_CODE([](auto& q, int value) { return q.push(value); }), runq::fresh).by("owner");
  test.operation("pop", RUNQ_CODE([](auto& q) { return q.pop(); })).by("owner");
  test.operation("steal", RUNQ_CODE([](auto& q) { return q.steal(); })).beside("owner");
  return test;
}

RUNQ_FIELD(make_test)
#endif

#ifdef FIELD_eigen_notification
// Eigen's Barrier with a count of one: what is written before Notify() is seen after Wait().
#include <unsupported/Eigen/CXX11/ThreadPool>

#include "../field.hpp"

class flag {
 public:
  void set() {
    letter_ = 1;
    flag_.Notify();
  }
  int wait() {
    flag_.Wait();
    return letter_;
  }

 private:
  Eigen::Notification flag_;
  int letter_ = 0;
};

static auto make_test() {
  auto test = runq::field::set_and_wait<flag>();
  test.options.threads = 3;
  return test;
}

RUNQ_FIELD(make_test)
#endif

#ifdef FIELD_eigen_event_count
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
#endif
