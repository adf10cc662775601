// SPDX-License-Identifier: MIT
// blocking: how a task makes a call that blocks its thread, and the other tasks go on.
//
// Source: entersyscall and exitsyscall of Go's scheduler (runtime/proc.go).
#pragma once

#include <coroutine>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <type_traits>
#include <utility>

#include "runq/detail/core.hpp"
#include "runq/detail/temporaries.hpp"
#include "runq/semaphore.hpp"
#include "runq/task.hpp"

namespace runq {

namespace detail {

/// Limits how many blocking calls are without a processor at the same time, and holds the tasks that wait for their
/// turn. A call takes a unit only when its processor is taken away, so a short call pays nothing. Therefore one call
/// more for each processor is possible: a call that still had its processor when the last unit was taken.
struct call_limit {
  explicit call_limit(unsigned most) : units(most, most) {}
  semaphore_core<> units;
};

template <class F>
class [[nodiscard]] blocking_awaiter {
  using result = std::invoke_result_t<F&>;
  static_assert(!std::is_reference_v<result>, "runq::blocking: the function must return a value, not a reference");
  static constexpr bool has_result = !std::is_void_v<result>;

 public:
  explicit blocking_awaiter(F&& f) : f_(std::move(f)) {}

  [[nodiscard]] bool await_ready() { return begin({}); }
  [[nodiscard]] bool await_suspend(std::coroutine_handle<> self, source_place at = source_place::here()) {
    if (turn_ != nullptr) return turn_->await_suspend(self, at);
    if (processor* const p = this_processor()) return preempt_if_slice_is_over(*p, self);
    home_->queue_after_call(call_, self);
    return true;
  }
  result await_resume() {
    if (turn_ != nullptr) call_in_turn();
    if (error_) std::rethrow_exception(error_);
    if constexpr (has_result) return std::move(*result_);
  }

 protected:
  // Makes the call; or, if there are too many calls, prepares to wait for a turn. Returns whether the task goes on at
  // once.
  [[nodiscard]] bool begin(const std::stop_token& stop) {
    home_ = &own_processor().home;
    if (!home_->call_may_begin()) {
      turn_ = std::make_unique<units_awaiter>(home_->limit().units, 1, wait_reason::blocking_call, stop);
      return false;
    }
    call_ = home_->enter_call();
    invoke();
    return home_->leave_call(call_) && !time_slice_over();
  }

 private:
  // The task has its turn. It cannot be suspended any more, so it waits for a processor as a blocking_section does.
  void call_in_turn() {
    turn_->await_resume();
    call_ = home_->enter_call(true);
    invoke();
    home_->leave_call_waiting(call_);
  }
  void invoke() noexcept {
    try {
      if constexpr (has_result) {
        result_.emplace(std::invoke(f_));
      } else {
        std::invoke(f_);
      }
    } catch (...) {
      error_ = std::current_exception();
    }
  }
  struct nothing {};
  F f_;
  core* home_ = nullptr;
  core::blocked_call call_{};
  std::optional<std::conditional_t<has_result, result, nothing>> result_;
  std::exception_ptr error_;
  std::unique_ptr<units_awaiter> turn_;  // when there were too many calls
};

template <class F>
class [[nodiscard]] stoppable_blocking_awaiter : public blocking_awaiter<F> {
 public:
  stoppable_blocking_awaiter(F&& f, std::stop_token stop) : blocking_awaiter<F>(std::move(f)), stop_(std::move(stop)) {}
  [[nodiscard]] bool await_ready() {
    if (stop_.stop_requested()) throw cancelled();
    return this->begin(stop_);
  }

 private:
  std::stop_token stop_;
};

}  // namespace detail

/// `co_await blocking(f)` calls f() on the task's thread and returns its result, or throws its exception. If the call
/// takes long, another thread takes the processor and runs other tasks. Around a short call it costs about as much as
/// locking a mutex. f() may block, but must not use this library. When options::max_blocking_calls calls are in
/// progress the task waits for its turn, first come, first served; then it keeps its thread until it has a processor
/// again. Throws runq::misuse outside a task.
///
///     const pid_t pid = co_await runq::blocking([] { return getpid(); });
///
/// g++ up to 12 destroys a lambda twice when it is a temporary beside a co_await (docs/limits.md). With these compilers
/// a lambda whose captures have destructors does not compile here. Capture by reference, which is safe because the task
/// waits for the call; or give the lambda a name, and pass it or std::ref() of it.
template <class F>
[[nodiscard]] detail::blocking_awaiter<std::decay_t<F>> blocking(F&& f) {
  static_assert(!detail::destroyed_twice<F>,
                "g++ up to 12 would destroy this function object twice: capture by reference, as in "
                "co_await runq::blocking([&] {...}); or give it a name f first, and pass f or std::ref(f)");
  return detail::blocking_awaiter<std::decay_t<F>>(std::decay_t<F>(std::forward<F>(f)));
}

/// Like blocking(f), but if a stop was requested, f() is not called, and runq::cancelled is thrown. A call that has
/// begun goes on.
template <class F>
[[nodiscard]] auto blocking(F&& f, std::stop_token stop) {
  static_assert(!detail::destroyed_twice<F>,
                "g++ up to 12 would destroy this function object twice: capture by reference, as in "
                "co_await runq::blocking([&] {...}, stop); or give it a name f first, and pass f or std::ref(f)");
  return detail::stoppable_blocking_awaiter<std::decay_t<F>>(std::decay_t<F>(std::forward<F>(f)), std::move(stop));
}

/// For plain code that blocks: as long as a blocking_section exists, its thread may block, and must not use this
/// library. Its destructor cannot suspend, so there the thread blocks until it gets a processor. It counts for
/// options::max_blocking_calls, but does not wait for its turn. Throws runq::misuse outside a task.
class [[nodiscard]] blocking_section {
 public:
  blocking_section();
  blocking_section(const blocking_section&) = delete;
  blocking_section& operator=(const blocking_section&) = delete;
  ~blocking_section() { home_.leave_call_waiting(call_); }

 private:
  detail::core& home_;
  detail::core::blocked_call call_;
};

}  // namespace runq
