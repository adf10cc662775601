// SPDX-License-Identifier: MIT
// What usual objects do when one call comes after the other: specifications for <runq/history.hpp> and
// <runq/linearizable.hpp>. Your own is a class of the same kind: ordinary code, copyable, with the operations that the
// object has. runq::wait_for_another_call(), not_allowed(), any_of(), loses() and calling_thread() are for it.
#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <optional>
#include <set>

#include "history.hpp"

namespace runq::spec {

/// Unbounded if no capacity is given.
inline constexpr std::size_t unbounded = ~std::size_t{0};

/// push at the back, pop from either end. pop: nothing if it is empty.
template <class T>
class deque {
 public:
  explicit deque(std::size_t capacity = unbounded) : capacity_(capacity) {}
  bool push_back(const T& value) {
    if (inside_.size() == capacity_) return false;
    inside_.push_back(value);
    return true;
  }
  bool push_front(const T& value) {
    if (inside_.size() == capacity_) return false;
    inside_.push_front(value);
    return true;
  }
  std::optional<T> pop_front() {
    if (inside_.empty()) return {};
    const T value = inside_.front();
    inside_.pop_front();
    return value;
  }
  std::optional<T> pop_back() {
    if (inside_.empty()) return {};
    const T value = inside_.back();
    inside_.pop_back();
    return value;
  }
  [[nodiscard]] std::size_t size() const { return inside_.size(); }
  [[nodiscard]] bool empty() const { return inside_.empty(); }

  friend bool operator==(const deque&, const deque&) = default;

 private:
  std::size_t capacity_;
  std::deque<T> inside_;
};

/// First in, first out. push: false if it is full.
template <class T>
class queue {
 public:
  explicit queue(std::size_t capacity = unbounded) : inside_(capacity) {}
  bool push(const T& value) { return inside_.push_back(value); }
  std::optional<T> pop() { return inside_.pop_front(); }
  [[nodiscard]] std::size_t size() const { return inside_.size(); }
  [[nodiscard]] bool empty() const { return inside_.empty(); }

  friend bool operator==(const queue&, const queue&) = default;

 private:
  deque<T> inside_;
};

/// Last in, first out. push: false if it is full.
template <class T>
class stack {
 public:
  explicit stack(std::size_t capacity = unbounded) : inside_(capacity) {}
  bool push(const T& value) { return inside_.push_back(value); }
  std::optional<T> pop() { return inside_.pop_back(); }
  [[nodiscard]] std::size_t size() const { return inside_.size(); }
  [[nodiscard]] bool empty() const { return inside_.empty(); }

  friend bool operator==(const stack&, const stack&) = default;

 private:
  deque<T> inside_;
};

/// insert and erase: whether they have changed anything.
template <class T>
class set {
 public:
  bool insert(const T& value) { return inside_.insert(value).second; }
  bool erase(const T& value) { return inside_.erase(value) != 0; }
  [[nodiscard]] bool contains(const T& value) const { return inside_.count(value) != 0; }

  friend bool operator==(const set&, const set&) = default;

 private:
  std::set<T> inside_;
};

/// insert: false if the key is there; assign: the value before.
template <class Key, class T>
class map {
 public:
  bool insert(const Key& key, const T& value) { return inside_.emplace(key, value).second; }
  std::optional<T> assign(const Key& key, const T& value) {
    const std::optional<T> before = find(key);
    inside_.insert_or_assign(key, value);
    return before;
  }
  std::optional<T> erase(const Key& key) {
    const std::optional<T> before = find(key);
    inside_.erase(key);
    return before;
  }
  [[nodiscard]] std::optional<T> find(const Key& key) const {
    const auto at = inside_.find(key);
    if (at == inside_.end()) return {};
    return at->second;
  }

  friend bool operator==(const map&, const map&) = default;

 private:
  std::map<Key, T> inside_;
};

/// A variable.
template <class T>
class reg {
 public:
  explicit reg(T value = T()) : value_(value) {}
  [[nodiscard]] T read() const { return value_; }
  void write(T value) { value_ = value; }
  T exchange(T value) { return std::exchange(value_, value); }
  bool compare_exchange(T expected, T desired) {
    if (value_ != expected) return false;
    value_ = desired;
    return true;
  }

  friend bool operator==(const reg&, const reg&) = default;

 private:
  T value_;
};

/// add: the value before.
class counter {
 public:
  long add(long more) { return std::exchange(value_, value_ + more); }
  void increment() { ++value_; }
  void decrement() { --value_; }
  [[nodiscard]] long read() const { return value_; }

  friend bool operator==(const counter&, const counter&) = default;

 private:
  long value_ = 0;
};

/// acquire waits while there is nothing to acquire.
class semaphore {
 public:
  explicit semaphore(long count = 0) : count_(count) {}
  void acquire() {
    if (count_ == 0) wait_for_another_call();
    --count_;
  }
  bool try_acquire() {
    if (count_ == 0) return false;
    --count_;
    return true;
  }
  void release() { ++count_; }

  friend bool operator==(const semaphore&, const semaphore&) = default;

 private:
  long count_;
};

/// lock() waits while another thread holds the lock; only the holder may unlock it, and must not lock it again.
class mutex {
 public:
  void lock() {
    if (owner_ == calling_thread()) not_allowed();
    if (owner_ != nobody) wait_for_another_call();
    owner_ = calling_thread();
  }
  bool try_lock() {
    if (owner_ == calling_thread()) not_allowed();
    if (owner_ != nobody) return false;
    owner_ = calling_thread();
    return true;
  }
  void unlock() {
    if (owner_ != calling_thread()) not_allowed();
    owner_ = nobody;
  }

  friend bool operator==(const mutex&, const mutex&) = default;

 private:
  static constexpr unsigned nobody = ~0U;
  unsigned owner_ = nobody;
};

}  // namespace runq::spec
