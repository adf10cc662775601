// SPDX-License-Identifier: MIT
// The monitor (Go's sysmon): a thread without a processor that does what the machines may have no time for. It looks
// after processors whose machines are in blocking calls, tasks that run too long, and descriptors and timers while all
// machines are busy.
#include <algorithm>
#include <cstdio>

#include "runq/detail/core.hpp"

namespace runq::detail {

void core::monitor() {
  sleep_precisely();
  std::fill(seen_by_monitor_.begin(), seen_by_monitor_.end(), watched{});
  next_trace_ = now() + (trace_period_ == never ? 0 : trace_period_);
  monitoring.run();
}

// A deep sleep is not worth it if something ran since the monitor's last round: to sleep deeply and be woken costs more
// system calls than one more nap, and a program whose tasks sleep for less than a nap would pay for it after each nap.
bool core::worth_a_deep_sleep() const noexcept {
  if (trace_period_ != never || frames_may_be_given_back()) return false;
  for (unsigned i = 0; i != processors_.size(); ++i) {
    if (!seen_by_monitor_[i].slice.is(processors_[i].slice.current())) return false;
  }
  return true;
}

bool core::look_at_processors(instant t) {
  bool acted = false;
  processors_.for_each([&](processor& p) { acted |= watch(seen_by_monitor_[p.index], p, t); });
  return acted;
}

void core::print_trace() {
  const instant t = now();
  // by chance: the scheduler stops at this moment.
  if (trace_period_ == never || t < next_trace_ || parking.limit() == 0) return;
  next_trace_ = t + trace_period_;
  std::fputs(trace_line(t, trace_in_detail_).c_str(), stderr);
}

// Counts time in blocking calls as well: otherwise the monitor would seldom see a task run that does little but such
// calls.
void core::watch_slice(watched& seen, processor& p, instant t) {
  const auto slice = p.slice.current();
  if (seen.slice.over(slice, t)) p.slice.end(slice);
}

bool core::watch(watched& seen, processor& p, instant t) {
  watch_slice(seen, p, t);
  if (!calling.retake(p, seen.call, t)) return false;
  // [monitor.handed_off] relaxed, unmodelled: a statistic.
  handed_off_.fetch_add(1, std::memory_order::relaxed);
  // The time `t` lies before the moment at which the processor was taken, so also before all that its next owner
  // records.
  if (tracer_ != nullptr) tracer_->taken_from_call(p.index, t);
  return true;
}

// To be called when no machine can start the monitor again.
void core::stop_monitor() {
  if (!monitor_.joinable()) return;
  monitoring.stop();
  monitor_.join();
}

}  // namespace runq::detail
