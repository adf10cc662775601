// SPDX-License-Identifier: MIT
// What the models of blocking_calls share: the scheduler of ../machine_loop, whose machines make calls that block.
#pragma once

#include "../machine_loop/machine_loop_model.hpp"
#include "runq/detail/fair_time.hpp"
#include "runq/protocol/blocking_calls.hpp"

namespace runq::model {

template <unsigned Machines, unsigned Processors, int Tasks, class Queues = shipped_queues<>>
class blocking_model : public machine_loop_model<Machines, Processors, Tasks, Queues> {
  using base = machine_loop_model<Machines, Processors, Tasks, Queues>;

 public:
  using typename base::machine;
  using typename base::processor;

  // -- what blocking_calls asks of its host --

  [[nodiscard]] processor& spare_processor() {
    require(!spare_taken_, "two spare processors are taken at once");
    spare_taken_ = true;
    return spare;
  }
  [[nodiscard]] bool unwatched() const { return nobody_polls; }
  virtual void take_unit() {}
  virtual void give_unit() {}

 protected:
  using calls = blocking_calls<machine, processor, blocking_model, atomics>;
  using outcome = typename calls::outcome;

  /// Machine i, which holds a processor, is in a call, which the monitor has seen; `has_unit`: it waited for its turn.
  void block(unsigned i, bool has_unit = false) {
    call = calling.enter(this->machines[i], has_unit);
    require(!look(0), "a processor is taken for a call that is seen for the first time");
  }
  /// The monitor looks at the processor of that call. Returns whether it has taken the processor.
  bool look(runq::detail::instant at) { return calling.retake(*call.p, seen, at); }
  static constexpr runq::detail::instant long_after = runq::detail::longest_slice;

  calls calling{*this};
  typename calls::call call{};
  runq::detail::call_watch seen;  // the monitor's
  bool nobody_polls = false;
  processor spare{this->global, Processors};

 private:
  bool spare_taken_ = false;
};

}  // namespace runq::model
