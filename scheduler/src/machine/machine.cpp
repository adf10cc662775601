// SPDX-License-Identifier: MIT
// The machines' loop: what a thread does to find a task, run it, and sleep when there is none. Together with park.hpp
// this is the scheduler; docs/scheduler.md has the same in words, with a picture.
#include <new>
#include <system_error>
#include <utility>

#include "runq/detail/core.hpp"
#include "runq/detail/fatal.hpp"
#include "runq/detail/stands_still.hpp"
#include "runq/task.hpp"

namespace runq::detail {
namespace {

// Go's number, a prime: every 61st task comes from the global queue, so that local ones cannot starve it.
constexpr std::uint32_t global_period = 61;

// So often a processor with tasks to run looks at its timers.
constexpr std::uint64_t clock_period = 8;

// Go's number of rounds over all processors; only in the last one is runnext stolen.
constexpr int steal_rounds = 4;

// A spinning machine looks again so often before it gives up, with so many pauses in between. Some 50 µs in all:
// shorter than what it costs to sleep and to be woken, for the one that must wake it as well.
constexpr int looks = 16;
constexpr int look_pauses = 64;

thread_local machine* machine_here = nullptr;

void pause(int times) noexcept {
  for (int i = 0; i != times; ++i) policy::pause();
}

// The task begins to run: that is how long it has waited.
void count_wait(processor& p, goroutine& g) noexcept {
  ++p.ready_to_run[latency_histogram::bucket_of(g.end_of_measurement())];
}

}  // namespace

#if defined(__clang__) && __clang_major__ < 17
namespace {
thread_local processor* held_here = nullptr;
}  // namespace
[[gnu::noinline]] processor* this_processor() noexcept { return held_here; }
#else
constinit thread_local processor* held_here = nullptr;
#endif

[[gnu::noinline]] machine* this_machine() noexcept { return machine_here; }

void core::loop(machine& m) {
  while (const work w = find_work(m)) {
    parking.found(m);
    if (ends()) {
      // It was asked before, but the task may have become runnable by what main's destructors do.
      put_back(*m.held, w);
      continue;
    }
    m.state.store(machine_state::running, std::memory_order::relaxed);
    run(m, w);
  }
  leave_processor();
  machine_here = nullptr;
}

work core::find_work(machine& m) {
  std::uint64_t parks = m.parker.parks.get();  // those that came to something, or have been counted as useless
  for (;;) {
    processor* next = nullptr;
    if (m.held == nullptr) {
      next = parking.rest_without(m);
    } else if (parking.somebody_returns()) {
      parking.found(m);
      leave_processor();
      next = parking.pass_on(m, *m.held);
    } else if (surplus(*m.held)) {
      parking.found(m);
      evacuate(*m.held);
      leave_processor();
      next = parking.retire(m, *m.held);
    } else {
      processor& p = *m.held;
      if (const work w = take_local_or_global(p)) return w;
      if (poll_now(p)) {
        if (const work w = take_local_or_global(p)) return w;
      }
      if (parking.may_spin(m)) {
        m.state.store(machine_state::spinning, std::memory_order::relaxed);
        if (const work w = spin(p)) return w;
      }
      if (parks != m.parker.parks.get()) ++m.useless_wakes;
      parks = m.parker.parks.get();
      m.state.store(machine_state::idle, std::memory_order::relaxed);
      leave_processor();
      next = parking.rest(m, p);
    }
    if (next == nullptr) return {};
    hold(m, *next);
  }
}

work core::take_local_or_global(processor& p) {
  ++p.dispatches;
  // Reading the clock costs as much as running a small task, so it is not done every time.
  if (p.dispatches.get() % clock_period == 0) {
    p.free_records.store(p.goroutines.free.size(), std::memory_order::relaxed);
    if (p.timers.earliest() != never) (void)p.timers.fire_due(now());
  }
  if (p.dispatches.get() % global_period == 0 && global.has_work()) {
    if (goroutine* const g = global.take()) return work(g);
  }
  const bool slice_is_over = p.slice.over();
  if (p.chain.due(slice_is_over) && chain_is_full(p, slice_is_over)) {
    if (const work w = take_oldest(p)) return w;
  }
  // A strand that has just ended at a join: what it forked last is at the deque's bottom.
  if (p.own_forks.size_approx() != 0) {
    if (const auto f = p.own_forks.pop()) {
      p.chain.grow();
      return work(*f, true);
    }
  }
  if (const auto next = p.own_queue.pop()) {
    if (next.from_runnext) {
      p.chain.grow();
      ++p.runnext_hits;
    } else {
      p.chain.end();
    }
    return work(next.task, next.from_runnext);
  }
  return take_share(p);
}

[[gnu::noinline]] bool core::chain_is_full(processor& p, bool slice_is_over) noexcept {
  if (p.own_queue.size_approx() != 0 || global.has_work()) return p.chain.full(slice_is_over, now);
  p.chain.forget();
  return false;
}

work core::take_share(processor& p) {
  const unsigned n = parking.limit();
  if (n == 0 || !global.has_work()) return {};  // 0: the scheduler stops
  goroutine* const first = p.own_queue.take_from(global, n);
  // On their way the others were in no queue, and a machine that went to sleep at that moment has not seen them.
  if (p.own_queue.size_approx() != 0) parking.submitted();
  return work(first);
}

work core::take_oldest(processor& p) {
  if (goroutine* const g = p.own_queue.pop_oldest()) return work(g);
  if (global.has_work()) return work(global.take());
  return {};
}

work core::spin(processor& p) {
  if (parking.limit() < 2) return {};
  const instant begin = tracer_ != nullptr ? now() : 0;
  const work w = look_around(p);
  if (tracer_ != nullptr) tracer_->looked(p.index, begin, now());
  return w;
}

work core::look_around(processor& p) {
  for (int i = 0; i != looks && !surplus(p); ++i) {
    if (const work w = steal(p)) return w;
    pause(look_pauses);
    if (const work w = take_share(p)) return w;
  }
  return {};
}

work core::steal(processor& p) {
  const std::uint32_t n = parking.limit();
  if (n == 0) return {};  // the scheduler stops
  if (p.order.size() != n) p.order.reset(n);
  for (int round = 1; round <= steal_rounds; ++round) {
    for (auto walk = p.order.start(p.random()); !walk.done(); walk.advance()) {
      if (walk.position() == p.index) continue;
      if (const work w = steal_from(p, processor_at(walk.position()), round == steal_rounds)) return w;
    }
  }
  // Timers of busy processors, and of those that are gone.
  if (earliest_timer() <= now() && fire_timers(now()) != 0) return take_local_or_global(p);
  return {};
}

work core::steal_from(processor& p, processor& victim, bool last_round) {
  const instant begin = tracer_ != nullptr ? now() : 0;
  const auto took = [&](std::size_t n) {
    ++p.steals;
    p.stolen += n;
    if (tracer_ != nullptr) tracer_->stole(victim.index, p.index, n, begin, now());
  };
  const steal_runnext next = last_round && stands_still<policy>(victim.queue_thief, victim.dispatches)
                                 ? steal_runnext::yes
                                 : steal_runnext::no;
  const auto tasks = p.own_queue.steal_from(victim.queue_thief, next, processor_queue::capacity(), 0);
  if (tasks) {
    took(tasks.count);
    if (tasks.from_runnext) ++p.runnext_steals;
    return work(tasks.value);
  }
  bool lost = tasks.status == steal_status::lost;
  // Asked first, because an attempt costs a fence.
  if (victim.forks_thief.has_work()) {
    const auto fork = victim.forks_thief.steal();
    if (fork) {
      took(1);
      return work(fork.value);
    }
    lost |= fork.status == steal_status::lost;
  }
  if (lost) ++p.lost;
  return {};
}

void core::run(machine& m, work w) {
  processor& p = *m.held;
  if (!w.inherits()) {
    ++p.ticks;
    p.slice.begin();
  }
  p.transfers = 0;
  std::coroutine_handle<> next;
  if (w.is_fork()) {
    // A continuation taken by anybody but the child that left it there: that child is on its own from now on.
    if (chosen.forks == fork_policy::continuation) w.fork().children.detach();
    p.current = &take_goroutine(p);
    next = w.fork().self;
  } else {
    p.current = &w.task();
    if (w.task().runnable_since != 0) count_wait(p, w.task());
    next = w.task().resume;
  }
  p.current->set_status(task_status::running);
  m.task.store(p.current, std::memory_order::relaxed);
  if (tracer_ != nullptr) begin_slice(m, *p.current);
  while (next) {
    next.resume();
    // A blocking call may have cost the machine its processor, or given it another one.
    processor* const held = m.held;
    if (held == nullptr) return;
    held->transfers = 0;
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

// Moves everything that waits on `p` to the head of the global queue, in the order in which it would have run. At the
// end of a run nothing of it will run: forks stay where empty_processors() looks for them.
void core::evacuate(processor& p) {
  goroutine_list all = p.own_queue.drain();
  while (!ending_.load(std::memory_order::relaxed)) {
    const auto f = p.own_forks.pop();
    if (!f) break;
    all.push_back(&strand_of(p, **f));
  }
  global.splice_front(std::move(all));
}

// To the head of the global queue.
void core::put_back(processor& p, work w) {
  goroutine_list one;
  one.push_back(w.is_fork() ? &strand_of(p, w.fork()) : &w.task());
  global.splice_front(std::move(one));
}

// What a fork deque held, as a runnable goroutine. On the thread of `p`.
goroutine& core::strand_of(processor& p, frame& fork) {
  goroutine& g = take_goroutine(p);
  if (chosen.forks == fork_policy::continuation) fork.children.detach();
  g.resume = fork.self;
  g.set_status(task_status::runnable);
  return g;
}

void core::leave_processor() noexcept {
  if (held_here != nullptr) held_here->held_by.store(-1, std::memory_order::relaxed);
  held_here = nullptr;
}

void core::become(machine* m, processor* p) noexcept {
  machine_here = m;
  held_here = p;
}

void core::hold(machine& m, processor& p) {
  m.held = &p;
  p.held_by.store(static_cast<std::int32_t>(m.number), std::memory_order::relaxed);
  become(&m, &p);
  wake_monitor();
  p.chain.forget();
  // The handles know their thread in debug builds, and this is another.
  p.own_queue.rebind();
  p.own_forks.rebind();
}

bool core::work_anywhere() const noexcept {
  if (earliest_timer() <= now()) return true;
  const unsigned n = parking.limit();
  for (unsigned i = 0; i != n; ++i) {
    if (processors_[i]->queue_thief.look() || processors_[i]->forks_thief.has_work()) return true;
  }
  // Last, because a task that yields goes from a processor to the global queue.
  return global.look();
}

void core::start_machine(processor& p) {
  const std::lock_guard lock(machines_mutex_);
  if (!may_start_) {
    parking.not_started();
    return;
  }
  if (machines_.size() == chosen.max_threads) fatal_threads(chosen.max_threads);
  try {
    if (!monitor_.joinable()) {
      monitoring.restart();
      monitor_ = std::thread([this] { monitor(); });
    }
    machine& m = *machines_.emplace_back(std::make_unique<machine>(*this));
    m.number = static_cast<std::uint32_t>(machines_.size() - 1);
    machines_started_.fetch_add(1, std::memory_order::relaxed);
    m.thread = std::thread([this, &m, &p] {
      sleep_precisely();
      m.spinning.set(true);
      hold(m, p);
      try {
        loop(m);
      } catch (const std::bad_alloc&) {
        fatal_no_memory();  // for a strand's record
      }
    });
  } catch (const std::system_error& error) {
    fatal_no_thread(error);
  } catch (const std::bad_alloc&) {
    // Nobody would be on the way to look for the task that the machine is for.
    fatal_no_memory();
  }
}

}  // namespace runq::detail
