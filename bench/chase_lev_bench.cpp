// SPDX-License-Identifier: MIT
// What the Chase-Lev deque costs its owner, beside the floor (a stack in memory for one thread) and std::mutex +
// std::deque, and what a thief at the other end does to it.
//
// What this does not show: growth (the array is warm after the first round), cold caches, more than one thief. Elements
// are integers; a scheduler's are pointers to tasks that somebody then runs.
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include <benchmark/benchmark.h>
#include <runq/chase_lev.hpp>

#include "support.hpp"

namespace {

using runq_bench::item;
using runq_bench::pinned;
using runq_bench::tally;

/// The floor: a stack for one thread, with its index in memory.
struct plain_stack {
  [[nodiscard]] bool push(item value) noexcept {
    slots[top % slots.size()] = value;
    ++top;
    benchmark::ClobberMemory();
    return true;
  }
  [[nodiscard]] std::optional<item> pop() noexcept {
    std::optional<item> value;
    if (top != 0) value = slots[--top % slots.size()];
    benchmark::ClobberMemory();
    return value;
  }

  std::size_t top = 0;
  std::array<item, 256> slots{};
};

struct mutex_stack {
  [[nodiscard]] bool push(item value) {
    const std::lock_guard lock(mutex);
    items.push_back(value);
    return true;
  }
  [[nodiscard]] std::optional<item> pop() {
    const std::lock_guard lock(mutex);
    if (items.empty()) return std::nullopt;
    const item value = items.back();
    items.pop_back();
    return value;
  }
  [[nodiscard]] std::optional<item> steal() {
    const std::lock_guard lock(mutex);
    if (items.empty()) return std::nullopt;
    const item value = items.front();
    items.pop_front();
    return value;
  }

  std::mutex mutex;
  std::deque<item> items;
};

struct chase_lev_deque {
  [[nodiscard]] bool push(item value) noexcept { return owner.push(value); }
  [[nodiscard]] std::optional<item> pop() noexcept { return owner.pop(); }
  [[nodiscard]] std::optional<item> steal() noexcept {
    const auto got = thief.steal();
    return got ? std::optional<item>(got.value) : std::nullopt;
  }

  runq::chase_lev<item> deque{256};
  runq::chase_lev<item>::owner owner = deque.make_owner();
  runq::chase_lev<item>::thief thief = deque.make_thief();
};

template <class Stack>
void push_pop(benchmark::State& state) {
  const pinned here(0);
  const auto stack = std::make_unique<Stack>();
  const auto batch = static_cast<item>(state.range(0));
  item mistakes = 0;
  for ([[maybe_unused]] auto step : state) {
    for (item i = 1; i <= batch; ++i) mistakes |= stack->push(i) ? 0U : 1U;
    for (item i = batch; i >= 1; --i) mistakes |= stack->pop().value_or(0) ^ i;
  }
  runq_bench::check(state, mistakes == 0);
  runq_bench::label(state, here.done());
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
void BM_floor_stack_push_pop(benchmark::State& state) { push_pop<plain_stack>(state); }
void BM_chase_lev_push_pop(benchmark::State& state) { push_pop<chase_lev_deque>(state); }
void BM_mutex_deque_push_pop(benchmark::State& state) { push_pop<mutex_stack>(state); }
BENCHMARK(BM_floor_stack_push_pop)->ArgName("batch")->Arg(1)->Arg(64)->Arg(200);
BENCHMARK(BM_chase_lev_push_pop)->ArgName("batch")->Arg(1)->Arg(64)->Arg(200);
BENCHMARK(BM_mutex_deque_push_pop)->ArgName("batch")->Arg(1)->Arg(64)->Arg(200);

// The owner pushes 64 and pops up to 64, over and over, while a thief steals without a pause.
template <class Stack>
void owner_with_thief(benchmark::State& state) {
  constexpr item batch = 64;
  const auto stack = std::make_unique<Stack>();
  std::atomic<bool> stop{false};
  tally stolen;
  std::thread thief([&] {
    const pinned there(1);
    while (!stop.load(std::memory_order::relaxed)) {
      if (const auto value = stack->steal()) stolen.add(*value);
    }
  });
  tally pushed;
  tally popped;
  const pinned here(0);
  for ([[maybe_unused]] auto step : state) {
    for (item i = 1; i <= batch; ++i) {
      static_cast<void>(stack->push(i));
      pushed.add(i);
    }
    for (item i = 0; i != batch; ++i) {
      const auto value = stack->pop();
      if (!value) break;
      popped.add(*value);
    }
  }
  stop.store(true, std::memory_order::relaxed);
  thief.join();
  while (const auto value = stack->pop()) popped.add(*value);
  popped.add(stolen);
  runq_bench::check(state, pushed == popped);
  runq_bench::label(state, here.done());
  state.SetItemsProcessed(static_cast<std::int64_t>(pushed.count));
  state.counters["stolen/s"] = benchmark::Counter(static_cast<double>(stolen.count), benchmark::Counter::kIsRate);
}
void BM_chase_lev_owner_with_thief(benchmark::State& state) { owner_with_thief<chase_lev_deque>(state); }
void BM_mutex_deque_owner_with_thief(benchmark::State& state) { owner_with_thief<mutex_stack>(state); }
BENCHMARK(BM_chase_lev_owner_with_thief)->UseRealTime();
BENCHMARK(BM_mutex_deque_owner_with_thief)->UseRealTime();

}  // namespace

int main(int argc, char** argv) { return runq_bench::run(argc, argv); }
