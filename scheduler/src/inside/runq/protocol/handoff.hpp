// SPDX-License-Identifier: MIT
// handoff: which thread has a processor while the processor's machine is in a blocking call: the machine keeps it if it
// comes back soon; otherwise the monitor takes it if another machine could use it.
//
// Source: entersyscall, exitsyscall and retake of Go's scheduler (runtime/proc.go, P status _Psyscall). Models:
// models/cases/scheduler/handoff/.
#pragma once

#include <atomic>
#include <cstdint>

#include "runq/atomics.hpp"

namespace runq {

/// One word per processor: even while a machine runs tasks with it; odd while that machine is in a blocking call and
/// the monitor may take the processor. The word only grows, so the monitor never mistakes a later call for the one that
/// it saw.
template <class Atomics = std_atomics>
class handoff {
 public:
  using ticket = std::uint64_t;

  handoff() noexcept : word_(ticket{0}) {}

  /// The machine that holds the processor enters a blocking call. It must not touch the processor until leave() returns
  /// true. Returns the ticket for leave(). Wait-free.
  [[nodiscard]] ticket enter() noexcept {
    // [handoff.enter.read] relaxed: while the machine holds the processor no other thread writes the word.
    const ticket blocked = word_.load(std::memory_order::relaxed) + 1;
    // [handoff.enter] release: pairs with [handoff.retake]; weaker: the thread that takes the processor does not see
    // its queues as the machine left them.
    word_.store(blocked, std::memory_order::release);
    return blocked;
  }

  /// The call has returned. True: the machine still has the processor. False: another thread has taken it. Wait-free.
  [[nodiscard]] bool leave(ticket blocked) noexcept {
    // [handoff.leave] relaxed: no other thread has used the processor, so there is nothing to see.
    return word_.compare_exchange_strong(blocked, blocked + 1, std::memory_order::relaxed, std::memory_order::relaxed);
  }

  /// The present word, for the monitor: see blocked(). Any thread.
  [[nodiscard]] ticket peek() const noexcept {
    // [handoff.peek] relaxed: [handoff.retake] decides.
    return word_.load(std::memory_order::relaxed);
  }
  [[nodiscard]] static bool blocked(ticket seen) noexcept { return seen % 2 != 0; }

  /// Takes the processor from the machine that was seen in a blocking call. True: the caller has it now. Any thread.
  /// Wait-free.
  [[nodiscard]] bool retake(ticket seen) noexcept {
    // [handoff.retake] acquire: pairs with [handoff.enter]; weaker: this thread does not see the processor's queues as
    // the machine left them.
    return word_.compare_exchange_strong(seen, seen + 1, std::memory_order::acquire, std::memory_order::relaxed);
  }

 private:
  typename Atomics::template atomic<ticket> word_;
};

}  // namespace runq
