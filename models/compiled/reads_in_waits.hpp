// SPDX-License-Identifier: MIT
// What threads have read in rounds of loops that wait, and which writes may race with that although no execution of the
// search shows it.
//
// A thread that waits is left in the round in which it has read nothing new; where it goes on, it has made no such
// round. A write of another thread that does not come after the end of the loop in (po ∪ rf)+ is in an execution, too,
// in which the thread still waits: if it races with a read of the round, that execution fails. A write that comes after
// the end and happens-after it races with nothing in the loop. There remain the writes that come after the end, because
// relaxed operations have told of it, and do not happen-after it: *late* ones.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace runq::model::compiled {

class reads_in_waits {
 public:
  /// More than these are not told apart: then each late write counts.
  static constexpr std::size_t most = 4096;

  /// The bytes from `begin` to `end` as the thread with that number reads them.
  struct place {
    unsigned thread;
    std::uintptr_t begin;
    std::uintptr_t end;
    friend auto operator<=>(const place&, const place&) = default;
    [[nodiscard]] bool overlaps(const place& other) const noexcept {
      return thread == other.thread && begin < other.end && other.begin < end;
    }
  };

  void forget() noexcept {
    reads_.clear();
    writes_.clear();
    has_more_ = false;
  }
  void note_read(const place& read) { note(reads_, read); }
  /// A late write to memory that the thread of `write` may have read. Calls the function for its line if it is new.
  template <class Function>
  void note_write(const place& write, Function&& line) {
    if (writes_.contains(write)) return;
    if (writes_.size() == most) {
      has_more_ = true;
    } else {
      writes_.emplace(write, line());
    }
  }
  /// Those of another process, which has the program at the same addresses, or has not.
  void join(const reads_in_waits& others, bool at_same_addresses) {
    for (const place& r : others.reads_) note_read(r);
    for (const auto& write : others.writes_) note_write(write.first, [&] { return write.second; });
    has_more_ = has_more_ || others.has_more_ || !at_same_addresses;
  }

  /// The lines of the late writes that may race with such a read.
  [[nodiscard]] std::set<std::string> lines() const;

  [[nodiscard]] const std::set<place>& reads() const noexcept { return reads_; }
  [[nodiscard]] const std::map<place, std::string>& writes() const noexcept { return writes_; }
  [[nodiscard]] bool has_more() const noexcept { return has_more_; }
  void note_more() noexcept { has_more_ = true; }

 private:
  void note(std::set<place>& known, const place& p) {
    if (known.contains(p)) return;
    if (known.size() == most) {
      has_more_ = true;
    } else {
      known.insert(p);
    }
  }

  std::set<place> reads_;
  std::map<place, std::string> writes_;
  bool has_more_ = false;
};

}  // namespace runq::model::compiled
