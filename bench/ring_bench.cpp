// SPDX-License-Identifier: MIT
// What a ring costs: beside the floor (a plain ring for one thread, index in memory) and a std::deque under a
// std::mutex, in the same program, so that rows of one run can be compared.
//
// What this does not show: how a scheduler built on it performs; more than two threads; elements whose contents are
// cold; a machine where other programs run. The element is an integer, so nothing is dereferenced. Two-thread rows
// depend on where the two processors are (same core, same package), and a processor shared with others makes them
// meaningless. Every row checks that no element is lost or doubled, and costs that much more.
// The ratio printed at the end is one of this processor: a locked instruction is all that the ring's pop costs, and how
// much that is beside a few loads and stores differs by a factor of two between processors.
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <thread>

#include <benchmark/benchmark.h>
#include <runq/ring.hpp>

#include "support.hpp"

namespace {

using runq_bench::item;
using runq_bench::mutex_deque;
using runq_bench::pinned;
using runq_bench::plain_ring;
using runq_bench::tally;

// ---- the candidates, with one face ----------------------------------------------------------------------------------

struct ring_candidate {
  [[nodiscard]] bool push(item value) noexcept { return owner.push(value); }
  [[nodiscard]] std::optional<item> pop() noexcept { return owner.pop(); }

  /// The other thread: takes half, then pops its loot.
  class thief {
   public:
    explicit thief(ring_candidate& victim) : victim_(victim.queue.make_thief()) {}
    [[nodiscard]] runq::steal_status steal(tally& loot) noexcept {
      const auto got = victim_.steal_half_into(mine_);
      if (!got) return got.status;
      while (const std::optional<item> value = mine_.pop()) loot.add(*value);
      loot.add(got.value);
      return got.status;
    }

   private:
    runq::ring<item>::thief victim_;
    runq::ring<item> own_;
    runq::ring<item>::owner mine_ = own_.make_owner();
  };

  runq::ring<item> queue;
  runq::ring<item>::owner owner = queue.make_owner();
};

struct mutex_candidate : mutex_deque {
  class thief {
   public:
    explicit thief(mutex_candidate& victim) : victim_(victim) {}
    [[nodiscard]] runq::steal_status steal(tally& loot) {
      const std::size_t n = victim_.take_half(own_.data());
      for (std::size_t i = 0; i != n; ++i) loot.add(own_[i]);
      return n == 0 ? runq::steal_status::empty : runq::steal_status::taken;
    }

   private:
    mutex_candidate& victim_;
    std::array<item, 128> own_{};
  };
};

// Not made to be shared; the harness hands it over as a whole.
struct plain_candidate : plain_ring {
  class thief {
   public:
    explicit thief(plain_candidate& victim) : victim_(victim) {}
    [[nodiscard]] runq::steal_status steal(tally& loot) noexcept {
      const std::optional<item> value = victim_.pop();
      if (!value) return runq::steal_status::empty;
      loot.add(*value);
      return runq::steal_status::taken;
    }

   private:
    plain_candidate& victim_;
  };
};

// ---- one thread -----------------------------------------------------------------------------------------------------

template <class Queue>
void push_pop(benchmark::State& state) {
  const auto queue = std::make_unique<Queue>();
  runq_bench::push_pop(state, *queue);
}
void BM_floor_push_pop(benchmark::State& state) { push_pop<plain_candidate>(state); }
void BM_ring_push_pop(benchmark::State& state) { push_pop<ring_candidate>(state); }
void BM_mutex_deque_push_pop(benchmark::State& state) { push_pop<mutex_candidate>(state); }
BENCHMARK(BM_floor_push_pop)->ArgName("batch")->Arg(1)->Arg(64)->Arg(200);
BENCHMARK(BM_ring_push_pop)->ArgName("batch")->Arg(1)->Arg(64)->Arg(200);
BENCHMARK(BM_mutex_deque_push_pop)->ArgName("batch")->Arg(1)->Arg(64)->Arg(200);

// As above, but the elements go in by one push_batch().
void BM_ring_push_batch_pop(benchmark::State& state) {
  const pinned here(0);
  const auto queue = std::make_unique<ring_candidate>();
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
BENCHMARK(BM_ring_push_batch_pop)->ArgName("batch")->Arg(64)->Arg(200);

// ---- an owner and a thief -------------------------------------------------------------------------------------------

// The owner pushes 64 and pops up to 64, over and over; the thief steals without a pause. Time is the owner's, items
// are what the owner pushed; `stolen/s` went to the thief. Its floor is BM_floor_push_pop/batch:64: no thief.
template <class Queue>
void owner_with_thief(benchmark::State& state) {
  constexpr int batch = 64;
  const auto queue = std::make_unique<Queue>();
  std::atomic<bool> stop{false};
  std::atomic<bool> thief_pinned{false};
  std::atomic<bool> ready{false};
  tally stolen;
  std::uint64_t lost = 0;
  std::thread other([&] {
    const pinned there(1);
    thief_pinned = there.done();
    typename Queue::thief thief(*queue);
    ready = true;
    while (!stop.load(std::memory_order::relaxed)) {
      const runq::steal_status status = thief.steal(stolen);
      lost += status == runq::steal_status::lost ? 1U : 0U;
      if (!there.done()) std::this_thread::yield();  // one processor: nothing is gained by spinning
    }
  });
  const pinned here(0);
  while (!ready) std::this_thread::yield();

  tally pushed;
  tally popped;
  item next = 1;
  for ([[maybe_unused]] auto step : state) {
    for (int i = 0; i != batch; ++i) {
      if (queue->push(next)) pushed.add(next++);
    }
    for (int i = 0; i != batch; ++i) {
      if (const std::optional<item> value = queue->pop()) popped.add(*value);
    }
  }
  stop = true;
  other.join();
  while (const std::optional<item> value = queue->pop()) popped.add(*value);
  tally out = popped;
  out.add(stolen);
  runq_bench::check(state, out == pushed);
  runq_bench::label(state, here.done() && thief_pinned);
  state.SetItemsProcessed(static_cast<std::int64_t>(pushed.count));
  state.counters["stolen/s"] = benchmark::Counter(static_cast<double>(stolen.count), benchmark::Counter::kIsRate);
  state.counters["lost/s"] = benchmark::Counter(static_cast<double>(lost), benchmark::Counter::kIsRate);
}
void BM_ring_owner_with_thief(benchmark::State& state) { owner_with_thief<ring_candidate>(state); }
void BM_mutex_deque_owner_with_thief(benchmark::State& state) { owner_with_thief<mutex_candidate>(state); }
BENCHMARK(BM_ring_owner_with_thief)->UseRealTime();
BENCHMARK(BM_mutex_deque_owner_with_thief)->UseRealTime();

// The owner fills the queue and then does nothing; the thief, on another processor, takes all 256 and pops them. Time
// is the thief's, from its first look to its last.
template <class Queue>
void drain_by_thief(benchmark::State& state) {
  constexpr item elements = 256;
  enum turn : int { owners, thiefs, over };
  const auto queue = std::make_unique<Queue>();
  std::atomic<turn> whose{owners};
  std::atomic<bool> thief_pinned{false};
  tally stolen;
  std::chrono::duration<double> took{};
  std::thread other([&] {
    const pinned there(1);
    thief_pinned = there.done();
    typename Queue::thief thief(*queue);
    for (;;) {
      turn now = whose.load(std::memory_order::acquire);
      for (; now == owners; now = whose.load(std::memory_order::acquire)) std::this_thread::yield();
      if (now == over) return;
      const auto began = std::chrono::steady_clock::now();
      while (thief.steal(stolen) != runq::steal_status::empty) {
      }
      took = std::chrono::steady_clock::now() - began;
      whose.store(owners, std::memory_order::release);
    }
  });
  const pinned here(0);
  tally pushed;
  item mistakes = 0;
  for ([[maybe_unused]] auto step : state) {
    for (item value = 1; value <= elements; ++value) {
      mistakes |= item{!queue->push(value)};
      pushed.add(value);
    }
    whose.store(thiefs, std::memory_order::release);
    while (whose.load(std::memory_order::acquire) != owners) std::this_thread::yield();
    state.SetIterationTime(took.count());
  }
  whose = over;
  other.join();
  runq_bench::check(state, mistakes == 0 && stolen == pushed);
  runq_bench::label(state, here.done() && thief_pinned);
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(elements));
}
void BM_floor_drain_256_by_other(benchmark::State& state) { drain_by_thief<plain_candidate>(state); }
void BM_ring_drain_256_by_thief(benchmark::State& state) { drain_by_thief<ring_candidate>(state); }
void BM_mutex_deque_drain_256_by_thief(benchmark::State& state) { drain_by_thief<mutex_candidate>(state); }
BENCHMARK(BM_floor_drain_256_by_other)->UseManualTime();
BENCHMARK(BM_ring_drain_256_by_thief)->UseManualTime();
BENCHMARK(BM_mutex_deque_drain_256_by_thief)->UseManualTime();

}  // namespace

int main(int argc, char** argv) {
  runq_bench::remembering_reporter reporter;
  const int status = runq_bench::run(argc, argv, reporter);
  const auto ring = reporter.median("BM_ring_push_pop/batch:64");
  const auto floor = reporter.median("BM_floor_push_pop/batch:64");
  if (status == 0 && ring && floor) {
    // Not on stdout, which may be JSON.
    std::fprintf(stderr, "ring / plain ring, push+pop at batch 64: %.2f (medians of processor time: %.2f / %.2f ns)\n",
                 *ring / *floor, *ring / 64, *floor / 64);
  }
  return status;
}
