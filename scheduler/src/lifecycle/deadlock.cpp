// SPDX-License-Identifier: MIT
// Whether all tasks wait for each other: what the question in runq/protocol/deadlock.hpp asks of the scheduler.
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <string>
#include <system_error>
#include <utility>

#include <sys/stat.h>

#include "runq/detail/core.hpp"

// Null in a program without ThreadSanitizer.
extern "C" [[gnu::weak]] void __tsan_init();  // NOLINT(bugprone-reserved-identifier)

namespace runq::detail {

std::uint64_t core::count_tasks() const noexcept {
  return tasks_.count([this](auto&& f) { for_each_processor([&f](const processor& p) { f(p.tasks); }); });
}

// With the lock of `parking` held: no machine holds a processor, so no task runs, and every local queue is empty. Tells
// the thread in wait() under the lock. That is a system call, but only one for each wait(), and no machine is at work
// that the lock could delay.
void core::check_deadlock() {
  const std::uint64_t number = deadlocks.next_question();
  {
    const std::lock_guard lock(waiting_mutex_);
    if (awaited_ == awaited::nothing || has_come_) return;
  }
  if (count_tasks() == 0) {
    arrived(awaited::all);
    return;
  }
  if (!deadlocks.all_wait()) return;
  if (chosen.threads_without_handle == plain_threads::wake_no_task) deadlock();
  const std::lock_guard lock(waiting_mutex_);
  suspected_ = number;
  waiting_.notify_all();
}

namespace {

// 0: unknown, because there is no /proc. A thread that has just been joined may still be counted.
std::size_t threads_of_process() noexcept {
  struct stat folder_per_thread {};
  // unreached: the tests have /proc.
  if (stat("/proc/self/task", &folder_per_thread) != 0 || folder_per_thread.st_nlink < 2) return 0;
  return folder_per_thread.st_nlink - 2;
}

// ThreadSanitizer has a thread in the background; in a process that was forked, clang's may have two. They are known by
// the signals that they block: all that can be blocked (g++), or all but SIGSYS (clang++).
// unreached: only with ThreadSanitizer.
std::size_t threads_of_sanitizer() {
  if (__tsan_init == nullptr) return 0;
  std::size_t found = 0;
  std::error_code gone;
  for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task", gone)) {
    std::ifstream status(thread.path() / "status");
    for (std::string line; std::getline(status, line);) {
      if (line == "SigBlk:\tfffffffe7ffbfeff" || line == "SigBlk:\tfffffffe3ffbfeff") ++found;
    }
  }
  return found;
}

}  // namespace

// Called by the thread in run() or wait(). Machines that are leaving do not count as the scheduler's own: they may be
// gone when the process's threads are counted.
bool core::other_threads() const {
  const std::lock_guard lock(machines_mutex_);
  std::size_t own = 1 + machines_.size() - without_thread_.size();
  // by chance: no machine has started yet.
  if (monitor_.joinable()) ++own;
  if (chosen.dump_on != 0) ++own;
  return threads_of_process() > own + threads_of_sanitizer();
}

stop_wait::stop_wait(core& home, const std::stop_token& token) : home_(home), token_(token) {
  const std::lock_guard lock(home_.stop_waits_mutex_);
  next_ = std::exchange(home_.stop_waits_, this);
  if (next_ != nullptr) next_->previous_ = this;
}

stop_wait::~stop_wait() {
  const std::lock_guard lock(home_.stop_waits_mutex_);
  if (listed_) leave();
}

// The caller holds stop_waits_mutex_.
void stop_wait::leave() noexcept {
  listed_ = false;
  (previous_ != nullptr ? previous_->next_ : home_.stop_waits_) = next_;
  if (next_ != nullptr) next_->previous_ = previous_;
}

// Asks the tokens now, because a source may have been destroyed since the task began to wait. A token that has lost its
// last source gets no other, so it is asked once.
bool core::stop_possible() {
  const std::lock_guard lock(stop_waits_mutex_);
  while (stop_waits_ != nullptr) {
    if (stop_waits_->token_.stop_possible()) return true;
    stop_waits_->leave();
  }
  return false;
}

}  // namespace runq::detail
