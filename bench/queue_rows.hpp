// SPDX-License-Identifier: MIT
// The rows of the queue benchmark, each a template over a candidate. All candidates of a row do the same work and are
// checked the same way, so that their figures can be compared within one run; bench/run.py makes such runs.
//
// A candidate for the owner's rows holds at least 256 elements and is a class with
//   bool push(item), std::optional<item> pop()   for the owner's thread
//   class thief: explicit thief(Candidate&), std::size_t steal(tally&)   one try: adds what it got, returns how many
// A candidate for the rows of the global queue is a class with, for any thread,
//   void put(node* first, std::size_t count, std::size_t batch)   in batches
//   tally take(std::size_t batch)                                 up to so many
//
// What the rows do not show: how a scheduler performs that is built on a queue; more than two threads; cold elements,
// because elements are integers and never dereferenced. The places of the two processors (one core, one package) decide
// what the rows with two threads cost. A processor that other programs use, too, makes these rows meaningless.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <benchmark/benchmark.h>

#include "support.hpp"

namespace runq_bench {

// ---- an owner, and a thief ------------------------------------------------------------------------------------------

/// Pushes so many elements, whose values are their serial numbers, and pops up to so many. A candidate whose operations
/// this compiler cannot inline has its own loop for it.
template <class Queue>
void turn(Queue& queue, item pushes, item pops, tally& in, tally& out) {
  if constexpr (requires { queue.turn(pushes, pops, in, out); }) {
    queue.turn(pushes, pops, in, out);
  } else {
    tally pushed = in;
    for (item i = 0; i != pushes; ++i) {
      if (queue.push(pushed.count + 1)) pushed.add(pushed.count + 1);
    }
    in = pushed;
    tally popped = out;
    for (item i = 0; i != pops; ++i) {
      const std::optional<item> value = queue.pop();
      if (!value) break;
      popped.add(*value);
    }
    out = popped;
  }
}

inline constexpr item all = ~item{0};

// The owner alone. The argument is the number of elements that it pushes before it pops them.
template <class Queue>
void pairs(benchmark::State& state) {
  const pinned here(0);
  const auto queue = std::make_unique<Queue>();
  Queue* escaped = queue.get();
  benchmark::DoNotOptimize(escaped);
  const auto batch = static_cast<item>(state.range(0));
  tally in;
  tally out;
  for ([[maybe_unused]] auto step : state) turn(*queue, batch, batch, in, out);
  check(state, in == out && in.count == static_cast<item>(state.iterations()) * batch);
  label(state, here.done());
  state.SetItemsProcessed(static_cast<std::int64_t>(in.count));
}

// The owner pushes 64 and pops up to 64, over and over; the thief tries without a pause, or once in `pause`. The time
// is the owner's, per element that it pushed.
template <class Queue>
void with_thief(benchmark::State& state, std::chrono::nanoseconds pause) {
  constexpr item batch = 64;
  const auto queue = std::make_unique<Queue>();
  std::atomic<bool> stop{false};
  std::atomic<bool> ready{false};
  bool thief_pinned = false;
  tally stolen;
  std::uint64_t tries = 0;
  std::thread other([&] {
    const pinned there(1);
    thief_pinned = there.done();
    typename Queue::thief thief(*queue);
    tally loot;
    std::uint64_t made = 0;
    ready = true;
    auto due = std::chrono::steady_clock::now();
    while (!stop.load(std::memory_order::relaxed)) {
      if (pause.count() != 0) {
        if (std::chrono::steady_clock::now() < due) continue;
        due += pause;
      }
      static_cast<void>(thief.steal(loot));
      ++made;
      if (!there.done()) std::this_thread::yield();  // one processor: nothing is gained by spinning
    }
    stolen = loot;
    tries = made;
  });
  const pinned here(0);
  while (!ready) std::this_thread::yield();
  tally in;
  tally out;
  for ([[maybe_unused]] auto step : state) turn(*queue, batch, batch, in, out);
  stop = true;
  other.join();
  turn(*queue, 0, all, in, out);
  out.add(stolen);
  check(state, in == out);
  label(state, here.done() && thief_pinned);
  state.SetItemsProcessed(static_cast<std::int64_t>(in.count));
  using benchmark::Counter;
  state.counters["stolen/s"] = Counter(static_cast<double>(stolen.count), Counter::kIsRate);
  state.counters["stolen%"] = 100 * static_cast<double>(stolen.count) / static_cast<double>(in.count);
  state.counters["items/try"] = static_cast<double>(stolen.count) / static_cast<double>(tries == 0 ? 1 : tries);
}
template <class Queue>
void thief(benchmark::State& state) {
  with_thief<Queue>(state, {});
}
template <class Queue>
void rare(benchmark::State& state) {
  with_thief<Queue>(state, std::chrono::microseconds(10));
}

/// Waits by spinning for a while, and then by giving the processor up.
template <class Condition>
void await(Condition condition) {
  for (int i = 0; !condition(); ++i) {
    if (i > 10'000) std::this_thread::yield();
  }
}

/// The heavy fences that have been system calls so far, for candidates that make some.
template <class Queue>
concept counts_barriers = requires {
  Queue::barriers();
};
template <class Queue>
std::uint64_t barriers() {
  if constexpr (counts_barriers<Queue>) return Queue::barriers();
  return 0;
}

// The owner fills the queue and then does nothing; the thief, on another processor, takes what it can get and pops it.
// The time is the thief's.
template <class Queue>
void drain(benchmark::State& state) {
  constexpr item elements = 256;
  enum whose : int { owners, thiefs, over };
  const auto queue = std::make_unique<Queue>();
  std::atomic<whose> now{owners};
  bool thief_pinned = false;
  tally stolen;
  std::chrono::duration<double> took{};
  std::thread other([&] {
    const pinned there(1);
    thief_pinned = there.done();
    typename Queue::thief thief(*queue);
    for (;;) {
      await([&] { return now.load(std::memory_order::acquire) != owners; });
      if (now.load(std::memory_order::acquire) == over) return;
      const auto began = std::chrono::steady_clock::now();
      // No other thread uses the queue, so when three tries find nothing, a thief cannot find anything.
      for (int in_vain = 0; in_vain != 3;) in_vain = thief.steal(stolen) != 0 ? 0 : in_vain + 1;
      took = std::chrono::steady_clock::now() - began;
      now.store(owners, std::memory_order::release);
    }
  });
  const pinned here(0);
  tally in;
  tally left;
  const std::uint64_t barriers_before = barriers<Queue>();
  for ([[maybe_unused]] auto step : state) {
    turn(*queue, elements, 0, in, left);
    now.store(thiefs, std::memory_order::release);
    await([&] { return now.load(std::memory_order::acquire) == owners; });
    state.SetIterationTime(took.count());
    turn(*queue, 0, all, in, left);
  }
  now = over;
  other.join();
  const tally got = stolen;
  left.add(stolen);
  check(state, left == in && in.count == static_cast<item>(state.iterations()) * elements);
  label(state, here.done() && thief_pinned);
  state.SetItemsProcessed(static_cast<std::int64_t>(got.count));
  state.counters["drained%"] = 100 * static_cast<double>(got.count) / static_cast<double>(in.count);
  if constexpr (counts_barriers<Queue>) {
    state.counters["barriers"] =
        static_cast<double>(barriers<Queue>() - barriers_before) / static_cast<double>(state.iterations());
  }
}

// The owner pushes 4 and is in a task of 100 µs then; the thief has nothing and tries without a pause. The time is from
// before the pushes until the thief has all 4, or the length of the task if the thief does not get them all by then.
// `median_ns` is the median.
template <class Queue>
void reach(benchmark::State& state) {
  using clock = std::chrono::steady_clock;
  constexpr item elements = 4;
  constexpr std::chrono::microseconds task{100};
  const auto queue = std::make_unique<Queue>();
  std::atomic<bool> stop{false};
  std::atomic<std::uint64_t> taken{0};  // by the thief, in all
  std::atomic<clock::time_point> taken_at{clock::time_point{}};
  bool thief_pinned = false;
  tally stolen;
  std::thread other([&] {
    const pinned there(1);
    thief_pinned = there.done();
    typename Queue::thief thief(*queue);
    while (!stop.load(std::memory_order::relaxed)) {
      if (thief.steal(stolen) == 0) {
        if (!there.done()) std::this_thread::yield();  // one processor: nothing is gained by spinning
        continue;
      }
      taken_at.store(clock::now(), std::memory_order::relaxed);
      taken.store(stolen.count, std::memory_order::release);
    }
  });
  const pinned here(0);
  tally in;
  tally left;
  std::vector<double> times;
  for ([[maybe_unused]] auto step : state) {
    const std::uint64_t before = in.count - left.count;
    await([&] { return taken.load(std::memory_order::acquire) == before; });
    const auto began = clock::now();
    turn(*queue, elements, 0, in, left);
    while (clock::now() < began + task) continue;
    const bool all_taken = taken.load(std::memory_order::acquire) == before + elements;
    const std::chrono::duration<double> took =
        all_taken ? taken_at.load(std::memory_order::relaxed) - began : clock::duration(task);
    times.push_back(took.count() * 1e9);
    state.SetIterationTime(took.count());
    turn(*queue, 0, all, in, left);
  }
  stop = true;
  other.join();
  left.add(stolen);
  check(state, left == in && in.count == static_cast<item>(state.iterations()) * elements);
  label(state, here.done() && thief_pinned);
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  state.counters["median_ns"] = *middle;
}

template <class Queue>
void add_pairs(const std::string& candidate) {
  add_row("pairs/" + candidate, pairs<Queue>)->Arg(1)->Arg(64)->Arg(200);
}
template <class Queue>
void add_thief_rows(const std::string& candidate) {
  add_row("thief/" + candidate, thief<Queue>)->UseRealTime();
  add_row("rare/" + candidate, rare<Queue>)->UseRealTime();
  add_row("drain/" + candidate, drain<Queue>)->UseManualTime();
  // A round takes 100 µs, of which only a part counts, so Google Benchmark would choose far too many.
  add_row("reach/" + candidate, reach<Queue>)->UseManualTime()->Iterations(500);
}
template <class Queue>
void add_owner_rows(const std::string& candidate) {
  add_pairs<Queue>(candidate);
  add_thief_rows<Queue>(candidate);
}

// ---- the global queue -----------------------------------------------------------------------------------------------

// One or two producers put 4096 elements each, in batches. A consumer, if there is one, takes them at the same time;
// otherwise they are taken outside of the measured time. The time is wall-clock time per element.
template <class Queue, int Producers, bool Consumer>
void global(benchmark::State& state) {
  constexpr std::size_t each = 4096;
  constexpr std::size_t total = each * Producers;
  const auto batch = static_cast<std::size_t>(state.range(0));
  const auto queue = std::make_unique<Queue>();
  std::vector<typename Queue::node> nodes(total);
  tally expected;
  for (std::size_t i = 0; i != total; ++i) {
    nodes[i].id = i + 1;
    expected.add(i + 1);
  }
  const auto put = [&](std::size_t producer) { queue->put(&nodes[producer * each], each, batch); };
  const auto take = [&] {
    tally got;
    while (got.count < total) {
      const tally some = queue->take(batch);
      got.add(some);
      if (some.count == 0) {
        if constexpr (!Consumer) break;
      }
    }
    return got;
  };
  // The other thread, if there is one, produces; this one does everything else.
  constexpr bool two = Producers == 2 || Consumer;
  std::atomic<std::int64_t> begun{0};
  std::atomic<std::int64_t> done{0};
  std::atomic<bool> other_pinned{!two};
  std::thread other;
  if constexpr (two) {
    other = std::thread([&] {
      const pinned there(1);
      other_pinned = there.done();
      for (std::int64_t next = 1;; ++next) {
        await([&] { return begun.load(std::memory_order::acquire) != next - 1; });
        if (begun.load(std::memory_order::acquire) < 0) return;
        put(0);
        done.store(next, std::memory_order::release);
      }
    });
  }
  const pinned here(0);
  bool right = true;
  for ([[maybe_unused]] auto step : state) {
    tally got;
    const auto began = std::chrono::steady_clock::now();
    if constexpr (two) begun.store(begun.load(std::memory_order::relaxed) + 1, std::memory_order::release);
    if constexpr (Consumer) {
      got = take();
    } else {
      put(Producers - 1);
    }
    if constexpr (two) {
      await([&] { return done.load(std::memory_order::acquire) == begun.load(std::memory_order::relaxed); });
    }
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
    state.SetIterationTime(took.count());
    if constexpr (!Consumer) got = take();
    right &= got == expected;
  }
  if constexpr (two) {
    begun.store(-1, std::memory_order::release);
    other.join();
  }
  check(state, right);
  label(state, here.done() && other_pinned);
  state.SetItemsProcessed(static_cast<std::int64_t>(total) * static_cast<std::int64_t>(state.iterations()));
}

template <class Queue>
void add_global_rows(const std::string& candidate, bool batches = true) {
  for (benchmark::internal::Benchmark* const row :
       {add_row("put_1/" + candidate, global<Queue, 1, false>), add_row("put_2/" + candidate, global<Queue, 2, false>),
        add_row("put_take/" + candidate, global<Queue, 1, true>)}) {
    row->UseManualTime()->Arg(1);
    if (batches) row->Arg(128);
  }
}

}  // namespace runq_bench
