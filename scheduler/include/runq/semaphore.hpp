// SPDX-License-Identifier: MIT
// semaphore: a number of units that tasks take and give back: while a task waits, its thread runs others.
//
// Source: the weighted semaphore of golang.org/x/sync. shared_mutex.hpp is built on it. Models:
// models/cases/scheduler/semaphore/.
#pragma once

#include <coroutine>
#include <cstdint>
#include <limits>
#include <mutex>
#include <stop_token>
#include <utility>

#include "runq/protocol/waiting.hpp"
#include "runq/task.hpp"

namespace runq {

namespace detail {

template <class Policy>
struct units_waiter;

/// The place of a task among those that were given units and have not gone on yet.
template <class Policy>
struct given_units : waiter<Policy> {
  typename Policy::atomics::template cell<units_waiter<Policy>*> to{nullptr};
};

/// A task that waits for units of a semaphore, or was given them and has not gone on yet.
template <class Policy>
struct units_waiter : revocable_waiter<Policy> {
  typename Policy::atomics::template cell<std::int64_t> wanted{std::int64_t{1}};
  given_units<Policy> given;
};

/// Units and the tasks that wait for some of them. First come, first served: while a task waits, no other task
/// overtakes it, even if there are enough units for the other task.
template <class Policy = task_waiting>
class semaphore_core {
  using atomics = typename Policy::atomics;
  using node = waiter<Policy>;
  using units = units_waiter<Policy>;

 public:
  /// 0 <= available <= most.
  semaphore_core(std::int64_t available, std::int64_t most) : most_(most), available_(available) {}
  semaphore_core(const semaphore_core&) = delete;
  semaphore_core& operator=(const semaphore_core&) = delete;
  ~semaphore_core() {
    // The lock orders this after what tasks on other machines did when they began to wait.
    const std::lock_guard guard(guard_);
    waiters_.forget_all();
    while (node* const w = given_.pop_front()) of(*w).forget();
  }

  /// Takes n units and returns true, or returns false if fewer are free, or if other tasks wait.
  [[nodiscard]] bool try_acquire(std::int64_t n) {
    const std::lock_guard guard(guard_);
    if (!waiters_.empty() || available() < n) return false;
    set_available(available() - n);
    return true;
  }
  /// How many units are free, fewer than 0 after take(); a guess. Any thread. Wait-free.
  [[nodiscard]] std::int64_t available_approx() const noexcept {
    // [semaphore.any] relaxed: a guess; a caller that must be sure asks under the lock.
    return available_.load(std::memory_order::relaxed);
  }
  /// Whether there are units; a guess. Any thread. Wait-free.
  [[nodiscard]] bool any() const noexcept { return available_approx() > 0; }
  /// Takes a unit, also when there is none: then one more must come back before anybody else gets one.
  void take() {
    const std::lock_guard guard(guard_);
    set_available(available() - 1);
  }
  /// Takes w.wanted units and returns true; or puts `w` among the waiters and returns false: then another machine may
  /// run the task at any moment. A waiter that was withdrawn already does not wait. When the task goes on, w.ok says
  /// whether it has the units; if so, it calls arrived().
  [[nodiscard]] bool acquire_or_wait(units& w) {
    const std::lock_guard guard(guard_);
    if (waiters_.empty() && available() >= w.wanted.get()) {
      give(w);
      return true;
    }
    if (w.withdrawn.get()) return true;
    waiters_.push_back(w);
    return false;
  }
  /// Ends the wait of the task of `w`, or keeps it from waiting. True: the task was waiting, goes on without the units,
  /// and the caller must wake it. False: the task goes on, or is about to, without the caller.
  [[nodiscard]] bool withdraw(units& w) {
    wake_list<Policy> woken;
    {
      const std::lock_guard guard(guard_);
      w.withdrawn.set(true);
      if (!w.linked.get()) return false;
      waiters_.remove(w);
      give_to_first(woken);
    }
    woken.wake_all();
    return true;
  }
  /// Gives n units back. Returns false, and changes nothing, if fewer than n or more than `at_most` units are taken.
  [[nodiscard]] bool release(std::int64_t n, std::int64_t at_most = std::numeric_limits<std::int64_t>::max()) {
    wake_list<Policy> woken;
    {
      const std::lock_guard guard(guard_);
      const std::int64_t taken = most_ - available();
      if (taken < n || taken > at_most) return false;
      set_available(available() + n);
      give_to_first(woken);
    }
    woken.wake_all();
    return true;
  }
  /// To be called by a task after acquire_or_wait(), when it goes on with its units.
  void arrived(units& w) {
    const std::lock_guard guard(guard_);
    given_.remove(w.given);
  }
  /// To be called when the task of `w`, which has not gone on since it began to wait, is destroyed. If it was given its
  /// units, the next waiters get them.
  void leave(units& w) {
    if (withdraw(w)) return;
    w.await_waker(w.who.get());
    if (!w.ok.get()) return;
    arrived(w);
    (void)release(w.wanted.get());
  }

 private:
  [[nodiscard]] static units& of(const node& given) { return *static_cast<const given_units<Policy>&>(given).to.get(); }

  // The caller holds guard_.
  void give(units& w) {
    set_available(available() - w.wanted.get());
    w.ok.set(true);
    w.given.to.set(&w);
    given_.push_back(w.given);
  }
  // The caller holds guard_. Gives units to the first waiters as long as there are enough for them.
  void give_to_first(wake_list<Policy>& woken) {
    while (node* const first = waiters_.front()) {
      units& w = static_cast<units&>(*first);
      if (available() < w.wanted.get()) return;
      waiters_.remove(w);
      give(w);
      woken.add(w, true);
    }
  }
  // Both with guard_ held.
  [[nodiscard]] std::int64_t available() const noexcept {
    // [semaphore.available] relaxed: under guard_.
    return available_.load(std::memory_order::relaxed);
  }
  void set_available(std::int64_t n) noexcept {
    // [semaphore.available.set] relaxed: under guard_; available_approx() may see it later.
    available_.store(n, std::memory_order::relaxed);
  }

  typename atomics::mutex guard_;
  const std::int64_t most_;
  typename atomics::template atomic<std::int64_t> available_;  // written under guard_; less than 0 after take()
  wait_list<Policy> waiters_;                                  // under guard_
  wait_list<Policy> given_;  // tasks that were given units and have not gone on yet; under guard_
};

/// Gives its units back when it is destroyed.
class [[nodiscard]] held_units {
 public:
  held_units(semaphore_core<>& of, std::int64_t n, std::int64_t at_most) noexcept
      : of_(&of), n_(n), at_most_(at_most) {}
  held_units(held_units&& other) noexcept
      : of_(std::exchange(other.of_, nullptr)), n_(other.n_), at_most_(other.at_most_) {}
  held_units& operator=(held_units&&) = delete;
  ~held_units() {
    if (of_ != nullptr) static_cast<void>(of_->release(n_, at_most_));
  }

 private:
  semaphore_core<>* of_;
  std::int64_t n_;
  std::int64_t at_most_;
};

class [[nodiscard]] units_awaiter {
 public:
  units_awaiter(semaphore_core<>& of, std::int64_t n, wait_reason why, std::stop_token stop) noexcept
      : wanted_(of), stop_(std::move(stop)), why_(why) {
    waiter_.wanted.set(n);
  }
  units_awaiter(const units_awaiter&) = delete;
  units_awaiter& operator=(const units_awaiter&) = delete;
  ~units_awaiter() {
    if (waiter_.who.get() == nullptr) return;
    stop_wait_.end();
    wanted_.leave(waiter_);
  }
  [[nodiscard]] bool await_ready() {
    if (stop_.stop_requested()) throw cancelled();
    return !time_slice_over() && wanted_.try_acquire(waiter_.wanted.get());
  }
  [[nodiscard]] bool await_suspend(std::coroutine_handle<> self, source_place at = source_place::here()) {
    strand& s = fall_asleep(self, why_, at);
    waiter_.who.set(&s);
    stop_wait_.begin(*s.home, stop_, {wanted_, waiter_});
    // by chance: units come, and the time slice ends, between two questions.
    return !wanted_.acquire_or_wait(waiter_) || preempt_or_go_on(s);
  }
  void await_resume() {
    if (waiter_.who.get() == nullptr) return;
    stop_wait_.end();
    waiter_.who.set(nullptr);
    if (!waiter_.ok.get()) throw cancelled();
    wanted_.arrived(waiter_);
  }
  /// For with_timeout(): makes the awaiter of the same wait with a token. Throws runq::misuse if it has one.
  [[nodiscard]] auto stoppable() && {
    must_have_no_token(stop_);
    return [&wanted = wanted_, n = units(), why = why_](std::stop_token stop) {
      return units_awaiter(wanted, n, why, std::move(stop));
    };
  }

 protected:
  semaphore_core<>& wanted_;
  [[nodiscard]] std::int64_t units() const noexcept { return waiter_.wanted.get(); }
  [[nodiscard]] wait_reason why() const noexcept { return why_; }
  std::stop_token stop_;

 private:
  wait_reason why_;
  units_waiter<task_waiting> waiter_;
  stoppable_wait<withdraw_and_wake<semaphore_core<>, units_waiter<task_waiting>>> stop_wait_;
};

class [[nodiscard]] held_units_awaiter : public units_awaiter {
 public:
  held_units_awaiter(semaphore_core<>& of, std::int64_t n, std::int64_t at_most, wait_reason why,
                     std::stop_token stop) noexcept
      : units_awaiter(of, n, why, std::move(stop)), at_most_(at_most) {}
  held_units await_resume() {
    units_awaiter::await_resume();
    return {wanted_, units(), at_most_};
  }
  [[nodiscard]] auto stoppable() && {
    must_have_no_token(stop_);
    return [&wanted = wanted_, n = units(), at_most = at_most_, why = why()](std::stop_token stop) {
      return held_units_awaiter(wanted, n, at_most, why, std::move(stop));
    };
  }

 private:
  std::int64_t at_most_;
};

}  // namespace detail

/// A number of units, which tasks take and give back: as many tasks as there are units go on at the same time. First
/// come, first served: a task that waits for many units is not overtaken by tasks that want few. The task that has
/// taken units need not be the one that gives them back. So a semaphore can also count what is ready, with one
/// release() for each.
///
/// Tasks that wait for it when their run ends are destroyed, and the semaphore, if it still exists, forgets them; those
/// that have units give them back by their guards (scoped_acquire()).
///
/// A semaphore must outlive its guards, also at the end of a run. They do not notice that it was destroyed, as the
/// guard of a mutex does: there may be any number of them, and each would have to enter a list, under the lock once
/// more.
///
///     runq::semaphore connections(10);
///     const auto held = co_await connections.scoped_acquire();
class semaphore {
 public:
  /// The most units that there can be.
  static constexpr std::int64_t max_units = (std::int64_t{1} << 61) - 1;
  using guard = detail::held_units;

  /// Throws runq::misuse unless 0 <= available <= max_units.
  explicit semaphore(std::int64_t available) : core_(checked(available, 0), max_units) {}
  semaphore(const semaphore&) = delete;
  semaphore& operator=(const semaphore&) = delete;

  /// `co_await s.acquire(n)` returns when the caller has n units, all at once. A stop request ends the wait: then it
  /// has none, and runq::cancelled is thrown. Throws runq::misuse unless 1 <= n <= max_units. Tasks only.
  [[nodiscard]] detail::units_awaiter acquire(std::int64_t n = 1) { return acquire(std::stop_token(), n); }
  [[nodiscard]] detail::units_awaiter acquire(std::stop_token stop, std::int64_t n = 1) {
    return {core_, checked(n, 1), wait_reason::semacquire, std::move(stop)};
  }
  /// `const auto held = co_await s.scoped_acquire(n);`: as acquire(n), but returns a guard, which gives the units back
  /// when it is destroyed.
  [[nodiscard]] detail::held_units_awaiter scoped_acquire(std::int64_t n = 1) {
    return scoped_acquire(std::stop_token(), n);
  }
  [[nodiscard]] detail::held_units_awaiter scoped_acquire(std::stop_token stop, std::int64_t n = 1) {
    return {core_, checked(n, 1), max_units, wait_reason::semacquire, std::move(stop)};
  }
  /// Takes n units if they are free and no other task waits, and returns whether it did. Throws as acquire(). Any
  /// thread.
  [[nodiscard]] bool try_acquire(std::int64_t n = 1) { return core_.try_acquire(checked(n, 1)); }
  /// How many units were free a moment ago: a hint for reports and for shedding load. A task that waits for more units
  /// than are free leaves them free; so units may be free although try_acquire() fails. Any thread. Wait-free.
  [[nodiscard]] std::int64_t available_approx() const noexcept { return core_.available_approx(); }
  /// Gives n units back, or adds them: waiting tasks go on as far as there are units for them. Throws runq::misuse
  /// unless 1 <= n, or when there would be more than max_units. Any thread.
  void release(std::int64_t n = 1) {
    if (!core_.release(checked(n, 1), max_units)) {
      detail::throw_misuse("runq: a semaphore has more than 2^61 - 1 units now: more were released than acquired");
    }
  }

 private:
  [[nodiscard]] static std::int64_t checked(std::int64_t n, std::int64_t least) {
    if (n < least || n > max_units) {
      detail::throw_misuse(least == 0 ? "runq: a semaphore begins with 0 to 2^61 - 1 units"
                                      : "runq: 1 to 2^61 - 1 units of a semaphore can be asked for, or released");
    }
    return n;
  }
  detail::semaphore_core<> core_;
};

}  // namespace runq
