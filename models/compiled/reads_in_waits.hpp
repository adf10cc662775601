// SPDX-License-Identifier: MIT
// What threads have accessed in rounds in vain, in which they wait or fail, and which accesses may race with that
// although no execution of the search shows it.
//
// A thread is left in the round in which it has read nothing new, or has failed; where it goes on, it has made no such
// round. An access of another thread that does not come after the end of the loop in (po ∪ rf)+ is in an execution,
// too, in which the thread is still there: if it races with one of the round, that execution fails. What comes after
// the end and happens-after it races with nothing in the loop. There remain the accesses that come after the end,
// because relaxed operations have told of it, and do not happen-after it: *late* ones. If there may be such a race, the
// search begins again with exact_options::keeps_rounds, which shows it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace runq::model::compiled {

class reads_in_waits {
 public:
  /// More than these are not told apart: then each late access counts.
  static constexpr std::size_t most = 4096;

  /// How memory is accessed.
  struct manner {
    bool is_atomic = false;
    bool is_write = false;
    friend bool operator==(const manner&, const manner&) = default;
    [[nodiscard]] bool conflicts_with(const manner& other) const noexcept {
      return (is_write || other.is_write) && !(is_atomic && other.is_atomic);
    }
  };
  /// The bytes from `begin` to `end` as the thread with that number accesses them.
  struct place {
    unsigned thread = 0;
    std::uintptr_t begin = 0;
    std::uintptr_t end = 0;
    manner how{};
    friend bool operator==(const place&, const place&) = default;
    /// Any order. By hand, because g++ 12 calls a function for each step of one that it makes itself.
    friend bool operator<(const place& a, const place& b) noexcept {
      if (a.begin != b.begin) return a.begin < b.begin;
      return a.end != b.end ? a.end < b.end : a.rest() < b.rest();
    }
    [[nodiscard]] bool overlaps(const place& other) const noexcept {
      return thread == other.thread && begin < other.end && other.begin < end;
    }

   private:
    [[nodiscard]] unsigned rest() const noexcept {
      return thread * 4 + (how.is_atomic ? 2U : 0U) + (how.is_write ? 1U : 0U);
    }
  };

  void forget() noexcept { *this = {}; }
  /// The thread of `in_round` has accessed that in a round in vain.
  void note(const place& in_round) {
    if (in_rounds_.contains(in_round)) return;
    has_news_ = true;
    if (in_rounds_.size() == most) {
      has_more_ = true;
    } else {
      in_rounds_.insert(in_round);
    }
  }
  /// A late access to memory that the thread of `late` may have accessed. Calls the function for its line if it is new.
  template <class Function>
  void note_late(const place& late, Function&& line) {
    if (late_.contains(late)) return;
    has_news_ = true;
    if (late_.size() == most) {
      has_more_ = true;
    } else {
      late_.emplace(late, line());
    }
  }
  /// Those of another process, which has the program at the same addresses, or has not.
  void join(const reads_in_waits& others, bool at_same_addresses) {
    for (const place& p : others.in_rounds_) note(p);
    for (const auto& late : others.late_) note_late(late.first, [&] { return late.second; });
    has_more_ = has_more_ || others.has_more_ || !at_same_addresses;
  }

  /// The lines of the late accesses that may race with one in a round.
  [[nodiscard]] std::set<std::string> lines() const;

  [[nodiscard]] const std::set<place>& in_rounds() const noexcept { return in_rounds_; }
  [[nodiscard]] const std::map<place, std::string>& late() const noexcept { return late_; }
  [[nodiscard]] bool has_more() const noexcept { return has_more_; }
  void note_more() noexcept { has_more_ = true; }
  /// Whether anything was noted since that was asked, or since all was forgotten.
  [[nodiscard]] bool take_news() noexcept { return std::exchange(has_news_, false); }

 private:
  std::set<place> in_rounds_;
  std::map<place, std::string> late_;
  bool has_more_ = false;
  bool has_news_ = false;
};

}  // namespace runq::model::compiled
