// SPDX-License-Identifier: MIT
// The machines: what a thread does to run a task, and the operations that machine_loop.hpp, which finds the task,
// needs. Together with machine_loop.hpp and park.hpp this is the scheduler; docs/scheduler.md explains it in words,
// with a picture.
#include <new>
#include <system_error>
#include <utility>

#include <pthread.h>
#include <sched.h>

#include "runq/detail/core.hpp"
#include "runq/detail/fatal.hpp"
#include "runq/task.hpp"

namespace runq::detail {
namespace {

thread_local machine* machine_here = nullptr;

// Counts how long the task has waited, now that it begins to run.
void count_wait(processor& p, strand& s) noexcept {
  ++p.ready_to_run[latency_histogram::bucket_of(s.end_of_measurement())];
}

}  // namespace

[[gnu::noinline]] machine* this_machine() noexcept { return machine_here; }

void core::loop(machine& m) {
  while (const work w = looping.next(m)) {
    // [machine.runs] relaxed, unmodelled: for traces.
    m.state.store(machine_state::running, std::memory_order::relaxed);
    run(m, w);
  }
  leave_processor();
  machine_here = nullptr;
  may_have_left(m);
}

// The calling thread, that of machine `m`, takes no more tasks. When the scheduler stops, stop() joins the thread.
// Otherwise too many machines were idle: then the next thread that ends in this way joins this one, and stop() joins
// the last one.
void core::may_have_left(machine& m) {
  std::thread before;
  {
    const std::lock_guard lock(machines_mutex_);
    if (!may_start_) return;
    without_thread_.push_back(&m);
    before = std::exchange(last_ended_, std::move(m.thread));
  }
  if (before.joinable()) before.join();
}

namespace {

// Has a new thread begin on another CPU than the calling thread's, if it may run on others. Where no CPU is idle at
// this moment, the kernel puts it behind the calling thread, which goes on to run tasks, and would leave it there until
// a tick of its clock, some ms later. After this the new thread may run where the calling thread may.
void begin_elsewhere(std::thread& fresh) noexcept {
  cpu_set_t allowed;
  const int here = sched_getcpu();
  // unreached: these calls fail only where the kernel has none of them.
  if (here < 0 || pthread_getaffinity_np(pthread_self(), sizeof allowed, &allowed) != 0) return;
  cpu_set_t others = allowed;
  CPU_CLR(static_cast<std::size_t>(here), &others);
  // Fails where there are no others.
  // by chance: whether this thread may run on one CPU only.
  if (pthread_setaffinity_np(fresh.native_handle(), sizeof others, &others) != 0) return;
  (void)pthread_setaffinity_np(fresh.native_handle(), sizeof allowed, &allowed);
}

}  // namespace

// The caller holds machines_mutex_. A machine whose thread has ended is used again, and not destroyed: a thread that
// has woken the machine may still be about to call futex(2) for it.
machine& core::machine_to_start() {
  if (!without_thread_.empty()) {
    machine& m = *without_thread_.back();
    without_thread_.pop_back();
    m.held = nullptr;
    return m;
  }
  machine& m = *machines_.emplace_back(std::make_unique<machine>(*this));
  m.number = static_cast<std::uint32_t>(machines_.size() - 1);
  without_thread_.reserve(machines_.size());  // so that no thread needs memory to leave
  return m;
}

void core::rests(machine& m) noexcept {
  const std::uint64_t parks = m.parker.parks.get();
  if (parks != m.parks_counted) ++m.useless_wakes;
  m.parks_counted = parks;
  // [machine.rests] relaxed, unmodelled: for traces.
  m.state.store(machine_state::idle, std::memory_order::relaxed);
}

// For a processor that has tasks to run. Called only now and then, because reading the clock costs as much as running a
// small task.
[[gnu::noinline]] void core::look_at_clock(processor& p) {
  // [machine.free_strands] relaxed, unmodelled: a statistic.
  p.free_strands.store(p.strands.free.size(), std::memory_order::relaxed);
  if (p.timers.earliest() != never) (void)p.timers.fire_due(now());
}

void core::stole(processor& p, const processor& victim, std::size_t n, bool from_runnext, instant begin) {
  ++p.steals;
  p.stolen += n;
  if (from_runnext) ++p.runnext_steals;
  if (tracer_ != nullptr) tracer_->stole(victim.index, p.index, n, begin, now());
}

void core::run(machine& m, work w) {
  processor& p = *m.held;
  if (!w.inherits()) {
    ++p.ticks;
    p.slice.begin();
  }
  p.transfers_left = processor_front::most_transfers;
  std::coroutine_handle<> next;
  if (w.is_fork()) {
    // A thread other than the one of the child that left it there has taken this continuation: from now on the child
    // runs by itself.
    if (chosen.forks == fork_policy::continuation) w.fork().children.detach();
    p.current = &take_strand(p);
    next = w.fork().self();
  } else {
    p.current = &w.task();
    if (w.task().runnable_since != 0) count_wait(p, w.task());
    next = w.task().resume;
  }
  p.current->set_status(task_status::running);
  // [machine.last_strand] release, unmodelled: for traces; pairs with [trace.strand_of]; weaker: a trace reads a strand
  // that is not made.
  m.last_strand.store(p.current, std::memory_order::release);
  if (tracer_ != nullptr) begin_slice(m, *p.current);
  while (next) {
    next.resume();
    // A blocking call may have cost the machine its processor, or given it another one.
    processor* const held = m.held;
    if (held == nullptr) return;
    held->transfers_left = processor_front::most_transfers;
    next = std::exchange(held->next, nullptr);
  }
  m.end_stretch();
  if (tracer_ != nullptr) end_slice(m, *m.held, now());
}

bool core::do_after_stretch(after_stretch& what) noexcept {
  if (this_processor() == nullptr || &this_processor()->home != this || ends()) return false;
  machine& m = *this_machine();
  what.next = std::exchange(m.put_off, &what);
  return true;
}

// Returns a strand for a continuation from a fork deque. On the thread of `p`.
strand& core::strand_of(processor& p, frame& fork) {
  strand& s = take_strand(p);
  if (chosen.forks == fork_policy::continuation) fork.children.detach();
  s.resume = fork.self();
  s.set_status(task_status::runnable);
  return s;
}

void core::leave_processor() noexcept {
  // [machine.leaves] relaxed, unmodelled: for traces; processors change hands by park.hpp and handoff.hpp.
  if (processor* const p = this_processor()) p->held_by.store(-1, std::memory_order::relaxed);
  held_here = nullptr;
  choose_frames_here();
}

void core::become(machine* m, processor* p) noexcept {
  machine_here = m;
  held_here = p;
  choose_frames_here();
}

void core::hold(machine& m, processor& p) noexcept {
  m.held = &p;
  // [machine.holds] relaxed, unmodelled: for traces; processors change hands by park.hpp and handoff.hpp.
  p.held_by.store(static_cast<std::int32_t>(m.number), std::memory_order::relaxed);
  become(&m, &p);
  p.chain.forget();
}

void core::start_machine(processor& p) {
  const std::lock_guard lock(machines_mutex_);
  if (!may_start_) {
    parking.not_started();
    return;
  }
  if (machines_.size() - without_thread_.size() == chosen.max_threads) fatal_threads(chosen.max_threads);
  try {
    if (!monitor_.joinable()) {
      monitoring.restart();
      monitor_ = std::thread([this] { monitor(); });
    }
    machine& m = machine_to_start();
    // [machine.started] relaxed, unmodelled: a statistic.
    machines_started_.fetch_add(1, std::memory_order::relaxed);
    // A short_lock, because the thread that wakes a sleeper draws it to its own CPU.
    const std::lock_guard placing(placing_);
    m.thread = std::thread([this, &m, &p] {
      // A task may change on which CPUs this thread runs, so begin_elsewhere() is over before a task runs here.
      { const std::lock_guard until_placed(placing_); }
      sleep_precisely();
      m.spinning.set(true);
      looping.hold(m, p);
      try {
        loop(m);
        // unreached: no test lets memory end in a machine's own loop.
      } catch (const std::bad_alloc&) {
        fatal_no_memory();  // for a strand
      }
    });
    // Other threads than machines start a machine and then sleep.
    if (this_processor() != nullptr) begin_elsewhere(m.thread);
  } catch (const std::system_error& error) {
    fatal_no_thread(error);
  } catch (const std::bad_alloc&) {
    // Without this machine, no machine would look for the task that it was started for.
    fatal_no_memory();
  }
}

}  // namespace runq::detail
