// SPDX-License-Identifier: MIT
// runq::basic_split_deque as a candidate, by its handles and as one object: its owner pops the newest. How many
// elements a steal of half takes depends on how many are public, so the laws are about steals of one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "chaos_atomics.hpp"
#include "fifo.hpp"
#include "runq/one_object.hpp"
#include "runq/split_deque.hpp"

namespace runq::props {

template <std::size_t Capacity, std::size_t Publish, class Atomics = std_atomics>
class split_deque_queue {
 public:
  static constexpr split_deque_options options{.publish = Publish, .tries = 4, .polls = 2, .tag_bits = 37};
  using deque = basic_split_deque<value, Capacity, options, Atomics>;
  static constexpr std::size_t capacity = Capacity;
  static constexpr bool owner_pops_newest = true;
  static constexpr unsigned index_bits = 32;

  explicit split_deque_queue(std::uint64_t start)
      : deque_(static_cast<std::uint32_t>(start)), owner_(deque_.make_owner()), thief_(deque_.make_thief()) {}

  bool push(value v) { return owner_.push(v); }
  std::optional<value> pop() { return owner_.pop(); }
  /// Steals until the answer is not `lost`: a push may make a steal lose, which the specification does not know.
  steal_result<value> steal() {
    for (;;) {
      const steal_result<value> got = thief_.steal();
      if (got.status != steal_status::lost) return got;
    }
  }
  bool has_work() { return thief_.has_work(); }
  std::size_t size_approx() { return thief_.size_approx(); }
  void hand_over() {
    typename deque::owner moved = std::move(owner_);
    owner_ = std::move(moved);
  }
  void rebind() { owner_.rebind(); }

  static std::string class_name() { return "runq::props::split_deque_queue"; }
  static std::string type_name() {
    return "runq::basic_split_deque<std::uint32_t, " + std::to_string(Capacity) +
           ", runq::split_deque_options{.publish = " + std::to_string(Publish) + "}>";
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
  deque deque_;
  typename deque::owner owner_;
  typename deque::thief thief_;
};

/// The same as one object, which is moved where other candidates hand over their owner handle.
template <std::size_t Capacity, std::size_t Publish, class Atomics = std_atomics>
class split_deque_object {
 public:
  using handled = split_deque_queue<Capacity, Publish, Atomics>;
  using object = one_object<typename handled::deque>;
  static constexpr std::size_t capacity = Capacity;
  static constexpr bool owner_pops_newest = true;
  static constexpr unsigned index_bits = handled::index_bits;

  explicit split_deque_object(std::uint64_t start) : deque_(static_cast<std::uint32_t>(start)) {}

  bool push(value v) { return deque_.push(v); }
  std::optional<value> pop() { return deque_.pop(); }
  /// As split_deque_queue's.
  steal_result<value> steal() {
    for (;;) {
      const steal_result<value> got = deque_.steal();
      if (got.status != steal_status::lost) return got;
    }
  }
  bool has_work() { return !deque_.empty(); }
  std::size_t size_approx() { return deque_.size(); }
  void hand_over() {
    object moved = std::move(deque_);
    deque_ = std::move(moved);
  }

  static std::string class_name() { return "runq::props::split_deque_object"; }
  static std::string type_name() { return "runq::one_object<" + handled::type_name() + ">"; }
  static paste code(std::uint64_t start, std::size_t queues) { return handled::code_of(type_name(), start, queues); }

 private:
  object deque_;
};

template <std::size_t Capacity, std::size_t Publish, class Atomics = std_atomics,
          template <std::size_t, std::size_t, class> class Queue = split_deque_queue>
[[nodiscard]] candidate split_deque_candidate() {
  using queue = Queue<Capacity, Publish, Atomics>;
  candidate c = fifo_candidate<queue>(queue::type_name());
  c.expression = "runq::props::split_deque_candidate<" + std::to_string(Capacity) + ", " + std::to_string(Publish) +
                 ", runq::props::chaos_atomics, " + queue::class_name() + ">()";
  return c;
}

/// The candidates that the suites run on. They are templates, so that a program that does not call them does not
/// compile them.
template <class = void>
std::vector<candidate> split_deque_candidates() {
  return {split_deque_candidate<2, 2>(), split_deque_candidate<4, 0>(), split_deque_candidate<64, 8>(),
          split_deque_candidate<256, 16>(), split_deque_candidate<4, 2, std_atomics, split_deque_object>()};
}
/// The candidates for real threads: the same header with forced delays (chaos_atomics).
template <class = void>
std::vector<candidate> split_deque_candidates_on_threads() {
  return {split_deque_candidate<4, 0, chaos_atomics>(), split_deque_candidate<4, 2, chaos_atomics>(),
          split_deque_candidate<4, 2, chaos_atomics, split_deque_object>()};
}

}  // namespace runq::props
