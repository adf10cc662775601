// SPDX-License-Identifier: MIT
#include "runq/timer.hpp"

#include "runq/detail/core.hpp"

namespace runq {

namespace detail {

sleep_awaiter::~sleep_awaiter() {
  // The awaiter is destroyed while its task waits.
  (void)timer_heap::withdraw(node_);
}

void sleep_awaiter::await_suspend(std::coroutine_handle<> self, source_place at) {
  strand& s = fall_asleep(self, wait_reason::sleep, at);
  processor& p = *this_processor();
  core& home = p.home;
  if (node_.when <= now()) {
    // As after yield(), because a timer that is due could fire before other tasks have run.
    let_others_run(p, s);
    return;
  }
  node_.who = &s;
  node_.fire = [](timer_node& n, instant) {
    ready(*static_cast<sleeper&>(n).who);
    return never;
  };
  const instant when = node_.when;
  p.timers.add(node_);
  // From here on the task may run on another thread.
  home.timer_added(when);
}

bool stoppable_sleep_awaiter::await_suspend(std::coroutine_handle<> self, source_place at) {
  strand& s = fall_asleep(self, wait_reason::sleep, at);
  processor& p = *this_processor();
  if (node_.when <= now()) {
    let_others_run(p, s);
    return true;
  }
  node_.who = &s;
  node_.fire = [](timer_node& n, instant) {
    auto& due = static_cast<sleeper&>(n);
    if (due.wait.claim(by_timer) == claim_result::must_wake) ready(*due.who);
    return never;
  };
  stop_wait_.begin(p.home, stop_, call_back{this});
  p.timers.add(node_);
  p.home.timer_added(node_.when);
  // by chance: a request comes, and the time slice ends, between two questions.
  return node_.wait.commit() || preempt_or_go_on(s);
}

}  // namespace detail

timer::timer() : state_(std::make_unique<state>()) {}
// Not inline: at -O2 g++ 12 takes the pointer of an std::optional<timer> for uninitialised otherwise.
timer& timer::operator=(timer&&) noexcept = default;
timer::~timer() = default;

timer::state::state() {
  fire = [](detail::timer_node& n, detail::instant now) -> detail::instant {
    auto& self = static_cast<state&>(n);
    // If the channel is full, no task has received the last tick yet, and this one is dropped.
    (void)self.ticks.try_send(clock::time_point(std::chrono::nanoseconds(now)));
    if (self.period <= 0) {
      // The timer has left the heap, and the heap may be destroyed before the timer: so the timer forgets it.
      self.forget_heap();
      return detail::never;
    }
    // The next tick comes in the rhythm of the start, even if ticks were missed.
    const detail::instant last = n.when + self.period * ((now - n.when) / self.period);
    return self.period > detail::end_of_time - last ? detail::end_of_time : last + self.period;
  };
}

void timer::start(std::chrono::nanoseconds d, std::chrono::nanoseconds period) { (void)reset(d, period); }

bool timer::stop() {
  state& self = of();
  const bool pending = detail::timer_heap::withdraw(self);
  // Removes a tick that was sent before and not received.
  std::optional<clock::time_point> stale;
  (void)self.ticks.try_receive(stale);
  return pending || stale.has_value();
}

bool timer::reset(std::chrono::nanoseconds d, std::chrono::nanoseconds period) {
  detail::processor* const p = detail::this_processor();
  if (p == nullptr) detail::throw_no_task();
  state& self = of();
  const bool pending = stop();
  self.when = detail::in(d);
  self.period = period.count();
  const detail::instant when = self.when;
  p->timers.add(self);
  p->home.timer_added(when);
  return pending;
}

}  // namespace runq
