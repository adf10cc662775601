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

/// One direction of one descriptor: at most one task waits. A notice that comes while nobody waits is kept, and used up
/// by the next wait. `Waiter` is aligned to at least 2 bytes.
template <class Waiter, class Atomics = std_atomics>
class readiness {
 public:
  readiness() noexcept : word_(nothing) {}

  /// The suspended `w` waits. False: there was a notice, which is used up now, and `w` goes on. After true `w` may run
  /// at any moment, elsewhere. The waiting task. Wait-free.
  [[nodiscard]] bool wait(Waiter& w) noexcept {
    std::uintptr_t expected = nothing;
    // [readiness.wait] release: pairs with [readiness.notify]: who wakes the task sees it suspended. Acquire on
    // failure: pairs with [readiness.notify], too: what the notice is about is visible.
    if (word_.compare_exchange_strong(expected, reinterpret_cast<std::uintptr_t>(&w), std::memory_order::release,
                                      std::memory_order::acquire)) {
      return true;
    }
    // [readiness.use] relaxed: a second notice before this store is about the same fact.
    word_.store(nothing, std::memory_order::relaxed);
    return false;
  }

  /// The descriptor is ready, closed, or out of time: returns the task that waits, if any, which the caller wakes;
  /// otherwise the notice is kept. Any thread. Wait-free.
  [[nodiscard]] Waiter* notify() noexcept {
    // [readiness.peek] relaxed: the exchange decides.
    std::uintptr_t seen = word_.load(std::memory_order::relaxed);
    for (;;) {
      const bool waits = seen != nothing && seen != noticed;
      // [readiness.notify] acq_rel: acquire pairs with [readiness.wait], release with its failure.
      if (word_.compare_exchange_weak(seen, waits ? nothing : noticed, std::memory_order::acq_rel,
                                      std::memory_order::relaxed)) {
        return waits ? reinterpret_cast<Waiter*>(seen) : nullptr;
      }
    }
  }

  /// Forgets a kept notice. Only while nobody waits: before an operation that will find out by itself.
  void reset() noexcept {
    // [readiness.reset] relaxed: as [readiness.use].
    word_.store(nothing, std::memory_order::relaxed);
  }

 private:
  static constexpr std::uintptr_t nothing = 0;
  static constexpr std::uintptr_t noticed = 1;
  typename Atomics::template atomic<std::uintptr_t> word_;
};

}  // namespace runq
