// SPDX-License-Identifier: MIT
// with_timeout: a time limit for work that can be asked to stop.
#pragma once

#include <chrono>
#include <exception>
#include <functional>
#include <optional>
#include <stop_token>
#include <type_traits>
#include <utility>

#include "runq/detail/temporaries.hpp"
#include "runq/scope.hpp"
#include "runq/task.hpp"
#include "runq/timer.hpp"

namespace runq {

/// with_timeout() throws it when the time limit has passed.
class timed_out : public std::exception {
 public:
  [[nodiscard]] const char* what() const noexcept override {
    return "runq: with_timeout(): the time limit was reached";
  }
};

namespace detail {

struct time_limit {
  std::stop_source work_is_over;
  bool over = false;  // written before the scope is asked to stop
};

inline task<void> ask_to_stop_after(std::chrono::nanoseconds d, time_limit& limit, scope& s, source_place at) {
  try {
    co_await placed(sleep_for(d, limit.work_is_over.get_token()), at);
  } catch (const cancelled&) {
    co_return;
  }
  limit.over = true;
  s.request_stop();
}

template <class F>
concept can_be_limited = requires(F& f, std::stop_token stop) {
  requires is_task<decltype(std::invoke(f, stop))>::value;
};

/// A wait that has a form with a stop token, and has no token yet: a temporary, or the handle of a spawned task.
template <class A>
concept has_stoppable_form = requires(A&& wait) {
  std::forward<A>(wait).stoppable();
};
/// Such a wait, but it has a name, so that it may be awaited again.
template <class A>
concept has_a_name = std::is_lvalue_reference_v<A> && has_stoppable_form<std::remove_reference_t<A>>;

template <class F>
class blocking_awaiter;
template <class A>
concept is_a_blocking_call = requires(std::remove_reference_t<A>& call) {
  []<class F>(const blocking_awaiter<F>&) {}(call);
};

/// What limited() returns: the result of the task that F returns, or of the awaiter.
template <class F>
struct limited_result {
  using type = decltype(std::declval<std::invoke_result_t<F&, std::stop_token>&>().await_resume());
};
template <class F>
requires can_be_limited<std::remove_reference_t<F>>
struct limited_result<F> {
  using type = typename std::invoke_result_t<F&, std::stop_token>::value_type;
};

/// `F` is a reference to a function that has a name, or the type of one that has none.
template <class F>
stoppable_task<typename limited_result<F>::type> limited(std::chrono::nanoseconds d, F f, std::stop_token outer,
                                                         source_place at) {
  time_limit limit;
  const auto body = [&](scope& s) -> task<typename limited_result<F>::type> {
    // Whether f returns or throws.
    struct at_the_end {
      detail::time_limit& limit;
      ~at_the_end() { limit.work_is_over.request_stop(); }
    };
    const at_the_end here{limit};
    s.go(ask_to_stop_after(d, limit, s, at));
    if constexpr (can_be_limited<std::remove_reference_t<F>>) {
      co_return co_await std::invoke(f, s.stop_token());
    } else {
      co_return co_await placed(std::invoke(f, s.stop_token()), at);
    }
  };
  try {
    co_return co_await placed(with_scope(body, std::move(outer)), at);
  } catch (const cancelled&) {
    if (!limit.over) throw;
  }
  throw timed_out();
}

}  // namespace detail

/// `co_await with_timeout(d, f)` calls the coroutine f(std::stop_token) and returns its result. After `d`, or when
/// `outer` stops, it requests a stop through the token, and still waits until f has ended. If f then returns a result,
/// it returns that. If runq::cancelled leaves f, it throws runq::timed_out after `d`, and runq::cancelled otherwise.
/// Costs a task and a timer. A temporary `f` is moved into that task; one with a name is not copied, and lives until
/// then. Tasks only.
///
///     std::optional<int> number;
///     const auto receive = [&](std::stop_token stop) -> runq::task<bool> {
///       co_return co_await runq::select(stop, runq::on_receive(numbers, number)) != runq::stopped;
///     };
///     if (!co_await runq::with_timeout(1s, receive)) std::puts("no number for 1 s");
///
/// `co_await with_timeout(d, wait)` returns what `co_await wait` returns, and throws as above. `wait` is a temporary,
/// and has no token: sleep_for() or sleep_until(); send() or receive() of a channel; select(); lock() or scoped_lock()
/// of a mutex, and those of a shared_mutex; acquire() or scoped_acquire() of a semaphore; wait() of a wait group, a
/// latch or a condition variable, and of a barrier arrive_and_wait(); with_scope(); when_all() or when_any(); read(),
/// write(), accept(), connect_tcp() or connect_unix() of the network; any stoppable_task; or it is the handle of a task
/// that spawn() has started, which goes on and may be awaited again. The value of a send() that is not carried out is
/// destroyed. The object that it waits for must outlive the wait. Throws runq::misuse for a wait that has a token.
///
/// What the limit has ended has not been done: nothing was received, locked, acquired or read, and no connection was
/// made. A write() may have written a part; see net::stream::write(). The forms of the network with a std::error_code
/// do not throw: they set operation_canceled.
///
///     const auto number = co_await runq::with_timeout(1s, numbers.receive());
template <class F>
[[nodiscard]] auto with_timeout(std::chrono::nanoseconds d, F&& f, std::stop_token outer = {},
                                source_place at = source_place::here()) {
  constexpr bool is_wait = detail::has_stoppable_form<F&&>;
  constexpr bool is_named = detail::has_a_name<F&&> && !is_wait;
  constexpr bool is_blocking = detail::is_a_blocking_call<F&&>;
  static_assert(
      !is_named,
      "runq::with_timeout takes a wait without a name, because it is awaited once: with_timeout(d, c.receive()), "
      "or with_timeout(d, std::move(wait))");
  static_assert(
      !is_blocking,
      "runq::with_timeout cannot end a blocking call that has begun; spawn it, and limit the wait for its end: "
      "auto call = runq::spawn([] { ...; }); co_await runq::with_timeout(d, call)");
  static_assert(
      is_wait || is_named || is_blocking || detail::can_be_limited<std::remove_reference_t<F>>,
      "runq::with_timeout takes a coroutine function with one parameter, a std::stop_token, as in "
      "[&](std::stop_token stop) -> runq::task<> {...}; what it waits for heeds the token: "
      "runq::sleep_for(d, stop), runq::select(stop, ...). Or it takes a temporary wait that a stop request can "
      "end, without a token: numbers.receive(), m.lock(), s.read(bytes), runq::select(...). A task of your own "
      "is one if it is a runq::stoppable_task");
  if constexpr (is_wait) {
    // The new awaiter is made in the task, which has all that it needs: the temporary is gone by then.
    auto form = std::forward<F>(f).stoppable();
    return detail::limited<decltype(form)>(d, std::move(form), std::move(outer), at);
  } else if constexpr (detail::can_be_limited<std::remove_reference_t<F>>) {
    static_assert(detail::no_function_destroyed_twice<F>());
    return detail::limited<F>(d, std::forward<F>(f), std::move(outer), at);
  }
}

}  // namespace runq
