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
  leave_processor();
  const blocked_call call{&m, &p, &g, p.in_call.enter()};
  // From here on the processor may be somebody else's.
  wake_monitor();
  return call;
}

bool core::leave_call(const blocked_call& call) noexcept {
  if (call.p->in_call.leave(call.ticket)) {
    hold(*call.m, *call.p);
    ++call.p->calls_kept;
  } else if (processor* const other = parking.come_back()) {
    hold(*call.m, *other);
    other->current = call.g;
    ++other->calls_moved;
  } else {
    call.m->held = nullptr;
    return false;
  }
  call.g->set_status(task_status::running);
  return true;
}

void core::leave_call_waiting(const blocked_call& call) {
  if (call.p->in_call.leave(call.ticket)) {
    hold(*call.m, *call.p);
    ++call.p->calls_kept;
  } else {
    processor* const other = parking.come_back_waiting(*call.m);
    if (other == nullptr) std::terminate();
    hold(*call.m, *other);
    other->current = call.g;
    ++other->calls_moved;
  }
  call.g->set_status(task_status::running);
}

void core::queue_after_call(const blocked_call& call, std::coroutine_handle<> self) {
  call.g->resume = self;
  call.g->set_status(task_status::runnable);
  calls_queued_.fetch_add(1, std::memory_order::relaxed);
  global.put(call.g);
  parking.submitted();
}

}  // namespace runq::detail
