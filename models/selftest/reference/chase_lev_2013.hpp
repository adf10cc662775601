// SPDX-License-Identifier: MIT
// The corpus's deque of Chase and Lev, as a reference program for tests of the engines: a fixed sequence of shared
// operations with known graph counts, the historical bugs, and memory orders to weaken.
#pragma once

#include <array>

#include "../../cases/corpus/deque.hpp"
#include "atomics.hpp"
#include "scenario.hpp"

namespace runq::model::reference {

/// The traits of chase_lev_2013: a test changes an order in them, or seeds a bug.
inline corpus::deque_traits deque_now;
using chase_lev_2013 = corpus::basic_deque<deque_now, int>;

/// Thread 0 follows `script` (p push, t take); `thieves` threads each try to steal `steals` times; then main drains.
struct chase_lev_program {
  const char* script = "ppptt";
  unsigned thieves = 1;
  unsigned steals = 1;
};
inline chase_lev_program deque_program;

class chase_lev_scenario final : public scenario {
 public:
  void thread(unsigned index) override {
    if (index != 0) {
      for (unsigned i = 0; i != deque_program.steals; ++i) consume(deque_.steal());
      return;
    }
    for (const char* c = deque_program.script; *c != '\0'; ++c) {
      if (*c == 't') {
        consume(deque_.pop());
        continue;
      }
      const int element = static_cast<int>(++pushed_);
      payload_[pushed_].set(10 * element);
      deque_.push(element);
    }
  }

  void finish() override {
    while (const int element = deque_.pop()) consume(element);
    for (unsigned i = 1; i <= pushed_; ++i) require(seen_[i] == 1, "an element was lost or doubled");
  }

 private:
  static constexpr unsigned max_elements = 8;

  void consume(int element) {
    if (element == 0) return;
    const auto i = static_cast<unsigned>(element);
    require(i < max_elements, "an element is garbage");
    require(payload_[i].get() == 10 * element, "an element's contents are wrong");
    require(++seen_[i] == 1, "an element was handed out twice");
  }

  chase_lev_2013 deque_;
  std::array<cell<int>, max_elements> payload_;
  std::array<unsigned, max_elements> seen_{};  ///< times each was taken; the engine does not treat it as shared
  unsigned pushed_ = 0;
};

}  // namespace runq::model::reference
