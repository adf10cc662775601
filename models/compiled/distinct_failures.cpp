// SPDX-License-Identifier: MIT
#include "distinct_failures.hpp"

#include <cctype>

namespace runq::model::compiled {

std::string without_numbers(const std::string& message) {
  std::string text;
  bool drops = false;
  for (std::size_t i = 0; i != message.size(); ++i) {
    const char c = message[i];
    drops = drops && std::isxdigit(static_cast<unsigned char>(c)) != 0;
    if (drops) continue;
    text += c;
    const bool begins_word = i == 0 || std::isalnum(static_cast<unsigned char>(message[i - 1])) == 0;
    drops = (c == 'T' && begins_word && i + 1 != message.size() && std::isdigit(message[i + 1]) != 0) ||
            (c == 'x' && i != 0 && message[i - 1] == '0');
  }
  return text;
}

}  // namespace runq::model::compiled
