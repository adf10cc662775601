// SPDX-License-Identifier: MIT
// poll_sleep: how idle machines sleep when there are descriptors to poll for or timers to come: one machine sleeps in
// the poller, until the earliest timer; the others sleep on their tokens. And how another thread wakes one of them.
//
// Source: findRunnable's last part, wakeNetPoller and netpollBreak of Go's scheduler (runtime/proc.go, netpoll.go;
// sched.pollUntil). Models: models/cases/scheduler/poll_sleep/.
#pragma once

#include <atomic>
#include <concepts>
#include <cstdint>
#include <limits>

#include "runq/atomics.hpp"
#include "runq/common.hpp"

namespace runq {

/// What a machine sleeps on outside the poller.
template <class Token>
concept poll_sleep_token = requires(Token& token) {
  // Takes the token that unpark() leaves.
  token.park();
  token.unpark();
  // Takes it if it is there, and says whether it was.
  { token.take() } -> std::same_as<bool>;
  { token.has_token() } -> std::same_as<bool>;
};

/// What poll_sleep asks of the scheduler around it. Times are in ns of any clock that does not jump.
template <class Host>
concept poll_sleep_host = requires(Host& host, std::int64_t instant) {
  // Descriptors or timers: whether it is worth sleeping in the poller.
  { host.something_to_poll() } -> std::same_as<bool>;
  // When the first timer of all is due, or never.
  { host.earliest_timer() } -> std::same_as<std::int64_t>;
  // Sleeps until an event, a ring(), or that instant; calls answered() for a ring.
  host.wait_for_events(instant);
  // Makes the wait_for_events() in progress, or the next one, return at once.
  host.ring();
  // Fires what is due.
  host.fire_timers();
};

/// How machines sleep. `Token` is a poll_sleep_token, and `Host` a poll_sleep_host if a thread parks. Nothing here
/// takes a lock.
template <class Token, class Host, class Atomics = std_atomics>
class poll_sleep {
  template <class T>
  using atomic = typename Atomics::template atomic<T>;

 public:
  using instant = std::int64_t;
  static constexpr instant never = std::numeric_limits<instant>::max();

  explicit poll_sleep(Host& host) noexcept
      : host_(host), busy_(false), sleeps_until_(awake), sleeper_(nullptr), rung_(false) {
    static_assert(poll_sleep_token<Token>);
  }
  poll_sleep(const poll_sleep&) = delete;
  poll_sleep& operator=(const poll_sleep&) = delete;

  /// Sleeps until unpark(token): in the poller if there is something to poll for and no other machine is there. Called
  /// by the machine that the token belongs to.
  void park(Token& token) {
    (void)park_or(token, [&token] {
      token.park();
      return true;
    });
  }
  /// Like park(), but returns false after `ns` nanoseconds without a token, unless it sleeps in the poller.
  [[nodiscard]] bool park_for(Token& token, std::int64_t ns) {
    return park_or(token, [&token, ns] { return token.park_for(ns); });
  }

  /// Makes the present or the next park(token) return. Any thread. Once the token is left, `token` may be destroyed.
  void unpark(Token& token) {
    Token* const of = &token;
    token.unpark();
    // [poll_sleep.unpark.fence] seq_cst: pairs with [poll_sleep.sleeper.fence]: either the sleeper sees its token, or
    // this thread sees that it is in the poller; weaker: the machine sleeps in the poller although it has a token.
    Atomics::fence(std::memory_order::seq_cst);
    // [poll_sleep.unpark.sleeper] relaxed: ordered by the fence; the pointer is compared, never dereferenced.
    if (sleeper_.load(std::memory_order::relaxed) == of) interrupt();
  }

  /// Called after a timer was added that is due at `when`: no machine sleeps in the poller past that time. Returns true
  /// if no machine polls: then the caller wakes an idle machine, if there is one, and that machine polls. The caller is
  /// a machine that holds a processor, and so looks at its timers before it sleeps.
  [[nodiscard]] bool timer_added(instant when) {
    // [poll_sleep.timer.fence] seq_cst: pairs with [poll_sleep.until.fence]: either the sleeper sees the timer, or this
    // thread sees until when it sleeps; weaker: it sleeps beyond `when`.
    Atomics::fence(std::memory_order::seq_cst);
    // [poll_sleep.timer.until] relaxed: ordered by the fence.
    const instant until = sleeps_until_.load(std::memory_order::relaxed);
    if (until == awake) return !watched();
    if (until > when) interrupt();
    return false;
  }

  /// Whether a machine sleeps in the poller, or is about to, or is just leaving it. Any thread.
  [[nodiscard]] bool watched() const noexcept {
    // [poll_sleep.watched] relaxed: a guess; the machine that leaves holds a processor, and comes back.
    return busy_.load(std::memory_order::relaxed);
  }

  /// Called after the host has used up a ring: the next interrupt() must ring again. The machine in the poller.
  void answered() noexcept {
    // [poll_sleep.answered] acquire: pairs with the fence before [poll_sleep.interrupt]. A read-modify-write: a thread
    // that found the flag set, and so did not ring, has left a token or a timer before. This machine looks at both
    // after this; weaker: it misses them.
    rung_.exchange(false, std::memory_order::acquire);
  }

 private:
  static constexpr instant awake = std::numeric_limits<instant>::min();

  // `sleep` is what a machine does if another one is in the poller. Returns what `sleep` returns.
  template <class Sleep>
  bool park_or(Token& token, Sleep&& sleep) {
    static_assert(poll_sleep_host<Host>);
    while (!token.take()) {
      // [poll_sleep.enter] acquire: pairs with [poll_sleep.leave]: what the last machine in the poller did there, and
      // what its host keeps for the one that polls; weaker: a sleeper overlooks its own token (two_sleepers).
      if (!host_.something_to_poll() || busy_.exchange(true, std::memory_order::acquire)) return sleep();
      poll_until_woken(token);
      // [poll_sleep.leave] release: pairs with [poll_sleep.enter]; weaker: the next sleeper overlooks its own token
      // (two_sleepers).
      busy_.store(false, std::memory_order::release);
    }
    return true;
  }

  void poll_until_woken(Token& token) {
    // [poll_sleep.sleeper.set] relaxed: ordered by the fence.
    sleeper_.store(&token, std::memory_order::relaxed);
    // [poll_sleep.sleeper.fence] seq_cst: pairs with [poll_sleep.unpark.fence]; weaker: this machine sleeps in the
    // poller although it has a token.
    Atomics::fence(std::memory_order::seq_cst);
    while (!token.has_token()) poll_once();
    // [poll_sleep.sleeper.clear] relaxed: a thread that still sees it rings once too often.
    sleeper_.store(nullptr, std::memory_order::relaxed);
  }

  void poll_once() {
    // Before this machine looks at the timers it announces a time later than any of them, so that a new timer rings.
    // [poll_sleep.until.announce] relaxed: ordered by the fence.
    sleeps_until_.store(never, std::memory_order::relaxed);
    // [poll_sleep.until.fence] seq_cst: pairs with [poll_sleep.timer.fence]; weaker: this machine sleeps past a new
    // timer.
    Atomics::fence(std::memory_order::seq_cst);
    const instant until = host_.earliest_timer();
    // [poll_sleep.until.set] relaxed: a thread that still reads `never` rings once too often.
    sleeps_until_.store(until, std::memory_order::relaxed);
    host_.wait_for_events(until);
    // [poll_sleep.until.clear] relaxed: a thread that still reads the old time may ring once too often or not at all,
    // and this machine looks at the timers again before its next sleep.
    sleeps_until_.store(awake, std::memory_order::relaxed);
    host_.fire_timers();
  }

  // At most one ring per sleep.
  void interrupt() {
    // [poll_sleep.interrupt] relaxed: the callers' fences come before it, for [poll_sleep.answered].
    if (!rung_.exchange(true, std::memory_order::relaxed)) host_.ring();
  }

  Host& host_;
  alignas(cache_line) atomic<bool> busy_;  // a machine is between enter and leave
  atomic<instant> sleeps_until_;
  atomic<Token*> sleeper_;
  atomic<bool> rung_;
};

}  // namespace runq
