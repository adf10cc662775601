// SPDX-License-Identifier: MIT
// Structures of CAF: one of them is compiled, which the macro FIELD_<name> chooses.

#ifdef FIELD_caf_double_ended_queue
// caf::detail::double_ended_queue: a lock at each end.
#include <optional>

#include <caf/detail/double_ended_queue.hpp>

#include "../field.hpp"

class queue {
 public:
  bool push(int value) {
    queue_.append(letters_.write(value));
    return true;
  }
  std::optional<int> pop() { return letters_.read(queue_.take_head()); }
  std::optional<int> pop_back() { return letters_.read(queue_.take_tail()); }

 private:
  runq::field::letters letters_;
  caf::detail::double_ended_queue<int> queue_;
};
class specification {
 public:
  bool push(int value) { return inside_.push_back(value); }
  std::optional<int> pop() { return inside_.pop_front(); }
  std::optional<int> pop_back() { return inside_.pop_back(); }

 private:
  runq::spec::deque<int> inside_;
};

static auto make_test() {
  runq::linearizable<queue, specification> test;
  test.operation("push", RUNQ_CODE([](auto& q, int value) { return q.push(value); }), runq::fresh);
  test.operation("pop", RUNQ_CODE([](auto& q) { return q.pop(); }));
  test.operation("pop_back", RUNQ_CODE([](auto& q) { return q.pop_back(); }));
  return test;
}

RUNQ_FIELD(make_test)
#endif
