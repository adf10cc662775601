// SPDX-License-Identifier: MIT
// fork, join: structured parallelism inside a task.
//
// Source: the fork-join rules of Cilk (Frigo, Leiserson and Randall, PLDI 1998); what a fork does is chosen by
// options::forks.
#pragma once

#include <coroutine>
#include <utility>

#include "runq/detail/inside.hpp"
#include "runq/task.hpp"

namespace runq {

namespace detail {

/// Called by a forked<T> that is destroyed before the end of the run and before the join.
void destroy_unjoined(frame& child) noexcept;
/// Starts `child`, which its parent has forked on `p`, as options::forks says, and returns what goes on here. Another
/// machine may run the parent at any moment from then on. Throws std::bad_alloc.
[[nodiscard]] std::coroutine_handle<> start_fork(processor_front& p, frame& child);
/// To be called when `parent` joins children of which some run by themselves. True: it waits or yields, and another
/// machine may run it already. `at`: the place of the join, for dumps.
[[nodiscard]] bool waits_for_children(processor_front& p, frame& parent, source_place at) noexcept;

}  // namespace detail

/// The future result of a forked child: `co_await fork(child)` returns it if the child has a result. Keep it until
/// after the join. Move-only; destroying it before the child has ended is an error that ends the process.
template <class T>
class [[nodiscard]] forked {
 public:
  forked() noexcept = default;
  forked(forked&& other) noexcept : child_(std::exchange(other.child_, nullptr)) {}
  forked& operator=(forked&& other) noexcept {
    forked moved(std::move(other));
    std::swap(child_, moved.child_);
    return *this;
  }
  forked(const forked&) = delete;
  forked& operator=(const forked&) = delete;
  ~forked() {
    if (child_) end();
  }

  /// Returns the child's result, or rethrows its exception. To be called after `co_await join()`, and at most once.
  /// Throws runq::misuse if the child has not ended, and for a handle without a child. If the child has ended by luck
  /// before the join, its whole result is returned all the same: to refuse that each fork would have to list its child.
  T get() {
    // Before the join `true` means that the caller sees what the child did; false is misuse even if it is out of date.
    if (!child_ || !child_.promise().finished.is_set()) {
      detail::throw_misuse("runq: the result of a forked task was asked for before co_await runq::join()");
    }
    return child_.promise().take();
  }

 private:
  friend detail::fork_awaiter<T>;
  explicit forked(std::coroutine_handle<detail::promise<T>> child) noexcept : child_(child) {}
  void end() noexcept {
    // A listed child may be running: the scope joins it when its body has ended. So done() is asked only of children
    // that are not listed.
    if (!child_.promise().listed && child_.done()) {
      child_.destroy();
    } else {
      detail::destroy_unjoined(child_.promise());
    }
  }
  std::coroutine_handle<detail::promise<T>> child_;
};

namespace detail {

template <class T>
class [[nodiscard]] fork_awaiter {
 public:
  explicit fork_awaiter(task<T>&& child) noexcept : child_(std::move(child)) {}

  [[nodiscard]] bool await_ready() const {
    const auto child = access::handle(child_);
    if (!child || child.promise().how != role::fresh)
      throw_misuse("runq: forked a task that was moved from or awaited");
    return false;
  }

  template <std::derived_from<promise_base> Promise>
  RUNQ_ON_EVERY_CALL [[nodiscard]] std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> caller) {
    processor_front& p = own_front();
    frame& parent = caller.promise();
    const auto child = access::handle(child_);
    child.promise().parent = &parent;
    if constexpr (std::is_void_v<T>) {
      // The parent owns the child from here on, whether the child can be started or not.
      parent.push_below(access::release(child_).promise());
    } else {
      child.promise().owned_by_handle = true;
    }
    // Afterwards another machine may run the parent, and destroy this awaiter.
    return start_fork(p, child.promise());
  }

  auto await_resume() noexcept {
    if constexpr (!std::is_void_v<T>) {
      frame& child = access::handle(child_).promise();
      // If it has ended, this thread sees all that it did, and the handle may destroy it before the join.
      if (!child.finished.is_set()) child.enlist();
      return forked<T>(access::release(child_));
    }
  }

 private:
  task<T> child_;
};

class [[nodiscard]] join_awaiter {
 public:
  join_awaiter() noexcept = default;
  join_awaiter(const join_awaiter&) = delete;
  join_awaiter& operator=(const join_awaiter&) = delete;

  // Not in await_suspend(): g++ makes more of a coroutine whose await_suspend() may throw.
  [[nodiscard]] bool await_ready() const {
    if (this_front() == nullptr) throw_no_task();
    return false;
  }
  template <std::derived_from<promise_base> Promise>
  RUNQ_ON_EVERY_CALL [[nodiscard]] bool await_suspend(std::coroutine_handle<Promise> caller,
                                                      const char* file = __builtin_FILE(),
                                                      unsigned line = __builtin_LINE()) noexcept {
    processor_front& p = *this_front();
    frame& parent = caller.promise();
    parent_ = &parent;
    parent.owes_join = false;
    // The place is made only where it is needed, which g++ does not do by itself.
    if (parent.children.any()) return waits_for_children(p, parent, source_place::here(file, line));
    return preempt_if_slice_is_over(p, caller);
  }
  void await_resume() {
    frame& parent = *parent_;
    if (parent.error_kept != kept_error::none) throw_child_error(parent);
    if (parent.newest_below != nullptr) parent.leave_joined();
  }

 private:
  frame* parent_ = nullptr;
};

}  // namespace detail

/// `co_await fork(child)` lets `child` and the rest of the calling task run at the same time, if there are processors
/// for both; see fork_policy. For a task<T> it returns a forked<T>; for a task<void> nothing. Before a task ends it
/// must `co_await join()` its forked children; until then the frames of children that ran by themselves stay allocated.
/// Only a task may await it. Throws std::bad_alloc; runq::misuse for a task that was awaited or moved from. A task that
/// ends without that join, by an exception or not, ends the process, even if its children have ended: where an
/// exception may come between fork and join, fork in the body of a with_scope().
///
///     auto left = co_await runq::fork(sum(first_half));
///     const int right = co_await sum(second_half);
///     co_await runq::join();
///     const int total = left.get() + right;
template <class T>
[[nodiscard]] detail::fork_awaiter<T> fork(task<T> child) noexcept {
  return detail::fork_awaiter<T>(std::move(child));
}

/// `co_await join()` waits until every child that the calling task has forked since its last join has ended. Rethrows
/// the first exception of those without a result. Any number of forks may come before it.
[[nodiscard]] inline detail::join_awaiter join() noexcept { return {}; }

}  // namespace runq
