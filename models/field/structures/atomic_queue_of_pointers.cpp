// SPDX-License-Identifier: MIT
// atomic_queue::AtomicQueue, whose elements are pointers: what they point at must arrive with them.
// MAY_MISS: a pop may answer that the queue is empty although it is not; what is left in the end must be everything.
#include <optional>
#include <set>

#include <atomic_queue/atomic_queue.h>

#include "../field.hpp"

class queue {
 public:
  bool push(int value) { return queue_.try_push(letters_.write(value)); }
  std::optional<int> pop() {
    int* letter = nullptr;
    return queue_.try_pop(letter) ? letters_.read(letter) : std::nullopt;
  }
  std::set<int> all() { return runq::field::take_all(*this); }

 private:
  runq::field::letters letters_;
  atomic_queue::AtomicQueue<int*, 4> queue_;
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
