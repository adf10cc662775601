// SPDX-License-Identifier: MIT
// Runs a script on real threads, records every invocation and response, and asks the history checker.
#pragma once

#if defined(__linux__)
#include <pthread.h>
#include <sched.h>
#endif

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <ostream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "chaos_atomics.hpp"
#include "history.hpp"
#include "operations.hpp"

namespace runq::props {

enum class pinning : std::uint8_t { none, one_core, spread };

/// What threads 0, 1, … do, thread i as actor i; before they start, `prefill` values are in queue 0.
struct script {
  std::vector<std::vector<operation>> threads;
  std::uint16_t prefill = 0;
  std::uint64_t start = 0;
  pinning pin = pinning::none;

  [[nodiscard]] std::size_t calls() const {
    std::size_t n = 0;
    for (const auto& t : threads) n += t.size();
    return n;
  }
};

/// Prints a script as code.
inline std::ostream& operator<<(std::ostream& out, const script& s) {
  static constexpr const char* pins[] = {"none", "one_core", "spread"};
  out << "{{";
  for (std::size_t t = 0; t != s.threads.size(); ++t) {
    out << (t == 0 ? "{" : ",\n      {");
    for (std::size_t i = 0; i != s.threads[t].size(); ++i) out << (i == 0 ? "" : ", ") << s.threads[t][i];
    out << "}";
  }
  return out << "},\n     " << s.prefill << ", " << s.start << "U, pinning::" << pins[static_cast<std::size_t>(s.pin)]
             << "}";
}

namespace detail {

inline void pin_this_thread([[maybe_unused]] pinning how, [[maybe_unused]] std::size_t thread) {
#if defined(__linux__)
  if (how == pinning::none) return;
  static const cpu_set_t allowed = [] {
    cpu_set_t set;
    CPU_ZERO(&set);
    if (sched_getaffinity(0, sizeof(set), &set) != 0) CPU_SET(0, &set);
    return set;
  }();
  const auto cpus = static_cast<std::size_t>(CPU_COUNT(&allowed));
  std::size_t wanted = how == pinning::one_core ? 0 : thread % cpus;
  for (int cpu = 0; cpu != CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &allowed) || wanted-- != 0) continue;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    // If the system refuses, the threads run unpinned: they find fewer bugs, but report no false ones.
    (void)pthread_setaffinity_np(pthread_self(), sizeof(one), &one);
    return;
  }
#endif
}

// Threads that are started together need not run together: on a loaded machine one may have ended before another
// begins. So a thread waits, though not for ever, until no other is more than two calls behind. The operations are
// relaxed, so that they do not order what the queue does not order.
struct alignas(64) pace_counter {
  std::atomic<std::size_t> n{0};
};
inline constexpr std::size_t done_with_all = static_cast<std::size_t>(-1) / 2;

inline void keep_pace(std::vector<pace_counter>& started, std::size_t threads, std::size_t me) {
  const std::size_t mine = started[me].n.load(std::memory_order::relaxed) + 1;
  started[me].n.store(mine, std::memory_order::relaxed);
  yield_until(200, [&] {
    bool together = true;
    for (std::size_t t = 0; t != threads; ++t) {
      together = together && started[t].n.load(std::memory_order::relaxed) + 2 >= mine;
    }
    return together;
  });
}

}  // namespace detail

template <class Spec>
struct recorded_run {
  Spec initial;
  history<Spec> calls;
};

/// Runs `s` once. `chaos_seed` chooses where the threads are held up.
template <class Spec>
recorded_run<Spec> run_on_threads(const candidate& c, const script& s, std::uint64_t chaos_seed) {
  const std::size_t n = s.threads.size();
  const std::unique_ptr<subject> queues = c.make(s.start, n);
  recorded_run<Spec> run{Spec(c, n), history<Spec>(n + 1)};
  value fresh = 1;
  for (std::uint16_t i = 0; i != s.prefill; ++i) {
    const operation put = Spec::prefill(fresh++);
    (void)queues->apply(put);
    (void)run.initial.apply(put);
  }
  queues->rebind();

  history_clock clock;
  std::atomic<std::size_t> ready{0};
  std::vector<detail::pace_counter> started(n);
  std::vector<std::thread> threads;
  chaos::expect(n);
  for (std::size_t t = 0; t != n; ++t) {
    threads.emplace_back([&, t] {
      detail::pin_this_thread(s.pin, t);
      run.calls[t].reserve(s.threads[t].size());
      recorder<Spec> log(clock, run.calls[t]);
      value mine = static_cast<value>(1000 * (t + 1));
      chaos::begin(chaos_seed, t);
      ready.fetch_add(1);
      while (ready.load() != n) std::this_thread::yield();
      for (operation o : s.threads[t]) {
        detail::keep_pace(started, n, t);
        o.first = mine;
        mine += static_cast<value>(Spec::fresh_values(o));
        log.record(o, [&](const operation& call) { return queues->apply(call); });
      }
      started[t].n.store(detail::done_with_all, std::memory_order::relaxed);
      chaos::end();
    });
  }
  for (std::thread& t : threads) t.join();

  // Takes what is left, so that a lost or doubled element shows.
  queues->rebind();
  recorder<Spec> log(clock, run.calls[n]);
  for (const operation& o : Spec::emptying(n)) {
    do {
      log.record(o, [&](const operation& call) { return queues->apply(call); });
      // A queue with a bug may never be empty.
    } while (run.calls[n].back().seen.what != answer::empty && run.calls[n].size() < 1000);
  }
  if constexpr (requires { run.initial.learn(run.calls); }) run.initial.learn(run.calls);
  return run;
}

struct threads_report {
  std::size_t runs = 0;
  std::size_t undecided = 0;
  std::string failure;  ///< the history that no order explains, or nothing
};

/// Runs `s` up to `times`, each time with other delays, until a history cannot be explained.
template <class Spec>
threads_report try_on_threads(const candidate& c, const script& s, std::uint64_t chaos_seed, std::size_t times,
                              std::size_t configurations = default_configurations);

/// For a unit test: whether all of `times` runs can be explained. Prints the first history that cannot, and how many
/// were left undecided.
template <class Spec>
[[nodiscard]] bool holds_on_threads(const candidate& c, const script& s, std::uint64_t chaos_seed, std::size_t times);

}  // namespace runq::props

#include <cstdio>
#include <sstream>

namespace runq::props {

template <class Spec>
threads_report try_on_threads(const candidate& c, const script& s, std::uint64_t chaos_seed, std::size_t times,
                              std::size_t configurations) {
  threads_report report;
  for (; report.runs != times; ++report.runs) {
    const recorded_run<Spec> run = run_on_threads<Spec>(c, s, chaos_seed + report.runs);
    const verdict v = explain(run.initial, run.calls, configurations);
    if (v.what == judgement::undecided) ++report.undecided;
    if (v.what == judgement::unexplained) {
      std::ostringstream text;
      text << "no order of these calls is one that the specification allows (" << v.configurations
           << " configurations tried; thread " << s.threads.size() << " empties the queues at the end):\n";
      print(text, run.calls, &v);
      report.failure = text.str();
      ++report.runs;
      break;
    }
  }
  return report;
}

template <class Spec>
bool holds_on_threads(const candidate& c, const script& s, std::uint64_t chaos_seed, std::size_t times) {
  const threads_report report = try_on_threads<Spec>(c, s, chaos_seed, times);
  std::fputs(report.failure.c_str(), stderr);
  if (report.undecided != 0) {
    std::fprintf(stderr, "%zu of %zu histories undecided after %zu configurations each\n", report.undecided,
                 report.runs, default_configurations);
  }
  return report.failure.empty() && report.undecided == 0;
}

}  // namespace runq::props
