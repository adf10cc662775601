// SPDX-License-Identifier: MIT
// scope: tasks that end before the block of code that started them, however that block ends.
//
// Source of the interface: the nurseries of Trio (N. J. Smith, "Notes on structured concurrency", 2018) and Go's
// errgroup. Models: models/cases/scheduler/scope/.
#pragma once

#include <atomic>
#include <coroutine>
#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <stop_token>
#include <type_traits>
#include <utility>
#include <vector>

#include "runq/detail/temporaries.hpp"
#include "runq/fork.hpp"
#include "runq/protocol/waiting.hpp"
#include "runq/scheduler.hpp"
#include "runq/semaphore.hpp"
#include "runq/source_place.hpp"
#include "runq/spawn.hpp"
#include "runq/task.hpp"
#include "runq/wait_group.hpp"

namespace runq {

class scope;

namespace detail {

/// What the body of a scope shares with its children: how many started tasks have not ended, which failures there were,
/// and the object that asks all to stop. `Failure` is the type of a failure: an exception. `Stopping` is the type of
/// the object that asks to stop, by its request_stop().
///
/// Two kinds of children end at the scope: forked ones, which the body's own join_counter counts, and started ones,
/// which may start others, and which a wait_group counts. The caller of the scope goes on when all of both kinds have
/// ended, on the thread of the one that ended last, and may destroy the scope at once.
template <class Failure, class Stopping, class Policy = task_waiting>
class scope_core {
  using atomics = typename Policy::atomics;
  using node = waiter<Policy>;

 public:
  /// One failure of several.
  struct failure {
    explicit failure(Failure w = {}) noexcept : what(w) {}
    typename atomics::template cell<Failure> what;
    typename atomics::template cell<failure*> before{nullptr};
  };

  scope_core() noexcept : newest_(nullptr), stopping_(nullptr), cut_short_(false) {}
  scope_core(const scope_core&) = delete;
  scope_core& operator=(const scope_core&) = delete;

  /// Called when one more task is about to be started, by the body or by a child that has not ended. Wait-free.
  [[nodiscard]] counting begins() { return started_.add(1); }
  /// Called when that task has ended, or could not be started. Afterwards the caller must not touch the scope.
  /// Wait-free but for waking.
  void ends() { static_cast<void>(started_.add(-1)); }

  /// Called when the body, or a child that has not ended, has failed. True for the first failure, which is kept: the
  /// caller asks the other tasks to stop. A later one is kept only by keeps(). Wait-free.
  [[nodiscard]] bool fails(const Failure& what) noexcept {
    failure* seen = nullptr;
    // [scope.fail] relaxed: no thread follows the list before all have ended, and [join.arrive] and [wait_group.add]
    // order that.
    if (!newest_.compare_exchange_strong(seen, &first_, std::memory_order::relaxed, std::memory_order::relaxed)) {
      return false;
    }
    first_.what.set(what);
    return true;
  }

  /// Called after fails() has returned false. `f` must stay until the scope is destroyed. Lock-free.
  void keeps(failure& f) noexcept {
    // [scope.keep.peek] relaxed: the exchange below decides.
    failure* seen = newest_.load(std::memory_order::relaxed);
    do {
      f.before.set(seen);
      // [scope.keep] relaxed: as [scope.fail].
      // by chance: another task fails at this moment; models/cases/scheduler/scope/.
    } while (!newest_.compare_exchange_weak(seen, &f, std::memory_order::relaxed, std::memory_order::relaxed));
  }

  /// Whether the body or a child has failed: a hint for the tasks of the scope that still run. Wait-free.
  [[nodiscard]] bool failed() const noexcept {
    // [scope.failed] relaxed: a hint.
    return newest_.load(std::memory_order::relaxed) != nullptr;
  }

  /// Called when the body, or a child that has not ended, has left work undone, because the scope was asked to stop
  /// from outside. That is no failure. Wait-free.
  void is_cut_short() noexcept {
    // [scope.cut_short] relaxed: read when all have ended; [join.arrive] and [wait_group.add] order that.
    cut_short_.store(true, std::memory_order::relaxed);
  }
  /// Whether the body or a child was cut short. Called when all tasks of the scope have ended. Wait-free.
  [[nodiscard]] bool was_cut_short() const noexcept {
    // [scope.cut_short.read] relaxed: all that were cut short have ended, and were joined.
    return cut_short_.load(std::memory_order::relaxed);
  }

  /// The object that asks all tasks of the scope to stop: the first call returns what `make()` returns, an owning
  /// pointer; if there was a request before, the object is asked to stop before any other task sees it. It stays until
  /// the scope is destroyed. Called by the body, or by a child that has not ended. Lock-free. Throws what make()
  /// throws.
  template <class Make>
  [[nodiscard]] Stopping& stopping(Make&& make) {
    // [scope.stopping] acquire: pairs with [scope.stopping.publish] and [scope.ask]; weaker: the caller uses an object
    // that is not made yet, or does not see what was written before the request.
    Stopping* there = stopping_.load(std::memory_order::acquire);
    if (is_made(there)) return *there;
    auto made = make();
    do {
      if (there != nullptr) made->request_stop();
      // [scope.stopping.publish] release: pairs with [scope.stopping] and [scope.ask.look]; weaker: another caller uses
      // an object that is not made yet. Acquire on failure pairs with [scope.ask], and with [scope.stopping.publish] of
      // a caller that was faster.
      if (stopping_.compare_exchange_strong(there, made.get(), std::memory_order::release,
                                            std::memory_order::acquire)) {
        return *made.release();
      }
      // by chance: another task asks for a stop at this moment; models/cases/scheduler/scope/.
    } while (!is_made(there));
    return *there;
  }

  /// Asks all tasks of the scope to stop; needs no memory, and so does not make the object. Called by the body, or by a
  /// child that has not ended. Wait-free but for what the object does.
  void request_stop() noexcept {
    // [scope.ask.look] acquire: pairs with [scope.stopping.publish]; weaker: the caller uses an object that is not made
    // yet.
    Stopping* there = stopping_.load(std::memory_order::acquire);
    // [scope.ask] release: pairs with [scope.stopping], and with [scope.stopping.publish] where that fails; weaker: a
    // task that sees the request does not see what was written before it. Acquire on failure as [scope.ask.look].
    // by chance: another task makes the object, or asks, at this moment; models/cases/scheduler/scope/.
    if (there == nullptr && stopping_.compare_exchange_strong(there, asked_before(), std::memory_order::release,
                                                              std::memory_order::acquire)) {
      return;
    }
    if (is_made(there)) there->request_stop();
  }

  /// Whether request_stop() was called, here or of the object. Called by the body, or by a child that has not ended.
  /// Wait-free.
  [[nodiscard]] bool stop_requested() const noexcept {
    // [scope.asked] acquire: as [scope.ask.look].
    const Stopping* const there = stopping_.load(std::memory_order::acquire);
    return is_made(there) ? there->stop_requested() : there != nullptr;
  }

  /// Called by the body's task when the body has ended. False: some of the body's forked children have not ended, and
  /// the last of them goes on instead; the caller must not touch the scope any more. Wait-free.
  template <class Atomics>
  [[nodiscard]] static bool body_ends(join_counter<Atomics>& forked) noexcept {
    // unreached: end_scope_body() asks before; the models ask here.
    return !forked.any() || forked.wait();
  }

  /// The body and its forked children have ended: returns whether all started ones have ended, too. Wait-free.
  [[nodiscard]] bool all_ended() const noexcept { return started_.done(); }

  /// Called when some started child may not have ended. True: the last of them wakes `w`, perhaps before this returns.
  /// False: all have ended. Lock-free except for the waiting list's lock.
  [[nodiscard]] bool waits_for_started(node& w) noexcept { return started_.enlist(w); }

  /// The task of `w`, which waits_for_started(), is being destroyed.
  void leave(node& w) { started_.leave(w); }

  /// All failures that were kept, the newest first. The last of them is the scope's own, the others are what keeps()
  /// was given. Called when all tasks of the scope have ended.
  [[nodiscard]] failure* failures() const noexcept {
    // [scope.failures] relaxed: all that failed have ended, and were joined.
    return newest_.load(std::memory_order::relaxed);
  }
  /// What stopping() has made, or nullptr. Called when all tasks of the scope have ended.
  [[nodiscard]] Stopping* made_stopping() const noexcept {
    // [scope.stopping.made] relaxed: all tasks that may have made it have ended, and were joined.
    Stopping* const there = stopping_.load(std::memory_order::relaxed);
    return is_made(there) ? there : nullptr;
  }

 private:
  // What stands for the object when all were asked to stop before it was made.
  [[nodiscard]] static Stopping* asked_before() noexcept {
    alignas(Stopping) static constinit std::byte nothing{};
    return reinterpret_cast<Stopping*>(&nothing);
  }
  [[nodiscard]] static bool is_made(const Stopping* there) noexcept {
    return there != nullptr && there != asked_before();
  }

  wait_group_core<Policy> started_;
  failure first_;
  typename atomics::template atomic<failure*> newest_;
  typename atomics::template atomic<Stopping*> stopping_;
  typename atomics::template atomic<bool> cut_short_;
};

/// Asks to stop when it is told to, and when `outer` stops. A request goes through scopes within scopes, however many
/// there are, in a loop, and returns when all of them were asked.
class scope_stopping {
 public:
  /// Throws std::bad_alloc.
  explicit scope_stopping(const std::stop_token& outer);
  [[nodiscard]] std::stop_source& source() noexcept { return source_; }
  void request_stop() noexcept { source_.request_stop(); }
  [[nodiscard]] bool stop_requested() const noexcept { return source_.stop_requested(); }

 private:
  struct request;
  // What a request keeps of a scope that it is still to ask. The scope may end before.
  struct inner {
    std::stop_source source;
    std::shared_ptr<inner> next;
  };
  struct ask_to_stop {
    std::stop_token outer;
    std::shared_ptr<inner> whom;
    void operator()() const noexcept;
  };

  std::stop_source source_;
  std::optional<std::stop_callback<ask_to_stop>> when_outer_stops_;
};

/// The part of a scope that does not depend on the type of its body. Lies in the frame of the coroutine that awaits the
/// scope.
class scope_state {
 public:
  using core_type = scope_core<std::exception_ptr, scope_stopping>;

  scope_state(std::stop_token outer, std::vector<std::exception_ptr>* failures) noexcept
      : outer_(std::move(outer)), wanted_failures_(failures) {}
  scope_state(const scope_state&) = delete;
  scope_state& operator=(const scope_state&) = delete;
  ~scope_state() {
    if (waiter_.waits() || core_.failures() != nullptr || core_.made_stopping() != nullptr) destroy_rare_parts();
  }

  /// `body`, which has not begun, is called by `caller` as the scope's body.
  void call(const processor_front& p, frame& caller, frame& body, source_place at) noexcept {
    home_ = &p.home;
    called_at_ = at;
    caller_ = &caller;
    body_ = &body;
    body.how = role::scope_body;
    body.home = this;
    caller.push_below(body);
  }
  /// The scheduler whose task called the scope.
  [[nodiscard]] const core* home() const noexcept { return home_; }
  /// Stays below the caller until that goes on, also when it has ended.
  [[nodiscard]] frame& body() const noexcept { return *body_; }
  [[nodiscard]] bool is_body(const frame& f) const noexcept { return &f == body_; }
  [[nodiscard]] frame& caller() const noexcept { return *caller_; }
  [[nodiscard]] const std::stop_token& outer() const noexcept { return outer_; }
  [[nodiscard]] std::vector<std::exception_ptr>* wanted_failures() const noexcept { return wanted_failures_; }
  [[nodiscard]] source_place called_at() const noexcept { return called_at_; }
  /// See scope_core::waits_for_started(): goes on with the caller, or leaves that to the last started task.
  [[nodiscard]] std::coroutine_handle<> go_on(processor_front& p);
  /// All tasks of the scope have ended, and the caller goes on: hands over the failures, and throws the first. Without
  /// a failure, throws runq::cancelled if `outer` has cut the body or a child short: its work was not done.
  void rethrow_first() {
    waiter_.who.set(nullptr);
    caller_->pop_below();
    if (core_.failures() != nullptr) hand_over_failures();
    if (core_.was_cut_short()) throw cancelled();
  }

  /// Throws runq::misuse.
  void begins();
  [[noreturn]] static void throw_ended();
  [[noreturn]] static void throw_elsewhere();
  void ends() { core_.ends(); }
  /// Called when an exception has left the body.
  void body_fails(std::exception_ptr what) noexcept;
  /// Called when an exception has left a child. Returns false if that does not matter to anybody: the child was
  /// cancelled after the scope had asked itself to stop.
  bool child_fails(std::exception_ptr what) noexcept;
  [[nodiscard]] bool failed() const noexcept { return core_.failed(); }
  /// Most scopes need none: it is made at the first call. Throws std::bad_alloc.
  [[nodiscard]] std::stop_source& stopping();
  void request_stop() noexcept { core_.request_stop(); }

 private:
  void fails(std::exception_ptr what) noexcept;
  // Whether the body or a child was cancelled after `outer` had stopped: if so, it is noted, and is no failure.
  bool is_cut_short(const std::exception_ptr& what) noexcept;
  void destroy_rare_parts() noexcept;
  [[noreturn]] void hand_over_failures();
  core_type core_;
  const core* home_ = nullptr;
  frame* caller_ = nullptr;
  source_place called_at_;
  frame* body_ = nullptr;
  std::stop_token outer_;
  std::vector<std::exception_ptr>* wanted_failures_;
  std::atomic<bool> failures_are_missing_{false};  // there was no memory to keep them all
  waiter<task_waiting> waiter_;
};

template <class T>
class [[nodiscard]] scope_fork : public fork_awaiter<T> {
 public:
  scope_fork(const scope_state& home, task<T>&& child) noexcept : fork_awaiter<T>(std::move(child)), home_(home) {}
  template <std::derived_from<promise_base> Promise>
  [[nodiscard]] std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> caller) {
    if (!home_.is_body(caller.promise())) {
      throw_misuse(
          "runq: scope::fork() was called by a coroutine that is not the body of the scope; start the child by "
          "scope::go() there");
    }
    return fork_awaiter<T>::await_suspend(caller);
  }

 private:
  const scope_state& home_;
};

template <class F>
class scope_call;

/// A failure of a child whose result is kept is a failure of the scope, too.
struct tells_scope {
  scope_state* home;
  void operator()(const std::exception_ptr& what) const noexcept { static_cast<void>(home->child_fails(what)); }
};

/// What a child of scope::go_within() runs, with the unit that it gives back at its end.
template <class F>
class work_within {
 public:
  work_within(semaphore::guard&& unit, F&& work) : unit_(std::move(unit)), work_(std::move(work)) {}
  auto operator()() {
    if constexpr (is_task<F>::value) {
      return std::move(work_);
    } else {
      return std::invoke(work_);
    }
  }

 private:
  semaphore::guard unit_;  // given back when work_ has been destroyed
  F work_;
};

}  // namespace detail

/// What with_scope() gives its body: starts the children of the scope. It lies in the awaiter that with_scope()
/// returns, and is not to be used any more when the co_await has gone on: the body and all children have ended then.
/// Each call throws runq::misuse while that awaiter exists, which usually is a temporary of the co_await's own
/// statement; later a call is undefined behaviour.
class scope {
 public:
  scope(const scope&) = delete;
  scope& operator=(const scope&) = delete;
  ~scope() = default;

  /// `co_await s.fork(child)`: as runq::fork(), by the body itself; the body may join() its children, and those that it
  /// has not joined at its end, or when an exception leaves it, are joined then. Throws runq::misuse when another
  /// coroutine than the body calls it.
  template <class T>
  [[nodiscard]] detail::scope_fork<T> fork(task<T> child) {
    return detail::scope_fork<T>(state(), std::move(child));
  }

  /// Starts a task of the scope, as runq::go() does, but an exception that leaves it is a failure of the scope, and the
  /// scope does not end before the task. Its result is dropped. The body and any child may call this as often as they
  /// like: the memory of a task is given back when it ends. With g++ up to 12 the restriction of runq::go() holds: not
  /// in an expression with a co_await. Throws std::bad_alloc; runq::misuse outside a scheduler, for a task that was
  /// awaited or moved from, when the task that calls it belongs to another scheduler than the scope, and when all tasks
  /// of the scope have ended.
  template <class F>
  void go(F&& f, const char* name = nullptr) {
    detail::scope_state& here = state();
    start(here, name, [&] { return detail::make_child_task(std::forward<F>(f), here); });
  }

  /// Starts a task of the scope, as go() does, and returns a handle with its result: `co_await handle` waits for the
  /// child's end, in the scope or after it, and returns its result, or throws its exception. That exception is a
  /// failure of the scope all the same. A handle that is destroyed drops the result; it asks nobody to stop. A child
  /// must not refer to the variables of another one, also if that awaits it: at the end of a run all of them are
  /// destroyed before the body, but in no order among each other. Throws as go().
  ///
  ///     runq::spawned<int> answer;
  ///     co_await runq::with_scope([&](runq::scope& s) -> runq::task<> {
  ///       answer = s.spawn([] { return 42; });
  ///       co_return;
  ///     });
  ///     const int n = co_await answer;
  template <class F>
  [[nodiscard]] auto spawn(F&& f, const char* name = nullptr) {
    static_assert(detail::is_task<std::decay_t<F>>::value || std::invocable<std::decay_t<F>&>,
                  "runq::scope::spawn: what it starts is a task, or a function that can be called without arguments; "
                  "the token that asks it to stop is the scope's, stop_token()");
    detail::scope_state& here = state();
    return detail::spawn_by(std::forward<F>(f), detail::tells_scope{&here}, [&](detail::new_task made, auto& child) {
      child.in_scope = true;
      child.scope = &here;
      made.is_child(child);
      start(here, name, [&] { return std::move(made); });
    });
  }

  /// `co_await s.go_within(slots, f)` waits for a unit of `slots` and then starts `f` as go() does. The child has the
  /// unit until it has ended, so at most as many children run at the same time as there are units. When the scope is
  /// asked to stop, also by the failure of a child, it starts nothing and throws runq::cancelled. A temporary `f` is
  /// moved into the child. `slots` must outlive the scope; several scopes may share it. Children that wait here while
  /// they have units themselves may wait for each other for ever. The body, and any child.
  ///
  ///     runq::semaphore slots(10);
  ///     co_await runq::with_scope([&](runq::scope& s) -> runq::task<> {
  ///       for (int i = 0; i != 1000; ++i) co_await s.go_within(slots, work(i));
  ///     });
  template <class F>
  [[nodiscard]] task<> go_within(semaphore& slots, F&& f, const char* name = nullptr,
                                 source_place at = source_place::here()) {
    static_assert(detail::no_function_destroyed_twice<F>());
    return begin_within<std::decay_t<F>>(slots, std::forward<F>(f), name, at);
  }

  /// For everything in the scope that can be asked to stop: select, net. Stop is requested by the first failure, by
  /// request_stop() and by the token that with_scope() was given. The body, and any child. Throws std::bad_alloc.
  [[nodiscard]] std::stop_token stop_token() const { return state().stopping().get_token(); }
  /// Asks all tasks of the scope to stop, which is no failure. The body, and any child. Needs no memory.
  void request_stop() { state().request_stop(); }
  /// Whether the body or a child has failed yet.
  [[nodiscard]] bool failed() const { return state().failed(); }

 private:
  template <class F>
  friend class detail::scope_call;
  explicit scope(detail::scope_state& state) noexcept : state_(&state) {}
  /// Starts the task that `make()` returns, a child of this scope, whose state is `here`.
  template <class Make>
  static void start(detail::scope_state& here, const char* name, Make&& make) {
    here.begins();
    try {
      detail::processor_front& p = detail::front_of_task();
      if (&p.home != here.home()) detail::scope_state::throw_elsewhere();
      detail::spawn(p, std::forward<Make>(make)(), name);
    } catch (...) {
      here.ends();
      throw;
    }
  }
  template <class F>
  task<> begin_within(semaphore& slots, F f, const char* name, source_place at) {
    auto unit = co_await detail::placed(slots.scoped_acquire(stop_token()), at);
    // A child that has failed asks for a stop before it gives its unit back, which may be this one.
    if (stop_token().stop_requested()) throw cancelled();
    go(detail::work_within<F>(std::move(unit), std::move(f)), name);
  }
  [[nodiscard]] detail::scope_state& state() const {
    detail::scope_state* const here = state_;
    if (here == nullptr) detail::scope_state::throw_ended();
    return *here;
  }
  detail::scope_state* state_;  // null after the end
};

namespace detail {

template <class F>
class [[nodiscard]] scope_call {
  using body_task = std::invoke_result_t<F&, scope&>;
  static_assert(is_task<body_task>::value,
                "runq::with_scope: the body takes a runq::scope& and returns a task, as in "
                "[&](runq::scope& s) -> runq::task<> {...}");

 public:
  scope_call(F& body, std::stop_token outer, std::vector<std::exception_ptr>* failures) noexcept
      : body_(body), state_(std::move(outer), failures), here_(state_) {}
  scope_call(const scope_call&) = delete;
  scope_call& operator=(const scope_call&) = delete;

  [[nodiscard]] bool await_ready() const noexcept { return false; }
  template <std::derived_from<promise_base> Promise>
  [[nodiscard]] std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> caller,
                                                      source_place at = source_place::here()) {
    processor_front& p = own_front();
    called_.emplace(std::invoke(body_, here_));
    const auto body = access::handle(*called_);
    if (!body || body.promise().how != role::fresh) {
      throw_misuse("runq: the body of a scope returned a task that was moved from or awaited");
    }
    state_.call(p, caller.promise(), body.promise(), at);
    return transfer(p, body);
  }
  auto await_resume() {
    here_.state_ = nullptr;
    state_.rethrow_first();
    return access::handle(*called_).promise().take();
  }
  /// For with_timeout(): makes the same call with a token. Throws runq::misuse if it has one.
  [[nodiscard]] auto stoppable() && {
    must_have_no_token(state_.outer());
    return [&body = body_, failures = state_.wanted_failures()](std::stop_token stop) {
      return scope_call(body, std::move(stop), failures);
    };
  }

 private:
  F& body_;
  scope_state state_;
  scope here_;
  std::optional<body_task> called_;
};

}  // namespace detail

/// `co_await with_scope(body)` calls the coroutine body(scope&) and returns its result when it and all children that
/// were forked and started in the scope have ended: also when an exception leaves it. The first failure, of the body or
/// of a child, asks the others to stop and is thrown here when all have ended. `failures`, if it is
/// not null, gets all of them, the first one first; without memory for that, std::bad_alloc is thrown instead. When
/// `outer` stops, the scope is asked to stop, too, before that request_stop() returns.
///
/// runq::cancelled that leaves a child after the scope was asked to stop is no failure. If the scope's own body or
/// child has asked, by scope::request_stop(), the scope ends as if that child had returned: it got what it asked for.
/// If `outer` had stopped before runq::cancelled left the body or the child, work was not done: then runq::cancelled is
/// thrown here when all have ended, and in the body by a join() that waits for that child; a failure is thrown instead,
/// if there is one. When all return although `outer` has stopped, nothing is thrown: nobody but a child knows what it
/// leaves undone when it looks at the token and returns early.
///
/// Children may refer to objects that live outside of the body: also when the run ends, they are destroyed before
/// those. The body's own variables are destroyed before its children end, unless it joins them. The co_await takes as
/// long as the slowest child. Tasks only.
///
///     std::vector<int> squares(4);
///     co_await runq::with_scope([&](runq::scope& s) -> runq::task<> {
///       for (int i = 0; i != 4; ++i) s.go([&squares, i] { squares[i] = i * i; });
///       co_return;
///     });
template <class F>
[[nodiscard]] detail::scope_call<std::remove_reference_t<F>> with_scope(
    F&& body, std::stop_token outer = {}, std::vector<std::exception_ptr>* failures = nullptr) {
  static_assert(detail::no_function_destroyed_twice<F>());
  return detail::scope_call<std::remove_reference_t<F>>(body, std::move(outer), failures);
}

}  // namespace runq
