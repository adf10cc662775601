// SPDX-License-Identifier: MIT
// Memory that the program accesses by atomic operations of different sizes: as a byte, say, and as the word that the
// byte belongs to. The word is the engine's variable then, and the smaller accesses have a part of it.
//
// The first of them shows it, and the search begins again: what was one variable, or two, is another one from then on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "part.hpp"

namespace runq::model::compiled {

struct mixed_word {
  std::byte* begin = nullptr;
  unsigned size = 0;

  [[nodiscard]] bool contains(const void* at, unsigned bytes) const noexcept {
    return at >= begin && static_cast<const std::byte*>(at) + bytes <= begin + size;
  }
  /// Of the word, those bytes.
  [[nodiscard]] part part_at(const void* at, unsigned bytes) const noexcept {
    if (bytes == size) return {};
    const auto first = static_cast<const std::byte*>(at) - begin;
    return {static_cast<std::uint8_t>(first), static_cast<std::uint8_t>(bytes), static_cast<std::uint8_t>(size)};
  }
};

class mixed_words {
 public:
  /// The word that has these bytes, or these themselves if there is none.
  [[nodiscard]] mixed_word around(void* at, unsigned size) const noexcept {
    for (const mixed_word& w : words_) {
      if (w.contains(at, size)) return w;
    }
    return {static_cast<std::byte*>(at), size};
  }
  /// The running execution shows a word. Both are aligned to their sizes, so one has the other. `where`: the line of
  /// code that shows it.
  void show(const mixed_word& a, const mixed_word& b, std::string where) {
    shown_ = {a.size > b.size ? a : b, std::move(where)};
  }
  /// The search begins again, and knows the word that was shown last.
  void add_shown() {
    add(shown_.word);
    note_place(std::move(shown_.where));
  }
  /// Every search knows these.
  void begin_with(const std::vector<mixed_word>& words) { words_ = given_ = words; }
  void forget() { words_ = given_; }
  [[nodiscard]] const std::vector<mixed_word>& all() const noexcept { return words_; }

  /// Lines of code that have shown one, for people.
  [[nodiscard]] const std::set<std::string>& places() const noexcept { return places_; }
  void note_place(std::string where) { places_.insert(std::move(where)); }

 private:
  /// Instead of those that it has.
  void add(const mixed_word& larger) {
    std::erase_if(words_, [&](const mixed_word& w) { return larger.contains(w.begin, w.size); });
    words_.push_back(larger);
  }

  std::vector<mixed_word> words_;
  std::vector<mixed_word> given_;
  struct {
    mixed_word word;
    std::string where;
  } shown_;
  std::set<std::string> places_;
};

}  // namespace runq::model::compiled
