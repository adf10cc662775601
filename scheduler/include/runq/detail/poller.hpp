// SPDX-License-Identifier: MIT
// poller: learns from the kernel which descriptors are ready, and is where one idle machine sleeps until then, or until
// the next timer, or until it is woken.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "runq/detail/goroutine.hpp"
#include "runq/detail/timers.hpp"
#include "runq/readiness.hpp"

namespace runq::detail {

/// What the poller knows of one open descriptor. Never freed while the scheduler lives, so that a late event may look
/// at it; reused.
struct descriptor {
  readiness<goroutine, policy> readable;
  readiness<goroutine, policy> writable;
  std::atomic<std::uint32_t> generation{0};  // of the descriptor's use, to tell late events
  int fd = -1;
  descriptor* next_free = nullptr;
};

/// One epoll instance, edge-triggered, and an eventfd to interrupt whoever sleeps in it.
class poller {
 public:
  poller() = default;
  poller(const poller&) = delete;
  poller& operator=(const poller&) = delete;
  ~poller();

  /// Makes the kernel's side of it, if that has not been done. Throws std::system_error.
  void create();

  /// Registers `fd`, which must be non-blocking. Throws std::system_error.
  [[nodiscard]] descriptor& open(int fd);
  /// Wakes who waits for `d`; who is about to wait does not.
  static void wake(descriptor& d);
  /// Forgets `d`, for which nobody waits; the caller closes the descriptor after that.
  void close(descriptor& d);

  /// Waits up to `timeout` ns (0: not at all; never: without end) for events and makes the tasks that waited for them
  /// runnable. Returns how many. After create(). Any number of threads without a timeout; one with, between enter() and
  /// leave().
  std::size_t poll(instant timeout);

  /// Whether the caller is the one that polls now.
  [[nodiscard]] bool enter() noexcept { return !busy_.exchange(true, std::memory_order::acquire); }
  void leave() noexcept { busy_.store(false, std::memory_order::release); }
  [[nodiscard]] bool busy() const noexcept { return busy_.load(std::memory_order::relaxed); }

  /// Makes the poll() that is in progress, or the next one, return at once. Any thread; a system call at most once per
  /// poll.
  void interrupt() noexcept;

  /// Whether there is anything to poll for; if so, create() was called.
  [[nodiscard]] bool in_use() const noexcept { return open_.load(std::memory_order::acquire) != 0; }

  /// Until when the one that polls intends to sleep; 0 when nobody does. Set before the timers are looked at for the
  /// last time, with a fence between: see core::timer_added().
  std::atomic<instant> sleeps_until{0};
  /// The one that sleeps in the poller, if somebody does: never looked into, because it may be gone.
  std::atomic<const void*> sleeper{nullptr};
  /// When somebody last looked for events.
  std::atomic<instant> last_poll{0};

 private:
  std::mutex mutex_;
  int epoll_ = -1;  // created under mutex_ at first use, then constant
  int event_ = -1;
  std::vector<std::unique_ptr<descriptor>> all_;  // under mutex_
  descriptor* free_ = nullptr;                    // under mutex_
  std::atomic<bool> created_{false};
  std::atomic<bool> busy_{false};
  std::atomic<bool> interrupted_{false};
  std::atomic<std::size_t> open_{0};
};

}  // namespace runq::detail
