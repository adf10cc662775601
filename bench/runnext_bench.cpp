// SPDX-License-Identifier: MIT
// What the runnext slot costs, compared with a plain variable of one thread (the floor) and a value under a std::mutex.
//
// This does not show the benefit of the slot: that the task just readied finds its data in this core's cache. Nor does
// a thief run at the same time: in a scheduler, thieves look at the slot only in their last round, after a back-off.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include <benchmark/benchmark.h>
#include <runq/runnext.hpp>

#include "support.hpp"

namespace {

using runq_bench::item;
using runq_bench::pinned;

struct plain_slot {
  item put(item value) noexcept {
    const item displaced = std::exchange(value_, value);
    benchmark::ClobberMemory();
    return displaced;
  }
  item take() noexcept { return put(0); }

 private:
  item value_ = 0;
};

struct mutex_slot {
  item put(item value) {
    const std::lock_guard lock(mutex_);
    return std::exchange(value_, value);
  }
  item take() { return put(0); }

 private:
  std::mutex mutex_;
  item value_ = 0;
};

struct runnext_slot {
  item put(item value) noexcept { return owner.put(value).value_or(0); }
  item take() noexcept { return owner.take().value_or(0); }

  runq::runnext<item> slot;
  runq::runnext<item>::owner owner = slot.make_owner();
};

template <class Slot>
void put_take(benchmark::State& state) {
  const pinned here(0);
  const auto slot = std::make_unique<Slot>();
  Slot* escaped = slot.get();
  benchmark::DoNotOptimize(escaped);
  item value = 0;
  item mistakes = 0;
  for ([[maybe_unused]] auto step : state) {
    ++value;
    mistakes |= slot->put(value);
    mistakes |= slot->take() ^ value;
  }
  mistakes |= slot->take();
  runq_bench::check(state, mistakes == 0);
  runq_bench::label(state, here.done());
  state.SetItemsProcessed(state.iterations());
}

// Every put displaces the element of the put before.
void put_displace(benchmark::State& state) {
  const pinned here(0);
  const auto slot = std::make_unique<runnext_slot>();
  item value = 1;
  item mistakes = slot->put(value);
  for ([[maybe_unused]] auto step : state) {
    mistakes |= slot->put(value + 1) ^ value;
    ++value;
  }
  mistakes |= slot->take() ^ value;
  runq_bench::check(state, mistakes == 0);
  runq_bench::label(state, here.done());
  state.SetItemsProcessed(state.iterations());
}
// A put and a steal by the same thread. The thief pauses `backoff` times before it claims the element.
void put_steal(benchmark::State& state) {
  const pinned here(0);
  const auto slot = std::make_unique<runnext_slot>();
  const auto thief = slot->slot.make_thief();
  const auto backoff = static_cast<std::size_t>(state.range(0));
  item value = 0;
  item mistakes = 0;
  for ([[maybe_unused]] auto step : state) {
    ++value;
    mistakes |= slot->put(value);
    mistakes |= thief.steal(backoff).value ^ value;
  }
  runq_bench::check(state, mistakes == 0);
  runq_bench::label(state, here.done());
  state.SetItemsProcessed(state.iterations());
}
}  // namespace

int main(int argc, char** argv) {
  runq_bench::add_row("slot/plain", put_take<plain_slot>);
  runq_bench::add_row("slot/runnext", put_take<runnext_slot>);
  runq_bench::add_row("slot/mutex", put_take<mutex_slot>);
  runq_bench::add_row("displace/runnext", put_displace);
  runq_bench::add_row("slot_steal/runnext", put_steal)->Arg(0)->Arg(64);
  return runq_bench::run(argc, argv);
}
