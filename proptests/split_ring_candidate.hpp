// SPDX-License-Identifier: MIT
// runq::basic_split_ring as a candidate, by its handles and as one object.
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
#include "runq/one_object.hpp"
#include "runq/split_ring.hpp"

namespace runq::props {

template <std::size_t Capacity, std::size_t Run, class Atomics = std_atomics>
class split_ring_queue {
 public:
  static constexpr split_ring_options options{.run = Run, .tries = 4, .polls = 2, .tag_bits = 37};
  using ring = basic_split_ring<value, Capacity, options, Atomics>;
  static constexpr std::size_t capacity = Capacity;
  static constexpr std::size_t run = Run;
  static constexpr unsigned index_bits = 32;

  explicit split_ring_queue(std::uint64_t start)
      : ring_(static_cast<std::uint32_t>(start)), owner_(ring_.make_owner()), thief_(ring_.make_thief()) {}

  bool push(value v) { return owner_.push(v); }
  std::size_t push_batch(std::span<const value> vs) { return owner_.push_batch(vs); }
  std::optional<value> pop() { return owner_.pop(); }
  std::size_t room() { return owner_.room(); }
  steal_result<value> steal() { return thief_.steal(); }
  steal_result<value> steal_half_into(split_ring_queue& mine, std::size_t limit) {
    return thief_.steal_half_into(mine.owner_, limit);
  }
  batch_result steal_half(std::span<value> out) { return thief_.steal_half(out); }
  bool has_work() { return thief_.has_work(); }
  std::size_t size_approx() { return thief_.size_approx(); }
  void hand_over() {
    typename ring::owner moved = std::move(owner_);
    owner_ = std::move(moved);
  }
  void rebind() { owner_.rebind(); }

  static std::string class_name() { return "runq::props::split_ring_queue"; }
  static std::string type_name() {
    return "runq::basic_split_ring<std::uint32_t, " + std::to_string(Capacity) +
           ", runq::split_ring_options{.run = " + std::to_string(Run) + "}>";
  }
  static paste code(std::uint64_t start, std::size_t queues) { return code_of(type_name(), start, queues); }
  static paste code_of(const std::string& type, std::uint64_t start, std::size_t queues) {
    paste p;
    for (std::size_t i = 0; i != queues; ++i) {
      const std::string k = std::to_string(i);
      p.setup += "  " + type + " ring" + k + "(" + std::to_string(static_cast<std::uint32_t>(start)) + "U);\n";
      p.setup += "  [[maybe_unused]] auto owner" + k + " = ring" + k + ".make_owner();\n";
    }
    return p;
  }

 private:
  ring ring_;
  typename ring::owner owner_;
  typename ring::thief thief_;
};

/// The same as one object, which is moved where other candidates hand over their owner handle.
template <std::size_t Capacity, std::size_t Run, class Atomics = std_atomics>
class split_ring_object {
 public:
  using handled = split_ring_queue<Capacity, Run, Atomics>;
  using object = one_object<typename handled::ring>;
  static constexpr std::size_t capacity = Capacity;
  static constexpr std::size_t run = Run;
  static constexpr unsigned index_bits = handled::index_bits;

  explicit split_ring_object(std::uint64_t start) : ring_(static_cast<std::uint32_t>(start)) {}

  bool push(value v) { return ring_.push(v); }
  std::size_t push_batch(std::span<const value> vs) { return ring_.push_batch(vs); }
  std::optional<value> pop() { return ring_.pop(); }
  steal_result<value> steal() { return ring_.steal(); }
  steal_result<value> steal_half_into(split_ring_object& mine, std::size_t limit) {
    auto into = mine.ring_.make_owner();
    return ring_.make_thief().steal_half_into(into, limit);
  }
  batch_result steal_half(std::span<value> out) { return ring_.steal_half(out); }
  bool has_work() { return !ring_.empty(); }
  std::size_t size_approx() { return ring_.size(); }
  void hand_over() {
    object moved = std::move(ring_);
    ring_ = std::move(moved);
  }

  static std::string class_name() { return "runq::props::split_ring_object"; }
  static std::string type_name() { return "runq::one_object<" + handled::type_name() + ">"; }
  static paste code(std::uint64_t start, std::size_t queues) { return handled::code_of(type_name(), start, queues); }

 private:
  object ring_;
};

template <std::size_t Capacity, std::size_t Run, class Atomics = std_atomics,
          template <std::size_t, std::size_t, class> class Queue = split_ring_queue>
[[nodiscard]] candidate split_ring_candidate() {
  using queue = Queue<Capacity, Run, Atomics>;
  candidate c = fifo_candidate<queue>(queue::type_name());
  c.expression = "runq::props::split_ring_candidate<" + std::to_string(Capacity) + ", " + std::to_string(Run) +
                 ", runq::props::chaos_atomics, " + queue::class_name() + ">()";
  return c;
}

/// The candidates that the suites run on. They are templates, so that a program that does not call them does not
/// compile them.
template <class = void>
std::vector<candidate> split_ring_candidates() {
  return {split_ring_candidate<2, 1>(),    split_ring_candidate<4, 2>(),
          split_ring_candidate<4, 4>(),    split_ring_candidate<64, 8>(),
          split_ring_candidate<256, 16>(), split_ring_candidate<4, 2, std_atomics, split_ring_object>()};
}
/// The candidates for real threads: the same header with forced delays (chaos_atomics).
template <class = void>
std::vector<candidate> split_ring_candidates_on_threads() {
  return {split_ring_candidate<2, 1, chaos_atomics>(), split_ring_candidate<4, 2, chaos_atomics>(),
          split_ring_candidate<4, 4, chaos_atomics>(), split_ring_candidate<4, 2, chaos_atomics, split_ring_object>()};
}

}  // namespace runq::props
