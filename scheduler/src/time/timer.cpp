// SPDX-License-Identifier: MIT
#include "runq/timer.hpp"

#include <atomic>

#include "runq/detail/core.hpp"

namespace runq {

namespace detail {

sleep_awaiter::~sleep_awaiter() {
  // Destroyed while it waits.
  if (node_.heap != nullptr) (void)node_.heap->remove(node_);
}

void sleep_awaiter::await_suspend(std::coroutine_handle<> self) {
  goroutine& g = fall_asleep(self, wait_reason::sleep);
  processor& p = *this_processor();
  core& home = p.home;
  if (node_.when <= now()) {
    // Behind all others, as yield(): a timer that is due at once could fire before they have had their turn.
    g.set_status(task_status::runnable);
    home.global.put(&g);
    home.parking.submitted_in_order();
    return;
  }
  node_.who = &g;
  node_.fire = [](timer_node& n, instant) {
    ready(*static_cast<sleeper&>(n).who);
    return never;
  };
  const instant when = node_.when;
  p.timers.add(node_);
  // From here on the task may be running elsewhere.
  home.timer_added(when);
}

}  // namespace detail

timer::timer() {
  node_.owner = this;
  node_.fire = [](detail::timer_node& n, detail::instant now) -> detail::instant {
    auto& self = static_cast<node&>(n);
    // A full channel has the time of a tick that nobody has received yet.
    (void)self.owner->channel_.try_send(clock::time_point(std::chrono::nanoseconds(now)));
    if (self.period <= 0) {
      // The heap may be gone before the timer is, which has no more business there.
      // [timer.fired] release, unmodelled: pairs with [timer.stop]; weaker: reset() writes what this firing still
      // reads.
      std::atomic_ref(self.heap).store(nullptr, std::memory_order::release);
      return detail::never;
    }
    // In the rhythm it was started in, whatever was missed.
    const detail::instant last = n.when + self.period * ((now - n.when) / self.period);
    return self.period > detail::end_of_time - last ? detail::end_of_time : last + self.period;
  };
}

void timer::start(std::chrono::nanoseconds d, std::chrono::nanoseconds period) { (void)reset(d, period); }

bool timer::stop() {
  // [timer.stop] acquire, unmodelled: pairs with [timer.fired]; weaker: as there.
  detail::timer_heap* const heap = std::atomic_ref(node_.heap).load(std::memory_order::acquire);
  const bool pending = heap != nullptr && heap->remove(node_);
  // What was sent before is stale now.
  std::optional<clock::time_point> stale;
  (void)channel_.try_receive(stale);
  return pending || stale.has_value();
}

bool timer::reset(std::chrono::nanoseconds d, std::chrono::nanoseconds period) {
  detail::processor* const p = detail::this_processor();
  if (p == nullptr) detail::throw_no_task();
  const bool pending = stop();
  node_.when = detail::in(d);
  node_.period = period.count();
  const detail::instant when = node_.when;
  p->timers.add(node_);
  p->home.timer_added(when);
  return pending;
}

}  // namespace runq
