// SPDX-License-Identifier: MIT
// A technique by which the checker leaves executions out is compared with the search without it: both must find the
// same in random programs.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <runq/check.hpp>

#include "lines.hpp"
#include "random.hpp"

namespace random_programs {

inline constexpr auto relaxed = std::memory_order::relaxed;
inline constexpr auto acquire = std::memory_order::acquire;
inline constexpr auto release = std::memory_order::release;

// What a round of a loop accesses beside its variable. What that leaves on the stack is gone when it returns.
[[gnu::noinline]] inline void look_at(const unsigned& memory) {
  const unsigned found = memory;
  asm volatile("" : : "r"(found));
}
[[gnu::noinline]] inline void look_at_atomically(unsigned& memory) {
  const unsigned found = std::atomic_ref(memory).load(relaxed);
  asm volatile("" : : "r"(found));
}

/// `Step` numbers what an instruction does; `of` is the variable that it uses.
template <class Step>
struct instruction_of {
  Step what;
  unsigned of;
};

/// A line for each thread. `names`: of the steps.
template <class Step, class Names>
[[nodiscard]] std::string text_of(const std::vector<std::vector<instruction_of<Step>>>& threads, const Names& names) {
  std::string t;
  for (const auto& thread : threads) {
    for (const auto& i : thread) {
      t += std::string(names[static_cast<unsigned>(i.what)]) + " " + std::to_string(i.of) + "; ";
    }
    t += '\n';
  }
  return t;
}

/// What a check of a program has found.
struct found {
  int status = 0;  ///< 0: it passes; 1: it fails; 2: no verdict
  std::string failure;
  std::uint64_t executions = 0;
  std::set<std::string> outcomes;
  std::string text;
};

/// Checks run() with these options, one on each line.
template <class Run>
[[nodiscard]] found explore(const std::string& options, Run run) {
  setenv("RUNQ_CHECK", options.c_str(), 1);
  forget_outcomes();
  const runq::verdict v = runq::check(run);
  const char* const all = outcomes();
  return {v.passed()   ? 0
          : v.failed() ? 1
                       : 2,
          v.failure(), v.executions(), lines_of(all == nullptr ? "" : all), v.text()};
}

/// What the environment says, so that a person can compare more programs.
[[nodiscard]] inline unsigned number_from(const char* variable, unsigned otherwise) {
  const char* const said = std::getenv(variable);
  return said == nullptr ? otherwise : static_cast<unsigned>(std::atoi(said));
}

/// The threads of a program: as many as the environment says for all of them.
[[nodiscard]] inline unsigned threads_of_program(unsigned otherwise) {
  return number_from("RUNQ_RANDOM_THREADS", otherwise);
}
/// What is larger is not compared. Without a technique programs of four threads may have few executions, and wait in
/// very many ways; with it they end.
[[nodiscard]] inline std::string limits_of_size(bool on) {
  const std::string executions = std::to_string(number_from("RUNQ_RANDOM_EXECUTIONS", 5000));
  const std::string seconds = std::to_string(number_from("RUNQ_RANDOM_SECONDS", 3));
  return "--max-executions\n" + executions + (on ? "\n" : "\n--time-limit\n" + seconds + "\n");
}

struct tally {
  unsigned passed = 0;
  unsigned fewer = 0;  ///< of those that passed: in fewer executions
  unsigned failed = 0;
  unsigned undecided = 0;
};

/// Compares `count` programs that `make` makes. `search(p, on)` explores a program with the technique on or off.
/// `fails_in_one_way(p)`: otherwise either search may meet another failure first.
template <class Make, class Search, class OneWay>
void compare_on_and_off(unsigned count, Make make, Search search, OneWay fails_in_one_way, tally& t) {
  for (unsigned n = 0; n != count && !testing::Test::HasFailure(); ++n) {
    const auto p = make();
    const found off = search(p, false);
    if (off.status == 2) {
      ++t.undecided;
      continue;
    }
    const found on = search(p, true);
    ASSERT_EQ(on.status, off.status) << p.text() << on.text << off.text;
    EXPECT_EQ(on.text.find("met before"), std::string::npos) << p.text() << on.text;
    if (off.status == 1) {
      ++t.failed;
      if (fails_in_one_way(p)) EXPECT_EQ(on.failure, off.failure) << p.text() << on.text << off.text;
      continue;
    }
    ++t.passed;
    EXPECT_LE(on.executions, off.executions) << p.text();
    EXPECT_EQ(on.outcomes, off.outcomes) << p.text();
    if (on.executions < off.executions) ++t.fewer;
  }
  std::printf("%u passed (%u in fewer executions), %u failed, %u too large\n", t.passed, t.fewer, t.failed,
              t.undecided);
}

}  // namespace random_programs
