// SPDX-License-Identifier: MIT
// blocking_calls: a machine enters a blocking call, and comes back from it with the processor that it had, with another
// one, or with none. If it stays away, the monitor takes its processor. handoff.hpp decides between machine and
// monitor; park.hpp decides which machine gets the processor.
//
// Source: entersyscall, exitsyscall and retake of Go's scheduler (runtime/proc.go). Models:
// models/cases/scheduler/blocking_calls/.
#pragma once

#include "runq/atomics.hpp"
#include "runq/protocol/handoff.hpp"

namespace runq {

/// `Machine` and `Processor` meet the requirements of machine_loop; a processor also has `in_call`, a handoff. `Host`
/// is the scheduler around it, and has
/// - `parking`, a park_protocol; `looping`, a machine_loop; `monitoring`, a monitor_loop; `global`, an inject
/// - `void leave(Machine&)`: from here on the machine's thread counts as one without a processor
/// - `Processor& spare_processor()`: a spare processor for a thread that needs one after the scheduler has stopped
/// - `bool unwatched()`: whether there are descriptors or timers, and no machine waits for them
/// - `void take_unit()`, `void give_unit()`: take and give back one of the units that limit how many calls are without
///   a processor. A call has a unit until its end: from the moment at which its processor is taken, or, if it had to
///   wait for its turn, from its beginning
template <class Machine, class Processor, class Host, class Atomics = std_atomics>
class blocking_calls {
 public:
  /// A call in progress.
  struct call {
    Machine* m;
    Processor* p;  // the processor that the machine had when the call began
    typename handoff<Atomics>::ticket ticket;
    bool has_unit;  // from the beginning
  };
  /// What became of the processor: the machine kept it, got another one, or has none.
  enum class outcome : unsigned char { kept, moved, lost };

  explicit blocking_calls(Host& host) noexcept : host_(host) {}
  blocking_calls(const blocking_calls&) = delete;
  blocking_calls& operator=(const blocking_calls&) = delete;

  /// Machine `m`, which holds a processor, is about to block; `has_unit`: it has waited for its turn. Called by the
  /// machine itself. Wait-free, except for a system call when the monitor naps for long.
  [[nodiscard]] call enter(Machine& m, bool has_unit = false) noexcept {
    Processor& p = *m.held;
    host_.leave(m);
    p.call_has_unit.set(has_unit);
    const call entered{&m, &p, p.in_call.enter(), has_unit};
    // From here on the monitor may take the processor. It must see the call when it is hurried.
    host_.monitoring.hurry();
    return entered;
  }

  /// The call has returned. If the machine has no processor now, the caller passes its task to queue(). Called by the
  /// machine itself. Wait-free if the processor is kept.
  [[nodiscard]] outcome leave(const call& c) {
    const bool kept = c.p->in_call.leave(c.ticket);
    Processor* const p = kept ? c.p : host_.parking.come_back();
    // unreached: a call that waited for its turn comes back by leave_waiting().
    if (!kept || c.has_unit) host_.give_unit();
    if (p == nullptr) {
      c.m->held = nullptr;
      return outcome::lost;
    }
    host_.looping.hold(*c.m, *p);
    return kept ? outcome::kept : outcome::moved;
  }
  /// The call has returned to code that cannot be suspended: waits until the machine has a processor. The outcome is
  /// never `lost`.
  [[nodiscard]] outcome leave_waiting(const call& c) {
    const bool kept = c.p->in_call.leave(c.ticket);
    Processor* p = kept ? c.p : host_.parking.come_back_waiting(*c.m);
    if (!kept || c.has_unit) host_.give_unit();
    // A stopping scheduler has no processor for it, but the code after the call may need one until its next co_await.
    if (p == nullptr) p = &host_.spare_processor();
    host_.looping.hold(*c.m, *p);
    return kept ? outcome::kept : outcome::moved;
  }
  /// Queues `task`, which goes on when a machine takes it from the global queue. For a machine that lost its processor.
  template <class Task>
  void queue(Task& task) {
    host_.global.put(&task);
    host_.parking.submitted_in_order();
  }

  /// Takes `p` from a machine that is in a call with it, if another machine could use the processor, or if the call has
  /// lasted for long at time `t`. `seen`, a call_watch, holds what the caller has seen of this processor. Returns
  /// whether it was taken. Only the monitor.
  template <class Seen, class Instant>
  bool retake(Processor& p, Seen& seen, Instant t) {
    const auto ticket = p.in_call.peek();
    if (!handoff<Atomics>::blocked(ticket)) return false;
    if (!seen.again(ticket, t)) return false;
    const bool has_work = p.queue_thief.has_work_approx() || p.forks_thief.has_work() ||
                          host_.global.has_work_approx() || p.yielded_thief.has_work() ||
                          host_.parking.somebody_returns();
    const bool others_look = host_.parking.spinning() + host_.parking.idle_processors() != 0;
    if (!seen.costs_the_processor(has_work, others_look, t)) return false;
    // Machines that went to sleep while this one left the poller sleep outside it, so another one has to poll. (Go:
    // handoffp and sched.lastpoll.)
    const bool busy = has_work || !others_look || host_.unwatched();
    return host_.parking.hand_off(
        p, [&] { return take_from_call(p, ticket); }, busy);
  }

 private:
  // With the lock of `parking` held, which the machine takes when it comes back: so it finds that its unit is taken.
  [[nodiscard]] bool take_from_call(Processor& p, typename handoff<Atomics>::ticket ticket) {
    if (!p.in_call.retake(ticket)) return false;
    if (!p.call_has_unit.get()) host_.take_unit();
    return true;
  }

  Host& host_;
};

}  // namespace runq
