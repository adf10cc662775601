// SPDX-License-Identifier: MIT
// std::atomic::wait and notify_all of libstdc++, after a release store.
#include <atomic>

#include "../field.hpp"

class flag {
 public:
  void set() {
    letter_ = 1;
    flag_.store(1, std::memory_order::release);
    flag_.notify_all();
  }
  int wait() {
    flag_.wait(0, std::memory_order::acquire);
    return letter_;
  }

 private:
  std::atomic<int> flag_{0};
  int letter_ = 0;
};
class specification {
 public:
  void set() {
    if (set_) runq::not_allowed();
    set_ = true;
  }
  int wait() {
    if (!set_) runq::wait_for_another_call();
    return 1;
  }

 private:
  bool set_ = false;
};

static auto make_test() {
  runq::linearizable<flag, specification> test;
  test.operation("set", RUNQ_CODE([](auto& f) { f.set(); }));
  test.operation("wait", RUNQ_CODE([](auto& f) { return f.wait(); }));
  return test;
}

RUNQ_FIELD(make_test)
