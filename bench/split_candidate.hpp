// SPDX-License-Identifier: MIT
// A split_ring or a split_deque as a candidate of the owner's rows (queue_rows.hpp).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include <runq/one_object.hpp>

#include "support.hpp"

namespace runq_bench {

/// Steals into plain memory. Victim: a thief handle, or a reference to a queue without handles.
template <class Victim, std::size_t Capacity>
class split_thief {
 public:
  explicit split_thief(Victim victim) : victim_(victim) {}
  std::size_t steal(tally& seen) noexcept {
    const auto got = victim_.steal_half(loot_);
    tally some;
    for (const item value : std::span(loot_).first(got.count)) some.add(value);
    seen.add(some);
    return got.count;
  }

 private:
  Victim victim_;
  std::array<item, Capacity> loot_{};
};

template <class Queue>
struct split_candidate {
  using queue_type = Queue;

  [[nodiscard]] bool push(item value) noexcept { return owner.push(value); }
  [[nodiscard]] std::optional<item> pop() noexcept { return owner.pop(); }

  using thief_of_queue = split_thief<typename queue_type::thief, queue_type::capacity()>;
  struct thief : thief_of_queue {
    explicit thief(split_candidate& victim) : thief_of_queue(victim.queue.make_thief()) {}
  };

  [[nodiscard]] static std::uint64_t barriers() noexcept requires(requires { queue_type::atomics::barriers(); }) {
    return queue_type::atomics::barriers();
  }

  queue_type queue;
  typename queue_type::owner owner = queue.make_owner();
};

/// The same without handles.
template <class Queue>
struct split_object_candidate : runq::one_object<Queue> {
  using thief = split_thief<split_object_candidate&, Queue::capacity()>;
};

}  // namespace runq_bench
