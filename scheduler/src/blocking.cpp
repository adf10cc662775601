// SPDX-License-Identifier: MIT
// Calls that block their thread: the processor stays with the machine for a moment, and may be taken by the monitor.
#include "runq/detail/core.hpp"

namespace runq::detail {

core::blocked_call core::enter_call() noexcept {
  machine& m = *this_machine();
  processor& p = *m.held;
  goroutine& g = *p.current;
  g.set_status(task_status::syscall);
  ++p.calls;
  m.state.store(machine_state::in_call, std::memory_order::relaxed);
  const instant begun = tracer_ != nullptr ? now() : 0;
  leave_processor();
  const blocked_call call{&m, &p, &g, p.in_call.enter(), begun};
  // From here on the processor may be somebody else's.
  hurry_monitor();
  return call;
}

bool core::leave_call(const blocked_call& call) noexcept {
  const bool kept = call.p->in_call.leave(call.ticket);
  if (kept) {
    hold(*call.m, *call.p);
    ++call.p->calls_kept;
  } else if (processor* const other = parking.come_back()) {
    hold(*call.m, *other);
    other->current = call.g;
    ++other->calls_moved;
  } else {
    call.m->held = nullptr;
    if (tracer_ != nullptr) trace_lost(call);
    return false;
  }
  back_from_call(call, kept);
  return true;
}

void core::leave_call_waiting(const blocked_call& call) {
  const bool kept = call.p->in_call.leave(call.ticket);
  if (kept) {
    hold(*call.m, *call.p);
    ++call.p->calls_kept;
  } else {
    processor* const other = parking.come_back_waiting(*call.m);
    // A stopping scheduler has none for it, but the code after the call may need one until its next co_await.
    processor& mine = other != nullptr ? *other : spare_processor();
    hold(*call.m, mine);
    mine.current = call.g;
    ++mine.calls_moved;
  }
  back_from_call(call, kept);
}

processor& core::spare_processor() {
  const std::lock_guard lock(machines_mutex_);
  return *spares_.emplace_back(std::make_unique<processor>(*this, max_processors));
}

void core::back_from_call(const blocked_call& call, bool kept) {
  call.g->set_status(task_status::running);
  call.m->state.store(machine_state::running, std::memory_order::relaxed);
  if (tracer_ == nullptr) return;
  // Not: is it the same processor. Another machine may have run tasks on it meanwhile, and given it up.
  if (kept) {
    tracer_->called(call.p->index, call.m->slice_of, call.begun, now());
  } else {
    trace_lost(call);
    begin_slice(*call.m, *call.g);
  }
}

// What ran on the processor ended with the call.
void core::trace_lost(const blocked_call& call) {
  end_slice(*call.m, *call.p, call.begun);
  tracer_->called_without(call.m->number, call.m->slice_of, call.begun, now());
}

void core::queue_after_call(const blocked_call& call, std::coroutine_handle<> self) {
  call.g->resume = self;
  call.g->set_status(task_status::runnable);
  calls_queued_.fetch_add(1, std::memory_order::relaxed);
  global.put(call.g);
  parking.submitted_in_order();
}

}  // namespace runq::detail
