// SPDX-License-Identifier: MIT
// What a ring costs; the rows are those of queue_rows.hpp. Nearly all of the cost of the ring's pop is one locked
// instruction. What that costs in comparison with a few loads and stores differs by a factor of two between processors.
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include <benchmark/benchmark.h>
#include <runq/one_object.hpp>
#include <runq/ring.hpp>

#include "queue_rows.hpp"
#include "support.hpp"

namespace {

using runq_bench::item;
using runq_bench::pinned;
using runq_bench::tally;

/// Steals into the thief's own ring, and takes the stolen elements out of it: one at a time, as a scheduler does, or
/// all by one claim.
enum class loot : bool { pop, drain };

template <loot By>
class into_a_ring {
 public:
  explicit into_a_ring(runq::ring<item>::thief victim) : victim_(victim) {}
  std::size_t steal(tally& all) noexcept {
    const auto got = victim_.steal_half_into(mine_);
    if (!got) return 0;
    tally some;
    if constexpr (By == loot::pop) {
      while (const std::optional<item> value = mine_.pop()) some.add(*value);
    } else {
      mine_.drain([&](item value) { some.add(value); });
    }
    some.add(got.value);
    all.add(some);
    return got.count;
  }

 private:
  runq::ring<item>::thief victim_;
  runq::ring<item> own_;
  runq::ring<item>::owner mine_ = own_.make_owner();
};

/// Steals into plain memory, where no other thief can steal it again.
class into_an_array {
 public:
  explicit into_an_array(runq::ring<item>::thief victim) : victim_(victim) {}
  std::size_t steal(tally& all) noexcept {
    const auto got = victim_.steal_half(loot_);
    tally some;
    for (const item value : std::span(loot_).first(got.count)) some.add(value);
    all.add(some);
    return got.count;
  }

 private:
  runq::ring<item>::thief victim_;
  std::array<item, runq::ring<item>::capacity() / 2> loot_{};
};

template <class Thief>
struct ring_candidate {
  [[nodiscard]] bool push(item value) noexcept { return owner.push(value); }
  [[nodiscard]] std::optional<item> pop() noexcept { return owner.pop(); }

  struct thief : Thief {
    explicit thief(ring_candidate& victim) : Thief(victim.queue.make_thief()) {}
  };

  runq::ring<item> queue;
  runq::ring<item>::owner owner = queue.make_owner();
};
using ring = ring_candidate<into_a_ring<loot::pop>>;
using one_ring = runq::one_object<runq::ring<item>>;  // the same without handles

// As `pairs`, but the elements go in by one push_batch().
void push_batch(benchmark::State& state) {
  const pinned here(0);
  const auto queue = std::make_unique<ring>();
  const auto batch = static_cast<std::size_t>(state.range(0));
  std::array<item, 256> values{};
  for (std::size_t i = 0; i != values.size(); ++i) values[i] = i + 1;
  item mistakes = 0;
  for ([[maybe_unused]] auto step : state) {
    mistakes |= queue->owner.push_batch({values.data(), batch}) ^ batch;
    for (std::size_t i = 0; i != batch; ++i) mistakes |= queue->pop().value_or(0) ^ (i + 1);
  }
  runq_bench::check(state, mistakes == 0);
  runq_bench::label(state, here.done());
  state.SetItemsProcessed(state.iterations() * state.range(0));
}

}  // namespace

int main(int argc, char** argv) {
  runq_bench::add_owner_rows<ring>("ring");
  runq_bench::add_pairs<one_ring>("ring_object");
  runq_bench::add_thief_rows<ring_candidate<into_a_ring<loot::drain>>>("ring_drain");
  runq_bench::add_thief_rows<ring_candidate<into_an_array>>("ring_steal_half");
  runq_bench::add_row("pairs/ring_push_batch", push_batch)->Arg(64)->Arg(200);
  return runq_bench::run(argc, argv);
}
