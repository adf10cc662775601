// SPDX-License-Identifier: MIT
// steal_order: in which order a thief visits the other processors: each once, from a random start, differently each
// time.
#pragma once

#include <cstdint>
#include <numeric>
#include <vector>

namespace runq::detail {

/// A small random generator (xorshift64*, S. Vigna, 2016): only the order of visits hangs on it.
class fast_random {
 public:
  explicit fast_random(std::uint64_t seed) noexcept : state_(seed * 0x9E3779B97F4A7C15ULL | 1) {}
  [[nodiscard]] std::uint32_t operator()() noexcept {
    state_ ^= state_ >> 12;
    state_ ^= state_ << 25;
    state_ ^= state_ >> 27;
    return static_cast<std::uint32_t>((state_ * 0x2545F4914F6CDD1DULL) >> 32);
  }

 private:
  std::uint64_t state_;
};

/// Permutations of 0 … n-1 of the form start, start + step, start + 2 step, … modulo n, with step and n coprime. The
/// source of the idea: stealOrder in Go's runtime/proc.go.
class steal_order {
 public:
  /// For n ≥ 1; at first n is 1.
  void reset(std::uint32_t n) {
    n_ = n;
    steps_.clear();
    for (std::uint32_t step = 1; step <= n; ++step) {
      if (std::gcd(step, n) == 1) steps_.push_back(step);
    }
  }
  [[nodiscard]] std::uint32_t size() const noexcept { return n_; }
  [[nodiscard]] const std::vector<std::uint32_t>& steps() const noexcept { return steps_; }

  class walk {
   public:
    walk(std::uint32_t n, std::uint32_t start, std::uint32_t step) noexcept
        : n_(n), left_(n), at_(start), step_(step) {}
    [[nodiscard]] bool done() const noexcept { return left_ == 0; }
    [[nodiscard]] std::uint32_t position() const noexcept { return at_; }
    void advance() noexcept {
      --left_;
      at_ = static_cast<std::uint32_t>((std::uint64_t{at_} + step_) % n_);
    }

   private:
    std::uint32_t n_;
    std::uint32_t left_;
    std::uint32_t at_;
    std::uint32_t step_;
  };

  /// One of the n · φ(n) walks, by `random`.
  [[nodiscard]] walk start(std::uint32_t random) const noexcept {
    return walk(n_, random % n_, steps_[random / n_ % steps_.size()]);
  }

 private:
  std::uint32_t n_ = 1;
  std::vector<std::uint32_t> steps_{1};
};

}  // namespace runq::detail
