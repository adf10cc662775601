// SPDX-License-Identifier: MIT
// rate_limiter: so many permits per time, which tasks wait for and use up.
//
// Source: golang.org/x/time/rate, but waiting tasks stand in a line: one that gives up costs those behind it nothing.
// The arithmetic is detail/token_bucket.hpp; the line is a mutex: models/cases/scheduler/mutex/.
#pragma once

#include <chrono>
#include <coroutine>
#include <cstdint>
#include <mutex>
#include <optional>
#include <stop_token>
#include <utility>

#include "runq/detail/token_bucket.hpp"
#include "runq/mutex.hpp"
#include "runq/source_place.hpp"
#include "runq/task.hpp"
#include "runq/timer.hpp"

namespace runq {

class rate_limiter;

namespace detail {

/// What rate_limiter::acquire() returns; it is awaited once. It starts a coroutine only if it has to wait.
class [[nodiscard]] permits_awaiter {
 public:
  permits_awaiter(rate_limiter& of, std::int64_t n, std::stop_token stop) noexcept
      : of_(of), n_(n), stop_(std::move(stop)) {}
  permits_awaiter(const permits_awaiter&) = delete;
  permits_awaiter& operator=(const permits_awaiter&) = delete;

  [[nodiscard]] bool await_ready();
  template <class Promise>
  [[nodiscard]] std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> self,
                                                      source_place at = source_place::here());
  void await_resume() {
    if (rest_) rest_->operator co_await().await_resume();
  }
  /// For with_timeout(): makes the awaiter of the same wait with a token. Throws runq::misuse if it has one.
  [[nodiscard]] auto stoppable() &&;

 private:
  rate_limiter& of_;
  std::int64_t n_;
  std::stop_token stop_;
  std::optional<task<>> rest_;  // the coroutine that waits
};

}  // namespace detail

/// Gives one permit every `interval`, and saves up to `burst` of them while nobody wants any; at first it has all of
/// these. From any time to any later one it gives at most burst + (time between) / interval permits. First come, first
/// served: while a task waits for many permits, no other task overtakes it. A task that gives up has taken nothing.
///
/// Tasks that wait for it when their run ends are destroyed, and the limiter, if it still exists, forgets them. Before
/// that it must outlive the waits for it.
///
///     runq::rate_limiter requests(10ms, 5);  // 100 a second, 5 of them at once
///     for (int i = 0; i != 1000; ++i) {
///       co_await requests.acquire();
///       runq::go(work(i));
///     }
class rate_limiter {
 public:
  /// The longest that `burst` permits may take: burst * interval is at most this, 100 years.
  static constexpr std::chrono::nanoseconds max_time_to_fill{detail::token_bucket::longest};

  /// Throws runq::misuse unless interval >= 1 ns, burst >= 1 and burst * interval <= max_time_to_fill.
  rate_limiter(std::chrono::nanoseconds interval, std::int64_t burst)
      : bucket_(checked(interval.count(), burst), burst) {}
  rate_limiter(const rate_limiter&) = delete;
  rate_limiter& operator=(const rate_limiter&) = delete;

  /// `co_await l.acquire(n)` returns when it is the caller's turn and there are n permits, which it uses up. A stop
  /// request that comes before or while it waits ends the wait: then it has used none, and runq::cancelled is thrown.
  /// Throws runq::misuse unless 1 <= n <= burst: more are never there. Tasks only.
  [[nodiscard]] detail::permits_awaiter acquire(std::int64_t n = 1) { return acquire(std::stop_token(), n); }
  [[nodiscard]] detail::permits_awaiter acquire(std::stop_token stop, std::int64_t n = 1) {
    return {*this, checked(n), std::move(stop)};
  }
  /// Uses up n permits if they are there and no task waits, and returns whether it did. Throws as acquire(). Any
  /// thread.
  [[nodiscard]] bool try_acquire(std::int64_t n = 1) {
    checked(n);
    const std::lock_guard guard(one_tries_);
    if (!turn_.try_lock()) return false;
    const detail::instant now = detail::now();
    const bool there = bucket_.ready_at(n) <= now;
    if (there) bucket_.take(n, now);
    turn_.unlock();
    return there;
  }

 private:
  friend detail::permits_awaiter;
  [[nodiscard]] static detail::instant checked(detail::instant interval, std::int64_t burst) {
    if (interval < 1 || burst < 1 || burst > detail::token_bucket::longest / interval) {
      detail::throw_misuse(
          "runq: a rate limiter has an interval of 1 ns or more and a burst of 1 or more, and the "
          "burst takes at most 100 years");
    }
    return interval;
  }
  std::int64_t checked(std::int64_t n) const {
    if (n < 1 || n > bucket_.burst()) {
      detail::throw_misuse("runq: 1 permit of a rate limiter can be asked for, or more, up to its burst");
    }
    return n;
  }
  [[nodiscard]] task<> acquire_in_turn(std::int64_t n, std::stop_token stop, source_place at) {
    // At the end of a run the guard notices that the limiter is gone. Nothing else here needs it then.
    const auto mine = co_await detail::placed(turn_.scoped_lock(stop), at);
    const detail::instant when = bucket_.ready_at(n);
    if (when > detail::now()) co_await detail::placed(detail::stoppable_sleep_awaiter(when, std::move(stop)), at);
    bucket_.take(n, detail::now());
  }

  // The task whose turn it is has turn_ until its permits are there; the others wait for turn_. try_acquire() has it
  // for a moment. one_tries_ is there so that one try_acquire() does not fail because of another.
  detail::task_waiting::atomics::mutex one_tries_;
  mutex turn_;
  detail::token_bucket bucket_;  // under turn_
};

namespace detail {

inline bool permits_awaiter::await_ready() {
  if (stop_.stop_requested()) throw cancelled();
  return !time_slice_over() && of_.try_acquire(n_);
}

template <class Promise>
std::coroutine_handle<> permits_awaiter::await_suspend(std::coroutine_handle<Promise> self, source_place at) {
  rest_.emplace(of_.acquire_in_turn(n_, std::move(stop_), at));
  return rest_->operator co_await().await_suspend(self);
}

inline auto permits_awaiter::stoppable() && {
  must_have_no_token(stop_);
  return [&of = of_, n = n_](std::stop_token stop) { return permits_awaiter(of, n, std::move(stop)); };
}

}  // namespace detail
}  // namespace runq
