// SPDX-License-Identifier: MIT
// shared_mutex: one task writes, or several read.
//
// A semaphore of which a reader takes one unit, and a writer all: its models are those of semaphore.
#pragma once

#include <cstdint>
#include <stop_token>
#include <utility>

#include "runq/semaphore.hpp"
#include "runq/task.hpp"

namespace runq {

/// A mutex for tasks that one task holds alone, or several share; Go's sync.RWMutex. First come, first served: a reader
/// that comes after a waiting writer waits for it, so a task that holds the mutex must not lock it again, shared or
/// not. Otherwise it is like mutex.
///
///     runq::shared_mutex m;
///     const auto reading = co_await m.scoped_lock_shared();
class shared_mutex {
  static constexpr std::int64_t all = semaphore::max_units;

 public:
  using guard = detail::held_units;

  shared_mutex() : core_(all, all) {}
  shared_mutex(const shared_mutex&) = delete;
  shared_mutex& operator=(const shared_mutex&) = delete;

  /// `co_await m.lock()` returns when the calling task has the mutex alone. A stop request ends the wait: then it does
  /// not have it, and runq::cancelled is thrown. Tasks only.
  [[nodiscard]] detail::units_awaiter lock(std::stop_token stop = {}) {
    return {core_, all, wait_reason::rw_mutex_lock, std::move(stop)};
  }
  /// `const auto writing = co_await m.scoped_lock();`
  [[nodiscard]] detail::held_units_awaiter scoped_lock(std::stop_token stop = {}) {
    return {core_, all, all, wait_reason::rw_mutex_lock, std::move(stop)};
  }
  /// `co_await m.lock_shared()` returns when the calling task shares the mutex. Otherwise as lock().
  [[nodiscard]] detail::units_awaiter lock_shared(std::stop_token stop = {}) {
    return {core_, 1, wait_reason::rw_mutex_lock_shared, std::move(stop)};
  }
  /// `const auto reading = co_await m.scoped_lock_shared();`
  [[nodiscard]] detail::held_units_awaiter scoped_lock_shared(std::stop_token stop = {}) {
    return {core_, 1, all - 1, wait_reason::rw_mutex_lock_shared, std::move(stop)};
  }
  /// Takes the mutex, alone or shared, if it can and no other task waits, and returns whether it did. Any thread.
  [[nodiscard]] bool try_lock() { return core_.try_acquire(all); }
  [[nodiscard]] bool try_lock_shared() { return core_.try_acquire(1); }
  /// Unlocks, on behalf of the task that has the mutex alone. Throws runq::misuse("sync: Unlock of unlocked RWMutex").
  /// Any thread.
  void unlock() {
    if (!core_.release(all, all)) detail::throw_misuse("sync: Unlock of unlocked RWMutex");
  }
  /// Unlocks, on behalf of a task that shares it. Throws runq::misuse("sync: RUnlock of unlocked RWMutex"). Any thread.
  void unlock_shared() {
    if (!core_.release(1, all - 1)) detail::throw_misuse("sync: RUnlock of unlocked RWMutex");
  }

 private:
  detail::semaphore_core<> core_;
};

}  // namespace runq
