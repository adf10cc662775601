// SPDX-License-Identifier: MIT
// poller: learns from the kernel which descriptors are ready (runq/protocol/descriptors.hpp), and is where one idle
// machine sleeps until then (runq/protocol/poll_sleep.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "runq/detail/strand.hpp"
#include "runq/detail/timers.hpp"
#include "runq/protocol/descriptors.hpp"

namespace runq::detail {

using descriptor = polled_descriptor<strand>;

/// From now on the kernel wakes the calling thread exactly when its time has come. By default it may wait up to 50 µs
/// more, to wake several threads at once; that would triple the monitor's naps, and make every sleep of a task as much
/// longer.
void sleep_precisely() noexcept;

/// One epoll instance, edge-triggered, and an eventfd to wake the machine that sleeps in it.
class poller {
 public:
  /// Takes two descriptors. Throws std::system_error.
  poller();
  poller(const poller&) = delete;
  poller& operator=(const poller&) = delete;
  ~poller();

  /// Registers `fd`, which must be non-blocking. Throws std::system_error.
  [[nodiscard]] descriptor& open(int fd);
  /// Wakes the tasks that wait for `d`; a task that is about to wait does not.
  void wake(descriptor& d) { known_.wake(d); }
  /// Stops events of `d`. Called before its descriptor is closed, because a copy of the descriptor would keep it
  /// registered.
  void mute(const descriptor& d) noexcept;
  /// Closes the file behind `d`, but keeps its number: an operation that still uses the number gets an error.
  void hollow_out(const descriptor& d) noexcept;
  /// Forgets `d`, which reports no events any more, and for which no task waits.
  void close(descriptor& d) { known_.close(d); }

  using polled = descriptors<poller, strand>::polled;
  /// Waits up to `timeout` ns (0: not at all; never: without end) for events and makes the tasks that waited for them
  /// runnable. Any number of threads at once with a timeout of 0, which leave rings alone; only one with a longer
  /// timeout.
  polled poll(instant timeout);

  /// Makes the poll() that waits, or the next one that is to wait, return at once. Any thread; a system call.
  void ring() noexcept;

  /// Whether there is anything to poll for.
  [[nodiscard]] bool in_use() const noexcept { return known_.in_use(); }
  /// When a thread last looked for events.
  [[nodiscard]] instant last_poll() const noexcept { return known_.last_poll(); }

  // -- what `descriptors` asks of its host --

  class events;
  [[nodiscard]] descriptor& new_record();
  [[nodiscard]] int watch(int fd, std::uint64_t tag) const noexcept;
  void wait(events& into, instant timeout) const;
  void hear_ring() const noexcept;
  static void wake(strand& s);
  [[nodiscard]] static instant clock() noexcept { return now(); }

 private:
  void close_both() noexcept;

  const int epoll_;
  const int event_;
  std::vector<std::unique_ptr<descriptor>> records_;  // under the lock of known_
  descriptors<poller, strand> known_{*this};
};

}  // namespace runq::detail
