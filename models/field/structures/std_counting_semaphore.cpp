// SPDX-License-Identifier: MIT
// std::counting_semaphore of libstdc++.
#include <semaphore>

#include "../field.hpp"

class semaphore {
 public:
  void acquire() { semaphore_.acquire(); }
  bool try_acquire() { return semaphore_.try_acquire(); }
  void release() { semaphore_.release(); }

 private:
  std::counting_semaphore<> semaphore_{1};
};
/// try_acquire() may fail for no reason.
class specification : public runq::spec::semaphore {
 public:
  specification() : runq::spec::semaphore(1) {}
  bool try_acquire() { return runq::any_of(2) == 0 && runq::spec::semaphore::try_acquire(); }
};

static auto make_test() {
  runq::linearizable<semaphore, specification> test;
  test.operation("acquire", RUNQ_CODE([](auto& s) { return s.acquire(); }));
  test.operation("try_acquire", RUNQ_CODE([](auto& s) { return s.try_acquire(); }));
  test.operation("release", RUNQ_CODE([](auto& s) { return s.release(); }));
  return test;
}

RUNQ_FIELD(make_test)
