// SPDX-License-Identifier: MIT
// The seeded bugs of the property suites that only threads can show: generated programs alone find them. Built over one
// copy of the headers that has all of these bugs, of which RUNQ_MUTANT chooses one; without it the code that ships
// runs, and every test passes.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdio>
#include <optional>
#include <vector>

#include <gtest/gtest.h>
#include <runq/all_empty.hpp>
#include <runq/chase_lev.hpp>
#include <runq/inject.hpp>
#include <runq/linearizable.hpp>
#include <runq/local_queue.hpp>
#include <runq/ring.hpp>
#include <runq/runnext.hpp>
#include <runq/shared_fifo.hpp>
#include <runq/split_deque.hpp>
#include <runq/split_ring.hpp>

#include "numbered_tasks.hpp"
#include "variant.hpp"

namespace {

/// Expects that one of the tests fails if a seeded bug was chosen, and that all pass otherwise.
template <class... Tests>
void expect_found_if_chosen(Tests&... tests) {
  const bool chosen = runq::model::chosen_mutant != 0;
  bool found = false;
  const auto check = [&](auto& test) {
    if (found) return;
    const runq::linearizable_verdict v = test.check();
    found = v.failed();
    if (found != chosen) std::puts(v.text().c_str());
  };
  (check(tests), ...);
  EXPECT_EQ(found, chosen);
}

/// A thief that another thread has overtaken tries again: "lost" is no answer of a sequential queue.
template <class Steal>
[[nodiscard]] auto until_not_lost(Steal&& steal) {
  for (;;) {
    const auto result = steal();
    if (result.status != runq::steal_status::lost) return result;
  }
}
template <class Result>
[[nodiscard]] std::optional<int> value_of(const Result& result) {
  return result ? std::optional<int>(result.value) : std::nullopt;
}

template <std::size_t Capacity>
class ring {
  using queue = runq::basic_ring<int, Capacity>;

 public:
  bool push(int value) { return owner_.push(value); }
  std::size_t push_two(int value) { return owner_.push_batch(std::array{value, value + 100}); }
  /// Without an answer: that a ring is full may be said late.
  void offer(int value) { static_cast<void>(push(value)); }
  std::optional<int> pop() { return owner_.pop(); }
  std::optional<int> steal() {
    return value_of(until_not_lost([this] { return queue_.make_thief().steal(); }));
  }
  /// What it has stolen, in its order.
  std::vector<int> steal_half_into() {
    const auto newest = value_of(until_not_lost([this] { return queue_.make_thief().steal_half_into(thief_); }));
    std::vector<int> all;
    while (const auto value = thief_.pop()) all.push_back(*value);
    if (newest) all.push_back(*newest);
    return all;
  }
  std::vector<int> steal_half() {
    std::array<int, Capacity> room{};
    const auto got = until_not_lost([&] { return queue_.make_thief().steal_half(room); });
    return {room.begin(), room.begin() + static_cast<std::ptrdiff_t>(got.count)};
  }

 private:
  queue queue_;
  queue thieves_queue_;
  typename queue::owner owner_ = queue_.make_owner();
  typename queue::owner thief_ = thieves_queue_.make_owner();
};
// Never full: "full" and "empty" are not linearizable together.
TEST(Generated, ring) {
  runq::linearizable<ring<8>> test;
  test.operation("push", RUNQ_CODE([](auto& q, int value) { return q.push(value); }), runq::fresh).by("owner");
  test.operation("push_two", RUNQ_CODE([](auto& q, int value) { return q.push_two(value); }), runq::fresh).by("owner");
  test.operation("pop", RUNQ_CODE([](auto& q) { return q.pop(); })).by("owner");
  test.operation("steal", RUNQ_CODE([](auto& q) { return q.steal(); })).beside("owner");
  test.operation("steal_half_into", RUNQ_CODE([](auto& q) { return q.steal_half_into(); })).beside("owner");
  test.operation("steal_half", RUNQ_CODE([](auto& q) { return q.steal_half(); })).beside("owner");
  test.initially("push", RUNQ_CODE([](auto& q, int value) { return q.push(value); }), 8);

  // Never empty, and full after one push: slots are used again.
  runq::linearizable<ring<4>> full;
  full.options.drain = false;  // an offer does not tell whether its element is in
  full.operation("offer", RUNQ_CODE([](auto& q, int value) { q.offer(value); }), runq::fresh).by("owner");
  full.operation("steal", RUNQ_CODE([](auto& q) { return q.steal(); })).beside("owner");
  full.operation("steal_half", RUNQ_CODE([](auto& q) { return q.steal_half(); })).beside("owner");
  for (const int value : {8, 9, 10}) {
    full.initially("push", RUNQ_CODE([](auto& q, int element) { return q.push(element); }), value);
  }
  expect_found_if_chosen(test, full);
}

class deque {
 public:
  bool push(int value) { return owner_.push(value); }
  std::optional<int> pop() { return owner_.pop(); }
  std::optional<int> steal() {
    return value_of(until_not_lost([this] { return queue_.make_thief().steal(); }));
  }

 private:
  runq::basic_chase_lev<int> queue_;
  runq::basic_chase_lev<int>::owner owner_ = queue_.make_owner();
};
template <class Test>
void add_push_pop_steal(Test& test) {
  test.operation("push", RUNQ_CODE([](auto& q, int value) { return q.push(value); }), runq::fresh).by("owner");
  test.operation("pop", RUNQ_CODE([](auto& q) { return q.pop(); })).by("owner");
  test.operation("steal", RUNQ_CODE([](auto& q) { return q.steal(); })).beside("owner");
  test.initially("push", RUNQ_CODE([](auto& q, int value) { return q.push(value); }), 8);
}
TEST(Generated, chase_lev) {
  runq::linearizable<deque> test;
  add_push_pop_steal(test);
  expect_found_if_chosen(test);
}

class slot {
 public:
  ~slot() { static_cast<void>(pop()); }
  std::optional<int> push(int value) { return owner_.put(value); }
  std::optional<int> pop() { return owner_.take(); }
  std::optional<int> steal() {
    return value_of(until_not_lost([this] { return queue_.make_thief().steal(0); }));
  }

 private:
  runq::basic_runnext<int> queue_;
  runq::basic_runnext<int>::owner owner_ = queue_.make_owner();
};
TEST(Generated, runnext) {
  runq::linearizable<slot> test;
  add_push_pop_steal(test);
  expect_found_if_chosen(test);
}

/// A split queue gives elements away in an order that no sequential run need have: what is judged is, in the end, that
/// each came out once.
template <class Queue>
class split {
 public:
  void push(int value) {
    if (owner_.push(value)) pushed_.push_back(value);
  }
  void pop() { note(popped_, owner_.pop()); }
  void steal() {
    note(stolen_, value_of(until_not_lost([this] { return queue_.make_thief().steal(); })));
  }
  /// Whether it is so, when the owner has taken what is left.
  bool each_came_out_once() {
    while (const auto value = owner_.pop()) note(popped_, value);
    std::vector<int> out = popped_;
    out.insert(out.end(), stolen_.begin(), stolen_.end());
    return std::is_permutation(out.begin(), out.end(), pushed_.begin(), pushed_.end());
  }

 private:
  static void note(std::vector<int>& in, std::optional<int> value) {
    if (value) in.push_back(*value);
  }
  Queue queue_;
  typename Queue::owner owner_ = queue_.make_owner();
  std::vector<int> pushed_;
  std::vector<int> popped_;  // by the owner
  std::vector<int> stolen_;  // by the one thief
};
template <class Queue>
void check_split(int first_elements) {
  runq::linearizable<split<Queue>> test;
  test.operation("push", RUNQ_CODE([](auto& q, int value) { q.push(value); }), runq::fresh).by("owner");
  test.operation("pop", RUNQ_CODE([](auto& q) { q.pop(); })).by("owner");
  test.operation("steal", RUNQ_CODE([](auto& q) { q.steal(); })).by("thief").beside("owner");
  for (int i = 0; i != first_elements; ++i) {
    test.initially("push", RUNQ_CODE([](auto& q, int element) { q.push(element); }), 8 + i);
  }
  test.finally("each_came_out_once", RUNQ_CODE([](auto& q) { return q.each_came_out_once(); }));
  expect_found_if_chosen(test);
}
TEST(Generated, split_ring) { check_split<runq::basic_split_ring<int, 4, runq::split_ring_options{.run = 1}>>(1); }
TEST(Generated, split_deque) {
  check_split<runq::basic_split_deque<int, 4, runq::split_deque_options{.publish = 2}>>(2);
}

class global_queue {
 public:
  ~global_queue() { static_cast<void>(take(16)); }
  void put(int id) { queue_.put(all_[id]); }
  /// The share of one of so many processors.
  std::vector<int> take(std::size_t procs) {
    std::vector<int> ids;
    auto batch = queue_.take_batch(procs);
    while (task* const t = batch.pop_front()) ids.push_back(t->id);
    return ids;
  }

 private:
  tasks all_;
  runq::inject<&task::link> queue_;
};
class global_queue_without_links {
 public:
  void put(int id) { static_cast<void>(queue_.put(id)); }
  std::vector<int> take(std::size_t procs) {
    std::array<int, 8> room{};
    const std::size_t n = queue_.take_batch(procs, room);
    return {room.begin(), room.begin() + static_cast<std::ptrdiff_t>(n)};
  }

 private:
  runq::shared_fifo<int> queue_;
};
template <class Queue>
void check_global() {
  runq::linearizable<Queue> test;
  test.operation("put", RUNQ_CODE([](auto& q, int id) { q.put(id); }), runq::fresh);
  test.operation("take", RUNQ_CODE([](auto& q, int procs) { return q.take(static_cast<std::size_t>(procs)); }), 2);
  for (const int id : {8, 9, 10, 11, 12, 13}) {
    test.initially("put", RUNQ_CODE([](auto& q, int first) { q.put(first); }), id);
  }
  expect_found_if_chosen(test);
}
TEST(Generated, inject) { check_global<global_queue>(); }
TEST(Generated, shared_fifo) { check_global<global_queue_without_links>(); }

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
  int push_next(int id) { return static_cast<int>(owner_.push_next(all_[id])); }
  int pop() {
    const task* const t = owner_.pop().task;
    return t == nullptr ? 0 : t->id;
  }
  bool has_work() { return queue_.make_thief().has_work(); }
  std::vector<int> steal() {
    const auto stolen = until_not_lost([this] { return thief_.steal_from(queue_.make_thief()); });
    std::vector<int> ids;
    while (const task* const t = thief_.pop().task) ids.push_back(t->id);
    if (stolen) ids.push_back(stolen.value->id);
    return ids;
  }

 private:
  tasks all_;
  runq::inject<&task::link> global_;
  local_queue queue_{global_};
  local_queue thieves_queue_{global_};
  local_queue::owner owner_ = queue_.make_owner();
  local_queue::owner thief_ = thieves_queue_.make_owner();
};
TEST(Generated, local_queue) {
  runq::linearizable<machine> full;
  full.operation("push", RUNQ_CODE([](auto& q, int id) { return q.push(id); }), runq::fresh).by("owner");
  full.operation("pop", RUNQ_CODE([](auto& q) { return q.pop(); })).by("owner");
  full.operation("steal", RUNQ_CODE([](auto& q) { return q.steal(); })).by("thief").beside("owner");
  for (const int id : {8, 9, 10, 11}) {
    full.initially("push", RUNQ_CODE([](auto& q, int task) { return q.push(task); }), id);
  }
  runq::linearizable<machine> displaced;
  displaced.operation("push_next", RUNQ_CODE([](auto& q, int id) { return q.push_next(id); }), runq::fresh).by("owner");
  displaced.operation("pop", RUNQ_CODE([](auto& q) { return q.pop(); })).by("owner");
  displaced.operation("has_work", RUNQ_CODE([](auto& q) { return q.has_work(); })).beside("owner");
  displaced.initially("push_next", RUNQ_CODE([](auto& q, int task) { return q.push_next(task); }), 8);
  expect_found_if_chosen(full, displaced);
}

/// An element that goes from one queue to the other and back, and is always in one of them at least.
class two_deques {
 public:
  ~two_deques() {
    static_cast<void>(first_.pop());
    static_cast<void>(second_.pop());
  }
  void begin() { static_cast<void>(first_.push(1)); }
  void over() {
    static_cast<void>(second_.push(1));
    static_cast<void>(first_.pop());
  }
  void back() {
    static_cast<void>(first_.push(1));
    static_cast<void>(second_.pop());
  }
  bool nothing() { return runq::all_empty(first_, second_); }

 private:
  runq::counted<runq::basic_chase_lev<int>> first_, second_;
};
TEST(Generated, all_empty) {
  runq::linearizable<two_deques> test;
  test.operation("over", RUNQ_CODE([](auto& q) { q.over(); })).by("owner");
  test.operation("back", RUNQ_CODE([](auto& q) { q.back(); })).by("owner");
  test.operation("nothing", RUNQ_CODE([](auto& q) { return q.nothing(); })).by("observer").beside("owner");
  test.initially("begin", RUNQ_CODE([](auto& q) { q.begin(); }));
  test.options.calls = 3;
  expect_found_if_chosen(test);
}

}  // namespace
