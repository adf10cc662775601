// SPDX-License-Identifier: MIT
// What a random walk through the tree of all executions needs: numbers, and the graphs that stand for others.
#pragma once

#include <cmath>
#include <cstdint>
#include <map>
#include <utility>

#include "exact_pending.hpp"

namespace runq::model::exact {

/// splitmix64 (Steele, Lea, Flood: "Fast splittable pseudorandom number generators", 2014): the same everywhere.
class random_numbers {
 public:
  explicit random_numbers(std::uint64_t seed) : state_(seed) {}
  /// From 0 up to `end`, without it.
  [[nodiscard]] double below(double end) {
    constexpr unsigned spare_bits = 11;
    constexpr double unit = 1.0 / (std::uint64_t{1} << (64 - spare_bits));
    return end * unit * static_cast<double>(next() >> spare_bits);
  }

 private:
  [[nodiscard]] std::uint64_t next() {
    state_ += 0x9e3779b97f4a7c15;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  std::uint64_t state_;
};

/// The mean of some numbers, and how far off it may be (Welford: "Note on a method for calculating corrected sums of
/// squares and products", 1962).
class mean {
 public:
  void add(double x) noexcept {
    const double before = x - value_;
    value_ += before / ++numbers_;
    squares_ += before * (x - value_);
  }
  [[nodiscard]] double value() const noexcept { return value_; }
  /// 0 if there are not two numbers.
  [[nodiscard]] double standard_error() const noexcept {
    return numbers_ < 2 ? 0 : std::sqrt(squares_ / (numbers_ - 1) / numbers_);
  }

 private:
  double numbers_ = 0, value_ = 0, squares_ = 0;
};

/// Of the graphs that deviate from the first execution equally often: one for each number of events. Those with the
/// same number lead to similar numbers of executions (Chen: "Heuristic sampling", 1992).
class layer {
 public:
  /// Keeps `p` or the part that is there, as likely as each stands for the more graphs.
  void add(pending_work::part p, double stands_for, random_numbers& random, pending_work& pending) {
    place& here = places_[events_of(*p.from)];
    here.stands_for += stands_for;
    if (random.below(here.stands_for) < stands_for) std::swap(here.kept, p);
    if (p.from != nullptr) pending.recycle(std::move(p.from));
  }

  [[nodiscard]] bool empty() const noexcept { return places_.empty(); }
  struct place {
    pending_work::part kept;
    double stands_for = 0;  ///< so many graphs came here
  };
  [[nodiscard]] place take() { return std::move(places_.extract(places_.begin()).mapped()); }

 private:
  [[nodiscard]] static unsigned events_of(const graph& g) noexcept {
    unsigned result = 0;
    for (unsigned t = constructing; t != thread_slots; t = g.next_thread(t)) result += g.size(t);
    return result;
  }
  std::map<unsigned, place> places_;
};

}  // namespace runq::model::exact
