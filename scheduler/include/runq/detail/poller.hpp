// SPDX-License-Identifier: MIT
// poller: learns from the kernel which descriptors are ready, and is where one idle machine sleeps until then
// (runq/protocol/poll_sleep.hpp).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "runq/detail/goroutine.hpp"
#include "runq/detail/timers.hpp"
#include "runq/protocol/readiness.hpp"

namespace runq::detail {

/// What the poller knows of one open descriptor. Never freed while the scheduler lives, so that a late event may look
/// at it; reused.
struct descriptor {
  readiness<goroutine, policy> readable;
  readiness<goroutine, policy> writable;
  std::atomic<std::uint32_t> generation{0};  // of the descriptor's use, to tell late events
  // The end of the stream is near, or an error, or urgent data: whoever sees the notice of it, sees this.
  std::atomic<bool> unusual{false};
  int fd = -1;
  descriptor* next_free = nullptr;
};

/// From now on the kernel wakes the calling thread when its time has come. Usually it may wait up to 50 µs more, to
/// wake several threads at once; that would triple the monitor's naps, and make every sleep of a task as much longer.
void sleep_precisely() noexcept;

/// One epoll instance, edge-triggered, and an eventfd to interrupt whoever sleeps in it.
class poller {
 public:
  /// Takes two descriptors. Throws std::system_error.
  poller();
  poller(const poller&) = delete;
  poller& operator=(const poller&) = delete;
  ~poller();

  /// Registers `fd`, which must be non-blocking. Throws std::system_error.
  [[nodiscard]] descriptor& open(int fd);
  /// Wakes who waits for `d`; who is about to wait does not.
  static void wake(descriptor& d);
  /// No more events of `d`. Before its descriptor is closed: a copy of that one would keep it known to the kernel.
  void mute(const descriptor& d) noexcept;
  /// Closes what `d` stands for, but keeps its number: whoever still uses that gets an error.
  void hollow_out(const descriptor& d) noexcept;
  /// Forgets `d`, which is mute, and for which nobody waits.
  void close(descriptor& d);

  struct polled {
    std::size_t woken = 0;  ///< tasks that are runnable now
    bool rung = false;      ///< a ring() was used up
  };
  /// Waits up to `timeout` ns (0: not at all; never: without end) for events and makes the tasks that waited for them
  /// runnable. Any number of threads without a timeout, who leave rings alone; one with.
  polled poll(instant timeout);

  /// Makes the poll() that waits, or the next one that is to wait, return at once. Any thread; a system call.
  void ring() noexcept;

  /// Whether there is anything to poll for.
  [[nodiscard]] bool in_use() const noexcept {
    // [poller.in_use] acquire, unmodelled: pairs with [poller.open]; weaker: polls without the descriptor that it was
    // asked for.
    return open_.load(std::memory_order::acquire) != 0;
  }

  /// When somebody last looked for events.
  std::atomic<instant> last_poll{0};

 private:
  void close_both() noexcept;

  const int epoll_;
  const int event_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<descriptor>> all_;  // under mutex_
  descriptor* free_ = nullptr;                    // under mutex_
  std::atomic<std::size_t> open_{0};
};

}  // namespace runq::detail
