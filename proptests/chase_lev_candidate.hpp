// SPDX-License-Identifier: MIT
// runq::basic_chase_lev as a candidate, unbounded and bounded: its owner pops the newest.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "chaos_atomics.hpp"
#include "fifo.hpp"
#include "runq/chase_lev.hpp"

namespace runq::props {

template <std::size_t Initial, class Atomics = std_atomics, when_full Full = when_full::grow>
class chase_lev_deque {
 public:
  using deque = basic_chase_lev<value, Atomics, Full>;
  static constexpr std::size_t capacity = Full == when_full::grow ? unbounded : Initial;
  static constexpr bool owner_pops_newest = true;

  explicit chase_lev_deque(std::uint64_t) : deque_(Initial), owner_(deque_.make_owner()), thief_(deque_.make_thief()) {}

  bool push(value v) { return owner_.push(v); }
  std::size_t push_batch(std::span<const value> vs) { return owner_.push_batch(vs.begin(), vs.end()).count; }
  std::optional<value> pop() { return owner_.pop(); }
  steal_result<value> steal() { return thief_.steal(); }
  bool has_work() { return thief_.has_work(); }
  std::size_t size_approx() { return thief_.size_approx(); }
  void hand_over() {
    typename deque::owner moved = std::move(owner_);
    owner_ = std::move(moved);
  }
  void rebind() { owner_.rebind(); }

  static std::string type_name() {
    return Full == when_full::grow ? "runq::chase_lev<std::uint32_t>" : "runq::bounded_chase_lev<std::uint32_t>";
  }
  static paste code(std::uint64_t, std::size_t queues) {
    paste p;
    for (std::size_t i = 0; i != queues; ++i) {
      const std::string k = std::to_string(i);
      p.setup += "  " + type_name() + " ring" + k + "(" + std::to_string(Initial) + ");\n";
      p.setup += "  [[maybe_unused]] auto owner" + k + " = ring" + k + ".make_owner();\n";
    }
    return p;
  }

 private:
  deque deque_;
  typename deque::owner owner_;
  typename deque::thief thief_;
};

template <std::size_t Initial, class Atomics = std_atomics, when_full Full = when_full::grow>
[[nodiscard]] candidate chase_lev_candidate() {
  using queue = chase_lev_deque<Initial, Atomics, Full>;
  candidate c = fifo_candidate<queue>(queue::type_name() + " from " + std::to_string(Initial));
  c.expression = "runq::props::chase_lev_candidate<" + std::to_string(Initial) + ", runq::props::chaos_atomics" +
                 (Full == when_full::grow ? "" : ", runq::when_full::refuse") + ">()";
  return c;
}

/// The candidates that the suites run on. They are templates, so that a program that does not call them does not
/// compile them.
template <class = void>
std::vector<candidate> chase_lev_candidates() {
  return {chase_lev_candidate<2>(), chase_lev_candidate<8>(), chase_lev_candidate<256>(),
          chase_lev_candidate<2, std_atomics, when_full::refuse>(),
          chase_lev_candidate<64, std_atomics, when_full::refuse>()};
}
/// The same header with forced delays, for real threads.
template <class = void>
std::vector<candidate> chase_lev_candidates_on_threads() {
  return {chase_lev_candidate<2, chaos_atomics>(), chase_lev_candidate<64, chaos_atomics>(),
          chase_lev_candidate<2, chaos_atomics, when_full::refuse>(),
          chase_lev_candidate<8, chaos_atomics, when_full::refuse>()};
}

}  // namespace runq::props
