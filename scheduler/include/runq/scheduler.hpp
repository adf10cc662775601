// SPDX-License-Identifier: MIT
// scheduler: runs tasks on a few threads, as Go runs goroutines. How it works: docs/scheduler.md.
#pragma once

#include <concepts>
#include <coroutine>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>

#include "runq/channel.hpp"
#include "runq/detail/futex.hpp"
#include "runq/detail/inside.hpp"
#include "runq/detail/temporaries.hpp"
#include "runq/fork.hpp"
#include "runq/options.hpp"
#include "runq/task.hpp"

namespace runq {

namespace detail {

template <class F, class Closure = closure>
struct closure_of : Closure {
  explicit closure_of(F g) : f(std::move(g)) {
    this->destroy = [](closure* self) noexcept { delete static_cast<closure_of*>(self); };
  }
  // NOLINTNEXTLINE(misc-new-delete-overloads): its delete is the sized one
  static void* operator new(std::size_t bytes) { return allocate_frame(bytes); }
  static void operator delete(void* memory, std::size_t bytes) noexcept { deallocate_frame(memory, bytes); }
  // For an over-aligned F. The frame cache derives the alignment from the size, which is a multiple of it: see
  // frame_cache.
  // NOLINTNEXTLINE(misc-new-delete-overloads): likewise
  static void* operator new(std::size_t bytes, std::align_val_t) { return allocate_frame(bytes); }
  static void operator delete(void* memory, std::size_t bytes, std::align_val_t) noexcept {
    deallocate_frame(memory, bytes);
  }
  F f;
};

/// Owns a closure until a task does.
struct destroy_closure {
  // unreached: only where a root's coroutine could not be made: fault_injection_test under clang++ at -O0 finds none.
  void operator()(closure* c) const noexcept { c->destroy(c); }
};
template <class Closure>
using closure_owner = std::unique_ptr<Closure, destroy_closure>;

/// What a call of an F without arguments returns. (std::invoke would take longer to compile, at every lambda.)
template <class F>
using result_of_call = decltype(std::declval<F&>()());
template <class F>
concept callable_without_arguments = requires(F& f) {
  f();
};

template <class F>
task<void> call_once(F f) {
  static_cast<void>(std::move(f)());
  co_return;
}

template <class T>
[[nodiscard]] new_task new_task_of(task<T>&& t) {
  if (!access::handle(t)) throw_misuse("runq: go() was given a task that was moved from");
  if (access::handle(t).promise().how != role::fresh) throw_misuse("runq: go() was given a task that was awaited");
  return new_task(access::release(t).promise());
}

/// A function without arguments that is a coroutine, or returns one.
template <class F>
concept makes_task = !is_task<F>::value && is_task<result_of_call<F>>::value;

/// Makes a task of a coroutine function, which lives as long as the task, in a `Closure`: keep(task, closure) gives the
/// task its closure.
template <class Closure, class F, class Keep>
[[nodiscard]] new_task task_with_function(F&& f, const Keep& keep) {
  auto* const made_closure = new closure_of<std::decay_t<F>, Closure>(std::forward<F>(f));
  closure_owner<Closure> kept(made_closure);
  auto made = new_task_of(made_closure->f());
  keep(made, *kept.release());
  return made;
}

/// A function object that needs no destructor, so that its task need not know how to destroy it.
template <class F>
concept plain_function = std::is_trivially_destructible_v<F> && sizeof(F) <= owned_closure::most_plain;

/// Makes a task of a coroutine function, which lives as long as the task.
template <class F>
requires plain_function<std::decay_t<F>>
[[nodiscard]] new_task task_with_plain_function(F&& f) {
  using function = std::decay_t<F>;
  constexpr std::size_t bytes = frame_memory<frame_cache::granule>::rounded(sizeof(function));
  struct owner {
    ~owner() { memory.destroy(); }
    owned_closure memory;
  };
  void* const memory = allocate_frame(bytes);
  owner kept{owned_closure::plain(memory, bytes)};
  auto made = new_task_of((*::new (memory) function(std::forward<F>(f)))());
  made.owns(std::exchange(kept.memory, owned_closure::none()));
  return made;
}

/// Makes a task of a task, or of a function that is no coroutine.
template <class F>
[[nodiscard]] new_task task_alone(F&& f) {
  static_assert(is_task<std::decay_t<F>>::value || callable_without_arguments<std::decay_t<F>>,
                "runq: what becomes a task is a task, or a function that can be called without arguments");
  if constexpr (is_task<std::decay_t<F>>::value) {
    return new_task_of(std::forward<F>(f));
  } else {
    return new_task_of(call_once<std::decay_t<F>>(std::forward<F>(f)));
  }
}

/// What go() makes of its argument.
template <class F>
[[nodiscard]] new_task make_task(F&& f) {
  if constexpr (makes_task<std::decay_t<F>> && plain_function<std::decay_t<F>>) {
    return task_with_plain_function(std::forward<F>(f));
  } else if constexpr (makes_task<std::decay_t<F>>) {
    return task_with_function<closure>(std::forward<F>(f),
                                       [](new_task& t, closure& c) noexcept { t.owns(owned_closure::of(c)); });
  } else {
    return task_alone(std::forward<F>(f));
  }
}

/// What scope::go() makes of its argument: the scope `home` counts the task as ended when all that the task owns is
/// destroyed.
template <class F>
[[nodiscard]] new_task make_child_task(F&& f, scope_state& home) {
  const auto keep = [&home](new_task& t, awaited_closure& c) noexcept {
    c.scope = &home;
    t.is_child(c);
  };
  if constexpr (makes_task<std::decay_t<F>>) {
    return task_with_function<awaited_closure>(std::forward<F>(f), keep);
  } else {
    auto made = task_alone(std::forward<F>(f));
    keep(made, *new closure_of<std::monostate, awaited_closure>(std::monostate()));
    return made;
  }
}

template <class F>
struct main_result {
  using type = result_of_call<F>;
};
template <class F>
requires is_task<F>::value struct main_result<F> {
  using type = typename F::value_type;
};
template <class F>
requires is_task<result_of_call<F>>::value struct main_result<F> {
  using type = typename result_of_call<F>::value_type;
};

template <class T>
struct outcome {
  std::optional<T> value;
  std::exception_ptr error;
};
template <>
struct outcome<void> {
  std::exception_ptr error;
};

/// Calls the main task's own coroutine, which ends the run.
template <class T>
class [[nodiscard]] main_awaiter : public task<T>::awaiter {
 public:
  explicit main_awaiter(const task<T>& body) noexcept : task<T>::awaiter(body.operator co_await()) {}
  [[nodiscard]] std::coroutine_handle<> await_suspend(std::coroutine_handle<> caller) const {
    return this->call_apart(caller, role::main_body);
  }
};

// These keep the result or the exception of the main task: of the task that `call(f)` returns, and of `call(f)` itself.
// They know no more of the callable than its result, because a coroutine takes long to compile, and each test of a
// program may have a main task of its own.
template <class R>
task<void> keep_outcome_of_task(task<R> (*call)(void* f), void* f, outcome<R>& out) {
  try {
    task<R> body = call(f);
    if constexpr (std::is_void_v<R>) {
      co_await main_awaiter<R>(body);
    } else {
      out.value.emplace(co_await main_awaiter<R>(body));
    }
  } catch (...) {
    out.error = std::current_exception();
  }
}
template <class R>
task<void> keep_outcome_of_call(R (*call)(void* f), void* f, outcome<R>& out) {
  try {
    if constexpr (std::is_void_v<R>) {
      call(f);
    } else {
      out.value.emplace(call(f));
    }
  } catch (...) {
    out.error = std::current_exception();
  }
  co_return;
}

/// Runs a task, a function or a coroutine function, which outlives the run, and keeps its result or its exception.
template <class F, class R>
[[nodiscard]] task<void> keep_outcome(F& f, outcome<R>& out) {
  if constexpr (is_task<F>::value) {
    const auto take = [](void* given) -> task<R> { return std::move(*static_cast<F*>(given)); };
    return keep_outcome_of_task<R>(take, std::addressof(f), out);
  } else if constexpr (is_task<result_of_call<F>>::value) {
    const auto call = [](void* callable) -> task<R> { return (*static_cast<F*>(callable))(); };
    return keep_outcome_of_task<R>(call, std::addressof(f), out);
  } else {
    const auto call = [](void* callable) -> R { return (*static_cast<F*>(callable))(); };
    return keep_outcome_of_call<R>(call, std::addressof(f), out);
  }
}

/// The type of `co_await a`, for an awaiter and for a type with a member operator co_await.
template <class A>
struct awaited_result {};
template <class A>
requires requires(A& a) { a.await_resume(); }
struct awaited_result<A> {
  using type = decltype(std::declval<A&>().await_resume());
};
template <class A>
requires requires(A&& a) { std::forward<A>(a).operator co_await(); }
struct awaited_result<A> : awaited_result<decltype(std::declval<A>().operator co_await())> {};
template <class A>
concept awaitable = requires {
  typename awaited_result<A>::type;
};

/// The type of the result for which a thread waits. `F` is a task, or a function that returns a task, another awaitable
/// or a value.
template <class F>
struct answer_of : std::invoke_result<F&> {};
template <class F>
requires is_task<F>::value struct answer_of<F> : awaited_result<F> {
};
template <class F>
requires(!is_task<F>::value && awaitable<std::invoke_result_t<F&>>) struct answer_of<F>
    : awaited_result<std::invoke_result_t<F&>> {
};

/// The state that a task and the thread that waits for it share.
template <class R>
struct question {
  outcome<R> out;      // only the task uses it until it has ended
  bool ended = false;  // the task has come to its end, and was not destroyed before; used like `out`
  parker asker;        // the waiting thread sleeps here
};

/// The task's handle of the state that it shares with the waiting thread. When the handle is destroyed, with or without
/// a result, the thread goes on.
template <class R>
class [[nodiscard]] promised_answer {
 public:
  explicit promised_answer(std::shared_ptr<question<R>> q) noexcept : to_(std::move(q)) {}
  promised_answer(promised_answer&&) noexcept = default;
  promised_answer& operator=(promised_answer&&) = delete;
  ~promised_answer() {
    if (to_) to_->asker.unpark();
  }
  [[nodiscard]] question<R>& to() const noexcept { return *to_; }

 private:
  std::shared_ptr<question<R>> to_;
};

/// Owned by the task that a thread waits for. At the task's end it destroys `f` first; then the thread goes on, also if
/// the task never began.
template <class F, class R>
struct asked_for {
  template <class Given>
  asked_for(const std::shared_ptr<question<R>>& q, Given&& given) : by(q), f(std::forward<Given>(given)) {}
  promised_answer<R> by;
  F f;
};

template <class F, class R>
task<void> answer_to(asked_for<F, R> asked) {
  question<R>& q = asked.by.to();
  F& f = asked.f;
  try {
    if constexpr (is_task<F>::value) {
      if constexpr (std::is_void_v<R>) {
        co_await f;
      } else {
        q.out.value.emplace(co_await f);
      }
    } else if constexpr (awaitable<std::invoke_result_t<F&>>) {
      if constexpr (std::is_void_v<R>) {
        co_await std::invoke(f);
      } else {
        q.out.value.emplace(co_await std::invoke(f));
      }
    } else if constexpr (std::is_void_v<R>) {
      std::invoke(f);
    } else {
      q.out.value.emplace(std::invoke(f));
    }
  } catch (...) {
    q.out.error = std::current_exception();
  }
  q.ended = true;
}

/// Throws runq::misuse if the calling thread runs a task.
void must_be_outside(const char* otherwise);

class yield_awaiter {
 public:
  [[nodiscard]] bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> self) const;
  void await_resume() const noexcept {}
};

/// For go(). Throws runq::misuse outside a scheduler.
[[nodiscard]] inline processor_front& front_of_task() {
  processor_front* const p = this_front();
  if (p == nullptr) {
    throw_misuse("runq: go() was called outside a scheduler; use runq::run(), or a scheduler::handle");
  }
  return *p;
}

}  // namespace detail

/// Starts a task and returns at once. There is no other way to start one. `f` is a task, a function without parameters
/// that returns one, or any other callable without parameters; it is moved (or copied) and lives as long as the task
/// needs it. The task runs next on the calling task's processor, or on the processor that steals it. `name`, a literal
/// or nullptr, is for dumps. An exception that leaves the task ends the process, status 2: `panic: ` and its text, the
/// task, and where it last waited, or `at`, where it was started. With
/// g++ up to 12 a lambda with captures may be started here as it is, but not in an expression with a co_await
/// (docs/limits.md).
///
/// Called by tasks (other threads: scheduler::handle::go). Throws std::bad_alloc; runq::misuse when called outside a
/// scheduler.
///
///     runq::go([] { std::puts("hello"); });
///     runq::go([n = 3]() -> runq::task<> { co_await work(n); });
template <class F>
void go(F&& f, const char* name = nullptr, source_place at = source_place::here()) {
  detail::processor_front& p = detail::front_of_task();
  detail::spawn(p, detail::make_task(std::forward<F>(f)), name, at);
}

/// `co_await yield()` lets the others run first: the tasks of the processor, those of the global queue, and those that
/// have yielded on this processor before.
/// Throws runq::misuse outside a scheduler.
[[nodiscard]] inline detail::yield_awaiter yield() noexcept { return {}; }

/// A set of processors and the threads that run tasks on them. Several may live in one process. Threads are started
/// when there is work for them and sleep when there is none.
class scheduler {
 public:
  /// Throws runq::misuse when an option in `wanted`, or the environment variable RUNQ_PROCS, is out of its range.
  explicit scheduler(const options& wanted = {});
  scheduler(const scheduler&) = delete;
  scheduler& operator=(const scheduler&) = delete;
  /// Ends the threads and destroys the tasks that are left, as at the end of run(). Handles may still exist: they start
  /// no task any more. If one of its own tasks destroys it, the process ends: `panic: runq: a scheduler was destroyed
  /// by one of its own tasks`, status 2. In a process that fork() made it does nothing, because the threads and the
  /// tasks are the parent's.
  ~scheduler();

  /// Runs a task, or a callable as for go(), as the main task, number 1, and returns its result, or throws its
  /// exception. As in Go, when the main task ends all others end, too: a task that waits never goes on, and its frames
  /// are destroyed, those that wait after what they wait for (docs/scheduler.md, "The order of destruction"); a task
  /// that is running runs until its next co_await. Channels, mutexes and wait groups that still exist forget these
  /// tasks. With options::until = run_until::all_have_ended the others go on, and it returns, or throws, when no task
  /// is left; a handle alone keeps no run going. Blocks the calling thread until the run is over. Throws runq::misuse
  /// when the calling thread belongs to a scheduler, or another run is in progress.
  ///
  /// When all tasks wait for each other the process ends: `fatal error: all goroutines are asleep - deadlock!`, the
  /// tasks and what they wait for, status 2; but see options::threads_without_handle.
  template <class F>
  auto run(F&& main) {
    using callable = std::decay_t<F>;
    static_assert(detail::is_task<callable>::value || detail::callable_without_arguments<callable>,
                  "runq: the main task is a task, or a function that can be called without arguments");
    using result = typename detail::main_result<callable>::type;
    detail::outcome<result> out;
    callable kept(std::forward<F>(main));
    run_main(detail::new_task_of(detail::keep_outcome(kept, out)));
    if (out.error) std::rethrow_exception(out.error);
    if constexpr (!std::is_void_v<result>) return std::move(out.value).value();
  }

  /// What a thread outside the scheduler holds while it may start or wake tasks: as long as there is a handle, waiting
  /// tasks are no deadlock. A task gets one by this_task::handle(). Any thread.
  class handle;
  [[nodiscard]] handle attach();

  /// Blocks the calling thread until every task has ended. Throws runq::misuse when a task calls it.
  void wait();

  /// Sets the number of processors, 1 … options::max_procs, and returns the former one. New processors are used at
  /// once. A surplus processor is given up when its running task next waits or yields, and its tasks move to the head
  /// of the global queue. A call while a run ends takes effect for the next run. Any thread, tasks included. Throws
  /// runq::misuse when n is out of range.
  unsigned set_procs(unsigned n);
  [[nodiscard]] unsigned procs() const noexcept;

  [[nodiscard]] statistics stats() const;
  /// The state in one line, as RUNQ_SCHEDTRACE=ms prints it every so many milliseconds, in the format of Go 1.20 to
  /// 1.25:
  /// `SCHED 48ms: gomaxprocs=2 idleprocs=1 threads=4 spinningthreads=0 needspinning=0 idlethreads=2 runqueue=0 [0 0]`;
  /// the monitor counts as a thread, the brackets hold the lengths of the local queues. With `detail`, as with
  /// RUNQ_SCHEDDETAIL=1, a line follows for each processor, machine and task.
  [[nodiscard]] std::string trace(bool detail = false) const;
  /// All tasks as `goroutine N [state]:`, their names, and the file and line at which they wait, as in a deadlock's
  /// message.
  [[nodiscard]] std::string dump() const;

 private:
  void run_main(detail::new_task main);
  detail::core& own_core();
  std::shared_ptr<detail::core> core_;  // handles share it
};

/// Thrown when a thread waits in scheduler::handle, or a task for a spawned task, and the run or the scheduler ends
/// before they get their answer.
class run_ended : public std::exception {
 public:
  [[nodiscard]] const char* what() const noexcept override { return "runq: the run ended before what is waited for"; }
};

/// See scheduler::attach(). Copyable; any number of threads may use one at the same time. It may outlive the scheduler:
/// then it starts no task any more.
///
///     runq::wait_group group;
///     group.add(1);
///     std::thread worker([&, here = runq::this_task::handle()] { group.done(); });
///     co_await group.wait();
///     worker.join();
class scheduler::handle {
 public:
  handle(const handle& other);
  handle& operator=(const handle&) = delete;
  ~handle();
  /// Whether they are of the same scheduler.
  [[nodiscard]] friend bool operator==(const handle& a, const handle& b) noexcept { return a.core_ == b.core_; }

  /// Starts a task as runq::go() does, from any thread; the task begins at the end of the global queue. A task that is
  /// started while a run ends is either destroyed with the others, or begins after that end, even if there is no other
  /// run. A task that has not begun when the scheduler is destroyed is destroyed with it.
  template <class F>
  void go(F&& f, const char* name = nullptr, source_place at = source_place::here()) const {
    detail::spawn_outside(*core_, detail::make_task(std::forward<F>(f)), name, at);
  }

  /// Runs `f` as a task, blocks the calling thread until it has ended, and returns its result, or throws its exception.
  /// `f` is a task, or a function without parameters that returns a task, another awaitable, or a value: a function
  /// that returns `c.receive()` waits for that. Needs no run(). Throws run_ended if the task is destroyed, because its
  /// run or its scheduler ends; runq::misuse when a task calls it (a task awaits instead); std::bad_alloc. Any thread
  /// that runs no task, any number at the same time.
  template <class F>
  auto block_on(F&& f, const char* name = "block_on") const {
    using callable = std::decay_t<F>;
    static_assert(detail::is_task<callable>::value || std::invocable<callable&>,
                  "runq: block_on: what it waits for is a task, or a function that can be called without arguments");
    using result = typename detail::answer_of<callable>::type;
    static_assert(!std::is_reference_v<result>, "runq: block_on: what it waits for must return a value, no reference");
    detail::must_be_outside(
        "runq: block_on(), receive(), send() and wait() of a handle block their thread: a task co_awaits instead");
    const auto asked = std::make_shared<detail::question<result>>();
    go(detail::answer_to(detail::asked_for<callable, result>(asked, std::forward<F>(f))), name);
    asked->asker.park();
    if (!asked->ended) throw run_ended();
    // Moved out, because the task's thread may give up the last reference to `asked`.
    detail::outcome<result> out = std::exchange(asked->out, {});
    if (out.error) std::rethrow_exception(std::move(out.error));
    if constexpr (!std::is_void_v<result>) return std::move(*out.value);
  }

  /// Receives from a channel, or from a handle of one: nothing when it is closed and empty. Blocks the calling thread
  /// while no task sends; starts no task if it need not wait. Throws what block_on() throws.
  template <class Channel>
  [[nodiscard]] auto receive(Channel& from) const {
    std::optional<typename Channel::value_type> value;
    if (from.try_receive(value) != channel_result::waits) return value;
    return block_on([&from] { return from.receive(); }, "receive");
  }
  /// Sends to a channel, or to a handle of one. Blocks the calling thread while the channel is full; starts no task if
  /// it need not wait. Throws runq::misuse("send on closed channel"), and what block_on() throws.
  template <class Channel>
  void send(Channel& to, typename Channel::value_type value) const {
    using by_value = detail::by_value<typename Channel::value_type>;
    if (to.try_send(value) == channel_result::done) return;
    block_on([&] { return to.send(by_value(std::move(value))); }, "send");
  }
  /// Blocks the calling thread until the count of a wait_group or a latch is 0. Throws what block_on() throws.
  template <class Group>
  void wait(Group& group) const {
    block_on([&group] { return group.wait(); }, "wait");
  }

 private:
  friend scheduler;
  explicit handle(std::shared_ptr<detail::core> core) noexcept;
  std::shared_ptr<detail::core> core_;
};

/// Runs `main` on a scheduler of its own: see scheduler::run().
///
///     int main() {
///       return runq::run([]() -> runq::task<int> { co_return 0; });
///     }
template <class F>
auto run(F&& main, const options& wanted = {}) {
  return scheduler(wanted).run(std::forward<F>(main));
}

/// Functions about the calling task. Outside a scheduler all of them but running() throw runq::misuse.
namespace this_task {

/// Whether the caller is a task.
[[nodiscard]] bool running() noexcept;
/// 1 for the main task; ids grow, in batches of 16 per processor. A forked child that runs by itself has its own id,
/// and a task that has forked may go on under such an id after the fork or the join.
[[nodiscard]] std::uint64_t id();
/// The name that go() was given, or "".
[[nodiscard]] const char* name();
/// The processor that runs the task now, 0 … procs - 1. It may be another one after every co_await.
[[nodiscard]] unsigned processor();
/// A handle of the calling task's scheduler, for a thread outside that is to wake tasks, by `group.done()` for
/// instance. Take it before the thread begins: without one, tasks that only wait seem to be a deadlock.
[[nodiscard]] scheduler::handle handle();

}  // namespace this_task

/// The calling task's scheduler, which lives at least as long as the task. run() and wait() are not for tasks. Throws
/// runq::misuse outside a task.
[[nodiscard]] scheduler& this_scheduler();

/// Sets the number of processors of the calling task's scheduler: see scheduler::set_procs().
unsigned set_procs(unsigned n);
/// The number of processors of the calling task's scheduler.
[[nodiscard]] unsigned procs();

}  // namespace runq
