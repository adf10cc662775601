// SPDX-License-Identifier: MIT
// What surrounds the machines' loop: the records of tasks, the beginning and the end of a run, resizing, statistics.
#include "runq/detail/core.hpp"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include <sys/stat.h>
#include <unistd.h>

#include "runq/detail/call_limit.hpp"
#include "runq/detail/fatal.hpp"
#include "runq/detail/process_locks.hpp"
#include "runq/detail/strands.hpp"
#include "runq/fork.hpp"
#include "runq/scheduler.hpp"
#include "runq/scope.hpp"

// Null in a program without ThreadSanitizer.
extern "C" [[gnu::weak]] void __tsan_init();  // NOLINT(bugprone-reserved-identifier)

namespace runq::detail {
namespace {

// Records in a processor's free list before a batch of them goes to the pool; as in Go, half of them stay.
constexpr std::size_t most_free = 2 * record_pool::batch;
constexpr std::uint64_t id_batch = 16;  // ids that a processor takes at once, as in Go

options with_defaults(options wanted) {
  if (wanted.procs == 0) wanted.procs = default_procs();
  if (wanted.procs > options::max_procs) throw_misuse("runq: options::procs must be at most options::max_procs, 1024");
  if (wanted.latency_period > options::max_latency_period) {
    throw_misuse("runq: options::latency_period must be at most options::max_latency_period, 256");
  }
  if (wanted.max_blocking_calls == 0) throw_misuse("runq: options::max_blocking_calls must be at least 1");
  if (wanted.idle_thread_life.count() <= 0) throw_misuse("runq: options::idle_thread_life must be more than 0");
  // So that no instant is later than time goes.
  wanted.idle_thread_life =
      std::min<std::chrono::nanoseconds>(wanted.idle_thread_life, std::chrono::hours(24 * 36'500));
  if (wanted.dump_on != 0 && !dump_on_signal::possible(wanted.dump_on)) {
    throw_misuse("runq: options::dump_on must be 0 or a signal that can be caught");
  }
  if (wanted.max_threads == 0) throw_misuse("runq: options::max_threads must be at least 1");
  return wanted;
}

}  // namespace

processor::processor(core& scheduler, std::uint32_t i)
    : processor_front(scheduler, scheduler.chosen.forks == fork_policy::continuation),
      index(i),
      random(i + 1),
      queue(scheduler.global),
      own_queue(queue.make_owner()),
      queue_thief(queue.make_thief()),
      own_forks(forks.make_owner()),
      forks_thief(forks.make_thief()),
      own_yielded(yielded.make_owner()),
      yielded_thief(yielded.make_thief()) {}

namespace {
void delete_processor(processor& p) { delete &p; }
}  // namespace

core::core(const options& wanted, scheduler& of)
    : chosen(with_defaults(wanted)),
      owner(of),
      parking(*this),
      limit_(std::make_unique<call_limit>(chosen.max_blocking_calls)),
      process_(getpid()) {
  read_environment();
  make_processors(chosen.procs);
  // Makes one spare processor now, for destroy_tasks(), so that the end of a run needs no memory.
  (void)spare_processor();
  spares_.reuse();
  may_start_ = true;
  try {
    parking.resize(chosen.procs);
    if (chosen.dump_on != 0) dumps_.emplace(*this, chosen.dump_on);
  } catch (...) {
    spares_.clear(delete_processor);  // the destructor does not run
    throw;
  }
}

void core::finish() {
  if (machine* const m = this_machine(); m != nullptr && &m->home == this) fatal_destroyed_by_task();
  dumps_.reset();
  stop();
  {
    const std::lock_guard lock(outside_mutex_);
    finished_ = true;
  }
  await_visitors();
  // Tasks that threads outside have started since the last run.
  while (global.has_work()) destroy_tasks();
  if (tracer_ != nullptr) tracer_->write();
  tracer_.reset();
  // Timers that still exist must not use these heaps any more.
  for_each_processor([](processor& p) { p.timers.clear(); });
}

core::~core() {
  for_each_processor([](processor& p) { forget(p.goroutines.free); });
  spares_.clear(delete_processor);
}

bool core::of_another_process() const noexcept { return getpid() != process_; }

void core::leave_behind(std::shared_ptr<core> left) noexcept {
  // Keeps the core reachable, so that a leak checker does not report it: its frames belong to the parent process.
  static std::atomic<core*> last_left{nullptr};
  core& at = *left;
  at.left_ = std::move(left);
  // [core.left_behind] relaxed, unmodelled: no thread reads through the pointer.
  at.left_before_ = last_left.exchange(&at, std::memory_order::relaxed);
}

void core::make_processors(unsigned n) {
  processors_.grow(n, [this](unsigned i) { return made_.emplace_back(std::make_unique<processor>(*this, i)).get(); });
}

// ---- tasks ----------------------------------------------------------------------------------------------------------

goroutine& core::take_goroutine(processor& p) {
  goroutine_cache& cache = p.goroutines;
  if (cache.free.empty()) cache.free = records_.take_batch();
  if (cache.next_id == cache.last_id) {
    // [core.ids] relaxed, unmodelled: each caller gets other numbers, and they order nothing.
    cache.next_id = next_id_.fetch_add(id_batch, std::memory_order::relaxed);
    cache.last_id = cache.next_id + id_batch;
  }
  goroutine& g = *cache.free.pop_front();
  // [core.take.id] relaxed, unmodelled: for dumps; the queue hands it on with the task.
  g.id.store(cache.next_id++, std::memory_order::relaxed);
  return g;
}

void core::free_record(processor& p, goroutine& g) noexcept {
  g.set_status(task_status::dead);
  // [core.free_record.name] relaxed, unmodelled: for dumps.
  g.name.store(nullptr, std::memory_order::relaxed);
  g.root = nullptr;
  goroutine_list& free = p.goroutines.free;
  free.push_back(&g);
  if (free.size() < most_free) return;
  records_.put_batch(free.cut_front(record_pool::batch));
}

namespace {

// The clock in units of 64 ns, modulo 275 s; never 0.
std::uint32_t coarse_now() noexcept { return std::max(static_cast<std::uint32_t>(now() / 64), std::uint32_t{1}); }

}  // namespace

void goroutine::begin_to_measure() noexcept {
  const unsigned period = home->chosen.latency_period;
  until_measured = static_cast<std::uint8_t>(period - 1);
  if (period != 0) runnable_since = coarse_now();
}

std::chrono::nanoseconds goroutine::end_of_measurement() noexcept {
  const std::uint32_t passed = coarse_now() - std::exchange(runnable_since, 0);
  return std::chrono::nanoseconds((std::int64_t{passed} + 1) * 64);
}

void preempt(processor_front& front, std::coroutine_handle<> self) {
  processor& p = static_cast<processor&>(front);
  p.slice.begin();
  ++p.preempted;
  goroutine& g = *p.current;
  g.resume = self;
  let_others_run(p, g);
}

std::coroutine_handle<> transfer_by_loop(processor_front& p, std::coroutine_handle<> h) {
  if (!preempt_if_slice_is_over(p, h)) static_cast<processor&>(p).next = h;
  return std::noop_coroutine();
}

void new_task::destroy() noexcept {
  root_->self().destroy();
  if (callable_ != nullptr) callable_->destroy(callable_);
}

goroutine& core::enlist(goroutine& g, new_task& made, const char* name) noexcept {
  frame& root = *std::exchange(made.root_, nullptr);
  g.resume = root.self();
  // [core.enlist.name] relaxed, unmodelled: for dumps; the queue hands it on with the task.
  g.name.store(name, std::memory_order::relaxed);
  g.root = &root;
  root.callable = made.callable_;
  g.set_status(task_status::runnable);
  if (root.how == role::fresh) root.how = role::root;
  root.record = &g;
  return g;
}

void core::spawn(processor& p, new_task&& made, const char* name) {
  // The caller is on a spare processor, so its run has ended: the new task is destroyed without having begun, like all
  // tasks that are started after the end.
  if (p.index == max_processors) return;
  goroutine& g = enlist(take_goroutine(p), made, name);
  p.tasks.start();
  p.overflowed += parking.submit_next(p.own_queue, &g);
}

void core::spawn_outside(new_task made, const char* name) {
  // [core.outside.id] relaxed, unmodelled: each caller gets another number, and the numbers order nothing.
  const std::uint64_t id = next_id_.fetch_add(1, std::memory_order::relaxed);
  spawn_outside(id, std::move(made), name);
}

void core::spawn_outside(std::uint64_t id, new_task made, const char* name) {
  const visit here(*this);
  goroutine& g = records_.take();
  {
    const std::lock_guard lock(outside_mutex_);
    if (finished_) {
      goroutine_list unused;
      unused.push_back(&g);
      records_.put(std::move(unused));
      return;  // destroys the task
    }
    // [core.outside.set_id] relaxed, unmodelled: under the mutex that [core.destroy.id] holds, too.
    g.id.store(id, std::memory_order::relaxed);
    enlist(g, made, name);
    tasks_.start_outside();
  }
  global.put(&g);
  parking.submitted_in_order();
}

void spawn(processor_front& front, new_task made, const char* name) {
  processor& p = static_cast<processor&>(front);
  p.home.spawn(p, std::move(made), name);
}

void spawn_outside(core& home, new_task made, const char* name) { home.spawn_outside(std::move(made), name); }

void ready(goroutine& g) {
  g.wakes();
  core& home = *g.home;
  processor* const p = this_processor();
  if (p != nullptr && &p->home == &home) {
    if (const std::size_t overflowed = home.parking.submit_next(p->own_queue, &g)) p->overflowed += overflowed;
    return;
  }
  const core::visit here(home);
  home.global.put(&g);
  home.parking.submitted_in_order();
}

void core::end_task(processor& p, frame& root) noexcept {
  goroutine& g = *root.record;
  const role how = root.how;
  closure* const callable = root.callable;
  root.self().destroy();
  if (callable != nullptr) {
    scope_state* const scope = how == role::child ? static_cast<awaited_closure*>(callable)->scope : nullptr;
    callable->destroy(callable);
    if (scope != nullptr) end_scope_child(*scope);
  }
  goroutine* const strand = std::exchange(p.current, nullptr);
  if (strand != &g) free_record(p, *strand);
  free_record(p, g);
  p.tasks.end();
  if (how == role::main) main_has_ended();
}

void core::main_has_ended() noexcept {
  if (chosen.until == run_until::all_have_ended) {
    // From now on the last machine that finds nothing to do tells run(). It comes later: this one has a processor.
    await_all_instead();
    return;
  }
  looping.end();
  // This comes before main's variables are destroyed: so a task that sees them destroyed runs no further than to its
  // next co_await.
  end_slices();
  arrived(awaited::main);
}

void end_run() noexcept { this_machine()->home.main_has_ended(); }

bool begin_end_of_strand(processor& p, source_place at) noexcept {
  if (p.current->root == nullptr) return true;
  p.current->waits(wait_reason::join, at);
  return false;
}

void end_strand(processor& p, bool has_own_record) noexcept {
  goroutine* const strand = std::exchange(p.current, nullptr);
  if (has_own_record) p.home.free_record(p, *strand);
}

void keep_strand(processor& p, bool has_own_record) noexcept {
  if (!has_own_record) p.current->set_status(task_status::running);
}

std::coroutine_handle<> end_root(processor& p, frame& root) noexcept {
  p.home.end_task(p, root);
  return std::noop_coroutine();
}

void fork_apart(processor_front& front, frame& parent, frame& child) {
  processor& p = static_cast<processor&>(front);
  child.how = role::forked_apart;
  if (p.home.chosen.forks == fork_policy::child && p.own_forks.push(&child)) {
    parent.children.detach();
    p.home.parking.submitted();
  } else {
    goroutine& g = p.home.take_goroutine(p);
    g.resume = child.self();
    g.set_status(task_status::runnable);
    parent.children.detach();
    p.overflowed += p.home.parking.submit_next(p.own_queue, &g);
  }
}

void keep_child_error(frame& parent, std::exception_ptr error) noexcept {
  // Children end at the same time on several threads; exceptions are rare enough for one lock.
  const std::lock_guard lock(locks_of_process.child_errors);
  if (!parent.error) parent.error = std::move(error);
}

std::coroutine_handle<> end_fork_apart(processor_front& front, frame& parent) noexcept {
  processor& p = static_cast<processor&>(front);
  const bool own_record = begin_end_of_strand(p);
  if (parent.children.arrive()) {
    keep_strand(p, own_record);
    return go_on_after_join(p, parent);
  }
  end_strand(p, own_record);
  return std::noop_coroutine();
}

bool waits_for_children(processor_front& front, frame& parent, source_place at) noexcept {
  processor& p = static_cast<processor&>(front);
  const bool own_record = begin_end_of_strand(p, at);
  if (!parent.children.wait()) {
    end_strand(p, own_record);
    return true;
  }
  keep_strand(p, own_record);
  return false;
}

// ---- beginning and end ----------------------------------------------------------------------------------------------

// Calls attach(), and detach() at its end.
class core::attached {
 public:
  explicit attached(core& at) noexcept : at_(&at) { at.attach(); }
  attached(const attached&) = delete;
  attached& operator=(const attached&) = delete;
  ~attached() { let_go(); }
  void let_go() {
    if (at_ != nullptr) std::exchange(at_, nullptr)->detach();
  }

 private:
  core* at_;
};

// Calls begin_to_wait(), and end_to_wait() at its end.
class core::waiting_turn {
 public:
  waiting_turn(core& at, awaited what) : at_(at) { at_.begin_to_wait(what); }
  waiting_turn(const waiting_turn&) = delete;
  waiting_turn& operator=(const waiting_turn&) = delete;
  ~waiting_turn() { at_.end_to_wait(); }

 private:
  core& at_;
};

void core::run_main(new_task main) {
  // Prevents the report of a deadlock, as a handle does, while the main task is awaited or counted, but not yet in a
  // queue.
  attached handle(*this);
  const waiting_turn turn(*this, awaited::main);
  main.root_->how = role::main;
  spawn_outside(1, std::move(main), "main");
  handle.let_go();
  await();
  stop();
  // Ready for the next run.
  looping.end_is_over();
  for_each_processor([](processor& p) { p.slice.restart(); });
  {
    const std::lock_guard lock(machines_mutex_);
    may_start_ = true;
  }
  parking.restart(processors_.size());
  // Tasks that threads outside started while no machine ran.
  if (global.has_work()) parking.submitted();
}

void core::wait_for_all() {
  const waiting_turn turn(*this, awaited::all);
  ask_if_idle();
  await();
}

void core::begin_to_wait(awaited what) {
  const std::lock_guard lock(waiting_mutex_);
  if (awaited_ != awaited::nothing) throw_misuse("runq: run() or wait() was called while another is in progress");
  awaited_ = what;
  has_come_ = false;
  suspected_ = 0;
}

// Returns when arrived() was called. No other thread may begin to wait before end_to_wait(). The caller has nothing
// else to do, so it also finds out whether a suspicion of a deadlock was right. While that is in doubt it asks again
// and again, because nothing tells it that a thread of the program has ended.
void core::await() {
  constexpr auto soon = std::chrono::milliseconds(1);  // a thread that ends is counted for some time
  constexpr auto late = soon * 1024;                   // after as much time as this in all
  std::unique_lock lock(waiting_mutex_);
  std::uint64_t number = 0;
  auto pause = soon;
  bool doubtful = false;
  bool said = false;
  const auto news = [&] { return has_come_ || suspected_ != number; };
  for (;;) {
    if (!doubtful) {
      waiting_.wait(lock, news);
    } else if (!waiting_.wait_for(lock, pause, news)) {
      pause = std::min<std::chrono::milliseconds>(pause * 2, late);
    }
    if (has_come_) return;
    if (number != suspected_) pause = soon;
    number = suspected_;
    lock.unlock();
    const suspicion found = deadlocks.confirm(number);
    doubtful = found == suspicion::doubtful;
    // by chance: a second suspicion after some s.
    if (doubtful && pause == late && !std::exchange(said, true)) may_be_deadlock();
    lock.lock();
    // When a run ends, the machines give their processors up and ask nothing.
    if (found == suspicion::deadlock && !has_come_) deadlock();
  }
}

void core::end_to_wait() {
  const std::lock_guard lock(waiting_mutex_);
  awaited_ = awaited::nothing;
}

void core::await_all_instead() noexcept {
  const std::lock_guard lock(waiting_mutex_);
  awaited_ = awaited::all;
}

void core::arrived(awaited what) noexcept {
  const std::lock_guard lock(waiting_mutex_);
  // by chance: another task ends just before main begins.
  if (awaited_ != what) return;
  has_come_ = true;
  waiting_.notify_all();
}

// With the lock of `parking` held: no machine holds a processor, so no task runs, and every local queue is empty. Tells
// the thread in wait() under the lock. That is a system call, but only one for each wait(), and no machine is at work
// that the lock could delay.
void core::check_deadlock() {
  const std::uint64_t number = deadlocks.next_question();
  {
    const std::lock_guard lock(waiting_mutex_);
    if (awaited_ == awaited::nothing || has_come_) return;
  }
  if (count_tasks() == 0) {
    arrived(awaited::all);
    return;
  }
  if (!deadlocks.all_wait()) return;
  if (chosen.threads_without_handle == plain_threads::wake_no_task) deadlock();
  const std::lock_guard lock(waiting_mutex_);
  suspected_ = number;
  waiting_.notify_all();
}

namespace {

// 0: unknown, because there is no /proc. A thread that has just been joined may still be counted.
std::size_t threads_of_process() noexcept {
  struct stat folder_per_thread {};
  // unreached: the tests have /proc.
  if (stat("/proc/self/task", &folder_per_thread) != 0 || folder_per_thread.st_nlink < 2) return 0;
  return folder_per_thread.st_nlink - 2;
}

// ThreadSanitizer has a thread in the background; in a process that was forked, clang's may have two. They are known by
// the signals that they block: all that can be blocked (g++), or all but SIGSYS (clang++).
// unreached: only with ThreadSanitizer.
std::size_t threads_of_sanitizer() {
  if (__tsan_init == nullptr) return 0;
  std::size_t found = 0;
  std::error_code gone;
  for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task", gone)) {
    std::ifstream status(thread.path() / "status");
    for (std::string line; std::getline(status, line);) {
      if (line == "SigBlk:\tfffffffe7ffbfeff" || line == "SigBlk:\tfffffffe3ffbfeff") ++found;
    }
  }
  return found;
}

}  // namespace

// Called by the thread in run() or wait(). Machines that are leaving do not count as the scheduler's own: they may be
// gone when the process's threads are counted.
bool core::other_threads() const {
  const std::lock_guard lock(machines_mutex_);
  std::size_t own = 1 + machines_.size() - without_thread_.size();
  // by chance: no machine has started yet.
  if (monitor_.joinable()) ++own;
  if (chosen.dump_on != 0) ++own;
  return threads_of_process() > own + threads_of_sanitizer();
}

void core::stop() {
  looping.end();
  parking.stop();
  std::vector<std::unique_ptr<machine>> leaving;
  std::thread left;
  {
    const std::lock_guard lock(machines_mutex_);
    may_start_ = false;
    leaving.swap(machines_);
    without_thread_.clear();
    left.swap(last_ended_);
  }
  if (left.joinable()) left.join();  // which has joined the one before it, and so on
  stop_monitor();
  end_slices();
  for (const auto& m : leaving) {
    if (m->thread.joinable()) m->thread.join();
    const std::lock_guard lock(machines_mutex_);
    parks_ += m->parker.parks.get();
    useless_wakes_ += m->useless_wakes.get();
  }
  await_visitors();
  destroy_tasks();
}

void core::await_visitors() {
  visitors_.await([](auto&& gone) {
    while (!gone()) std::this_thread::yield();
  });
}

// Ends every time slice for good: so tasks that never have to wait leave their machines at their next co_await, too.
void core::end_slices() noexcept {
  for_each_processor([](processor& p) { p.slice.end_all(); });
}

unsigned core::resize(unsigned n) {
  if (n == 0 || n > options::max_procs) throw_misuse("runq: set_procs() takes 1 … options::max_procs, 1024");
  // resize() may take a processor, to start a machine with it.
  const visit here(*this);
  {
    const std::lock_guard lock(machines_mutex_);
    make_processors(n);
  }
  return parking.resize(n);
}

// ---- questions ------------------------------------------------------------------------------------------------------

std::uint64_t core::count_tasks() const noexcept {
  return tasks_.count([this](auto&& f) { for_each_processor([&f](const processor& p) { f(p.tasks); }); });
}

stop_wait::stop_wait(core& home, const std::stop_token& token) : home_(home), token_(token) {
  const std::lock_guard lock(home_.stop_waits_mutex_);
  next_ = std::exchange(home_.stop_waits_, this);
  if (next_ != nullptr) next_->previous_ = this;
}

stop_wait::~stop_wait() {
  const std::lock_guard lock(home_.stop_waits_mutex_);
  if (listed_) leave();
}

// The caller holds stop_waits_mutex_.
void stop_wait::leave() noexcept {
  listed_ = false;
  (previous_ != nullptr ? previous_->next_ : home_.stop_waits_) = next_;
  if (next_ != nullptr) next_->previous_ = previous_;
}

// Asks the tokens now, because a source may have been destroyed since the task began to wait. A token that has lost its
// last source gets no other, so it is asked once.
bool core::stop_possible() {
  const std::lock_guard lock(stop_waits_mutex_);
  while (stop_waits_ != nullptr) {
    if (stop_waits_->token_.stop_possible()) return true;
    stop_waits_->leave();
  }
  return false;
}

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
