// SPDX-License-Identifier: MIT
// places: where a small_scheduler runs: on virtual processors in virtual time, or on threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <string_view>
#include <thread>
#include <vector>

#include "atomics.hpp"
#include "runq/detail/futex.hpp"
#include "runq/detail/policy.hpp"
#include "runq/detail/poller.hpp"
#include "world.hpp"

namespace runq::simulate {

/// futex(2) in virtual time.
class virtual_futex {
 public:
  using word = atomic<std::uint32_t>;
  void wait(word& at, std::uint32_t value) noexcept { (void)wait_until(at, value, world::never); }
  [[nodiscard]] static picoseconds deadline(std::int64_t in_ns) noexcept {
    return world::here().now() + ns(static_cast<double>(in_ns));
  }
  [[nodiscard]] bool wait_until(word& at, std::uint32_t value, picoseconds end) noexcept {
    sleeper_ = world::here().self();
    const bool woken = world::here().sleep([&at, value] { return at.peek() == value; }, end);
    sleeper_ = -1;
    return woken;
  }
  void wake(word&) const noexcept { world::here().wake(sleeper_); }

 private:
  int sleeper_ = -1;
};

class virtual_place {
 public:
  using policy = simulate::policy;
  using futex = virtual_futex;

  explicit virtual_place(picoseconds of_a_piece) : piece_(of_a_piece) {}
  void work() { world::here().work(piece_); }
  [[nodiscard]] std::int64_t clock() const { return world::here().now() / 1000; }
  [[nodiscard]] static bool fences_are_asymmetric() { return world::here().fences_are_asymmetric(); }
  // Takes no virtual time, because only the benchmark needs the count.
  void done(unsigned) {
    if (++done_ == expected_) world::here().stop();
  }
  static void name(const void* begin, std::size_t bytes, std::string_view what, std::size_t every) {
    world::here().name(begin, bytes, what, every);
  }
  [[nodiscard]] static void* allocate(std::size_t bytes, std::string_view what, std::size_t every) {
    return world::here().allocate(bytes, what, every);
  }

  /// Runs `loop(i)` on each of `n` processors until `runs` tasks are done. Each begins so long after the one before.
  template <class Loop>
  void run(unsigned n, std::uint64_t runs, Loop&& loop, picoseconds apart = 0) {
    expected_ = runs;
    for (unsigned i = 0; i != n; ++i)
      world::here().start(
          i, [&loop, i] { loop(i); }, i * apart);
    world::here().run();
  }

 private:
  const picoseconds piece_;
  std::uint64_t done_ = 0;
  std::uint64_t expected_ = 0;
};

class real_place {
 public:
  using policy = detail::policy;
  using futex = detail::futex;

  /// `turns_per_ns`: see measure_turns().
  real_place(double ns_of_a_piece, double turns_per_ns)
      : turns_(static_cast<std::uint64_t>(ns_of_a_piece * turns_per_ns)) {}
  void work() const { spend(turns_); }
  [[nodiscard]] static bool fences_are_asymmetric() { return detail::scheduler_fences::available(); }
  [[nodiscard]] static std::int64_t clock() {
    return std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
  }
  void done(unsigned i) {
    // [simulate.done] relaxed: a count; the thread that waits for it joins this one afterwards.
    done_[i].n.store(done_[i].n.load(std::memory_order::relaxed) + 1, std::memory_order::relaxed);
  }
  static void name(const void*, std::size_t, std::string_view, std::size_t) {}
  /// The memory of the last call, until the next one.
  [[nodiscard]] static void* allocate(std::size_t bytes, std::string_view, std::size_t) {
    static std::unique_ptr<std::byte[], free_bytes> kept;
    kept.reset(new (std::align_val_t{alignment}) std::byte[bytes]);
    return kept.get();
  }

  /// Runs `loop(i)` on each of `n` threads until `runs` tasks are done, then calls `stop()`. Returns how many ns it
  /// took.
  template <class Loop, class Stop>
  std::int64_t run(unsigned n, std::uint64_t runs, Loop&& loop, Stop&& stop) {
    done_ = std::make_unique<count[]>(n);
    std::vector<std::thread> threads;
    std::atomic<unsigned> waiting{0};
    std::atomic<bool> go{false};
    for (unsigned i = 0; i != n; ++i) {
      threads.emplace_back([&, i] {
        waiting.fetch_add(1);
        detail::sleep_precisely();
        while (!go.load()) std::this_thread::yield();
        loop(i);
      });
    }
    while (waiting.load() != n) std::this_thread::yield();
    const std::int64_t begin = clock();
    go.store(true);
    while (sum(n) < runs) std::this_thread::sleep_for(std::chrono::microseconds(50));
    const std::int64_t end = clock();
    stop();
    for (std::thread& t : threads) t.join();
    return end - begin;
  }

  /// How many turns of the work loop a thread makes in a nanosecond: the most of some trials.
  [[nodiscard]] static double measure_turns() {
    constexpr std::uint64_t turns = 100'000;
    constexpr int trials = 1000;
    double most = 0;
    for (int i = 0; i != trials; ++i) {
      const std::int64_t begin = clock();
      spend(turns);
      most = std::max(most, static_cast<double>(turns) / static_cast<double>(clock() - begin));
    }
    return most;
  }

 private:
  static constexpr std::size_t alignment = 64;
  struct free_bytes {
    void operator()(std::byte* p) const { ::operator delete[](p, std::align_val_t{alignment}); }
  };
  struct alignas(alignment) count {
    std::atomic<std::uint64_t> n{0};
  };

  /// One function for all: where a copy of the loop lies in memory decides whether a turn takes one cycle or two.
  [[gnu::noinline]] static void spend(std::uint64_t turns) {
    for (std::uint64_t i = 0; i != turns; ++i) asm volatile("" ::: "memory");
  }
  [[nodiscard]] std::uint64_t sum(unsigned n) const {
    std::uint64_t all = 0;
    for (unsigned i = 0; i != n; ++i) all += done_[i].n.load(std::memory_order::relaxed);
    return all;
  }

  const std::uint64_t turns_;
  std::unique_ptr<count[]> done_;
};

}  // namespace runq::simulate
