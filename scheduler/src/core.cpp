// SPDX-License-Identifier: MIT
// What surrounds the machines' loop: tasks' records, beginning and end of a run, resizing, statistics.
#include "runq/detail/core.hpp"

#include <algorithm>
#include <utility>

#include "runq/detail/fatal.hpp"
#include "runq/scheduler.hpp"

namespace runq::detail {
namespace {

constexpr std::size_t most_free = 64;   // records in a processor's free list …
constexpr std::size_t trimmed_to = 32;  // … and what is left of them then, as in Go
constexpr std::uint64_t id_batch = 16;  // ids that a processor takes at once, as in Go

options with_defaults(options wanted) {
  if (wanted.procs == 0) wanted.procs = default_procs();
  if (wanted.procs > options::max_procs) throw_misuse("runq: options::procs must be at most options::max_procs, 1024");
  if (wanted.max_threads == 0) throw_misuse("runq: options::max_threads must be at least 1");
  return wanted;
}

void drop(goroutine_list& list) noexcept {
  while (list.pop_front() != nullptr) {
  }
}

}  // namespace

processor::processor(core& scheduler, std::uint32_t i)
    : home(scheduler),
      index(i),
      random(i + 1),
      queue(scheduler.global),
      own_queue(queue.make_owner()),
      queue_thief(queue.make_thief()),
      own_forks(forks.make_owner()),
      forks_thief(forks.make_thief()) {}

core::core(const options& wanted) : chosen(with_defaults(wanted)), parking(*this), processors_(max_processors) {
  read_environment();
  make_processors(chosen.procs);
  may_start_ = true;
  parking.resize(chosen.procs);
}

core::~core() {
  stop();
  if (tracer_ != nullptr) tracer_->write();
  // The records go with their slabs.
  for (unsigned i = 0; i != made_; ++i) drop(processors_[i]->goroutines.free);
  drop(free_);
}

void core::make_processors(unsigned n) {
  for (unsigned i = made_; i < n; ++i) {
    processors_[i] = std::make_unique<processor>(*this, i);
    made_.store(i + 1, std::memory_order::release);
  }
}

// ---- tasks ----------------------------------------------------------------------------------------------------------

goroutine& core::take_goroutine(processor& p) {
  goroutine_cache& cache = p.goroutines;
  if (cache.free.empty()) refill(cache.free, trimmed_to);
  if (cache.next_id == cache.last_id) {
    cache.next_id = next_id_.fetch_add(id_batch, std::memory_order::relaxed);
    cache.last_id = cache.next_id + id_batch;
  }
  goroutine& g = *cache.free.pop_front();
  g.id.store(cache.next_id++, std::memory_order::relaxed);
  return g;
}

void core::give_back(processor& p, goroutine& g) noexcept {
  g.set_status(task_status::dead);
  g.name.store(nullptr, std::memory_order::relaxed);
  g.root = nullptr;
  goroutine_list& free = p.goroutines.free;
  free.push_back(&g);
  if (free.size() < most_free) return;
  goroutine_list surplus_records = free.cut_front(most_free - trimmed_to);
  const std::lock_guard lock(goroutines_mutex_);
  free_.splice(std::move(surplus_records));
}

void core::refill(goroutine_list& to, std::size_t n) {
  const std::lock_guard lock(goroutines_mutex_);
  if (free_.empty()) {
    goroutine* const slab = slabs_.emplace_back(std::make_unique<goroutine[]>(slab_size)).get();
    for (std::size_t i = 0; i != slab_size; ++i) {
      slab[i].home = this;
      free_.push_back(&slab[i]);
    }
  }
  to.splice(free_.cut_front(n));
}

goroutine& core::enlist(goroutine& g, frame& root, closure* callable, const char* name) noexcept {
  g.resume = root.self;
  g.name.store(name, std::memory_order::relaxed);
  g.root = &root;
  g.callable = callable;
  g.set_status(task_status::runnable);
  root.how = role::root;
  root.record = &g;
  return g;
}

void core::spawn(processor& p, frame& root, closure* callable, const char* name) {
  goroutine& g = enlist(take_goroutine(p), root, callable, name);
  ++p.spawned;
  p.overflowed += p.own_queue.push_next(&g);
  parking.submitted();
}

void core::spawn_outside(std::uint64_t id, frame& root, closure* callable, const char* name) {
  goroutine_list one;
  refill(one, 1);
  goroutine& g = *one.pop_front();
  g.id.store(id, std::memory_order::relaxed);
  enlist(g, root, callable, name);
  outside_spawned_.fetch_add(1, std::memory_order::release);
  global.put(&g);
  parking.submitted();
}

void core::end_task(processor& p, frame& root) noexcept {
  goroutine& g = *root.record;
  const bool was_main = &root == main_.load(std::memory_order::relaxed);
  root.self.destroy();
  if (g.callable != nullptr) g.callable->destroy(std::exchange(g.callable, nullptr));
  goroutine* const strand = std::exchange(p.current, nullptr);
  if (strand != &g) give_back(p, *strand);
  give_back(p, g);
  ++p.finished;
  if (was_main) {
    ending_.store(true, std::memory_order::relaxed);
    arrived(awaited::main);
  }
}

bool may_end_strand(processor& p) noexcept {
  if (p.current->root == nullptr) return true;
  p.current->waits(wait_reason::join);
  return false;
}

void end_strand(processor& p, bool has_own_record) noexcept {
  goroutine* const strand = std::exchange(p.current, nullptr);
  if (has_own_record) p.home.give_back(p, *strand);
}

void keep_strand(processor& p, bool has_own_record) noexcept {
  if (!has_own_record) p.current->set_status(task_status::running);
}

std::coroutine_handle<> end_root(processor& p, frame& root) noexcept {
  p.home.end_task(p, root);
  return std::noop_coroutine();
}

void fork_apart(processor& p, frame& parent, frame& child) {
  child.how = role::forked_apart;
  if (p.home.chosen.forks == fork_policy::child) {
    if (!p.own_forks.push(&child)) throw std::bad_alloc();
    parent.children.detach();
  } else {
    goroutine& g = p.home.take_goroutine(p);
    g.resume = child.self;
    g.set_status(task_status::runnable);
    parent.children.detach();
    p.overflowed += p.own_queue.push_next(&g);
  }
  p.home.parking.submitted();
}

void keep_child_error(frame& parent, std::exception_ptr error) noexcept {
  // Children end at the same time on several threads; exceptions are rare enough for one lock.
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  if (!parent.child_error) parent.child_error = std::move(error);
}

// ---- beginning and end ----------------------------------------------------------------------------------------------

void core::run_main(frame& root, closure* callable) {
  // As a handle does: no deadlock while the main task is awaited, or counted, but in no queue yet.
  attach();
  try {
    begin_to_wait(awaited::main);
  } catch (...) {
    root.self.destroy();
    detach();
    throw;
  }
  main_.store(&root, std::memory_order::relaxed);
  spawn_outside(1, root, callable, "main");
  detach();
  await(awaited::main);
  const unsigned procs = parking.limit();
  stop();
  main_.store(nullptr, std::memory_order::relaxed);
  // Ready for the next run.
  ending_.store(false, std::memory_order::relaxed);
  parking.restart(made_);
  {
    const std::lock_guard lock(machines_mutex_);
    may_start_ = true;
  }
  parking.resize(procs);
}

void core::wait_for_all() {
  begin_to_wait(awaited::all);
  parking.with_lock([this] {
    if (parking.held() == 0) all_idle();
  });
  await(awaited::all);
}

void core::begin_to_wait(awaited what) {
  const std::lock_guard lock(waiting_mutex_);
  if (awaited_ != awaited::nothing) throw_misuse("runq: run() or wait() was called while another is in progress");
  awaited_ = what;
}

// Returns when arrived(what) was called.
void core::await(awaited what) {
  std::unique_lock lock(waiting_mutex_);
  waiting_.wait(lock, [this, what] { return awaited_ != what; });
}

void core::arrived(awaited what) {
  const std::lock_guard lock(waiting_mutex_);
  if (awaited_ != what) return;
  awaited_ = awaited::nothing;
  waiting_.notify_all();
}

// With the lock of `parking` held: no machine holds a processor, so no task runs, and every local queue is empty.
void core::all_idle() {
  awaited what = awaited::nothing;
  {
    const std::lock_guard lock(waiting_mutex_);
    what = awaited_;
  }
  if (what == awaited::nothing) return;
  if (live_tasks() == 0) {
    arrived(awaited::all);
    return;
  }
  if (handles_ != 0 || parking.without_processor() != 0 || earliest_timer() != never) return;
  // After the timers, because one that fires makes its task runnable before it leaves its heap for good.
  if (global.has_work() || somebody_outside_may_wake()) return;
  deadlock();
}

void core::stop() {
  ending_.store(true, std::memory_order::relaxed);
  parking.stop();
  std::vector<std::unique_ptr<machine>> leaving;
  {
    const std::lock_guard lock(machines_mutex_);
    may_start_ = false;
    leaving.swap(machines_);
  }
  if (monitor_.joinable()) {
    monitor_stops_.store(true, std::memory_order::relaxed);
    monitor_parker_.unpark();
    monitor_.join();
  }
  for (const auto& m : leaving) {
    m->thread.join();
    const std::lock_guard lock(machines_mutex_);
    parks_ += m->parks.get();
    useless_wakes_ += m->useless_wakes.get();
  }
  destroy_tasks();
}

namespace {
thread_local bool destroys_tasks = false;
}  // namespace

void fork_not_joined() noexcept {
  if (!destroys_tasks) fatal_not_joined();
}

// No machine runs any more. Destructors in the frames may wake, or even start, tasks that are about to go.
void core::destroy_tasks() {
  destroys_tasks = true;
  forget_queues();
  bool again = true;
  while (again) {
    again = false;
    for_each_goroutine([&again](goroutine& g) {
      if (frame* const root = std::exchange(g.root, nullptr)) {
        again = true;
        root->self.destroy();
      }
      if (g.callable != nullptr) g.callable->destroy(std::exchange(g.callable, nullptr));
    });
  }
  forget_queues();
  goroutine_list killed;
  for_each_goroutine([&killed](goroutine& g) {
    if (g.status.load(std::memory_order::relaxed) == task_status::dead) return;
    g.set_status(task_status::dead);
    g.name.store(nullptr, std::memory_order::relaxed);
    g.outside_may_wake = false;
    killed.push_back(&g);
  });
  destroys_tasks = false;
  killed_.fetch_add(live_tasks(), std::memory_order::relaxed);
  const std::lock_guard lock(goroutines_mutex_);
  free_.splice(std::move(killed));
}

// Drops all links between records; the records stay.
void core::forget_queues() {
  while (global.take() != nullptr) {
  }
  // evacuate() has emptied the spare processors' queues.
  for (const auto& spare : spares_) drop(spare->goroutines.free);
  spares_.clear();
  for (unsigned i = 0; i != made_; ++i) {
    processor& p = *processors_[i];
    p.own_queue.rebind();
    p.own_forks.rebind();
    goroutine_list all = p.own_queue.drain();
    drop(all);
    while (p.own_forks.pop()) {
    }
    p.own_queue.rebind();
    p.own_forks.rebind();
    p.current = nullptr;
    p.timers.clear();
  }
}

void core::attach() noexcept { handles_.fetch_add(1); }

void core::detach() noexcept {
  if (handles_.fetch_sub(1) != 1) return;
  parking.with_lock([this] {
    if (parking.held() == 0) all_idle();
  });
}

unsigned core::resize(unsigned n) {
  if (n == 0 || n > options::max_procs) throw_misuse("runq: set_procs() takes 1 … options::max_procs, 1024");
  {
    const std::lock_guard lock(machines_mutex_);
    make_processors(n);
  }
  return parking.resize(n);
}

// ---- questions ------------------------------------------------------------------------------------------------------

std::uint64_t core::live_tasks() const noexcept {
  std::uint64_t live = outside_spawned_.load(std::memory_order::relaxed) - killed_.load(std::memory_order::relaxed);
  for (unsigned i = 0; i != made_.load(std::memory_order::acquire); ++i) {
    live += processors_[i]->spawned.get() - processors_[i]->finished.get();
  }
  return live;
}

bool core::somebody_outside_may_wake() const {
  bool may = false;
  for_each_goroutine([&may](const goroutine& g) {
    if (g.is(task_status::waiting)) {
      may |= g.outside_may_wake || g.reason.load(std::memory_order::relaxed) == wait_reason::io_wait;
    } else {
      // Runnable: somebody is about to queue it.
      may |= !g.is(task_status::dead);
    }
  });
  return may;
}

statistics core::count() const {
  statistics s;
  s.spawned = outside_spawned_.load(std::memory_order::relaxed);
  for (unsigned i = 0; i != made_.load(std::memory_order::acquire); ++i) {
    const processor& p = *processors_[i];
    s.spawned += p.spawned.get();
    s.finished += p.finished.get();
    s.steals += p.steals.get();
    s.stolen += p.stolen.get();
    s.lost_races += p.lost.get();
    s.overflowed += p.overflowed.get();
    s.runnext_hits += p.runnext_hits.get();
    s.runnext_steals += p.runnext_steals.get();
    s.yields += p.yields.get();
    if (i < parking.limit()) {
      s.local_queues.push_back(p.queue_thief.size_approx());
      s.ticks.push_back(p.ticks.get());
    }
  }
  for (unsigned i = 0; i != made_.load(std::memory_order::acquire); ++i) {
    s.blocking_calls += processors_[i]->calls.get();
    s.calls_kept += processors_[i]->calls_kept.get();
    s.calls_moved += processors_[i]->calls_moved.get();
    s.preempted += processors_[i]->preempted.get();
    s.timers += processors_[i]->timers.size();
  }
  s.calls_queued = calls_queued_.load(std::memory_order::relaxed);
  s.handed_off = handed_off_.load(std::memory_order::relaxed);
  {
    const std::lock_guard lock(machines_mutex_);
    s.parks = parks_;
    s.useless_wakes = useless_wakes_;
    for (const auto& m : machines_) {
      s.parks += m->parks.get();
      s.useless_wakes += m->useless_wakes.get();
    }
    s.machines = machines_.size();
  }
  s.machines_started = machines_started_.load(std::memory_order::relaxed);
  s.procs = parking.limit();
  s.idle_procs = parking.idle_processors();
  s.spinning = parking.spinning();
  s.global_queue = global.size_approx();
  return s;
}

}  // namespace runq::detail
