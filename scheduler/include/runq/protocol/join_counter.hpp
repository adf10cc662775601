// SPDX-License-Identifier: MIT
// join_counter: how a parent waits for children that other threads run, without a lock and without a limit on their
// number.
//
// Source: the steal and join counts of libfork's frames (C. J. Williams and J. Elliott, "Libfork: portable
// continuation-stealing with stackless coroutines", 2024), with 64 bits instead of 16, so that any number of forks may
// come before one join. Models: models/cases/scheduler/join_counter/.
#pragma once

#include <atomic>
#include <cstdint>

#include "runq/atomics.hpp"
#include "runq/common.hpp"

namespace runq {

/// Whether a forked child has ended. Wait-free.
template <class Atomics = std_atomics>
class end_mark {
 public:
  end_mark() noexcept : ended_(false) {}
  end_mark(const end_mark&) = delete;
  end_mark& operator=(const end_mark&) = delete;

  /// Called by the child, before it arrives or goes on with its parent.
  void set() noexcept {
    // [join.end_mark] release: pairs with [join.ended]; weaker: a parent that destroys the child before the join races
    // with what the child has written.
    ended_.store(true, std::memory_order::release);
  }
  /// Called by the parent. Exact after the join. Before it, true means that the child has ended and that the parent
  /// sees what it wrote; false may be out of date, but not after the join.
  [[nodiscard]] bool is_set() const noexcept {
    // [join.ended] acquire: pairs with [join.end_mark]; weaker: a parent that destroys a child's frame before the join
    // races with the child's last writes.
    return ended_.load(std::memory_order::acquire);
  }

 private:
  typename Atomics::template atomic<bool> ended_;
};

/// Tells when all detached children have arrived and the parent waits for them. The parent counts its detached children
/// in plain memory and adds the sum to the shared word only when it waits, or when there are `Most` of them, so that a
/// byte is enough. Until then only the children touch that word.
template <class Atomics = std_atomics, std::uint8_t Most = 128>
class join_counter {
 public:
  join_counter() noexcept : balance_(0) {}
  join_counter(const join_counter&) = delete;
  join_counter& operator=(const join_counter&) = delete;

  /// One more child runs independently of the parent. Called only by the parent. Wait-free.
  void detach() noexcept {
    const unsigned n = detached_.get() + 1U;
    detached_.set(static_cast<std::uint8_t>(n));
    if (n % Most == 0) settle(n == Most);
  }

  /// Whether a child was detached since the last join: if not, there is nothing to wait for. Called only by the parent.
  [[nodiscard]] bool any() const noexcept { return detached_.get() != 0; }

  /// The parent waits. True: all children have arrived, so the parent goes on, and sees what they did. False: the
  /// parent must stop here and not touch its frame any more: the last arrive() resumes it. Wait-free.
  [[nodiscard]] bool wait() noexcept {
    const unsigned n = detached_.get();
    const std::int64_t children = n < Most ? n : n - Most + debt;
    detached_.set(0);
    // [join.wait] acq_rel: acquire pairs with [join.arrive] of all children; weaker: the parent does not see their
    // results. Release pairs with the acquire of [join.arrive]: the thread that resumes the parent sees what it did
    // before.
    return balance_.fetch_add(children, std::memory_order::acq_rel) + children == 0;
  }

  /// A detached child has ended. True: it was the last one and the parent waits, so the caller resumes the parent.
  /// False: the caller must not touch the parent any more. Wait-free.
  [[nodiscard]] bool arrive() noexcept {
    // [join.arrive] acq_rel: release pairs with [join.wait] and with the last [join.arrive], whose acquire lets the
    // parent see the results of all.
    return balance_.fetch_sub(1, std::memory_order::acq_rel) == 1;
  }

 private:
  // More than there can be children.
  static constexpr std::int64_t debt = std::int64_t{1} << 62;

  // Moves `Most` children to the shared word, and with the first of them a debt, so that no child that arrives before
  // the parent waits takes itself for the last.
  RUNQ_RARELY_CALLED void settle(bool first) noexcept {
    detached_.set(Most);
    // [join.settle] relaxed: publishes nothing; the children's release sequences go on through it.
    balance_.fetch_add(first ? Most - debt : std::int64_t{Most}, std::memory_order::relaxed);
  }

  // Children that the parent waits for, less those that have arrived. Negative until the parent waits; 0 when a join
  // is complete, and so ready for the next.
  typename Atomics::template atomic<std::int64_t> balance_;
  // From `Most` on: so many more than `Most`, and the balance has the others and the debt.
  typename Atomics::template cell<std::uint8_t> detached_{std::uint8_t{0}};
};

}  // namespace runq
