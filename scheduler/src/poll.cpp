// SPDX-License-Identifier: MIT
// Time and descriptors: how idle machines sleep until something happens, and how busy ones notice that it has.
#include <algorithm>

#include "runq/detail/core.hpp"
#include "runq/detail/fatal.hpp"

namespace runq::detail {

instant core::earliest_timer() const noexcept {
  instant earliest = never;
  for (unsigned i = 0; i != made_.load(std::memory_order::acquire); ++i) {
    earliest = std::min(earliest, processors_[i]->timers.earliest());
  }
  return earliest;
}

std::size_t core::fire_timers(instant now) {
  std::size_t fired = 0;
  for (unsigned i = 0; i != made_.load(std::memory_order::acquire); ++i) {
    timer_heap& heap = processors_[i]->timers;
    if (heap.earliest() <= now) fired += heap.fire_due(now);
  }
  return fired;
}

void core::timer_added(instant when) {
  // Pairs with sleep_in_poller(): either the one that polls sees the timer, or this sees how long it sleeps.
  policy::fence(std::memory_order::seq_cst);
  const instant until = events.sleeps_until.load(std::memory_order::acquire);
  if (until != 0) {
    if (until > when) events.interrupt();
  } else if (!events.busy()) {
    // Nobody polls: somebody idle is to do so, lest all sleep.
    parking.submitted();
  }
}

bool core::poll_now(processor& p) {
  if (p.timers.earliest() != never) {
    const instant t = now();
    if (p.timers.earliest() <= t && p.timers.fire_due(t) != 0) return true;
  }
  // Even while another machine sleeps in the poller: this one is awake already, and so is faster.
  return events.in_use() && events.poll(0) != 0;
}

void core::sleep_in_poller(machine_parker& sleeper) {
  while (!sleeper.woken()) {
    events.sleeps_until.store(never, std::memory_order::release);
    // Pairs with timer_added().
    policy::fence(std::memory_order::seq_cst);
    const instant until = earliest_timer();
    events.sleeps_until.store(until, std::memory_order::release);
    const instant begin = now();
    if (until > begin && !sleeper.woken()) (void)events.poll(until == never ? never : until - begin);
    events.sleeps_until.store(0, std::memory_order::relaxed);
    (void)fire_timers(now());
  }
}

void machine_parker::park() {
  for (;;) {
    if (token_.take()) return;
    const bool something = home->events.in_use() || home->earliest_timer() != never;
    if (something && home->events.enter()) {
      // First, because what does not exist yet cannot be interrupted.
      try {
        home->events.create();
      } catch (const std::system_error& error) {
        fatal(std::string("runq: a machine cannot sleep: ") + error.what() + "\nfatal error: no poller\n");
      }
      home->events.sleeper.store(this, std::memory_order::release);
      // Pairs with unpark(): either this sees the token, or unpark() sees that it must interrupt.
      policy::fence(std::memory_order::seq_cst);
      home->sleep_in_poller(*this);
      home->events.sleeper.store(nullptr, std::memory_order::relaxed);
      home->events.leave();
    } else {
      token_.park();
      return;
    }
  }
}

void machine_parker::unpark() {
  // Once it has the token the machine may come to its end, and this parker with it.
  core& of = *home;
  token_.unpark();
  policy::fence(std::memory_order::seq_cst);
  if (of.events.sleeper.load(std::memory_order::acquire) == this) of.events.interrupt();
}

}  // namespace runq::detail
