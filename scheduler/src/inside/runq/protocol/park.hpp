// SPDX-License-Identifier: MIT
// park: when machines sleep and when they are woken: the part of a scheduler that decides when a machine (thread) gives
// up its processor, and when a machine gets one again.
//
// The property that it keeps: never is a task runnable while a processor is idle and no machine is about to look for
// the task. Source of the protocol: Go's scheduler (runtime/proc.go: wakep, startm, resetspinning, findRunnable's last
// part, needspinning of golang/go#45867). Steps, picture and rejected designs: docs/scheduler.md. Models:
// models/cases/scheduler/park/.
//
// Three rules:
//   1. A thread that makes a task runnable asks after that whether a machine is spinning (looking for work). If none is
//      and a processor is idle, it wakes one machine, which spins.                                  submitted()
//   2. A spinning machine that finds work stops spinning and then follows rule 1: it may have been the only one
//      that was spinning.                                                                           found()
//   3. A spinning machine that finds nothing gives up its processor, stops spinning, and looks at all queues once
//      more before it sleeps.                                                                       machine_idle()
// Rules 1 and 3 are the two sides of a Dekker handshake: publish work, fence, read `spinning_` ‖ lower `spinning_`,
// fence, read all queues. With both fences, at least one side sees the other. The submitter's fence is the light one of
// a pair and the sleeper's the heavy one, because many more tasks are submitted than machines go to sleep. The
// submitter needs no fence in two cases: if it publishes by a read-modify-write of a place that work_anywhere() also
// looks at by a read-modify-write, or if it publishes under a lock that work_anywhere() also takes. The side that comes
// second then sees what the first one did before.                                                submitted_in_order()
// A machine that found nothing beside a *chain* of short tasks, each of which wakes the next one, dozes: it is idle,
// but looks at the queues again after a short time. Meanwhile nobody wakes a machine for a task in a free runnext slot,
// or a fork that is alone in its deque, which the chain will run at once.                          machine_dozes()
// Machines that were not spinning do not look again. `need_spinning_` covers them: a submitter that finds neither a
// spinning machine nor an idle processor leaves a request, and a machine that is about to give up its processor answers
// it. The request stays until then, whoever spins meanwhile: so while no processor is idle, submitters read one word
// that nobody writes.
#pragma once

#include <atomic>
#include <concepts>
#include <cstddef>
#include <mutex>
#include <utility>

#include "runq/atomics.hpp"
#include "runq/common.hpp"
#include "runq/protocol/short_lock.hpp"

namespace runq {

/// What park_protocol keeps in a processor. Processors are never freed while the protocol lives.
template <class Processor, class Atomics>
struct park_processor {
  template <class T>
  using cell = typename Atomics::template cell<T>;

  cell<Processor*> next_idle{nullptr};  // under the protocol's lock
  cell<bool> retired{true};             // under the protocol's lock: neither idle nor held by a machine
};

/// What park_protocol keeps in a machine.
template <class Machine, class Processor, class Parker, class Atomics>
struct park_machine {
  template <class T>
  using cell = typename Atomics::template cell<T>;

  template <class... Arguments>
  explicit park_machine(Arguments&&... for_parker) : parker(std::forward<Arguments>(for_parker)...) {}

  Parker parker;
  cell<Machine*> next_idle{nullptr};      // under the lock
  cell<Machine*> previous_idle{nullptr};  // under the lock
  cell<bool> idle{false};                 // under the lock
  cell<bool> dozes{false};                // under the lock; then it is idle, too
  cell<bool> may_leave{false};            // when it has slept for long; the machine's, written when it becomes idle
  cell<Processor*> handed{nullptr};  // under the lock until the machine is woken; after that only the machine uses it
  cell<bool> spinning{false};        // only the machine uses it; while it is being woken, only its waker
};

/// Where a machine sleeps until another thread wakes it.
template <class Parker>
concept park_parker = requires(Parker& parker) {
  parker.park();
  parker.unpark();
  // The same as park(), but they may give up, and return false then: after a long time, and after some 100 µs.
  { parker.park_for_long() } -> std::same_as<bool>;
  { parker.doze() } -> std::same_as<bool>;
};

/// What park_protocol asks of the scheduler around it.
template <class Host, class Machine, class Processor>
concept park_host = requires(Host& host, Processor& p, unsigned i, std::size_t n) {
  // Whether any queue holds a task, by its has_work(). Called without the lock.
  { host.work_anywhere() } -> std::same_as<bool>;
  // Whether that processor is one too many since the last resize().
  { host.surplus(p) } -> std::same_as<bool>;
  // The i-th processor, for resize().
  { host.processor_at(i) } -> std::same_as<Processor&>;
  // Starts one more machine, spinning, with that processor.
  host.start_machine(p);
  // Whether n idle machines are not too many. Called with the lock held.
  { host.keeps(n) } -> std::same_as<bool>;
  // The calling thread's machine, or nullptr if it is none or holds a processor.
  { host.this_idle_machine() } -> std::same_as<Machine*>;
  // No machine holds a processor. Called with the lock held.
  host.check_deadlock();
};

/// The first part of park_protocol: how many processors there are, how many of them machines hold, and which are idle.
/// The functions are called with the protocol's lock held, except limit() and idle(). Each processor that was made is
/// idle, or held, or retired; but nothing of this holds from stop() to restart().
///
/// Its fields, which are written under the lock:
///   limit_      the number of processors, or 0 from stop() to restart(). The processors from this number on are
///               surplus: the idle ones have retired when it was set
///   wanted_     what resize() said last
///   idle_list_  the idle processors, linked by `next_idle`; the one that became idle last is the first, because its
///               cache is the warmest
///   idle_       the length of idle_list_
///   held_       the number of processors that machines hold or are about to get; a machine in a blocking call holds
///               its processor until the monitor has taken it
template <class Processor, class Atomics>
class processor_pool {
  template <class T>
  using atomic = typename Atomics::template atomic<T>;
  template <class T>
  using cell = typename Atomics::template cell<T>;

 public:
  processor_pool() noexcept : limit_(0U), idle_(0U) {}
  processor_pool(const processor_pool&) = delete;
  processor_pool& operator=(const processor_pool&) = delete;

  /// Any thread.
  [[nodiscard]] unsigned limit() const noexcept {
    // [park.limit] acquire: pairs with [park.resize.limit]: a thief goes to as many processors as this says.
    return limit_.load(std::memory_order::acquire);
  }
  /// How many are idle: exact with the lock held. Any thread.
  [[nodiscard]] unsigned idle() const noexcept {
    // [park.idle.read] relaxed: a guess.
    return idle_.load(std::memory_order::relaxed);
  }
  [[nodiscard]] unsigned held() const { return held_.get(); }
  [[nodiscard]] unsigned wanted() const { return wanted_.get(); }

  void want(unsigned n) { wanted_.set(n); }
  void set_limit(unsigned n) {
    // [park.resize.limit] release: pairs with [park.limit]: a thread that reads this number also sees the processors,
    // which may have been made just before. A machine that reads it late retires its processor late.
    limit_.store(n, std::memory_order::release);
  }
  void stop() {
    // [park.stop.limit] relaxed: all processors are surplus now; there is no new one to be seen.
    limit_.store(0, std::memory_order::relaxed);
  }
  /// All machines have left.
  void restart() { held_.set(0); }

  /// `p`, which is retired or held, becomes idle.
  void put(Processor& p) {
    p.retired.set(false);
    p.next_idle.set(idle_list_.get());
    idle_list_.set(&p);
    count_idle(+1);
  }
  /// An idle processor, which is held now, or nullptr.
  [[nodiscard]] Processor* take() {
    Processor* const p = idle_list_.get();
    if (p == nullptr) return nullptr;
    idle_list_.set(p->next_idle.get());
    count_idle(-1);
    held_.set(held_.get() + 1);
    return p;
  }
  /// A retired processor is held now.
  void take_retired(Processor& p) {
    p.retired.set(false);
    held_.set(held_.get() + 1);
  }
  /// A held processor is held no more. The caller makes it idle or retired.
  void let_go() { held_.set(held_.get() - 1); }

  /// The idle processors that are surplus retire. The others stay in their order.
  template <class Surplus>
  void retire_idle(Surplus&& surplus) {
    Processor* p = idle_list_.get();
    idle_list_.set(nullptr);
    count_idle(-static_cast<int>(idle()));
    Processor* kept = nullptr;  // reversed here and again below, so the order stays
    while (p != nullptr) {
      Processor* const next = p->next_idle.get();
      p->next_idle.set(kept);
      kept = p;
      p = next;
    }
    while (kept != nullptr) {
      Processor* const next = kept->next_idle.get();
      if (surplus(*kept)) {
        kept->retired.set(true);
      } else {
        put(*kept);
      }
      kept = next;
    }
  }

 private:
  void count_idle(int by) {
    // [park.idle.count] relaxed: exact under the lock, a guess without.
    idle_.store(idle() + static_cast<unsigned>(by), std::memory_order::relaxed);
  }

  // Every machine reads it before each task, so it has a cache line of its own.
  alignas(cache_line) atomic<unsigned> limit_;
  alignas(cache_line) atomic<unsigned> idle_;
  cell<Processor*> idle_list_{nullptr};
  cell<unsigned> held_{0U};
  cell<unsigned> wanted_{0U};
};

/// The second part: the machines that wait for a processor in the middle of a task, in the order in which they came.
/// They get one before all others: no processor becomes idle while one of them waits. The functions are called with the
/// protocol's lock held, except any().
///
/// Its fields, which are written under the lock:
///   first_  the machines that wait, linked by `next_idle`; none of them is in the list of idle machines
///   last_   the last of them, or nullptr
///   any_    whether there is one
template <class Machine, class Processor, class Atomics>
class returning_machines {
  template <class T>
  using cell = typename Atomics::template cell<T>;

 public:
  returning_machines() noexcept : any_(false) {}
  returning_machines(const returning_machines&) = delete;
  returning_machines& operator=(const returning_machines&) = delete;

  /// Any thread.
  [[nodiscard]] bool any() const noexcept {
    // [park.returning] relaxed: [park.returning.set].
    return any_.load(std::memory_order::relaxed);
  }
  void append(Machine& m) {
    m.next_idle.set(nullptr);
    if (last_.get() == nullptr) {
      first_.set(&m);
    } else {
      last_.get()->next_idle.set(&m);
    }
    last_.set(&m);
    m.may_leave.set(false);
    // [park.returning.set] relaxed: decides nothing, see hand_processor_over().
    any_.store(true, std::memory_order::relaxed);
  }
  /// Hands `p` to the first, if there is one, and returns that.
  [[nodiscard]] Machine* hand(Processor& p) {
    Machine* const first = first_.get();
    if (first == nullptr) return nullptr;
    first_.set(first->next_idle.get());
    if (first_.get() == nullptr) {
      last_.set(nullptr);
      // [park.returning.clear] relaxed: [park.returning.set].
      any_.store(false, std::memory_order::relaxed);
    }
    first->handed.set(&p);
    return first;
  }
  /// Returns the first; none of them waits any more.
  [[nodiscard]] Machine* take_all() {
    Machine* const first = first_.get();
    first_.set(nullptr);
    last_.set(nullptr);
    // [park.stop.returning] relaxed: [park.returning.set].
    any_.store(false, std::memory_order::relaxed);
    return first;
  }

 private:
  // Every machine reads it before each task, so it has a cache line of its own, with what changes as rarely.
  alignas(cache_line) typename Atomics::template atomic<bool> any_;
  cell<Machine*> first_{nullptr};
  cell<Machine*> last_{nullptr};
};

/// The protocol, with its third part: which machines sleep, and when one of them is woken. `Processor` and `Machine`
/// are derived from park_processor and park_machine; `Host` is a park_host.
///
/// Its fields, which are written under the lock, but the first one also without:
///   spinning_           the number of machines that look for work and hold a processor, or are about to get one
///   need_spinning_      1: a task was submitted when no machine was spinning and no processor was idle. Written under
///                       the lock
///   dozing_             whether a machine dozes; at most one does, and it is idle
///   idle_machines_      the machines that sleep, or are about to, and that nobody has woken: those whose `idle` is
///                       set. Linked both ways; the one that went to sleep last is the first, because its cache is
///                       the warmest
///   idle_count_         the length of idle_machines_
///   without_processor_  the number of machines in blocking calls whose processors were taken, and of those that are
///                       back and have not queued their tasks yet
///   stopping_           whether stop() was called, and not yet restart()
///
/// Any thread may call submitted(); a machine calls the other functions for itself. Waking takes a lock, so this is not
/// lock-free; submitted() is wait-free while a machine spins or a request is pending.
template <class Machine, class Processor, class Host, class Atomics = std_atomics>
class park_protocol {
  template <class T>
  using atomic = typename Atomics::template atomic<T>;
  template <class T>
  using cell = typename Atomics::template cell<T>;

 public:
  explicit park_protocol(Host& host) noexcept : host_(host), spinning_(0U), need_spinning_(0U), dozing_(false) {
    static_assert(park_host<Host, Machine, Processor>);
    static_assert(park_parker<decltype(Machine::parker)>);
  }
  park_protocol(const park_protocol&) = delete;
  park_protocol& operator=(const park_protocol&) = delete;

  /// Called after a task was made runnable where a thief or any machine can find it: wakes a machine if one is needed
  /// (rule 1). Any thread.
  void submitted() {
    // [park.submit.fence] seq_cst: pairs with [park.machine_idle.fence], [park.doze.fence] and [park.resize.fence];
    // weaker: the last spinning machine goes to sleep although there is a task.
    Atomics::light_fence(std::memory_order::seq_cst);
    submitted_in_order();
  }

  /// Does the same as submitted() without the fence, which is the cost of submitted(). Only after a task was published
  /// by an acquire-release read-modify-write of a place, or under a lock, if work_anywhere() looks there in the same
  /// way. Any thread. If the place belongs to a processor, only its machine, which must have made a seq_cst fence since
  /// it got that processor, because a machine that goes to sleep looks only at the processors that it knows of.
  void submitted_in_order() {
    if (!cared_for()) wake_one();
  }

  /// Makes `task` the next to run in the local_queue of `queue`, and wakes a machine if one is needed. Returns how many
  /// tasks this moved to the global queue. There is a fence only when a task is
  /// displaced: while it moves to the ring it is in no queue, so no machine that looks at that moment is ordered with
  /// it. While a machine dozes, a free slot is filled without waking another. Called by the queue's owner.
  template <class Owner, class Task>
  std::size_t submit_next(Owner& queue, Task* task) {
    const bool in_order = queue.next_is_free();
    const std::size_t overflowed = queue.push_next(task);
    if (in_order) {
      if (!cared_for() && !somebody_dozes()) wake_one();
    } else {
      submitted();
    }
    return overflowed;
  }

  /// Called after a fork was pushed onto the deque that `owner` owns: does what submitted() does. But while a machine
  /// dozes, a fork that is alone wakes nobody: that machine will see it, if its processor does not take it back. Called
  /// by the deque's owner.
  template <class Owner>
  void forked(const Owner& owner) {
    if (fork_wakes(owner)) wake_for_fork();
  }
  /// The two steps of forked(), for a caller that goes on by a tail call: whether wake_for_fork() must come next.
  template <class Owner>
  RUNQ_ON_EVERY_CALL [[nodiscard]] bool fork_wakes(const Owner& owner) noexcept {
    // [park.forked.fence] seq_cst: pairs with [park.machine_idle.fence] and [park.doze.fence], as [park.submit.fence]
    // does; weaker: the last spinning machine, or the one that dozes, goes to sleep although there is a fork.
    Atomics::light_fence(std::memory_order::seq_cst);
    return !cared_for() && (!somebody_dozes() || owner.size_approx() > 1);
  }

  /// The second step: fork_wakes() has said yes.
  void wake_for_fork() { wake_one(); }

  /// Puts a task back that was popped from the deque that `owner` owns, because its owner wanted another one. It was in
  /// no queue meanwhile, so a machine is woken for it if one is needed. Called by the deque's owner.
  template <class Owner, class Task>
  RUNQ_RARELY_CALLED void put_back(Owner& owner, Task task) {
    (void)owner.push(task);  // there is room: this task was in the deque before
    submitted();
  }

  /// Whether machine `m` may look for work elsewhere. At most half as many machines as are busy may do so, because more
  /// would hinder each other; while a request stands, all but one: there is work that nobody looks for, and a machine
  /// that sleeps has to be woken. If the answer is yes, the machine is spinning from now on. Called by the machine
  /// itself.
  [[nodiscard]] bool may_spin(Machine& m) {
    if (m.spinning.get()) return true;
    // [park.spin.limit] relaxed: the limit only saves work, and may be exceeded.
    const unsigned spinning = spinning_.load(std::memory_order::relaxed);
    if (2 * spinning >= limit() - idle_processors() && (spinning + 1 >= limit() || !need_spinning())) return false;
    become_spinning(m);
    return true;
  }

  /// Machine `m` has a task to run. If it was spinning, it stops, and wakes another machine for the work that it leaves
  /// behind if one is needed (rule 2). Called by the machine itself.
  void found(Machine& m) {
    if (!m.spinning.get()) return;
    m.spinning.set(false);
    // [park.found] acq_rel: pairs with [park.machine_idle.spinning], [park.doze.spinning], and itself in other
    // machines. Who lowers the count later sees which requests those had withdrawn who lowered it before; the fence in
    // submitted() is a light one, which is not ordered with that of a submitter. Weaker: this machine relies on a
    // request that was withdrawn, and a submitter on this machine. kept: the proof of park uses it.
    spinning_.fetch_sub(1U, std::memory_order::acq_rel);
    submitted();
  }

  /// Machine `m` found nothing for processor `p`, whose queues are empty: gives `p` up and sleeps, unless it is needed
  /// after all (rule 3). Returns the processor to go on with, or nullptr when the machine leaves: because the scheduler
  /// stops, or because it has slept for long and is one too many. Called by the machine itself.
  [[nodiscard]] Processor* machine_idle(Machine& m, Processor& p) {
    switch (release_processor(m, p, false)) {
      case given::not_now: return &p;
      case given::stopping: found(m); return nullptr;
      case given::up_uncounted: return sleep(m);
      // unreached: a machine that does not ask to doze does not.
      case given::up:
      case given::up_to_doze: break;
    }
    // [park.machine_idle.spinning] release: pairs with [park.found] of a machine that lowers the count after this one.
    // Weaker: that machine relies on the request that this one has withdrawn, and a submitter on that machine.
    spinning_.fetch_sub(1U, std::memory_order::release);
    return sleep_unless_work(m);
  }

  /// Does what machine_idle() does, for machine `m` that spins. But it dozes first, unless another machine does, or no
  /// machine has a processor. It then calls `look` again and again, which says whether it goes on to doze: not if a
  /// task waits in a queue, and not if the chain is over. Called by the machine itself.
  template <class Look>
  [[nodiscard]] Processor* machine_dozes(Machine& m, Processor& p, Look&& look) {
    const given how = release_processor(m, p, true);
    // by chance: the scheduler stops when a machine is about to doze.
    if (how == given::stopping) {
      found(m);
      return nullptr;
    }
    // [park.doze.spinning] release: as [park.machine_idle.spinning]. kept: no model has a machine that dozes beside one
    // that has found a task; park.machine_idle.spinning needs it.
    spinning_.fetch_sub(1U, std::memory_order::release);
    if (how == given::up_to_doze) {
      // [park.doze.fence] seq_cst: pairs with [park.submit.fence] and [park.forked.fence], as [park.machine_idle.fence]
      // does: those who submit to other places than a free runnext slot, or more than a lone fork, wake this machine,
      // or it sees their tasks; weaker: it dozes beside a task.
      Atomics::heavy_fence(std::memory_order::seq_cst);
      while (look()) {
        if (m.parker.doze()) return take_handed(m);
      }
      stop_dozing(m);
    }
    return sleep_unless_work(m);
  }

  /// Machine `m`, which is not spinning, gives up processor `p`, which is surplus and whose tasks it has moved to the
  /// global queue. Returns the processor to go on with, or nullptr when the scheduler stops. Called by the machine
  /// itself.
  [[nodiscard]] Processor* retire_processor(Machine& m, Processor& p) {
    Processor* next = nullptr;
    {
      const std::lock_guard lock(mutex_);
      if (stopping_.get()) return nullptr;
      if (!host_.surplus(p)) {
        // A resize() came in between. It found `p` held by a machine, and so did not make it idle.
        next = &p;
      } else {
        processors_.let_go();
        p.retired.set(true);
        next = processors_.take();
        if (next == nullptr) add_idle(m);
      }
    }
    // A machine that looked at the queues while the tasks were moved has not seen them.
    submitted();
    return next != nullptr ? next : sleep(m);
  }

  /// Machine `m`, for which come_back() had no processor, and which has queued its task, sleeps until another thread
  /// hands it a processor. Returns that, or nullptr when the scheduler stops. Called by the machine itself.
  [[nodiscard]] Processor* idle_without_processor(Machine& m) {
    {
      const std::lock_guard lock(mutex_);
      without_processor_.set(without_processor_.get() - 1);
      if (stopping_.get()) return nullptr;
      add_idle(m);
      // The task may have run already, and the machine that ran it have asked while this one still counted.
      if (processors_.held() == 0) host_.check_deadlock();
    }
    return sleep(m);
  }

  /// Takes processor `p` from the machine that is in a blocking call with it, if `retake` returns true. Hands `p` to
  /// another machine if `busy`: because it has tasks, or because its new machine is to look for work or to poll. Also
  /// if a submitter has asked for a machine, or if `p` is surplus. Otherwise makes it idle. Returns whether it was
  /// taken. Called by the monitor.
  template <class Retake>
  bool hand_off(Processor& p, Retake&& retake, bool busy) {
    Machine* m = nullptr;
    {
      const std::lock_guard lock(mutex_);
      if (stopping_.get() || !retake()) return false;
      without_processor_.set(without_processor_.get() + 1);
      // [park.handoff.need] relaxed: set under the lock.
      const bool asked = need_spinning_.load(std::memory_order::relaxed) != 0;
      m = returning_.hand(p);
      if (m == nullptr) {
        // A surplus processor needs a machine that retires it and moves its tasks.
        if (!busy && !asked && !host_.surplus(p)) {
          processors_.let_go();
          processors_.put(p);
          if (processors_.held() == 0) host_.check_deadlock();
          return true;
        }
        // [park.handoff.spin] relaxed: as [park.spin].
        spinning_.fetch_add(1U, std::memory_order::relaxed);
        m = wake_machine_for(p);
      }
    }
    if (m != nullptr) {
      m->parker.unpark();
    } else {
      host_.start_machine(p);
    }
    return true;
  }

  /// A machine comes back from a blocking call during which its processor was taken: gets an idle processor, if there
  /// is one. Otherwise it counts for without_processor() until idle_without_processor(): its task is in no queue yet.
  [[nodiscard]] Processor* come_back() {
    const std::lock_guard lock(mutex_);
    Processor* const p = stopping_.get() ? nullptr : processors_.take();
    if (p != nullptr) without_processor_.set(without_processor_.get() - 1);
    return p;
  }

  /// Machine `m` comes back from such a call and must go on with what it does: waits for a processor, and gets one
  /// before all others. Returns nullptr only when the scheduler stops.
  [[nodiscard]] Processor* come_back_waiting(Machine& m) {
    {
      const std::lock_guard lock(mutex_);
      without_processor_.set(without_processor_.get() - 1);
      if (stopping_.get()) return nullptr;
      if (Processor* const p = processors_.take()) return p;
      returning_.append(m);
    }
    return sleep(m);
  }

  /// Whether a machine waits in come_back_waiting(). A machine asks before every task. Any thread.
  [[nodiscard]] bool somebody_returns() const noexcept { return returning_.any(); }

  /// Machine `m` gives its processor to one that waits in come_back_waiting(), and takes another or sleeps. Returns
  /// what machine_idle() returns. Called by the machine itself.
  [[nodiscard]] Processor* hand_processor_over(Machine& m, Processor& p) {
    Machine* returning = nullptr;
    {
      const std::lock_guard lock(mutex_);
      returning = returning_.hand(p);
      // by chance: another machine was faster.
      if (returning == nullptr) return &p;
      add_idle(m);
    }
    returning->parker.unpark();
    return sleep(m);
  }

  /// The number of machines in blocking calls whose processors were taken, and of those that are back and have not
  /// queued their tasks yet: they will make tasks runnable. With the lock held.
  [[nodiscard]] unsigned without_processor() const { return without_processor_.get(); }

  /// Sets the number of processors to `n`. New ones are idle; if a submitter has left a request, one machine is woken.
  /// Surplus processors that are idle retire at once, the others when their machines notice (surplus(),
  /// retire_processor()). After stop() this takes effect at restart(). Returns the former number. Any thread.
  unsigned resize(unsigned n) {
    unsigned before = 0;
    to_wake who;
    {
      const std::lock_guard lock(mutex_);
      before = processors_.wanted();
      processors_.want(n);
      // If a processor became idle now, restart() would make it idle once more, and two machines would come to hold it.
      if (!stopping_.get()) who = set_limit(n);
    }
    wake_all(who.returning);
    if (who.spinner) request_withdrawn();
    return before;
  }

  /// Makes every machine leave at its next machine_idle() or retire_processor(); wakes those that sleep. Any thread.
  void stop() {
    Machine* sleeping = nullptr;
    Machine* returning = nullptr;
    {
      const std::lock_guard lock(mutex_);
      stopping_.set(true);
      processors_.stop();
      retire_surplus();
      sleeping = idle_machines_.get();
      idle_machines_.set(nullptr);
      idle_count_.set(0);
      for (Machine* m = sleeping; m != nullptr; m = m->next_idle.get()) {
        m->idle.set(false);
        not_dozing(*m);
      }
      returning = returning_.take_all();
    }
    wake_all(returning);
    wake_all(sleeping);
  }

  /// Resets the protocol after stop(), when all machines have left. It gets as many processors as the last resize()
  /// said; they are the first of the `processors_made` processors.
  void restart(unsigned processors_made) {
    to_wake who;
    {
      const std::lock_guard lock(mutex_);
      stopping_.set(false);
      processors_.restart();
      for (unsigned i = 0; i != processors_made; ++i) host_.processor_at(i).retired.set(true);
      who = set_limit(processors_.wanted());
    }
    wake_all(who.returning);
    if (who.spinner) request_withdrawn();
  }

  /// Wakes or starts a machine for each idle processor, which looks for work and sleeps where there is none: so later
  /// work wakes threads that exist. Any thread.
  void start_all() {
    mutex_.lock();
    start_while([] { return true; });
  }

  /// Whether start_more() may wake a machine: a processor is idle, and fewer machines look for work than run tasks. Any
  /// thread.
  [[nodiscard]] bool may_start_more() const noexcept {
    const unsigned idle = idle_processors();
    return idle != 0 && 2 * spinning() < limit() - idle;
  }

  /// A machine that has found work has seen so many other tasks, after found(): wakes or starts two more machines, as
  /// long as fewer look for work than there are tasks. So machines start as a tree: where each one wakes the next, the
  /// last of n begins after n wake-ups. It only saves time, and so does not wait for the lock. Any thread.
  void start_more(std::size_t tasks) {
    const auto wanted = [this, tasks] { return may_start_more() && spinning() < tasks; };
    if (!wanted() || !lock_unless(mutex_, [] { return true; })) return;
    start_while([&wanted, n = 0]() mutable { return n++ != 2 && wanted(); });
  }

  /// start_machine() did not start its machine, because the scheduler stops. Called by start_machine()'s thread.
  void not_started() {
    // [park.not_started] relaxed: a stopping scheduler's counts do not matter any more.
    spinning_.fetch_sub(1U, std::memory_order::relaxed);
  }

  /// Runs `f` while no processor can change hands: for questions about the whole scheduler. Any thread.
  template <class F>
  auto with_lock(F&& f) {
    const std::lock_guard lock(mutex_);
    return f();
  }

  /// How many machines sleep; with the lock held.
  [[nodiscard]] std::size_t idle_machines() const { return idle_count_.get(); }

  /// How many processors machines hold; with the lock held.
  [[nodiscard]] unsigned held() const { return processors_.held(); }

  /// The number of processors. Any thread.
  [[nodiscard]] unsigned limit() const noexcept { return processors_.limit(); }
  /// Whether a machine dozes. Any thread.
  [[nodiscard]] bool somebody_dozes() const noexcept {
    // [park.doze.read] relaxed: in submit_next(), ordered by how the task was published; in forked(), by the fence.
    return dozing_.load(std::memory_order::relaxed);
  }
  /// idle_processors(), spinning() and need_spinning() are for statistics. Any thread.
  [[nodiscard]] unsigned idle_processors() const noexcept { return processors_.idle(); }
  [[nodiscard]] unsigned spinning() const noexcept {
    // [park.spinning.read] relaxed: a guess.
    return spinning_.load(std::memory_order::relaxed);
  }
  [[nodiscard]] bool need_spinning() const noexcept {
    // [park.need.read] relaxed: a guess.
    return need_spinning_.load(std::memory_order::relaxed) != 0;
  }

 private:
  // The machines that the caller wakes after it has released the lock: a system call under it would make all others
  // wait.
  struct to_wake {
    Machine* returning = nullptr;  // each has its processor; linked by `next_idle`
    bool spinner = false;          // whether one is to be woken to spin, by request_withdrawn()
  };

  // With the lock held.
  [[nodiscard]] to_wake set_limit(unsigned n) {
    to_wake who;
    processors_.set_limit(n);
    retire_surplus();
    for (unsigned i = n; i-- != 0;) {
      Processor& p = host_.processor_at(i);
      if (!p.retired.get()) continue;
      if (Machine* const returning = returning_.hand(p)) {
        processors_.take_retired(p);
        returning->next_idle.set(std::exchange(who.returning, returning));
        continue;
      }
      processors_.put(p);
      // [park.resize.need] relaxed: set under the lock. If tasks wait that no spinning machine is about to find, there
      // is a request.
      who.spinner = need_spinning_.load(std::memory_order::relaxed) != 0;
    }
    // The machine that request_withdrawn() wakes then answers the request.
    if (who.spinner) withdraw_request();
    return who;
  }

  // Does what submitted() does, for a thread that has withdrawn a request and does not look at the queues itself.
  void request_withdrawn() {
    // [park.resize.fence] seq_cst: pairs with [park.submit.fence] of a machine that has found a task, whose fence is
    // light, so this one is heavy; weaker: that machine relies on the withdrawn request, and this thread on that
    // machine.
    Atomics::heavy_fence(std::memory_order::seq_cst);
    submitted_in_order();
  }

  // Wakes or starts a machine for an idle processor, as long as there is one and `more()`. The caller has taken the
  // lock, which this releases.
  template <class More>
  void start_while(More&& more) {
    Machine* woken = nullptr;
    Processor* without = nullptr;  // the processors for which no machine sleeps; linked by `next_idle`
    {
      const std::lock_guard lock(mutex_, std::adopt_lock);
      if (stopping_.get()) return;
      while (more()) {
        Processor* const p = processors_.take();
        if (p == nullptr) break;
        // [park.all.spin] relaxed: as [park.spin].
        spinning_.fetch_add(1U, std::memory_order::relaxed);
        if (Machine* const m = wake_machine_for(*p)) {
          m->next_idle.set(std::exchange(woken, m));
        } else {
          p->next_idle.set(std::exchange(without, p));
        }
      }
    }
    wake_all(woken);
    while (without != nullptr) {
      Processor* const next = without->next_idle.get();
      host_.start_machine(*without);
      without = next;
    }
  }

  // A machine that has been woken may be destroyed at once.
  static void wake_all(Machine* first) {
    while (first != nullptr) {
      Machine* const next = first->next_idle.get();
      first->parker.unpark();
      first = next;
    }
  }

  void become_spinning(Machine& m) {
    m.spinning.set(true);
    // [park.spin] relaxed: rule 3 orders what matters.
    spinning_.fetch_add(1U, std::memory_order::relaxed);
  }

  // With the lock held, because a processor becomes idle; by a thread that makes its heavy fence after that, and then
  // looks at all queues, or asks whether a machine spins.
  void withdraw_request() {
    // [park.need.clear] relaxed: ordered by that fence.
    need_spinning_.store(0U, std::memory_order::relaxed);
  }

  // Whether a machine looks for work, or is asked to: then a submitter wakes none. Asked after the task was published,
  // and after the fence if there is one; once or any number of times. Asks for the request first, because that changes
  // rarely, and the number with each machine that begins or ends to look.
  [[nodiscard]] bool cared_for() const {
    // [park.submit.need] relaxed: ordered by the fence, or by how the task was published: a machine that withdraws the
    // request looks at all queues after a fence.
    if (need_spinning_.load(std::memory_order::relaxed) != 0) return true;
    // [park.submit.spinning] relaxed: likewise.
    return spinning_.load(std::memory_order::relaxed) != 0;
  }

  // Wakes one machine with one idle processor, unless another submitter was faster: one spinning machine is enough.
  // Only a machine that will look at all queues is ever counted in `spinning_`. If a submitter counted itself while it
  // looks for an idle processor, other submitters would rely on it although it may find none.
  //
  // A submitter that waits for the lock goes on asking cared_for(), and gives up when the answer is yes: when many
  // submit at once, most need not take the lock. No wake-up is lost, because the question comes after the fence, and a
  // late answer is as good as the first. A machine that was counted lowers the count after that. Either it has found
  // work, and submits itself; or it makes its fence, which comes after the submitter's, and so finds the task at its
  // last look. That machine may hold this very lock, to go to sleep: it lowers the count when it has released the lock.
  // A request stays until a machine withdraws it that will do one of the two, or until resize() does, which submits.
  // Not inlined, so that submitted() is short where it wakes nobody.
  [[gnu::noinline]] void wake_one() {
    Processor* p = nullptr;
    Machine* m = nullptr;
    {
      if (!lock_unless(mutex_, [this] { return cared_for(); })) return;
      const std::lock_guard lock(mutex_, std::adopt_lock);
      // [park.one.again] relaxed: ordered by the lock, which wakers hold while they raise it.
      if (spinning_.load(std::memory_order::relaxed) != 0) return;
      p = processors_.take();
      if (p == nullptr) {
        // [park.need.set] relaxed: machines that give up a processor read it under the lock.
        need_spinning_.store(1U, std::memory_order::relaxed);
        return;
      }
      // [park.one.spin] relaxed: ordered by the lock.
      spinning_.fetch_add(1U, std::memory_order::relaxed);
      m = wake_machine_for(*p);
    }
    if (m != nullptr) {
      m->parker.unpark();
    } else {
      host_.start_machine(*p);
    }
  }

  // With the lock held: takes a machine out of the idle list and hands it `p`; the machine will wake up spinning.
  [[nodiscard]] Machine* wake_machine_for(Processor& p) {
    // A machine that finds work in the poller is awake already. A machine in a blocking call is not in the idle list.
    Machine* m = host_.this_idle_machine();
    if (m == nullptr || !m->idle.get()) m = idle_machines_.get();
    if (m == nullptr) return nullptr;
    remove_idle(*m);
    m->handed.set(&p);
    m->spinning.set(true);
    return m;
  }

  enum class given : unsigned char { up, up_uncounted, up_to_doze, not_now, stopping };

  // Gives `p` up and puts `m` into the idle list. But if a submitter has asked for a spinning machine, and none spins,
  // `m` becomes one. If one does, `m` answers the request as a machine does that has found nothing: it is counted, and
  // looks at all queues once more. `to_doze`: from now on `m` dozes, if it may.
  [[nodiscard]] given release_processor(Machine& m, Processor& p, bool to_doze) {
    Machine* returning = nullptr;
    const given how = release_with_lock(m, p, to_doze, returning);
    if (returning != nullptr) returning->parker.unpark();
    return how;
  }
  // If this sets `returning`, that machine has got `p`, and the caller wakes it.
  [[nodiscard]] given release_with_lock(Machine& m, Processor& p, bool to_doze, Machine*& returning) {
    const std::lock_guard lock(mutex_);
    // A stopping scheduler's processors and counts do not matter any more.
    if (stopping_.get()) return given::stopping;
    // [park.need.heed] relaxed: set under the lock.
    if (!m.spinning.get() && need_spinning_.load(std::memory_order::relaxed) != 0) {
      const bool alone = spinning() == 0;
      become_spinning(m);
      if (alone) return given::not_now;
    }
    const bool counted = m.spinning.get();
    // A spinning machine is going to look at all queues, and so answers the request.
    if (counted) withdraw_request();
    // Cleared here rather than with the count, because from now on a waker may write the flag.
    m.spinning.set(false);
    add_idle(m);
    returning = returning_.hand(p);
    if (returning == nullptr) {
      processors_.let_go();
      processors_.put(p);
      if (processors_.held() == 0) host_.check_deadlock();
    }
    if (!counted) return given::up_uncounted;
    if (!to_doze || somebody_dozes() || processors_.held() == 0) return given::up;
    m.dozes.set(true);
    // [park.doze.set] relaxed: before this the machine was counted as spinning, and is until after this; a submitter
    // that sees neither wakes a machine.
    dozing_.store(true, std::memory_order::relaxed);
    return given::up_to_doze;
  }

  // Machine `m` has dozed, and was not woken: from now on it cares for nothing.
  void stop_dozing(Machine& m) {
    const std::lock_guard lock(mutex_);
    not_dozing(m);
  }
  // With the lock held.
  void not_dozing(Machine& m) {
    if (!m.dozes.get()) return;
    m.dozes.set(false);
    // [park.doze.clear] relaxed: a submitter that sees the machine doze has filled a runnext slot before, or made a
    // fork and a fence. The machine looks there after this, by a read-modify-write and after a fence, unless it was
    // woken: then it looks at all queues, because it spins.
    dozing_.store(false, std::memory_order::relaxed);
  }
  // The second half of machine_idle(), for a machine that was spinning, or dozed.
  [[nodiscard]] Processor* sleep_unless_work(Machine& m) {
    // [park.machine_idle.fence] seq_cst: pairs with [park.submit.fence], [park.forked.fence], and [monitor.wake.fence]
    // of a machine that has just got its processor; weaker: the last spinning machine goes to sleep although there is a
    // task.
    Atomics::heavy_fence(std::memory_order::seq_cst);
    if (host_.work_anywhere()) {
      if (Processor* const again = take_back(m)) return again;
    }
    return sleep(m);
  }

  // There is work after all. Returns a processor for `m`. Returns nullptr if all processors are busy, after leaving a
  // request for their machines, or if `m` has been woken meanwhile.
  [[nodiscard]] Processor* take_back(Machine& m) {
    const std::lock_guard lock(mutex_);
    if (!m.idle.get()) return nullptr;
    Processor* const p = processors_.take();
    if (p == nullptr) {
      // [park.need.set_late] relaxed: as [park.need.set].
      need_spinning_.store(1U, std::memory_order::relaxed);
      return nullptr;
    }
    remove_idle(m);
    become_spinning(m);
    return p;
  }

  // Sleeps until another thread hands `m` a processor; nullptr: the scheduler stops, or `m` was one too many for long.
  [[nodiscard]] Processor* sleep(Machine& m) {
    if (m.may_leave.get()) {
      // by chance: another thread wakes the machine when it is about to leave; models/cases/scheduler/park/.
      while (!m.parker.park_for_long()) {
        if (leave(m)) return nullptr;
      }
    } else {
      m.parker.park();
    }
    return take_handed(m);
  }

  // What the thread that has woken `m` handed it.
  [[nodiscard]] Processor* take_handed(Machine& m) {
    Processor* const p = m.handed.get();
    m.handed.set(nullptr);
    return p;
  }

  // Machine `m` has slept for long. True: nobody will wake it any more. False: somebody is about to.
  [[nodiscard]] bool leave(Machine& m) {
    const std::lock_guard lock(mutex_);
    // by chance: as in sleep().
    if (!m.idle.get()) return false;
    remove_idle(m);
    return true;
  }

  // The caller of all functions below holds the lock.
  void retire_surplus() {
    processors_.retire_idle([this](Processor& p) { return host_.surplus(p); });
  }
  void add_idle(Machine& m) {
    Machine* const first = idle_machines_.get();
    m.previous_idle.set(nullptr);
    m.next_idle.set(first);
    if (first != nullptr) first->previous_idle.set(&m);
    idle_machines_.set(&m);
    idle_count_.set(idle_count_.get() + 1);
    m.idle.set(true);
    m.may_leave.set(!host_.keeps(idle_count_.get()));
  }
  void remove_idle(Machine& m) {
    Machine* const previous = m.previous_idle.get();
    Machine* const next = m.next_idle.get();
    if (previous != nullptr) {
      previous->next_idle.set(next);
    } else {
      idle_machines_.set(next);
    }
    if (next != nullptr) next->previous_idle.set(previous);
    idle_count_.set(idle_count_.get() - 1);
    m.idle.set(false);
    not_dozing(m);
  }

  Host& host_;
  // Apart, so that submitters who find a request do not wait for the number's line.
  alignas(cache_line) atomic<unsigned> spinning_;
  alignas(cache_line) atomic<unsigned> need_spinning_;
  atomic<bool> dozing_;
  returning_machines<Machine, Processor, Atomics> returning_;
  // The lock, and what is written under it, have a cache line in common with the last fields of this.
  [[no_unique_address]] processor_pool<Processor, Atomics> processors_;
  typename Atomics::mutex mutex_;
  cell<Machine*> idle_machines_{nullptr};
  cell<std::size_t> idle_count_{std::size_t{0}};
  cell<unsigned> without_processor_{0U};
  cell<bool> stopping_{false};
};

}  // namespace runq
