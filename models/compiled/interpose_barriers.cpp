// SPDX-License-Identifier: MIT
// std::barrier and std::latch, whose headers in a check call these functions. There threads that come to a phase have
// no order. With --barriers-in-order they take turns, by a lock. Outside of a check they are threads of the system.
#include <algorithm>
#include <condition_variable>
#include <mutex>

#include <fmt/format.h>

#include "interpose.hpp"
#include "runq/standard/barrier_state.h"

using namespace runq::model::compiled;  // NOLINT(google-build-using-namespace): the functions below have C's names
using runq::model::failure;
using runq::model::rmw_op;

namespace {

constexpr unsigned barrier_word = 4;
static_assert(sizeof(runq_barrier::arrivals) == barrier_word && sizeof(runq_barrier::phases) == barrier_word);

constexpr object_kind a_latch{"std::latch", sizeof(runq_barrier), alignof(runq_barrier), offsetof(runq_barrier, mark),
                              true};
constexpr object_kind a_standard_barrier{"std::barrier", sizeof(runq_barrier), alignof(runq_barrier),
                                         offsetof(runq_barrier, mark), true};
[[nodiscard]] const object_kind& kind_of(const runq_barrier* b) { return b->is_latch ? a_latch : a_standard_barrier; }

[[noreturn]] void fail(session& s, const runq_barrier* b, const std::string& what, const void* code) {
  s.code().fail(failure::misuse, s.memory().name_of_object(kind_of(b), b) + what, code);
}

// --- what one thread changes at a time ------------------------------------------------------------------------------

void begin_next_phase(runq_barrier& b) { b.remaining = b.is_latch ? 0 : b.expected; }

/// The phase is over for those who wait if this was the last thread, and has no completion function to call.
[[nodiscard]] runq_arrival arrive(runq_barrier& b, std::ptrdiff_t count, bool leaves) {
  b.remaining -= count;
  if (leaves) --b.expected;
  if (b.remaining == 0 && !b.has_completion) begin_next_phase(b);
  return {b.phases, b.has_completion && b.remaining == 0};
}

// --- outside of a check ---------------------------------------------------------------------------------------------

std::mutex outside_a_check;
std::condition_variable phase_has_ended;

void end_phase_outside(runq_barrier& b) {
  __atomic_fetch_add(&b.phases, 1, __ATOMIC_RELEASE);
  phase_has_ended.notify_all();
}

[[nodiscard]] runq_arrival arrive_outside(runq_barrier& b, std::ptrdiff_t count, bool leaves) {
  const std::lock_guard lock(outside_a_check);
  const bool is_last = b.remaining == count;
  const runq_arrival arrival = arrive(b, count, leaves);
  if (is_last && !arrival.completes) end_phase_outside(b);
  return arrival;
}

// --- in order -------------------------------------------------------------------------------------------------------

/// Lies elsewhere: a thread gives it back when others may have gone on, who may destroy the object.
[[nodiscard]] void* lock_of(session& s, const runq_barrier* b) { return s.waits().word_of(b, s.objects().lives_of(b)); }

void end_phase_in_order(session& s, runq_barrier* b, const void* code) {
  s.atomics().rmw(&b->phases, barrier_word, rmw_op::add, 1, std::memory_order::release, code);
}

[[nodiscard]] runq_arrival arrive_in_order(session& s, runq_barrier* b, std::ptrdiff_t count, bool leaves,
                                           const void* code) {
  void* const lock = lock_of(s, b);
  s.atomics().lock(lock, code);
  if (count > b->remaining) {
    fail(s, b,
         b->has_completion && b->remaining == 0
             ? std::string(" is arrived at while its phase is completed")
             : fmt::format(" gets {} arrivals where it waits for {}", count, b->remaining),
         code);
  }
  const bool is_last = b->remaining == count;
  const runq_arrival arrival = arrive(*b, count, leaves);
  if (is_last && !arrival.completes) end_phase_in_order(s, b, code);
  s.atomics().unlock(lock, code);
  return arrival;
}

// --- rounds: threads arrive at one word, and the one that has completed the phase at the other
// --------------------------

/// Nobody waits for the end of a phase after the end of the next one.
void require_no_late_departure(session& s, const runq_barrier* b, const void* at, const void* code) {
  if (s.atomics().has_late_departure(at, barrier_word))
    fail(s, b, " is waited for with a token whose phase is over, and the next one, too", code);
}

[[nodiscard]] runq_arrival arrive_in_round(session& s, runq_barrier* b, std::ptrdiff_t count, bool leaves, bool waits,
                                           const void* code) {
  if (b->has_completion && !waits) {
    s.atomics().give_up_rounds("a thread arrives at a std::barrier with a completion function, and does not wait");
  }
  const auto arrival = s.atomics().arrive(
      &b->arrivals, barrier_word,
      {static_cast<unsigned>(b->began_for), b->has_completion, static_cast<unsigned>(count), leaves ? 1U : 0U}, code);
  const std::uint32_t round = s.atomics().round_of(arrival);
  if (b->is_latch && round != 0) fail(s, b, " gets more arrivals than it waits for", code);
  require_no_late_departure(s, b, &b->arrivals, code);
  return {round, b->has_completion && s.atomics().depart(arrival, code)};
}

}  // namespace

#define RUNQ_IN_CHECK                   \
  const checker_scope scope;            \
  session& s = current_session();       \
  const void* const code = RUNQ_CALLER; \
  note_touched(code, b);

RUNQ_HOOK void runq_barrier_begin(runq_barrier* b) noexcept {
  if (!this_process.in_program) return;
  RUNQ_IN_CHECK
  runq_barrier fresh = *b;
  s.objects().initialise(kind_of(&fresh), b, code);
  fresh.mark = b->mark;
  *b = fresh;
  if (b->began_for < 0 || b->began_for > __INT_MAX__)
    fail(s, b, fmt::format(" is made for {} threads", b->began_for), code);
}
RUNQ_HOOK void runq_barrier_end(runq_barrier* b) noexcept {
  if (!this_process.in_program) return;
  RUNQ_IN_CHECK
  s.objects().destroy(kind_of(b), b, code);
}
RUNQ_HOOK runq_arrival runq_barrier_arrive(runq_barrier* b, std::ptrdiff_t count, bool leaves, bool waits) noexcept {
  if (!this_process.in_program) return arrive_outside(*b, count, leaves);
  RUNQ_IN_CHECK
  s.objects().use(kind_of(b), b, code);
  if (count < (b->is_latch ? 0 : 1)) fail(s, b, fmt::format(" gets {} arrivals", count), code);
  if (count == 0) return {};
  return s.atomics().has_rounds() ? arrive_in_round(s, b, count, leaves, waits, code)
                                  : arrive_in_order(s, b, count, leaves, code);
}
RUNQ_HOOK void runq_barrier_complete(runq_barrier* b) noexcept {
  if (!this_process.in_program) {
    const std::lock_guard lock(outside_a_check);
    begin_next_phase(*b);
    return end_phase_outside(*b);
  }
  RUNQ_IN_CHECK
  s.objects().use(kind_of(b), b, code);
  if (s.atomics().has_rounds()) {
    static_cast<void>(s.atomics().arrive(&b->phases, barrier_word, {1}, code));
    return require_no_late_departure(s, b, &b->phases, code);
  }
  void* const lock = lock_of(s, b);
  s.atomics().lock(lock, code);
  begin_next_phase(*b);
  end_phase_in_order(s, b, code);
  s.atomics().unlock(lock, code);
}
RUNQ_HOOK void runq_barrier_wait(const runq_barrier* b, unsigned phase, const runq_barrier* token_of) noexcept {
  if (!this_process.in_program) {
    std::unique_lock lock(outside_a_check);
    return phase_has_ended.wait(lock, [&] { return b->phases > phase || b->began_for == 0; });
  }
  RUNQ_IN_CHECK
  s.objects().use(kind_of(b), b, code);
  if (token_of != nullptr && token_of != b) fail(s, b, " is waited for with the token of another one", code);
  if (b->began_for == 0) return;
  if (s.atomics().has_rounds()) {
    const void* const at = b->has_completion ? &b->phases : &b->arrivals;
    s.atomics().depart(at, barrier_word, phase, token_of != nullptr, code);
    return require_no_late_departure(s, b, at, code);
  }
  s.waits().wait_until_above(&b->phases, phase, code);
  if (token_of != nullptr && b->phases > phase + 1)
    fail(s, b, " is waited for with a token whose phase is over, and the next one, too", code);
}
RUNQ_HOOK void runq_barrier_look(const runq_barrier* b) noexcept {
  if (!this_process.in_program) return;
  RUNQ_IN_CHECK
  s.objects().use(kind_of(b), b, code);
  if (s.atomics().has_rounds()) s.atomics().give_up_rounds("std::latch::try_wait() tells how many threads have come");
}
