// SPDX-License-Identifier: MIT
// readiness: the handshake between a task that waits for a descriptor and the poller that learns it is ready.
//
// Source: the binary semaphores rg and wg of Go's poller (runtime/netpoll.go: netpollblock, netpollunblock). Models:
// models/cases/scheduler/readiness/.
#pragma once

#include <atomic>
#include <cstdint>

#include "runq/atomics.hpp"

namespace runq {

/// A fact that notices tell of: a deadline that has passed, the end of a stream. A task that goes on after a notice
/// knows the facts that were set before the notice. Any thread; wait-free.
template <class Atomics = std_atomics>
class noticed_fact {
 public:
  noticed_fact() noexcept : happened_(false) {}
  noticed_fact(const noticed_fact&) = delete;
  noticed_fact& operator=(const noticed_fact&) = delete;

  /// Sets the fact. The caller gives notice after it.
  void happens() noexcept {
    // [readiness.happens] relaxed: the notice that follows publishes it ([readiness.notify]).
    happened_.store(true, std::memory_order::relaxed);
  }
  /// The fact does not hold any more. A task that reads it at this moment may still find it set.
  void forget() noexcept {
    // [readiness.forget] relaxed: a task that must know learns it through a lock, or through the next notice.
    happened_.store(false, std::memory_order::relaxed);
  }
  [[nodiscard]] bool known() const noexcept {
    // [readiness.known] relaxed: after a notice, it is no older than the notice ([readiness.use], [readiness.notify]).
    // Without one it is a guess: a fact that is set at this moment may be missed.
    return happened_.load(std::memory_order::relaxed);
  }

 private:
  typename Atomics::template atomic<bool> happened_;
};

/// One direction of one descriptor: at most one task waits. A notice that comes while no task waits is kept, and the
/// next wait uses it up. Notices tell of several facts (data, a close, a deadline), so a task that goes on after a
/// notice looks at all of them. `Waiter` is aligned to at least 2 bytes.
template <class Waiter, class Atomics = std_atomics>
class readiness {
 public:
  readiness() noexcept : word_(nothing) {}

  /// Lets the suspended `w` wait. Returns false if there was a notice: this uses it up, and `w` goes on. After true `w`
  /// may run at any moment on another thread. Called by the waiting task. Wait-free.
  [[nodiscard]] bool wait(Waiter& w) noexcept {
    std::uintptr_t expected = nothing;
    // [readiness.wait] release: pairs with [readiness.notify]: the thread that wakes the task sees it suspended.
    // Relaxed on failure: [readiness.use] comes next.
    if (word_.compare_exchange_strong(expected, reinterpret_cast<std::uintptr_t>(&w), std::memory_order::release,
                                      std::memory_order::relaxed)) {
      return true;
    }
    // [readiness.use] acquire: pairs with [readiness.notify]. A read-modify-write: it uses up all notices that came
    // before it, so the facts of all of them are visible; weaker: the task misses a close that came right after data.
    word_.exchange(nothing, std::memory_order::acquire);
    return false;
  }

  /// Gives notice that the descriptor is ready, closed, or out of time. Returns the task that waits, if any, which the
  /// caller wakes; otherwise keeps the notice. Any thread. Wait-free.
  [[nodiscard]] Waiter* notify() noexcept {
    // [readiness.peek] relaxed: the exchange decides.
    std::uintptr_t seen = word_.load(std::memory_order::relaxed);
    for (;;) {
      const bool waits = seen != nothing && seen != noticed;
      // [readiness.notify] acq_rel: acquire pairs with [readiness.wait]; weaker: the caller wakes a task that it does
      // not see suspended. Release pairs with [readiness.use]; weaker: the task does not see the facts that this notice
      // tells of.
      if (word_.compare_exchange_weak(seen, waits ? nothing : noticed, std::memory_order::acq_rel,
                                      std::memory_order::relaxed)) {
        return waits ? reinterpret_cast<Waiter*>(seen) : nullptr;
      }
    }
  }

  /// The task of `w`, which began to wait, is being destroyed: no thread wakes it after this call. If a notifier has
  /// just taken it out, this waits until the notifier has woken it, that is, until Policy::asleep(&w) is false. Called
  /// by the thread that destroys the task. Blocks for that moment only.
  template <class Policy>
  void leave(Waiter& w) {
    std::uintptr_t expected = reinterpret_cast<std::uintptr_t>(&w);
    // [readiness.leave] relaxed: a notifier that comes later finds no task, and needs to see nothing. On failure
    // asleep() tells when the notifier is done.
    if (word_.compare_exchange_strong(expected, nothing, std::memory_order::relaxed, std::memory_order::relaxed))
      return;
    Policy::spin_until([&w] { return !Policy::asleep(&w); });
  }

  /// Prepares for another descriptor: forgets the notices of the last one. Called before any thread can give notice of
  /// the new one, and while no task waits.
  void reset() noexcept {
    // [readiness.reset] relaxed: a late notice of the last use may come even after it, and tells of no fact.
    word_.store(nothing, std::memory_order::relaxed);
  }

 private:
  static constexpr std::uintptr_t nothing = 0;
  static constexpr std::uintptr_t noticed = 1;
  typename Atomics::template atomic<std::uintptr_t> word_;
};

}  // namespace runq
