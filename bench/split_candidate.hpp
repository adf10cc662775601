// SPDX-License-Identifier: MIT
// A split_ring or a split_deque as a candidate of the owner's rows (queue_rows.hpp).
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>

#include <runq/one_object.hpp>

#include "support.hpp"

namespace runq_bench {

template <class Queue>
struct split_candidate {
  using queue_type = Queue;

  [[nodiscard]] bool push(item value) noexcept { return owner.push(value); }
  [[nodiscard]] std::optional<item> pop() noexcept { return owner.pop(); }

  /// Steals into plain memory.
  class thief {
   public:
    explicit thief(split_candidate& victim) : victim_(victim.queue.make_thief()) {}
    std::size_t steal(tally& seen) noexcept {
      const auto got = victim_.steal_half(loot_);
      tally some;
      for (const item value : std::span(loot_).first(got.count)) some.add(value);
      seen.add(some);
      return got.count;
    }

   private:
    typename queue_type::thief victim_;
    std::array<item, queue_type::capacity()> loot_{};
  };

  queue_type queue;
  typename queue_type::owner owner = queue.make_owner();
};

/// The same without handles.
template <class Queue>
struct split_object_candidate : runq::one_object<Queue> {
  class thief {
   public:
    explicit thief(split_object_candidate& victim) : victim_(victim) {}
    std::size_t steal(tally& seen) noexcept {
      const auto got = victim_.steal_half(loot_);
      tally some;
      for (const item value : std::span(loot_).first(got.count)) some.add(value);
      seen.add(some);
      return got.count;
    }

   private:
    split_object_candidate& victim_;
    std::array<item, Queue::capacity()> loot_{};
  };
};

}  // namespace runq_bench
