// SPDX-License-Identifier: MIT
// task: a coroutine that runs on a scheduler and returns a T.
#pragma once

#include <concepts>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <type_traits>
#include <utility>

#include "runq/detail/inside.hpp"
#include "runq/protocol/join_counter.hpp"

namespace runq {

/// Thrown when a program breaks a rule of this library. Its text says what to do.
class misuse : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

/// Leaves an await whose wait a stop request has ended. A task started by go() that it leaves ends quietly; any other
/// exception is a panic there.
class cancelled : public std::exception {
 public:
  [[nodiscard]] const char* what() const noexcept override { return "runq: a stop request ended the wait"; }
};

template <class T = void>
class task;
template <class T = void>
class stoppable_task;

namespace detail {

/// A task's wait that a stop request may end.
template <class CallBack>
class stoppable_wait {
 public:
  /// From now on, perhaps before this returns, a stop request calls `how`. Before anything can wake the task.
  void begin(core& home, const std::stop_token& stop, CallBack how) {
    if (!stop.stop_possible()) return;
    known_.emplace(home, stop);
    on_stop_.emplace(stop, how);
  }
  /// Called by the task when it goes on, or by the thread that destroys it: waits for a stop request that is about to
  /// wake the task.
  void end() noexcept {
    on_stop_.reset();
    known_.reset();
  }

 private:
  std::optional<stop_wait> known_;
  std::optional<std::stop_callback<CallBack>> on_stop_;
};

/// What a stop request does to the task of `waiter`, which waits in `queue` or is about to: the task goes on without
/// the value, mutex or units that it waits for.
template <class Queue, class Waiter>
struct withdraw_and_wake {
  Queue& queue;
  Waiter& waiter;
  void operator()() const {
    if (queue.withdraw(waiter)) ready(*waiter.who.get());
  }
};

[[noreturn]] void throw_misuse(const char* what);
/// To be called when with_timeout() is given a wait whose token is `stop`: it gives the wait another one. Throws
/// runq::misuse if it has one.
inline void must_have_no_token(const std::stop_token& stop) {
  if (stop.stop_possible()) {
    throw_misuse("runq: with_timeout() was given a wait that has a stop token: write with_timeout(d, wait, token)");
  }
}
/// Ends the process as an uncaught panic does in Go: `panic: ` and the text of the current exception, exit status 2.
/// Returns only when the exception is to be ignored: the main task has ended, or it is runq::cancelled.
void panic() noexcept;
/// Whether `error` is runq::cancelled.
[[nodiscard]] bool is_cancellation(const std::exception_ptr& error) noexcept;
/// To be called when the main task's own coroutine has ended, on its thread.
void end_run() noexcept;

/// How a coroutine was started, and so what happens when it ends.
enum class role : std::uint8_t {
  fresh,         // not started
  called,        // by co_await: its caller goes on
  called_apart,  // likewise, by a coroutine that is not this library's
  scope_body,    // by with_scope(): its caller goes on when all children of the scope have ended, too
  // From here to `main` is_root().
  root,       // by go(): its task ends
  child,      // by scope::go(): likewise, and its scope learns of it
  spawned,    // by spawn(): likewise, and the handle learns of it
  tied,       // child or spawned, at the end of a run: it is below the coroutine that waits for it
  main,       // by run(): its task ends, and its run
  main_body,  // by `main`, which goes on: the user's part of it
  // From here on is_forked().
  forked_inline,  // by fork(), and ran at once: its parent goes on, unless stolen
  forked_apart,   // by fork(), and ran by itself: its parent goes on if it was the last
  forked_failed,  // forked_inline, and at its end it keeps an error for the join
};

class scope_state;
enum class destruction_stage : unsigned char;

/// Which error a coroutine keeps, or knows of.
enum class kept_error : std::uint8_t {
  none,
  below,  // that of a child which was forked without a result: the child stays in the list until the join throws it
  // From here on it is the one that has left this coroutine.
  own_for_join,  // such a child's
  own,
};

/// The part of every promise that does not depend on the result.
struct frame : memory_of_frame {
  union {
    frame* parent;         // called or forked: by whom
    void* caller;          // called_apart: the address of its coroutine
    strand* first_strand;  // is_root(): of its task; a later one runs it after its continuation was stolen
    awaited_closure* tie;  // tied: its closure, which has the first strand now
    scope_state* home;     // scope_body: its scope, which knows its caller
  };
  // The coroutines that are destroyed with this one if it is destroyed first, the newest first: the one that it has
  // called and waits for; forked children without a result (those that ran by themselves stay here until the join); and
  // forked children with a result that had not ended when this one went on; at the end of a run, tasks that it waits
  // for. Only the thread that runs the parent, or has taken it from the deque, may use the list.
  frame* newest_below = nullptr;
  union {
    frame* next_below;           // called, forked or tied: in the list of the one that it is below
    owned_closure task_closure;  // is_root(): of its task; a child and a spawned task have an awaited_closure
  };
  [[no_unique_address]] join_counter<> children;  // so that the next members lie in its padding; see error()
  role how = role::fresh;
  // No two threads use these at the same time: the parent's does, and the one that ends a child and goes on with the
  // parent. In one byte, so that a promise with a result has room for one more flag.
  bool owned_by_handle : 1 = false;  // forked: a forked<T> destroys it
  bool listed : 1 = false;    // forked, with a result: it is in its parent's list; tied: ending_order has passed it
  destruction_stage stage{};  // see runq/protocol/destruction.hpp
  end_mark<> finished;        // forked
  bool owes_join = false;     // it has forked since its last join
  kept_error error_kept = kept_error::none;  // `below`: written by a child; the parent reads it after the join

  /// The coroutine: a promise stands behind two pointers of the compiler's; see result_room.
  [[nodiscard]] std::coroutine_handle<> self() noexcept {
    return std::coroutine_handle<>::from_address(reinterpret_cast<char*>(this) - most_aligned);
  }
  static constexpr std::size_t most_aligned = 2 * sizeof(void*);  // bytes: with more, a promise would stand elsewhere

  frame() noexcept : parent(nullptr), next_below(nullptr) {}
  frame(const frame&) = delete;
  frame& operator=(const frame&) = delete;
  ~frame() {
    if (newest_below != nullptr) leave_joined();
    if (has_error()) std::destroy_at(&error());
  }

  /// Whether it has come to its end by an exception, which is still here.
  [[nodiscard]] bool has_error() const noexcept { return error_kept >= kept_error::own_for_join; }
  /// Keeps the current exception, which has left this coroutine. It owes no join, and so nobody counts its children any
  /// more: the error lies where the count was.
  void keep_error(kept_error as) noexcept {
    // The first 8 bytes of the counter; behind them there are other members.
    static_assert(sizeof(std::exception_ptr) <= 8 && alignof(std::exception_ptr) <= alignof(join_counter<>));
    error_kept = as;
    ::new (static_cast<void*>(&children)) std::exception_ptr(std::current_exception());
  }
  [[nodiscard]] std::exception_ptr take_error() noexcept;

  void push_below(frame& child) noexcept {
    child.next_below = newest_below;
    newest_below = &child;
  }
  void enlist() noexcept {
    listed = true;
    parent->push_below(*this);
  }
  /// Of a child or a spawned task.
  [[nodiscard]] awaited_closure& awaited() const noexcept { return static_cast<awaited_closure&>(task_closure.get()); }
  /// Whether it is a task's first coroutine.
  [[nodiscard]] bool is_root() const noexcept { return how >= role::root && how <= role::main; }
  frame& pop_below() noexcept { return *std::exchange(newest_below, newest_below->next_below); }
  /// For a called coroutine: takes it out of its parent's list, where it is the newest, because the parent waits for
  /// it.
  void leave_parent() const noexcept { parent->newest_below = next_below; }
  /// To be called when its forked children have ended, or were never started: destroys those that have no other owner.
  void leave_joined() noexcept;

 private:
  [[nodiscard]] std::exception_ptr& error() noexcept {
    return *std::launder(reinterpret_cast<std::exception_ptr*>(&children));
  }
};

inline void new_task::is_child(awaited_closure& c) noexcept {
  root_->how = role::child;
  owns(owned_closure::of(c));
}
inline void new_task::is_spawned(awaited_closure& c) noexcept {
  root_->how = role::spawned;
  owns(owned_closure::of(c));
}

/// The owner of a frame calls it when the owner is destroyed.
void destroy_unfinished(frame& owned) noexcept;
inline void destroy_owned(std::coroutine_handle<> owned, frame& f) noexcept {
  if (owned.done()) {
    owned.destroy();
  } else {
    destroy_unfinished(f);
  }
}

/// Throws the error of `failed`, which has one, and forgets it. Not inline: every resumption of the caller would make
/// room for it.
[[noreturn]] void throw_error(frame& failed);
/// Keeps the current exception, which has left `failed`, a forked child without a result, if it is the first of its
/// siblings that fails.
void keep_child_error(frame& failed) noexcept;
/// Likewise, at the join of `parent`: throws the error that one of its children keeps.
[[noreturn]] void throw_child_error(frame& parent);
/// Ends the process with a message, except while all tasks are being destroyed because main has ended.
void fork_not_joined() noexcept;
/// Likewise, in a handler: the message has the text of the exception.
void fork_not_joined_after_exception() noexcept;

[[nodiscard]] inline bool is_forked(const frame& f) noexcept { return f.how >= role::forked_inline; }
/// To be called, in a handler, when an exception leaves `failed`: if `failed` is the body of a scope, or a child that
/// such a body has forked, or a child that was started in the scope, the scope learns of it. False: nobody else must,
/// because the scope has asked itself to stop, and the child was cancelled.
bool tell_scope(frame& failed) noexcept;
/// To be called when `ended` has ended on `p`, unless a coroutine of the library has called it and it owes no join.
/// Returns the coroutine that goes on here, or a noop coroutine.
[[nodiscard]] std::coroutine_handle<> end_frame(processor_front& p, frame& ended) noexcept;

struct final_awaiter {
  [[nodiscard]] bool await_ready() const noexcept { return false; }
  template <class Promise>
  RUNQ_ON_EVERY_CALL [[nodiscard]] std::coroutine_handle<> await_suspend(
      std::coroutine_handle<Promise> ended) const noexcept {
    frame& f = ended.promise();
    processor_front& p = *this_front();
    if (f.how != role::called || f.owes_join) return end_frame(p, f);
    f.leave_parent();
    return transfer(p, f.parent->self());
  }
  // unreached: the compiler asks for it; a coroutine that has ended does not resume.
  void await_resume() const noexcept {}
};

template <class T>
class fork_awaiter;

struct promise_base : frame {
  [[nodiscard]] std::suspend_always initial_suspend() const noexcept { return {}; }
  [[nodiscard]] final_awaiter final_suspend() const noexcept { return {}; }

 protected:
  // Ends the process, as in Go, if no code can catch the exception, or if the task owes a join: here the exception's
  // text is at hand. The first coroutines of spawned tasks and of children of a scope catch everything themselves.
  // Called in a handler.
  void unhandled_for_good() noexcept {
    if (how == role::root) panic();
    if (owes_join && how != role::scope_body) fork_not_joined_after_exception();
  }
  // Its variables are still there if it returns, but not if it throws.
  void is_over() const noexcept {
    if (how == role::main_body) end_run();
  }
};

/// Room for a T in a promise. One with a larger alignment than frame::self() allows for finds its place by itself.
template <class T, bool = alignof(T) <= frame::most_aligned>
union result_room {
  T value;
  result_room() noexcept {}
  ~result_room() {}
  [[nodiscard]] T* at() noexcept { return &value; }
};
template <class T>
union result_room<T, false> {
  std::byte bytes[sizeof(T) + alignof(T) - 1];
  [[nodiscard]] T* at() noexcept {
    void* first = bytes;
    std::size_t room = sizeof bytes;
    return static_cast<T*>(std::align(alignof(T), sizeof(T), first, room));
  }
};

template <class T>
class promise : public promise_base {
 public:
  promise() noexcept { static_assert(alignof(promise) <= most_aligned); }
  promise(const promise&) = delete;
  promise& operator=(const promise&) = delete;
  ~promise() {
    if (has_result_) std::destroy_at(result_.at());
  }
  [[nodiscard]] task<T> get_return_object() noexcept;
  template <std::convertible_to<T> U>
  void return_value(U&& value) {
    drop_result();
    std::construct_at(result_.at(), std::forward<U>(value));
    has_result_ = true;
    is_over();
  }
  void unhandled_exception() noexcept {
    unhandled_for_good();
    drop_result();
    static_cast<void>(tell_scope(*this));
    // Its scope throws that of a scope's body, and the children of the body may still be counted.
    if (how != role::scope_body) keep_error(kept_error::own);
    is_over();
  }
  [[nodiscard]] T take() {
    if (!has_result_) throw_error(*this);
    return std::move(*result_.at());
  }

 private:
  // There is one already when a destructor has thrown after `co_return`.
  void drop_result() noexcept {
    if (std::exchange(has_result_, false)) std::destroy_at(result_.at());
  }
  bool has_result_ = false;  // not std::optional, which has to be larger than T
  result_room<T> result_;
};

template <>
class promise<void> : public promise_base {
 public:
  [[nodiscard]] task<void> get_return_object() noexcept;
  void return_void() const noexcept { is_over(); }
  void unhandled_exception() noexcept {
    unhandled_for_good();
    const bool fails = tell_scope(*this);
    if (is_forked(*this)) {
      if (fails) keep_child_error(*this);
    } else if (how != role::scope_body) {
      keep_error(kept_error::own);
    }
    is_over();
  }
  void take() {
    if (has_error()) throw_error(*this);
  }
};

/// The promise of a stoppable_task: it knows where in the coroutine's frame the token is.
template <class T>
class stoppable_promise : public promise<T> {
 public:
  template <class... Args>
  explicit stoppable_promise(Args&... parameters) noexcept {
    static_assert((std::is_same_v<Args, std::stop_token> || ...),
                  "runq::stoppable_task: the coroutine must have a parameter of the type std::stop_token, by value");
    static_assert(alignof(stoppable_promise) == alignof(promise<T>), "the same frame is a task's, too");
    (note(parameters), ...);
  }
  [[nodiscard]] stoppable_task<T> get_return_object() noexcept;
  [[nodiscard]] std::stop_token& token() noexcept { return *token_; }

 private:
  void note(std::stop_token& parameter) noexcept {
    if (token_ == nullptr) token_ = &parameter;
  }
  template <class Other>
  void note(Other& /*parameter*/) noexcept {}
  std::stop_token* token_ = nullptr;
};

struct access;

}  // namespace detail

/// A coroutine that has not begun: a call of a function that returns a task runs nothing of it. It runs when a
/// coroutine awaits it, which then goes on with the result or the exception, as after a call; or when it is given to
/// go() or fork(). It is awaited at most once. Move-only; a task that was never awaited is destroyed without having
/// run.
///
/// Its frame comes from the processor's cache. Throws std::bad_alloc when there is no memory for it.
///
/// g++ up to 12 destroys lambdas with captures, and aggregates, twice when they are temporaries beside a co_await, as
/// in `co_await f({text, 1})` or `co_await [text]() -> task<> {…}()`: give them a name first (docs/limits.md).
///
///     runq::task<int> answer() { co_return 42; }
///     runq::task<> ask() { std::printf("%d\n", co_await answer()); }
template <class T>
class [[nodiscard]] task {
 public:
  using promise_type = detail::promise<T>;
  using value_type = T;

  task(task&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  task& operator=(task&& other) noexcept {
    task moved(std::move(other));
    std::swap(handle_, moved.handle_);
    return *this;
  }
  task(const task&) = delete;
  task& operator=(const task&) = delete;
  ~task() {
    if (handle_) detail::destroy_owned(handle_, handle_.promise());
  }

  class awaiter {
   public:
    explicit awaiter(std::coroutine_handle<promise_type> callee) noexcept : callee_(callee) {}
    [[nodiscard]] bool await_ready() const {
      if (!callee_) detail::throw_misuse("runq: awaited a task that was moved from");
      if (callee_.promise().how != detail::role::fresh) detail::throw_misuse("runq: a task was awaited twice");
      return false;
    }
    template <class Promise>
    [[nodiscard]] std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> caller) const {
      if constexpr (std::is_base_of_v<detail::promise_base, Promise>) {
        detail::processor_front& p = processor_of_caller();
        detail::frame& callee = callee_.promise();
        detail::frame& parent = caller.promise();
        callee.how = detail::role::called;
        callee.parent = &parent;
        parent.push_below(callee);
        return detail::transfer(p, callee_);
      } else {
        return call_apart(caller, detail::role::called_apart);
      }
    }
    T await_resume() const { return callee_.promise().take(); }

   protected:
    /// Calls the task for a coroutine that is not its parent. If the time slice is over, another machine may run the
    /// task before this function returns, and destroy it: so the callee's role is known before.
    [[nodiscard]] std::coroutine_handle<> call_apart(std::coroutine_handle<> caller, detail::role how) const {
      detail::processor_front& p = processor_of_caller();
      detail::frame& callee = callee_.promise();
      callee.how = how;
      callee.caller = caller.address();
      return detail::transfer(p, callee_);
    }

   private:
    static detail::processor_front& processor_of_caller() {
      detail::processor_front* const p = detail::this_front();
      if (p == nullptr) detail::throw_misuse("runq: a task was awaited outside a scheduler; start it with runq::run()");
      return *p;
    }
    std::coroutine_handle<promise_type> callee_;
  };

  /// Calls the task. Throws what leaves it; runq::misuse when it is awaited a second time, after a move, or by a
  /// coroutine that no scheduler runs.
  [[nodiscard]] awaiter operator co_await() const noexcept { return awaiter(handle_); }

 private:
  friend promise_type;
  friend detail::access;
  explicit task(std::coroutine_handle<promise_type> handle) noexcept : handle_(handle) {}
  std::coroutine_handle<promise_type> handle_;
};

namespace detail {

template <class T>
task<T> promise<T>::get_return_object() noexcept {
  return task<T>(std::coroutine_handle<promise>::from_promise(*this));
}
inline task<void> promise<void>::get_return_object() noexcept {
  return task<void>(std::coroutine_handle<promise>::from_promise(*this));
}

/// Gives the rest of the library access to a task's coroutine.
struct access {
  template <class T>
  [[nodiscard]] static std::coroutine_handle<promise<T>> handle(const task<T>& t) noexcept {
    return t.handle_;
  }
  template <class T>
  static std::coroutine_handle<promise<T>> release(task<T>& t) noexcept {
    return std::exchange(t.handle_, nullptr);
  }
};

template <class T>
void takes_task(const task<T>&);

}  // namespace detail

/// A task of a coroutine that has a std::stop_token among its parameters, by value, and lets with_timeout() set it
/// before the coroutine begins. Use it wherever a task is wanted; the waits of this library that take long return one,
/// and so may your own coroutines.
///
///     runq::stoppable_task<int> next_of(runq::channel<int>& from, std::stop_token stop = {}) {
///       std::optional<int> n;
///       if (co_await runq::select(stop, runq::on_receive(from, n)) == runq::stopped) throw runq::cancelled();
///       co_return n.value_or(0);
///     }
///     runq::task<> show_next() { show(co_await runq::with_timeout(1s, next_of(numbers))); }
template <class T>
class [[nodiscard]] stoppable_task : public task<T> {
 public:
  using promise_type = detail::stoppable_promise<T>;

  /// For with_timeout(): makes the same task with a token. Throws runq::misuse if it has one.
  [[nodiscard]] auto stoppable() && {
    if (std::stop_token* const stop = token()) detail::must_have_no_token(*stop);
    return [self = std::move(*this)](std::stop_token stop) mutable -> task<T> {
      if (std::stop_token* const own = self.token()) *own = std::move(stop);
      return std::move(self);
    };
  }

 private:
  friend promise_type;
  explicit stoppable_task(task<T>&& of) noexcept : task<T>(std::move(of)) {}
  // Null if it may not be awaited: it was moved from, or has begun.
  [[nodiscard]] std::stop_token* token() noexcept;
};

namespace detail {

template <class T>
stoppable_task<T> stoppable_promise<T>::get_return_object() noexcept {
  return stoppable_task<T>(promise<T>::get_return_object());
}

/// Whether it is a task, or derived from one as when_all is.
template <class W>
struct is_task : std::false_type {};
template <class W>
requires std::is_class_v<W> && requires(const W& w) { takes_task(w); }
struct is_task<W> : std::true_type {};

}  // namespace detail

template <class T>
std::stop_token* stoppable_task<T>::token() noexcept {
  const auto own = detail::access::handle(*this);
  if (!own || own.promise().how != detail::role::fresh) return nullptr;
  return &static_cast<promise_type&>(own.promise()).token();
}

}  // namespace runq
