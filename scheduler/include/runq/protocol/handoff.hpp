// SPDX-License-Identifier: MIT
// handoff: whose a processor is while its machine is in a blocking call: the machine's when it comes back soon, the
// monitor's when somebody else could use it.
//
// Source: entersyscall, exitsyscall and retake of Go's scheduler (runtime/proc.go, P status _Psyscall). Models:
// models/cases/scheduler/handoff/.
#pragma once

#include <atomic>
#include <cstdint>

#include "runq/atomics.hpp"

namespace runq {

/// One word per processor: even while a machine runs tasks with it, odd while that machine is in a blocking call and
/// the processor is there for the taking. It only grows, so that nobody mistakes a later call for the one that was
/// seen.
template <class Atomics = std_atomics>
class handoff {
 public:
  using ticket = std::uint64_t;

  handoff() noexcept : word_(ticket{0}) {}

  /// The machine that holds the processor enters a blocking call and does not touch the processor until leave() said
  /// yes. Returns what leave() wants to know. Wait-free.
  [[nodiscard]] ticket enter() noexcept {
    // [handoff.enter.read] relaxed: while the machine holds the processor nobody else writes the word.
    const ticket blocked = word_.load(std::memory_order::relaxed) + 1;
    // [handoff.enter] release: pairs with [handoff.retake]; weaker: who takes the processor does not see its queues as
    // the machine left them.
    word_.store(blocked, std::memory_order::release);
    return blocked;
  }

  /// The call has returned. True: the processor is still the machine's. False: it is somebody else's. Wait-free.
  [[nodiscard]] bool leave(ticket blocked) noexcept {
    // [handoff.leave] relaxed: nobody else has used the processor, so there is nothing to see.
    return word_.compare_exchange_strong(blocked, blocked + 1, std::memory_order::relaxed, std::memory_order::relaxed);
  }

  /// The word as it is, for the monitor: see blocked(). Any thread.
  [[nodiscard]] ticket peek() const noexcept {
    // [handoff.peek] relaxed: [handoff.retake] decides.
    return word_.load(std::memory_order::relaxed);
  }
  [[nodiscard]] static bool blocked(ticket seen) noexcept { return seen % 2 != 0; }

  /// Takes the processor away from the machine that was seen in a blocking call. True: it is the caller's. Any thread.
  /// Wait-free.
  [[nodiscard]] bool retake(ticket seen) noexcept {
    // [handoff.retake] acquire: pairs with [handoff.enter].
    return word_.compare_exchange_strong(seen, seen + 1, std::memory_order::acquire, std::memory_order::relaxed);
  }

 private:
  typename Atomics::template atomic<ticket> word_;
};

}  // namespace runq
