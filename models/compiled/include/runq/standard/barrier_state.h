// SPDX-License-Identifier: MIT
// What a std::barrier or a std::latch consists of in a check, and what the checker does for it.
#ifndef RUNQ_BARRIER_STATE_H
#define RUNQ_BARRIER_STATE_H

#include <cstddef>

struct runq_barrier {
  std::ptrdiff_t began_for;
  std::ptrdiff_t remaining = began_for;  // have to arrive in this phase
  std::ptrdiff_t expected = began_for;   // in the next one
  bool is_latch = true;                  // has one phase
  bool has_completion = false;
  unsigned phases = 0;    // that have ended
  unsigned arrivals = 0;  // where the threads arrive
  std::size_t mark = 0;   // the checker's
};
struct runq_arrival {
  unsigned phase;
  bool completes;  // this thread is to call the completion function, and then runq_barrier_complete()
};

extern "C" {
void runq_barrier_begin(runq_barrier* b) noexcept;
void runq_barrier_end(runq_barrier* b) noexcept;
// As `count` threads. `leaves`: one of them comes to no later phase. `waits`: runq_barrier_wait() comes right after.
runq_arrival runq_barrier_arrive(runq_barrier* b, std::ptrdiff_t count, bool leaves, bool waits) noexcept;
void runq_barrier_complete(runq_barrier* b) noexcept;
// By a token of that barrier; nullptr: by none.
void runq_barrier_wait(const runq_barrier* b, unsigned phase, const runq_barrier* token_of) noexcept;
// Before the program itself looks at `phases`.
void runq_barrier_look(const runq_barrier* b) noexcept;
}

#endif
