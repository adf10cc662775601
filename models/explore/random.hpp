// SPDX-License-Identifier: MIT
// Random numbers that depend on nothing but the seed of a run.
#pragma once

#include <cstdint>

namespace runq::model::explore {

/// xorshift128+, seeded by splitmix64. What decides about one kind of thing has a stream of its own, so that a run
/// without old values, say, makes the same other choices as long as the program does.
class random_stream {
 public:
  void seed(std::uint64_t seed, std::uint64_t stream) noexcept {
    std::uint64_t mix = seed * 0x9e3779b97f4a7c15 + stream * 0xd1b54a32d192ed03;
    for (std::uint64_t* half : {&a_, &b_}) {
      mix += 0x9e3779b97f4a7c15;
      std::uint64_t z = mix;
      z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
      z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
      *half = z ^ (z >> 31);
    }
    if (a_ == 0 && b_ == 0) b_ = 1;
  }

  [[nodiscard]] std::uint64_t next() noexcept {
    std::uint64_t x = a_;
    const std::uint64_t y = b_;
    a_ = y;
    x ^= x << 23;
    b_ = x ^ y ^ (x >> 17) ^ (y >> 26);
    return b_ + y;
  }
  /// 0 … bound - 1.
  [[nodiscard]] std::uint32_t below(std::uint32_t bound) noexcept {
    return static_cast<std::uint32_t>(((next() >> 32) * bound) >> 32);
  }
  /// True in `parts` of 1024 cases.
  [[nodiscard]] bool happens(std::uint32_t parts) noexcept { return parts != 0 && below(1024) < parts; }

 private:
  std::uint64_t a_ = 1;
  std::uint64_t b_ = 2;
};

}  // namespace runq::model::explore
