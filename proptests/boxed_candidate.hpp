// SPDX-License-Identifier: MIT
// runq::boxed as a candidate: a chase_lev, unbounded and bounded, a ring, and a split_deque, of values that no
// lock-free atomic holds.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "chaos_atomics.hpp"
#include "fifo.hpp"
#include "runq/boxed.hpp"
#include "runq/chase_lev.hpp"
#include "runq/ring.hpp"
#include "runq/split_deque.hpp"

namespace runq::props {

/// A value of three words, which differ if two values were mixed: then it is no value that was pushed.
struct wide_value {
  std::array<std::uint64_t, 3> words{};
  static wide_value of(value v) { return {{v, v + std::uint64_t{1}, v + std::uint64_t{2}}}; }
  [[nodiscard]] value narrow() const {
    const auto v = static_cast<value>(words[0]);
    return words == of(v).words ? v : ~value{0};
  }
};

/// A boxed queue, made of `Argument`. Queue: one that holds at most Capacity pointers to boxes. Blocks of two boxes, so
/// that the owner often looks for returned ones.
template <class Queue, std::size_t Capacity, bool PopsNewest, std::size_t Argument>
class boxed_queue {
 public:
  using queue = boxed<one_object<Queue>, 2>;
  static constexpr std::size_t capacity = Capacity;
  static constexpr bool owner_pops_newest = PopsNewest;

  explicit boxed_queue(std::uint64_t) : queue_(Argument) {}

  bool push(value v) { return queue_.push(wide_value::of(v)); }
  std::optional<value> pop() {
    const std::optional<wide_value> got = queue_.pop();
    return got ? std::optional(got->narrow()) : std::nullopt;
  }
  /// A push may make a steal of a split_deque lose, which the specification does not know: then it steals again.
  steal_result<value> steal() {
    for (;;) {
      const steal_result<wide_value> got = queue_.steal();
      if (got.status != steal_status::lost || !retries)
        return {got.status, got ? got.value.narrow() : value{}, got.count};
    }
  }
  batch_result steal_half(std::span<value> out) requires(!PopsNewest) {
    std::vector<wide_value> wide(out.size());
    const batch_result got = queue_.steal_half(wide);
    std::transform(wide.begin(), wide.end(), out.begin(), [](const wide_value& w) { return w.narrow(); });
    return got;
  }
  bool has_work() { return !queue_.empty(); }
  std::size_t size_approx() { return queue_.size(); }
  void hand_over() {
    queue moved = std::move(queue_);
    queue_ = std::move(moved);
  }

 private:
  // Of the queues here a split_deque is the only one without batches.
  static constexpr bool retries = !requires(one_object<Queue> q, std::span<typename Queue::value_type> vs) {
    q.push_batch(vs);
  };
  queue queue_;
};

template <class Atomics>
using box_of_wide = box<wide_value, Atomics>*;

template <class Queue, std::size_t Capacity, bool PopsNewest, std::size_t Argument>
[[nodiscard]] candidate boxed_candidate(const std::string& queue_name) {
  candidate c = fifo_candidate<boxed_queue<Queue, Capacity, PopsNewest, Argument>>(
      "runq::props::boxed_queue<" + queue_name + ", " +
      (Capacity == unbounded ? "runq::props::unbounded" : std::to_string(Capacity)) +
      (PopsNewest ? ", true, " : ", false, ") + std::to_string(Argument) + ">");
  c.capacity = Capacity;
  return c;
}

template <class Atomics>
std::vector<candidate> boxed_candidates_with(const std::string& policy) {
  using element = box_of_wide<Atomics>;
  const std::string of = "<runq::props::box_of_wide<" + policy + ">, ";
  return {boxed_candidate<basic_chase_lev<element, Atomics>, unbounded, true, 2>("runq::basic_chase_lev" + of + policy +
                                                                                 ">"),
          boxed_candidate<basic_chase_lev<element, Atomics, when_full::refuse>, 4, true, 4>(
              "runq::basic_chase_lev" + of + policy + ", runq::when_full::refuse>"),
          boxed_candidate<basic_ring<element, 4, std::uint8_t, Atomics>, 4, false, 250>(
              "runq::basic_ring" + of + "4, std::uint8_t, " + policy + ">"),
          boxed_candidate<basic_split_deque<element, 4, default_split_deque, Atomics>, 4, true, 250>(
              "runq::basic_split_deque" + of + "4, runq::default_split_deque, " + policy + ">")};
}

/// The candidates that the suites run on. They are templates, so that a program that does not call them does not
/// compile them.
template <class = void>
std::vector<candidate> boxed_candidates() {
  return boxed_candidates_with<std_atomics>("runq::std_atomics");
}
/// The candidates for real threads: the same header with forced delays (chaos_atomics).
template <class = void>
std::vector<candidate> boxed_candidates_on_threads() {
  return boxed_candidates_with<chaos_atomics>("runq::props::chaos_atomics");
}

}  // namespace runq::props
