// SPDX-License-Identifier: MIT
// Text in columns of a terminal, which shows "→" in one column.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

namespace runq::model {

/// How many columns a terminal shows of a text: counts bytes that begin a character.
[[nodiscard]] inline std::size_t columns_of(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}

[[nodiscard]] inline std::string padded(std::string text, std::size_t columns) {
  const std::size_t now = columns_of(text);
  if (now < columns) text.append(columns - now, ' ');
  return text;
}

[[nodiscard]] inline std::string cut(std::string text, std::size_t columns) {
  if (columns_of(text) <= columns) return text;
  std::size_t bytes = 0;
  for (std::size_t shown = 0; bytes != text.size(); ++bytes) {
    if ((text[bytes] & 0xc0) != 0x80 && shown++ == columns - 1) break;
  }
  return text.substr(0, bytes) + "…";
}

}  // namespace runq::model
