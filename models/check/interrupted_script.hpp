// SPDX-License-Identifier: MIT
// A script (split_script.hpp) with fences by interrupt (interrupt.hpp): thread 0 is the owner, the others are thieves.
#pragma once

#include "interrupt.hpp"
#include "split_script.hpp"

namespace runq::model {

template <class Queue, moves Before, moves... Threads>
class interrupted_script final : private interrupts, public script_over<Queue, interrupt_atomics, Before, Threads...> {
  using script = script_over<Queue, interrupt_atomics, Before, Threads...>;

 public:
  static constexpr const char* axiom = "membarrier(2)";

  interrupted_script() : interrupts(sizeof...(Threads)) {}
  void thread(unsigned index) override {
    script::thread(index);
    if (index == 0) interrupts::end();
  }
};

}  // namespace runq::model
