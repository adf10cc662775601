// SPDX-License-Identifier: MIT
// atomic_queue::AtomicQueue2 for one producer and one consumer.
#include <optional>

#include <atomic_queue/atomic_queue.h>

#include "../field.hpp"

class queue {
 public:
  bool push(int value) { return queue_.try_push(value); }
  std::optional<int> pop() {
    int value = 0;
    return queue_.try_pop(value) ? std::optional<int>(value) : std::nullopt;
  }

 private:
  atomic_queue::AtomicQueue2<int, 4, true, true, false, true> queue_;
};

static auto make_test() {
  runq::linearizable<queue, runq::spec::queue<int>> test;
  test.operation("push", RUNQ_CODE([](auto& q, int value) { return q.push(value); }), runq::fresh).by("producer");
  test.operation("pop", RUNQ_CODE([](auto& q) { return q.pop(); })).by("consumer");
  test.options.calls = 3;
  return test;
}

RUNQ_FIELD(make_test)
