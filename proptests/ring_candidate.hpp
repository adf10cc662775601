// SPDX-License-Identifier: MIT
// runq::basic_ring as a candidate, by its handles and as one object.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "chaos_atomics.hpp"
#include "fifo.hpp"
#include "runq/one_object.hpp"
#include "runq/ring.hpp"

namespace runq::props {

template <std::size_t Capacity, class Index, class Atomics = std_atomics>
class ring_queue {
 public:
  using ring = basic_ring<value, Capacity, Index, Atomics>;
  static constexpr std::size_t capacity = Capacity;
  static constexpr unsigned index_bits = std::numeric_limits<Index>::digits;

  explicit ring_queue(std::uint64_t start)
      : ring_(static_cast<Index>(start)), owner_(ring_.make_owner()), thief_(ring_.make_thief()) {}

  bool push(value v) { return owner_.push(v); }
  std::size_t push_batch(std::span<const value> vs) { return owner_.push_batch(vs); }
  std::optional<value> pop() { return owner_.pop(); }
  steal_result<value> steal() { return thief_.steal(); }
  steal_result<value> steal_half_into(ring_queue& mine, std::size_t limit) {
    return thief_.steal_half_into(mine.owner_, limit);
  }
  batch_result steal_half(std::span<value> out) { return thief_.steal_half(out); }
  values shed_half() {
    std::array<value, Capacity / 2> out{};
    const std::size_t n = owner_.shed_half(out);
    return values(out.begin(), out.begin() + static_cast<std::ptrdiff_t>(n));
  }
  values drain() {
    values out;
    const std::size_t n = owner_.drain([&out](value v) { out.push_back(v); });
    if (n != out.size()) out.push_back(0);  // the number that it returned is wrong: let the law fail
    return out;
  }
  std::size_t room() { return owner_.room(); }
  bool has_work() { return thief_.has_work(); }
  std::size_t size_approx() { return thief_.size_approx(); }
  void hand_over() {
    typename ring::owner moved = std::move(owner_);
    owner_ = std::move(moved);
  }
  void rebind() { owner_.rebind(); }

  static std::string class_name() { return "runq::props::ring_queue"; }
  static std::string type_name() {
    return "runq::basic_ring<std::uint32_t, " + std::to_string(Capacity) + ", std::uint" + std::to_string(index_bits) +
           "_t>";
  }
  static paste code(std::uint64_t start, std::size_t queues) { return code_of(type_name(), start, queues); }
  static paste code_of(const std::string& type, std::uint64_t start, std::size_t queues) {
    paste p;
    for (std::size_t i = 0; i != queues; ++i) {
      const std::string k = std::to_string(i);
      p.setup += "  " + type + " ring" + k + "(" + std::to_string(static_cast<Index>(start)) + "U);\n";
      p.setup += "  [[maybe_unused]] auto owner" + k + " = ring" + k + ".make_owner();\n";
    }
    return p;
  }

 private:
  ring ring_;
  typename ring::owner owner_;
  typename ring::thief thief_;
};

/// A ring as one object. It is moved where other candidates hand over their owner handle.
template <std::size_t Capacity, class Index, class Atomics = std_atomics>
class ring_object {
 public:
  using handled = ring_queue<Capacity, Index, Atomics>;
  using object = one_object<typename handled::ring>;
  static constexpr std::size_t capacity = Capacity;
  static constexpr unsigned index_bits = handled::index_bits;

  explicit ring_object(std::uint64_t start) : ring_(static_cast<Index>(start)) {}

  bool push(value v) { return ring_.push(v); }
  std::size_t push_batch(std::span<const value> vs) { return ring_.push_batch(vs); }
  std::optional<value> pop() { return ring_.pop(); }
  steal_result<value> steal() { return ring_.steal(); }
  steal_result<value> steal_half_into(ring_object& mine, std::size_t limit) {
    auto into = mine.ring_.make_owner();
    return ring_.make_thief().steal_half_into(into, limit);
  }
  bool has_work() { return !ring_.empty(); }
  std::size_t size_approx() { return ring_.size(); }
  void hand_over() {
    object moved = std::move(ring_);
    ring_ = std::move(moved);
  }

  static std::string class_name() { return "runq::props::ring_object"; }
  static std::string type_name() { return "runq::one_object<" + handled::type_name() + ">"; }
  static paste code(std::uint64_t start, std::size_t queues) { return handled::code_of(type_name(), start, queues); }

 private:
  object ring_;
};

template <std::size_t Capacity, class Index, class Atomics = std_atomics,
          template <std::size_t, class, class> class Queue = ring_queue>
[[nodiscard]] candidate ring_candidate() {
  using queue = Queue<Capacity, Index, Atomics>;
  candidate c = fifo_candidate<queue>(queue::type_name());
  c.expression = "runq::props::ring_candidate<" + std::to_string(Capacity) + ", std::uint" +
                 std::to_string(queue::index_bits) + "_t, runq::props::chaos_atomics, " + queue::class_name() + ">()";
  return c;
}

/// The candidates that the suites run on. They are templates, so that a program that does not call them does not
/// compile them.
template <class = void>
std::vector<candidate> ring_candidates() {
  return {ring_candidate<2, std::uint8_t>(),    ring_candidate<4, std::uint8_t>(),
          ring_candidate<128, std::uint8_t>(),  ring_candidate<4, std::uint16_t>(),
          ring_candidate<256, std::uint16_t>(), ring_candidate<2, std::uint32_t>(),
          ring_candidate<256, std::uint64_t>(), ring_candidate<4, std::uint8_t, std_atomics, ring_object>()};
}
/// The candidates for real threads: the same header with forced delays (chaos_atomics).
template <class = void>
std::vector<candidate> ring_candidates_on_threads() {
  return {ring_candidate<2, std::uint8_t, chaos_atomics>(), ring_candidate<4, std::uint8_t, chaos_atomics>(),
          ring_candidate<4, std::uint64_t, chaos_atomics>(),
          ring_candidate<4, std::uint8_t, chaos_atomics, ring_object>()};
}

}  // namespace runq::props
