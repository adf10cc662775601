// SPDX-License-Identifier: MIT
// Values of a program's memory as the engine knows them: numbers of 64 bits.
#pragma once

#include <cstdint>
#include <cstring>
#include <map>
#include <vector>

#include "part.hpp"

namespace runq::model::compiled {

/// Values of 128 bits, and the numbers that stand for them; shorter ones stand for themselves.
class wide_values final : public wide_parts {
 public:
  wide_values() noexcept { wide_parts_of_program = this; }

  // wide_parts
  [[nodiscard]] std::uint64_t get(std::uint64_t number, part p) override;
  [[nodiscard]] std::uint64_t put(std::uint64_t number, part p, std::uint64_t bytes) override;

  [[nodiscard]] std::uint64_t number_of(unsigned __int128 value) {
    const auto [at, added] = numbers_.try_emplace(value, values_.size());
    if (added) values_.push_back(value);
    return at->second;
  }
  [[nodiscard]] unsigned __int128 value_of(std::uint64_t number) const { return values_[number]; }

  /// What the `size` bytes at `at` hold.
  [[nodiscard]] std::uint64_t read(const void* at, unsigned size);
  void write(void* at, unsigned size, std::uint64_t value);

 private:
  std::map<unsigned __int128, std::uint64_t> numbers_{{0, 0}};
  std::vector<unsigned __int128> values_{0};
};

}  // namespace runq::model::compiled
