// SPDX-License-Identifier: MIT
// signals: the task that reads what a handler has written to a pipe.
#include "runq/signals.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <mutex>
#include <span>
#include <stop_token>
#include <string>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/types.h>
#include <unistd.h>

#include "runq/detail/process_locks.hpp"
#include "runq/detail/signal_pipe.hpp"
#include "runq/net.hpp"

namespace runq {
namespace {

using source = detail::signal_source<signals>;

pid_t in_use_by = 0;  // the process whose `signals` object has the pipe, or 0; under the lock `signals`

/// Takes the pipe for one `signals` object, and drops what an earlier object has not read.
const detail::signal_pipe& take_pipe() {
  const std::lock_guard lock(detail::locks_of_process.signals);
  if (in_use_by == getpid()) detail::throw_misuse("runq: there is a runq::signals already; give that one all signals");
  const detail::signal_pipe& pipe = source::pipe();
  std::array<char, 64> old{};
  while (read(pipe.ends[0], old.data(), old.size()) > 0) continue;
  in_use_by = getpid();
  return pipe;
}

void give_pipe_back() {
  const std::lock_guard lock(detail::locks_of_process.signals);
  in_use_by = 0;
}

net::stream reading_end(const detail::signal_pipe& pipe) {
  const int fd = fcntl(pipe.ends[0], F_DUPFD_CLOEXEC, 0);
  // unreached: no test uses up all descriptors here.
  if (fd < 0) throw std::system_error(errno, std::generic_category(), "runq: a descriptor for signals");
  try {
    return net::stream(fd);
  } catch (...) {
    ::close(fd);
    throw;
  }
}

task<> forward(net::stream from, int back, sigset_t wanted, send_end<int> to, std::stop_token stop) {
  std::array<std::byte, 64> numbers{};
  for (;;) {
    const std::size_t n = co_await from.read(numbers, stop);
    // by chance: the request comes beside the read; faults_test holds the read until then.
    if (stop.stop_requested()) {
      // These signals are for the next `signals` object.
      [[maybe_unused]] const ssize_t written = write(back, numbers.data(), n);
      co_return;
    }
    for (const std::byte byte : std::span(numbers).first(n)) {
      const int number = std::to_integer<int>(byte);
      // An earlier object may have had other signals.
      if (sigismember(&wanted, number) == 1) static_cast<void>(to.try_send(int{number}));
    }
  }
}

}  // namespace

signals::signals(std::initializer_list<int> which) {
  if (!this_task::running()) detail::throw_misuse("runq: runq::signals was made outside a task");
  if (which.size() == 0) detail::throw_misuse("runq: runq::signals was given no signal");
  const detail::signal_pipe& pipe = take_pipe();
  try {
    const auto channel = make_channel<int>(room);
    received_ = channel;
    const struct sigaction ours = source::action();
    sigset_t wanted;
    sigemptyset(&wanted);
    before_.reserve(which.size());
    for (const int number : which) {
      struct sigaction former {};
      if (sigaction(number, &ours, &former) != 0) {
        throw misuse("runq: runq::signals was given " + std::to_string(number) +
                     ", which is no signal that can be caught");
      }
      before_.emplace_back(number, former);
      sigaddset(&wanted, number);
    }
    reader_ = spawn([from = reading_end(pipe), back = pipe.ends[1], wanted,
                     to = send_end<int>(channel)](const std::stop_token& stop) mutable {
      return forward(std::move(from), back, wanted, std::move(to), stop);
    });
  } catch (...) {
    restore_actions();
    throw;
  }
}

signals::~signals() { restore_actions(); }

void signals::restore_actions() noexcept {
  // The last first, because a number may be there twice.
  for (auto i = before_.rbegin(); i != before_.rend(); ++i) sigaction(i->first, &i->second, nullptr);
  reader_ = {};
  give_pipe_back();
}

}  // namespace runq
