// SPDX-License-Identifier: MIT
// latch, barrier: tasks that wait until a number of them have come so far, once or again and again.
//
// A latch is a wait group that only counts down. A barrier is a mutex and a condition variable. Models:
// models/cases/scheduler/barrier/.
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

namespace detail {

/// A wait group's count, which only goes down.
template <class Policy = task_waiting>
class latch_core : public wait_group_core<Policy> {
 public:
  /// To be called once, before anything else. False: `count` is no count.
  [[nodiscard]] bool begins_with(std::int64_t count) { return count >= 0 && this->add(count) == counting::done; }
  /// False: the count was less than n, and the latch is of no more use. If the count is 0 now, a task that has waited
  /// may destroy the latch before this returns.
  [[nodiscard]] bool count_down(std::int64_t n) { return this->add(-n) == counting::done; }
};

/// How many tasks belong to a barrier, how many of them have come, and those of them that wait. The caller of each
/// function holds the barrier's mutex.
template <class Condition = condition_variable, class Atomics = policy>
class barrier_core {
  template <class T>
  using cell = typename Atomics::template cell<T>;

 public:
  explicit barrier_core(std::size_t parties) noexcept : parties_(parties) {}
  barrier_core(const barrier_core&) = delete;
  barrier_core& operator=(const barrier_core&) = delete;

  /// Whether all tasks have left it.
  [[nodiscard]] bool deserted() const noexcept { return parties_.get() == 0; }
  /// A task has come. True: it was the last one, so the phase is over. False: it waits for phase_over() until is_over()
  /// is true of the present phase().
  [[nodiscard]] bool comes() {
    here_.set(here_.get() + 1);
    return end_phase_if_complete();
  }
  [[nodiscard]] std::uint64_t phase() const noexcept { return phase_.get(); }
  [[nodiscard]] bool is_over(std::uint64_t phase) const noexcept { return phase_.get() != phase; }
  [[nodiscard]] Condition& phase_over() noexcept { return phase_over_; }
  /// A task that has come, and whose phase is not over, does not wait any more: it has not come.
  void goes_back() noexcept { here_.set(here_.get() - 1); }
  /// One task fewer belongs to it.
  void drops() {
    parties_.set(parties_.get() - 1);
    static_cast<void>(end_phase_if_complete());
  }

 private:
  [[nodiscard]] bool end_phase_if_complete() {
    if (here_.get() != parties_.get()) return false;
    here_.set(0);
    phase_.set(phase_.get() + 1);
    phase_over_.notify_all();
    return true;
  }
  Condition phase_over_;
  cell<std::size_t> parties_;
  cell<std::size_t> here_{0};
  cell<std::uint64_t> phase_{0};
};

}  // namespace detail

/// Like std::latch, for tasks. It may be destroyed as soon as a wait has returned, if no other task waits.
class latch {
 public:
  /// Throws runq::misuse unless 0 <= count <= 2^61 - 1.
  explicit latch(std::int64_t count) {
    if (!core_.begins_with(count)) detail::throw_misuse("runq: a latch begins with 0 to 2^61 - 1");
  }
  latch(const latch&) = delete;
  latch& operator=(const latch&) = delete;

  /// At 0 all waiting tasks go on. Throws runq::misuse unless 1 <= n, and when the count is less than n: then the latch
  /// cannot be used any more. Any thread.
  void count_down(std::int64_t n = 1) {
    if (n < 1) detail::throw_misuse("runq: a latch is counted down by 1 or more");
    if (!core_.count_down(n)) detail::throw_misuse("runq: a latch was counted down below 0");
  }
  /// Whether the count is 0. Any thread. Wait-free.
  [[nodiscard]] bool try_wait() const noexcept { return core_.done(); }
  /// `co_await l.wait()` returns when the count is 0. Tasks only.
  [[nodiscard]] auto wait() noexcept { return wait_group::awaiter(core_); }
  /// Like wait(), but a stop request ends the wait, and runq::cancelled is thrown.
  [[nodiscard]] auto wait(std::stop_token stop) noexcept {
    return wait_group::stoppable_awaiter(core_, std::move(stop));
  }

 private:
  detail::latch_core<> core_;
};

/// Like std::barrier, for tasks: a phase ends when all tasks that belong to it have come. The barrier must outlive the
/// tasks that wait for it.
class barrier {
 public:
  /// Throws runq::misuse unless 1 <= parties.
  explicit barrier(std::size_t parties) : core_(parties) {
    if (parties == 0) detail::throw_misuse("runq: a barrier is for 1 task or more");
  }
  barrier(const barrier&) = delete;
  barrier& operator=(const barrier&) = delete;

  /// `co_await b.arrive_and_wait()` returns when all tasks of this phase have come; true for the last of them. A stop
  /// request ends the wait: then the caller has not come, and runq::cancelled is thrown. Throws runq::misuse when all
  /// parties have been dropped. Tasks only.
  [[nodiscard]] stoppable_task<bool> arrive_and_wait(std::stop_token stop = {},
                                                     source_place at = source_place::here()) {
    auto held = co_await detail::placed(changes_.scoped_lock(stop), at);
    if (core_.deserted()) detail::throw_misuse("runq: a barrier was used after all of its tasks had left it");
    if (core_.comes()) co_return true;
    const std::uint64_t mine = core_.phase();
    bool asked_to_stop = false;
    try {
      co_await core_.phase_over().wait(
          held, [this, mine] { return core_.is_over(mine); }, std::move(stop), at);
    } catch (const cancelled&) {
      core_.goes_back();
      asked_to_stop = true;
    }
    if (asked_to_stop) throw cancelled();
    co_return false;
  }
  /// `co_await b.arrive_and_drop()`: one task fewer belongs to this phase and those after it; returns at once. Throws
  /// runq::misuse when there is none. Tasks only.
  [[nodiscard]] task<> arrive_and_drop(source_place at = source_place::here()) {
    const auto held = co_await detail::placed(changes_.scoped_lock(), at);
    if (core_.deserted()) detail::throw_misuse("runq: a barrier was used after all of its tasks had left it");
    core_.drops();
  }

 private:
  mutex changes_;
  detail::barrier_core<> core_;  // under changes_
};

}  // namespace runq
