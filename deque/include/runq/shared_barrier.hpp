// SPDX-License-Identifier: MIT
// shared_barrier: threads that want a barrier of the whole process at about the same time share one.
// Models: models/cases/queues/shared_barrier/.
//
// A barrier is a call that each thread of the process has passed before it returns; it interrupts all processors. A
// barrier that began after a thread has asked is as good for this thread as one of its own. So one thread at a time
// makes barriers; threads that ask meanwhile wait for its end, one of them makes the next barrier, and that one serves
// all of them. However many threads ask, a processor is interrupted no more often than one barrier after the other can
// be made.
//
// Source: Linux's RCU shares its grace periods among those who wait for them in the same way (P. McKenney, "Is Parallel
// Programming Hard, And, If So, What Can You Do About It?").
#pragma once

#if __cplusplus <= 201703L && (!defined(_MSVC_LANG) || _MSVC_LANG <= 201703L)
#error "runqkit needs C++20: compile with -std=c++20, or as your compiler calls it"
#else

#include <atomic>
#include <cstdint>

#include "runq/atomics.hpp"

namespace runq {

/// Patience  how often a thread that waits for another one's barrier pauses and looks, before it makes its own whatever
///           the others do. 1000 pauses are about 50 microseconds. The other thread may have been stopped by the system
///           in the middle of its barrier; in a child of fork() it does not exist.
template <class Atomics, unsigned Patience = 1000>
class shared_barrier {
 public:
  constexpr shared_barrier() noexcept : begun_(0U), ended_(0U) {}
  shared_barrier(const shared_barrier&) = delete;
  shared_barrier& operator=(const shared_barrier&) = delete;

  /// Returns after a barrier that began after the call did. Whether the caller made it, by `make()`, which is a seq_cst
  /// fence of the caller, too; false if another thread did. Any thread. Lock-free: it looks `Patience` times at most.
  template <class Make>
  bool pass(Make&& make) noexcept {
    // [shared_barrier.ask] seq_cst: pairs with the fence at the begin of the other thread's barrier: if this thread
    // reads less in begun_ than that thread has written, each thread that passes the barrier sees what this thread did
    // before; weaker: an owner and its thief take the same element.
    Atomics::fence(std::memory_order::seq_cst);
    // [shared_barrier.before] relaxed: the fence orders it.
    const std::uint64_t wanted = begun_.load(std::memory_order::relaxed) + 1;
    for (unsigned look = 0; look != Patience; ++look) {
      // [shared_barrier.over] acquire: pairs with [shared_barrier.end]; weaker: this thread does not see what the
      // threads that passed the barrier did before.
      const std::uint64_t ended = ended_.load(std::memory_order::acquire);
      if (ended >= wanted) return false;
      std::uint64_t begun = ended;
      // [shared_barrier.begin] relaxed: the fence at the begin of make() orders it. Relaxed on failure: another thread
      // makes a barrier.
      if (begun_.compare_exchange_strong(begun, ended + 1, std::memory_order::relaxed, std::memory_order::relaxed)) {
        make();
        end(ended + 1);
        return true;
      }
      Atomics::pause();
    }
    // [shared_barrier.begin_anyway] relaxed: as [shared_barrier.begin].
    const std::uint64_t mine = begun_.fetch_add(1U, std::memory_order::relaxed) + 1;
    make();
    end(mine);
    return true;
  }

 private:
  // Barriers that began later may have ended before this one.
  void end(std::uint64_t mine) noexcept {
    // [shared_barrier.last] relaxed: the exchange below compares it.
    std::uint64_t last = ended_.load(std::memory_order::relaxed);
    // [shared_barrier.end] release: pairs with [shared_barrier.over]. Relaxed on failure: it is tried again. kept: no
    // model fails with relaxed, because make() ends with a fence there, but a system call is no fence of the language.
    while (last < mine &&
           !ended_.compare_exchange_strong(last, mine, std::memory_order::release, std::memory_order::relaxed)) {
    }
  }

  typename Atomics::template atomic<std::uint64_t> begun_;  // barriers, one number for each
  typename Atomics::template atomic<std::uint64_t> ended_;  // the largest number of one that has ended
};

}  // namespace runq

#endif  // C++20
