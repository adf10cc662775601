// SPDX-License-Identifier: MIT
// Time and descriptors: how idle machines sleep until something happens, and how busy ones notice that it has.
#include <algorithm>

#include "runq/detail/core.hpp"

namespace runq::detail {

instant core::earliest_timer() const noexcept {
  instant earliest = never;
  for_each_processor([&earliest](const processor& p) { earliest = std::min(earliest, p.timers.earliest()); });
  return earliest;
}

std::size_t core::fire_timers(instant now) {
  std::size_t fired = 0;
  for_each_processor([now, &fired](processor& p) {
    if (p.timers.earliest() <= now) fired += p.timers.fire_due(now);
  });
  return fired;
}

void core::timer_added(instant when) {
  if (sleeping.timer_added(when)) parking.submitted();
}

bool core::poll_now(processor& p) {
  if (p.timers.earliest() != never) {
    const instant t = now();
    if (p.timers.earliest() <= t && p.timers.fire_due(t) != 0) return true;
  }
  // Even while another machine sleeps in the poller: this one is awake already, and so is faster.
  return events.in_use() && events.poll(0).woken != 0;
}

// Called by the machine in the poller after its sleep, even if another machine has fired or removed the timers that it
// slept for.
void core::fire_timers() {
  (void)fire_timers(now());
  if (slept_until_ != never) deadlocks.timers_fired();
}

void core::wait_for_events(instant until) {
  slept_until_ = until;
  const instant timeout = until == never ? never : until - now();
  if (timeout > 0 && events.poll(timeout).rung) sleeping.answered();
}

void machine_parker::park() {
  ++parks;
  home_.sleeping.park(token_);
}

bool machine_parker::park_for_long() {
  ++parks;
  return home_.sleeping.park_for(token_, home_.chosen.idle_thread_life.count());
}

bool machine_parker::doze() {
  ++parks;
  return token_.park_for(doze_time);
}

void machine_parker::unpark() {
  machine* const here = this_machine();
  if (here != nullptr && &here->parker == this) {
    token_.put();  // this machine is awake, and looks at its token before it sleeps again
  } else {
    home_.sleeping.unpark(token_);
  }
}

machine* core::this_idle_machine() const noexcept {
  machine* const m = this_machine();
  return m != nullptr && &m->home == this && this_processor() == nullptr ? m : nullptr;
}

}  // namespace runq::detail
