// SPDX-License-Identifier: MIT
// outside_work: what a thread outside does for a task, which waits for it.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

#include "runq/scheduler.hpp"
#include "runq/wait_group.hpp"

namespace runq::detail {

/// Shared by the task and the thread outside. The work may use variables of the task: so if the run ends and destroys
/// the task, work that has begun is waited for, and work that has not never begins.
class outside_work {
 public:
  /// Tasks only; throws runq::misuse otherwise.
  outside_work() : home_(std::in_place, this_task::handle()) { over_.add(1); }
  outside_work(const outside_work&) = delete;
  outside_work& operator=(const outside_work&) = delete;

  /// For the task, which waits until the work is over.
  [[nodiscard]] wait_group& over() noexcept { return over_; }

  /// Called before the work. False: the task is gone, and the work must not begin, nor end() be called.
  [[nodiscard]] bool begin() {
    const std::lock_guard lock(mutex_);
    if (now_ == phase::given_up) return false;
    now_ = phase::begun;
    return true;
  }
  /// Called after the work, which has left its result. The caller keeps this object until it returns. The task may go
  /// on before that.
  void end() {
    {
      const std::lock_guard lock(mutex_);
      now_ = phase::over;
      changed_.notify_all();
    }
    over_.done();
  }
  /// Calls f() if the work is not over. The work does not end before f has returned. Any thread.
  template <class F>
  void unless_over(F&& f) {
    const std::lock_guard lock(mutex_);
    if (now_ != phase::over) f();
  }
  /// Called when the task goes on or is destroyed. Blocks the calling thread as long as the work goes on.
  void give_up() noexcept {
    {
      std::unique_lock lock(mutex_);
      if (now_ == phase::waits) now_ = phase::given_up;
      changed_.wait(lock, [this] { return now_ == phase::over || now_ == phase::given_up; });
      if (now_ == phase::over) return;
    }
    // The thread outside does not wake the task any more, so it keeps no other tasks from being a deadlock.
    home_.reset();
  }

 private:
  enum class phase : std::uint8_t { waits, begun, over, given_up };
  std::optional<scheduler::handle> home_;  // keeps the waiting task from being reported as a deadlock
  wait_group over_;
  std::mutex mutex_;
  std::condition_variable changed_;
  phase now_ = phase::waits;  // under mutex_
};

/// Lies in the frame of the coroutine that waits, and gives the work up when that frame is destroyed.
template <class Work>
class gives_up {
 public:
  explicit gives_up(Work& what) noexcept : what_(what) {}
  gives_up(const gives_up&) = delete;
  gives_up& operator=(const gives_up&) = delete;
  ~gives_up() { what_.give_up(); }

 private:
  Work& what_;
};

/// The values that the work has left, as one: nothing, the value, or a tuple.
template <class... V>
struct as_one_value {
  using type = std::tuple<V...>;
};
template <class V>
struct as_one_value<V> {
  using type = V;
};
template <>
struct as_one_value<> {
  using type = void;
};

/// Moves the result out, because the thread outside may be the last to give up what holds `out`.
template <class R>
[[nodiscard]] R result_of(outcome<R>& out) {
  if (out.error) std::rethrow_exception(std::exchange(out.error, nullptr));
  if constexpr (!std::is_void_v<R>) return std::move(*out.value);
}

}  // namespace runq::detail
