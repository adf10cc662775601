// SPDX-License-Identifier: MIT
// runq::basic_chase_lev as a candidate, unbounded and bounded, by its handles and as one object: its owner pops the
// newest.
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
#include "runq/one_object.hpp"

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

  static std::string class_name() { return "runq::props::chase_lev_deque"; }
  static std::string type_name() {
    return Full == when_full::grow ? "runq::chase_lev<std::uint32_t>" : "runq::bounded_chase_lev<std::uint32_t>";
  }
  static paste code(std::uint64_t, std::size_t queues) { return code_of(type_name(), queues); }
  static paste code_of(const std::string& type, std::size_t queues) {
    paste p;
    for (std::size_t i = 0; i != queues; ++i) {
      const std::string k = std::to_string(i);
      p.setup += "  " + type + " ring" + k + "(" + std::to_string(Initial) + ");\n";
      p.setup += "  [[maybe_unused]] auto owner" + k + " = ring" + k + ".make_owner();\n";
    }
    return p;
  }

 private:
  deque deque_;
  typename deque::owner owner_;
  typename deque::thief thief_;
};

/// A deque as one object. It is moved where other candidates hand over their owner handle.
template <std::size_t Initial, class Atomics = std_atomics, when_full Full = when_full::grow>
class chase_lev_object {
 public:
  using handled = chase_lev_deque<Initial, Atomics, Full>;
  using object = one_object<typename handled::deque>;
  static constexpr std::size_t capacity = handled::capacity;
  static constexpr bool owner_pops_newest = true;

  explicit chase_lev_object(std::uint64_t) : deque_(Initial) {}

  bool push(value v) { return deque_.push(v); }
  std::size_t push_batch(std::span<const value> vs) { return deque_.push_batch(vs.begin(), vs.end()).count; }
  std::optional<value> pop() { return deque_.pop(); }
  steal_result<value> steal() { return deque_.steal(); }
  bool has_work() { return !deque_.empty(); }
  std::size_t size_approx() { return deque_.size(); }
  void hand_over() {
    object moved = std::move(deque_);
    deque_ = std::move(moved);
  }

  static std::string class_name() { return "runq::props::chase_lev_object"; }
  static std::string type_name() { return "runq::one_object<" + handled::type_name() + ">"; }
  static paste code(std::uint64_t, std::size_t queues) { return handled::code_of(type_name(), queues); }

 private:
  object deque_;
};

template <std::size_t Initial, class Atomics = std_atomics, when_full Full = when_full::grow,
          template <std::size_t, class, when_full> class Queue = chase_lev_deque>
[[nodiscard]] candidate chase_lev_candidate() {
  using queue = Queue<Initial, Atomics, Full>;
  candidate c = fifo_candidate<queue>(queue::type_name() + " from " + std::to_string(Initial));
  c.expression = "runq::props::chase_lev_candidate<" + std::to_string(Initial) + ", runq::props::chaos_atomics" +
                 (Full == when_full::grow ? ", runq::when_full::grow" : ", runq::when_full::refuse") + ", " +
                 queue::class_name() + ">()";
  return c;
}

/// The candidates that the suites run on. They are templates, so that a program that does not call them does not
/// compile them.
template <class = void>
std::vector<candidate> chase_lev_candidates() {
  return {chase_lev_candidate<2>(),
          chase_lev_candidate<8>(),
          chase_lev_candidate<256>(),
          chase_lev_candidate<2, std_atomics, when_full::refuse>(),
          chase_lev_candidate<64, std_atomics, when_full::refuse>(),
          chase_lev_candidate<2, std_atomics, when_full::grow, chase_lev_object>(),
          chase_lev_candidate<8, std_atomics, when_full::refuse, chase_lev_object>()};
}
/// The candidates for real threads: the same header with forced delays (chaos_atomics).
template <class = void>
std::vector<candidate> chase_lev_candidates_on_threads() {
  return {chase_lev_candidate<2, chaos_atomics>(), chase_lev_candidate<64, chaos_atomics>(),
          chase_lev_candidate<2, chaos_atomics, when_full::refuse>(),
          chase_lev_candidate<8, chaos_atomics, when_full::refuse>(),
          chase_lev_candidate<2, chaos_atomics, when_full::grow, chase_lev_object>()};
}

}  // namespace runq::props
