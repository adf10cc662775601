// SPDX-License-Identifier: MIT
// after_func: a function that runs as a task after some time, unless it is stopped before.
//
// Source: Go's time.AfterFunc. It is made of a timer and a task that waits for the timer's channel. So the lock of the
// channel decides whether stop() comes first: models/cases/scheduler/timer_heap/ and models/cases/scheduler/channel/.
#pragma once

#include <chrono>
#include <concepts>
#include <functional>
#include <memory>
#include <type_traits>
#include <utility>

#include "runq/scheduler.hpp"
#include "runq/source_place.hpp"
#include "runq/task.hpp"
#include "runq/timer.hpp"

namespace runq {

namespace detail {

/// Calls `f` when `due` fires. Ends without a call when the channel of `due` is closed. Dumps say that it waits at
/// `at`.
template <class F>
task<> call_when_due(std::shared_ptr<F> f, std::shared_ptr<timer> due, source_place at) {
  const auto fired = co_await placed(due->channel().receive(), at);
  if (!fired) co_return;
  if constexpr (is_task<std::invoke_result_t<F&>>::value) {
    auto called = std::invoke(*f);
    static_cast<void>(co_await called);
  } else {
    static_cast<void>(std::invoke(*f));
  }
}

template <class F>
void start_call_when_due(const std::shared_ptr<void>& f, const std::shared_ptr<timer>& due, const char* name,
                         source_place at) {
  go(call_when_due<F>(std::static_pointer_cast<F>(f), due, at), name);
}

}  // namespace detail

class delayed_task;
template <class F>
delayed_task after_func(std::chrono::nanoseconds d, F&& f, const char* name = nullptr,
                        source_place at = source_place::here());

/// What after_func() returns. Its destructor and an assignment to it do what stop() does. Movable, not copyable; one
/// task at a time uses it. A handle that was default-constructed or moved from has no function: its stop() returns
/// false.
class [[nodiscard]] delayed_task {
 public:
  delayed_task() noexcept = default;
  delayed_task(delayed_task&&) noexcept = default;
  delayed_task& operator=(delayed_task&& other) noexcept {
    delayed_task moved(std::move(other));
    std::swap(f_, moved.f_);
    std::swap(due_, moved.due_);
    std::swap(start_, moved.start_);
    std::swap(name_, moved.name_);
    std::swap(at_, moved.at_);
    return *this;
  }
  ~delayed_task() { (void)stop(); }

  /// Returns true if the function would have been called, and now is not. Returns false if there is nothing to stop:
  /// the function's time has come, even if its task has not called it yet; or it was stopped before; or its run is
  /// over. It does not wait for a call that has begun. May be called after the run, and in the function itself.
  bool stop() {
    if (!due_) return false;
    const bool in_time = stop_timer();
    due_->channel().close();  // the task that waits for it ends
    due_.reset();
    return in_time;
  }
  /// Lets the function be called after `d`, as after_func(d, f) does, and no longer at the time that was set before.
  /// Returns what stop() would have returned. After false an earlier call may still go on, on another thread, too.
  /// Throws std::bad_alloc, after which the function may be stopped; runq::misuse outside a task, and without a
  /// function. Tasks only.
  bool reset(std::chrono::nanoseconds d) {
    if (!f_) detail::throw_misuse("runq: reset() of a delayed_task without a function; after_func() makes one with it");
    if (!this_task::running()) detail::throw_misuse("runq: a function was to be called later, but by no task");
    const bool put_off = due_ && stop_timer();
    if (!put_off) {
      auto due = std::make_shared<timer>();
      start_(f_, due, name_, at_);
      due_ = std::move(due);
    }
    due_->start(d);
    return put_off;
  }

 private:
  using start_function = void (*)(const std::shared_ptr<void>&, const std::shared_ptr<timer>&, const char*,
                                  source_place);
  template <class F>
  friend delayed_task after_func(std::chrono::nanoseconds d, F&& f, const char* name, source_place at);

  delayed_task(std::shared_ptr<void> f, start_function start, const char* name, source_place at) noexcept
      : f_(std::move(f)), start_(start), name_(name), at_(at) {}

  // Returns whether a task still waits for it. The end of the run destroys the task and lets the timer run.
  bool stop_timer() { return due_->stop() && due_.use_count() != 1; }

  std::shared_ptr<void> f_;     // owned by the tasks that call it, too
  std::shared_ptr<timer> due_;  // null: stopped. The one task that waits for it owns it, too
  start_function start_ = nullptr;
  const char* name_ = nullptr;
  source_place at_;
};

/// Calls `f` in a task of its own after at least `d`, and returns a handle, which can stop that or change the time. `f`
/// is a function without parameters, which may return a task; it is moved (or copied) and lives as long as the handle
/// or a call of it. A handle that is destroyed stops it: for a function that nobody stops write a task that begins with
/// a sleep_for(). `name`, a literal or nullptr, and `at` are for dumps. An exception that leaves `f` ends the process,
/// as with go(). A task waits for the time; when the run ends before, the task is destroyed, and `f` is not called.
///
/// Throws std::bad_alloc; runq::misuse outside a task. Tasks only.
///
///     auto watchdog = runq::after_func(5s, [] { std::puts("no number for 5 s"); });
///     while (auto n = co_await numbers.receive()) watchdog.reset(5s);
template <class F>
delayed_task after_func(std::chrono::nanoseconds d, F&& f, const char* name, source_place at) {
  using function = std::decay_t<F>;
  static_assert(std::invocable<function&>, "runq: after_func: f must be callable without arguments, and again");
  delayed_task later(std::make_shared<function>(std::forward<F>(f)), detail::start_call_when_due<function>, name, at);
  (void)later.reset(d);
  return later;
}

}  // namespace runq
