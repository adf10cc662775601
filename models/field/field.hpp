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

/// A queue whose pop may miss what is there. all() is what is left in the end, which is everything.
class queue_that_may_miss {
 public:
  bool push(int value) { return inside_.push(value); }
  std::optional<int> pop() { return any_of(2) == 1 ? std::nullopt : inside_.pop(); }
  std::set<int> all() {
    std::set<int> left;
    while (const std::optional<int> value = inside_.pop()) left.insert(*value);
    return left;
  }

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

/// What a queue still has, one pop after the other.
template <class Queue>
[[nodiscard]] std::set<int> take_all(Queue& queue) {
  std::set<int> left;
  while (const std::optional<int> value = queue.pop()) left.insert(*value);
  return left;
}

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

/// As `guarded`, one call after the other. try_add() may find the lock taken.
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

}  // namespace runq::field

/// The end of a structure's file: `make_test` makes its linearizable_by. A program that a verdict has printed includes
/// the file for its classes, and has a main() of its own.
#ifdef RUNQ_FIELD_PROGRAM
#define RUNQ_FIELD(make_test)
#else
#define RUNQ_FIELD(make_test) \
  int main(int count, char** words) { return runq::field::run(make_test(), count, words); }
#endif
