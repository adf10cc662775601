// SPDX-License-Identifier: MIT
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
  test.options.threads = 3;
  return test;
}

RUNQ_FIELD(make_test)
