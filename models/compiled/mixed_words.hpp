// SPDX-License-Identifier: MIT
// Memory that the program accesses by atomic operations of different sizes: as a byte, say, and as the word that the
// byte belongs to. The word is the engine's variable then, and the smaller accesses have a part of it.
//
// The first of them shows it, and the search begins again: what was one variable, or two, is another one from then on.
//
// The program may also access the memory of a lock (a mutex, a semaphore, a barrier) by atomic operations: in a union,
// say, or where a pool takes it for something else. What such operations see is what they have left there. The state of
// the lock lies elsewhere then.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "part.hpp"

namespace runq::model::compiled {

/// Without a size: a lock that begins there, and whose memory the program accesses by atomic operations.
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
  /// Where the state of the lock lies: in its memory, or elsewhere.
  [[nodiscard]] void* state_of(void* lock) {
    const auto is_it = [=](const mixed_word& w) { return w.size == 0 && w.begin == lock; };
    return std::none_of(words_.begin(), words_.end(), is_it) ? lock : &states_[lock];
  }
  /// The lock whose state lies there; other memory is itself.
  [[nodiscard]] const void* seen_as(const void* memory) const noexcept {
    for (const auto& [lock, state] : states_) {
      if (&state == memory) return lock;
    }
    return memory;
  }
  /// When an execution begins: calls the function with each lock whose state lies elsewhere, and with that.
  template <class Function>
  void for_each_state(Function&& function) {
    for (const mixed_word& w : words_) {
      if (w.size == 0) function(static_cast<const void*>(w.begin), states_[w.begin]);
    }
  }
  /// The running execution shows a word. Both are aligned to their sizes, so one has the other. `where`: the line of
  /// code that shows it.
  void show(const mixed_word& a, const mixed_word& b, std::string where) {
    shown_ = {a.size > b.size ? a : b, std::move(where)};
  }
  /// Likewise: the program accesses the memory of that lock.
  void show_lock(void* lock, std::string where) { shown_ = {{static_cast<std::byte*>(lock), 0}, std::move(where)}; }
  /// The search begins again, and knows the word that was shown last.
  void add_shown() {
    add(shown_.word);
    (shown_.word.size == 0 ? lock_places_ : places_).insert(std::move(shown_.where));
  }
  /// Every search knows these.
  void begin_with(const std::vector<mixed_word>& words) { words_ = given_ = words; }
  void forget() { words_ = given_; }
  [[nodiscard]] const std::vector<mixed_word>& all() const noexcept { return words_; }

  /// Lines of code that have shown one, for people.
  [[nodiscard]] const std::set<std::string>& places() const noexcept { return places_; }
  void note_place(std::string where) { places_.insert(std::move(where)); }
  /// Those that have shown a lock.
  [[nodiscard]] const std::set<std::string>& lock_places() const noexcept { return lock_places_; }
  void note_lock_place(std::string where) { lock_places_.insert(std::move(where)); }

 private:
  /// Instead of those that it has.
  void add(const mixed_word& larger) {
    std::erase_if(words_, [&](const mixed_word& w) { return w.size != 0 && larger.contains(w.begin, w.size); });
    words_.push_back(larger);
  }

  std::vector<mixed_word> words_;
  std::vector<mixed_word> given_;
  struct {
    mixed_word word;
    std::string where;
  } shown_;
  std::map<const void*, std::uint64_t> states_;  ///< of locks whose memory the program accesses
  std::set<std::string> places_;
  std::set<std::string> lock_places_;
};

}  // namespace runq::model::compiled
