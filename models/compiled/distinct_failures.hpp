// SPDX-License-Identifier: MIT
// The failures of a search that goes on after each (--all-failures): each kind of failure at a place once, with the
// smallest execution in which it happens.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "exact_pending.hpp"

namespace runq::model::compiled {

struct distinct_failure {
  std::string key;               ///< what tells it from others
  exact::way path;               ///< to its smallest execution
  unsigned number = 0;           ///< of the failures of that execution, from 0 on
  std::size_t steps = 0;         ///< of that execution, until it fails
  std::uint64_t executions = 0;  ///< in which it happens
};

class distinct_failures {
 public:
  void keep(std::size_t most) noexcept { most_ = most; }
  void forget() noexcept {
    failing_ = 0;
    all_.clear();
  }
  /// Returns whether there is room for another one.
  template <class Way>
  [[nodiscard]] bool note(const std::string& key, unsigned number, std::size_t steps, Way&& way) {
    distinct_failure& f = of(key);
    ++f.executions;
    if (f.executions == 1 || steps < f.steps) {
      f.path = way();
      f.number = number;
      f.steps = steps;
    }
    return most_ == 0 || all_.size() < most_;
  }
  void note_failing_execution() noexcept { ++failing_; }

  [[nodiscard]] const std::vector<distinct_failure>& all() const noexcept { return all_; }
  [[nodiscard]] std::uint64_t failing_executions() const noexcept { return failing_; }
  [[nodiscard]] bool is_full() const noexcept { return most_ != 0 && all_.size() == most_; }

 private:
  [[nodiscard]] distinct_failure& of(const std::string& key) {
    for (distinct_failure& f : all_) {
      if (f.key == key) return f;
    }
    return all_.emplace_back(distinct_failure{key, {}, 0, 0, 0});
  }

  std::size_t most_ = 0;  ///< 0: there is no limit
  std::uint64_t failing_ = 0;
  std::vector<distinct_failure> all_;
};

/// The message without what differs between executions: the numbers of threads, and addresses.
[[nodiscard]] std::string without_numbers(const std::string& message);

}  // namespace runq::model::compiled
