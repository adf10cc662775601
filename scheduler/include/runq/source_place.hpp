// SPDX-License-Identifier: MIT
// source_place: the file and line at which a task waits, for dumps and reports of a deadlock.
//
// Not std::source_location, which clang 14 does not have, and which takes more than one word there.
#pragma once

#include <cstdint>

namespace runq {

/// A file and a line in one word, so that a dump that reads it while the task goes on never mixes two of them. The file
/// is a literal. Where its address needs more than 48 bits the place is not known.
///
/// As a default argument of a function it is the place of the call; of await_suspend(), the place of the co_await. So a
/// wait pays for it only when the task is about to sleep.
class source_place {
 public:
  /// Not known.
  constexpr source_place() noexcept = default;
  /// The place of the call that has this as a default argument.
  [[nodiscard]] static source_place here(const char* file = __builtin_FILE(),
                                         unsigned line = __builtin_LINE()) noexcept {
    return {file, line};
  }
  [[nodiscard]] static constexpr source_place of_word(std::uint64_t word) noexcept {
    source_place known;
    known.word_ = word;
    return known;
  }

  [[nodiscard]] constexpr explicit operator bool() const noexcept { return word_ != 0; }
  /// As the compiler was given it. Must not be called when the place is not known.
  [[nodiscard]] const char* file() const noexcept {
    return reinterpret_cast<const char*>(static_cast<std::uintptr_t>(word_ & address_mask));
  }
  /// 0: more than 65,535.
  [[nodiscard]] constexpr unsigned line() const noexcept { return static_cast<unsigned>(word_ >> address_bits); }
  [[nodiscard]] constexpr std::uint64_t word() const noexcept { return word_; }

 private:
  static constexpr int address_bits = 48;
  static constexpr std::uint64_t address_mask = (std::uint64_t{1} << address_bits) - 1;
  static constexpr unsigned last_line = 65'535;

  source_place(const char* file, unsigned line) noexcept {
    const std::uint64_t address = reinterpret_cast<std::uintptr_t>(file);
    const std::uint64_t above = std::uint64_t{line <= last_line ? line : 0} << address_bits;
    word_ = address <= address_mask ? above | address : 0;
  }
  std::uint64_t word_ = 0;
};

}  // namespace runq
