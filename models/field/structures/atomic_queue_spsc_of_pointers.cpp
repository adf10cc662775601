// SPDX-License-Identifier: MIT
// atomic_queue::AtomicQueue for one producer and one consumer, whose elements are pointers.
#include <optional>

#include <atomic_queue/atomic_queue.h>

#include "../field.hpp"

class queue {
 public:
  bool push(int value) { return queue_.try_push(letters_.write(value)); }
  std::optional<int> pop() {
    int* letter = nullptr;
    return queue_.try_pop(letter) ? letters_.read(letter) : std::nullopt;
  }

 private:
  runq::field::letters letters_;
  atomic_queue::AtomicQueue<int*, 4, nullptr, true, true, false, true> queue_;
};

static auto make_test() {
  runq::linearizable<queue, runq::spec::queue<int>> test;
  test.operation("push", RUNQ_CODE([](auto& q, int value) { return q.push(value); }), runq::fresh).by("producer");
  test.operation("pop", RUNQ_CODE([](auto& q) { return q.pop(); })).by("consumer");
  return test;
}

RUNQ_FIELD(make_test)
