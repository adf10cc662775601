// SPDX-License-Identifier: MIT
// asio: tasks that wait for what the threads of an Asio io_context do, and the other way round.
//
// Not part of <runq/runq.hpp>: needs Asio 1.22 or later, stand-alone (Debian: libasio-dev). With RUNQ_BOOST_ASIO
// defined as 1, the same in all sources of a program, it is Boost.Asio of Boost 1.74 or later, and `asio::` below
// stands for `boost::asio::`. Not in the name space runq::asio, which would hide ::asio. docs/executors.md has
// examples.
#pragma once

#include <concepts>
#include <exception>
#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <stop_token>
#include <tuple>
#include <type_traits>
#include <utility>

#include "runq/detail/asio_library.hpp"
#include "runq/detail/fatal.hpp"
#include "runq/detail/outside_work.hpp"
#include "runq/detail/temporaries.hpp"
#include "runq/scheduler.hpp"
#include "runq/source_place.hpp"
#include "runq/task.hpp"

namespace runq {

namespace detail {

[[nodiscard]] inline std::exception_ptr aborted_by_asio() {
  return std::make_exception_ptr(asio_system_error(asio_library::error::operation_aborted));
}

/// A Work in the queue of an executor. A handler that is destroyed without having been called drops it.
template <class Work>
class asio_job {
 public:
  explicit asio_job(std::shared_ptr<Work> what) noexcept : what_(std::move(what)) {}
  asio_job(asio_job&&) noexcept = default;
  asio_job& operator=(asio_job&&) = delete;
  ~asio_job() {
    if (what_ != nullptr) what_->drop();
  }

 protected:
  [[nodiscard]] std::shared_ptr<Work> take() noexcept { return std::exchange(what_, nullptr); }
  [[nodiscard]] Work& what() const noexcept { return *what_; }

 private:
  std::shared_ptr<Work> what_;
};

// ---- a function on an executor --------------------------------------------------------------------------------------

template <class F>
class asio_call : public outside_work {
  using result = std::invoke_result_t<F&>;

 public:
  asio_call(F&& f, std::stop_token stop) : f_(std::move(f)), stop_(std::move(stop)) {}

  void call() noexcept {
    if (!begin()) return;
    try {
      if (stop_.stop_requested()) throw cancelled();
      if constexpr (std::is_void_v<result>) {
        std::invoke(*f_);
      } else {
        out_.value.emplace(std::invoke(*f_));
      }
    } catch (...) {
      out_.error = std::current_exception();
    }
    finish();
  }
  void drop() noexcept {
    if (!begin()) return;
    out_.error = aborted_by_asio();
    finish();
  }
  void give_up() noexcept {
    outside_work::give_up();
    // If the call was never made, what f has captured is destroyed with the task, and not later by another thread.
    f_.reset();
  }
  [[nodiscard]] result take() { return result_of(out_); }

 private:
  // What f has captured is destroyed before the task goes on.
  void finish() {
    f_.reset();
    end();
  }
  std::optional<F> f_;
  std::stop_token stop_;
  outcome<result> out_;
};

template <class F>
class asio_call_job : public asio_job<asio_call<F>> {
 public:
  using asio_job<asio_call<F>>::asio_job;
  void operator()() { this->take()->call(); }
};

// An executor must not outlive its context, so the frame of a task that waits keeps none: it is a parameter here.
template <class Executor, class Job>
void post_to_asio(Executor where, Job&& job) {
  asio_library::post(where, std::forward<Job>(job));
}

template <class Executor, class F>
task<std::invoke_result_t<F&>> call_on_asio(Executor where, F f, std::stop_token stop, source_place at) {
  const auto call = std::make_shared<asio_call<F>>(std::move(f), std::move(stop));
  const gives_up<asio_call<F>> at_the_end(*call);
  post_to_asio(std::move(where), asio_call_job<F>(call));
  co_await placed(call->over().wait(), at);
  co_return call->take();
}

template <class Where>
[[nodiscard]] auto executor_of(Where& where) {
  if constexpr (requires { where.get_executor(); }) {
    return where.get_executor();
  } else {
    return where;
  }
}

// ---- an asynchronous operation --------------------------------------------------------------------------------------

/// See runq::asio_token().
struct asio_token_type {
  std::stop_token stop;
  source_place at;
};

/// What a completion with these arguments means to a task. Values beside an error are not moved.
template <class... Args>
struct asio_result {
  using type = typename as_one_value<std::decay_t<Args>...>::type;
  template <class... Given>
  static void keep(outcome<type>& out, Given&&... values) {
    if constexpr (sizeof...(Args) != 0) out.value.emplace(std::forward<Given>(values)...);
  }
};
template <class... V>
struct asio_result<std::exception_ptr, V...> {
  using type = typename as_one_value<std::decay_t<V>...>::type;
  template <class... Given>
  static void keep(outcome<type>& out, std::exception_ptr error, Given&&... values) {
    out.error = std::move(error);
    if (!out.error) asio_result<V...>::keep(out, std::forward<Given>(values)...);
  }
};
template <class... V>
struct asio_result<asio_error_code, V...> {
  using type = typename as_one_value<std::decay_t<V>...>::type;
  template <class... Given>
  static void keep(outcome<type>& out, asio_error_code error, Given&&... values) {
    if (error) {
      out.error = std::make_exception_ptr(asio_system_error(error));
    } else {
      asio_result<V...>::keep(out, std::forward<Given>(values)...);
    }
  }
};

template <class... Args>
class asio_handler;

template <class... Args>
class asio_operation : public outside_work, public std::enable_shared_from_this<asio_operation<Args...>> {
  using traits = asio_result<Args...>;

 public:
  using result = typename traits::type;

  explicit asio_operation(std::stop_token stop) : stop_(std::move(stop)) {}

  /// `where` begins the operation and executes its handlers. To be called before start().
  template <class Executor>
  void cancel_on(const Executor& where) {
    cancel_ = [where](std::shared_ptr<asio_operation> self) {
      asio_library::post(where, [self = std::move(self)] { self->emit(); });
    };
  }
  /// Begins the operation, unless its task is gone or a stop was requested. Called on the executor.
  template <class Initiation, class... Given>
  void start(Initiation&& initiation, Given&&... given) noexcept {
    if (!begin()) return;
    if (stop_.stop_requested()) return fail(aborted_by_asio());
    set_starting(true);
    std::exception_ptr thrown;
    try {
      std::forward<Initiation>(initiation)(asio_handler<Args...>(this->shared_from_this()),
                                           std::forward<Given>(given)...);
    } catch (...) {
      thrown = std::current_exception();
    }
    // If the handler still exists, it will be called or destroyed, whatever the initiation has thrown.
    if (set_starting(false)) fail(thrown ? std::move(thrown) : aborted_by_asio());
  }
  /// Called when the operation has ended.
  template <class... Given>
  void complete(Given&&... values) noexcept {
    try {
      traits::keep(out_, std::forward<Given>(values)...);
    } catch (...) {
      out_.error = std::current_exception();
    }
    finish();
  }
  /// Called when no thread will call start() any more, or, after start(), complete().
  void drop() noexcept {
    if (!begin()) return;
    bool starts = false;
    this->unless_over([&] {
      starts = starting_;
      dropped_ = true;
    });
    // If the initiation throws, it destroys the handler first: then start() knows the error.
    if (!starts) fail(aborted_by_asio());
  }
  [[nodiscard]] asio_cancellation::slot slot() noexcept { return signal_.slot(); }

  /// Asks the operation to end soon. Without memory for the request it goes on to its end. Any thread.
  void cancel() noexcept {
    try {
      this->unless_over([this] {
        if (cancel_) cancel_(this->shared_from_this());
      });
    } catch (const std::exception&) {
    }
  }
  void give_up() noexcept {
    cancel();
    outside_work::give_up();
    forget_executor();
  }
  /// Throws runq::cancelled if a stop request has ended it.
  [[nodiscard]] result take() {
    if (out_.error && stop_.stop_requested() && was_aborted()) throw cancelled();
    return result_of(out_);
  }

 private:
  void fail(std::exception_ptr error) {
    out_.error = std::move(error);
    finish();
  }
  void finish() {
    forget_executor();
    end();
  }
  // Drops the executor, which must not outlive its context.
  void forget_executor() {
    this->unless_over([this] { cancel_ = nullptr; });
  }
  // Returns whether the handler was destroyed without having been called.
  bool set_starting(bool starts) {
    bool dropped = false;
    this->unless_over([&] {
      starting_ = starts;
      dropped = dropped_;
    });
    return dropped;
  }
  // Called on the thread that executes the operation, so that the operation is not completed meanwhile.
  void emit() {
    bool goes_on = false;
    this->unless_over([&] { goes_on = cancel_ != nullptr; });
    if (goes_on) signal_.emit(asio_cancellation::type::all);
  }
  [[nodiscard]] bool was_aborted() const noexcept {
    try {
      std::rethrow_exception(out_.error);
    } catch (const asio_system_error& e) {
      return e.code() == asio_library::error::operation_aborted;
    } catch (...) {
      return false;
    }
  }

  const std::stop_token stop_;
  asio_cancellation::signal signal_;
  // Until the operation is over or given up, these three are used only under the lock of unless_over().
  std::function<void(std::shared_ptr<asio_operation>)> cancel_;
  bool starting_ = false;
  bool dropped_ = false;
  outcome<result> out_;
};

template <class... Args>
class asio_handler : public asio_job<asio_operation<Args...>> {
 public:
  using cancellation_slot_type = asio_cancellation::slot;
  using asio_job<asio_operation<Args...>>::asio_job;
  [[nodiscard]] cancellation_slot_type get_cancellation_slot() const noexcept { return this->what().slot(); }
  template <class... Given>
  void operator()(Given&&... values) {
    this->take()->complete(std::forward<Given>(values)...);
  }
};

template <class Operation, class Initiation, class... Given>
class asio_start : public asio_job<Operation> {
 public:
  asio_start(std::shared_ptr<Operation> what, Initiation&& initiation, Given&&... given)
      : asio_job<Operation>(std::move(what)), initiation_(std::move(initiation)), given_(std::move(given)...) {}
  void operator()() {
    const auto what = this->take();
    std::apply([&](Given&... given) { what->start(std::move(initiation_), std::move(given)...); }, given_);
  }

 private:
  Initiation initiation_;
  std::tuple<Given...> given_;
};

template <class Signature>
struct asio_initiator;
template <class R, class... Args>
struct asio_initiator<R(Args...)> {
  using operation = asio_operation<Args...>;

  template <class Initiation, class... Given>
  static stoppable_task<typename operation::result> run(Initiation initiation, std::stop_token stop, source_place at,
                                                        Given... given) {
    if (stop.stop_requested()) throw cancelled();
    const auto o = std::make_shared<operation>(stop);
    {
      const gives_up<operation> at_the_end(*o);
      begin(o, std::move(initiation), std::move(given)...);
      const auto cancel = [&o]() noexcept { o->cancel(); };
      const std::stop_callback on_stop(stop, cancel);
      co_await placed(o->over().wait(), at);
    }
    co_return o->take();
  }

 private:
  // The parameters are copies, so that no executor, not even one inside the initiation, is left in the frame of the
  // task.
  template <class Initiation, class... Given>
  static void begin(const std::shared_ptr<operation>& o, Initiation initiation, Given... given) {
    const auto where = asio_library::get_associated_executor(initiation);
    if constexpr (!std::is_same_v<std::decay_t<decltype(where)>, asio_library::system_executor>) o->cancel_on(where);
    // The operation begins on the executor of its I/O object, because only that executor's handlers use the object. If
    // the object has none, it begins here.
    asio_library::dispatch(where,
                           asio_start<operation, Initiation, Given...>(o, std::move(initiation), std::move(given)...));
  }
};

// ---- a task for Asio ------------------------------------------------------------------------------------------------

template <class F>
[[nodiscard]] auto started_by(F& f, const std::stop_token& stop) {
  if constexpr (std::is_invocable_v<F&, const std::stop_token&>) {
    return std::invoke(f, stop);
  } else {
    return std::invoke(f);
  }
}

template <class F>
concept invocable_by_asio = std::invocable<F&> || std::invocable<F&, const std::stop_token&>;
template <class F>
concept starts_task = invocable_by_asio<F> && is_task<decltype(started_by(std::declval<F&>(), {}))>::value;

/// What the handler of a task is called with: its result, or why there is none.
template <class Handler, class R>
class asio_answer {
 public:
  using executor = asio_library::associated_executor_t<Handler>;
  explicit asio_answer(Handler&& handler)
      : where_(asio_library::get_associated_executor(handler)), work_(where_), handler_(std::move(handler)) {}

  [[nodiscard]] const executor& where() const noexcept { return where_; }
  [[nodiscard]] const Handler& handler() const noexcept { return handler_; }
  /// To be called when the task has ended: if it has neither a result nor an error, it was destroyed by the end of its
  /// run.
  void close() noexcept {
    if (!out_.error && !has_result_) out_.error = std::make_exception_ptr(run_ended());
  }
  /// Called when no task could be started.
  void fail(std::exception_ptr error) noexcept { out_.error = std::move(error); }
  template <class F>
  task<void> run(F& f, const std::stop_token& stop) {
    try {
      auto work = started_by(f, stop);
      if constexpr (std::is_void_v<R>) {
        co_await work;
      } else {
        out_.value.emplace(co_await work);
      }
      has_result_ = true;
    } catch (...) {
      out_.error = std::current_exception();
    }
  }
  /// Calls the handler. Once, on its executor.
  void give() {
    const auto work = std::move(work_);
    auto handler = std::move(handler_);
    asio_cancellation::get_associated_cancellation_slot(handler).clear();
    if constexpr (std::is_void_v<R>) {
      std::move(handler)(out_.error);
    } else {
      std::move(handler)(out_.error, out_.value ? std::move(*out_.value) : R());
    }
  }

 private:
  executor where_;
  asio_library::executor_work_guard<executor> work_;
  Handler handler_;
  outcome<R> out_;
  bool has_result_ = false;
};

/// Lies in the queue of the handler's executor, in memory from the handler's allocator.
template <class Handler, class R>
class asio_delivery {
 public:
  using allocator_type = asio_library::associated_allocator_t<Handler>;
  explicit asio_delivery(std::shared_ptr<asio_answer<Handler, R>> what) noexcept
      : what_(std::move(what)), allocator_(asio_library::get_associated_allocator(what_->handler())) {}
  [[nodiscard]] allocator_type get_allocator() const noexcept { return allocator_; }
  void operator()() { std::exchange(what_, nullptr)->give(); }

 private:
  std::shared_ptr<asio_answer<Handler, R>> what_;
  allocator_type allocator_;  // still needed after `what_` was moved from
};

/// Calls `f`, and calls it once more if there was no memory. If `f` did not succeed, the handler would be lost.
template <class F>
auto or_end_process(F f) noexcept {
  try {
    return f();
  } catch (const std::bad_alloc&) {
  }
  try {
    return f();
  } catch (const std::bad_alloc&) {
    fatal("fatal error: runq: out of memory for the handler of asio_go\n");
  }
}

/// Sends the answer when it is destroyed.
template <class Handler, class R>
class asio_sender {
 public:
  explicit asio_sender(Handler&& handler) : what_(std::make_shared<asio_answer<Handler, R>>(std::move(handler))) {}
  asio_sender(const asio_sender&) = delete;
  asio_sender& operator=(const asio_sender&) = delete;
  ~asio_sender() {
    what_->close();
    or_end_process([this] { asio_library::post(what_->where(), asio_delivery<Handler, R>(what_)); });
  }
  [[nodiscard]] asio_answer<Handler, R>& answer() const noexcept { return *what_; }

 private:
  std::shared_ptr<asio_answer<Handler, R>> what_;
};

/// The members are destroyed in the reverse order: f before the answer is sent.
template <class Handler, class F, class R>
struct asio_work {
  std::shared_ptr<asio_sender<Handler, R>> sender;
  std::shared_ptr<std::stop_source> stop;
  F f;
};

template <class Handler, class F, class R>
task<void> work_for_asio(std::unique_ptr<asio_work<Handler, F, R>> work) {
  co_await work->sender->answer().run(work->f, work->stop->get_token());
}

/// What asio_go() gives to asio::async_initiate().
template <class R>
struct asio_go_initiation {
  template <class Handler, class F>
  void operator()(Handler handler, const scheduler::handle& home, F f) const {
    using whole = asio_work<Handler, F, R>;
    const auto slot = asio_cancellation::get_associated_cancellation_slot(handler);
    const auto sender = or_end_process([&] { return std::make_shared<asio_sender<Handler, R>>(std::move(handler)); });
    // The sender has the handler now, and tells it of every error.
    try {
      const auto stop = std::make_shared<std::stop_source>();
      if (auto writable = slot; writable.is_connected()) {
        writable.assign([stop](asio_cancellation::type) { stop->request_stop(); });
      }
      home.go(work_for_asio(std::unique_ptr<whole>(new whole{sender, stop, std::move(f)})), "asio_go");
    } catch (...) {
      sender->answer().fail(std::current_exception());
    }
  }
};

template <class F>
using asio_task_of = decltype(started_by(std::declval<F&>(), std::stop_token()));

template <class R>
struct asio_signature {
  using type = void(std::exception_ptr, R);
};
template <>
struct asio_signature<void> {
  using type = void(std::exception_ptr);
};

}  // namespace detail

/// `co_await on_asio(where, f)` calls f() on a thread of `where`, an io_context or an executor, and returns its result,
/// or throws its exception: the task waits, and goes on in its scheduler. `f` returns no task, and must not use this
/// library as a task does: it runs in none. If `stop` has stopped when f is about to be called, it is not called, and
/// runq::cancelled is thrown. Throws asio::system_error, operation_aborted, if `where` drops the call.
///
/// While the task waits it is no deadlock, also when no thread runs the io_context. If its run ends meanwhile, f is not
/// called any more, or, if it runs, the end of the run waits until f has returned. Tasks only.
template <class Where, class F>
[[nodiscard]] auto on_asio(Where&& where, F&& f, std::stop_token stop = {}, source_place at = source_place::here()) {
  static_assert(detail::no_function_destroyed_twice<F>());
  using function = std::decay_t<F>;
  using result = std::invoke_result_t<function&>;
  static_assert(!std::is_reference_v<result>, "runq::on_asio: the function must return a value, not a reference");
  static_assert(!detail::is_task<result>::value,
                "runq::on_asio: the function is called outside of the scheduler, where no task runs: it must not "
                "return a runq::task");
  return detail::call_on_asio(detail::executor_of(where), function(std::forward<F>(f)), std::move(stop), at);
}

/// A completion token: an asynchronous operation of Asio that is given it becomes a task<R>, which begins the operation
/// when it is awaited: `co_await socket.async_read_some(buffer, runq::asio_token())`. R is what the handler gets after
/// its error: nothing, one value, or a std::tuple. An error is thrown as asio::system_error, and the values beside it
/// are lost. The operation begins on the executor of its I/O object, so tasks on all processors may use one object at
/// the same time, as far as Asio allows the operations; other uses are brought there by on_asio(). That executor must
/// run one handler at a time: an io_context with one thread, or a strand.
///
/// When `stop` stops, the operation is asked to end (cancellation_type::all) on its executor, and if it then ends with
/// operation_aborted, runq::cancelled is thrown; an operation that cannot be cancelled goes on to its end.
///
/// The operation may use the task's buffers. So if the run ends while one is outstanding, it is cancelled and waited
/// for: its io_context must then still run, on a thread that is not the one that ends the run, or be destroyed before.
/// While a task waits it is no deadlock. Tasks only.
[[nodiscard]] inline detail::asio_token_type asio_token(std::stop_token stop = {},
                                                        source_place at = source_place::here()) noexcept {
  return {std::move(stop), at};
}

/// Runs `f`, a function that returns a task<R>, with a std::stop_token or without parameters, as a task of `home`, and
/// completes `token` on its executor with (std::exception_ptr, R), or (std::exception_ptr): for Asio's coroutines,
/// `co_await runq::asio_go(home, f, asio::use_awaitable)` returns the result or throws. R is default-constructible. The
/// token's cancellation slot requests a stop. If the run or the scheduler ends first, the exception is
/// runq::run_ended; if there is no memory for the task, std::bad_alloc. Without memory for the handler itself the
/// process ends with a message, status 2. The io_context counts it as outstanding work, and must not be destroyed
/// before. Any thread.
template <class F, class Token>
auto asio_go(const scheduler::handle& home, F&& f, Token&& token) {
  static_assert(detail::no_function_destroyed_twice<F>());
  using function = std::decay_t<F>;
  static_assert(detail::starts_task<function>,
                "runq::asio_go: the function must return a runq::task, called without arguments or with a stop token");
  using result = typename detail::asio_task_of<function>::value_type;
  static_assert(std::is_void_v<result> || std::is_default_constructible_v<result>,
                "runq::asio_go: the handler is given a value also beside an error, so the task's result must be "
                "default-constructible");
  using signature = typename detail::asio_signature<result>::type;
  return detail::asio_library::async_initiate<Token, signature>(detail::asio_go_initiation<result>(), token, home,
                                                                function(std::forward<F>(f)));
}

}  // namespace runq

template <class Signature>
class runq::detail::asio_library::async_result<runq::detail::asio_token_type, Signature> {
 public:
  template <class Initiation, class... Args>
  [[nodiscard]] static auto initiate(Initiation&& initiation, runq::detail::asio_token_type token, Args&&... args) {
    return runq::detail::asio_initiator<Signature>::template run<std::decay_t<Initiation>, std::decay_t<Args>...>(
        std::forward<Initiation>(initiation), std::move(token.stop), token.at, std::forward<Args>(args)...);
  }
};
