// SPDX-License-Identifier: MIT
// moodycamel::LightweightSemaphore: a counter, and a semaphore of POSIX to sleep on. Its header must come
// after the other one.
// clang-format off
#include <concurrentqueue/concurrentqueue.h>
#include <concurrentqueue/lightweightsemaphore.h>
// clang-format on

#include "../field.hpp"

class semaphore {
 public:
  void acquire() { semaphore_.wait(); }
  bool try_acquire() { return semaphore_.tryWait(); }
  void release() { semaphore_.signal(); }

 private:
  moodycamel::LightweightSemaphore semaphore_{1, 0};
};
class specification : public runq::spec::semaphore {
 public:
  specification() : runq::spec::semaphore(1) {}
};

static auto make_test() {
  runq::linearizable<semaphore, specification> test;
  test.operation("acquire", RUNQ_CODE([](auto& s) { return s.acquire(); }));
  test.operation("try_acquire", RUNQ_CODE([](auto& s) { return s.try_acquire(); }));
  test.operation("release", RUNQ_CODE([](auto& s) { return s.release(); }));
  return test;
}

RUNQ_FIELD(make_test)
