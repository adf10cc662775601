// SPDX-License-Identifier: MIT
#include "runq/parker.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

namespace runq {
namespace {

void futex(std::atomic<std::uint32_t>& word, int operation, std::uint32_t value,
           const timespec* timeout = nullptr) noexcept {
  static_assert(sizeof(word) == sizeof(std::uint32_t));
  // Errors are EAGAIN, EINTR and ETIMEDOUT, and all mean: look again.
  (void)syscall(SYS_futex, &word, operation, value, timeout, nullptr, 0);
}

std::int64_t now_ns() noexcept {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1'000'000'000 + t.tv_nsec;
}

}  // namespace

void parker::park() noexcept {
  // acquire: pairs with unpark().
  while (token_.exchange(0, std::memory_order::acquire) == 0) futex(token_, FUTEX_WAIT_PRIVATE, 0);
}

bool parker::park_for(std::int64_t ns) noexcept {
  const std::int64_t end = now_ns() + ns;
  while (!take()) {
    const std::int64_t left = end - now_ns();
    if (left <= 0) return false;
    const timespec timeout{left / 1'000'000'000, left % 1'000'000'000};
    futex(token_, FUTEX_WAIT_PRIVATE, 0, &timeout);
  }
  return true;
}

void parker::unpark() noexcept {
  // release: pairs with park().
  if (token_.exchange(1, std::memory_order::release) == 0) futex(token_, FUTEX_WAKE_PRIVATE, 1);
}

}  // namespace runq
