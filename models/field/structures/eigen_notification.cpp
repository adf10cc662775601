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

static auto make_test() {
  auto test = runq::field::set_and_wait<flag>();
  test.options.threads = 3;
  return test;
}

RUNQ_FIELD(make_test)
