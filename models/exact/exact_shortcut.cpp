// SPDX-License-Identifier: MIT
#include "exact_shortcut.hpp"

#include <algorithm>

namespace runq::model::exact {

bool only_reads(const node& n) noexcept {
  if (n.kind == node_kind::fence) return true;
  return n.kind == node_kind::read && !n.exclusive && !n.spurious && !n.blocking && n.like == nobody;
}

bool may_stand_for(const operation& wanted, const node& kept) noexcept {
  if (wanted.kind != kept.kind || wanted.variable != kept.variable || wanted.accessed != kept.accessed) return false;
  if (wanted.kind == node_kind::fence) return wanted.order == kept.order;
  if (wanted.blocking || wanted.like != nobody) return false;
  if (wanted.change == update::modify || kept.exclusive) {
    return wanted.change == kept.change && wanted.op == kept.op && wanted.operand() == kept.operand() &&
           wanted.order == kept.order;
  }
  const std::memory_order order = wanted.change == update::none ? wanted.order : wanted.failure_order;
  if (order == std::memory_order::seq_cst) return kept.applied_order() == std::memory_order::seq_cst;
  return !acquires(order) || acquires(kept.applied_order());
}

namespace {

class hash_of_past {
 public:
  void mix(std::uint64_t x) noexcept {
    constexpr std::uint64_t odd = 0x9e3779b97f4a7c15;  // 2^64 / golden ratio
    sum_ = (sum_ ^ x) * odd;
    sum_ ^= sum_ >> 29;
  }
  void mix(event_id variable, event_id source) noexcept { mix(number(variable) << 32 | number(source)); }
  void mix_events(const graph& g, unsigned thread, unsigned end) noexcept {
    mix(end);
    for (unsigned i = 0; i != end; ++i) {
      const node& n = g.at(thread, i);
      mix(std::uint64_t{static_cast<std::uint8_t>(n.kind)} << 8 | (n.spurious ? 1 : 0));
      if (n.kind == node_kind::read) mix(n.variable, n.source);
      if (n.kind == node_kind::choice) mix(n.value);
    }
  }
  [[nodiscard]] std::uint64_t sum() const noexcept { return sum_; }

 private:
  [[nodiscard]] static std::uint64_t number(event_id e) noexcept { return std::uint64_t{e.thread} << 16 | e.index; }

  std::uint64_t sum_ = 0;
};

}  // namespace

/// What decides where a shortcut leads: all that happens before its end in (po ∪ rf)*.
std::uint64_t shortcuts::key_of(const graph& g, const shortcut& s) {
  hash_of_past hash;
  hash.mix(s.thread);
  clock past;
  if (s.begin != 0) {
    past = g.at(s.thread, s.begin - 1).porf;
  } else if (g.spawner_of(s.thread) != nobody) {
    past = g.at(g.spawner_of(s.thread)).porf;
  }
  for (const node& n : s.kept) {
    hash.mix(std::uint64_t{static_cast<std::uint8_t>(n.kind)} << 8 | static_cast<std::uint64_t>(n.applied_order()));
    if (n.kind != node_kind::read) continue;
    hash.mix(n.variable, n.source);
    past.join(g.at(n.source).porf);
  }
  for (unsigned t = constructing + 1; t != g.end_of_threads(); ++t) {
    hash.mix_events(g, t, t == s.thread ? s.begin : std::min<unsigned>(past[t], g.size(t)));
  }
  return hash.sum();
}

std::uint64_t shortcuts::past_of(const graph& g, event_id e) {
  hash_of_past hash;
  const clock& past = g.at(e).porf;
  for (unsigned t = constructing + 1; t != g.end_of_threads(); ++t) {
    hash.mix_events(g, t, std::min<unsigned>(past[t], g.size(t)));
  }
  return hash.sum();
}

const shortcuts::state* shortcuts::find(std::uint64_t key) const {
  const auto found = known_.find(key);
  return found == known_.end() ? nullptr : &found->second;
}

void shortcuts::note(std::uint64_t key, state to) {
  constexpr std::size_t most = 1 << 20;
  if (known_.size() == most) known_.clear();
  known_.emplace(key, to);
}

}  // namespace runq::model::exact
