// SPDX-License-Identifier: MIT
// The statistics of a scheduler, collected from its processors and machines.
#include <cstddef>
#include <mutex>

#include "runq/detail/core.hpp"
#include "runq/options.hpp"

namespace runq::detail {

statistics core::count() const {
  statistics s;
  s.spawned = tasks_.started_outside();
  for_each_processor([this, &s](const processor& p) {
    s.spawned += p.tasks.started();
    s.finished += p.tasks.ended();
    s.steals += p.steals.get();
    s.stolen += p.stolen.get();
    s.lost_races += p.lost.get();
    s.overflowed += p.overflowed.get();
    s.runnext_hits += p.runnext_hits.get();
    s.runnext_steals += p.runnext_steals.get();
    s.yields += p.yields.get();
    s.global_queue += p.yielded_thief.size_approx();
    for (std::size_t b = 0; b != latency_histogram::buckets; ++b) s.ready_to_run.counts[b] += p.ready_to_run[b].get();
    if (p.index < parking.limit()) {
      s.local_queues.push_back(p.queue_thief.size_approx());
      s.ticks.push_back(p.ticks.get());
    }
    s.blocking_calls += p.calls.get();
    s.calls_kept += p.calls_kept.get();
    s.calls_moved += p.calls_moved.get();
    s.preempted += p.preempted.get();
    s.timers += p.timers.size();
  });
  // [core.count.calls_queued] relaxed, unmodelled: a statistic.
  s.calls_queued = calls_queued_.load(std::memory_order::relaxed);
  // [core.count.handed_off] relaxed, unmodelled: a statistic.
  s.handed_off = handed_off_.load(std::memory_order::relaxed);
  {
    const std::lock_guard lock(machines_mutex_);
    s.parks = parks_;
    s.useless_wakes = useless_wakes_;
    for (const auto& m : machines_) {
      s.parks += m->parker.parks.get();
      s.useless_wakes += m->useless_wakes.get();
    }
    s.machines = machines_.size() - without_thread_.size();
  }
  // [core.count.machines_started] relaxed, unmodelled: a statistic.
  s.machines_started = machines_started_.load(std::memory_order::relaxed);
  s.procs = parking.limit();
  s.idle_procs = parking.idle_processors();
  s.spinning = parking.spinning();
  s.global_queue += global.size_approx();
  return s;
}

}  // namespace runq::detail
