// SPDX-License-Identifier: MIT
// make_channel: a channel that lives as long as there is a handle of it, and handles that only send or only receive.
//
// Source of the interface: Go's chan T, chan<- T and <-chan T.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <stop_token>
#include <type_traits>
#include <utility>

#include "runq/channel.hpp"
#include "runq/detail/temporaries.hpp"
#include "runq/select.hpp"
#include "runq/task.hpp"

namespace runq {

namespace detail {

/// What all handles of a channel have in common.
template <class T>
class channel_handle {
 public:
  using value_type = T;

  /// Whether it has a channel.
  [[nodiscard]] explicit operator bool() const noexcept { return channel_ != nullptr; }
  /// The channel, or null: for select, where a null channel is an arm that is never ready.
  [[nodiscard]] channel<T>* get() const noexcept { return channel_.get(); }
  /// What channel::size() and channel::capacity() return. Without a channel, these functions and all below throw
  /// runq::misuse.
  [[nodiscard]] std::size_t size() const { return of().size(); }
  [[nodiscard]] std::size_t capacity() const { return of().capacity(); }

 protected:
  using shared = std::shared_ptr<channel<T>>;
  channel_handle() noexcept = default;
  explicit channel_handle(shared c) noexcept : channel_(std::move(c)) {}
  [[nodiscard]] channel<T>& of() const {
    if (!channel_) throw_misuse("runq: a channel handle without a channel was used; make one with make_channel()");
    return *channel_;
  }
  [[nodiscard]] typename channel<T>::send_awaiter sending(T&& value) const { return {of().core_, std::move(value)}; }
  [[nodiscard]] stoppable_send<T> sending(T&& value, std::stop_token stop) const {
    return {of().core_, std::move(value), std::move(stop)};
  }
  shared channel_;
};

}  // namespace detail

/// A handle of a channel that only sends, and closes. Copyable, cheap; while any handle exists, so does the channel. A
/// handle must outlive the operations that were begun with it.
template <class T>
class send_end : public detail::channel_handle<T> {
 public:
  send_end() noexcept = default;
  explicit send_end(typename detail::channel_handle<T>::shared c) noexcept : detail::channel_handle<T>(std::move(c)) {}

  /// These call the channel's functions of the same names.
  [[nodiscard]] typename channel<T>::send_awaiter send(detail::by_value<T> value) const {
    return this->sending(std::move(value));
  }
  template <detail::destroyed_twice Temporary>
  [[nodiscard]] auto send(Temporary&& value) const {
    return this->of().send(std::forward<Temporary>(value));  // which refuses it, and says why
  }
  [[nodiscard]] detail::stoppable_send<T> send(detail::by_value<T> value, std::stop_token stop) const {
    return this->sending(std::move(value), std::move(stop));
  }
  template <detail::destroyed_twice Temporary>
  [[nodiscard]] auto send(Temporary&& value, std::stop_token) const {
    return this->of().send(std::forward<Temporary>(value));  // likewise
  }
  [[nodiscard]] channel_result try_send(T& value) const { return this->of().try_send(value); }
  [[nodiscard]] channel_result try_send(T&& value) const { return this->of().try_send(std::move(value)); }
  void close() const { this->of().close(); }
};

/// A handle of a channel that only receives. For its lifetime the rules of send_end hold.
template <class T>
class receive_end : public detail::channel_handle<T> {
 public:
  receive_end() noexcept = default;
  explicit receive_end(typename detail::channel_handle<T>::shared c) noexcept
      : detail::channel_handle<T>(std::move(c)) {}

  /// These call the channel's functions of the same names.
  [[nodiscard]] typename channel<T>::receive_awaiter receive() const { return this->of().receive(); }
  [[nodiscard]] detail::stoppable_receive<T> receive(std::stop_token stop) const {
    return this->of().receive(std::move(stop));
  }
  [[nodiscard]] channel_result try_receive(std::optional<T>& value) const { return this->of().try_receive(value); }
};

/// A handle that sends and receives, and from which the other kinds are made: pass it where a send_end or a receive_end
/// is wanted. Otherwise like send_end.
template <class T>
class shared_channel : public send_end<T> {
 public:
  shared_channel() noexcept = default;
  explicit shared_channel(typename detail::channel_handle<T>::shared c) noexcept : send_end<T>(std::move(c)) {}
  operator receive_end<T>() const noexcept { return receive_end<T>(this->channel_); }  // NOLINT: it is one, too

  /// These call the channel's functions of the same names.
  [[nodiscard]] typename channel<T>::receive_awaiter receive() const { return this->of().receive(); }
  [[nodiscard]] detail::stoppable_receive<T> receive(std::stop_token stop) const {
    return this->of().receive(std::move(stop));
  }
  [[nodiscard]] channel_result try_receive(std::optional<T>& value) const { return this->of().try_receive(value); }
};

/// Whether both are handles of the same channel, or of none.
template <class T>
[[nodiscard]] bool operator==(const detail::channel_handle<T>& a, const detail::channel_handle<T>& b) noexcept {
  return a.get() == b.get();
}

/// A new channel with room for `capacity` values: see channel. It lives as long as a handle of it.
///
///     const auto produce = [](runq::send_end<int> to) -> runq::task<> { co_await to.send(1); };
///     runq::shared_channel<int> numbers = runq::make_channel<int>();
///     runq::go(produce(numbers));
///     while (auto n = co_await numbers.receive()) std::printf("%d\n", *n);
template <class T>
[[nodiscard]] shared_channel<T> make_channel(std::size_t capacity = 0) {
  return shared_channel<T>(std::make_shared<channel<T>>(capacity));
}

/// Arms for select(), like those for a channel. The handle must outlive the select().
template <class T>
[[nodiscard]] receive_arm<T> on_receive(const receive_end<T>& from, std::optional<T>& into) noexcept {
  return {from.get(), into};
}
template <class T>
[[nodiscard]] receive_arm<T> on_receive(const shared_channel<T>& from, std::optional<T>& into) noexcept {
  return {from.get(), into};
}
template <class T>
[[nodiscard]] send_arm<T> on_send(const send_end<T>& to, std::type_identity_t<detail::by_value<T>> value) {
  return {to.get(), std::move(value)};
}

}  // namespace runq
