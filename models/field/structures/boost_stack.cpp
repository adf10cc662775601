// SPDX-License-Identifier: MIT
// boost::lockfree::stack, whose nodes come from a free list.
#include <optional>

#include <boost/lockfree/stack.hpp>

#include "../field.hpp"

class stack {
 public:
  bool push(int value) { return stack_.push(value); }
  std::optional<int> pop() {
    int value = 0;
    return stack_.pop(value) ? std::optional<int>(value) : std::nullopt;
  }

 private:
  boost::lockfree::stack<int> stack_{2};
};

static auto make_test() {
  runq::linearizable<stack, runq::spec::stack<int>> test;
  test.operation("push", RUNQ_CODE([](auto& s, int value) { return s.push(value); }), runq::fresh);
  test.operation("pop", RUNQ_CODE([](auto& s) { return s.pop(); }));
  return test;
}

RUNQ_FIELD(make_test)
