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
  if (wanted.blocking || wanted.like != nobody || wanted.change == update::modify) return false;
  const std::memory_order order = wanted.change == update::none ? wanted.order : wanted.failure_order;
  if (order == std::memory_order::seq_cst) return kept.applied_order() == std::memory_order::seq_cst;
  return !acquires(order) || acquires(kept.applied_order());
}

/// What decides where a shortcut leads: all that happens before its end in (po ∪ rf)*.
std::uint64_t shortcuts::key_of(const graph& g, const shortcut& s) {
  std::uint64_t hash = s.thread;
  const auto mix = [&hash](std::uint64_t x) {
    constexpr std::uint64_t odd = 0x9e3779b97f4a7c15;  // 2^64 / golden ratio
    hash = (hash ^ x) * odd;
    hash ^= hash >> 29;
  };
  const auto number = [](event_id e) { return std::uint64_t{e.thread} << 16 | e.index; };
  clock past;
  if (s.begin != 0) {
    past = g.at(s.thread, s.begin - 1).porf;
  } else if (g.spawner_of(s.thread) != nobody) {
    past = g.at(g.spawner_of(s.thread)).porf;
  }
  for (const node& n : s.kept) {
    mix(std::uint64_t{static_cast<std::uint8_t>(n.kind)} << 8 | static_cast<std::uint64_t>(n.applied_order()));
    if (n.kind != node_kind::read) continue;
    mix(number(n.variable) << 32 | number(n.source));
    past.join(g.at(n.source).porf);
  }
  for (unsigned t = constructing + 1; t != g.end_of_threads(); ++t) {
    const unsigned end = t == s.thread ? s.begin : std::min<unsigned>(past[t], g.size(t));
    mix(end);
    for (unsigned i = 0; i != end; ++i) {
      const node& n = g.at(t, i);
      mix(std::uint64_t{static_cast<std::uint8_t>(n.kind)} << 8 | (n.spurious ? 1 : 0));
      if (n.kind == node_kind::read) mix(number(n.variable) << 32 | number(n.source));
      if (n.kind == node_kind::choice) mix(n.value);
    }
  }
  return hash;
}

const shortcuts::state* shortcuts::find(const graph& g, const shortcut& s) const {
  const auto found = known_.find(key_of(g, s));
  return found == known_.end() ? nullptr : &found->second;
}

void shortcuts::note(const graph& g, const shortcut& s, state to) {
  constexpr std::size_t most = 1 << 20;
  if (known_.size() == most) known_.clear();
  known_.emplace(key_of(g, s), to);
}

}  // namespace runq::model::exact
