// SPDX-License-Identifier: MIT
// moodycamel::ConcurrentQueue without tokens. It orders only the elements of one producer.
#include <optional>
#include <set>

#include <concurrentqueue/concurrentqueue.h>

#include "../field.hpp"

class queue {
 public:
  bool push(int value) { return queue_.enqueue(value); }
  std::optional<int> pop() {
    int value = 0;
    return queue_.try_dequeue(value) ? std::optional<int>(value) : std::nullopt;
  }
  std::set<int> all() { return runq::field::take_all(*this); }

 private:
  moodycamel::ConcurrentQueue<int> queue_{2};
};

static auto make_test() {
  auto test = runq::field::push_and_pop<queue, runq::field::queue_of_each_producer>();
  test.finally("all", RUNQ_CODE([](auto& q) { return q.all(); }));
  return test;
}

RUNQ_FIELD(make_test)
