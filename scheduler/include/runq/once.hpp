// SPDX-License-Identifier: MIT
// once: a function that the first task that needs it runs, while the other tasks wait.
//
// A mutex, and a flag that spares most callers the mutex. Models: models/cases/scheduler/once/.
#pragma once

#include <atomic>
#include <functional>
#include <type_traits>
#include <utility>

#include "runq/detail/temporaries.hpp"
#include "runq/mutex.hpp"
#include "runq/task.hpp"

namespace runq {

namespace detail {

/// Whether the function has run. A call asks done(); then, with the mutex, must_call(); and after its function has
/// returned, still with the mutex, it says returns().
template <class Atomics = policy>
class once_core {
 public:
  once_core() noexcept : returned_(false) {}
  once_core(const once_core&) = delete;
  once_core& operator=(const once_core&) = delete;

  /// Whether a call has returned. If so, the caller sees what it did. Any thread. Wait-free.
  [[nodiscard]] bool done() const noexcept {
    // [once.done] acquire: pairs with [once.returns]; weaker: a task that need not call does not see what the call did.
    return returned_.load(std::memory_order::acquire);
  }
  /// Whether the task that has just got the mutex must call its function. Wait-free.
  [[nodiscard]] bool must_call() const noexcept {
    // [once.must_call] relaxed: the mutex orders this after [once.returns].
    return !returned_.load(std::memory_order::relaxed);
  }
  /// The function has returned. Wait-free.
  void returns() noexcept {
    // [once.returns] release: pairs with [once.done]; weaker: a task that need not call does not see what the call did.
    returned_.store(true, std::memory_order::release);
  }

 private:
  typename Atomics::template atomic<bool> returned_;  // written under the mutex
};

}  // namespace detail

/// Like std::once_flag, for tasks.
///
///     runq::once connected;
///     std::optional<runq::net::stream> link;
///     co_await connected.call([&]() -> runq::task<> { link = co_await runq::net::connect_tcp("127.0.0.1", 8080); });
class once {
 public:
  once() = default;
  once(const once&) = delete;
  once& operator=(const once&) = delete;

  /// `co_await o.call(f)` calls f, a coroutine or a function, unless an earlier call has returned, and returns when a
  /// call has. If f throws, its caller gets the exception, and the next caller calls its own f. f must not use the same
  /// once. Tasks only.
  template <class F>
  [[nodiscard]] task<> call(F&& f, source_place at = source_place::here()) {
    static_assert(detail::no_function_destroyed_twice<F>());
    return call_if_undone<std::decay_t<F>>(std::forward<F>(f), at);
  }
  /// Whether a call has returned. If so, the caller sees what it did. Any thread. Wait-free.
  [[nodiscard]] bool done() const noexcept { return core_.done(); }

 private:
  template <class F>
  [[nodiscard]] task<> call_if_undone(F f, source_place at) {
    if (done()) co_return;
    const auto held = co_await detail::placed(calls_.scoped_lock(), at);
    if (!core_.must_call()) co_return;
    if constexpr (detail::is_task<std::invoke_result_t<F&>>::value) {
      auto called = std::invoke(f);
      static_cast<void>(co_await called);
    } else {
      static_cast<void>(std::invoke(f));
    }
    core_.returns();
  }
  mutex calls_;
  detail::once_core<> core_;
};

}  // namespace runq
