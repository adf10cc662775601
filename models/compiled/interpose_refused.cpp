// SPDX-License-Identifier: MIT
// What the checker does not model. In a check a call is refused by its name, rather than carried out behind the
// checker's back; outside of one, and for the checker itself, it does what it always does.
#include <cstdlib>

#include <dlfcn.h>

#include "start.hpp"

namespace {

using any_function = long (*)(long, long, long, long, long, long);

long refuse_or_call(const char* name, const char* what, const void* code, long a, long b, long c, long d, long e,
                    long f) {
  namespace checker = runq::model::compiled;
  if (checker::in_program) {
    checker::in_program = false;
    checker::current_session().refuse(what, code);
  }
  const auto real = reinterpret_cast<any_function>(dlsym(RTLD_NEXT, name));
  if (real == nullptr) std::abort();
  return real(a, b, c, d, e, f);
}

}  // namespace

// Arguments travel in registers, of which none of these functions uses more than six.
#define RUNQ_REFUSE_AS(name, symbol, what)                                                                            \
  extern "C"                                                                                                          \
      __attribute__((visibility("default"))) long refused_##name(long, long, long, long, long, long) __asm__(symbol); \
  long refused_##name(long a, long b, long c, long d, long e, long f) {                                               \
    return refuse_or_call(symbol, what, __builtin_return_address(0), a, b, c, d, e, f);                               \
  }
#define RUNQ_REFUSE(name) RUNQ_REFUSE_AS(name, #name, #name "()")

RUNQ_REFUSE(pthread_cancel)
RUNQ_REFUSE(pthread_tryjoin_np)
RUNQ_REFUSE(pthread_timedjoin_np)
RUNQ_REFUSE(sem_open)
RUNQ_REFUSE(rand)
RUNQ_REFUSE(random)
RUNQ_REFUSE(getrandom)
RUNQ_REFUSE(fork)
RUNQ_REFUSE(socket)
RUNQ_REFUSE(poll)
RUNQ_REFUSE(select)
RUNQ_REFUSE(epoll_wait)
RUNQ_REFUSE(sigaction)
RUNQ_REFUSE(signal)

RUNQ_REFUSE_AS(random_device, "_ZNSt13random_device9_M_getvalEv",
               "std::random_device, whose numbers are never the same")
