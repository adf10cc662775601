// SPDX-License-Identifier: MIT
// A counter type for models, the same for every engine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

namespace runq::model {

/// An unsigned counter of few bits, for models that want it to wrap around soon.
template <unsigned Bits>
class narrow {
  static_assert(Bits >= 1 && Bits <= 7);

 public:
  constexpr narrow() noexcept = default;
  constexpr explicit narrow(std::uint64_t value) noexcept : value_(static_cast<std::uint8_t>(value & max)) {}
  [[nodiscard]] constexpr explicit operator std::size_t() const noexcept { return value_; }
  friend constexpr narrow operator+(narrow a, narrow b) noexcept { return narrow(a.value_ + std::uint64_t{b.value_}); }
  friend constexpr narrow operator-(narrow a, narrow b) noexcept { return narrow(a.value_ - std::uint64_t{b.value_}); }
  friend constexpr bool operator==(narrow, narrow) noexcept = default;

  static constexpr std::uint64_t max = (1U << Bits) - 1;

 private:
  std::uint8_t value_ = 0;
};

}  // namespace runq::model

template <unsigned Bits>
struct std::numeric_limits<runq::model::narrow<Bits>> {
  static constexpr bool is_specialized = true;
  static constexpr bool is_signed = false;
  static constexpr int digits = Bits;
  static constexpr runq::model::narrow<Bits> max() noexcept {
    return runq::model::narrow<Bits>(runq::model::narrow<Bits>::max);
  }
};
