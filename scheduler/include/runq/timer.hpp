// SPDX-License-Identifier: MIT
// timer: sleeping, and channels that deliver the time. All times are of the monotonic clock.
//
// Source: Go's time.Sleep, Timer and Ticker with the rules of Go 1.23: after stop() or reset() nothing stale is
// received.
#pragma once

#include <chrono>
#include <coroutine>
#include <memory>
#include <optional>
#include <stop_token>
#include <utility>

#include "runq/channel.hpp"
#include "runq/detail/strand.hpp"
#include "runq/detail/timers.hpp"
#include "runq/protocol/suspension.hpp"
#include "runq/select.hpp"
#include "runq/task.hpp"

namespace runq {

using clock = std::chrono::steady_clock;

namespace detail {

class [[nodiscard]] sleep_awaiter {
 public:
  explicit sleep_awaiter(instant when) noexcept { node_.when = when; }
  sleep_awaiter(const sleep_awaiter&) = delete;
  sleep_awaiter& operator=(const sleep_awaiter&) = delete;
  ~sleep_awaiter();
  [[nodiscard]] bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> self, source_place at = source_place::here());
  void await_resume() noexcept { node_.forget_heap(); }
  /// For with_timeout(): makes the awaiter of the same sleep with a token.
  [[nodiscard]] auto stoppable() && noexcept;

 private:
  struct sleeper : timer_node {
    strand* who = nullptr;
  };
  sleeper node_;
};

/// A sleep that a stop request may end: the timer and the request claim the task.
class [[nodiscard]] stoppable_sleep_awaiter {
 public:
  stoppable_sleep_awaiter(instant when, std::stop_token stop) noexcept : stop_(std::move(stop)) { node_.when = when; }
  stoppable_sleep_awaiter(const stoppable_sleep_awaiter&) = delete;
  stoppable_sleep_awaiter& operator=(const stoppable_sleep_awaiter&) = delete;
  ~stoppable_sleep_awaiter() { end(); }
  [[nodiscard]] bool await_ready() const {
    if (stop_.stop_requested()) throw cancelled();
    return false;
  }
  [[nodiscard]] bool await_suspend(std::coroutine_handle<> self, source_place at = source_place::here());
  void await_resume() {
    end();
    if (node_.who != nullptr && node_.wait.arm() == by_request) throw cancelled();
  }

 private:
  static constexpr std::uint32_t by_timer = 0;
  static constexpr std::uint32_t by_request = 1;
  struct sleeper : timer_node {
    strand* who = nullptr;  // null while it does not sleep
    suspension<policy> wait;
  };
  struct call_back {
    stoppable_sleep_awaiter* self;
    void operator()() const {
      if (self->node_.wait.claim(by_request) == claim_result::must_wake) ready(*self->node_.who);
    }
  };
  // Ends the sleep: afterwards no other thread touches it.
  void end() noexcept {
    stop_wait_.end();
    (void)timer_heap::withdraw(node_);
  }

  sleeper node_;
  std::stop_token stop_;
  stoppable_wait<call_back> stop_wait_;
};

inline auto sleep_awaiter::stoppable() && noexcept {
  return [when = node_.when](std::stop_token stop) { return stoppable_sleep_awaiter(when, std::move(stop)); };
}

[[nodiscard]] inline instant instant_of(clock::time_point t) noexcept {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(t.time_since_epoch()).count();
}

}  // namespace detail

/// `co_await sleep_for(d)` returns after at least d. If d <= 0 it does not wait, but lets the other tasks run first, as
/// yield() does. Tasks only.
///
///     co_await runq::sleep_for(std::chrono::milliseconds(10));
[[nodiscard]] inline detail::sleep_awaiter sleep_for(std::chrono::nanoseconds d) noexcept {
  return detail::sleep_awaiter(detail::in(d));
}
/// `co_await sleep_until(t)` returns at t or later. Tasks only.
[[nodiscard]] inline detail::sleep_awaiter sleep_until(clock::time_point t) noexcept {
  return detail::sleep_awaiter(detail::instant_of(t));
}

/// Like sleep_for(d), but a stop request ends the sleep, and runq::cancelled is thrown.
[[nodiscard]] inline detail::stoppable_sleep_awaiter sleep_for(std::chrono::nanoseconds d,
                                                               std::stop_token stop) noexcept {
  return {detail::in(d), std::move(stop)};
}
[[nodiscard]] inline detail::stoppable_sleep_awaiter sleep_until(clock::time_point t, std::stop_token stop) noexcept {
  return {detail::instant_of(t), std::move(stop)};
}

/// Sends the time to its channel once, or periodically. The channel has room for one value: a task that receives late
/// misses ticks. Stops when it is destroyed. start(), stop() and reset() are called by tasks, one at a time.
///
/// Movable, also while it runs: the channel keeps its address, so tasks that wait for it and arms of a select() go on.
/// Assigning to a timer destroys the one that was there. A timer that was moved from may be destroyed and assigned to;
/// everything else throws runq::misuse.
///
///     runq::timer timeout(std::chrono::seconds(1));
///     const auto when = co_await timeout.channel().receive();
class timer {
 public:
  /// A timer that is stopped. Throws std::bad_alloc.
  timer();
  /// A timer that is started as by start(). Throws std::bad_alloc; runq::misuse outside a task.
  explicit timer(std::chrono::nanoseconds d, std::chrono::nanoseconds period = {}) : timer() { start(d, period); }
  timer(timer&&) noexcept = default;
  timer& operator=(timer&&) noexcept;
  ~timer();

  /// Fires once after `d`; if `period` is more than 0, then again every `period`. Stops the timer first, if it was
  /// started before. Throws std::bad_alloc; runq::misuse outside a task.
  void start(std::chrono::nanoseconds d, std::chrono::nanoseconds period = {});
  /// Stops the timer: nothing is received any more, not even a time that was sent already. Returns true if it was still
  /// to fire, or its time had been sent and not received.
  bool stop();
  /// Starts the timer again, as start() does, and returns what stop() would have returned.
  bool reset(std::chrono::nanoseconds d, std::chrono::nanoseconds period = {});

  /// The channel of this timer, until the timer is destroyed or assigned to, wherever it has been moved to.
  [[nodiscard]] runq::channel<clock::time_point>& channel() { return of().ticks; }

 private:
  // What must not move while it is in a heap, or while tasks wait for it.
  struct state : detail::timer_node {
    state();
    state(const state&) = delete;
    state& operator=(const state&) = delete;
    ~state() { (void)detail::timer_heap::withdraw(*this); }
    runq::channel<clock::time_point> ticks{1};
    detail::instant period = 0;
  };
  [[nodiscard]] state& of() {
    if (!state_) detail::throw_misuse("runq: a timer was used after it was moved from; assign another one to it first");
    return *state_;
  }
  std::unique_ptr<state> state_;  // null: it was moved from
};

/// A timer that sends the time once, after `d`: for an arm that limits how long a select() waits. (Go's time.After
/// returns only the channel. Here the timer must live as long as a task waits for it; a temporary lives until the
/// co_await is over.) Throws runq::misuse outside a task.
///
///     std::optional<runq::clock::time_point> late;
///     co_await runq::select(runq::on_receive(answers, first_answer), runq::on_receive(runq::after(1s).channel(),
///     late));
[[nodiscard]] inline timer after(std::chrono::nanoseconds d) { return timer(d); }

/// Sends the time to its channel every `period`, the first time after one period. The channel has room for one value: a
/// task that receives late misses ticks, and the next tick comes at its usual time. Stops when it is destroyed;
/// movable, as a timer is. Tasks only, one at a time.
///
///     runq::ticker every_second(std::chrono::seconds(1));
///     for (;;) show(co_await every_second.channel().receive());
class ticker {
 public:
  /// Throws runq::misuse when period <= 0, with Go's words, and outside a task.
  explicit ticker(std::chrono::nanoseconds period) { start(period, "non-positive interval for NewTicker"); }

  /// No tick is received any more, not even one that was sent already.
  void stop() { (void)timer_.stop(); }
  /// Ticks every `period` from now on; no tick from before is received any more. Throws what the constructor throws.
  void reset(std::chrono::nanoseconds period) { start(period, "non-positive interval for Ticker.Reset"); }

  /// The channel of this ticker: see timer::channel().
  [[nodiscard]] runq::channel<clock::time_point>& channel() { return timer_.channel(); }

 private:
  void start(std::chrono::nanoseconds period, const char* otherwise) {
    if (period.count() <= 0) detail::throw_misuse(otherwise);
    timer_.start(period, period);
  }

  timer timer_;
};

}  // namespace runq
