// SPDX-License-Identifier: MIT
#include "measure.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <sstream>
#include <stdexcept>
#include <thread>
#include <utility>

#include <sched.h>

#include "runq/atomics.hpp"
#include "runq/detail/futex.hpp"
#include "runq/detail/policy.hpp"

namespace runq::simulate {
namespace {

// The figures of a machine, in the order in which they are written.
constexpr std::array figures{&costs::same_group, &costs::same_socket, &costs::other_socket, &costs::hit,
                             &costs::rmw,        &costs::fence,       &costs::heavy_fence,  &costs::interrupt,
                             &costs::pause,      &costs::wake_call,   &costs::sleep_call,   &costs::wake_up,
                             &costs::yield_call};

using clock = std::chrono::steady_clock;

// The ns that each of `times` calls takes, in the fastest of some trials.
template <class Call>
double fastest(int times, Call&& call) {
  constexpr int trials = 50;
  double least = std::numeric_limits<double>::max();
  for (int i = 0; i != trials; ++i) {
    const auto begin = clock::now();
    for (int k = 0; k != times; ++k) call();
    const std::chrono::duration<double, std::nano> took = clock::now() - begin;
    least = std::min(least, took.count() / times);
  }
  return least;
}

// A compare-exchange of a line that another processor has just changed, as core-to-core-latency measures it.
double transfer() {
  constexpr int trials = 100;
  constexpr int rounds = 1000;
  constexpr int patience = 1000;
  alignas(64) std::atomic<std::uint32_t> turn{0};
  double least = std::numeric_limits<double>::max();
  for (int trial = 0; trial != trials; ++trial) {
    const auto play = [&turn](std::uint32_t mine) {
      for (int k = 0; k != rounds; ++k) {
        std::uint32_t expected = mine;
        // If the other thread has no processor, this one gives way: the trial is not the fastest then.
        for (int i = 0; !turn.compare_exchange_weak(expected, 1 - mine, std::memory_order::acq_rel); ++i) {
          if (i > patience) std::this_thread::yield();
          expected = mine;
        }
      }
    };
    std::atomic<bool> ready{false};
    std::thread other([&] {
      ready.store(true);
      play(1U);
    });
    while (!ready.load()) std::this_thread::yield();
    const auto begin = clock::now();
    play(0U);
    other.join();
    const std::chrono::duration<double, std::nano> took = clock::now() - begin;
    least = std::min(least, took.count() / (2 * rounds));
  }
  return least;
}

struct sleeping_pair {
  double call = std::numeric_limits<double>::max();     // of wake(), when a thread sleeps
  double wake_up = std::numeric_limits<double>::max();  // from the beginning of that call until the thread runs
};

// One thread sleeps and is woken again and again.
sleeping_pair sleep_and_wake() {
  constexpr int rounds = 100;
  sleeping_pair least;
  std::atomic<std::uint32_t> word{0};
  std::atomic<clock::rep> ran{0};
  std::atomic<bool> asleep{false};
  std::thread sleeper([&] {
    for (std::uint32_t k = 0; k != rounds; ++k) {
      asleep.store(true);
      while (word.load() == k) detail::futex::wait(word, k);
      ran.store(clock::now().time_since_epoch().count());
    }
  });
  for (std::uint32_t k = 0; k != rounds; ++k) {
    while (!asleep.exchange(false)) std::this_thread::yield();
    // Long enough for the other thread to be in the kernel; a trial in which it is not is among the slow ones.
    std::this_thread::sleep_for(std::chrono::microseconds(200));
    ran.store(0);
    word.store(k + 1);
    const auto begin = clock::now();
    detail::futex::wake(word);
    const auto end = clock::now();
    while (ran.load() == 0) std::this_thread::yield();
    least.call = std::min(least.call, std::chrono::duration<double, std::nano>(end - begin).count());
    least.wake_up = std::min(least.wake_up, static_cast<double>(ran.load() - begin.time_since_epoch().count()));
  }
  sleeper.join();
  return least;
}

struct barrier_costs {
  double call = std::numeric_limits<double>::max();
  double interrupt = std::numeric_limits<double>::max();
};

// One thread counts, first alone and then while the other one makes heavy fences: what it counts less, it has lost.
barrier_costs heavy_fences() {
  constexpr int trials = 200;
  constexpr int calls = 50;
  barrier_costs least;
  if (!detail::scheduler_fences::available()) return {0, 0};
  std::atomic<std::uint64_t> counted{0};
  std::atomic<bool> over{false};
  std::thread counts([&] {
    for (std::uint64_t n = 0; !over.load(std::memory_order::relaxed); ++n) counted.store(n, std::memory_order::relaxed);
  });
  const auto rate_beside = [&counted](auto&& what) {
    const std::uint64_t before = counted.load();
    const auto begin = clock::now();
    what();
    const std::chrono::duration<double, std::nano> took = clock::now() - begin;
    return std::pair{static_cast<double>(counted.load() - before) / took.count(), took.count()};
  };
  double alone = 0;
  for (int i = 0; i != trials; ++i) {
    alone = std::max(alone, rate_beside([] {
                              const auto end = clock::now() + std::chrono::microseconds(100);
                              while (clock::now() < end) {
                              }
                            }).first);
    const auto [rate, took] = rate_beside([] {
      for (int k = 0; k != calls; ++k) detail::policy::heavy_fence(std::memory_order::seq_cst);
    });
    if (took / calls >= least.call) continue;
    least.call = took / calls;
    least.interrupt = std::max(0.0, (1 - rate / alone) * least.call);
  }
  over.store(true);
  counts.join();
  return least;
}

}  // namespace

costs measure() {
  costs c = milan;
  c.name = "here";
  c.machine = "this machine";
  constexpr int often = 10'000;
  std::atomic<std::uint64_t> own{0};
  c.rmw = ns(fastest(often, [&own] { own.fetch_add(1, std::memory_order::relaxed); }));
  c.fence = ns(fastest(often, [] { std_atomics::fence(std::memory_order::seq_cst); }));
  const barrier_costs barrier = heavy_fences();
  c.heavy_fence = ns(barrier.call);
  c.interrupt = ns(barrier.interrupt);
  c.pause = ns(fastest(often, [] { std_atomics::pause(); }));
  c.yield_call = ns(fastest(often / 10, [] { sched_yield(); }));
  c.same_group = c.same_socket = c.other_socket = ns(transfer());
  const sleeping_pair pair = sleep_and_wake();
  c.wake_call = ns(pair.call);
  c.wake_up = ns(pair.wake_up);
  // Going to sleep is no shorter than a call that does not sleep.
  std::atomic<std::uint32_t> word{0};
  c.sleep_call = ns(fastest(often / 10, [&word] { detail::futex::wait(word, 1); }));
  return c;
}

std::string text_of(const costs& c) {
  std::string text = std::to_string(c.group) + "," + std::to_string(c.socket);
  for (const auto figure : figures) {
    std::array<char, 32> one{};
    (void)std::snprintf(one.data(), one.size(), ",%.3f", static_cast<double>(c.*figure) / 1000);
    text += one.data();
  }
  return text;
}

costs costs_from(const std::string& text) {
  costs c = milan;
  c.name = "here";
  std::istringstream in(text);
  const auto next = [&in] {
    std::string one;
    if (!std::getline(in, one, ',')) throw std::invalid_argument("too few costs");
    return std::stod(one);
  };
  c.group = static_cast<unsigned>(next());
  c.socket = static_cast<unsigned>(next());
  if (c.group == 0 || c.socket < c.group) throw std::invalid_argument("a socket has at least a group of cores");
  for (const auto figure : figures) c.*figure = ns(next());
  return c;
}

}  // namespace runq::simulate
