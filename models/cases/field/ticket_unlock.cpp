// SPDX-License-Identifier: MIT
// Finding ticket-unlock: atomic_queue's TicketSpinlock of 2022 (atomic_queue/spinlock.h), by lock() and unlock().
//
//   1. one thread: lock, ticket 0; unlock() adds 1 to the ticket that is served, and unlock(ticket) adds 1 again: 2
//   2. the other: lock, ticket 1, which is never served
// Fix: unlock() hands on the ticket that is served.
// Caught by: exact (deadlock); Relacy (livelock: its threads spin).
#include "ports.hpp"
#include "waiting.hpp"

namespace runq::model::field {
namespace {

// Each of two threads: lock unlock.
template <bug Bug>
struct two_owners final : scenario {
  void thread(unsigned) override {
    const unsigned mine = ticket.fetch_add(1, relaxed);
    await([this, mine] { return next.load(acquire) == mine; });
    const unsigned served = next.load(relaxed) + (Bug == bug::seeded ? 1 : 0);
    next.store(served + 1, release);
  }

  atomic<unsigned> ticket{0};
  atomic<unsigned> next{0};
};

const bool added[] = {
    add_case<two_owners<bug::seeded>>({
        .name = "field/ticket_unlock",
        .property = "a lock that is given back can be taken: lock unlock ‖ lock unlock",
        .threads = 2,
        .seeded_bug = true,
    }),
    add_case<two_owners<bug::fixed>>({
        .name = "field/fixed_ticket_unlock",
        .property = "a lock that is given back can be taken: lock unlock ‖ lock unlock",
        .threads = 2,
    }),
};

}  // namespace
}  // namespace runq::model::field
