// SPDX-License-Identifier: MIT
// execution: tasks and senders in the manner of std::execution (P2300): a scheduler whose work runs as tasks, and tasks
// that wait for senders.
//
// Not part of <runq/runq.hpp>. The concepts are this header's own and only as large as these two need; where the
// program has stdexec, the tags and the queries are stdexec's, its algorithms accept the scheduler, and tasks wait for
// its senders. docs/executors.md has examples.
#pragma once

#include <concepts>
#include <exception>
#include <memory>
#include <stop_token>
#include <system_error>
#include <tuple>
#include <type_traits>
#include <utility>

#include "runq/detail/outside_work.hpp"
#include "runq/detail/temporaries.hpp"
#include "runq/scheduler.hpp"
#include "runq/source_place.hpp"
#include "runq/task.hpp"

#if __has_include(<stdexec/execution.hpp>)
#include <stdexec/execution.hpp>
#define RUNQ_HAS_STDEXEC 1
#else
#define RUNQ_HAS_STDEXEC 0
#endif

namespace runq::execution {

#if RUNQ_HAS_STDEXEC
using sender_tag = stdexec::sender_t;
using receiver_tag = stdexec::receiver_t;
using operation_state_tag = stdexec::operation_state_t;
using scheduler_tag = stdexec::scheduler_t;
using stdexec::completion_signatures;
using stdexec::set_error_t;
using stdexec::set_stopped_t;
using stdexec::set_value_t;
#else
/// A sender has `using sender_concept = sender_tag;`, and so on.
struct sender_tag {};
struct receiver_tag {};
struct operation_state_tag {};
struct scheduler_tag {};

/// A sender says how it completes: `using completion_signatures = execution::completion_signatures<set_value_t(int),
/// set_error_t(std::exception_ptr), set_stopped_t()>;`.
struct set_value_t {};
struct set_error_t {};
struct set_stopped_t {};
template <class... Signatures>
struct completion_signatures {};
#endif

/// A receiver is told of the end of an operation, by exactly one of three calls. None of them may throw. A receiver of
/// schedule() is told by set_value() or set_stopped().
template <class R>
concept receiver = std::move_constructible<std::remove_cvref_t<R>> &&
    std::derived_from<typename std::remove_cvref_t<R>::receiver_concept, receiver_tag> &&
    requires(std::remove_cvref_t<R>&& r) {
  { std::move(r).set_value() }
  noexcept;
  { std::move(r).set_stopped() }
  noexcept;
};

/// An operation state: it lives from start() until its receiver has been told.
template <class O>
concept operation_state = std::destructible<O> && requires(O& o) {
  { o.start() }
  noexcept;
};

template <class S, class R>
concept sender_to = std::derived_from<typename std::remove_cvref_t<S>::sender_concept, sender_tag> &&
    requires(S&& s, R&& r) {
  { std::forward<S>(s).connect(std::forward<R>(r)) } -> operation_state;
};

template <class S>
concept scheduler = std::copy_constructible<std::remove_cvref_t<S>> &&
    std::equality_comparable<std::remove_cvref_t<S>> &&
    std::derived_from<typename std::remove_cvref_t<S>::scheduler_concept, scheduler_tag> && requires(S&& s) {
  std::forward<S>(s).schedule();
};

namespace detail {

/// Whether the receiver's environment has a stop token, and a stop was requested. Without stdexec a receiver that may
/// be stopped has `stop_token() const`.
template <class Receiver>
[[nodiscard]] bool asked_to_stop(const Receiver& r) noexcept {
#if RUNQ_HAS_STDEXEC
  return stdexec::get_stop_token(stdexec::get_env(r)).stop_requested();
#else
  if constexpr (requires { r.stop_token(); }) {
    return r.stop_token().stop_requested();
  } else {
    return false;
  }
#endif
}

/// Held by the task that is to tell the receiver. If the task is destroyed before it has begun, the receiver is told,
/// too.
template <class Operation>
class duty {
 public:
  explicit duty(Operation& to) noexcept : to_(&to) {}
  duty(duty&& other) noexcept : to_(std::exchange(other.to_, nullptr)) {}
  duty& operator=(duty&&) = delete;
  ~duty() {
    if (to_ != nullptr) to_->stopped();
  }
  void operator()() noexcept { std::exchange(to_, nullptr)->runs(); }

 private:
  Operation* to_;
};

template <class Receiver>
class schedule_operation {
 public:
  using operation_state_concept = operation_state_tag;

  schedule_operation(std::shared_ptr<const runq::scheduler::handle> home, const char* name, Receiver&& r)
      : home_(std::move(home)), name_(name), receiver_(std::move(r)) {}
  schedule_operation(const schedule_operation&) = delete;
  schedule_operation& operator=(const schedule_operation&) = delete;

  void start() noexcept {
    // Kept here, because the receiver may destroy this object before go() has returned.
    const auto home = home_;
    try {
      home->go(duty<schedule_operation>(*this), name_);
    } catch (...) {
      // unreached: no test lets memory end at this place.
      // There is no memory for a task; the destructor of its duty has told the receiver.
    }
  }

 private:
  friend duty<schedule_operation>;
  void stopped() noexcept { std::move(receiver_).set_stopped(); }
  void runs() noexcept {
    if (asked_to_stop(receiver_)) {
      std::move(receiver_).set_stopped();
    } else {
      std::move(receiver_).set_value();
    }
  }

  const std::shared_ptr<const runq::scheduler::handle> home_;
  const char* const name_;
  Receiver receiver_;
};

}  // namespace detail

/// A scheduler of P2300 whose work runs as tasks. Copyable, cheap. While a copy exists, or a sender of it, waiting
/// tasks are no deadlock. It may outlive the scheduler behind it: then receivers are told that they were stopped.
class task_scheduler {
 public:
  using scheduler_concept = scheduler_tag;

  /// `name`, a literal or nullptr, is for dumps.
  explicit task_scheduler(const runq::scheduler::handle& home, const char* name = nullptr)
      : home_(std::make_shared<const runq::scheduler::handle>(home)), name_(name) {}

  /// connect() does nothing but make the operation state. start() starts a task, which tells the receiver: set_value(),
  /// or set_stopped() if a stop was requested before the task began. set_stopped() comes also when the task never
  /// begins, because its run or its scheduler has ended, or there is no memory for it; then it may be called on the
  /// thread that ends the run, or in start(). What runs in set_value() may use go(), but cannot wait. Any thread.
  class sender;
  [[nodiscard]] sender schedule() const noexcept;

  [[nodiscard]] friend bool operator==(const task_scheduler& a, const task_scheduler& b) noexcept {
    return *a.home_ == *b.home_;
  }

 private:
  std::shared_ptr<const runq::scheduler::handle> home_;
  const char* name_;
};

class task_scheduler::sender {
 public:
  using sender_concept = sender_tag;

  using completion_signatures = execution::completion_signatures<set_value_t(), set_stopped_t()>;

  explicit sender(task_scheduler from) noexcept : from_(std::move(from)) {}

  template <class Receiver>
  [[nodiscard]] detail::schedule_operation<std::remove_cvref_t<Receiver>> connect(Receiver&& r) const {
    static_assert(receiver<Receiver>,
                  "runq: connect() takes a receiver: receiver_concept, and noexcept set_value() and set_stopped()");
    return {from_.home_, from_.name_, std::remove_cvref_t<Receiver>(std::forward<Receiver>(r))};
  }

#if RUNQ_HAS_STDEXEC
  struct environment {
    task_scheduler from;
    [[nodiscard]] task_scheduler query(stdexec::get_completion_scheduler_t<stdexec::set_value_t>) const noexcept {
      return from;
    }
    [[nodiscard]] task_scheduler query(stdexec::get_completion_scheduler_t<stdexec::set_stopped_t>) const noexcept {
      return from;
    }
  };
  [[nodiscard]] environment get_env() const noexcept { return {from_}; }
#endif

 private:
  task_scheduler from_;
};

inline task_scheduler::sender task_scheduler::schedule() const noexcept { return sender(*this); }

// ---- a task that waits for a sender ---------------------------------------------------------------------------------

namespace detail {

/// What is sent with one signature: a list of one list of values, or an empty list if it sends no values.
template <class Signature>
struct values_of {
  using type = std::tuple<>;
};
template <class... V>
struct values_of<set_value_t(V...)> {
  using type = std::tuple<std::tuple<std::decay_t<V>...>>;
};

template <class Lists>
struct only_list {};
template <>
struct only_list<std::tuple<>> {
  using type = void;  // it never completes with set_value()
};
template <class... V>
struct only_list<std::tuple<std::tuple<V...>>> : runq::detail::as_one_value<V...> {};

template <class Signatures>
struct sent;
template <class... S>
struct sent<completion_signatures<S...>>
    : only_list<decltype(std::tuple_cat(std::declval<typename values_of<S>::type>()...))> {};

/// Where a task waits for a sender, and what its receiver was told.
template <class R>
class awaited : public runq::detail::outside_work {
 public:
  [[nodiscard]] std::stop_token stop_token() const noexcept { return stop_.get_token(); }
  void request_stop() noexcept { stop_.request_stop(); }

  /// Of these three one is called, once.
  template <class... V>
  void value(V&&... values) noexcept {
    if constexpr (sizeof...(V) != 0) {
      try {
        out_.value.emplace(std::forward<V>(values)...);
      } catch (...) {
        out_.error = std::current_exception();
      }
    }
    end();
  }
  template <class E>
  void error(E&& error) noexcept {
    if constexpr (std::is_same_v<std::decay_t<E>, std::exception_ptr>) {
      out_.error = std::forward<E>(error);
    } else if constexpr (std::is_same_v<std::decay_t<E>, std::error_code>) {
      out_.error = std::make_exception_ptr(std::system_error(error));
    } else {
      out_.error = std::make_exception_ptr(std::forward<E>(error));
    }
    end();
  }
  void stopped() noexcept {
    out_.error = std::make_exception_ptr(cancelled());
    end();
  }

  void give_up() noexcept {
    request_stop();
    outside_work::give_up();
  }
  [[nodiscard]] R take() { return runq::detail::result_of(out_); }

 private:
  std::stop_source stop_;
  runq::detail::outcome<R> out_;
};

/// Wakes the task that waits for the sender. After that the task may destroy the operation, and this receiver in it.
template <class R>
class waking_receiver {
 public:
  using receiver_concept = receiver_tag;
  explicit waking_receiver(std::shared_ptr<awaited<R>> to) noexcept : to_(std::move(to)) {}

  template <class... V>
  void set_value(V&&... values) && noexcept {
    const auto to = std::move(to_);
    to->value(std::forward<V>(values)...);
  }
  template <class E>
  void set_error(E&& error) && noexcept {
    const auto to = std::move(to_);
    to->error(std::forward<E>(error));
  }
  void set_stopped() && noexcept {
    const auto to = std::move(to_);
    to->stopped();
  }
  [[nodiscard]] std::stop_token stop_token() const noexcept { return to_->stop_token(); }

#if RUNQ_HAS_STDEXEC
  struct environment {
    std::stop_token stop;
    [[nodiscard]] std::stop_token query(stdexec::get_stop_token_t) const noexcept { return stop; }
  };
  [[nodiscard]] environment get_env() const noexcept { return {stop_token()}; }
#endif

 private:
  std::shared_ptr<awaited<R>> to_;
};

#if RUNQ_HAS_STDEXEC
template <class Sender>
using signatures_of = stdexec::completion_signatures_of_t<Sender, waking_receiver<void>::environment>;
#else
template <class Sender>
using signatures_of = typename Sender::completion_signatures;
#endif

template <class Sender>
concept awaitable_sender = std::derived_from<typename Sender::sender_concept, sender_tag> && requires {
  typename sent<signatures_of<Sender>>::type;
};

template <class Sender, class Receiver>
[[nodiscard]] auto connected(Sender&& sender, Receiver&& receiver) {
#if RUNQ_HAS_STDEXEC
  return stdexec::connect(std::move(sender), std::move(receiver));
#else
  return std::move(sender).connect(std::move(receiver));
#endif
}

template <class R, class Sender>
stoppable_task<R> await_sender(Sender sender, std::stop_token stop, source_place at) {
  if (stop.stop_requested()) throw cancelled();
  const auto state = std::make_shared<awaited<R>>();
  // The task destroys the operation: what the sender has captured is gone before the task goes on.
  auto operation = connected(std::move(sender), waking_receiver<R>(state));
  const auto ask = [&state]() noexcept { state->request_stop(); };
  const std::stop_callback on_stop(std::move(stop), ask);
  static_cast<void>(state->begin());  // true: the task is here
  operation.start();
  {
    const runq::detail::gives_up<awaited<R>> at_the_end(*state);
    co_await runq::detail::placed(state->over().wait(), at);
  }
  co_return state->take();
}

}  // namespace detail

/// `co_await as_awaitable(sender)` connects the sender and starts the operation, in the task, and waits until it has
/// completed, on any thread, or in start(). It returns what was sent by set_value(): nothing, one value, or a
/// std::tuple. It throws what was sent by set_error(): an exception_ptr's exception, std::system_error for an
/// error_code, or the error itself; and runq::cancelled after set_stopped(). The sender says how it completes by
/// completion_signatures, with set_value() in one way at most.
///
/// A stop request of `stop` reaches the operation by its receiver's stop token: whether and how it ends is the sender's
/// decision. If a stop was requested before, the operation is not started, and runq::cancelled is thrown.
///
/// The operation may use the task's variables. So if the run ends while the task waits, the operation is asked to stop
/// and waited for: what completes it must then still run, on a thread that is not the one that ends the run. Work of
/// schedule() that has not begun completes by itself. While a task waits it is no deadlock. Tasks only.
template <class Sender>
[[nodiscard]] auto as_awaitable(Sender&& sender, std::stop_token stop = {}, source_place at = source_place::here()) {
  using own = std::decay_t<Sender>;
  static_assert(!runq::detail::destroyed_twice<Sender>,
                "g++ up to 12 would destroy this sender twice: give it a name first, and pass the name");
  static_assert(detail::awaitable_sender<own>,
                "runq::execution::as_awaitable takes a sender: with sender_concept, and with completion_signatures "
                "that have set_value_t at most once");
  return detail::await_sender<typename detail::sent<detail::signatures_of<own>>::type>(
      own(std::forward<Sender>(sender)), std::move(stop), at);
}

}  // namespace runq::execution
