// SPDX-License-Identifier: MIT
// runq::counted as a candidate: a chase_lev, unbounded and bounded, a ring, a split_deque, and a split_ring.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "chaos_atomics.hpp"
#include "fifo.hpp"
#include "runq/all_empty.hpp"
#include "runq/chase_lev.hpp"
#include "runq/ring.hpp"
#include "runq/split_deque.hpp"
#include "runq/split_ring.hpp"

namespace runq::props {

/// A counted queue, made of `argument`. Queue: one that holds at most Capacity values. Run: a split_ring's, or 0.
template <class Queue, std::size_t Capacity, bool PopsNewest, std::size_t Run = 0>
class counted_queue {
 public:
  using queue = counted<Queue>;
  static constexpr std::size_t capacity = Capacity;
  static constexpr bool owner_pops_newest = PopsNewest;
  static constexpr std::size_t run = Run;

  explicit counted_queue(std::uint64_t argument) : queue_(static_cast<typename queue::made_of>(argument)) {}

  bool push(value v) { return queue_.push(v); }
  std::size_t push_batch(std::span<const value> vs) requires requires(queue q) { q.push_batch(vs); }
  { return queue_.push_batch(vs); }
  std::optional<value> pop() { return queue_.pop(); }
  /// A push may make a steal of a split_deque lose, which the specification does not know: then it steals again.
  steal_result<value> steal() {
    for (;;) {
      const steal_result<value> got = queue_.steal();
      if (got.status != steal_status::lost || !retries) return got;
    }
  }
  // A split_deque's specification has no such operation.
  batch_result steal_half(std::span<value> out) requires(!PopsNewest) { return queue_.steal_half(out); }
  [[nodiscard]] auto observe() const { return queue_.observe(); }
  [[nodiscard]] bool pushed_since(const typename queue::observation& seen) const { return queue_.pushed_since(seen); }

 private:
  // Of the queues here a split_deque is the only one without batches.
  static constexpr bool retries = !requires(queue q, std::span<const value> vs) { q.push_batch(vs); };
  queue queue_;
};

/// Counted queues behind `subject`, and what each actor observed of each of them last.
template <class Counted, std::size_t Argument>
class counted_subject final : public subject {
 public:
  counted_subject(std::uint64_t, std::size_t queues) : queues_(Argument, queues), seen_(queues, observations(queues)) {}

  outcome apply(const operation& o) override {
    if (o.what != verb::observe && o.what != verb::pushed_since) return queues_.apply(o);
    const Counted& asked = queues_.queue(o.victim);
    auto& seen = seen_[o.actor][o.victim];
    if (o.what == verb::pushed_since) return {answer::done, asked.pushed_since(seen) ? 1U : 0U, {}, false};
    seen = asked.observe();
    return {answer::done, seen.empty() ? 1U : 0U, {}, false};
  }

 private:
  using observations = std::vector<typename Counted::queue::observation>;
  fifo_subject<Counted> queues_;
  std::vector<observations> seen_;
};

template <class Queue, std::size_t Capacity, bool PopsNewest, std::size_t Argument, std::size_t Run = 0>
[[nodiscard]] candidate counted_candidate(const std::string& queue_name) {
  using counted = counted_queue<Queue, Capacity, PopsNewest, Run>;
  candidate c = fifo_candidate<counted>("runq::counted<" + queue_name + ">");
  c.expression = "runq::props::counted_candidate<" + queue_name + ", " +
                 (Capacity == unbounded ? "runq::props::unbounded" : std::to_string(Capacity)) +
                 (PopsNewest ? ", true, " : ", false, ") + std::to_string(Argument) +
                 (Run == 0 ? "" : ", " + std::to_string(Run)) + ">(\"" + queue_name + "\")";
  c.verbs.push_back(verb::observe);
  c.verbs.push_back(verb::pushed_since);
  c.make = [](std::uint64_t start, std::size_t queues) -> std::unique_ptr<subject> {
    return std::make_unique<counted_subject<counted, Argument>>(start, queues);
  };
  c.code = [type = c.name](std::uint64_t, std::size_t queues) {
    paste p;
    for (std::size_t i = 0; i != queues; ++i) {
      p.setup += "  " + type + " owner" + std::to_string(i) + "(" + std::to_string(Argument) + ");\n";
      for (std::size_t v = 0; v != queues; ++v) {
        p.setup +=
            "  [[maybe_unused]] " + type + "::observation seen" + std::to_string(i) + "_" + std::to_string(v) + ";\n";
      }
    }
    p.thief.clear();
    return p;
  };
  return c;
}

/// A counted split_ring, whose indices soon cross the end of those in the shared word, which have 16 bits.
template <std::size_t Capacity, std::size_t Run, class Atomics>
[[nodiscard]] candidate counted_split_ring(const std::string& policy) {
  constexpr split_ring_options options{.run = Run, .tries = 4, .polls = 2, .tag_bits = 37};
  return counted_candidate<basic_split_ring<value, Capacity, options, Atomics>, Capacity, false, 0xFFF8, Run>(
      "runq::basic_split_ring<std::uint32_t, " + std::to_string(Capacity) +
      ", runq::split_ring_options{.run = " + std::to_string(Run) + "}, " + policy + ">");
}

/// The candidates that the suites run on. They are templates, so that a program that does not call them does not
/// compile them.
template <class = void>
std::vector<candidate> counted_candidates() {
  return {counted_candidate<chase_lev<value>, unbounded, true, 2>("runq::chase_lev<std::uint32_t>"),
          counted_candidate<bounded_chase_lev<value>, 8, true, 8>("runq::bounded_chase_lev<std::uint32_t>"),
          counted_candidate<basic_ring<value, 4, std::uint8_t>, 4, false, 250>(
              "runq::basic_ring<std::uint32_t, 4, std::uint8_t>"),
          counted_candidate<basic_split_deque<value, 4>, 4, true, 250>("runq::basic_split_deque<std::uint32_t, 4>"),
          counted_split_ring<4, 2, std_atomics>("runq::std_atomics"),
          counted_split_ring<64, 16, std_atomics>("runq::std_atomics")};
}
/// The candidates for real threads: the same header with forced delays (chaos_atomics).
template <class = void>
std::vector<candidate> counted_candidates_on_threads() {
  return {counted_candidate<basic_chase_lev<value, chaos_atomics>, unbounded, true, 2>(
              "runq::basic_chase_lev<std::uint32_t, runq::props::chaos_atomics>"),
          counted_candidate<basic_ring<value, 4, std::uint8_t, chaos_atomics>, 4, false, 250>(
              "runq::basic_ring<std::uint32_t, 4, std::uint8_t, runq::props::chaos_atomics>"),
          counted_candidate<basic_split_deque<value, 4, default_split_deque, chaos_atomics>, 4, true, 250>(
              "runq::basic_split_deque<std::uint32_t, 4, runq::default_split_deque, runq::props::chaos_atomics>"),
          counted_split_ring<2, 1, chaos_atomics>("runq::props::chaos_atomics"),
          counted_split_ring<4, 2, chaos_atomics>("runq::props::chaos_atomics")};
}

}  // namespace runq::props
