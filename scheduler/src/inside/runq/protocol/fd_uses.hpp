// SPDX-License-Identifier: MIT
// fd_uses: keeps the number of an open descriptor in use while operations are in progress. The last of them frees the
// number after a close.
//
// Source: the fdMutex of Go's net and os (internal/poll/fd_mutex.go). Models: models/cases/scheduler/fd_uses/.
#pragma once

#include <atomic>
#include <cstdint>

#include "runq/atomics.hpp"

namespace runq {

/// Counts the operations that use a descriptor. It is closed in one step, close(), or in two, begin_close() and then
/// cancel(): between these the descriptor is closed, but operations still begin, and those in progress are not told
/// yet. Any thread may call any of these functions; they are lock-free.
///
/// A thread that learns of the close from any of these functions sees what the closing thread did before.
template <class Atomics = std_atomics>
class fd_uses {
 public:
  fd_uses() noexcept : word_(0U) {}
  fd_uses(const fd_uses&) = delete;
  fd_uses& operator=(const fd_uses&) = delete;

  /// Begins a use, which lasts until end(). Returns false if no operation may begin any more.
  [[nodiscard]] bool begin() noexcept { return enter_unless(canceling, 0); }

  /// Closes: no operation begins any more. True: the caller closes, and has a use until end(). False: another thread
  /// has closed.
  [[nodiscard]] bool close() noexcept { return enter_unless(closing, closing | canceling); }

  /// Closes like close(), but operations begin until cancel().
  [[nodiscard]] bool begin_close() noexcept { return enter_unless(closing, closing); }

  /// No operation begins any more. Called after begin_close(), by the same thread.
  void cancel() noexcept {
    // [fd_uses.cancel] release: pairs with [fd_uses.canceled] and [fd_uses.look]; weaker: a thread that learns of the
    // close does not see what was done before.
    word_.fetch_or(canceling, std::memory_order::release);
  }

  /// Whether other operations have a use, so that the number stays in use when the caller ends its own. Called between
  /// close() and end() by the closing thread: no operation begins any more, so an answer of false stays true.
  [[nodiscard]] bool used_by_others() const noexcept {
    // [fd_uses.others] relaxed: not older than the caller's own [fd_uses.enter].
    return word_.load(std::memory_order::relaxed) != (closing | canceling | 1);
  }

  /// Ends a use. True: it was the last one after a close. All other uses have ended before, and the caller frees the
  /// number.
  [[nodiscard]] bool end() noexcept {
    // [fd_uses.end] acq_rel: pairs with itself: the last one sees the end of all other uses; weaker: the number is
    // freed while one of them is in use.
    return word_.fetch_sub(1U, std::memory_order::acq_rel) == (closing | canceling | 1);
  }

  /// Whether the descriptor is being closed, or is closed.
  [[nodiscard]] bool closed() const noexcept {
    // [fd_uses.closed] acquire: pairs with [fd_uses.enter] of close() and begin_close(); weaker: a thread that learns
    // of the close does not see what was done before.
    return (word_.load(std::memory_order::acquire) & closing) != 0;
  }
  /// Whether operations in progress are told of the close, and none begins any more.
  [[nodiscard]] bool canceled() const noexcept {
    // [fd_uses.canceled] acquire: pairs with [fd_uses.enter] of close() and with [fd_uses.cancel]; weaker: a thread
    // that learns of the close does not see what was done before.
    return (word_.load(std::memory_order::acquire) & canceling) != 0;
  }

 private:
  static constexpr std::uint32_t closing = std::uint32_t{1} << 31;    // the descriptor is being closed, or is closed
  static constexpr std::uint32_t canceling = std::uint32_t{1} << 30;  // no operation begins any more

  // Adds a use, and the bits `too`, unless one of the bits `these` is set. Looks first: if it added the use and took it
  // back when a bit is set, close() would count a thread that only looks, and leave the number to it.
  [[nodiscard]] bool enter_unless(std::uint32_t these, std::uint32_t too) noexcept {
    // [fd_uses.look] acquire: pairs with [fd_uses.enter] of close() and with [fd_uses.cancel]; weaker: a thread that
    // learns of the close does not see what was done before.
    std::uint32_t now = word_.load(std::memory_order::acquire);
    while ((now & these) == 0) {
      // [fd_uses.enter] release: pairs with [fd_uses.closed], [fd_uses.canceled] and [fd_uses.look]; weaker: a thread
      // that learns of the close does not see what was done before. Acquire on failure: the next round may find the
      // close.
      if (word_.compare_exchange_weak(now, (now + 1) | too, std::memory_order::release, std::memory_order::acquire)) {
        return true;
      }
    }
    return false;
  }

  typename Atomics::template atomic<std::uint32_t> word_;  // uses, closing, canceling
};

}  // namespace runq
