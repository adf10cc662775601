// SPDX-License-Identifier: MIT
// once: a function that the first task that needs it runs, while the other tasks wait.
//
// A mutex, and a wait group with a count of 1, which says whether the function has run. Their models cover it.
#pragma once

#include <functional>
#include <type_traits>
#include <utility>

#include "runq/detail/temporaries.hpp"
#include "runq/mutex.hpp"
#include "runq/task.hpp"
#include "runq/wait_group.hpp"

namespace runq {

/// Like std::once_flag, for tasks.
///
///     runq::once connected;
///     std::optional<runq::net::stream> link;
///     co_await connected.call([&]() -> runq::task<> { link = co_await runq::net::connect_tcp("127.0.0.1", 8080); });
class once {
 public:
  once() { static_cast<void>(undone_.add(1)); }
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
  [[nodiscard]] bool done() const noexcept { return undone_.done(); }

 private:
  template <class F>
  [[nodiscard]] task<> call_if_undone(F f, source_place at) {
    if (done()) co_return;
    const auto held = co_await detail::placed(calls_.scoped_lock(), at);
    if (done()) co_return;
    if constexpr (detail::is_task<std::invoke_result_t<F&>>::value) {
      auto called = std::invoke(f);
      static_cast<void>(co_await called);
    } else {
      static_cast<void>(std::invoke(f));
    }
    static_cast<void>(undone_.add(-1));
  }
  mutex calls_;
  detail::wait_group_core<> undone_;
};

}  // namespace runq
