// SPDX-License-Identifier: MIT
// The monitor (Go's sysmon): a thread without a processor that looks after what nobody else may have time for:
// processors whose machines are in blocking calls, tasks that run too long, descriptors and timers while all machines
// are busy.
#include <algorithm>
#include <cstdio>
#include <vector>

#include "runq/detail/core.hpp"
#include "runq/detail/fair_time.hpp"
#include "runq/detail/monitor_rhythm.hpp"

namespace runq::detail {
namespace {

constexpr instant millisecond = 1'000'000;

constexpr instant poll_period = 10 * millisecond;

}  // namespace

void core::monitor() {
  sleep_precisely();
  std::vector<watched>& seen = seen_by_monitor_;
  std::fill(seen.begin(), seen.end(), watched{});
  monitor_rhythm rhythm;
  bool slow = false;
  instant next_trace = now() + (trace_period_ == never ? 0 : trace_period_);
  while (!monitor_stops_.load(std::memory_order::relaxed)) {
    const instant nap = rhythm.next();
    if (rhythm.slowest() != slow) {
      slow = rhythm.slowest();
      monitor_is_slow_.store(slow, std::memory_order::relaxed);
    }
    (void)monitor_parker_.park_for(nap);
    print_trace(next_trace);
    if (trace_period_ == never && slow && parking.idle_processors() >= parking.limit() && nothing_ran(seen)) {
      sleep_deeply();
    }
    const instant t = now();
    if (events.in_use() && !sleeping.watched() && t - events.last_poll.load(std::memory_order::relaxed) > poll_period) {
      (void)events.poll(0);
    }
    // Machines fire timers more promptly than this, unless all of them are busy.
    if (earliest_timer() < t - millisecond) {
      (void)fire_timers(t);
      // A machine that was about to sleep until then may not enter the poller any more.
      deadlocks.timers_fired();
    }
    bool did_something = slow && !monitor_is_slow_.load(std::memory_order::relaxed);  // or is to: hurry_monitor()
    for (unsigned i = 0; i != made_.load(std::memory_order::acquire); ++i) {
      did_something |= watch(seen[i], *processors_[i], t);
    }
    rhythm.looked(did_something);
  }
}

// Since the monitor's last round. To sleep deeply and to be woken costs more system calls than one more nap, and where
// a task sleeps for less than that, it would be done between any two naps.
bool core::nothing_ran(const std::vector<watched>& seen) const noexcept {
  for (unsigned i = 0; i != made_.load(std::memory_order::acquire); ++i) {
    if (!seen[i].slice.is(processors_[i]->slice.current())) return false;
  }
  return true;
}

void core::sleep_deeply() {
  monitor_sleeps_.store(true, std::memory_order::relaxed);
  // Pairs with wake_monitor(): either this sees a processor in use, or its machine sees that the monitor sleeps.
  policy::fence(std::memory_order::seq_cst);
  if (parking.idle_processors() >= parking.limit() && !monitor_stops_.load(std::memory_order::relaxed)) {
    monitor_parker_.park();
  }
  monitor_sleeps_.store(false, std::memory_order::relaxed);
}

void core::print_trace(instant& next) const {
  const instant t = now();
  if (trace_period_ == never || t < next || parking.limit() == 0) return;
  next = t + trace_period_;
  std::fputs(trace_line(t, trace_in_detail_).c_str(), stderr);
}

// In a call or not: otherwise a task that does little but call would seldom be seen to run.
void core::watch_slice(watched& seen, processor& p, instant t) {
  const auto slice = p.slice.current();
  if (seen.slice.over(slice, t)) p.slice.end(slice);
}

bool core::watch(watched& seen, processor& p, instant t) {
  watch_slice(seen, p, t);
  const auto call = p.in_call.peek();
  if (!handoff<policy>::blocked(call)) return false;
  if (!seen.call.again(call, t)) return false;
  const bool has_work =
      p.queue_thief.has_work() || p.forks_thief.has_work() || global.has_work() || parking.somebody_returns();
  const bool others_look = parking.spinning() + parking.idle_processors() != 0;
  if (!seen.call.costs_the_processor(has_work, others_look, t)) return false;
  const auto retake = [&] { return p.in_call.retake(call); };
  // Machines that went to sleep while this one left the poller sleep beside it: somebody is to poll in its place. (Go:
  // handoffp and sched.lastpoll.)
  if (!parking.hand_off(p, retake, has_work || !others_look || unwatched())) return false;
  handed_off_.fetch_add(1, std::memory_order::relaxed);
  return true;
}

// After no machine can start it again.
void core::stop_monitor() {
  if (!monitor_.joinable()) return;
  monitor_stops_.store(true, std::memory_order::relaxed);
  monitor_parker_.unpark();
  monitor_.join();
}

void core::hurry_monitor() noexcept {
  // Not ordered: at worst the monitor sees this call a nap later. One machine is enough to wake it.
  if (!monitor_is_slow_.load(std::memory_order::relaxed)) return;
  if (monitor_is_slow_.exchange(false, std::memory_order::relaxed)) monitor_parker_.unpark();
}

void core::wake_monitor() noexcept {
  // Pairs with sleep_deeply(). And with [park.rest.fence], for the machine that has just got this processor: weaker: a
  // machine that goes to sleep may not know of a new processor, does not look() there, and a task that is made next on
  // it without a fence is left beside the sleeper (park/next_on_a_new_processor).
  policy::fence(std::memory_order::seq_cst);
  if (monitor_sleeps_.load(std::memory_order::relaxed)) monitor_parker_.unpark();
}

}  // namespace runq::detail
