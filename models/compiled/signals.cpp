// SPDX-License-Identifier: MIT
#include "signals.hpp"

#include <csignal>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include "start.hpp"

namespace runq::model::compiled {

namespace {

constexpr std::size_t signal_stack_bytes = std::size_t{64} * 1024;
constexpr std::size_t crash_stack_bytes = std::size_t{512} * 1024;
alignas(16) std::byte crash_stack[crash_stack_bytes];
int crash_signal = 0;
const void* crash_code = nullptr;
const void* crash_address = nullptr;

/// Runs in place of the program's code that a signal has stopped.
[[noreturn]] void crashed() {
  std::string what = fmt::format("{} ({})", strsignal(crash_signal), sigabbrev_np(crash_signal));
  if (current_session().is_end_of_stack(crash_address)) {
    what += fmt::format(": a thread has used up its stack of {} bytes", exact::fiber_stack_bytes);
  } else if (crash_signal == SIGSEGV || crash_signal == SIGBUS) {
    what += fmt::format(" at address {}", fmt::ptr(crash_address));
  }
  current_session().fail(failure::crash, what, static_cast<const std::byte*>(crash_code) + 1);
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
  if (number_of_signal == SIGSEGV && current_session().handle_fault(info->si_addr)) return;
  auto& registers = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
  const bool overflow = number_of_signal == SIGSEGV && current_session().is_end_of_stack(info->si_addr);
  if (!in_program && !overflow) end_as_broken(number_of_signal);
  in_program = false;
  crash_signal = number_of_signal;
  crash_code = reinterpret_cast<const void*>(registers[REG_RIP]);
  crash_address = info->si_addr;
  registers[REG_RIP] = reinterpret_cast<greg_t>(&crashed);
  registers[REG_RSP] = reinterpret_cast<greg_t>(crash_stack + crash_stack_bytes - 8);  // as after a call
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

}  // namespace runq::model::compiled
