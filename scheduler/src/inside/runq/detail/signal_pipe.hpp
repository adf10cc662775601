// SPDX-License-Identifier: MIT
// signal_pipe: a handler that writes the numbers of signals to a pipe, from which a task or a thread reads them.
#pragma once

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <memory>
#include <system_error>

#include <fcntl.h>
#include <sys/types.h>
#include <unistd.h>

namespace runq::detail {

/// It is never closed, because a handler may run on any thread at any time.
struct signal_pipe {
  signal_pipe() : owner(getpid()) {
    // unreached: the pipe is made once in a process, when descriptors are not yet used up.
    if (pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) != 0) {
      throw std::system_error(errno, std::generic_category(), "runq: a pipe for signals");
    }
  }
  std::array<int, 2> ends{};
  const pid_t owner;                  // a child of fork() has the pipe, too, and must not use it
  const signal_pipe* left = nullptr;  // the parent's, so that a leak checker does not report it
};

/// The handler and the pipe of one use of signals in this process.
template <class Use>
class signal_source {
 public:
  static void on_signal(int number) {
    const int before = errno;
    // [signals.handler] acquire, unmodelled: pairs with [signals.pipe].
    const signal_pipe* const to = pipe_.load(std::memory_order::acquire);
    // unreached: the handler is installed after the pipe is made.
    if (to != nullptr && to->owner == getpid()) {
      const auto byte = static_cast<unsigned char>(number);
      // When the pipe is full, thousands of signals wait already.
      [[maybe_unused]] const ssize_t written = write(to->ends[1], &byte, 1);
    }
    errno = before;
  }

  /// This process's pipe. Throws std::system_error without descriptors. One thread at a time.
  [[nodiscard]] static const signal_pipe& pipe() {
    if (made_ != nullptr && made_->owner == getpid()) return *made_;
    auto made = std::make_unique<signal_pipe>();
    made->left = made_;
    made_ = made.release();
    // [signals.pipe] release, unmodelled: pairs with [signals.handler].
    pipe_.store(made_, std::memory_order::release);
    return *made_;
  }

  /// What makes a signal come out of the pipe.
  [[nodiscard]] static struct sigaction action() noexcept {
    struct sigaction a {};
    a.sa_handler = on_signal;
    a.sa_flags = SA_RESTART;
    sigfillset(&a.sa_mask);
    return a;
  }

 private:
  static inline constinit std::atomic<const signal_pipe*> pipe_{nullptr};
  static inline const signal_pipe* made_ = nullptr;  // what pipe_ holds, read under the callers' lock
};

}  // namespace runq::detail
