// SPDX-License-Identifier: MIT
// parker: where one thread sleeps until another wakes it.
//
// Models: models/cases/scheduler/parker/.
#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

#include "runq/atomics.hpp"

namespace runq {

/// A token of at most one: unpark() leaves it, park() takes it, and sleeps while there is none. One thread parks, any
/// thread unparks. What happens before an unpark() happens before the return of the park() that takes its token.
///
/// `Futex` is what the thread sleeps on, as futex(2); `word` is always the same one:
///   void wait(word, value)                   sleeps until wake(word), unless `word` is no longer `value`
///   auto deadline(std::int64_t ns)           the time after so many ns
///   bool wait_until(word, value, deadline)   wait() that ends at the deadline and then returns false
///   void wake(word)                          wakes the thread that sleeps, if there is one
/// A sleep may end for no reason.
template <class Futex, class Atomics = std_atomics>
class basic_parker {
 public:
  template <class... Arguments>
  explicit basic_parker(Arguments&&... for_futex) noexcept
      : token_(0U), futex_(std::forward<Arguments>(for_futex)...) {}
  basic_parker(const basic_parker&) = delete;
  basic_parker& operator=(const basic_parker&) = delete;

  /// Waits for the token and takes it. The parking thread only.
  void park() noexcept {
    // [parker.park] acquire: pairs with [parker.unpark]; weaker: the thread does not see what it was woken for.
    while (token_.exchange(0U, std::memory_order::acquire) == 0) futex_.wait(token_, 0U);
  }

  /// Waits for the token and takes it, or returns false after `ns` nanoseconds without a token. The parking thread
  /// only.
  [[nodiscard]] bool park_for(std::int64_t ns) noexcept {
    const auto end = futex_.deadline(ns);
    while (!take()) {
      if (!futex_.wait_until(token_, 0U, end)) return false;
    }
    return true;
  }

  /// Takes the token if there is one. The parking thread only. Wait-free.
  [[nodiscard]] bool take() noexcept {
    // [parker.take] acquire: pairs with [parker.unpark]; weaker: the thread does not see what it was woken for.
    return token_.exchange(0U, std::memory_order::acquire) != 0;
  }
  /// Whether there is a token. The parking thread only. Wait-free.
  [[nodiscard]] bool has_token() const noexcept {
    // [parker.look] relaxed: a guess; a caller that acts on it takes the token.
    return token_.load(std::memory_order::relaxed) != 0;
  }

  /// Leaves the token; makes a system call only if there was none. Any thread. The parker may be destroyed once both
  /// the park() that took this token and this call have returned. Lock-free.
  void unpark() noexcept {
    // [parker.unpark] release: pairs with [parker.park] and [parker.take]; weaker: the woken thread does not see what
    // it was woken for. A read-modify-write, so a park() that takes the token of another unpark() has seen this one as
    // well.
    if (token_.exchange(1U, std::memory_order::release) == 0) futex_.wake(token_);
  }
  /// Leaves the token for the parking thread itself, whose next park() returns at once. No system call. Wait-free.
  void put() noexcept {
    // [parker.put] relaxed: for the thread itself. A read-modify-write, because there may be a token already: a park()
    // that takes this token has seen what came before the earlier one.
    (void)token_.exchange(1U, std::memory_order::relaxed);
  }

 private:
  typename Atomics::template atomic<std::uint32_t> token_;
  [[no_unique_address]] Futex futex_;
};

}  // namespace runq
