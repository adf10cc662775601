// SPDX-License-Identifier: MIT
// The text of a call of a history. It has a fixed size, because a history is judged inside an execution.
#pragma once

#include <algorithm>
#include <array>
#include <charconv>
#include <concepts>
#include <cstddef>
#include <span>
#include <string_view>

namespace runq::model {

/// The text of one call: "take front → 1". What does not fit is cut.
class call_text {
 public:
  call_text() = default;
  explicit call_text(std::string_view text) { add(text); }

  call_text& add(std::string_view more) {
    const std::size_t fits = std::min(more.size(), chars_.size() - size_);
    std::copy_n(more.data(), fits, chars_.data() + size_);
    size_ += fits;
    return *this;
  }
  call_text& add(std::integral auto number) {
    std::array<char, 24> digits{};
    const char* const end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
    return add(std::string_view(digits.data(), static_cast<std::size_t>(end - digits.data())));
  }
  /// "1, 2"; "nothing" for none.
  call_text& add_list(std::span<const int> numbers) {
    if (numbers.empty()) return add("nothing");
    for (std::size_t i = 0; i != numbers.size(); ++i) add(i == 0 ? "" : ", ").add(numbers[i]);
    return *this;
  }
  [[nodiscard]] std::string_view view() const { return {chars_.data(), size_}; }

 private:
  std::array<char, 60> chars_{};
  std::size_t size_ = 0;
};

}  // namespace runq::model
