// SPDX-License-Identifier: MIT
// What is not modelled: a call ends the exploration and is named. Better no verdict than one about something else.
#include <cstdarg>
#include <cstddef>

#include "../compiled/hook.hpp"
#include "runtime.hpp"

// The C library declares them with other types.
#pragma GCC diagnostic ignored "-Wbuiltin-declaration-mismatch"

namespace {

/// Before main() and in the runtime there is no run that could be wrong.
[[noreturn]] void refuse_call(const char* name) { runq::model::explore::refuse(std::string(name) + "()"); }

}  // namespace

#define RUNQ_REFUSED(name)                             \
  RUNQ_HOOK void runq_refused_##name() __asm__(#name); \
  RUNQ_HOOK void runq_refused_##name() { refuse_call(#name); }

// Threads that end, or are asked to end, in another way than by returning.
RUNQ_REFUSED(pthread_exit)
RUNQ_REFUSED(pthread_cancel)
RUNQ_REFUSED(pthread_kill)
RUNQ_REFUSED(pthread_tryjoin_np)
RUNQ_REFUSED(pthread_timedjoin_np)
RUNQ_REFUSED(pthread_clockjoin_np)
RUNQ_REFUSED(pthread_getattr_np)
RUNQ_REFUSED(pthread_mutex_consistent)
RUNQ_REFUSED(pthread_sigqueue)
RUNQ_REFUSED(thrd_exit)
// Other processes.
RUNQ_REFUSED(fork)
RUNQ_REFUSED(vfork)
RUNQ_REFUSED(clone)
RUNQ_REFUSED(execve)
RUNQ_REFUSED(execv)
RUNQ_REFUSED(execvp)
RUNQ_REFUSED(posix_spawn)
RUNQ_REFUSED(posix_spawnp)
RUNQ_REFUSED(system)
RUNQ_REFUSED(popen)
RUNQ_REFUSED(sem_open)
// Waits for signals.
RUNQ_REFUSED(pause)
RUNQ_REFUSED(sigwait)
RUNQ_REFUSED(sigwaitinfo)
RUNQ_REFUSED(sigtimedwait)
RUNQ_REFUSED(sigsuspend)
// Timers that run in real time.
RUNQ_REFUSED(timer_create)
RUNQ_REFUSED(setitimer)
// Contexts of others, which would leave the stack of calls wrong.
RUNQ_REFUSED(swapcontext)
RUNQ_REFUSED(setcontext)
