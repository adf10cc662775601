// SPDX-License-Identifier: MIT
// Compares the exact engine with the enumerator on all generated programs, family by family: the same outcomes, one of
// the same failures, the same number of executions. Ends with 1 if anything differs.
#include <chrono>
#include <cstdlib>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "enumerate.hpp"
#include "judges.hpp"
#include "shapes.hpp"

namespace runq::model::selftest {
namespace {

constexpr std::uint64_t budget = 50'000;

struct options {
  std::uint64_t every = 1;       ///< only every so manieth program of a family
  std::string_view only;         ///< only families whose names contain this
  std::uint64_t most_shown = 3;  ///< disagreements of a family that are printed
};

/// The comparisons that cost a search more than the first are made for one in so many programs.
constexpr std::uint64_t bounds_every = 7, walks_every = 5;

class comparison {
 public:
  comparison(const family& f, const options& o) : family_(f), options_(o) {}

  /// Returns the number of disagreements.
  std::uint64_t run() {
    const auto begin = std::chrono::steady_clock::now();
    family_.each([this](const program& p) {
      if (number_++ % options_.every == 0) compare(p);
    });
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    if (tally_.sampled > least_sampled && !estimates_fit()) {
      ++disagreements_;
      fmt::print("samples of {}: {:.0f} executions are estimated, there are {}\n", family_.name, tally_.estimated,
                 tally_.sampled);
    }
    fmt::print("{:<18} {:>9} {:>9} {:>9} {:>10} {:>9} {:>13} {:>8.1f}\n", family_.name, tally_.programs, tally_.failing,
               tally_.searches, tally_.graphs, tally_.walks, disagreements_, seconds);
    return disagreements_ + tally_.too_large;
  }

 private:
  static constexpr std::uint64_t least_sampled = 2'000;
  /// Many samples together miss the truth by little. The walks are the same in every run.
  [[nodiscard]] bool estimates_fit() const {
    constexpr double tolerance = 0.05;
    const auto truth = static_cast<double>(tally_.sampled);
    return tally_.estimated > truth * (1 - tolerance) && tally_.estimated < truth * (1 + tolerance);
  }

  void compare(const program& p) {
    ++tally_.programs;
    for (unsigned spurious = 0; spurious <= family_.most_spurious; ++spurious) {
      const auto expected = enumerate_all(p, budget, spurious);
      if (!expected) {
        if (tally_.too_large++ == 0) fmt::print("too large for the enumerator:\n{}", to_text(p));
        continue;
      }
      if (expected->failures.empty()) {
        tally_.graphs += expected->graphs;
      } else if (spurious == 0) {
        ++tally_.failing;
      }
      compare(p, *expected, spurious);
    }
  }

  void compare(const program& p, const enumeration& expected, unsigned spurious) {
    const thoroughness how{.bounds = tally_.programs % bounds_every == 0,
                           .parts = tally_.programs % bounds_every == 1,
                           .walks = tally_.programs % walks_every == 0};
    if (is_scenario(p)) report(judge_scenario(p, expected, spurious, how, tally_), p, expected);
    if (is_executable(p)) report(judge_executed(p, expected, spurious, how, tally_), p, expected);
  }

  void report(const std::optional<std::string>& wrong, const program& p, const enumeration& expected) {
    if (!wrong || disagreements_++ >= options_.most_shown) return;
    fmt::print("{}: {}\n{}{}\n", family_.name, *wrong, to_text(expected), to_text(p));
  }

  const family& family_;
  const options& options_;
  std::uint64_t number_ = 0;
  tally tally_;
  std::uint64_t disagreements_ = 0;
};

int run(const options& o) {
  fmt::print("{:<18} {:>9} {:>9} {:>9} {:>10} {:>9} {:>13} {:>8}\n", "family", "programs", "fail", "searches",
             "executions", "sampled", "disagreements", "seconds");
  std::uint64_t wrong = 0;
  bool any = false;
  for (const family& f : families()) {
    if (std::string_view(f.name).find(o.only) == std::string_view::npos) continue;
    any = true;
    wrong += comparison(f, o).run();
  }
  if (!any) {
    fmt::print("no family has such a name\n");
    return 2;
  }
  return wrong == 0 ? 0 : 1;
}

int usage() {
  fmt::print("runq_oracle [--every N] [--family NAME]\n");
  return 2;
}

}  // namespace
}  // namespace runq::model::selftest

int main(int argc, char** argv) {
  using namespace runq::model::selftest;
  options o;
  for (int i = 1; i != argc; ++i) {
    const std::string_view name = argv[i];
    if (i + 1 == argc) return usage();
    const char* const value = argv[++i];
    if (name == "--every") {
      o.every = std::strtoull(value, nullptr, 10);
    } else if (name == "--family") {
      o.only = value;
    } else {
      return usage();
    }
  }
  return o.every == 0 ? usage() : run(o);
}
