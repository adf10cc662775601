// SPDX-License-Identifier: MIT
// Calls that block their thread: the processor stays with the machine for a moment, and may be taken by the monitor.
#include "runq/blocking.hpp"

#include <new>

#include "runq/detail/call_limit.hpp"
#include "runq/detail/core.hpp"
#include "runq/detail/fatal.hpp"

namespace runq {

blocking_section::blocking_section() : home_(detail::own_processor().home), call_(detail::enter_call(home_)) {}

namespace detail {
namespace {

core::calls::call of(const blocked_call& c) noexcept { return {c.m, c.p, c.ticket, c.has_unit}; }

}  // namespace

bool core::call_may_begin() const noexcept { return limit_->units.any(); }
void core::take_unit() { limit_->units.take(); }
void core::give_unit() { (void)limit_->units.release(1); }

blocked_call core::enter_call(bool has_unit) noexcept {
  machine& m = *this_machine();
  m.end_stretch();  // the call may last, so do first what the task has put off
  processor& p = *m.held;
  strand& s = *p.current;
  s.set_status(task_status::syscall);
  ++p.calls;
  // [blocking.enter.state] relaxed, unmodelled: for traces.
  m.state.store(machine_state::in_call, std::memory_order::relaxed);
  const instant begun = tracer_ != nullptr ? now() : 0;
  const calls::call entered = calling.enter(m, has_unit);
  return {entered.m, entered.p, entered.ticket, entered.has_unit, &s, begun};
}

bool core::leave_call(const blocked_call& call) noexcept {
  const auto how = calling.leave(of(call));
  if (how == calls::outcome::lost) {
    if (tracer_ != nullptr) trace_lost(call);
    return false;
  }
  back_from_call(call, how);
  return true;
}

void core::leave_call_waiting(const blocked_call& call) {
  const auto how = [&] {
    try {
      return calling.leave_waiting(of(call));
      // unreached: memory would have to end between the end of a run and that of a blocking section.
    } catch (const std::bad_alloc&) {
      fatal_no_memory();  // for a spare processor
    }
  }();
  back_from_call(call, how);
}

processor& core::spare_processor() {
  processor& p = spares_.take([this] { return new processor(*this, max_processors); });
  // The task that gets it gives the processor up at its next co_await.
  p.slice.end_all();
  return p;
}

void core::back_from_call(const blocked_call& call, calls::outcome how) {
  processor& p = *call.m->held;
  // It does not suffice that the processor is the same: another machine may have run tasks on it meanwhile, and given
  // it up.
  const bool kept = how == calls::outcome::kept;
  if (kept) {
    ++p.calls_kept;
  } else {
    p.slice.begin();
    p.current = call.caller;
    ++p.calls_moved;
  }
  call.caller->set_status(task_status::running);
  // [blocking.leave.state] relaxed, unmodelled: for traces.
  call.m->state.store(machine_state::running, std::memory_order::relaxed);
  if (tracer_ == nullptr) return;
  if (kept) {
    tracer_->called(p.index, call.m->slice_of, call.begun, now());
  } else {
    trace_lost(call);
    begin_slice(*call.m, *call.caller);
  }
}

// In the trace, the task's slice on the processor ended when the call began.
void core::trace_lost(const blocked_call& call) {
  end_slice(*call.m, *call.p, call.begun);
  tracer_->called_without(call.m->number, call.p->index, call.m->slice_of, call.begun, now());
}

void core::queue_after_call(const blocked_call& call, std::coroutine_handle<> self) {
  call.caller->resume = self;
  call.caller->set_status(task_status::runnable);
  // [blocking.queued] relaxed, unmodelled: a statistic.
  calls_queued_.fetch_add(1, std::memory_order::relaxed);
  calling.queue(*call.caller);
}

// ---- what blocking.hpp calls ----------------------------------------------------------------------------------------

bool call_may_begin(const core& home) noexcept { return home.call_may_begin(); }
semaphore_core<>& call_units(core& home) noexcept { return home.limit().units; }
blocked_call enter_call(core& home, bool has_unit) noexcept { return home.enter_call(has_unit); }
bool leave_call(core& home, const blocked_call& call) noexcept { return home.leave_call(call); }
void leave_call_waiting(core& home, const blocked_call& call) { home.leave_call_waiting(call); }
void queue_after_call(core& home, const blocked_call& call, std::coroutine_handle<> self) {
  home.queue_after_call(call, self);
}

}  // namespace detail
}  // namespace runq
