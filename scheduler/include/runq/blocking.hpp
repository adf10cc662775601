// SPDX-License-Identifier: MIT
// blocking: how a task makes a call that blocks its thread, and the other tasks go on.
//
// Source: entersyscall and exitsyscall of Go's scheduler (runtime/proc.go).
#pragma once

#include <coroutine>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <type_traits>
#include <utility>

#include "runq/detail/inside.hpp"
#include "runq/detail/temporaries.hpp"
#include "runq/semaphore.hpp"
#include "runq/task.hpp"

namespace runq {

namespace detail {

struct machine;
struct processor;

/// A blocking call in progress: only the library looks into it.
struct blocked_call {
  machine* m;
  processor* p;          // that the machine had when the call began
  std::uint64_t ticket;  // of `p`: see runq::handoff
  bool has_unit;         // from the beginning
  strand* caller;
  std::int64_t begun;  // when the call began, in ns of the monotonic clock, if there is a tracer
};

/// Whether a call may begin at once. If not, its task takes one of call_units() first.
[[nodiscard]] bool call_may_begin(const core& home) noexcept;
[[nodiscard]] semaphore_core<>& call_units(core& home) noexcept;
/// The calling task begins a call. `has_unit`: of call_units(), which the end of the call gives back.
[[nodiscard]] blocked_call enter_call(core& home, bool has_unit = false) noexcept;
/// True: the machine has a processor and goes on with the task. False: it has none, and the caller must queue the task.
[[nodiscard]] bool leave_call(core& home, const blocked_call& call) noexcept;
/// For code that cannot suspend: blocks the thread until it has a processor.
void leave_call_waiting(core& home, const blocked_call& call);
/// The task of `call` goes on at `self` when a processor takes it from the global queue.
void queue_after_call(core& home, const blocked_call& call, std::coroutine_handle<> self);

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
    if (processor_front* const p = this_front()) return preempt_if_slice_is_over(*p, self);
    queue_after_call(*home_, call_, self);
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
    home_ = &own_front().home;
    if (!call_may_begin(*home_)) {
      turn_ = std::make_unique<units_awaiter>(call_units(*home_), 1, wait_reason::blocking_call, stop);
      return false;
    }
    call_ = enter_call(*home_);
    invoke();
    return leave_call(*home_, call_) && !time_slice_over();
  }

 private:
  // The task has its turn. It cannot be suspended any more, so it waits for a processor as a blocking_section does.
  void call_in_turn() {
    turn_->await_resume();
    call_ = enter_call(*home_, true);
    invoke();
    leave_call_waiting(*home_, call_);
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
  blocked_call call_{};
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
  ~blocking_section() { detail::leave_call_waiting(home_, call_); }

 private:
  detail::core& home_;
  detail::blocked_call call_;
};

}  // namespace runq
