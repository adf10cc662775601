// SPDX-License-Identifier: MIT
// core: the inside of a scheduler: the global queue, the processors, the machines, and what they share.
#pragma once

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "runq/detail/dump_on_signal.hpp"
#include "runq/detail/fair_time.hpp"
#include "runq/detail/inside.hpp"
#include "runq/detail/monitor_rhythm.hpp"
#include "runq/detail/poller.hpp"
#include "runq/detail/processor.hpp"
#include "runq/detail/strand_pool.hpp"
#include "runq/detail/tracer.hpp"
#include "runq/inject.hpp"
#include "runq/options.hpp"
#include "runq/protocol/blocking_calls.hpp"
#include "runq/protocol/deadlock.hpp"
#include "runq/protocol/global_shards.hpp"
#include "runq/protocol/machine_loop.hpp"
#include "runq/protocol/monitor.hpp"
#include "runq/protocol/park.hpp"
#include "runq/protocol/poll_sleep.hpp"
#include "runq/protocol/processor_table.hpp"
#include "runq/protocol/spares.hpp"
#include "runq/protocol/visitors.hpp"

namespace runq {
class scheduler;
}

namespace runq::detail {

/// Something to run: a strand from a queue, or a frame from a fork deque. It has two words, so that every call of
/// the machines' loop can return it in registers.
class work {
 public:
  work() noexcept = default;  // nothing
  /// `s`, or nothing if it is nullptr. `inherits`: it runs in its predecessor's time slice.
  explicit work(strand* s, bool inherits = false) noexcept : what_(s), inherits_(inherits) {}
  explicit work(frame* f, bool inherits = false) noexcept : what_(f), is_fork_(true), inherits_(inherits) {}

  [[nodiscard]] explicit operator bool() const noexcept { return what_ != nullptr; }
  /// Whether it is a frame from a fork deque. Must not be called when there is nothing to run.
  [[nodiscard]] bool is_fork() const noexcept { return is_fork_; }
  [[nodiscard]] strand& task() const noexcept { return *static_cast<strand*>(what_); }
  [[nodiscard]] frame& fork() const noexcept { return *static_cast<frame*>(what_); }
  [[nodiscard]] bool inherits() const noexcept { return inherits_; }

 private:
  void* what_ = nullptr;
  bool is_fork_ = false;
  bool inherits_ = false;
};

struct call_limit;
struct blocked_call;

class core {
 public:
  /// The inside of `owner`, whose destructor calls finish(). Handles may keep this object alive for longer.
  core(const options& wanted, scheduler& owner);
  core(const core&) = delete;
  core& operator=(const core&) = delete;
  ~core();
  /// Ends the threads and destroys all tasks; tasks that threads outside start from now on are destroyed at once.
  /// Called by the scheduler's destructor.
  void finish();
  /// Whether this process was made by fork(), so that the scheduler's threads are in its parent.
  [[nodiscard]] bool of_another_process() const noexcept;
  /// To be called in such a process instead of finish(), with the last pointer, so that the core is never destroyed.
  static void leave_behind(std::shared_ptr<core> left) noexcept;

  // -- tasks (tasks.cpp) --

  /// Makes a task, runnable next on `p`. Throws std::bad_alloc. On the thread of `p`.
  void spawn(processor& p, new_task&& made, const char* name, source_place at);
  /// Makes a task from a thread without a processor of this scheduler, at the end of the global queue. After finish()
  /// the task is destroyed instead.
  void spawn_outside(new_task made, const char* name, source_place at);
  /// A strand that begins on `p`; `free_strand` gives it back.
  [[nodiscard]] strand& take_strand(processor& p);
  void free_strand(processor& p, strand& s) noexcept;
  /// To be called when the task of `root` has ended: destroys its frame.
  void end_task(processor& p, frame& root) noexcept;

  // -- runs (run.cpp) --

  /// Runs until this task, or every task, has ended, then destroys all others: what scheduler::run() does. Throws
  /// std::bad_alloc; runq::misuse.
  void run_main(new_task main);
  /// To be called when the main task has ended: from now on no machine starts or resumes another task, unless the run
  /// lasts until all tasks have ended. Any thread.
  void main_has_ended() noexcept;
  /// Whether the main task has ended and its run is not yet over. Any thread.
  [[nodiscard]] bool ends() const noexcept { return looping.ends(); }
  /// Waits until there is no task left.
  void wait_for_all();

  // -- from outside --

  /// Exists while a thread outside makes a task runnable: the end of a run waits for it.
  class visit {
   public:
    explicit visit(core& at) noexcept : here_(at.visitors_) {}

   private:
    visitors<policy>::visit here_;
  };
  void attach() noexcept { deadlocks.attach(); }
  void detach() { deadlocks.detach(); }
  unsigned resize(unsigned n);
  [[nodiscard]] unsigned size() const noexcept { return parking.limit(); }
  [[nodiscard]] statistics count() const;
  [[nodiscard]] std::string dump() const;

  /// A line in the format of Go's schedtrace; with `detail` a line per processor, machine and task follows.
  [[nodiscard]] std::string trace_line(instant at, bool detail) const;
  /// Ends the slice of the task that the calling machine runs, because the process ends; for RUNQ_TRACE.
  void trace_last_slice() noexcept;

  // -- what park_protocol asks of its host (machine.cpp) --

  [[nodiscard]] bool work_anywhere() const noexcept { return looping.work_anywhere(); }
  [[nodiscard]] bool surplus(const processor& p) const noexcept { return looping.surplus(p); }
  [[nodiscard]] processor& processor_at(unsigned i) { return processors_[i]; }
  void start_machine(processor& p);
  [[nodiscard]] bool keeps(std::size_t idle_machines) const noexcept { return idle_machines <= parking.limit(); }
  void check_deadlock();
  [[nodiscard]] machine* this_idle_machine() const noexcept;

  // -- what machine_loop asks of its host (machine.cpp, poll.cpp) --

  using task_list = strand_list;
  // How often a spinning machine looks again before it gives up, and how many pauses it makes in between: some 50 µs in
  // all. That is less than going to sleep and being woken takes, including the time of the waking thread.
  static constexpr int looks = 16;
  static constexpr int look_pauses = 64;
  // Go's number of rounds over all processors; only in the last one is runnext stolen.
  static constexpr int steal_rounds = 4;
  static constexpr int watch_pauses = detail::watch_pauses;
  // Some 12 µs, about what a barrier costs the thread that makes it and the one that it interrupts.
  static constexpr int fork_pauses = 512;
  static constexpr unsigned unwatched_forks = 8;
  // A thief that gets a subtree of forks begins more tasks; one that shares what another machine makes, fewer.
  static constexpr std::uint64_t uncounted_pace = 4;
  // A machine that wakes others has cost a system call, beside which the cache lines of so many processors are cheap.
  static constexpr unsigned most_counted = 16;
  // A spinning machine that has found nothing while others began so many tasks, in those 50 µs or in a doze, dozes.
  static constexpr std::uint64_t chain_pace = 16;
  // It leaves the poller to the others if they got tasks there so many times meanwhile: one in 6 µs as it looks around,
  // and then one in 25 µs.
  static constexpr std::uint64_t poll_pace = 8;
  // Go's number, a prime: every 61st task comes from the global queue, so that local ones cannot starve it, and
  // descriptors are polled then.
  static constexpr std::uint32_t global_period = 61;
  // So many processors share a shard of the global queue. A build with one queue for all has one shard.
  static constexpr unsigned processors_per_shard = processor_queue::capacity() != 0 ? 4 : ~0U;
  // A processor with tasks to run looks at its timers once in this many tasks.
  static constexpr std::uint64_t clock_period = 8;
  [[nodiscard]] bool global_first(processor& p) {
    ++p.dispatches;
    const std::uint64_t n = p.dispatches.get();
    if (n % clock_period == 0) look_at_clock(p);
    return n % global_period == 0;
  }
  static void look_at_clock(processor& p);
  [[nodiscard]] bool poll_now(processor& p);
  // The monitor uses these two as well.
  [[nodiscard]] bool nobody_polls() const noexcept { return events.in_use() && !sleeping.watched(); }
  void poll() { (void)events.poll(0); }
  [[nodiscard]] bool timers_due() const noexcept { return earliest_timer() <= now(); }
  [[nodiscard]] bool fire_due_timers() { return timers_due() && fire_timers(now()) != 0; }
  void hold(machine& m, processor& p) noexcept;
  void leave(machine&) noexcept { leave_processor(); }
  [[nodiscard]] strand& strand_of(processor& p, frame& fork);
  [[nodiscard]] strand& task_of(processor& p, work w) { return w.is_fork() ? strand_of(p, w.fork()) : w.task(); }
  void searches(machine& m) noexcept { m.parks_counted = m.parker.parks.get(); }
  void spins(machine& m) noexcept {
    // [core.spins] relaxed, unmodelled: for traces.
    m.state.store(machine_state::spinning, std::memory_order::relaxed);
  }
  void rests(machine& m) noexcept;
  [[nodiscard]] instant begins() const { return tracer_ != nullptr ? now() : 0; }
  void looked(const processor& p, instant begin) {
    if (tracer_ != nullptr) tracer_->looked(p.index, begin, now());
  }
  void stole(processor& p, const processor& victim, std::size_t n, bool from_runnext, instant begin);
  void lost(processor& p) noexcept { ++p.lost; }
  // A heavy fence is a system call that interrupts the victim.
  [[nodiscard]] bool watches_forks() const noexcept { return scheduler_fences::available(); }

  // -- blocking calls, and what blocking_calls asks of its host (blocking.cpp) --

  using calls = blocking_calls<machine, processor, core, policy>;
  /// Whether a call may begin at once. If not, its task takes a unit of limit() first.
  [[nodiscard]] bool call_may_begin() const noexcept;
  [[nodiscard]] call_limit& limit() noexcept { return *limit_; }
  void take_unit();
  void give_unit();
  /// `has_unit`: of limit(), which the end of the call gives back.
  [[nodiscard]] blocked_call enter_call(bool has_unit = false) noexcept;
  /// True: the machine has a processor and goes on with the task. False: it has none, and the caller must queue the
  /// task.
  [[nodiscard]] bool leave_call(const blocked_call& call) noexcept;
  /// For code that cannot suspend: blocks the thread until it has a processor.
  void leave_call_waiting(const blocked_call& call);
  void back_from_call(const blocked_call& call, calls::outcome how);
  void trace_lost(const blocked_call& call);
  /// Calls `what` when the calling task next waits or blocks, or has ended. Returns false, and does nothing, if the
  /// caller is not a task of this scheduler, or is in a blocking call, or if the run ends, so that no task goes on.
  [[nodiscard]] bool do_after_stretch(after_stretch& what) noexcept;
  /// A processor for a machine that comes back from a call when its scheduler stops, and must go on until its task's
  /// next co_await.
  [[nodiscard]] processor& spare_processor();
  /// The task of `call` goes on at `self` when a processor takes it from the global queue.
  void queue_after_call(const blocked_call& call, std::coroutine_handle<> self);

  // -- time and descriptors (poll.cpp) --

  /// To be called after a timer was added that is due at `when`, so that no machine sleeps in the poller past that
  /// time.
  void timer_added(instant when);
  /// The earliest timer of all processors, or never.
  [[nodiscard]] instant earliest_timer() const noexcept;
  /// Fires all timers that are due; returns how many.
  std::size_t fire_timers(instant now);
  /// Whether there are descriptors or timers, and no machine waits for them in the poller.
  [[nodiscard]] bool unwatched() const noexcept { return something_to_poll() && !sleeping.watched(); }

  // -- what deadlock_question asks of its host (deadlock.cpp) --

  template <class F>
  void if_idle(F&& f) {
    parking.with_lock([&] {
      if (parking.held() == 0) f();
    });
  }
  void ask_if_idle() {
    if_idle([this] { check_deadlock(); });
  }
  [[nodiscard]] bool other_threads() const;
  [[nodiscard]] bool calls_in_progress() const { return parking.without_processor() != 0; }
  [[nodiscard]] bool timers_pending() const noexcept { return earliest_timer() != never; }
  [[nodiscard]] bool anything_queued() const { return global.has_work_approx(); }
  [[nodiscard]] bool stop_possible();
  template <class F>
  void for_each_kernel_wait(F&& f) const;

  class frame_tree;  // see destruction.cpp

  // -- what poll_sleep asks of its host (poll.cpp) --

  [[nodiscard]] bool something_to_poll() const noexcept { return events.in_use() || earliest_timer() != never; }
  void wait_for_events(instant until);
  void ring() noexcept { events.ring(); }
  void fire_timers();

  // -- what monitor_loop asks of its host (monitor.cpp) --

  void begins_round() {
    print_trace();
    give_back_frames(now());
  }
  [[nodiscard]] static instant clock() noexcept { return now(); }
  [[nodiscard]] bool all_processors_idle() const noexcept { return parking.idle_processors() >= parking.limit(); }
  [[nodiscard]] bool worth_a_deep_sleep() const noexcept;
  [[nodiscard]] instant last_poll() const noexcept { return events.last_poll(); }
  [[nodiscard]] bool look_at_processors(instant now);

  instant slept_until_ = never;  // of the one machine that sleeps in the poller
  poller events;
  poll_sleep<parker, core, policy> sleeping{*this};
  const options chosen;
  scheduler& owner;
  // Written by all processors; the members before it are only read by them.
  static constexpr unsigned most_shards = 64;
  alignas(cache_line) global_shards<&strand::link, most_shards> global;
  mutable park_protocol<machine, processor, core, policy> parking;
  machine_loop<machine, processor, work, core, policy> looping{*this};
  deadlock_question<core, policy> deadlocks{*this};
  monitor_loop<core, parker, monitor_rhythm, policy> monitoring{*this};
  calls calling{*this};

 private:
  friend stop_wait;

  // -- the machines' loop (machine.cpp) --

  void loop(machine& m);
  void may_have_left(machine& m);
  [[nodiscard]] machine& machine_to_start();
  void monitor();
  /// What the monitor saw of a processor, and when it saw that first.
  struct watched {
    call_watch call;
    slice_watch slice;
  };
  [[nodiscard]] bool watch(watched& seen, processor& p, instant now);
  static void watch_slice(watched& seen, processor& p, instant now);
  void print_trace();
  void run(machine& m, work w);
  static void leave_processor() noexcept;
  static void become(machine* m, processor* p) noexcept;

  void spawn_outside(std::uint64_t id, new_task made, const char* name, source_place at);
  void stop();
  void await_visitors();
  void stop_monitor();
  void end_slices() noexcept;
  void destroy_tasks();
  class stand_in;
  void empty_processors();
  class left_tasks;
  void has_destroyed(strand& s) noexcept;
  [[nodiscard]] frame* root_of(const strand& s, std::uint64_t later) const noexcept;
  [[nodiscard]] strand_list forget_woken();
  [[nodiscard]] bool somebody_queues() const;
  void forget_strands();
  strand& enlist(strand& s, new_task& made, const char* name, source_place at) noexcept;
  void make_processors(unsigned n);
  [[nodiscard]] std::uint64_t count_tasks() const noexcept;
  [[nodiscard]] std::string trace_detail(const statistics& counted) const;
  [[nodiscard]] static const strand* strand_of(const machine& m);
  void read_environment();
  void begin_slice(machine& m, const strand& s);
  void end_slice(const machine& m, const processor& p, instant end);
  [[noreturn]] void deadlock() const;
  void may_be_deadlock() const;
  template <class F>
  void for_each_processor(F&& f) const;

  static constexpr unsigned max_processors = options::max_procs;

  std::vector<std::unique_ptr<processor>> made_;  // owns those in `processors_`; written by the thread that makes them
  processor_table<processor, max_processors> processors_;

  spare_processors<processor> spares_;

  mutable std::mutex machines_mutex_;
  std::vector<std::unique_ptr<machine>> machines_;  // under machines_mutex_
  std::vector<machine*> without_thread_;            // those of them without a thread; under machines_mutex_
  std::thread last_ended_;                          // that has ended, or is about to; under machines_mutex_
  bool may_start_ = false;                          // under machines_mutex_
  short_lock placing_;                              // held until a new thread is on the CPU where it begins
  std::uint64_t parks_ = 0;                         // of machines that have left; under machines_mutex_
  std::uint64_t useless_wakes_ = 0;                 // of machines that have left; under machines_mutex_

  std::unique_ptr<call_limit> limit_;
  std::optional<dump_on_signal> dumps_;  // options::dump_on; until finish()

  const int process_;            // the process that made it and has its threads
  std::shared_ptr<core> left_;   // itself; see leave_behind()
  core* left_before_ = nullptr;  // the core that was left before this one; see leave_behind()
  const instant made_at_ = now();
  std::unique_ptr<tracer> tracer_;  // RUNQ_TRACE
  instant trace_period_ = never;    // RUNQ_SCHEDTRACE
  bool trace_in_detail_ = false;    // RUNQ_SCHEDDETAIL

  std::thread monitor_;  // started with the first machine; under machines_mutex_
  std::vector<watched> seen_by_monitor_ = std::vector<watched>(max_processors);  // only the monitor uses it
  instant next_trace_ = 0;                                                       // only the monitor uses it

  short_lock stop_waits_mutex_;
  stop_wait* stop_waits_ = nullptr;  // under stop_waits_mutex_

  strand_pool strands_{*this, chosen.latency_period};
  // Held while a thread outside makes a task, so that the end of a run sees either all of the task or nothing.
  mutable std::mutex outside_mutex_;
  bool finished_ = false;                  // no task begins any more; under outside_mutex_
  std::atomic<std::uint64_t> next_id_{2};  // 1 is main's
  live_tasks<policy> tasks_;

  visitors<policy> visitors_;  // threads outside that make a task runnable
  // What the one thread in run() or wait() waits for.
  enum class awaited : std::uint8_t { nothing, main, all };
  class waiting_turn;
  class attached;
  void begin_to_wait(awaited what);
  void await();
  void end_to_wait();
  void await_all_instead() noexcept;
  void arrived(awaited what) noexcept;
  std::mutex waiting_mutex_;
  std::condition_variable waiting_;
  awaited awaited_ = awaited::nothing;  // under waiting_mutex_
  bool has_come_ = false;               // whether what is awaited has come; under waiting_mutex_
  std::uint64_t suspected_ = 0;         // the last question at which all tasks seemed to wait; under waiting_mutex_
  std::atomic<std::uint64_t> machines_started_{0};
  std::atomic<std::uint64_t> calls_queued_{0};
  std::atomic<std::uint64_t> handed_off_{0};
};

/// Makes `s`, which runs on `p`, runnable at the end of the global queue: from then on another machine may run
/// it at any moment. On the thread of `p`.
inline void let_all_run(processor& p, strand& s) {
  s.set_status(task_status::runnable);
  p.home.global.put(&s, p.shard);
  p.home.parking.submitted_in_order();
}

/// Likewise, but behind the other tasks that have yielded on `p`, on which it stays unless another machine needs work.
inline void let_others_run(processor& p, strand& s) {
  if constexpr (processor_queue::capacity() != 0) {
    s.set_status(task_status::runnable);
    p.home.looping.yield(p, &s);
  } else {
    // unreached: only a build with one queue for all, global_queue_test's.
    let_all_run(p, s);
  }
}

/// Calls `f` with every processor there is, the spare ones included.
template <class F>
void core::for_each_processor(F&& f) const {
  processors_.for_each(f);
  spares_.for_each(f);
}

template <class F>
void core::for_each_kernel_wait(F&& f) const {
  for_each_processor([&f](const processor& p) { f(p.waits_for_kernel); });
}

}  // namespace runq::detail
