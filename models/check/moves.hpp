// SPDX-License-Identifier: MIT
// The moves of a thread as text, a letter each: what a scenario that is written in one line is made of.
#pragma once

#include <cstddef>
#include <string_view>

namespace runq::model {

/// A literal as a template argument. Which letters there are, and what they mean, the script that reads them says.
struct moves {
  static constexpr std::size_t most = 20;

  template <std::size_t N>
  consteval moves(const char (&written)[N]) : size(N - 1) {  // NOLINT(google-explicit-constructor): a literal is one
    static_assert(N - 1 <= most);
    for (std::size_t i = 0; i != size; ++i) text[i] = written[i];
  }
  [[nodiscard]] constexpr int count(char letter) const {
    int n = 0;
    for (std::size_t i = 0; i != size; ++i) n += text[i] == letter ? 1 : 0;
    return n;
  }
  [[nodiscard]] constexpr char at(std::size_t i) const { return i < size ? text[i] : '\0'; }
  [[nodiscard]] constexpr bool only_of(std::string_view letters) const {
    return std::string_view(text, size).find_first_not_of(letters) == std::string_view::npos;
  }

  char text[most]{};
  std::size_t size = 0;
};

}  // namespace runq::model
