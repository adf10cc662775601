// SPDX-License-Identifier: MIT
#include "exact_undone.hpp"

#include <algorithm>

#include "exact_shortcut.hpp"

namespace runq::model::exact {

bool adds(const node& n) noexcept {
  return n.change == update::modify && (n.op == rmw_op::add || n.op == rmw_op::sub) && n.accessed.is_whole();
}

namespace {

class round_of_thread {
 public:
  round_of_thread(const graph& g, unsigned thread, unsigned begin, unsigned end)
      : g_(g), thread_(thread), begin_(begin), end_(end) {}

  [[nodiscard]] undone_round look() {
    for (unsigned i = begin_; i != end_; ++i) {
      const node& n = g_.at(thread_, i);
      const bool is_change = n.kind == node_kind::write || n.exclusive;
      if (!is_change && !only_reads(n)) return {};
      if (n.kind != node_kind::write) continue;
      if (is_last_to(n.variable, i) && !undoes(id(i))) return {};
      result_.is_undone = true;
    }
    return result_;
  }

 private:
  [[nodiscard]] event_id id(unsigned i) const noexcept {
    return {static_cast<std::uint16_t>(thread_), static_cast<std::uint16_t>(i)};
  }
  [[nodiscard]] bool is_of_round(event_id e) const noexcept {
    return e.thread == thread_ && e.index >= begin_ && e.index < end_;
  }
  [[nodiscard]] bool is_last_to(event_id variable, unsigned write) const noexcept {
    for (unsigned i = write + 1; i != end_; ++i) {
      if (g_.at(thread_, i).kind == node_kind::write && g_.at(thread_, i).variable == variable) return false;
    }
    return true;
  }
  [[nodiscard]] unsigned first_to(event_id variable) const noexcept {
    unsigned i = begin_;
    while (g_.at(thread_, i).kind != node_kind::write || g_.at(thread_, i).variable != variable) ++i;
    return i;
  }

  /// Whether all that the thread has added to the variable before the round it has taken back. (A round that takes
  /// back first, and adds again, is asked about as any other; but its difference is negative, which loads often tell:
  /// then the search would begin again.)
  [[nodiscard]] bool has_no_share_in(event_id variable) const noexcept {
    std::uint64_t share = 0;
    for (unsigned i = 0; i != begin_; ++i) {
      const node& n = g_.at(thread_, i);
      if (n.kind != node_kind::write || n.variable != variable) continue;
      if (!n.exclusive || !adds(g_.at(thread_, i - 1))) return false;
      share = apply(g_.at(thread_, i - 1).op, share, g_.at(thread_, i - 1).operand());
    }
    return (share & g_.at(variable).mask()) == 0;
  }

  /// Whether the round's writes to the variable up to `last` add up to nothing, and every write between them adds to
  /// what it has found.
  [[nodiscard]] bool undoes(event_id last) {
    const event_id variable = g_.at(last).variable;
    if (!has_no_share_in(variable)) return false;
    const event_id first = id(first_to(variable));
    std::vector<event_id> reads;  // the newest first
    for (event_id write = last;; write = g_.at(reads.back()).source) {
      if (g_.at(write).kind != node_kind::write || !g_.at(write).exclusive) return false;
      reads.push_back({write.thread, static_cast<std::uint16_t>(write.index - 1)});
      if (!adds(g_.at(reads.back()))) return false;
      if (write == first) break;
    }
    const std::uint64_t mask = g_.at(variable).mask();
    std::uint64_t difference = 0;
    for (auto read = reads.rbegin(); read != reads.rend(); ++read) {
      const node& n = g_.at(*read);
      if (!is_of_round(*read)) {
        result_.disturbed.push_back({*read, (n.value - difference) & mask});
        continue;
      }
      difference = (apply(n.op, difference, n.operand())) & mask;
      if (difference != 0) result_.differences.push_back({variable, thread_, difference});
    }
    return difference == 0;
  }

  const graph& g_;
  unsigned thread_;
  unsigned begin_;
  unsigned end_;
  undone_round result_;
};

}  // namespace

undone_round look_at_round(const graph& g, unsigned thread, unsigned begin, unsigned end) {
  return round_of_thread(g, thread, begin, end).look();
}

}  // namespace runq::model::exact
