// SPDX-License-Identifier: MIT
// execution: a scheduler in the manner of std::execution (P2300): work of senders that runs as tasks.
//
// Not part of <runq/runq.hpp>. The concepts are this header's own and only as large as schedule() needs; where the
// program has stdexec, the tags and the queries are stdexec's, and its algorithms accept the scheduler.
#pragma once

#include <concepts>
#include <exception>
#include <memory>
#include <stop_token>
#include <type_traits>
#include <utility>

#include "runq/scheduler.hpp"

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
#else
/// A sender has `using sender_concept = sender_tag;`, and so on.
struct sender_tag {};
struct receiver_tag {};
struct operation_state_tag {};
struct scheduler_tag {};
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

  explicit sender(task_scheduler from) noexcept : from_(std::move(from)) {}

  template <class Receiver>
  [[nodiscard]] detail::schedule_operation<std::remove_cvref_t<Receiver>> connect(Receiver&& r) const {
    static_assert(receiver<Receiver>,
                  "runq: connect() takes a receiver: receiver_concept, and noexcept set_value() and set_stopped()");
    return {from_.home_, from_.name_, std::remove_cvref_t<Receiver>(std::forward<Receiver>(r))};
  }

#if RUNQ_HAS_STDEXEC
  using completion_signatures = stdexec::completion_signatures<stdexec::set_value_t(), stdexec::set_stopped_t()>;
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

}  // namespace runq::execution
