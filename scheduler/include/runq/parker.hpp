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

  /// The same, but returns false after `ns` nanoseconds without a token. The parking thread only.
  [[nodiscard]] bool park_for(std::int64_t ns) noexcept;

  /// Takes the token if it is there. The parking thread only.
  [[nodiscard]] bool take() noexcept { return token_.exchange(0, std::memory_order::acquire) != 0; }
  /// Whether it is there.
  [[nodiscard]] bool has_token() const noexcept { return token_.load(std::memory_order::relaxed) != 0; }

  /// Leaves the token; a system call only if the other thread sleeps. Any thread. The parker may be destroyed once the
  /// park() that took this token has returned and this call, too.
  void unpark() noexcept;
  /// The same by the parking thread itself, whose next park() returns at once. No system call.
  void put() noexcept { token_.store(1, std::memory_order::relaxed); }

 private:
  std::atomic<std::uint32_t> token_{0};
};

}  // namespace runq
