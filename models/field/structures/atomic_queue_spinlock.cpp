// SPDX-License-Identifier: MIT
// atomic_queue::AtomicQueueSpinlock: a ring behind a spin lock of pthreads.
#include <optional>

#include <atomic_queue/atomic_queue_mutex.h>

#include "../field.hpp"

class queue {
 public:
  bool push(int value) { return queue_.try_push(value); }
  std::optional<int> pop() {
    int value = 0;
    return queue_.try_pop(value) ? std::optional<int>(value) : std::nullopt;
  }

 private:
  atomic_queue::AtomicQueueSpinlock<int, 4> queue_;
};

static auto make_test() {
  runq::linearizable<queue, runq::spec::queue<int>> test;
  test.operation("push", RUNQ_CODE([](auto& q, int value) { return q.push(value); }), runq::fresh);
  test.operation("pop", RUNQ_CODE([](auto& q) { return q.pop(); }));
  return test;
}

RUNQ_FIELD(make_test)
