// SPDX-License-Identifier: MIT
// Classes that are linearizable, and twins that are not. Programs that the test prints include this, too.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <mutex>
#include <optional>

#include <runq/specifications.hpp>

struct node {
  int value;
  node* next = nullptr;
  node* retired = nullptr;
};
/// Treiber's stack, whose nodes are not freed while others may look at them. Without `Retries`, pop takes a
/// compare-exchange that fails for an empty stack.
template <bool Retries>
class treiber_stack {
 public:
  ~treiber_stack() {
    while (pop()) {
    }
    for (node* n = retired_.load(); n != nullptr;) delete std::exchange(n, n->retired);
  }
  bool push(int value) {
    link(head_, new node{value}, &node::next);
    return true;
  }
  std::optional<int> pop() {
    node* top = head_.load(std::memory_order::acquire);
    while (top != nullptr) {
      node* const n = top;
      if (head_.compare_exchange_strong(top, n->next, std::memory_order::acquire, std::memory_order::acquire)) {
        link(retired_, n, &node::retired);
        return n->value;
      }
      if (!Retries) return {};
    }
    return {};
  }
  [[nodiscard]] bool empty() const { return head_.load(std::memory_order::acquire) == nullptr; }

 private:
  static void link(std::atomic<node*>& head, node* n, node* node::*next) {
    n->*next = head.load(std::memory_order::relaxed);
    while (!head.compare_exchange_strong(n->*next, n, std::memory_order::release, std::memory_order::relaxed)) {
    }
  }
  std::atomic<node*> head_{nullptr};
  std::atomic<node*> retired_{nullptr};
};

/// A specification whose pop takes nothing if a call of another thread is faster.
struct stack_that_loses : runq::spec::stack<int> {
  std::optional<int> pop() {
    if (runq::loses()) return {};
    return runq::spec::stack<int>::pop();
  }
};
/// A specification whose pop may take nothing for no reason.
struct stack_that_fails : runq::spec::stack<int> {
  std::optional<int> pop() {
    if (runq::any_of(2) == 1) return {};
    return runq::spec::stack<int>::pop();
  }
};
/// The same as stack_that_loses, but cannot be compared.
class opaque_stack_that_loses {
 public:
  bool push(int value) { return inside_.push(value); }
  std::optional<int> pop() { return inside_.pop(); }
  [[nodiscard]] bool empty() const { return inside_.empty(); }

 private:
  stack_that_loses inside_;
};
/// Its first pop after a push takes nothing, also if no other thread makes a call.
class shy_stack {
 public:
  bool push(int value) {
    shy_.store(true);
    return inside_.push(value);
  }
  std::optional<int> pop() {
    if (shy_.exchange(false)) return {};
    return inside_.pop();
  }

 private:
  treiber_stack<true> inside_;
  std::atomic<bool> shy_{false};
};
/// Its pop takes nothing while another thread is in empty().
class watched_stack {
 public:
  bool push(int value) { return inside_.push(value); }
  std::optional<int> pop() {
    if (watchers_.load() != 0) return {};
    return inside_.pop();
  }
  [[nodiscard]] bool empty() {
    watchers_.fetch_add(1);
    const bool is_empty = inside_.empty();
    watchers_.fetch_sub(1);
    return is_empty;
  }

 private:
  treiber_stack<true> inside_;
  std::atomic<int> watchers_{0};
};

/// Unless it is `Atomic`, of two elements that are pushed at the same time one may be lost.
template <bool Atomic>
class locked_stack {
 public:
  bool push(int value) {
    std::unique_lock lock(mutex_);
    const std::size_t size = size_;
    if (!Atomic) {
      lock.unlock();
      lock.lock();
    }
    values_[size] = value;
    size_ = size + 1;
    return true;
  }
  std::optional<int> pop() {
    const std::lock_guard lock(mutex_);
    if (size_ == 0) return {};
    return values_[--size_];
  }

 private:
  std::mutex mutex_;
  std::size_t size_ = 0;
  std::array<int, 8> values_{};
};

/// Its pop_back() takes from the wrong end.
struct wrong_deque : runq::spec::deque<int> {
  std::optional<int> pop_back() { return pop_front(); }
};
/// Its insert() returns true although the value was in the set.
struct wrong_set : runq::spec::set<int> {
  bool insert(int value) { return runq::spec::set<int>::insert(value), true; }
};
/// Its assign() returns the new value instead of the former one.
struct wrong_map : runq::spec::map<int, int> {
  std::optional<int> assign(int key, int value) {
    runq::spec::map<int, int>::assign(key, value);
    return value;
  }
};

template <bool Atomic>
class atomic_register {
 public:
  [[nodiscard]] int read() const { return value_.load(); }
  void write(int value) { value_.store(value); }
  int exchange(int value) {
    if (Atomic) return value_.exchange(value);
    const int before = value_.load();
    value_.store(value);
    return before;
  }
  bool compare_exchange(int expected, int desired) { return value_.compare_exchange_strong(expected, desired); }

 private:
  std::atomic<int> value_{0};
};

template <bool Atomic>
class atomic_counter {
 public:
  void increment() {
    if (Atomic) {
      value_.fetch_add(1, std::memory_order::relaxed);
    } else {
      value_.store(value_.load() + 1);
    }
  }
  [[nodiscard]] long read() const { return value_.load(std::memory_order::relaxed); }

 private:
  std::atomic<long> value_{0};
};

template <bool Atomic>
class spinning_semaphore {
 public:
  bool try_acquire() {
    long count = count_.load();
    while (count != 0) {
      if (!Atomic) return count_.store(count - 1), true;
      if (count_.compare_exchange_strong(count, count - 1)) return true;
    }
    return false;
  }
  void acquire() {
    while (!try_acquire()) {
    }
  }
  void release() { count_.fetch_add(1); }

 private:
  std::atomic<long> count_{0};
};

/// A lock that is not recursive. If it is not `Atomic`, two threads can get it at the same time.
template <bool Atomic>
class spin_lock {
 public:
  bool try_lock() {
    if (Atomic) return !locked_.exchange(true);
    if (locked_.load()) return false;
    locked_.store(true);
    return true;
  }
  void lock() {
    while (!try_lock()) {
    }
  }
  void unlock() { locked_.store(false); }

 private:
  std::atomic<bool> locked_{false};
};

/// add() takes a lock, read() does not.
template <class Lock>
class locked_counter {
 public:
  long add(long more) {
    lock_.lock();
    const long before = value_.load(std::memory_order::relaxed);
    value_.store(before + more, std::memory_order::release);
    lock_.unlock();
    return before;
  }
  [[nodiscard]] long read() const { return value_.load(std::memory_order::acquire); }

 private:
  Lock lock_;
  std::atomic<long> value_{0};
};
