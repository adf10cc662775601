// SPDX-License-Identifier: MIT
// What programs call that were written for other checkers, by the names that the competition on software verification
// (SV-COMP) has made usual. A program declares them itself.
#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include <fmt/format.h>

#include "interpose.hpp"

using namespace runq::model::compiled;  // NOLINT(google-build-using-namespace): the functions below have C's names
using runq::model::failure;

/// Only executions in which the condition holds count. Outside of a check there is no other execution to go on with.
RUNQ_HOOK void __VERIFIER_assume(int condition) noexcept {
  if (condition != 0) return;
  if (!in_program) {
    std::fputs("__VERIFIER_assume: the condition does not hold\n", stderr);
    abort();
  }
  in_program = false;
  session& s = current_session();
  // What was read last decides the condition in most programs.
  s.wait_for_others(s.position() - std::min(s.position(), 1U), RUNQ_CALLER);
}

/// Must not be reached.
RUNQ_HOOK __attribute__((noreturn)) void __VERIFIER_error() {
  if (!in_program) {
    std::fputs("__VERIFIER_error: reached\n", stderr);
    std::abort();
  }
  in_program = false;
  current_session().fail(failure::check_failed, "__VERIFIER_error() is reached", RUNQ_CALLER);
}

/// Returns true or false: both are explored.
RUNQ_HOOK bool __VERIFIER_nondet_bool() noexcept {
  if (!in_program) return false;
  const checker_scope scope;
  return current_session().choose(2, RUNQ_CALLER) != 0;
}

// To explore every value of such a type would take too many executions.
#define RUNQ_ANY(type)                                                                              \
  RUNQ_HOOK long __VERIFIER_nondet_##type() noexcept {                                              \
    if (!in_program) return 0;                                                                      \
    in_program = false;                                                                             \
    current_session().refuse("__VERIFIER_nondet_" #type "(), which may be any value", RUNQ_CALLER); \
  }
RUNQ_ANY(char)
RUNQ_ANY(uchar)
RUNQ_ANY(short)
RUNQ_ANY(ushort)
RUNQ_ANY(int)
RUNQ_ANY(uint)
RUNQ_ANY(long)
RUNQ_ANY(ulong)
RUNQ_ANY(pointer)
