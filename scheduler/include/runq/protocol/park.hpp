// SPDX-License-Identifier: MIT
// park: who sleeps and who is woken: the part of a scheduler that decides when a machine (thread) gives up its
// processor and when somebody fetches it back.
//
// The property that it keeps: never is a task runnable while a processor is idle and nobody is on the way to look for
// it. Source of the protocol: Go's scheduler (runtime/proc.go: wakep, startm, resetspinning, findRunnable's last part,
// needspinning of golang/go#45867). Steps, picture and rejected designs: docs/scheduler.md. Models:
// models/cases/scheduler/park/.
//
// Three rules:
//   1. Whoever makes a task runnable then asks whether a machine is spinning (looking for work); if none is and a
//      processor is idle, it wakes one machine, which spins.                                        submitted()
//   2. A spinning machine that finds work stops spinning and does as in rule 1: it may have been the only one. found()
//   3. A spinning machine that finds nothing gives up its processor, stops spinning, and looks at all queues once
//      more before it sleeps.                                                                       rest()
// Rules 1 and 3 are the two sides of a Dekker handshake: publish work, fence, read `spinning_` ‖ lower `spinning_`,
// fence, read all queues. With both fences one of the two sees the other. The submitter needs none if it publishes by
// a read-modify-write, or under a lock, and the look is one on the same place, or takes that lock: whichever of the two
// comes second then sees what the first one did before.                                          submitted_in_order()
// Machines that were not spinning do not look again; `need_spinning_` covers them: a submitter who finds neither a
// spinner nor an idle processor leaves a request, and a machine that is about to give up its processor heeds it.
#pragma once

#include <atomic>
#include <cstddef>
#include <mutex>
#include <utility>

#include "runq/atomics.hpp"
#include "runq/common.hpp"

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
  cell<Processor*> handed{nullptr};       // under the lock until the machine is woken, then the machine's
  cell<bool> spinning{false};             // the machine's; the waker's while it wakes it
};

/// The protocol. `Host` is the scheduler around it, and has
/// - `bool work_anywhere()`: whether any queue holds a task, by its look() where it has one; called without the lock
/// - `bool surplus(Processor&)`: whether that processor is one too many since the last resize()
/// - `Processor& processor_at(unsigned)`: the i-th processor, for resize()
/// - `void start_machine(Processor&)`: starts one more machine, spinning, with that processor
/// - `Machine* this_idle_machine()`: the calling thread's machine, or nullptr if it is none or holds a processor
/// - `void all_idle()`: with the lock held: no machine holds a processor
///
/// Any thread may call submitted(); a machine calls the others for itself. Wake-ups take a lock, so this is not
/// lock-free; submitted() is wait-free while somebody spins or a request is pending.
template <class Machine, class Processor, class Host, class Atomics = std_atomics>
class park_protocol {
  template <class T>
  using atomic = typename Atomics::template atomic<T>;
  template <class T>
  using cell = typename Atomics::template cell<T>;

 public:
  explicit park_protocol(Host& host) noexcept
      : host_(host), spinning_(0U), need_spinning_(0U), idle_processors_(0U), limit_(0U) {}
  park_protocol(const park_protocol&) = delete;
  park_protocol& operator=(const park_protocol&) = delete;

  /// To be called after a task was made runnable where a thief or any machine can find it: wakes a machine if one is
  /// needed (rule 1). Any thread.
  void submitted() {
    // [park.submit.fence] seq_cst: pairs with [park.rest.fence]; weaker: the last spinner goes to sleep beside the
    // task.
    Atomics::fence(std::memory_order::seq_cst);
    submitted_in_order();
  }

  /// The same after the task was published by an acquire and release read-modify-write of a place, or under a lock,
  /// with which work_anywhere() looks as well: without the fence, which is what submitted() costs. Any thread; where
  /// the place belongs to a processor, its machine, which has made a seq_cst fence since it got that: a machine that
  /// goes to sleep looks at the processors that it knows of.
  void submitted_in_order() {
    // [park.submit.spinning] relaxed: ordered by the fence, or by how the task was published.
    if (spinning_.load(std::memory_order::relaxed) != 0) return;
    // [park.submit.need] relaxed: likewise: who withdraws the request looks at all queues after a fence.
    if (need_spinning_.load(std::memory_order::relaxed) != 0) return;
    wake_one();
  }

  /// Makes `task` the next to run in the local_queue of `queue`, and wakes a machine if one is needed. Returns how many
  /// tasks went to the global queue on that account. With work_anywhere() that look()s, there is a fence only when a
  /// task is displaced: on its way to the ring it is nobody's, and who looks meanwhile has no place to find it in
  /// order. The queue's owner.
  template <class Owner, class Task>
  std::size_t submit_next(Owner& queue, Task* task) {
    const bool in_order = queue.next_is_free();
    const std::size_t overflowed = queue.push_next(task);
    if (in_order) {
      submitted_in_order();
    } else {
      submitted();
    }
    return overflowed;
  }

  /// Takes the newest task of the deque that `owner` owns if it is `wanted`, and returns whether. Another one goes
  /// back; on its way it was in no queue, so a machine is woken for it if one is needed. The deque's owner.
  template <class Owner, class Task>
  bool take_newest(Owner& owner, Task wanted) {
    const auto newest = owner.pop();
    if (!newest) return false;
    if (*newest == wanted) return true;
    (void)owner.push(*newest);  // there is room: it was here a moment ago
    submitted();
    return false;
  }

  /// Whether machine `m` may look for work elsewhere: at most half as many machines as are busy do so, because more
  /// would only be in each other's way. If so, it is spinning from now on. The machine itself.
  [[nodiscard]] bool may_spin(Machine& m) {
    if (m.spinning.get()) return true;
    // [park.spin.limit] relaxed: a limit for economy, which may be overshot.
    const unsigned spinning = spinning_.load(std::memory_order::relaxed);
    if (2 * spinning >= limit() - idle_processors()) return false;
    become_spinning(m);
    return true;
  }

  /// Machine `m` has a task to run: if it was spinning, it no longer is, and it sees to it that somebody else looks for
  /// what it leaves behind (rule 2). The machine itself.
  void found(Machine& m) {
    if (!m.spinning.get()) return;
    m.spinning.set(false);
    // [park.found] relaxed: submitted() has the fence.
    spinning_.fetch_sub(1U, std::memory_order::relaxed);
    submitted();
  }

  /// Machine `m` found nothing for processor `p`, whose queues are empty: gives `p` up and sleeps, unless it is needed
  /// after all (rule 3). Returns the processor to go on with, or nullptr when the scheduler stops. The machine itself.
  [[nodiscard]] Processor* rest(Machine& m, Processor& p) {
    const bool was_spinning = m.spinning.get();
    Machine* returning = nullptr;
    switch (give_up(m, p, returning)) {
      case given::not_now: return &p;
      case given::stopping: found(m); return nullptr;
      case given::up: break;
    }
    if (returning != nullptr) returning->parker.unpark();
    if (was_spinning) {
      // [park.rest.spinning] relaxed: ordered by the fence.
      spinning_.fetch_sub(1U, std::memory_order::relaxed);
      // [park.rest.fence] seq_cst: pairs with [park.submit.fence]; weaker: the last spinner goes to sleep beside a
      // task.
      Atomics::fence(std::memory_order::seq_cst);
      if (host_.work_anywhere()) {
        if (Processor* const again = take_back(m)) return again;
      }
    }
    return sleep(m);
  }

  /// Machine `m`, which is not spinning, gives up processor `p`, which is surplus and whose tasks it has moved to the
  /// global queue. Returns the processor to go on with, or nullptr when the scheduler stops. The machine itself.
  [[nodiscard]] Processor* retire(Machine& m, Processor& p) {
    Processor* next = nullptr;
    {
      const std::lock_guard lock(mutex_);
      if (stopping_.get()) return nullptr;
      if (!host_.surplus(p)) {
        // A resize() came in between, which took `p` for held and so did not make it idle.
        next = &p;
      } else {
        held_.set(held_.get() - 1);
        p.retired.set(true);
        next = pop_idle();
        if (next == nullptr) add_idle(m);
      }
    }
    // Whoever looked at the queues while the tasks were moved has not seen them.
    submitted();
    return next != nullptr ? next : sleep(m);
  }

  /// Machine `m`, which holds no processor, sleeps until somebody hands it one. Returns that, or nullptr when the
  /// scheduler stops. The machine itself.
  [[nodiscard]] Processor* rest_without(Machine& m) {
    {
      const std::lock_guard lock(mutex_);
      if (stopping_.get()) return nullptr;
      add_idle(m);
    }
    return sleep(m);
  }

  /// Takes processor `p` from the machine that is in a blocking call with it, if `retake` says yes, and hands it to
  /// another one if `busy` (it has tasks) or nobody looks for work; else it is idle. Returns whether it was taken. The
  /// monitor.
  template <class Retake>
  bool hand_off(Processor& p, Retake&& retake, bool busy) {
    Machine* m = nullptr;
    {
      const std::lock_guard lock(mutex_);
      if (stopping_.get() || !retake()) return false;
      without_processor_.set(without_processor_.get() + 1);
      // [park.handoff.need] relaxed: set under the lock. [park.handoff.spinning] relaxed: who stops spinning looks
      // again.
      const bool asked = need_spinning_.load(std::memory_order::relaxed) != 0;
      m = pop_returning(p);
      if (m == nullptr) {
        // One that is surplus is retired by a machine, which moves its tasks.
        if (!busy && !asked && !host_.surplus(p)) {
          held_.set(held_.get() - 1);
          push_idle(p);
          if (held_.get() == 0) host_.all_idle();
          return true;
        }
        // [park.handoff.spin] relaxed: as [park.spin].
        spinning_.fetch_add(1U, std::memory_order::relaxed);
        withdraw_request();
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

  /// Machine `m` comes back from a blocking call during which its processor was taken: another one, if one is idle.
  [[nodiscard]] Processor* come_back() {
    const std::lock_guard lock(mutex_);
    without_processor_.set(without_processor_.get() - 1);
    return stopping_.get() ? nullptr : pop_idle();
  }

  /// The same for a machine that must go on with what it does: waits for a processor, before all others. Returns
  /// nullptr only when the scheduler stops.
  [[nodiscard]] Processor* come_back_waiting(Machine& m) {
    {
      const std::lock_guard lock(mutex_);
      without_processor_.set(without_processor_.get() - 1);
      if (stopping_.get()) return nullptr;
      if (Processor* const p = pop_idle()) return p;
      m.next_idle.set(nullptr);
      if (last_returning_.get() == nullptr) {
        first_returning_.set(&m);
      } else {
        last_returning_.get()->next_idle.set(&m);
      }
      last_returning_.set(&m);
      // [park.returning.set] relaxed: decides nothing, see pass_on().
      returning_.store(true, std::memory_order::relaxed);
    }
    return sleep(m);
  }

  /// Whether a machine waits in come_back_waiting(). To be asked before every task. Any thread.
  [[nodiscard]] bool somebody_returns() const noexcept {
    // [park.returning] relaxed: [park.returning.set].
    return returning_.load(std::memory_order::relaxed);
  }

  /// Machine `m` gives its processor to one that waits in come_back_waiting(), and takes another or sleeps. Returns
  /// what rest() returns. The machine itself.
  [[nodiscard]] Processor* pass_on(Machine& m, Processor& p) {
    Machine* returning = nullptr;
    {
      const std::lock_guard lock(mutex_);
      returning = pop_returning(p);
      if (returning == nullptr) return &p;
      add_idle(m);
    }
    returning->parker.unpark();
    return sleep(m);
  }

  /// Machines in blocking calls whose processors were taken: they will make tasks runnable. With the lock held.
  [[nodiscard]] unsigned without_processor() const { return without_processor_.get(); }

  /// From now on there are `n` processors. New ones are idle, and one is woken if a submitter has asked for one before
  /// there was any; idle ones that are too many go at once, the others when their machines notice (surplus(),
  /// retire()). After stop() this takes effect at restart(). Returns the former number. Any thread.
  unsigned resize(unsigned n) {
    unsigned before = 0;
    to_wake who;
    {
      const std::lock_guard lock(mutex_);
      before = wanted_.get();
      wanted_.set(n);
      // A processor that became idle now would be so again at restart(), and two machines would come to hold it.
      if (!stopping_.get()) who = set_limit(n);
    }
    wake_all(who.returning);
    if (who.spinner) submitted();
    return before;
  }

  /// Every machine leaves at its next rest() or retire(); the sleeping ones are woken. Any thread.
  void stop() {
    Machine* sleeping = nullptr;
    Machine* returning = nullptr;
    {
      const std::lock_guard lock(mutex_);
      stopping_.set(true);
      // [park.stop.limit] relaxed: all processors are surplus now; there is no new one to be seen.
      limit_.store(0, std::memory_order::relaxed);
      drop_surplus();
      sleeping = idle_machines_.get();
      idle_machines_.set(nullptr);
      for (Machine* m = sleeping; m != nullptr; m = m->next_idle.get()) m->idle.set(false);
      returning = first_returning_.get();
      first_returning_.set(nullptr);
      last_returning_.set(nullptr);
      // [park.stop.returning] relaxed: [park.returning.set].
      returning_.store(false, std::memory_order::relaxed);
    }
    wake_all(returning);
    wake_all(sleeping);
  }

  /// Makes the protocol as new, after stop() and after all machines have left, with as many processors as the last
  /// resize() said, which are among the first `processors_made`.
  void restart(unsigned processors_made) {
    to_wake who;
    {
      const std::lock_guard lock(mutex_);
      stopping_.set(false);
      held_.set(0);
      for (unsigned i = 0; i != processors_made; ++i) host_.processor_at(i).retired.set(true);
      who = set_limit(wanted_.get());
    }
    wake_all(who.returning);
    if (who.spinner) submitted();
  }

  /// The machine that start_machine() was to start was not started, because the scheduler stops. The caller of that.
  void not_started() {
    // [park.not_started] relaxed: a stopping scheduler's counts do not matter any more.
    spinning_.fetch_sub(1U, std::memory_order::relaxed);
  }

  /// Runs `f` when no processor can change hands: for questions about the whole scheduler. Any thread.
  template <class F>
  auto with_lock(F&& f) {
    const std::lock_guard lock(mutex_);
    return f();
  }

  /// How many machines sleep; with the lock held.
  [[nodiscard]] std::size_t idle_machines() const {
    std::size_t n = 0;
    for (const Machine* m = idle_machines_.get(); m != nullptr; m = m->next_idle.get()) ++n;
    return n;
  }

  /// How many processors machines hold; with the lock held.
  [[nodiscard]] unsigned held() const { return held_.get(); }

  /// The number of processors. Any thread.
  [[nodiscard]] unsigned limit() const noexcept {
    // [park.limit] acquire: pairs with [park.resize.limit]: a thief goes to as many processors as this says.
    return limit_.load(std::memory_order::acquire);
  }
  /// For statistics, all three. Any thread.
  [[nodiscard]] unsigned idle_processors() const noexcept {
    // [park.idle.read] relaxed: a guess.
    return idle_processors_.load(std::memory_order::relaxed);
  }
  [[nodiscard]] unsigned spinning() const noexcept {
    // [park.spinning.read] relaxed: a guess.
    return spinning_.load(std::memory_order::relaxed);
  }
  [[nodiscard]] bool need_spinning() const noexcept {
    // [park.need.read] relaxed: a guess.
    return need_spinning_.load(std::memory_order::relaxed) != 0;
  }

 private:
  // Whom the caller is to wake once it has released the lock: a system call under it would let everybody wait.
  struct to_wake {
    Machine* returning = nullptr;  // each with its processor; linked by `next_idle`
    bool spinner = false;          // by submitted()
  };

  // With the lock held.
  [[nodiscard]] to_wake set_limit(unsigned n) {
    to_wake who;
    // [park.resize.limit] release: pairs with [park.limit]: who sees the number also sees the processors, which may
    // have been made just before. Who sees it late retires late.
    limit_.store(n, std::memory_order::release);
    drop_surplus();
    for (unsigned i = n; i-- != 0;) {
      Processor& p = host_.processor_at(i);
      if (!p.retired.get()) continue;
      if (Machine* const returning = pop_returning(p)) {
        p.retired.set(false);
        held_.set(held_.get() + 1);
        returning->next_idle.set(std::exchange(who.returning, returning));
        continue;
      }
      push_idle(p);
      // [park.resize.need] relaxed: set under the lock. Tasks that no spinner is about to find have left a request.
      who.spinner = need_spinning_.load(std::memory_order::relaxed) != 0;
    }
    // The machine that submitted() wakes then answers it.
    if (who.spinner) withdraw_request();
    return who;
  }

  // A woken machine may be gone at once.
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
    withdraw_request();
  }

  // By a machine that is or becomes spinning, and so will look at all queues.
  void withdraw_request() {
    // [park.need.clear] relaxed: the fence of the next rest() or submitted() comes before it matters.
    need_spinning_.store(0U, std::memory_order::relaxed);
  }

  // Wakes one machine with one idle processor, unless another submitter was faster: one spinner is enough. Only a
  // machine that will look at all queues is ever counted in `spinning_`: a submitter who counted itself while it looks
  // for an idle processor, and finds none, would be taken for a spinner meanwhile.
  void wake_one() {
    Processor* p = nullptr;
    Machine* m = nullptr;
    {
      const std::lock_guard lock(mutex_);
      // [park.one.again] relaxed: ordered by the lock, which wakers raise it under.
      if (spinning_.load(std::memory_order::relaxed) != 0) return;
      p = pop_idle();
      if (p == nullptr) {
        // [park.need.set] relaxed: read under the lock by who gives up a processor.
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

  // With the lock held: takes a machine from the idle ones and hands it `p`; it will wake up spinning.
  [[nodiscard]] Machine* wake_machine_for(Processor& p) {
    // A machine that finds work in the poller is awake already. One in a blocking call is not idle.
    Machine* m = host_.this_idle_machine();
    if (m == nullptr || !m->idle.get()) m = idle_machines_.get();
    if (m == nullptr) return nullptr;
    remove_idle(*m);
    withdraw_request();
    m->handed.set(&p);
    m->spinning.set(true);
    return m;
  }

  enum class given : unsigned char { up, not_now, stopping };

  // Gives `p` up and puts `m` among the idle machines; not if a submitter asked for a spinner, which `m` then becomes.
  // `returning` is to be woken by the caller, who has released the lock: it has `p` now.
  [[nodiscard]] given give_up(Machine& m, Processor& p, Machine*& returning) {
    const std::lock_guard lock(mutex_);
    // A stopping scheduler's processors and counts do not matter any more.
    if (stopping_.get()) return given::stopping;
    // [park.need.heed] relaxed: set under the lock.
    if (!m.spinning.get() && need_spinning_.load(std::memory_order::relaxed) != 0) {
      become_spinning(m);
      return given::not_now;
    }
    // A spinner is going to look at all queues, and so answers a request as well.
    if (m.spinning.get()) withdraw_request();
    // Cleared here rather than with the count, because from now on the flag may be a waker's.
    m.spinning.set(false);
    add_idle(m);
    returning = pop_returning(p);
    if (returning != nullptr) return given::up;
    held_.set(held_.get() - 1);
    push_idle(p);
    if (held_.get() == 0) host_.all_idle();
    return given::up;
  }

  // With the lock held: hands `p` to the first machine that waits for one, if any.
  [[nodiscard]] Machine* pop_returning(Processor& p) {
    Machine* const first = first_returning_.get();
    if (first == nullptr) return nullptr;
    first_returning_.set(first->next_idle.get());
    if (first_returning_.get() == nullptr) {
      last_returning_.set(nullptr);
      // [park.returning.clear] relaxed: [park.returning.set].
      returning_.store(false, std::memory_order::relaxed);
    }
    first->handed.set(&p);
    return first;
  }

  // There is work after all: a processor for `m`, or nullptr when all are busy (then the request is left for them) or
  // `m` has been woken meanwhile.
  [[nodiscard]] Processor* take_back(Machine& m) {
    const std::lock_guard lock(mutex_);
    if (!m.idle.get()) return nullptr;
    Processor* const p = pop_idle();
    if (p == nullptr) {
      // [park.need.set_late] relaxed: as [park.need.set].
      need_spinning_.store(1U, std::memory_order::relaxed);
      return nullptr;
    }
    remove_idle(m);
    become_spinning(m);
    return p;
  }

  // Sleeps until somebody hands `m` a processor; nullptr: the scheduler stops.
  [[nodiscard]] Processor* sleep(Machine& m) {
    m.parker.park();
    Processor* const p = m.handed.get();
    m.handed.set(nullptr);
    return p;
  }

  // All of these with the lock held. Both lists are stacks: who went to sleep last has the warmest cache.
  void push_idle(Processor& p) {
    p.retired.set(false);
    p.next_idle.set(idle_list_.get());
    idle_list_.set(&p);
    count_idle(+1);
  }
  [[nodiscard]] Processor* pop_idle() {
    Processor* const p = idle_list_.get();
    if (p == nullptr) return nullptr;
    idle_list_.set(p->next_idle.get());
    count_idle(-1);
    held_.set(held_.get() + 1);
    return p;
  }
  void drop_surplus() {
    Processor* p = idle_list_.get();
    idle_list_.set(nullptr);
    count_idle(-static_cast<int>(idle_processors()));
    Processor* kept = nullptr;  // reversed twice: the order stays
    while (p != nullptr) {
      Processor* const next = p->next_idle.get();
      p->next_idle.set(kept);
      kept = p;
      p = next;
    }
    while (kept != nullptr) {
      Processor* const next = kept->next_idle.get();
      if (host_.surplus(*kept)) {
        kept->retired.set(true);
      } else {
        push_idle(*kept);
      }
      kept = next;
    }
  }
  void count_idle(int by) {
    // [park.idle.count] relaxed: exact under the lock, a guess without.
    idle_processors_.store(idle_processors() + static_cast<unsigned>(by), std::memory_order::relaxed);
  }
  void add_idle(Machine& m) {
    Machine* const first = idle_machines_.get();
    m.previous_idle.set(nullptr);
    m.next_idle.set(first);
    if (first != nullptr) first->previous_idle.set(&m);
    idle_machines_.set(&m);
    m.idle.set(true);
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
    m.idle.set(false);
  }

  Host& host_;
  // Machines that look for work and hold a processor, or are on the way there. Any thread.
  alignas(cache_line) atomic<unsigned> spinning_;
  // 1: work was submitted when no machine was spinning and no processor idle. Set and read under the lock where it
  // decides something; cleared by spinners.
  atomic<unsigned> need_spinning_;
  atomic<unsigned> idle_processors_;  // length of idle_list_; written under the lock
  atomic<unsigned> limit_;            // number of processors; written under the lock
  alignas(cache_line) typename Atomics::mutex mutex_;
  cell<Processor*> idle_list_{nullptr};    // under the lock
  cell<Machine*> idle_machines_{nullptr};  // under the lock
  cell<unsigned> held_{0U};                // under the lock: processors in the hands of machines, or on the way there
  cell<bool> stopping_{false};             // under the lock
  cell<unsigned> wanted_{0U};              // under the lock: the limit, or what it will be after restart()
  cell<unsigned> without_processor_{0U};   // under the lock
  // Machines that wait for a processor in the middle of a task; under the lock.
  cell<Machine*> first_returning_{nullptr};
  cell<Machine*> last_returning_{nullptr};
  atomic<bool> returning_{false};  // whether there are any; written under the lock
};

}  // namespace runq
