// SPDX-License-Identifier: MIT
// Linearizability: is there an order of the operations, true to what happened before what, in which a sequential queue
// would have given the same answers? Asked of every execution that an engine explores.
//
// "Before" is happens-before as the engine knows it; an engine without clocks (Relacy) knows program order only, and
// that construction comes first and finish() last, and so judges less. The search is that of Wing and Gong, "Testing
// and Verifying Concurrent Objects" (1993): try each operation that nothing pending must precede, undo, try the next.
// Fixed arrays: an engine may have taken over operator new.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "atomics.hpp"

namespace runq::model {

/// What an operation did, and the condition under which the sequential queue does the same.
enum class op_kind : unsigned char {
  append,           ///< added `ids` at the back; fits
  append_some,      ///< added `ids` at the back and stopped because the queue was full
  refuse,           ///< a push that found the queue full
  take_front,       ///< took exactly `ids` from the front
  take_back,        ///< took its one id from the back
  take_half,        ///< took ids.size() = min(⌈size/2⌉, limit) from the front
  take_lower_half,  ///< took ids.size() = ⌊size/2⌋ from the front
  take_all,         ///< took everything
  find_empty,       ///< found nothing
  find_work,        ///< was told that there is something
  replace,          ///< a slot: put ids[0], displaced ids[1] (0: the slot was empty)
};

/// `Operations` at most, on a queue of at most `Items` elements at a time, of which `capacity` fit.
template <std::size_t Operations, std::size_t Items>
class history {
 public:
  explicit history(std::size_t capacity = Items) : capacity_(capacity) {}

  /// To be called before an operation begins.
  [[nodiscard]] static moment begin() { return current_engine().now(); }

  /// To be called after an operation has ended, with what begin() returned.
  void add(moment began, op_kind kind, std::span<const int> ids, std::size_t limit = Items) {
    require(count_ != Operations, "limit reached: more operations than this history has room for");
    require(ids.size() <= Items, "limit reached: more elements than this history has room for");
    record& r = records_[count_++];
    r.began = began;
    r.ended = current_engine().now();
    r.kind = kind;
    r.limit = limit;
    r.size = ids.size();
    std::copy(ids.begin(), ids.end(), r.ids.begin());
  }

  /// Fails the execution if no sequential order explains it. In finish(), once.
  void require_linearizable() {
    for (std::size_t i = 0; i != count_; ++i) {
      predecessors_[i] = 0;
      for (std::size_t j = 0; j != count_; ++j) {
        if (i != j && current_engine().happened_before(records_[j].ended, records_[i].began)) {
          predecessors_[i] |= std::uint32_t{1} << j;
        }
      }
    }
    require(explain(0, state{}), "no sequential order explains what the operations returned: not linearizable");
  }

 private:
  static_assert(Operations < 32);

  struct record {
    moment began, ended;
    op_kind kind{};
    std::size_t limit = 0;
    std::size_t size = 0;
    std::array<int, Items> ids{};
  };
  struct state {
    std::size_t size = 0;
    std::array<int, Items> ids{};

    [[nodiscard]] bool starts_with(const record& r) const {
      return size >= r.size &&
             std::equal(r.ids.begin(), r.ids.begin() + static_cast<std::ptrdiff_t>(r.size), ids.begin());
    }
    void drop_front(std::size_t n) {
      std::copy(ids.begin() + static_cast<std::ptrdiff_t>(n), ids.begin() + static_cast<std::ptrdiff_t>(size),
                ids.begin());
      size -= n;
    }
  };

  // Whether the operations not in `done` can follow in some order, starting from `s`.
  [[nodiscard]] bool explain(std::uint32_t done, const state& s) const {
    bool all = true;
    for (std::size_t i = 0; i != count_; ++i) {
      const std::uint32_t bit = std::uint32_t{1} << i;
      if ((done & bit) != 0) continue;
      all = false;
      if ((predecessors_[i] & ~done) != 0) continue;
      state next = s;
      if (apply(records_[i], next) && explain(done | bit, next)) return true;
    }
    return all;
  }

  // Performs `r` on the sequential queue; false if that would have answered differently.
  [[nodiscard]] bool apply(const record& r, state& s) const {
    switch (r.kind) {
      case op_kind::append: return append(r, s);
      case op_kind::append_some: return append(r, s) && s.size == capacity_;
      case op_kind::refuse: return s.size == capacity_;
      case op_kind::take_front: return take(r, s, r.size);
      case op_kind::take_half: return take(r, s, std::min(s.size - s.size / 2, r.limit));
      case op_kind::take_lower_half: return take(r, s, s.size / 2);
      case op_kind::take_all: return take(r, s, s.size);
      case op_kind::take_back: return s.size != 0 && s.ids[--s.size] == r.ids[0];
      case op_kind::find_empty: return s.size == 0;
      case op_kind::find_work: return s.size != 0;
      case op_kind::replace: return replace(r, s);
    }
    return false;
  }
  [[nodiscard]] bool append(const record& r, state& s) const {
    if (s.size + r.size > capacity_) return false;
    for (std::size_t i = 0; i != r.size; ++i) s.ids[s.size++] = r.ids[i];
    return true;
  }
  [[nodiscard]] static bool take(const record& r, state& s, std::size_t n) {
    if (n != r.size || !s.starts_with(r)) return false;
    s.drop_front(n);
    return true;
  }
  [[nodiscard]] static bool replace(const record& r, state& s) {
    const int displaced = s.size == 0 ? 0 : s.ids[0];
    s.ids[0] = r.ids[0];
    s.size = 1;
    return displaced == (r.size == 2 ? r.ids[1] : 0);
  }

  const std::size_t capacity_;
  std::size_t count_ = 0;
  std::array<record, Operations> records_{};
  std::array<std::uint32_t, Operations> predecessors_{};
};

}  // namespace runq::model
