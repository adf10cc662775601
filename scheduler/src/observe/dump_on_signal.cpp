// SPDX-License-Identifier: MIT
#include "runq/detail/dump_on_signal.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include <poll.h>
#include <pthread.h>
#include <unistd.h>

#include "runq/detail/core.hpp"
#include "runq/detail/process_locks.hpp"
#include "runq/detail/signal_pipe.hpp"

namespace runq::detail {
namespace {

/// The schedulers of one process that want dumps, and the thread that prints them. It is a thread and not a task, so
/// that it prints a dump also when no task can run.
class dumper {
 public:
  explicit dumper(dumper* left) : left_(left) {}
  [[nodiscard]] bool of_this_process() const noexcept { return process_ == getpid(); }

  void add(const core& of, int number) {
    const std::lock_guard lock(changes_);
    const signal_pipe& pipe = source::pipe();
    if (!thread_.joinable()) {
      drain(pipe);
      thread_ = std::thread([this, &pipe] { print_dumps(pipe); });
    }
    try {
      const std::lock_guard also(wanted_mutex_);
      wanted_.push_back({&of, number});
      catch_signal(number);
    } catch (...) {
      forget(of);
      end_if_unused(pipe);
      throw;
    }
  }

  void remove(const core& of) noexcept {
    const std::lock_guard lock(changes_);
    const int number = forget(of);
    if (!is_wanted(number)) {
      sigaction(number, &former_.extract(number).mapped(), nullptr);
    }
    end_if_unused(source::pipe());
  }

 private:
  using source = signal_source<dumper>;
  static constexpr unsigned char end = 0;  // no signal has this number

  struct entry {
    const core* of;
    int number;
  };

  void catch_signal(int number) {
    const auto [former, is_first] = former_.try_emplace(number);
    if (!is_first) return;
    const struct sigaction ours = source::action();
    if (sigaction(number, &ours, &former->second) == 0) return;
    const int error = errno;
    former_.erase(former);
    throw std::system_error(error, std::generic_category(), "runq: sigaction");
  }

  // Returns its signal.
  int forget(const core& of) noexcept {
    const std::lock_guard lock(wanted_mutex_);
    const auto at = std::find_if(wanted_.begin(), wanted_.end(), [&](const entry& e) { return e.of == &of; });
    if (at == wanted_.end()) return 0;
    const int number = at->number;
    wanted_.erase(at);
    return number;
  }

  [[nodiscard]] bool is_wanted(int number) noexcept {
    const std::lock_guard lock(wanted_mutex_);
    return std::any_of(wanted_.begin(), wanted_.end(), [&](const entry& e) { return e.number == number; });
  }

  void end_if_unused(const signal_pipe& pipe) noexcept {
    {
      const std::lock_guard lock(wanted_mutex_);
      if (!wanted_.empty()) return;
    }
    // If the pipe is full the thread reads, and there is room again soon.
    // by chance: thousands of signals wait in it.
    while (write(pipe.ends[1], &end, 1) < 0) std::this_thread::yield();
    thread_.join();
  }

  static void drain(const signal_pipe& pipe) noexcept {
    std::array<unsigned char, 64> old{};
    while (read(pipe.ends[0], old.data(), old.size()) > 0) continue;
  }

  void print_dumps(const signal_pipe& pipe) noexcept {
    (void)pthread_setname_np(pthread_self(), "runq dumps");
    for (;;) {
      unsigned char number = end;
      const ssize_t n = read(pipe.ends[0], &number, 1);
      if (n == 1 && number == end) return;
      if (n == 1) {
        print(number);
      } else {
        pollfd readable{.fd = pipe.ends[0], .events = POLLIN, .revents = 0};
        (void)poll(&readable, 1, -1);
      }
    }
  }

  void print(int number) noexcept {
    const std::lock_guard lock(wanted_mutex_);
    for (const entry& e : wanted_) {
      if (e.number != number) continue;
      try {
        std::fputs(
            ("runq: what the tasks do, asked for by signal " + std::to_string(number) + ":\n\n" + e.of->dump() + "\n")
                .c_str(),
            stderr);
      } catch (const std::exception&) {
        std::fputs("runq: there is no memory for a dump\n", stderr);
      }
    }
    std::fflush(stderr);
  }

  const pid_t process_ = getpid();
  [[maybe_unused]] dumper* const left_;  // the parent process's, so that a leak checker does not report it
  std::mutex changes_;
  std::map<int, struct sigaction> former_;  // what the signals did before; under changes_
  std::thread thread_;                      // under changes_
  std::mutex wanted_mutex_;                 // held while a dump is printed
  std::vector<entry> wanted_;               // under wanted_mutex_
};

// This process's. It is never destroyed. A child of fork() has none of its parent's threads, so it gets another one.
dumper& the_dumper() {
  static dumper* made = nullptr;
  const std::lock_guard lock(locks_of_process.dumps);
  if (made == nullptr || !made->of_this_process()) made = new dumper(made);
  return *made;
}

}  // namespace

dump_on_signal::dump_on_signal(const core& of, int number) : of_(of) { the_dumper().add(of, number); }
dump_on_signal::~dump_on_signal() { the_dumper().remove(of_); }

bool dump_on_signal::possible(int number) noexcept {
  return number != SIGKILL && number != SIGSTOP && sigaction(number, nullptr, nullptr) == 0;
}

}  // namespace runq::detail
