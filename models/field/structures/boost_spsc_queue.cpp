// SPDX-License-Identifier: MIT
// boost::lockfree::spsc_queue: a ring with one producer and one consumer.
#include <optional>

#include <boost/lockfree/spsc_queue.hpp>

#include "../field.hpp"

class queue {
 public:
  bool push(int value) { return queue_.push(value); }
  std::optional<int> pop() {
    int value = 0;
    return queue_.pop(value) ? std::optional<int>(value) : std::nullopt;
  }

 private:
  boost::lockfree::spsc_queue<int> queue_{4};
};

static auto make_test() {
  runq::linearizable<queue, runq::spec::queue<int>> test;
  test.operation("push", RUNQ_CODE([](auto& q, int value) { return q.push(value); }), runq::fresh).by("producer");
  test.operation("pop", RUNQ_CODE([](auto& q) { return q.pop(); })).by("consumer");
  test.options.calls = 4;
  return test;
}

RUNQ_FIELD(make_test)
