// SPDX-License-Identifier: MIT
// select: waits for the first of several channel operations that can go on.
//
// Source: Go's select (runtime/select.go): look at all arms in random order with all channels locked in the order of
// their addresses; else wait in all of them; the first channel to claim the task wins. Models:
// models/cases/scheduler/select/.
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <ranges>
#include <span>
#include <stop_token>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "runq/channel.hpp"
#include "runq/detail/temporaries.hpp"
#include "runq/protocol/suspension.hpp"

namespace runq {

namespace detail {

/// One arm of a select: an operation on a channel. A null channel is never ready.
template <class Policy>
class select_arm {
 public:
  virtual ~select_arm() = default;
  [[nodiscard]] virtual const void* channel() const noexcept = 0;
  virtual void lock() = 0;
  virtual void unlock() = 0;
  // The following are called with the channel locked.
  [[nodiscard]] virtual channel_result attempt(wake_list<Policy>& woken) = 0;
  virtual void enlist() = 0;
  virtual void forget() = 0;

  competing_waiter<Policy> place;
  std::size_t number = 0;  // as the caller of select() counts them
};

/// A select without its coroutine.
template <class Policy>
class select_core {
  using atomics = typename Policy::atomics;
  using arm_pointer = select_arm<Policy>*;

 public:
  enum class outcome : unsigned char {
    chosen,       ///< the operation of an arm was carried out
    not_ready,    ///< none could be, and the task was not to wait
    asleep,       ///< the task waits, or runs on another thread again
    woken_early,  ///< it was claimed before it could sleep: it goes on, with finish()
  };
  struct started {
    outcome what;
    std::size_t arm;     ///< chosen: its place in the order
    channel_result how;  ///< chosen: done or closed
  };

  /// `arms` are in the order in which they are tried; `by_address` has room for as many.
  select_core(std::span<arm_pointer> arms, std::span<arm_pointer> by_address) noexcept
      : arms_(arms), by_address_(by_address) {
    std::copy(arms.begin(), arms.end(), by_address.begin());
    std::sort(by_address.begin(), by_address.end(),
              [](arm_pointer a, arm_pointer b) { return std::less<>()(a->channel(), b->channel()); });
  }

  /// Carries out the first arm that is ready. If none is, and `who` is not null, puts that task among the waiters of
  /// all channels; the thread that wakes it claims `state`. After the result `asleep`, the caller must not touch
  /// anything of the task.
  [[nodiscard]] started start(const typename Policy::sleeper* who, suspension<atomics>& state) {
    wake_list<Policy> woken;
    const locked_arms locked = lock_all();
    started result = attempt_all(woken);
    if (result.what == outcome::not_ready && who != nullptr) {
      enlist_all(*who, state);
      result.what = state.commit() ? outcome::asleep : outcome::woken_early;
    }
    unlock_all(locked);
    woken.wake_all();
    return result;
  }

  /// To be called when the task `who`, which has not gone on since start(), is destroyed: leaves the lists of those
  /// channels that still exist.
  void leave(typename Policy::sleeper who, const suspension<atomics>& state) {
    // The channel that woke the task has taken it out of its list, and may have been destroyed.
    const std::size_t woken_by = Policy::asleep(who) ? arms_.size() : state.arm();
    for (std::size_t i = 0; i != arms_.size(); ++i) {
      if (i == woken_by || !arms_[i]->place.left_behind()) continue;
      const std::lock_guard guard(*arms_[i]);
      arms_[i]->forget();
    }
    // From now on no thread can claim the task.
    if (!state.open()) waiter<Policy>::await_waker(who);
  }

  /// To be called when the task has been woken: leaves the channels' lists.
  void finish() {
    const locked_arms locked = lock_all();
    for (select_arm<Policy>* const arm : arms_) {
      if (arm->channel() != nullptr) arm->forget();
    }
    unlock_all(locked);
  }

 private:
  [[nodiscard]] started attempt_all(wake_list<Policy>& woken) {
    for (std::size_t i = 0; i != arms_.size(); ++i) {
      if (arms_[i]->channel() == nullptr) continue;
      const channel_result how = arms_[i]->attempt(woken);
      if (how != channel_result::waits) return {outcome::chosen, i, how};
    }
    return {outcome::not_ready, 0, channel_result::waits};
  }

  void enlist_all(typename Policy::sleeper who, suspension<atomics>& state) {
    for (std::size_t i = 0; i != arms_.size(); ++i) {
      if (arms_[i]->channel() == nullptr) continue;
      arms_[i]->place.who.set(who);
      arms_[i]->place.claim.set(&state);
      arms_[i]->place.arm.set(static_cast<std::uint32_t>(i));
      arms_[i]->enlist();
    }
  }
  // The arms in by_address_ that have a channel. The arms without one come first.
  struct locked_arms {
    std::size_t lowest;
    std::size_t end;
  };
  // The same channel may be in several arms. Every select locks in the order of addresses, so there is no deadlock.
  [[nodiscard]] locked_arms lock_all() {
    locked_arms locked{0, by_address_.size()};
    while (locked.lowest != locked.end && by_address_[locked.lowest]->channel() == nullptr) ++locked.lowest;
    for (std::size_t i = locked.lowest; i != locked.end; ++i) {
      if (first_with_its_channel(i)) by_address_[i]->lock();
    }
    return locked;
  }
  // A task that was woken meanwhile locks the channel with the lowest address first, in finish(), and then may end. So
  // after that channel is unlocked, nothing of the task may be touched, nor this object, which is in its frame; if
  // there is no channel, nothing may be touched at all.
  void unlock_all(const locked_arms locked) {
    for (std::size_t i = locked.end; i != locked.lowest;) {
      if (first_with_its_channel(--i)) by_address_[i]->unlock();
    }
  }
  [[nodiscard]] bool first_with_its_channel(std::size_t i) const noexcept {
    return i == 0 || by_address_[i - 1]->channel() != by_address_[i]->channel();
  }

  std::span<arm_pointer> arms_;
  std::span<arm_pointer> by_address_;
};

/// An arm that receives. It writes to its destination only if it is chosen.
template <class T, class Policy = task_waiting>
class receiving_arm : public select_arm<Policy> {
  using core = channel_core<T, Policy>;

 public:
  receiving_arm(core* from, std::optional<T>& into) noexcept : from_(from), into_(&into) {}
  receiving_arm(receiving_arm&& other) noexcept : from_(other.from_.get()), into_(other.into_) {}
  receiving_arm& operator=(receiving_arm&& other) noexcept {
    from_.set(other.from_.get());
    into_ = other.into_;
    return *this;
  }

  [[nodiscard]] const void* channel() const noexcept override { return from_.get(); }
  void lock() override { from_.get()->lock(); }
  void unlock() override { from_.get()->unlock(); }
  [[nodiscard]] channel_result attempt(wake_list<Policy>& woken) override {
    return from_.get()->receive_locked(*into_, woken);
  }
  void enlist() override {
    this->place.value.set(into_);
    from_.get()->enlist_receiver(this->place);
  }
  void forget() override { from_.get()->forget_receiver(this->place); }
  /// The arm was chosen: a value came, or the channel is closed.
  void settle(bool received) const noexcept {
    if (!received) into_->reset();
  }

 private:
  typename Policy::atomics::template cell<core*> from_;
  std::optional<T>* into_;
};

/// An arm that sends.
template <class T, class Policy = task_waiting>
class sending_arm : public select_arm<Policy> {
  using core = channel_core<T, Policy>;

 public:
  sending_arm(core* to, T&& value) : to_(to), value_(std::move(value)) {}
  sending_arm(sending_arm&& other) noexcept : to_(other.to_.get()), value_(std::move(other.value_)) {}
  sending_arm& operator=(sending_arm&& other) noexcept requires std::movable<T> {
    to_.set(other.to_.get());
    value_ = std::move(other.value_);
    return *this;
  }

  [[nodiscard]] const void* channel() const noexcept override { return to_.get(); }
  void lock() override { to_.get()->lock(); }
  void unlock() override { to_.get()->unlock(); }
  [[nodiscard]] channel_result attempt(wake_list<Policy>& woken) override {
    return to_.get()->send_locked(value_, woken);
  }
  void enlist() override {
    this->place.value.set(&value_);
    to_.get()->enlist_sender(this->place);
  }
  void forget() override { to_.get()->forget_sender(this->place); }

 private:
  typename Policy::atomics::template cell<core*> to_;
  T value_;
};

struct no_wait {};

}  // namespace detail

/// An arm of select(): receives from a channel into an optional, which is empty afterwards if the channel was closed.
/// If another arm is chosen the optional stays as it is.
template <class T>
class receive_arm : public detail::receiving_arm<T> {
 public:
  receive_arm(runq::channel<T>* from, std::optional<T>& into) noexcept
      : detail::receiving_arm<T>(from == nullptr ? nullptr : &from->core_, into) {}
  receive_arm(detail::channel_core<T>& from, std::optional<T>& into) noexcept : detail::receiving_arm<T>(&from, into) {}
};

/// An arm of select(): sends a value.
template <class T>
class send_arm : public detail::sending_arm<T> {
 public:
  send_arm(runq::channel<T>* to, T&& value)
      : detail::sending_arm<T>(to == nullptr ? nullptr : &to->core_, std::move(value)) {}
  send_arm(detail::channel_core<T>& to, T&& value) : detail::sending_arm<T>(&to, std::move(value)) {}
  void settle(bool sent) const {
    if (!sent) detail::throw_misuse("send on closed channel");
  }
};

/// Arms for select(). A null channel is an arm that is never ready.
template <class T>
[[nodiscard]] receive_arm<T> on_receive(channel<T>& from, std::optional<T>& into) noexcept {
  return {&from, into};
}
template <class T>
[[nodiscard]] receive_arm<T> on_receive(channel<T>* from, std::optional<T>& into) noexcept {
  return {from, into};
}
/// channel::send() says which values g++ up to 12 does not accept.
template <class T>
[[nodiscard]] send_arm<T> on_send(channel<T>& to, std::type_identity_t<detail::by_value<T>> value) {
  return {&to, std::move(value)};
}
template <class T>
[[nodiscard]] send_arm<T> on_send(channel<T>* to, std::type_identity_t<detail::by_value<T>> value) {
  return {to, std::move(value)};
}
template <class Channel, detail::destroyed_twice Temporary>
[[nodiscard]] auto on_send(Channel&& to, Temporary&& value) {
  static_assert(!detail::destroyed_twice<Temporary>,
                "g++ up to 12 would destroy this temporary twice: write on_send(c, {x, 1}) for a new aggregate, "
                "on_send(c, {std::move(value)}) for one with a name, on_send(c, {co_await f()}) for a result; "
                "give a lambda a name first");
  return on_send(std::forward<Channel>(to), {std::forward<Temporary>(value)});  // so that this is the only error
}
/// May be the last arm: it is chosen when no other is ready, so that select() does not wait.
[[nodiscard]] inline detail::no_wait otherwise() noexcept { return {}; }

/// select() returns it when a stop request ended the wait.
inline constexpr std::size_t stopped = ~std::size_t{0};

namespace detail {

/// Random numbers of the calling task's processor, below n.
[[nodiscard]] std::uint32_t random_below(std::uint32_t n);

/// The most arms of a select.
inline constexpr std::uint32_t most_arms = 65'536;

template <class Range>
class range_of_arms;

/// The arms of a select whose number is known when it is compiled.
template <class... Arms>
class few_arms {
  using arm_pointer = select_arm<task_waiting>*;

 public:
  static constexpr std::size_t count = sizeof...(Arms);

  explicit few_arms(Arms&&... arms) : arms_(std::move(arms)...) {}
  [[nodiscard]] static constexpr std::size_t size() noexcept { return count; }
  /// Numbers the arms and lists them. Once.
  void arrange() noexcept {
    std::size_t n = 0;
    std::apply([&](auto&... arm) { ((arm.number = n, order_[n++] = &arm), ...); }, arms_);
  }
  [[nodiscard]] std::span<arm_pointer> order() noexcept { return order_; }
  [[nodiscard]] std::span<arm_pointer> by_address() noexcept { return by_address_; }
  /// Arm `chosen` was carried out; `done` is false when its channel is closed.
  void settle(std::size_t chosen, bool done) {
    std::apply([&](auto&... arm) { ((arm.number == chosen ? arm.settle(done) : void()), ...); }, arms_);
  }

 private:
  std::tuple<Arms...> arms_;
  std::array<arm_pointer, count> order_{};
  std::array<arm_pointer, count> by_address_{};
};

template <class A>
concept typed_arm = std::derived_from<A, select_arm<task_waiting>>;

/// A typed arm behind an any_arm.
class boxed_arm {
 public:
  virtual ~boxed_arm() = default;
  [[nodiscard]] virtual select_arm<task_waiting>& get() noexcept = 0;
  virtual void settle(bool done) = 0;
};

template <typed_arm A>
class box_of final : public boxed_arm {
 public:
  explicit box_of(A&& arm) : arm_(std::move(arm)) {}
  [[nodiscard]] select_arm<task_waiting>& get() noexcept override { return arm_; }
  void settle(bool done) override { arm_.settle(done); }

 private:
  A arm_;
};

}  // namespace detail

/// An arm of any type, for a range of arms of several types. Movable. Its constructor throws std::bad_alloc.
class any_arm {
 public:
  template <detail::typed_arm A>
  any_arm(A arm) : box_(std::make_unique<detail::box_of<A>>(std::move(arm))) {}  // NOLINT: any arm is one

 private:
  template <class Range>
  friend class detail::range_of_arms;
  std::unique_ptr<detail::boxed_arm> box_;
};

namespace detail {

/// The arms of a select that are a range, in their own place: an lvalue, or a range that is kept here.
template <class Range>
class range_of_arms {
  using arm_pointer = select_arm<task_waiting>*;

 public:
  explicit range_of_arms(Range&& arms) : arms_(std::forward<Range>(arms)) {}
  [[nodiscard]] std::size_t size() const { return static_cast<std::size_t>(std::ranges::distance(arms_)); }
  /// Numbers the arms and lists them. Once. Throws std::bad_alloc; runq::misuse.
  void arrange() {
    const std::size_t n = size();
    if (n > most_arms) throw_misuse("runq: a select() has more than 65536 arms");
    pointers_.resize(2 * n);
    std::size_t i = 0;
    for (auto& arm : arms_) {
      select_arm<task_waiting>& a = typed(arm);
      // The arms may have waited in another select before.
      std::destroy_at(&a.place);
      std::construct_at(&a.place);
      a.number = i;
      pointers_[i++] = &a;
    }
  }
  [[nodiscard]] std::span<arm_pointer> order() noexcept { return std::span(pointers_).first(pointers_.size() / 2); }
  [[nodiscard]] std::span<arm_pointer> by_address() noexcept { return std::span(pointers_).last(pointers_.size() / 2); }
  void settle(std::size_t chosen, bool done) {
    auto& arm = *std::ranges::next(std::ranges::begin(arms_), static_cast<std::ptrdiff_t>(chosen));
    if constexpr (std::is_same_v<std::remove_reference_t<decltype(arm)>, any_arm>) {
      arm.box_->settle(done);
    } else {
      arm.settle(done);
    }
  }

 private:
  [[nodiscard]] static select_arm<task_waiting>& typed(any_arm& arm) {
    if (arm.box_ == nullptr) throw_misuse("runq: select() was given an arm that was moved from");
    return arm.box_->get();
  }
  [[nodiscard]] static select_arm<task_waiting>& typed(select_arm<task_waiting>& arm) noexcept { return arm; }

  Range arms_;
  std::vector<arm_pointer> pointers_;  // in the order in which they are tried, and by address
};

template <bool HasDefault, class Arms>
class [[nodiscard]] select_awaiter {
  using arm_pointer = select_arm<task_waiting>*;
  using core = select_core<task_waiting>;

 public:
  template <class... Given>
  explicit select_awaiter(std::stop_token stop, Given&&... arms)
      : stop_(std::move(stop)), arms_(std::forward<Given>(arms)...) {}
  select_awaiter(const select_awaiter&) = delete;
  select_awaiter& operator=(const select_awaiter&) = delete;
  ~select_awaiter() {
    if (who_ == nullptr) return;
    // Waits for a stop request that is about to wake the task.
    on_stop_.reset();
    core_->leave(who_, state_);
  }

  [[nodiscard]] bool await_ready() {
    arrange();
    return false;
  }
  /// await_ready() of a wait that a stop request keeps from beginning, also when an arm is ready. Throws
  /// runq::cancelled.
  [[nodiscard]] bool ready_or_cancelled() {
    if (stop_.stop_requested()) throw cancelled();
    return await_ready();
  }

  [[nodiscard]] bool await_suspend(std::coroutine_handle<> self, source_place at = source_place::here()) {
    strand& me = fall_asleep(self, arms_.size() == 0 ? wait_reason::select_no_cases : wait_reason::select, at);
    who_ = &me;
    // This comes before anything can wake the task, because afterwards nothing of the task may be touched. A stop
    // request that comes now is noticed when the task is about to wait.
    if (!HasDefault && stop_.stop_possible()) {
      stop_wait_.emplace(*me.home, stop_);
      on_stop_.emplace(stop_, on_stop{this});
    }
    const typename core::started begun = core_->start(HasDefault ? nullptr : &who_, state_);
    if (begun.what == core::outcome::asleep) return true;
    if (begun.what == core::outcome::chosen) choose(*arms_.order()[begun.arm], begun.how == channel_result::done);
    if (begun.what == core::outcome::not_ready) chosen_ = arms_.size();
    return preempt_or_go_on(me);
  }

  std::size_t await_resume() {
    on_stop_.reset();
    stop_wait_.reset();
    who_ = nullptr;
    if (chosen_ == undecided) {
      core_->finish();
      const std::uint32_t at = state_.arm();
      if (at == stop_arm) return stopped;
      const select_arm<task_waiting>& arm = *arms_.order()[at];
      choose(arm, arm.place.ok.get());
    }
    if (chosen_ != arms_.size()) arms_.settle(chosen_, done_);
    return chosen_;
  }

 protected:
  std::stop_token stop_;
  Arms arms_;

 private:
  struct on_stop {
    select_awaiter* self;
    void operator()() const {
      if (self->state_.claim(stop_arm) == claim_result::must_wake) ready(*self->who_);
    }
  };
  static constexpr std::size_t undecided = ~std::size_t{0} - 1;
  static constexpr std::uint32_t stop_arm = most_arms;

  // Puts the arms in random order. Throws what arms_.arrange() throws; runq::misuse outside a task.
  void arrange() {
    arms_.arrange();
    const std::span<arm_pointer> order = arms_.order();
    for (std::size_t i = order.size(); i > 1; --i)
      std::swap(order[i - 1], order[random_below(static_cast<std::uint32_t>(i))]);
    core_.emplace(order, arms_.by_address());
  }
  void choose(const select_arm<task_waiting>& arm, bool done) noexcept {
    chosen_ = arm.number;
    done_ = done;
  }

  std::optional<core> core_;
  suspension<task_waiting::atomics> state_;
  strand* who_ = nullptr;  // the selecting task, until it goes on
  std::size_t chosen_ = undecided;
  bool done_ = false;
  std::optional<runq::detail::stop_wait> stop_wait_;
  std::optional<std::stop_callback<on_stop>> on_stop_;
};

/// A select that throws runq::cancelled when a stop request ends its wait.
template <class Arms>
class [[nodiscard]] stoppable_select : public select_awaiter<false, Arms> {
 public:
  using select_awaiter<false, Arms>::select_awaiter;
  std::size_t await_resume() {
    const std::size_t chosen = select_awaiter<false, Arms>::await_resume();
    if (chosen == stopped) throw cancelled();
    return chosen;
  }
};

/// A select without a token, and without otherwise().
template <class Arms>
class [[nodiscard]] plain_select : public select_awaiter<false, Arms> {
 public:
  template <class... Given>
  explicit plain_select(Given&&... arms)
      : select_awaiter<false, Arms>(std::stop_token(), std::forward<Given>(arms)...) {}
  /// For with_timeout(): makes the awaiter of the same wait with a token. It is called once, and moves the arms on.
  [[nodiscard]] auto stoppable() && {
    return [arms = std::move(this->arms_)](std::stop_token stop) mutable {
      return stoppable_select<Arms>(std::move(stop), std::move(arms));
    };
  }
};

template <class A>
concept one_arm = typed_arm<A> || std::is_same_v<A, no_wait>;
/// A range of arms, of one type or of any_arm.
template <class R>
concept arm_range = std::ranges::forward_range<R> && std::is_lvalue_reference_v<std::ranges::range_reference_t<R>> &&
    (typed_arm<std::remove_reference_t<std::ranges::range_reference_t<R>>> ||
     std::is_same_v<std::remove_reference_t<std::ranges::range_reference_t<R>>, any_arm>);

template <class Arms>
// unreached: only the compiler calls it.
[[nodiscard]] constexpr bool ends_in_otherwise() noexcept {
  constexpr std::size_t n = std::tuple_size_v<Arms>;
  if constexpr (n == 0) {
    return false;
  } else {
    return std::is_same_v<std::tuple_element_t<n - 1, Arms>, no_wait>;
  }
}

/// Calls `make` with the arms without otherwise(), and the type that holds them.
template <class Arms, class Make>
[[nodiscard]] auto with_arms(Arms arms, Make make) {
  return [&]<std::size_t... I>(std::index_sequence<I...>) {
    return make.template operator()<few_arms<std::tuple_element_t<I, Arms>...>>(std::move(std::get<I>(arms))...);
  }
  (std::make_index_sequence<std::tuple_size_v<Arms> - (ends_in_otherwise<Arms>() ? 1 : 0)>());
}
template <class Arms>
[[nodiscard]] auto make_select(Arms arms) {
  return with_arms(std::move(arms), []<class Few, class... Given>(Given&&... given) {
    if constexpr (ends_in_otherwise<Arms>()) {
      return select_awaiter<true, Few>(std::stop_token(), std::forward<Given>(given)...);
    } else {
      return plain_select<Few>(std::forward<Given>(given)...);
    }
  });
}
template <class Arms>
[[nodiscard]] auto make_select(std::stop_token stop, Arms arms) {
  return with_arms(std::move(arms), [&]<class Few, class... Given>(Given&&... given) {
    return select_awaiter<ends_in_otherwise<Arms>(), Few>(std::move(stop), std::forward<Given>(given)...);
  });
}

}  // namespace detail

/// `co_await select(arms…)` waits until one of the arms can go on, carries it out, and returns its number, from 0. If
/// several can, it chooses one at random. With otherwise() as the last argument it does not wait: it returns the number
/// of otherwise() when no other arm can go on. `select()` without arms waits for ever. A send to a closed channel
/// throws runq::misuse("send on closed channel"). Tasks only.
///
///     std::optional<int> n;
///     switch (co_await runq::select(runq::on_receive(numbers, n), runq::on_send(out, 7))) {
///       case 0: std::puts(n ? "received" : "closed"); break;
///       case 1: std::puts("sent"); break;
///     }
template <detail::one_arm... Arms>
[[nodiscard]] auto select(Arms... arms) {
  return detail::make_select(std::tuple<Arms...>(std::move(arms)...));
}

/// Like select(arms…), but a stop request ends the wait, too: then it returns `stopped`. As long as the token's
/// stop_possible() is true, the wait is no deadlock, because a thread outside the scheduler may hold the source.
template <detail::one_arm... Arms>
[[nodiscard]] auto select(std::stop_token stop, Arms... arms) {
  return detail::make_select(std::move(stop), std::tuple<Arms...>(std::move(arms)...));
}

/// Like select(arms…) for a number of arms that is known when the program runs: a range of arms of one type, or of
/// any_arm, at most 65,536. An lvalue must live and stay as it is until the co_await is over; its arms may be used
/// again then, but for the value of an arm that has sent. Without arms it waits for ever. Throws what select() throws;
/// std::bad_alloc; runq::misuse for more arms, or for one that was moved from.
///
///     const std::vector<runq::channel<int>*> from = {&numbers, &answers};
///     std::vector<std::optional<int>> values(from.size());
///     std::vector<runq::receive_arm<int>> arms;
///     for (std::size_t i = 0; i != from.size(); ++i) arms.push_back(runq::on_receive(from[i], values[i]));
///     const std::size_t which = co_await runq::select(arms);
///     if (values[which]) show(*values[which]);
template <detail::arm_range Arms>
[[nodiscard]] detail::plain_select<detail::range_of_arms<Arms>> select(Arms&& arms) {
  return detail::plain_select<detail::range_of_arms<Arms>>(std::forward<Arms>(arms));
}
/// Like select(arms) for a range, but does not wait: it returns the number of arms when none of them can go on.
template <detail::arm_range Arms>
[[nodiscard]] detail::select_awaiter<true, detail::range_of_arms<Arms>> select(Arms&& arms, detail::no_wait) {
  return detail::select_awaiter<true, detail::range_of_arms<Arms>>(std::stop_token(), std::forward<Arms>(arms));
}
/// Like select(arms) for a range, but a stop request ends the wait, too, as in select(token, arms…).
template <detail::arm_range Arms>
[[nodiscard]] detail::select_awaiter<false, detail::range_of_arms<Arms>> select(std::stop_token stop, Arms&& arms) {
  return detail::select_awaiter<false, detail::range_of_arms<Arms>>(std::move(stop), std::forward<Arms>(arms));
}

namespace detail {

/// `channel::send()` that a stop request ends, by a select with one arm: then the value is destroyed.
template <class T>
class [[nodiscard]] stoppable_send {
 public:
  stoppable_send(channel_core<T>& to, T&& value, std::stop_token stop)
      : wait_(std::move(stop), send_arm<T>(to, std::move(value))) {}
  [[nodiscard]] bool await_ready() { return wait_.ready_or_cancelled(); }
  [[nodiscard]] bool await_suspend(std::coroutine_handle<> self, source_place at = source_place::here()) {
    return wait_.await_suspend(self, at);
  }
  void await_resume() { (void)wait_.await_resume(); }

 private:
  stoppable_select<few_arms<send_arm<T>>> wait_;
};

/// `channel::receive()`, likewise.
template <class T>
class [[nodiscard]] stoppable_receive {
 public:
  stoppable_receive(channel_core<T>& from, std::stop_token stop)
      : wait_(std::move(stop), receive_arm<T>(from, value_)) {}
  [[nodiscard]] bool await_ready() { return wait_.ready_or_cancelled(); }
  [[nodiscard]] bool await_suspend(std::coroutine_handle<> self, source_place at = source_place::here()) {
    return wait_.await_suspend(self, at);
  }
  [[nodiscard]] std::optional<T> await_resume() {
    (void)wait_.await_resume();
    return std::move(value_);
  }

 private:
  std::optional<T> value_;  // before wait_, which refers to it
  stoppable_select<few_arms<receive_arm<T>>> wait_;
};

}  // namespace detail
}  // namespace runq
