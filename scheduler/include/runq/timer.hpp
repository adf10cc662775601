// SPDX-License-Identifier: MIT
// timer: sleeping, and channels that deliver the time. All by the monotonic clock.
//
// Source: Go's time.Sleep, Timer and Ticker with the rules of Go 1.23: after stop() or reset() nothing stale is
// received.
#pragma once

#include <chrono>
#include <coroutine>
#include <optional>

#include "runq/channel.hpp"
#include "runq/detail/core.hpp"
#include "runq/select.hpp"

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
  void await_suspend(std::coroutine_handle<> self);
  void await_resume() noexcept { node_.heap = nullptr; }

 private:
  struct sleeper : timer_node {
    goroutine* who = nullptr;
  };
  sleeper node_;
};

[[nodiscard]] inline instant instant_of(clock::time_point t) noexcept {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(t.time_since_epoch()).count();
}

}  // namespace detail

/// `co_await sleep_for(d)` returns after at least d; without a wait, but after a turn of the others, if d <= 0. Tasks
/// only.
///
///     co_await runq::sleep_for(std::chrono::milliseconds(10));
[[nodiscard]] inline detail::sleep_awaiter sleep_for(std::chrono::nanoseconds d) noexcept {
  return detail::sleep_awaiter(detail::in(d));
}
/// `co_await sleep_until(t)` returns at t or later. Tasks only.
[[nodiscard]] inline detail::sleep_awaiter sleep_until(clock::time_point t) noexcept {
  return detail::sleep_awaiter(detail::instant_of(t));
}

/// Sends the time to its channel once, or again and again. The channel has room for one value: who receives late misses
/// ticks. Not movable; stops when it is destroyed. start(), stop() and reset() are called by tasks, one at a time.
///
///     runq::timer timeout(std::chrono::seconds(1));
///     const auto when = co_await timeout.channel().receive();
class timer {
 public:
  /// One that is stopped. Throws std::bad_alloc.
  timer();
  /// As start(). Throws std::bad_alloc; runq::misuse outside a task.
  explicit timer(std::chrono::nanoseconds d, std::chrono::nanoseconds period = {}) : timer() { start(d, period); }
  timer(const timer&) = delete;
  timer& operator=(const timer&) = delete;
  ~timer() { (void)stop(); }

  /// Fires once after `d`, or first after `d` and then every `period`, if that is more than 0. Stops what it was doing
  /// before. Throws runq::misuse outside a task.
  void start(std::chrono::nanoseconds d, std::chrono::nanoseconds period = {});
  /// Nothing is received any more, not even what was sent already. Returns whether it was still to fire.
  bool stop();
  /// As start(), and returns what stop() would.
  bool reset(std::chrono::nanoseconds d, std::chrono::nanoseconds period = {});

  [[nodiscard]] runq::channel<clock::time_point>& channel() noexcept { return channel_; }

 private:
  struct node : detail::timer_node {
    timer* owner = nullptr;
    detail::instant period = 0;
  };
  runq::channel<clock::time_point> channel_{1};
  node node_;
};

/// A timer that sends the time once, after `d`: for an arm of a select() that is not to wait for longer. (Go's
/// time.After returns only the channel; here the timer must live as long as somebody waits for it, which a temporary
/// does until the co_await is over.) Throws runq::misuse outside a task.
///
///     std::optional<runq::clock::time_point> late;
///     co_await runq::select(runq::on_receive(answers, first_answer), runq::on_receive(runq::after(1s).channel(),
///     late));
[[nodiscard]] inline timer after(std::chrono::nanoseconds d) { return timer(d); }

/// Sends the time to its channel every `period`, first after one. The channel has room for one value: who receives
/// late misses ticks, and the next one comes in the old rhythm. Not movable; stops when it is destroyed. For tasks, one
/// at a time.
///
///     runq::ticker every_second(std::chrono::seconds(1));
///     for (;;) show(co_await every_second.channel().receive());
class ticker {
 public:
  /// Throws runq::misuse when period <= 0, with Go's words, and outside a task.
  explicit ticker(std::chrono::nanoseconds period) { start(period, "non-positive interval for NewTicker"); }

  /// No tick is received any more, not even one that was sent already.
  void stop() { (void)timer_.stop(); }
  /// From now on every `period`; nothing of the old rhythm is received any more. Throws as the constructor does.
  void reset(std::chrono::nanoseconds period) { start(period, "non-positive interval for Ticker.Reset"); }

  [[nodiscard]] runq::channel<clock::time_point>& channel() noexcept { return timer_.channel(); }

 private:
  void start(std::chrono::nanoseconds period, const char* otherwise) {
    if (period.count() <= 0) detail::throw_misuse(otherwise);
    timer_.start(period, period);
  }

  timer timer_;
};

}  // namespace runq
