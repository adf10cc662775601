// SPDX-License-Identifier: MIT
// shared_mutex: one task writes, or several read.
//
// A semaphore of which a reader takes one unit, and a writer all. Models: models/cases/scheduler/shared_mutex/.
#pragma once

#include <cstdint>
#include <stop_token>
#include <utility>

#include "runq/semaphore.hpp"
#include "runq/task.hpp"

namespace runq {

namespace detail {

/// The semaphore, with the units that a task takes to read or to write.
template <class Policy = task_waiting>
class shared_mutex_core : public semaphore_core<Policy> {
 public:
  /// How many units a task takes, and how many can be taken at most when it gives them back.
  struct share {
    std::int64_t units;
    std::int64_t at_most;
  };
  [[nodiscard]] static share to_write() noexcept { return {all, all}; }
  [[nodiscard]] static share to_read() noexcept { return {1, all - 1}; }

  shared_mutex_core() : semaphore_core<Policy>(all, all) {}

  /// Takes what a task needs, and returns true; or returns false if it is not free, or if other tasks wait.
  [[nodiscard]] bool try_take(share wanted) { return this->try_acquire(wanted.units); }
  /// Returns false, and changes nothing, if no task has such a share.
  [[nodiscard]] bool give_back(share taken) { return this->release(taken.units, taken.at_most); }

 private:
  static constexpr std::int64_t all = (std::int64_t{1} << 61) - 1;
};

}  // namespace detail

/// A mutex for tasks that one task holds alone, or several share; Go's sync.RWMutex. First come, first served: a reader
/// that comes after a waiting writer waits for it, so a task that holds the mutex must not lock it again, shared or
/// not. Otherwise it is like mutex, but its guards do not notice that it was destroyed: it must outlive them, also at
/// the end of a run.
///
///     runq::shared_mutex m;
///     const auto reading = co_await m.scoped_lock_shared();
class shared_mutex {
  using core = detail::shared_mutex_core<>;

 public:
  using guard = detail::held_units;

  shared_mutex() = default;
  shared_mutex(const shared_mutex&) = delete;
  shared_mutex& operator=(const shared_mutex&) = delete;

  /// `co_await m.lock()` returns when the calling task has the mutex alone. A stop request ends the wait: then it does
  /// not have it, and runq::cancelled is thrown. Tasks only.
  [[nodiscard]] detail::units_awaiter lock(std::stop_token stop = {}) {
    return {core_, core::to_write().units, wait_reason::rw_mutex_lock, std::move(stop)};
  }
  /// `const auto writing = co_await m.scoped_lock();`
  [[nodiscard]] detail::held_units_awaiter scoped_lock(std::stop_token stop = {}) {
    return scoped(core::to_write(), wait_reason::rw_mutex_lock, std::move(stop));
  }
  /// `co_await m.lock_shared()` returns when the calling task shares the mutex. Otherwise as lock().
  [[nodiscard]] detail::units_awaiter lock_shared(std::stop_token stop = {}) {
    return {core_, core::to_read().units, wait_reason::rw_mutex_lock_shared, std::move(stop)};
  }
  /// `const auto reading = co_await m.scoped_lock_shared();`
  [[nodiscard]] detail::held_units_awaiter scoped_lock_shared(std::stop_token stop = {}) {
    return scoped(core::to_read(), wait_reason::rw_mutex_lock_shared, std::move(stop));
  }
  /// Takes the mutex, alone or shared, if it can and no other task waits, and returns whether it did. Any thread.
  [[nodiscard]] bool try_lock() { return core_.try_take(core::to_write()); }
  [[nodiscard]] bool try_lock_shared() { return core_.try_take(core::to_read()); }
  /// Unlocks, on behalf of the task that has the mutex alone. Throws runq::misuse("sync: Unlock of unlocked RWMutex").
  /// Any thread.
  void unlock() {
    if (!core_.give_back(core::to_write())) detail::throw_misuse("sync: Unlock of unlocked RWMutex");
  }
  /// Unlocks, on behalf of a task that shares it. Throws runq::misuse("sync: RUnlock of unlocked RWMutex"). Any thread.
  void unlock_shared() {
    if (!core_.give_back(core::to_read())) detail::throw_misuse("sync: RUnlock of unlocked RWMutex");
  }

 private:
  [[nodiscard]] detail::held_units_awaiter scoped(core::share wanted, wait_reason why, std::stop_token stop) {
    return {core_, wanted.units, wanted.at_most, why, std::move(stop)};
  }
  core core_;
};

}  // namespace runq
