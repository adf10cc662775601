// SPDX-License-Identifier: MIT
// atomic_queue::AtomicQueue2: a ring of plain elements, each with a state.
// MAY_MISS: a pop may answer that the queue is empty although it is not; what is left in the end must be everything.
#include <optional>
#include <set>

#include <atomic_queue/atomic_queue.h>

#include "../field.hpp"

class queue {
 public:
  bool push(int value) { return queue_.try_push(value); }
  std::optional<int> pop() {
    int value = 0;
    return queue_.try_pop(value) ? std::optional<int>(value) : std::nullopt;
  }
  std::set<int> all() { return runq::field::take_all(*this); }

 private:
  atomic_queue::AtomicQueue2<int, 4> queue_;
};
#ifdef MAY_MISS
using specification = runq::field::queue_that_may_miss;
#else
using specification = runq::spec::queue<int>;
#endif

static auto make_test() {
  runq::linearizable<queue, specification> test;
  test.operation("push", RUNQ_CODE([](auto& q, int value) { return q.push(value); }), runq::fresh);
  test.operation("pop", RUNQ_CODE([](auto& q) { return q.pop(); }));
#ifdef MAY_MISS
  test.finally("all", RUNQ_CODE([](auto& q) { return q.all(); }));
#endif
  return test;
}

RUNQ_FIELD(make_test)
