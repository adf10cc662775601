// SPDX-License-Identifier: MIT
// Our own queues, as they ship, over std::atomic: programs are generated, each is explored exhaustively. Built a second
// time as REVERTED, with a ring whose owner sheds half of what is left although a thief has made room: the bug that
// hand-written models with rings of 2 could not have.
#include <array>
#include <cstddef>
#include <optional>
#include <vector>

#include <gtest/gtest.h>
#include <runq/chase_lev.hpp>
#include <runq/inject.hpp>
#include <runq/linearizable.hpp>
#include <runq/local_queue.hpp>
#include <runq/ring.hpp>
#include <runq/runnext.hpp>
#include <runq/specifications.hpp>

#include "numbered_tasks.hpp"

namespace {

/// A thief that another one has overtaken tries again: "lost" is no answer of a sequential queue.
template <class Steal>
[[nodiscard]] std::optional<int> until_not_lost(Steal&& steal) {
  for (;;) {
    const auto result = steal();
    if (result) return result.value;
    if (result.status == runq::steal_status::empty) return {};
  }
}

/// What is common to the queues that an owner and thieves use.
template <class Queue>
struct owned {
  Queue queue{};
  typename Queue::owner owner = queue.make_owner();
  typename Queue::thief thief = queue.make_thief();
};

template <class Test>
void add_operations(Test& test) {
  test.operation("push", RUNQ_CODE([](auto& q, int value) { return q.push(value); }), runq::fresh).by("owner");
  test.operation("pop", RUNQ_CODE([](auto& q) { return q.pop(); })).by("owner");
  test.operation("steal", RUNQ_CODE([](auto& q) { return q.steal(); })).beside("owner").by("thief");
}

#ifndef REVERTED

template <std::size_t Capacity>
class ring : owned<runq::basic_ring<int, Capacity>> {
  using owned<runq::basic_ring<int, Capacity>>::owner;
  using owned<runq::basic_ring<int, Capacity>>::thief;

 public:
  bool push(int value) { return owner.push(value); }
  std::optional<int> pop() { return owner.pop(); }
  std::optional<int> steal() {
    return until_not_lost([this] { return thief.steal(); });
  }
};
template <std::size_t Capacity>
struct ring_specification : runq::spec::queue<int> {
  ring_specification() : runq::spec::queue<int>(Capacity) {}
  std::optional<int> steal() { return pop(); }
};
TEST(LinearizableQueues, Ring) {
  runq::linearizable<ring<4>, ring_specification<4>> test;
  add_operations(test);
  test.initially("push", RUNQ_CODE([](auto& q, int value) { return q.push(value); }), 8);
  const runq::linearizable_verdict v = test.check();
  EXPECT_TRUE(v.passed()) << v;
  EXPECT_GT(v.executions(), v.programs());
}

// What C++ allows of a full ring: its owner may still say that it is full when a thief has emptied it and, in turn, has
// not seen the last push. Neither has been told of the other; once it is, both answers are right.
TEST(LinearizableQueues, FullAndEmptyAreNotLinearizableTogether) {
  runq::linearizable<ring<2>, ring_specification<2>> test;
  add_operations(test);
  test.initially("push", RUNQ_CODE([](auto& q, int value) { return q.push(value); }), 8);
  const runq::linearizable_verdict v = test.check();
  EXPECT_EQ(v.failure(), "not linearizable") << v;
  EXPECT_EQ(v.calls(), 4U) << v;
  EXPECT_NE(v.text().find("push(2) → false"), std::string::npos) << v;
}

// The queue that it is not: thieves take the oldest.
struct stack_specification : runq::spec::stack<int> {
  std::optional<int> steal() { return pop(); }
};
TEST(LinearizableQueues, RingIsNoStack) {
  runq::linearizable<ring<4>, stack_specification> test;
  add_operations(test);
  test.initially("push", RUNQ_CODE([](auto& q, int value) { return q.push(value); }), 8);
  const runq::linearizable_verdict v = test.check();
  EXPECT_EQ(v.failure(), "not linearizable") << v;
  EXPECT_EQ(v.calls(), 1U) << v;
}

class chase_lev : owned<runq::basic_chase_lev<int>> {
 public:
  bool push(int value) { return owner.push(value); }
  std::optional<int> pop() { return owner.pop(); }
  std::optional<int> steal() {
    return until_not_lost([this] { return thief.steal(); });
  }
};
struct deque_specification : runq::spec::deque<int> {
  bool push(int value) { return push_back(value); }
  std::optional<int> pop() { return pop_back(); }
  std::optional<int> steal() { return pop_front(); }
};
TEST(LinearizableQueues, ChaseLev) {
  runq::linearizable<chase_lev, deque_specification> test;
  add_operations(test);
  test.initially("push", RUNQ_CODE([](auto& q, int value) { return q.push(value); }), 8);
  const runq::linearizable_verdict v = test.check();
  EXPECT_TRUE(v.passed()) << v;
}

class runnext : owned<runq::basic_runnext<int>> {
 public:
  ~runnext() { static_cast<void>(pop()); }
  std::optional<int> push(int value) { return owner.put(value); }
  std::optional<int> pop() { return owner.take(); }
  std::optional<int> steal() {
    return until_not_lost([this] { return thief.steal(0); });
  }
};
struct slot_specification {
  std::optional<int> inside;
  std::optional<int> push(int value) { return std::exchange(inside, value); }
  std::optional<int> pop() { return std::exchange(inside, std::nullopt); }
  std::optional<int> steal() { return pop(); }
};
TEST(LinearizableQueues, Runnext) {
  runq::linearizable<runnext, slot_specification> test;
  add_operations(test);
  const runq::linearizable_verdict v = test.check();
  EXPECT_TRUE(v.passed()) << v;
}

#endif

[[nodiscard]] std::optional<int> id_of(const task* t) {
  return t == nullptr ? std::nullopt : std::optional<int>(t->id);
}

#ifndef REVERTED

class global_queue {
 public:
  ~global_queue() {
    while (queue_.take() != nullptr) {
    }
  }
  bool push(int id) { return queue_.put(all_[id]), true; }
  std::optional<int> pop() { return id_of(queue_.take()); }

 private:
  tasks all_;
  runq::inject<&task::link> queue_;
};
TEST(LinearizableQueues, Inject) {
  runq::linearizable<global_queue, runq::spec::queue<int>> test;
  test.operation("push", RUNQ_CODE([](auto& q, int id) { return q.push(id); }), runq::fresh);
  test.operation("pop", RUNQ_CODE([](auto& q) { return q.pop(); }));
  const runq::linearizable_verdict v = test.check();
  EXPECT_TRUE(v.passed()) << v;
}

#endif

/// Two processors and the global queue that their rings of 4 overflow into.
class machine {
  using local_queue = runq::basic_local_queue<&task::link, 4>;

 public:
  ~machine() {
    while (owner_.pop().task != nullptr) {
    }
    while (global_.take() != nullptr) {
    }
  }
  /// How many tasks went to the global queue.
  int push(int id) { return static_cast<int>(owner_.push(all_[id])); }
  std::optional<int> pop() { return id_of(owner_.pop().task); }
  /// The other processor's: what it has stolen, in its order.
  std::vector<int> steal() {
    for (;;) {
      const auto stolen = thief_.steal_from(queue_.make_thief());
      if (stolen.status == runq::steal_status::lost) continue;
      std::vector<int> ids;
      while (task* const t = thief_.pop().task) ids.push_back(t->id);
      if (stolen) ids.push_back(stolen.value->id);
      return ids;
    }
  }

 private:
  tasks all_;
  runq::inject<&task::link> global_;
  local_queue queue_{global_};
  local_queue thieves_queue_{global_};
  local_queue::owner owner_ = queue_.make_owner();
  local_queue::owner thief_ = thieves_queue_.make_owner();
};

// Judged by the same queue, one call after the other.
[[nodiscard]] runq::linearizable_verdict check_full_local_queue() {
  runq::linearizable<machine> test;
  add_operations(test);
  for (const int id : {8, 9, 10, 11}) {
    test.initially("push", RUNQ_CODE([](auto& q, int task) { return q.push(task); }), id);
  }
  return test.check();
}

#ifndef REVERTED
TEST(LinearizableQueues, LocalQueue) {
  const runq::linearizable_verdict v = check_full_local_queue();
  EXPECT_TRUE(v.passed()) << v;
}
#else
TEST(LinearizableQueues, FindsThatARingIsShedThatIsNoLongerFull) {
  const runq::linearizable_verdict v = check_full_local_queue();
  EXPECT_EQ(v.failure(), "not linearizable") << v;
  EXPECT_EQ(v.calls(), 2U) << v;
  EXPECT_NE(v.text().find("push(1) → 2"), std::string::npos) << v;
  std::puts(v.text().c_str());
}
#endif

}  // namespace
