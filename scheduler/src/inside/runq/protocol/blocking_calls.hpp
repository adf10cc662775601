// SPDX-License-Identifier: MIT
// blocking_calls: a machine enters a blocking call, and comes back from it with the processor that it had, with another
// one, or with none. If it stays away, the monitor takes its processor. handoff.hpp decides between machine and
// monitor; park.hpp decides which machine gets the processor.
//
// Source: entersyscall, exitsyscall and retake of Go's scheduler (runtime/proc.go). Models:
// models/cases/scheduler/blocking_calls/.
#pragma once

#include <concepts>

#include "runq/atomics.hpp"
#include "runq/protocol/handoff.hpp"

namespace runq {

/// What a processor has for its calls, beside what park_protocol and machine_loop ask of it.
template <class Processor, class Atomics>
concept processor_in_call = requires(Processor& p) {
  { p.in_call } -> std::same_as<handoff<Atomics>&>;
  // A cell: whether its call has a unit from the beginning.
  p.call_has_unit.set(true);
  { p.call_has_unit.get() } -> std::convertible_to<bool>;
};

/// What a call asks of the scheduler around it when it begins.
template <class Host, class Machine, class Processor>
concept call_begins_host = requires(Host& host, Machine& m) {
  { m.held } -> std::same_as<Processor*&>;
  // From here on the machine's thread counts as one without a processor.
  host.leave(m);
  // A monitor_loop.
  host.monitoring.hurry();
};

/// What it asks when it ends.
template <class Host, class Machine, class Processor>
concept call_ends_host = requires(Host& host, Machine& m, Processor& p) {
  // A park_protocol, and a machine_loop.
  { host.parking.come_back() } -> std::same_as<Processor*>;
  { host.parking.come_back_waiting(m) } -> std::same_as<Processor*>;
  host.parking.submitted_in_order();
  host.looping.hold(m, p);
  // A spare processor for a thread that needs one after the scheduler has stopped.
  { host.spare_processor() } -> std::same_as<Processor&>;
  // Gives back one of the units that limit how many calls are without a processor. A call has a unit until its end:
  // from the moment at which its processor is taken, or, if it had to wait for its turn, from its beginning.
  host.give_unit();
};

/// What the monitor asks when it looks at the processor of a call.
template <class Host, class Processor>
concept call_lasts_host = requires(Host& host, Processor& p, bool (*retake)(), bool busy) {
  // An inject, a local_queue, a deque of forks, and a ring of the tasks that yield.
  { host.global.has_work_approx() } -> std::same_as<bool>;
  { p.queue_thief.has_work_approx() } -> std::same_as<bool>;
  { p.forks_thief.has_work() } -> std::same_as<bool>;
  { p.yielded_thief.has_work() } -> std::same_as<bool>;
  // A park_protocol.
  { host.parking.somebody_returns() } -> std::same_as<bool>;
  { host.parking.spinning() } -> std::convertible_to<unsigned>;
  { host.parking.idle_processors() } -> std::convertible_to<unsigned>;
  { host.parking.hand_off(p, retake, busy) } -> std::same_as<bool>;
  // Whether there are descriptors or timers, and no machine waits for them.
  { host.unwatched() } -> std::same_as<bool>;
  // Takes a unit.
  host.take_unit();
};

/// `Host` is the scheduler around it: a call_begins_host if enter() is called, a call_ends_host for leave() and
/// leave_waiting(), and a call_lasts_host for retake().
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
    static_assert(processor_in_call<Processor, Atomics> && call_begins_host<Host, Machine, Processor>);
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
    static_assert(call_ends_host<Host, Machine, Processor>);
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
    static_assert(call_ends_host<Host, Machine, Processor>);
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
    static_assert(call_lasts_host<Host, Processor>);
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
