// SPDX-License-Identifier: MIT
// Eigen's RunQueue: an owner at the front, others at the back.
#include <optional>
#include <unsupported/Eigen/CXX11/ThreadPool>

#include "../field.hpp"

class queue {
 public:
  ~queue() { queue_.Flush(); }
  bool push(int value) { return queue_.PushFront(value) == 0; }
  std::optional<int> pop() { return not_0(queue_.PopFront()); }
  std::optional<int> steal() { return not_0(queue_.PopBack()); }

 private:
  static std::optional<int> not_0(int value) { return value == 0 ? std::nullopt : std::optional<int>(value); }
  Eigen::RunQueue<int, 4> queue_;
};
class specification {
 public:
  bool push(int value) { return inside_.push_front(value); }
  std::optional<int> pop() { return inside_.pop_front(); }
  std::optional<int> steal() { return inside_.pop_back(); }

 private:
  runq::spec::deque<int> inside_{4};
};

static auto make_test() {
  runq::linearizable<queue, specification> test;
  test.operation("push", RUNQ_CODE([](auto& q, int value) { return q.push(value); }), runq::fresh).by("owner");
  test.operation("pop", RUNQ_CODE([](auto& q) { return q.pop(); })).by("owner");
  test.operation("steal", RUNQ_CODE([](auto& q) { return q.steal(); })).beside("owner");
  return test;
}

RUNQ_FIELD(make_test)
