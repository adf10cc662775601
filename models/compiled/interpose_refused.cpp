// SPDX-License-Identifier: MIT
// What the checker does not model. In a check a call is refused by its name, rather than carried out behind the
// checker's back; outside of one, and for the checker itself, it does what it always does. Functions that open files
// are carried out in a check, too; the checker only notes the call.
#include <cstdarg>
#include <cstdlib>
#include <vector>

#include <dlfcn.h>
#include <unistd.h>

#include "start.hpp"

namespace {

using any_function = long (*)(long, long, long, long, long, long);

namespace checker = runq::model::compiled;

[[nodiscard]] any_function real(const char* name) {
  const auto found = reinterpret_cast<any_function>(dlsym(RTLD_NEXT, name));
  if (found == nullptr) std::abort();
  return found;
}

[[noreturn]] void refuse(const char* what, const void* code) {
  checker::this_process.in_program = false;
  checker::current_session().code().refuse(what, code);
}

long refuse_or_call(const char* name, const char* what, const void* code, long a, long b, long c, long d, long e,
                    long f) {
  if (checker::this_process.in_program) refuse(what, code);
  return real(name)(a, b, c, d, e, f);
}

[[nodiscard]] any_function to_open(const char* name) {
  if (!checker::this_process.in_program) return real(name);
  const checker::checker_scope scope;
  checker::current_session().memory().beginning().note_open();
  return real(name);
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
RUNQ_REFUSE(on_exit)
RUNQ_REFUSE(socket)
RUNQ_REFUSE(poll)
RUNQ_REFUSE(select)
RUNQ_REFUSE(epoll_wait)
// Signals, and what sends them: the program has no handlers, and the process is the checker's.
RUNQ_REFUSE(sigaction)
RUNQ_REFUSE(signal)
RUNQ_REFUSE(raise)
RUNQ_REFUSE(kill)
RUNQ_REFUSE(pthread_kill)
RUNQ_REFUSE(sigqueue)
RUNQ_REFUSE(alarm)
RUNQ_REFUSE(setitimer)
RUNQ_REFUSE(sigwait)
RUNQ_REFUSE(sigsuspend)
// It may start a thread, behind the checker's back.
RUNQ_REFUSE(timer_create)
// Stacks of the program's own.
RUNQ_REFUSE(makecontext)
RUNQ_REFUSE(swapcontext)
RUNQ_REFUSE(setcontext)
// Another program in place of this one; see below for those that take a list.
RUNQ_REFUSE(execve)
RUNQ_REFUSE(execv)
RUNQ_REFUSE(execvp)

namespace {

/// The words of a list that ends with a null pointer, of which `first` is the first.
[[nodiscard]] std::vector<char*> words_of(const char* first, va_list list) {
  std::vector<char*> words{const_cast<char*>(first)};
  while (words.back() != nullptr) words.push_back(va_arg(list, char*));
  return words;
}

}  // namespace

#define RUNQ_REFUSE_LIST(name, call)                                                                        \
  extern "C" __attribute__((visibility("default"))) int refused_##name(const char* file, const char* first, \
                                                                       ...) __asm__(#name);                 \
  int refused_##name(const char* file, const char* first, ...) {                                            \
    va_list list;                                                                                           \
    va_start(list, first);                                                                                  \
    std::vector<char*> words;                                                                               \
    if (!checker::this_process.in_program) words = words_of(first, list);                                   \
    [[maybe_unused]] char** const environment = words.empty() ? nullptr : va_arg(list, char**);             \
    va_end(list);                                                                                           \
    if (words.empty()) refuse(#name "()", __builtin_return_address(0));                                     \
    return call;                                                                                            \
  }
RUNQ_REFUSE_LIST(execl, execv(file, words.data()))
RUNQ_REFUSE_LIST(execlp, execvp(file, words.data()))
RUNQ_REFUSE_LIST(execle, execve(file, words.data(), environment))

RUNQ_REFUSE_AS(random_device, "_ZNSt13random_device9_M_getvalEv",
               "std::random_device, whose numbers are never the same")

// A check closes again what its executions have left open. Otherwise the numbers of files would differ from execution
// to execution, until the process has no more of them.
#define RUNQ_OPENS(name)                                                                                             \
  extern "C"                                                                                                         \
      __attribute__((visibility("default"))) long opening_##name(long, long, long, long, long, long) __asm__(#name); \
  long opening_##name(long a, long b, long c, long d, long e, long f) { return to_open(#name)(a, b, c, d, e, f); }

RUNQ_OPENS(open)
RUNQ_OPENS(open64)
RUNQ_OPENS(openat)
RUNQ_OPENS(openat64)
RUNQ_OPENS(creat)
RUNQ_OPENS(fopen)
RUNQ_OPENS(fopen64)
RUNQ_OPENS(tmpfile)
RUNQ_OPENS(mkstemp)
RUNQ_OPENS(opendir)
RUNQ_OPENS(dup)
RUNQ_OPENS(pipe)
RUNQ_OPENS(pipe2)
RUNQ_OPENS(socketpair)
RUNQ_OPENS(eventfd)
RUNQ_OPENS(epoll_create)
RUNQ_OPENS(epoll_create1)
RUNQ_OPENS(timerfd_create)
RUNQ_OPENS(memfd_create)
