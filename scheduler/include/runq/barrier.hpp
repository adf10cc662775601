// SPDX-License-Identifier: MIT
// latch, barrier: tasks that wait until a number of them have come so far, once or again and again.
//
// A latch is a wait group that only counts down. A barrier is a mutex and a condition variable. The models of these
// parts cover both.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stop_token>
#include <utility>

#include "runq/condition_variable.hpp"
#include "runq/mutex.hpp"
#include "runq/task.hpp"
#include "runq/wait_group.hpp"

namespace runq {

/// Like std::latch, for tasks. It may be destroyed as soon as a wait has returned, if no other task waits.
class latch {
 public:
  /// Throws runq::misuse unless 0 <= count <= 2^61 - 1.
  explicit latch(std::int64_t count) {
    if (count < 0 || group_.core_.add(count) != detail::counting::done) {
      detail::throw_misuse("runq: a latch begins with 0 to 2^61 - 1");
    }
  }
  latch(const latch&) = delete;
  latch& operator=(const latch&) = delete;

  /// At 0 all waiting tasks go on. Throws runq::misuse unless 1 <= n, and when the count is less than n: then the latch
  /// cannot be used any more. Any thread.
  void count_down(std::int64_t n = 1) {
    if (n < 1) detail::throw_misuse("runq: a latch is counted down by 1 or more");
    if (group_.core_.add(-n) != detail::counting::done) {
      detail::throw_misuse("runq: a latch was counted down below 0");
    }
  }
  /// Whether the count is 0. Any thread. Wait-free.
  [[nodiscard]] bool try_wait() const noexcept { return group_.core_.done(); }
  /// `co_await l.wait()` returns when the count is 0. Tasks only.
  [[nodiscard]] auto wait() noexcept { return group_.wait(); }
  /// Like wait(), but a stop request ends the wait, and runq::cancelled is thrown.
  [[nodiscard]] auto wait(std::stop_token stop) noexcept { return group_.wait(std::move(stop)); }

 private:
  wait_group group_;
};

/// Like std::barrier, for tasks: a phase ends when all tasks that belong to it have come. The barrier must outlive the
/// tasks that wait for it.
class barrier {
 public:
  /// Throws runq::misuse unless 1 <= parties.
  explicit barrier(std::size_t parties) : parties_(parties) {
    if (parties == 0) detail::throw_misuse("runq: a barrier is for 1 task or more");
  }
  barrier(const barrier&) = delete;
  barrier& operator=(const barrier&) = delete;

  /// `co_await b.arrive_and_wait()` returns when all tasks of this phase have come; true for the last of them. A stop
  /// request ends the wait: then the caller has not come, and runq::cancelled is thrown. Throws runq::misuse when all
  /// parties have been dropped. Tasks only.
  [[nodiscard]] task<bool> arrive_and_wait(std::stop_token stop = {}, source_place at = source_place::here()) {
    auto held = co_await detail::placed(changes_.scoped_lock(stop), at);
    if (parties_ == 0) detail::throw_misuse("runq: a barrier was used after all of its tasks had left it");
    ++here_;
    if (end_phase_if_complete()) co_return true;
    const std::uint64_t mine = phase_;
    bool asked_to_stop = false;
    try {
      co_await phase_over_.wait(
          held, [this, mine] { return phase_ != mine; }, std::move(stop), at);
    } catch (const cancelled&) {
      --here_;
      asked_to_stop = true;
    }
    if (asked_to_stop) throw cancelled();
    co_return false;
  }
  /// `co_await b.arrive_and_drop()`: one task fewer belongs to this phase and those after it; returns at once. Throws
  /// runq::misuse when there is none. Tasks only.
  [[nodiscard]] task<> arrive_and_drop(source_place at = source_place::here()) {
    const auto held = co_await detail::placed(changes_.scoped_lock(), at);
    if (parties_ == 0) detail::throw_misuse("runq: a barrier was used after all of its tasks had left it");
    --parties_;
    static_cast<void>(end_phase_if_complete());
  }

 private:
  [[nodiscard]] bool end_phase_if_complete() {
    if (here_ != parties_) return false;
    here_ = 0;
    ++phase_;
    phase_over_.notify_all();
    return true;
  }
  mutex changes_;
  condition_variable phase_over_;
  // Under changes_.
  std::size_t parties_;
  std::size_t here_ = 0;
  std::uint64_t phase_ = 0;
};

}  // namespace runq
