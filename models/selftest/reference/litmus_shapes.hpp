// SPDX-License-Identifier: MIT
// The classic litmus shapes as the exact engine's yardstick: how many execution graphs RC11 gives each, and the outcome
// that tells memory models apart. (models/cases/litmus/ has those that calibrate all engines for users.)
#pragma once

#include <array>
#include <string>
#include <vector>

#include "atomics.hpp"
#include "scenario.hpp"

namespace runq::model::reference {

/// The variables of every shape: x, y, z start at 0; d is plain and not yet written; r are the observed registers.
struct litmus_state {
  atomic<int> x{0};
  atomic<int> y{0};
  atomic<int> z{0};
  cell<int> d;
  std::array<int, 6> r{};
};

struct litmus_shape {
  const char* name;
  unsigned threads;
  void (*body)(litmus_state&, unsigned thread);
  std::string (*outcome)(litmus_state&);
  std::uint64_t graphs;           ///< 0: the program has a data race
  const char* absent = nullptr;   ///< an outcome that RC11 forbids
  const char* present = nullptr;  ///< an outcome that must be among those seen
};

[[nodiscard]] const std::vector<litmus_shape>& litmus_shapes();

/// The shape that litmus_scenario runs.
inline const litmus_shape* current_shape = nullptr;

class litmus_scenario final : public scenario {
 public:
  void thread(unsigned index) override { current_shape->body(state_, index); }
  void finish() override { record_outcome(current_shape->outcome(state_).c_str()); }

 private:
  litmus_state state_;
};

}  // namespace runq::model::reference
