// SPDX-License-Identifier: MIT
// What a split_ring costs; the rows are those of queue_rows.hpp.
#include <array>
#include <cstddef>
#include <optional>
#include <span>

#include <benchmark/benchmark.h>
#include <runq/split_ring.hpp>

#include "queue_rows.hpp"
#include "support.hpp"

namespace {

using runq_bench::item;
using runq_bench::tally;

template <class Queue>
struct candidate {
  using queue_type = Queue;

  [[nodiscard]] bool push(item value) noexcept { return owner.push(value); }
  [[nodiscard]] std::optional<item> pop() noexcept { return owner.pop(); }

  /// Steals into plain memory.
  class thief {
   public:
    explicit thief(candidate& victim) : victim_(victim.queue.make_thief()) {}
    std::size_t steal(tally& all) noexcept {
      const auto got = victim_.steal_half(loot_);
      tally some;
      for (const item value : std::span(loot_).first(got.count)) some.add(value);
      all.add(some);
      return got.count;
    }

   private:
    typename queue_type::thief victim_;
    std::array<item, queue_type::capacity()> loot_{};
  };

  queue_type queue;
  typename queue_type::owner owner = queue.make_owner();
};
using split_ring = candidate<runq::split_ring<item>>;
using split_ring_fences = candidate<runq::basic_split_ring<item>>;  // both fences are fences of the language

}  // namespace

int main(int argc, char** argv) {
  runq_bench::add_owner_rows<split_ring>("split_ring");
  runq_bench::add_owner_rows<split_ring_fences>("split_ring_fences");
  return runq_bench::run(argc, argv);
}
