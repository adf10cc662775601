// SPDX-License-Identifier: MIT
// The word that the owner and the thieves of a split_ring or a split_deque change. Only arithmetic: the atomic
// operations are the queues'.
#pragma once

#if __cplusplus <= 201703L && (!defined(_MSVC_LANG) || _MSVC_LANG <= 201703L)
#error "runqkit needs C++20: compile with -std=c++20, or as your compiler calls it"
#else

#include <cstdint>

namespace runq::detail {

/// A word of 64 bits: a limit up to which, or from which on, elements are the owner's (16 bits), a distance from it
/// (10), whether a thief asks for the owner's elements (1), and a tag that counts the changes (TagBits, at most 37).
///
/// Indices are cut to 16 bits, which is enough because no distance between two of them is larger than 512. While a
/// thief asks, the limit that is shown is moved by OutOfReach, so that the one comparison that the owner makes anyway
/// says no.
template <unsigned TagBits, std::uint32_t OutOfReach>
class split_word {
  static_assert(TagBits >= 1 && TagBits <= 37, "runq: the tag of a split queue has 1 to 37 bits");
  static constexpr unsigned distance_at = 16;
  static constexpr unsigned asked_at = 26;
  static constexpr unsigned tag_at = 27;

 public:
  using index = std::uint32_t;
  using word = std::uint64_t;

  /// The word that follows `before`: another tag, and these.
  [[nodiscard]] static word next(word before, index limit, index distance, bool asked) noexcept {
    const word tag = ((before >> tag_at) + 1) & ((word{1} << TagBits) - 1);
    const word shown = (limit + (asked ? OutOfReach : 0)) & 0xFFFFU;
    return shown | word{distance & 0x3FFU} << distance_at | word{asked} << asked_at | tag << tag_at;
  }
  [[nodiscard]] static bool asked(word w) noexcept { return (w >> asked_at & 1U) != 0; }
  [[nodiscard]] static index distance(word w) noexcept { return static_cast<index>(w >> distance_at & 0x3FFU); }
  /// The limit, cut to 16 bits.
  [[nodiscard]] static index limit(word w) noexcept {
    return static_cast<index>((w - (asked(w) ? OutOfReach : 0)) & 0xFFFFU);
  }
  /// The limit with which the owner compares, cut to 16 bits.
  [[nodiscard]] static index shown(word w) noexcept { return static_cast<index>(w & 0xFFFFU); }

  /// How far `to` is ahead of `from`, of which one or both are cut to 16 bits.
  [[nodiscard]] static int ahead(index from, index to) noexcept {
    return static_cast<std::int16_t>(static_cast<std::uint16_t>(to - from));
  }
  /// The index near `near` whose lower 16 bits are those of `cut`.
  [[nodiscard]] static index whole(index near, index cut) noexcept {
    return near + static_cast<index>(ahead(near, cut));
  }
};

}  // namespace runq::detail

#endif  // C++20
