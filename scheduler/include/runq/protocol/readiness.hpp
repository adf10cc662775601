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

/// Something that notices are about: a deadline that has passed, the end of a stream. Who goes on after the notice that
/// follows it knows it. Any thread; wait-free.
template <class Atomics = std_atomics>
class noticed_fact {
 public:
  noticed_fact() noexcept : happened_(false) {}
  noticed_fact(const noticed_fact&) = delete;
  noticed_fact& operator=(const noticed_fact&) = delete;

  /// Before the notice of it.
  void happens() noexcept {
    // [readiness.happens] relaxed: the notice that follows publishes it ([readiness.notify]).
    happened_.store(true, std::memory_order::relaxed);
  }
  /// It holds no more. Who is at it meanwhile may still take it to hold.
  void forget() noexcept {
    // [readiness.forget] relaxed: whoever must know does so by what comes after it, as a lock, or the next notice.
    happened_.store(false, std::memory_order::relaxed);
  }
  [[nodiscard]] bool known() const noexcept {
    // [readiness.known] relaxed: after a notice it is no older than that ([readiness.use], [readiness.notify]); else a
    // guess: one that happens at this moment may count as not happened.
    return happened_.load(std::memory_order::relaxed);
  }

 private:
  typename Atomics::template atomic<bool> happened_;
};

/// One direction of one descriptor: at most one task waits. A notice that comes while nobody waits is kept, and used up
/// by the next wait. Notices are about several facts (data, a close, a deadline): whoever goes on after one looks at
/// all of them. `Waiter` is aligned to at least 2 bytes.
template <class Waiter, class Atomics = std_atomics>
class readiness {
 public:
  readiness() noexcept : word_(nothing) {}

  /// The suspended `w` waits. False: there was a notice, which is used up now, and `w` goes on. After true `w` may run
  /// at any moment, elsewhere. The waiting task. Wait-free.
  [[nodiscard]] bool wait(Waiter& w) noexcept {
    std::uintptr_t expected = nothing;
    // [readiness.wait] release: pairs with [readiness.notify]: who wakes the task sees it suspended. Relaxed on
    // failure: [readiness.use] comes next.
    if (word_.compare_exchange_strong(expected, reinterpret_cast<std::uintptr_t>(&w), std::memory_order::release,
                                      std::memory_order::relaxed)) {
      return true;
    }
    // [readiness.use] acquire: pairs with [readiness.notify]. A read-modify-write: it uses up all notices that came
    // before it, so the facts of all of them are visible; weaker: a close right behind data is overlooked.
    word_.exchange(nothing, std::memory_order::acquire);
    return false;
  }

  /// The descriptor is ready, closed, or out of time: returns the task that waits, if any, which the caller wakes;
  /// otherwise the notice is kept. Any thread. Wait-free.
  [[nodiscard]] Waiter* notify() noexcept {
    // [readiness.peek] relaxed: the exchange decides.
    std::uintptr_t seen = word_.load(std::memory_order::relaxed);
    for (;;) {
      const bool waits = seen != nothing && seen != noticed;
      // [readiness.notify] acq_rel: acquire pairs with [readiness.wait], release with [readiness.use].
      if (word_.compare_exchange_weak(seen, waits ? nothing : noticed, std::memory_order::acq_rel,
                                      std::memory_order::relaxed)) {
        return waits ? reinterpret_cast<Waiter*>(seen) : nullptr;
      }
    }
  }

  /// The task of `w`, which began to wait, is being destroyed: nobody wakes it after this. A notifier who has taken it
  /// out just before is waited for until he has woken it, that is, until Policy::asleep(&w) is false. By who destroys
  /// the task. Blocks for that moment only.
  template <class Policy>
  void leave(Waiter& w) {
    std::uintptr_t expected = reinterpret_cast<std::uintptr_t>(&w);
    // [readiness.leave] relaxed: whoever comes later finds nobody, and needs nothing of what was before. On failure the
    // notifier's own word, in asleep(), tells when he is through.
    if (word_.compare_exchange_strong(expected, nothing, std::memory_order::relaxed, std::memory_order::relaxed))
      return;
    Policy::spin_until([&w] { return !Policy::asleep(&w); });
  }

  /// Begins another use, for another descriptor: forgets what came for the last one. Before anybody can notify it of
  /// the new one, and while nobody waits.
  void reset() noexcept {
    // [readiness.reset] relaxed: a late notice of the last use may come even after it, and is about nothing.
    word_.store(nothing, std::memory_order::relaxed);
  }

 private:
  static constexpr std::uintptr_t nothing = 0;
  static constexpr std::uintptr_t noticed = 1;
  typename Atomics::template atomic<std::uintptr_t> word_;
};

}  // namespace runq
