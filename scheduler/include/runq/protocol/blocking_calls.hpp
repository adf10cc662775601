// SPDX-License-Identifier: MIT
// blocking_calls: a machine enters a blocking call, and comes back from it with the processor that it had, with
// another, or with none; and the monitor takes the processor of one that stays away. Whose it is meanwhile is in
// handoff.hpp, who gets it in park.hpp.
//
// Source: entersyscall, exitsyscall and retake of Go's scheduler (runtime/proc.go). Models:
// models/cases/scheduler/blocking_calls/.
#pragma once

#include "runq/atomics.hpp"
#include "runq/protocol/handoff.hpp"

namespace runq {

/// `Machine` and `Processor` are what machine_loop asks for; a processor has `in_call`, a handoff. `Host` is the
/// scheduler around it, and has
/// - `parking`, a park_protocol; `looping`, a machine_loop; `monitoring`, a monitor_loop; `global`, an inject
/// - `void leave(Machine&)`: from here on its thread is one without a processor
/// - `Processor& spare_processor()`: one for a thread for which a scheduler that stops has none
/// - `bool unwatched()`: whether there are descriptors or timers, and no machine waits for them
template <class Machine, class Processor, class Host, class Atomics = std_atomics>
class blocking_calls {
 public:
  /// A call in progress.
  struct call {
    Machine* m;
    Processor* p;  // that it had when the call began
    typename handoff<Atomics>::ticket ticket;
  };
  /// What became of the processor: the machine kept it, has another one, or has none.
  enum class outcome : unsigned char { kept, moved, lost };

  explicit blocking_calls(Host& host) noexcept : host_(host) {}
  blocking_calls(const blocking_calls&) = delete;
  blocking_calls& operator=(const blocking_calls&) = delete;

  /// Machine `m`, which holds a processor, is about to block. The machine itself. Wait-free, but for a system call once
  /// the monitor naps for long.
  [[nodiscard]] call enter(Machine& m) noexcept {
    Processor& p = *m.held;
    host_.leave(m);
    const call entered{&m, &p, p.in_call.enter()};
    // From here on the processor may be somebody else's. The monitor is to see the call when it is hurried.
    host_.monitoring.hurry();
    return entered;
  }

  /// The call has returned. If the processor is lost, the task is queue()d. The machine itself. Wait-free if it is
  /// kept.
  [[nodiscard]] outcome leave(const call& c) {
    const bool kept = c.p->in_call.leave(c.ticket);
    Processor* const p = kept ? c.p : host_.parking.come_back();
    if (p == nullptr) {
      c.m->held = nullptr;
      return outcome::lost;
    }
    host_.looping.hold(*c.m, *p);
    return kept ? outcome::kept : outcome::moved;
  }
  /// The same for code that cannot be suspended: waits for a processor. It is never lost.
  [[nodiscard]] outcome leave_waiting(const call& c) {
    const bool kept = c.p->in_call.leave(c.ticket);
    Processor* p = kept ? c.p : host_.parking.come_back_waiting(*c.m);
    // A stopping scheduler has none for it, but the code after the call may need one until its next co_await.
    if (p == nullptr) p = &host_.spare_processor();
    host_.looping.hold(*c.m, *p);
    return kept ? outcome::kept : outcome::moved;
  }
  /// `task` goes on when a machine takes it from the global queue. A machine that has lost its processor.
  template <class Task>
  void queue(Task& task) {
    host_.global.put(&task);
    host_.parking.submitted_in_order();
  }

  /// Takes `p` from a machine that is in a call with it, if somebody else could use it, or the call has lasted for long
  /// at `t`: `seen`, a call_watch, is what the caller has seen of this processor. Returns whether it was taken. The
  /// monitor.
  template <class Seen, class Instant>
  bool retake(Processor& p, Seen& seen, Instant t) {
    const auto ticket = p.in_call.peek();
    if (!handoff<Atomics>::blocked(ticket)) return false;
    if (!seen.again(ticket, t)) return false;
    const bool has_work = p.queue_thief.has_work() || p.forks_thief.has_work() || host_.global.has_work() ||
                          host_.parking.somebody_returns();
    const bool others_look = host_.parking.spinning() + host_.parking.idle_processors() != 0;
    if (!seen.costs_the_processor(has_work, others_look, t)) return false;
    // Machines that went to sleep while this one left the poller sleep beside it: somebody is to poll in its place.
    // (Go: handoffp and sched.lastpoll.)
    const bool busy = has_work || !others_look || host_.unwatched();
    return host_.parking.hand_off(
        p, [&] { return p.in_call.retake(ticket); }, busy);
  }

 private:
  Host& host_;
};

}  // namespace runq
