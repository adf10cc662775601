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

static auto make_test() { return runq::field::push_and_pop<stack, runq::spec::stack<int>>(); }

RUNQ_FIELD(make_test)
