// SPDX-License-Identifier: MIT
// signals: signals of the process, as values of a channel.
//
// Source of the interface: Go's os/signal. The handler writes to a pipe, which a task reads.
#pragma once

#include <csignal>
#include <initializer_list>
#include <utility>
#include <vector>

#include "runq/shared_channel.hpp"
#include "runq/spawn.hpp"

namespace runq {

/// While it exists, these signals do not do what they otherwise do: their numbers come out of a channel. At its end
/// they do again what they did before. There is at most one at a time in a process. Up to `room` signals wait in the
/// channel; those that come then are dropped. While it exists, waiting tasks are no deadlock. Made and destroyed by
/// tasks.
///
///     const runq::signals stop({SIGINT, SIGTERM});
///     (void)co_await stop.received().receive();
class signals {
 public:
  /// How many signals wait in the channel.
  static constexpr std::size_t room = 64;

  /// Throws runq::misuse outside a scheduler, when there is another one, when `which` is empty, and for a number that
  /// is no signal or one that cannot be caught (SIGKILL, SIGSTOP); std::system_error without descriptors.
  explicit signals(std::initializer_list<int> which);
  signals(const signals&) = delete;
  signals& operator=(const signals&) = delete;
  ~signals();

  /// The channel. Any number of tasks may receive; each signal is for one of them.
  [[nodiscard]] const receive_end<int>& received() const noexcept { return received_; }

 private:
  void restore_actions() noexcept;
  std::vector<std::pair<int, struct sigaction>> before_;  // what the signals did
  receive_end<int> received_;
  spawned<> reader_;
};

}  // namespace runq
