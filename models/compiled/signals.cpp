// SPDX-License-Identifier: MIT
#include "signals.hpp"

#include <csignal>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include "start.hpp"
#include "system.hpp"

namespace runq::model::compiled {

namespace {

constexpr std::size_t signal_stack_bytes = std::size_t{64} * 1024;
constexpr std::size_t crash_stack_bytes = std::size_t{512} * 1024;
alignas(16) std::byte crash_stack[crash_stack_bytes];
int crash_signal = 0;
constexpr unsigned ticks_per_second = 10;
constexpr unsigned endless_seconds = 5;
const void* crash_code = nullptr;
const void* crash_address = nullptr;

/// Runs in place of the program's code that a signal has stopped.
[[noreturn]] void crashed() {
  std::string what = fmt::format("{} ({})", strsignal(crash_signal), sigabbrev_np(crash_signal));
  if (std::exchange(this_process.judging, false))
    what += ", in calls that are made one after the other to judge a history";
  if (current_session().is_end_of_stack(crash_address)) {
    what += fmt::format(": a thread has used up its stack of {} bytes", exact::fiber_stack_bytes);
  } else if (crash_signal == SIGSEGV || crash_signal == SIGBUS) {
    what += fmt::format(" at address {}", fmt::ptr(crash_address));
  }
  current_session().code().fail(failure::crash, what, crash_code);
}

/// Runs in place of code that does nothing that the engine would hear of.
[[noreturn]] void run_endlessly() {
  if (std::exchange(this_process.judging, false)) {
    current_session().code().give_up(
        fmt::format("limit reached: calls that are made one after the other, to judge a history, run for {} s: an "
                    "operation that waits needs a specification that says so by runq::wait_for_another_call()",
                    endless_seconds),
        crash_code);
  }
  current_session().code().give_up(
      fmt::format("limit reached: a thread runs for {} s of processor time without an atomic operation, a lock, or the "
                  "start or end of a thread: a loop that never ends, or a computation that is too long for a check",
                  endless_seconds),
      crash_code);
}

/// After the signal handler; the stack that was in use is not used again.
void go_on_with(void (*function)(), ucontext_t& registers) {
  this_process.in_program = false;
  set_code_and_stack(function, crash_stack + crash_stack_bytes, registers);
}

/// Whether the checker has touched the program's memory on its behalf, and the address was wrong.
[[nodiscard]] bool is_on_behalf(const siginfo_t& fault) {
  if (fault.si_signo != SIGSEGV && fault.si_signo != SIGBUS) return false;
  if (!current_session().checking()) return false;
  return this_process.touched.contains(fault.si_addr) ||
         (has_no_address(fault) && this_process.touched.is_no_address());
}

/// Allocates nothing: the checker may have crashed while it did.
[[noreturn]] void end_as_broken(int number_of_signal) {
  const auto print = [](std::string_view text) {
    if (write(STDERR_FILENO, text.data(), text.size()) < 0) _exit(2);
  };
  print("runq-check: the checker itself has crashed (");
  const char* const name = sigabbrev_np(number_of_signal);
  print(name == nullptr ? "?" : name);
  print("); please report this\n");
  _exit(2);
}

void on_signal(int number_of_signal, siginfo_t* info, void* context) {
  if (number_of_signal == SIGSEGV && current_session().memory().beginning().handle_fault(info->si_addr)) return;
  auto& registers = *static_cast<ucontext_t*>(context);
  const bool overflow = number_of_signal == SIGSEGV && current_session().is_end_of_stack(info->si_addr);
  const bool on_behalf = !this_process.in_program && is_on_behalf(*info);
  if (!this_process.in_program && !this_process.judging && !overflow && !on_behalf) end_as_broken(number_of_signal);
  crash_signal = number_of_signal;
  crash_code = stopped_code(registers) + 1;  // as if it were a return address
  crash_address = info->si_addr;
  if (on_behalf) {
    crash_code = this_process.touched.code;
    crash_address = this_process.touched.begin;
  }
  go_on_with(&crashed, registers);
}

void on_tick(int, siginfo_t*, void* context) {
  static session::progress_mark last{};
  static unsigned ticks = 0;
  const session::progress_mark now = current_session().progress();
  if (now != last) {
    last = now;
    ticks = 0;
    return;
  }
  if (++ticks < ticks_per_second * endless_seconds || (!this_process.in_program && !this_process.judging)) return;
  auto& registers = *static_cast<ucontext_t*>(context);
  crash_code = stopped_code(registers) + 1;
  go_on_with(&run_endlessly, registers);
}

}  // namespace

bool take_signals() {
  stack_t stack{};
  stack.ss_size = signal_stack_bytes;
  stack.ss_sp = mmap(nullptr, stack.ss_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  struct sigaction action {};
  action.sa_sigaction = &on_signal;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  if (stack.ss_sp == MAP_FAILED || sigaltstack(&stack, nullptr) != 0) return false;
  for (const int s : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP}) sigaction(s, &action, nullptr);
  return true;
}

/// Ticks of the processor time of this thread.
bool start_ticks() {
  struct sigaction action {};
  action.sa_sigaction = &on_tick;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
  sigevent event{};
  event.sigev_notify = SIGEV_THREAD_ID;
  event.sigev_signo = SIGPROF;
  event._sigev_un._tid = gettid();
  timer_t timer{};
  itimerspec every{};
  every.it_interval.tv_nsec = every.it_value.tv_nsec = 1'000'000'000 / ticks_per_second;
  return sigaction(SIGPROF, &action, nullptr) == 0 && timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &timer) == 0 &&
         timer_settime(timer, 0, &every, nullptr) == 0;
}

}  // namespace runq::model::compiled
