// SPDX-License-Identifier: MIT
#include "runq/parker.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace runq {
namespace {

void futex(std::atomic<std::uint32_t>& word, int operation, std::uint32_t value) noexcept {
  static_assert(sizeof(word) == sizeof(std::uint32_t));
  // Errors are EAGAIN and EINTR, and both mean: look again.
  (void)syscall(SYS_futex, &word, operation, value, nullptr, nullptr, 0);
}

}  // namespace

void parker::park() noexcept {
  // acquire: pairs with unpark().
  while (token_.exchange(0, std::memory_order::acquire) == 0) futex(token_, FUTEX_WAIT_PRIVATE, 0);
}

void parker::unpark() noexcept {
  // release: pairs with park().
  if (token_.exchange(1, std::memory_order::release) == 0) futex(token_, FUTEX_WAKE_PRIVATE, 1);
}

}  // namespace runq
