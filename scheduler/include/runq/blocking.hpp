// SPDX-License-Identifier: MIT
// blocking: calls that block their thread, made by tasks without holding up the others.
//
// Source: entersyscall and exitsyscall of Go's scheduler (runtime/proc.go).
#pragma once

#include <coroutine>
#include <exception>
#include <functional>
#include <optional>
#include <type_traits>
#include <utility>

#include "runq/detail/core.hpp"
#include "runq/detail/temporaries.hpp"
#include "runq/task.hpp"

namespace runq {

namespace detail {

template <class F>
class [[nodiscard]] blocking_awaiter {
  using result = std::invoke_result_t<F&>;
  static_assert(!std::is_reference_v<result>, "runq::blocking: the function must return a value, not a reference");
  static constexpr bool has_result = !std::is_void_v<result>;

 public:
  explicit blocking_awaiter(F&& f) : f_(std::move(f)) {}

  [[nodiscard]] bool await_ready() {
    processor* const p = this_processor();
    if (p == nullptr) throw_no_task();
    home_ = &p->home;
    call_ = home_->enter_call();
    try {
      if constexpr (has_result) {
        result_.emplace(std::invoke(f_));
      } else {
        std::invoke(f_);
      }
    } catch (...) {
      error_ = std::current_exception();
    }
    return home_->leave_call(call_) && !time_slice_over();
  }
  [[nodiscard]] bool await_suspend(std::coroutine_handle<> self) {
    if (processor* const p = this_processor()) return give_way(*p, self);
    home_->queue_after_call(call_, self);
    return true;
  }
  result await_resume() {
    if (error_) std::rethrow_exception(error_);
    if constexpr (has_result) return std::move(*result_);
  }

 private:
  struct nothing {};
  F f_;
  core* home_ = nullptr;
  core::blocked_call call_{};
  std::optional<std::conditional_t<has_result, result, nothing>> result_;
  std::exception_ptr error_;
};

}  // namespace detail

/// `co_await blocking(f)` calls f() on the task's thread and returns its result, or throws its exception. If the call
/// takes long, the processor goes on with other tasks on another thread; a short one costs about as much more as
/// locking a mutex. f() may block, but must not use this library. Throws runq::misuse outside a task.
///
///     const pid_t pid = co_await runq::blocking([] { return getpid(); });
///
/// g++ up to 12 destroys a lambda twice when it is a temporary beside a co_await (docs/limits.md). There one whose
/// captures have destructors does not compile: capture by reference, which is enough as the task waits for the call; or
/// give the lambda a name, and pass that or std::ref() of it.
template <class F>
[[nodiscard]] detail::blocking_awaiter<std::decay_t<F>> blocking(F&& f) {
  static_assert(!detail::destroyed_twice<F>,
                "g++ up to 12 would destroy this function object twice: capture by reference, as in "
                "co_await runq::blocking([&] {...}); or give it a name f first, and pass f or std::ref(f)");
  return detail::blocking_awaiter<std::decay_t<F>>(std::decay_t<F>(std::forward<F>(f)));
}

/// The same for a stretch of plain code, which cannot be suspended: as long as one exists, its thread may block, and
/// must not use this library. At its end the thread waits until it has a processor again. Throws runq::misuse outside a
/// task.
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
