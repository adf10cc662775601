// SPDX-License-Identifier: MIT
// Who judges a generated program besides the enumerator, and how their answers are compared.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "../program.hpp"
#include "enumerate.hpp"

namespace runq::model::selftest {

/// What the comparisons of a family add up to.
struct tally {
  std::uint64_t programs = 0;
  std::uint64_t searches = 0;   ///< complete ones, by the engine
  std::uint64_t graphs = 0;     ///< of programs that do not fail
  std::uint64_t failing = 0;    ///< programs with an execution that fails
  std::uint64_t walks = 0;      ///< programs that were also sampled
  double estimated = 0;         ///< by these samples
  std::uint64_t sampled = 0;    ///< the graphs of these programs
  std::uint64_t too_large = 0;  ///< for the enumerator: not compared
};

/// How much of it is repeated in other ways.
struct thoroughness {
  bool bounds = true;  ///< with --bound 0, 1, 2 … until nothing is cut off
  bool parts = true;   ///< in parts, as several processes share a search
  bool walks = true;   ///< by random walks
};

/// Whether the engine can run the program as a scenario. Not those that start threads, wake one of several sleeping
/// ones, or wait in a loop that changes what it reads.
[[nodiscard]] bool is_scenario(const program& p);
/// Whether it can run it as a program with a main thread that starts the others: not if it has plain memory or
/// condition variables, which are the front end's.
[[nodiscard]] bool is_executable(const program& p);

/// Compares the engine with what is expected. Returns what is wrong, or nothing.
[[nodiscard]] std::optional<std::string> judge_scenario(const program& p, const enumeration& expected,
                                                        unsigned spurious, const thoroughness& how, tally& to);
[[nodiscard]] std::optional<std::string> judge_executed(const program& p, const enumeration& expected,
                                                        unsigned spurious, const thoroughness& how, tally& to);

/// What the engine finds; nothing, if it cannot run the program.
[[nodiscard]] std::optional<enumeration> answer_of_engine(const program& p);

/// One line for each failure, one for each outcome.
[[nodiscard]] std::string to_text(const enumeration& e);

}  // namespace runq::model::selftest
