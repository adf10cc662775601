// SPDX-License-Identifier: MIT
#include "runq/detail/futex.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

namespace runq::detail {
namespace {

void call(futex::word& word, int operation, std::uint32_t value, const timespec* timeout = nullptr) noexcept {
  static_assert(sizeof(word) == sizeof(std::uint32_t));
  // The errors are EAGAIN, EINTR and ETIMEDOUT; after each of them the caller looks again.
  (void)syscall(SYS_futex, &word, operation, value, timeout, nullptr, 0);
}

std::int64_t now_ns() noexcept {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1'000'000'000 + t.tv_nsec;
}

}  // namespace

void futex::wait(word& at, std::uint32_t value) noexcept { call(at, FUTEX_WAIT_PRIVATE, value); }

std::int64_t futex::deadline(std::int64_t ns) noexcept { return now_ns() + ns; }

bool futex::wait_until(word& at, std::uint32_t value, std::int64_t deadline) noexcept {
  const std::int64_t left = deadline - now_ns();
  if (left <= 0) return false;
  const timespec timeout{left / 1'000'000'000, left % 1'000'000'000};
  call(at, FUTEX_WAIT_PRIVATE, value, &timeout);
  return true;
}

void futex::wake(word& at) noexcept { call(at, FUTEX_WAKE_PRIVATE, 1); }

}  // namespace runq::detail
