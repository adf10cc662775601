// SPDX-License-Identifier: MIT
// std::latch of libstdc++: what is written before a count is seen after the wait.
#include <latch>

#include "../field.hpp"

class gate {
 public:
  int arrive() {
    written_[arrived_.fetch_add(1, std::memory_order::relaxed)] = 1;
    latch_.count_down();
    return 1;
  }
  int wait() {
    latch_.wait();
    return written_[0] + written_[1];
  }
  bool try_wait() { return latch_.try_wait(); }

 private:
  std::latch latch_{2};
  std::atomic<unsigned> arrived_{0};
  std::array<int, 2> written_{};
};
class specification {
 public:
  int arrive() {
    if (arrived_ == 2) runq::not_allowed();
    ++arrived_;
    return 1;
  }
  int wait() {
    if (arrived_ != 2) runq::wait_for_another_call();
    return 2;
  }
  /// May fail for no reason.
  bool try_wait() { return runq::any_of(2) == 0 && arrived_ == 2; }

 private:
  int arrived_ = 0;
};

static auto make_test() {
  runq::linearizable<gate, specification> test;
  test.operation("arrive", RUNQ_CODE([](auto& g) { return g.arrive(); }));
  test.operation("wait", RUNQ_CODE([](auto& g) { return g.wait(); }));
  test.operation("try_wait", RUNQ_CODE([](auto& g) { return g.try_wait(); }));
  return test;
}

RUNQ_FIELD(make_test)
