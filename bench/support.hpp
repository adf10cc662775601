// SPDX-License-Identifier: MIT
// What the benchmarks share: pinning, counting what passed, and a main() that fails when a row has found a mistake.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <semaphore>
#include <string>
#include <thread>
#include <vector>

#include <benchmark/benchmark.h>

#if defined(__linux__)
#include <pthread.h>
#include <sched.h>
#endif

namespace runq_bench {

using item = std::uint64_t;

// ---- where it runs --------------------------------------------------------------------------------------------------

/// Pins the calling thread to the n-th of the processors that it may use, if there are that many, until destroyed, and
/// names the thread, so that a profiler shows which of the two it is.
class pinned {
 public:
#if defined(__linux__)
  explicit pinned(int nth) noexcept {
    pthread_setname_np(pthread_self(), nth == 0 ? "owner" : "other");
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

// ---- the program ----------------------------------------------------------------------------------------------------

/// Registers a row, `<row>/<candidate>`. With RUNQ_BENCH_ITERATIONS in the environment it runs exactly that many
/// iterations: run.py counts instructions per iteration as the difference of two such runs.
inline benchmark::internal::Benchmark* add_row(const std::string& name, void (*row)(benchmark::State&)) {
  benchmark::internal::Benchmark* const added = benchmark::RegisterBenchmark(name.c_str(), row);
  if (const char* const times = std::getenv("RUNQ_BENCH_ITERATIONS")) added->Iterations(std::atol(times));
  return added;
}

/// Passes everything on to the reporter that the command line asks for, and remembers whether a row failed.
class remembering_reporter : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context& context) override { return inner_->ReportContext(context); }
  void ReportRuns(const std::vector<Run>& runs) override {
    for (const Run& run : runs) failed_ |= run.error_occurred;
    inner_->ReportRuns(runs);
  }
  void Finalize() override { inner_->Finalize(); }
  [[nodiscard]] bool failed() const { return failed_; }

 private:
  benchmark::BenchmarkReporter* inner_ = benchmark::CreateDefaultDisplayReporter();
  bool failed_ = false;
};

/// A thread that sleeps until destroyed. As long as a process has one thread, glibc's mutex uses no locked
/// instructions, and the rows with a mutex would look better than they are in any program that needs one.
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
inline int run(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
#ifndef NDEBUG
  std::fputs("runq: built without NDEBUG: the queues check their contracts, so these figures say little\n", stderr);
#endif
  remembering_reporter reporter;
  {
    const second_thread sleeper;
    benchmark::RunSpecifiedBenchmarks(&reporter);
  }
  benchmark::Shutdown();
  return reporter.failed() ? 1 : 0;
}

}  // namespace runq_bench
