// SPDX-License-Identifier: MIT
// What the benchmarks share: pinning, the queues that stand beside ours in the same program, and a main() that fails
// when a row has found a mistake.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <semaphore>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <benchmark/benchmark.h>

#if defined(__linux__)
#include <pthread.h>
#include <sched.h>
#endif

namespace runq_bench {

using item = std::uint64_t;

// ---- where it runs --------------------------------------------------------------------------------------------------

/// Keeps the calling thread on the n-th of the processors that it may use, if there are so many, until destroyed.
class pinned {
 public:
#if defined(__linux__)
  explicit pinned(int nth) noexcept {
    CPU_ZERO(&before_);
    if (pthread_getaffinity_np(pthread_self(), sizeof before_, &before_) != 0) return;
    for (int cpu = 0; cpu != CPU_SETSIZE; ++cpu) {
      if (!CPU_ISSET(cpu, &before_) || nth-- != 0) continue;
      cpu_set_t one;
      CPU_ZERO(&one);
      CPU_SET(cpu, &one);
      done_ = pthread_setaffinity_np(pthread_self(), sizeof one, &one) == 0;
      return;
    }
  }
  ~pinned() {
    if (done_) pthread_setaffinity_np(pthread_self(), sizeof before_, &before_);
  }
#else
  explicit pinned(int /*nth*/) noexcept {}
  ~pinned() = default;
#endif
  pinned(const pinned&) = delete;
  pinned& operator=(const pinned&) = delete;

  [[nodiscard]] bool done() const noexcept { return done_; }

 private:
#if defined(__linux__)
  cpu_set_t before_{};
#endif
  bool done_ = false;
};

inline void label(benchmark::State& state, bool all_pinned) { state.SetLabel(all_pinned ? "pinned" : "not pinned"); }

// ---- what came out --------------------------------------------------------------------------------------------------

/// How many elements passed, and their sum.
struct tally {
  std::uint64_t count = 0;
  std::uint64_t sum = 0;

  void add(item value) noexcept {
    ++count;
    sum += value;
  }
  void add(const tally& other) noexcept {
    count += other.count;
    sum += other.sum;
  }
  [[nodiscard]] bool operator==(const tally&) const = default;
};

inline void check(benchmark::State& state, bool right) {
  if (!right) state.SkipWithError("an element was lost, doubled or out of order");
}

// ---- the queues beside ours -----------------------------------------------------------------------------------------

/// The floor: a ring for one thread, with head and tail in memory, as any queue object's are that others can see.
class plain_ring {
 public:
  [[nodiscard]] bool push(item value) noexcept {
    const bool fits = tail_ - head_ != slots_.size();
    if (fits) {
      slots_[tail_ % slots_.size()] = value;
      ++tail_;
    }
    benchmark::ClobberMemory();  // or the compiler would keep all of it in registers
    return fits;
  }
  [[nodiscard]] std::optional<item> pop() noexcept {
    std::optional<item> value;
    if (head_ != tail_) {
      value = slots_[head_ % slots_.size()];
      ++head_;
    }
    benchmark::ClobberMemory();
    return value;
  }

 private:
  std::uint64_t head_ = 0;
  std::uint64_t tail_ = 0;
  std::array<item, 256> slots_{};
};

/// What one would write without this library.
class mutex_deque {
 public:
  [[nodiscard]] bool push(item value) {
    const std::lock_guard lock(mutex_);
    if (items_.size() == 256) return false;
    items_.push_back(value);
    return true;
  }
  [[nodiscard]] std::optional<item> pop() {
    const std::lock_guard lock(mutex_);
    if (items_.empty()) return std::nullopt;
    const item value = items_.front();
    items_.pop_front();
    return value;
  }
  /// Moves the older half to `out`, which has room for 128. Returns how many.
  std::size_t take_half(item* out) {
    const std::lock_guard lock(mutex_);
    const std::size_t n = items_.size() - items_.size() / 2;
    const auto end = items_.begin() + static_cast<std::ptrdiff_t>(n);
    std::copy(items_.begin(), end, out);
    items_.erase(items_.begin(), end);
    return n;
  }

 private:
  std::mutex mutex_;
  std::deque<item> items_;
};

/// One thread pushes `batch` elements and pops them again; they must come back in order.
template <class Queue>
void push_pop(benchmark::State& state, Queue& queue) {
  const pinned here(0);
  Queue* escaped = &queue;
  benchmark::DoNotOptimize(escaped);
  const auto batch = static_cast<std::size_t>(state.range(0));
  item in = 1;
  item out = 1;
  item mistakes = 0;
  for ([[maybe_unused]] auto step : state) {
    for (std::size_t i = 0; i != batch; ++i) mistakes |= item{!queue.push(in++)};
    for (std::size_t i = 0; i != batch; ++i) mistakes |= queue.pop().value_or(0) ^ out++;
  }
  check(state, mistakes == 0);
  label(state, here.done());
  state.SetItemsProcessed(state.iterations() * state.range(0));
}

// ---- the program ----------------------------------------------------------------------------------------------------

/// Hands everything on to the reporter that the command line asks for; remembers processor times, which other programs
/// on the machine disturb less than they do the wall's, and whether a row failed.
class remembering_reporter : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context& context) override { return inner_->ReportContext(context); }
  void ReportRuns(const std::vector<Run>& runs) override {
    for (const Run& run : runs) {
      if (run.error_occurred) {
        failed_ = true;
      } else if (run.run_type == Run::RT_Iteration) {
        times_[run.run_name.function_name + '/' + run.run_name.args].push_back(run.GetAdjustedCPUTime());
      } else if (run.aggregate_name == "median") {
        medians_[run.run_name.function_name + '/' + run.run_name.args] = run.GetAdjustedCPUTime();
      }
    }
    inner_->ReportRuns(runs);
  }
  void Finalize() override { inner_->Finalize(); }

  [[nodiscard]] bool failed() const { return failed_; }
  /// Processor time of an iteration of this row, over the repetitions, if it ran.
  [[nodiscard]] std::optional<double> median(const std::string& row) const {
    if (const auto known = medians_.find(row); known != medians_.end()) return known->second;
    const auto found = times_.find(row);
    if (found == times_.end()) return std::nullopt;
    std::vector<double> sorted = found->second;
    std::sort(sorted.begin(), sorted.end());
    const std::size_t n = sorted.size();
    return (sorted[(n - 1) / 2] + sorted[n / 2]) / 2;
  }

 private:
  benchmark::BenchmarkReporter* inner_ = benchmark::CreateDefaultDisplayReporter();
  std::map<std::string, std::vector<double>> times_;
  std::map<std::string, double> medians_;
  bool failed_ = false;
};

/// A thread that sleeps until destroyed. While a process has one thread only, glibc's mutex does without locked
/// instructions, and the rows with a mutex would look better than they ever are where a mutex is needed.
class second_thread {
 public:
  second_thread() = default;
  second_thread(const second_thread&) = delete;
  second_thread& operator=(const second_thread&) = delete;
  ~second_thread() {
    end_.release();
    thread_.join();
  }

 private:
  std::binary_semaphore end_{0};
  std::thread thread_{[this] { end_.acquire(); }};
};

/// Runs what the command line asks for. Returns the exit status: 0 when every row's results were right.
inline int run(int argc, char** argv, remembering_reporter& reporter) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
#ifndef NDEBUG
  std::fputs("runq: built without NDEBUG: the queues check their contracts, so these figures say little\n", stderr);
#endif
  {
    const second_thread sleeper;
    benchmark::RunSpecifiedBenchmarks(&reporter);
  }
  benchmark::Shutdown();
  return reporter.failed() ? 1 : 0;
}
inline int run(int argc, char** argv) {
  remembering_reporter reporter;
  return run(argc, argv, reporter);
}

}  // namespace runq_bench
