// SPDX-License-Identifier: MIT
// spawn: starts a task whose result another task may ask for later. If none will, the task is asked to stop.
//
// Source of the interface: the tasks of smol (S. Glavina, async-task): dropping the handle of one asks it to stop. A
// wait group with a count of 1 hands the result over: models/cases/scheduler/wait_group/.
#pragma once

#include <concepts>
#include <coroutine>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <type_traits>
#include <utility>

#include "runq/scheduler.hpp"
#include "runq/source_place.hpp"
#include "runq/task.hpp"
#include "runq/wait_group.hpp"

namespace runq {

namespace detail {

/// A callable that takes a token, which tells it when to stop.
template <class F>
concept takes_stop_token = !is_task<F>::value && std::is_invocable_v<F&, const std::stop_token&>;

template <class F>
struct result_of_work : main_result<F> {};
template <takes_stop_token F>
struct result_of_work<F> {
  using called = std::invoke_result_t<F&, const std::stop_token&>;
  using type =
      typename std::conditional_t<is_task<called>::value, main_result<called>, std::type_identity<called>>::type;
};

/// The state that a spawned task and its handle share; it lives as long as one of them does. It is the task's closure.
template <class R>
struct spawn_state : spawned_closure {
  spawn_state(const processor_front& p, bool stoppable)
      : spawned_closure(*p.current),
        home(p.home),
        stop(stoppable ? std::stop_source() : std::stop_source(std::nostopstate)),
        token(stop.get_token()) {
    running.add(1);
    destroy = [](closure* self) noexcept { static_cast<spawn_state*>(self)->task_is_over(); };
  }
  [[nodiscard]] R take() {
    if (out.error) std::rethrow_exception(out.error);
    if constexpr (!std::is_void_v<R>) return std::move(*out.value);
  }
  const core& home;       // the scheduler of the task
  bool in_scope = false;  // a scope waits for the task, so the end of a run does not ask who awaits its handle
  outcome<R> out;         // the task writes it; after the task's end only the handle uses it
  bool ended = false;     // the task has come to its end, and was not destroyed before; used like `out`
  wait_group running;     // counts 1 until the task is over, and so hands `out` over
  std::stop_source stop;
  const std::stop_token token;           // for work that is a coroutine with a reference to it
  bool awaited = false;                  // only the handle uses it
  std::shared_ptr<spawn_state> of_task;  // the task shares it, until it is over

 private:
  // All that the task owns is destroyed.
  void task_is_over() noexcept {
    const std::shared_ptr<spawn_state> here = std::move(of_task);
    if (!ended) out.error = std::make_exception_ptr(run_ended());
    running.done();
  }
};

/// Returns `work` itself if it is a task; otherwise calls it, and returns its result.
template <class F, class R>
decltype(auto) begin_work(F& work, spawn_state<R>& home) {
  if constexpr (takes_stop_token<F>) {
    return std::invoke(work, std::as_const(home.token));
  } else if constexpr (is_task<F>::value) {
    return (work);
  } else {
    static_cast<void>(home);
    return std::invoke(work);
  }
}

/// Outside of a scope only the handle learns of a failure.
struct tells_nobody {
  void operator()(const std::exception_ptr&) const noexcept {}
};

/// Runs what spawn() was given. `failed` is told first of an exception.
template <class F, class R, class Failed>
task<void> spawned_body(spawn_state<R>& home, F f, Failed failed) {
  try {
    if constexpr (is_task<std::remove_cvref_t<decltype(begin_work(f, home))>>::value) {
      auto&& work = begin_work(f, home);
      if constexpr (std::is_void_v<R>) {
        co_await work;
      } else {
        home.out.value.emplace(co_await work);
      }
    } else if constexpr (std::is_void_v<R>) {
      begin_work(f, home);
    } else {
      home.out.value.emplace(begin_work(f, home));
    }
  } catch (...) {
    home.out.error = std::current_exception();
    failed(home.out.error);
  }
  home.ended = true;
}

template <class R, class Wait>
class [[nodiscard]] spawned_awaiter {
 public:
  template <class... Stop>
  explicit spawned_awaiter(spawn_state<R>& of, Stop&&... stop)
      : of_(of), wait_(of.running.wait(std::forward<Stop>(stop)...)) {}

  spawned_awaiter(const spawned_awaiter&) = delete;
  spawned_awaiter& operator=(const spawned_awaiter&) = delete;
  ~spawned_awaiter() {
    // The coroutine is destroyed while it waits, so the state is there. At the end of a run the spawned task may be
    // below it.
    if (tells_waiter_ && wait_.waits() && of_.first_strand == nullptr) of_.awaited_by = nullptr;
  }

  [[nodiscard]] bool await_ready() {
    if (of_.awaited) throw_misuse("runq: a spawned task was awaited twice");
    const bool ready = wait_.await_ready();
    of_.awaited = true;
    return ready;
  }
  template <class Promise>
  [[nodiscard]] bool await_suspend(std::coroutine_handle<Promise> self, source_place at = source_place::here()) {
    if constexpr (std::is_base_of_v<frame, Promise>) {
      // The end of a run destroys the spawned task first. A task of another scheduler has another run.
      if (&own_front().home == &of_.home && !of_.in_scope) {
        of_.awaited_by = &self.promise();
        tells_waiter_ = true;
      }
    }
    return wait_.await_suspend(self, at);
  }
  R await_resume() {
    // A task of another scheduler must not touch it: the run of the spawned task may end now.
    if (std::exchange(tells_waiter_, false)) of_.awaited_by = nullptr;
    try {
      wait_.await_resume();
    } catch (...) {
      of_.awaited = false;
      throw;
    }
    return of_.take();
  }

 private:
  spawn_state<R>& of_;
  Wait wait_;
  bool tells_waiter_ = false;
};
template <class R>
using spawned_wait = spawned_awaiter<R, decltype(std::declval<wait_group&>().wait())>;
template <class R>
using stoppable_spawned_wait = spawned_awaiter<R, decltype(std::declval<wait_group&>().wait(std::stop_token()))>;

/// Waits for the task after its handle has been dropped, so that an exception that leaves the task is not lost.
template <class R>
task<void> wait_detached(std::shared_ptr<spawn_state<R>> of, source_place at) {
  static_cast<void>(co_await placed(spawned_wait<R>(*of), at));
}

template <class F, class Failed, class Start>
[[nodiscard]] auto spawn_by(F&& f, Failed failed, Start&& start);

}  // namespace detail

template <class F>
[[nodiscard]] auto spawn(F&& f, const char* name = nullptr, source_place at = source_place::here());

/// The handle of a task that spawn() has started: `co_await handle` waits for the task's end and returns its result, or
/// throws its exception. A handle is awaited once, by any task that it was moved to. A handle that is destroyed without
/// being awaited asks the task to stop and does not wait; the task's result or exception is dropped. Move-only; one
/// task at a time may use a handle.
template <class R = void>
class [[nodiscard]] spawned {
 public:
  spawned() noexcept = default;
  spawned(spawned&& other) noexcept = default;
  spawned& operator=(spawned&& other) noexcept {
    spawned moved(std::move(other));
    state_.swap(moved.state_);
    return *this;
  }
  ~spawned() {
    if (state_ && !state_->awaited) state_->stop.request_stop();
  }

  /// Throws runq::misuse when the task was awaited before or detached, or the handle was moved from.
  [[nodiscard]] detail::spawned_wait<R> operator co_await() & { return detail::spawned_wait<R>(state()); }
  /// Only a handle with a name can be awaited: spawning a task and awaiting it at once is useless.
  void operator co_await() && = delete;
  /// `co_await h.wait(token)`: like h.wait(), but a stop request ends the wait, and runq::cancelled is thrown. The
  /// spawned task goes on, and may be awaited again.
  [[nodiscard]] detail::stoppable_spawned_wait<R> wait(std::stop_token stop) & {
    return detail::stoppable_spawned_wait<R>(state(), std::move(stop));
  }

  /// For with_timeout(d, h): the same wait with a token.
  [[nodiscard]] auto stoppable() & {
    return [&of = state()](std::stop_token stop) { return detail::stoppable_spawned_wait<R>(of, std::move(stop)); };
  }

  /// Whether the handle has a task: it was not moved from or detached.
  [[nodiscard]] bool valid() const noexcept { return state_ != nullptr; }
  /// Asks the task to stop, if it was given a token. Any thread. Throws as co_await.
  void request_stop() { state().stop.request_stop(); }

  /// Lets the task go on by itself, as one that go() has started: its result is dropped, and an exception ends the
  /// process. Tasks only. Throws std::bad_alloc, and as co_await.
  void detach(source_place at = source_place::here()) {
    if (state().awaited) detail::throw_misuse("runq: a spawned task was detached after it was awaited");
    go(detail::wait_detached(state_, at));
    state_.reset();
  }

 private:
  template <class F, class Failed, class Start>
  friend auto detail::spawn_by(F&& f, Failed failed, Start&& start);
  explicit spawned(std::shared_ptr<detail::spawn_state<R>> state) noexcept : state_(std::move(state)) {}
  [[nodiscard]] detail::spawn_state<R>& state() const {
    if (!state_) detail::throw_misuse("runq: the handle of a spawned task was moved from, or the task was detached");
    return *state_;
  }
  std::shared_ptr<detail::spawn_state<R>> state_;
};

namespace detail {

/// Makes a task of what spawn() or scope::spawn() was given, calls start(task, its state), and returns the handle.
template <class F, class Failed, class Start>
[[nodiscard]] auto spawn_by(F&& f, Failed failed, Start&& start) {
  using callable = std::decay_t<F>;
  using result = typename result_of_work<callable>::type;
  static_assert(!std::is_reference_v<result>, "runq::spawn: the function must return a value, not a reference");
  auto state = std::make_shared<spawn_state<result>>(front_of_task(), takes_stop_token<callable>);
  new_task made = new_task_of(spawned_body<callable, result>(*state, std::forward<F>(f), failed));
  state->of_task = state;
  std::forward<Start>(start)(std::move(made), *state);
  return spawned<result>(std::move(state));
}

}  // namespace detail

/// Starts a task as go() does, and returns its handle, a spawned<R>, when f returns a task<R> or an R. `f` may also
/// take a std::stop_token, by which the handle asks it to stop. Throws as go(). With g++ up to 12 the restriction of
/// go() holds: not in an expression with a co_await.
///
///     auto answer = runq::spawn([](std::stop_token stop) -> runq::task<int> {
///       co_await runq::sleep_for(1s, stop);
///       co_return 42;
///     });
///     const int n = co_await answer;
template <class F>
[[nodiscard]] auto spawn(F&& f, const char* name, source_place at) {
  using callable = std::decay_t<F>;
  static_assert(detail::is_task<callable>::value || detail::takes_stop_token<callable> || std::invocable<callable&>,
                "runq::spawn: what it starts is a task, or a function that can be called without arguments or with a "
                "std::stop_token");
  return detail::spawn_by(std::forward<F>(f), detail::tells_nobody(), [name, at](detail::new_task made, auto& state) {
    made.is_spawned(state);
    detail::spawn(detail::front_of_task(), std::move(made), name, at);
  });
}

}  // namespace runq
