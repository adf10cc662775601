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

static auto make_test() { return runq::field::set_and_wait<flag>(); }

RUNQ_FIELD(make_test)
