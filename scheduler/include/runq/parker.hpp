// SPDX-License-Identifier: MIT
// parker: where one thread sleeps until another wakes it, over a Linux futex.
#pragma once

#include <atomic>
#include <cstdint>

namespace runq {

/// A token of at most one: unpark() leaves it, park() takes it, and sleeps while there is none. One thread parks, any
/// thread unparks. What happens before an unpark() happens before the return of the park() that takes its token.
class parker {
 public:
  parker() noexcept = default;
  parker(const parker&) = delete;
  parker& operator=(const parker&) = delete;

  /// Waits for the token and takes it. The parking thread only.
  void park() noexcept;

  /// Leaves the token; a system call only if the other thread sleeps. Any thread. The parker may be destroyed once the
  /// park() that took this token has returned and this call, too.
  void unpark() noexcept;

 private:
  std::atomic<std::uint32_t> token_{0};
};

}  // namespace runq
