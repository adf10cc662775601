// SPDX-License-Identifier: MIT
// What the programs of this folder share: a guarded variable that shows what a lock protects, and a main() that checks
// what RUNQ_FIELD names and prints the result as field.py reads it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <iterator>
#include <map>
#include <optional>
#include <set>

#include <runq/linearizable.hpp>
#include <runq/specifications.hpp>

namespace runq::field {

/// `PROGRAM [JOBS]`. The first line is for field.py, the rest is the verdict as a person reads it.
template <class Test>
int run(Test test, int count, char** words) {
  test.options.jobs = count > 1 ? static_cast<unsigned>(std::atoi(words[1])) : 1;
  test.options.progress = count > 1;
  // The report's executions are those of the threads' calls.
  test.options.drain = false;
  const linearizable_verdict v = test.check();
  const char* const status = v.passed() ? "passed" : v.failed() ? "failed" : "undecided";
  std::printf("field: %s; programs %zu of %zu; left out %zu; executions %llu; calls %zu; threads %u; each %u\n", status,
              v.programs_passed(), v.programs(), v.programs_left_out(), static_cast<unsigned long long>(v.executions()),
              v.calls(), test.options.threads, test.options.calls);
  std::printf("%s", v.text().c_str());
  return v.passed() ? 0 : v.failed() ? 1 : 2;
}

/// For elements that are pointers: plain memory, written before the push and read after the pop.
class letters {
 public:
  [[nodiscard]] int* write(int value) {
    int& letter = letters_[static_cast<std::size_t>(value)];
    letter = value;
    return &letter;
  }
  [[nodiscard]] static std::optional<int> read(const int* letter) {
    return letter == nullptr ? std::nullopt : std::optional<int>(*letter);
  }

 private:
  std::array<int, 16> letters_{};
};

/// What a queue still has, one pop after the other.
template <class Queue>
[[nodiscard]] std::set<int> take_all(Queue& queue) {
  std::set<int> left;
  while (const std::optional<int> value = queue.pop()) left.insert(*value);
  return left;
}

/// A queue of numbers that has try_push and try_pop.
template <class Queue, auto... Arguments>
class tried {
 public:
  bool push(int value) { return queue_.try_push(value); }
  std::optional<int> pop() {
    int value = 0;
    return queue_.try_pop(value) ? std::optional<int>(value) : std::nullopt;
  }
  std::set<int> all() { return take_all(*this); }

 private:
  Queue queue_{Arguments...};
};

/// A queue of pointers that has try_push and try_pop: what the pointers point at must arrive with them.
template <class Queue>
class tried_with_letters {
 public:
  bool push(int value) { return queue_.try_push(letters_.write(value)); }
  std::optional<int> pop() {
    int* letter = nullptr;
    return queue_.try_pop(letter) ? letters_.read(letter) : std::nullopt;
  }
  std::set<int> all() { return take_all(*this); }

 private:
  letters letters_;
  Queue queue_;
};

/// A queue whose pop may miss what is there. all() is what is left in the end, which is everything.
class queue_that_may_miss {
 public:
  bool push(int value) { return inside_.push(value); }
  std::optional<int> pop() { return any_of(2) == 1 ? std::nullopt : inside_.pop(); }
  std::set<int> all() { return take_all(inside_); }

 private:
  spec::queue<int> inside_;
};

/// A queue that orders only the elements of one producer: a pop takes the oldest element of any of them, and may miss
/// what is there. all() is what is left in the end, which is everything.
class queue_of_each_producer {
 public:
  bool push(int value) {
    inside_[calling_thread()].push_back(value);
    return true;
  }
  std::optional<int> pop() {
    const unsigned chosen = any_of(static_cast<unsigned>(inside_.size()) + 1);
    if (chosen == inside_.size()) return {};
    std::deque<int>& from = std::next(inside_.begin(), chosen)->second;
    const int value = from.front();
    from.pop_front();
    if (from.empty()) inside_.erase(std::next(inside_.begin(), chosen));
    return value;
  }
  std::set<int> all() {
    std::set<int> left;
    for (const auto& [producer, values] : inside_) left.insert(values.begin(), values.end());
    inside_.clear();
    return left;
  }

 private:
  std::map<unsigned, std::deque<int>> inside_;
};

/// A plain number behind a lock: two threads inside at once are a data race, and a lost addition is a wrong answer.
template <class Lock>
class guarded {
 public:
  int add() {
    lock_.lock();
    const int before = value_++;
    lock_.unlock();
    return before;
  }
  std::optional<int> try_add() {
    if (!lock_.try_lock()) return {};
    const int before = value_++;
    lock_.unlock();
    return before;
  }

 private:
  Lock lock_{};
  int value_ = 0;
};

/// A plain number behind a lock that readers share.
template <class Lock>
class shared_number {
 public:
  void write(int value) {
    lock_.lock();
    value_ = value;
    lock_.unlock();
  }
  int read() {
    lock_.lock_shared();
    const int value = value_;
    lock_.unlock_shared();
    return value;
  }

 private:
  Lock lock_;
  int value_ = 0;
};

/// The specification of `guarded`: one call after the other. try_add() may find the lock taken.
class guarded_by_spec {
 public:
  int add() { return value_++; }
  std::optional<int> try_add() {
    if (any_of(2) == 1) return {};
    return value_++;
  }

 private:
  int value_ = 0;
};

/// The programs of push() and pop().
template <class Queue, class Specification = spec::queue<int>>
[[nodiscard]] auto push_and_pop() {
  linearizable<Queue, Specification> test;
  test.operation("push", RUNQ_CODE([](auto& q, int value) { return q.push(value); }), fresh);
  test.operation("pop", RUNQ_CODE([](auto& q) { return q.pop(); }));
  return test;
}

/// The same of a queue with all(). With MAY_MISS a pop may answer that the queue is empty although it is not; what is
/// left in the end must be everything.
template <class Queue>
[[nodiscard]] auto push_and_pop_to_the_end() {
#ifdef MAY_MISS
  auto test = push_and_pop<Queue, queue_that_may_miss>();
  test.finally("all", RUNQ_CODE([](auto& q) { return q.all(); }));
  return test;
#else
  return push_and_pop<Queue>();
#endif
}

/// The programs of one thread that calls push() and one that calls pop(), some calls each.
template <class Queue>
[[nodiscard]] auto producer_and_consumer(unsigned calls) {
  linearizable<Queue, spec::queue<int>> test;
  test.operation("push", RUNQ_CODE([](auto& q, int value) { return q.push(value); }), fresh).by("producer");
  test.operation("pop", RUNQ_CODE([](auto& q) { return q.pop(); })).by("consumer");
  test.options.calls = calls;
  return test;
}

/// The programs of add() and try_add().
template <class Lock>
[[nodiscard]] auto add_and_try_add() {
  linearizable<Lock, guarded_by_spec> test;
  test.operation("add", RUNQ_CODE([](auto& l) { return l.add(); }));
  test.operation("try_add", RUNQ_CODE([](auto& l) { return l.try_add(); }));
  return test;
}

/// The programs of write() and read().
template <class Number>
[[nodiscard]] auto write_and_read() {
  linearizable<Number, spec::reg<int>> test;
  test.operation("write", RUNQ_CODE([](auto& n, int value) { n.write(value); }), fresh);
  test.operation("read", RUNQ_CODE([](auto& n) { return n.read(); }));
  return test;
}

/// set() is called once, and wait() returns after it, with the 1 that it has written.
class letter_spec {
 public:
  void set() {
    if (set_) not_allowed();
    set_ = true;
  }
  int wait() {
    if (!set_) wait_for_another_call();
    return 1;
  }

 private:
  bool set_ = false;
};

/// The programs of set() and wait().
template <class Event>
[[nodiscard]] auto set_and_wait() {
  linearizable<Event, letter_spec> test;
  test.operation("set", RUNQ_CODE([](auto& e) { e.set(); }));
  test.operation("wait", RUNQ_CODE([](auto& e) { return e.wait(); }));
  return test;
}

}  // namespace runq::field

/// The end of a structure's file: `make_test` makes its linearizable_by. A program that a verdict has printed includes
/// the file for its classes, and has a main() of its own.
#ifdef RUNQ_FIELD_PROGRAM
#define RUNQ_FIELD(make_test)
#else
#define RUNQ_FIELD(make_test) \
  int main(int count, char** words) { return runq::field::run(make_test(), count, words); }
#endif
