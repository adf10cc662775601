// SPDX-License-Identifier: MIT
// Structures of Boost.Lockfree: one of them is compiled, which the macro FIELD_<name> chooses.

#ifdef FIELD_boost_spsc_queue
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

static auto make_test() { return runq::field::producer_and_consumer<queue>(4); }

RUNQ_FIELD(make_test)
#endif

#ifdef FIELD_boost_stack
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
#endif

#ifdef FIELD_boost_queue
// boost::lockfree::queue: Michael and Scott's queue, whose nodes come from a free list.
#include <optional>

#include <boost/lockfree/queue.hpp>

#include "../field.hpp"

class queue {
 public:
  bool push(int value) { return queue_.push(value); }
  std::optional<int> pop() {
    int value = 0;
    return queue_.pop(value) ? std::optional<int>(value) : std::nullopt;
  }

 private:
  boost::lockfree::queue<int> queue_{2};
};

RUNQ_FIELD(runq::field::push_and_pop<queue>)
#endif
