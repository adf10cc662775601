// SPDX-License-Identifier: MIT
// monitor: the rounds of a thread without a processor, which does what busy machines may have no time for. How long it
// sleeps between rounds, what wakes it, and when it polls and fires timers instead of the machines.
//
// Source: sysmon of Go's scheduler (runtime/proc.go). Models: models/cases/scheduler/monitor/.
//
// Between rounds it naps. Once its naps have reached their full length, a blocking call makes them short again. While
// all processors are idle it sleeps deeply, without a limit; the machine that takes a processor wakes it. These are the
// two sides of a Dekker handshake, as in park.hpp: take the processor, fence, read `sleeps_` ‖ raise `sleeps_`, fence,
// look at the processors.
#pragma once

#include <atomic>
#include <concepts>
#include <cstdint>
#include <utility>

#include "runq/atomics.hpp"

namespace runq {

/// Where the monitor naps and sleeps: a basic_parker.
template <class Parker>
concept monitor_parker = requires(Parker& parker, std::int64_t ns) {
  parker.park();
  parker.park_for(ns);
  parker.unpark();
};

/// How long the monitor naps.
template <class Rhythm>
concept rhythm_of_naps = std::default_initializable<Rhythm> && requires(Rhythm& rhythm, bool did_something) {
  // In ns.
  { rhythm.next() } -> std::convertible_to<std::int64_t>;
  // Whether naps are as long as they get.
  { rhythm.slowest() } -> std::same_as<bool>;
  // After a round.
  rhythm.looked(did_something);
};

/// What the monitor's thread asks of the scheduler around it.
template <class Host>
concept monitor_host = requires(Host& host, std::int64_t instant) {
  // After a nap.
  host.begins_round();
  // No machine holds a processor; a relaxed look is enough.
  { host.all_processors_idle() } -> std::same_as<bool>;
  // Whether a deep sleep pays, as far as the host knows.
  { host.worth_a_deep_sleep() } -> std::same_as<bool>;
  // ns of a clock that does not jump.
  { host.clock() } -> std::convertible_to<std::int64_t>;
  // There are descriptors, and no machine waits for them.
  { host.nobody_polls() } -> std::same_as<bool>;
  // When a thread last looked for events.
  { host.last_poll() } -> std::convertible_to<std::int64_t>;
  // Looks for events, without waiting.
  host.poll();
  // When the first timer of all is due, or later than any clock().
  { host.earliest_timer() } -> std::convertible_to<std::int64_t>;
  // Fires what is due then; may return something.
  host.fire_timers(instant);
  // A deadlock_question.
  host.deadlocks.timers_fired();
  // Acts on tasks that run too long, and on blocking calls; whether there was one.
  { host.look_at_processors(instant) } -> std::same_as<bool>;
};

/// The monitor. `Host` is a monitor_host if run() is called.
template <class Host, class Parker, class Rhythm, class Atomics = std_atomics>
class monitor_loop {
 public:
  using instant = std::int64_t;

  /// The monitor polls when no machine has polled for so long: 10 ms, as in Go.
  static constexpr instant poll_period = 10'000'000;
  /// It fires timers that are late by so much: 1 ms. Machines are more prompt, unless all of them are busy.
  static constexpr instant lateness = 1'000'000;

  template <class... Arguments>
  explicit monitor_loop(Host& host, Arguments&&... for_parker) noexcept
      : host_(host), parker_(std::forward<Arguments>(for_parker)...), slow_(false), sleeps_(false), stops_(false) {}
  monitor_loop(const monitor_loop&) = delete;
  monitor_loop& operator=(const monitor_loop&) = delete;

  /// Makes rounds until stop(). Only the monitor's thread.
  void run() {
    static_assert(monitor_host<Host> && monitor_parker<Parker> && rhythm_of_naps<Rhythm>);
    Rhythm rhythm;
    bool slow = false;
    while (!stops()) {
      const instant nap = rhythm.next();
      if (rhythm.slowest() != slow) {
        slow = rhythm.slowest();
        // [monitor.slow.set] relaxed: see hurry().
        slow_.store(slow, std::memory_order::relaxed);
      }
      (void)parker_.park_for(nap);
      host_.begins_round();
      if (slow && host_.all_processors_idle() && host_.worth_a_deep_sleep()) sleep_deeply();
      const instant t = host_.clock();
      poll(t);
      fire_timers(t);
      const bool hurried = slow && !is_slow();
      const bool acted = host_.look_at_processors(t);
      rhythm.looked(hurried || acted);
    }
  }

  /// A machine has entered a blocking call: the monitor's naps become short again. Called by that machine.
  void hurry() noexcept {
    // One machine is enough to wake it. Not ordered with [monitor.slow.set]: at worst the monitor sees this call one
    // nap later.
    if (!is_slow()) return;
    // [monitor.hurry] relaxed: as said above, it is not ordered after [monitor.slow.set].
    // by chance: another machine hurries it at this moment; models/cases/scheduler/monitor/.
    if (slow_.exchange(false, std::memory_order::relaxed)) parker_.unpark();
  }

  /// A machine has taken a processor: the monitor does not sleep deeply. Called by that machine.
  void wake() noexcept {
    // [monitor.wake.fence] seq_cst: pairs with [monitor.deep.fence]; weaker: the monitor sleeps although a processor is
    // in use. It also pairs with [park.machine_idle.fence], for the machine that has just got this processor; weaker: a
    // machine that goes to sleep may not know of a new processor, does not ask has_work() there, and misses a task that
    // is made next on it without a fence (machine_loop/next_on_a_new_processor).
    Atomics::fence(std::memory_order::seq_cst);
    // [monitor.wake.sleeps] relaxed: ordered by the fence.
    if (sleeps_.load(std::memory_order::relaxed)) parker_.unpark();
  }

  /// Makes run() return. Any thread; at most once for each run().
  void stop() noexcept {
    // [monitor.stop] relaxed: ordered by the token, which the monitor takes after it.
    stops_.store(true, std::memory_order::relaxed);
    parker_.unpark();
  }
  /// Undoes stop(), before run() is called again. Called while there is no monitor.
  void restart() noexcept {
    // [monitor.restart] relaxed: the thread that calls run() is started after it.
    stops_.store(false, std::memory_order::relaxed);
  }

  /// Whether it sleeps deeply, for statistics. Any thread.
  [[nodiscard]] bool sleeps() const noexcept {
    // [monitor.sleeps.read] relaxed: a guess.
    return sleeps_.load(std::memory_order::relaxed);
  }

 private:
  [[nodiscard]] bool stops() const noexcept {
    // [monitor.stops] relaxed: ordered by the token, as [monitor.stop] is.
    return stops_.load(std::memory_order::relaxed);
  }
  [[nodiscard]] bool is_slow() const noexcept {
    // [monitor.slow] relaxed: see hurry().
    return slow_.load(std::memory_order::relaxed);
  }

  void sleep_deeply() {
    // [monitor.deep.set] relaxed: ordered by the fence.
    sleeps_.store(true, std::memory_order::relaxed);
    // [monitor.deep.fence] seq_cst: pairs with [monitor.wake.fence]: either the monitor sees a processor in use, or the
    // machine that took it sees that the monitor sleeps; weaker: neither does.
    Atomics::fence(std::memory_order::seq_cst);
    // The nap may have taken the token of stop().
    // by chance: a machine takes a processor beside this; models/cases/scheduler/monitor/.
    if (host_.all_processors_idle() && !stops()) parker_.park();
    // [monitor.deep.clear] relaxed: a machine that still reads true leaves an unneeded token, which ends a nap early.
    sleeps_.store(false, std::memory_order::relaxed);
  }

  void poll(instant t) {
    if (host_.nobody_polls() && t - host_.last_poll() > poll_period) host_.poll();
  }
  // A machine that was about to sleep until one of these timers may not enter the poller any more. Then it asks no
  // question about a deadlock, so the monitor does.
  void fire_timers(instant t) {
    if (host_.earliest_timer() >= t - lateness) return;
    (void)host_.fire_timers(t);
    host_.deadlocks.timers_fired();
  }

  Host& host_;
  Parker parker_;
  typename Atomics::template atomic<bool> slow_;    // its naps have reached their full length
  typename Atomics::template atomic<bool> sleeps_;  // it sleeps deeply, because all processors are idle
  typename Atomics::template atomic<bool> stops_;
};

}  // namespace runq
