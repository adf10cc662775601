// SPDX-License-Identifier: MIT
// In place of main(): checks the program, and prints the verdict. Options come by the environment, because the command
// line belongs to the program: RUNQ_CHECK holds them, separated by line ends (runq-check sets it).
#include "start.hpp"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include "counterexample.hpp"

namespace runq::model::compiled {

bool initialising = false;

namespace {

main_function program_main = nullptr;
bool session_exists = false;
int verdict_output = STDOUT_FILENO;
code_ranges system_code;

[[noreturn]] void end(int status, const std::string& text) {
  std::string_view left = text;
  while (!left.empty()) {
    const ssize_t written = write(verdict_output, left.data(), left.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) break;
    left.remove_prefix(static_cast<std::size_t>(written));
  }
  _exit(status);
}

[[noreturn]] void usage_error(const std::string& text) { end(2, "runq-check: " + text + "\n"); }

// --- options -------------------------------------------------------------------------------------------------------

struct run_options {
  exact_options search;
  bool leaks = true;
  bool every_iteration = false;
  bounds limits;
};

[[nodiscard]] std::uint64_t number(std::string_view option, std::string_view text) {
  std::uint64_t value = 0;
  if (text.empty() || text.size() > 18) usage_error(fmt::format("{} needs a number", option));
  for (const char c : text) {
    if (c < '0' || c > '9') usage_error(fmt::format("{} needs a number, not '{}'", option, text));
    value = value * 10 + static_cast<unsigned>(c - '0');
  }
  return value;
}

[[nodiscard]] run_options options_from_environment() {
  run_options o;
  const char* const variable = std::getenv("RUNQ_CHECK");
  std::string_view text = variable == nullptr ? "" : variable;
  const auto next = [&text] {
    const std::size_t end_of_word = text.find('\n');
    const std::string_view word = text.substr(0, end_of_word);
    text.remove_prefix(end_of_word == std::string_view::npos ? text.size() : end_of_word + 1);
    return word;
  };
  while (!text.empty()) {
    const std::string_view option = next();
    if (option == "--execution") {
      o.search.show_execution = number(option, next());
    } else if (option == "--max-executions") {
      o.search.max_executions = number(option, next());
    } else if (option == "--max-events") {
      o.search.max_events_per_thread = static_cast<unsigned>(number(option, next()));
    } else if (option == "--time-limit") {
      o.search.time_limit_seconds = static_cast<double>(number(option, next()));
    } else if (option == "--spurious") {
      o.limits.spurious_failures = o.search.spurious_failures = static_cast<unsigned>(number(option, next()));
    } else if (option == "--timeouts") {
      o.limits.timeouts = static_cast<unsigned>(number(option, next()));
    } else if (option == "--rounds") {
      o.limits.rounds = static_cast<unsigned>(number(option, next()));
    } else if (option == "--check-duplicates") {
      o.search.check_duplicates = true;
    } else if (option == "--every-iteration") {
      o.every_iteration = true;
    } else if (option == "--no-leaks") {
      o.leaks = false;
    } else if (!option.empty()) {
      usage_error(fmt::format("there is no option '{}'", option));
    }
  }
  return o;
}

// --- signals ---------------------------------------------------------------------------------------------------------

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

void on_signal(int number_of_signal, siginfo_t* info, void* context) {
  if (number_of_signal == SIGSEGV && session_exists && current_session().handle_fault(info->si_addr)) return;
  auto& registers = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
  const bool overflow =
      number_of_signal == SIGSEGV && session_exists && current_session().is_end_of_stack(info->si_addr);
  if (!in_program && !overflow) {
    end(2, fmt::format("runq-check: the checker itself has crashed ({}); please report this\n",
                       sigabbrev_np(number_of_signal)));
  }
  in_program = false;
  crash_signal = number_of_signal;
  crash_code = reinterpret_cast<const void*>(registers[REG_RIP]);
  crash_address = info->si_addr;
  registers[REG_RIP] = reinterpret_cast<greg_t>(&crashed);
  registers[REG_RSP] = reinterpret_cast<greg_t>(crash_stack + crash_stack_bytes - 8);  // as after a call
}

void take_signals() {
  stack_t stack{};
  stack.ss_size = signal_stack_bytes;
  stack.ss_sp = mmap(nullptr, stack.ss_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  struct sigaction action {};
  action.sa_sigaction = &on_signal;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  if (stack.ss_sp == MAP_FAILED || sigaltstack(&stack, nullptr) != 0) usage_error("no memory for a stack of signals");
  for (const int s : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP}) sigaction(s, &action, nullptr);
}

// --- the verdict
// -------------------------------------------------------------------------------------------------------

[[nodiscard]] std::string counted(const search_result& r) {
  return fmt::format("{} execution{} explored, {:.2f} s", r.executions, r.executions == 1 ? "" : "s", r.seconds);
}

[[nodiscard]] const char* name_of(failure what) {
  switch (what) {
    case failure::none: break;
    case failure::check_failed: return "check failed";
    case failure::data_race: return "data race";
    case failure::uninitialised_read: return "uninitialised read";
    case failure::use_after_free: return "use after free";
    case failure::double_free: return "double free";
    case failure::leak: return "leak";
    case failure::unpublished_allocation: return "unpublished allocation";
    case failure::deadlock: return "deadlock";
    case failure::livelock: return "livelock";
    case failure::misuse: return "misuse";
    case failure::crash: return "crash";
  }
  return "failure";
}

[[nodiscard]] std::string describe(const search_result& r, session& s) {
  source_index sources;
  std::string text;
  for (const std::string& line : render_counterexample(r, sources)) text += line + "\n";
  if (!s.output().empty()) text += "output of this execution:\n" + s.output();
  if (!text.empty() && text.back() != '\n') text += '\n';
  return text;
}

/// Load buffering is what RC11 forbids and C++20 does not; it is left out of every search.
[[nodiscard]] std::string passed(const left_out& omitted) {
  std::string also;
  const bounds& limits = current_session().limits();
  if (omitted.spurious_failures) {
    also += limits.spurious_failures == 0
                ? std::string(", spurious failures of weak compare-exchanges (--spurious N)")
                : fmt::format(", more than {} spurious failures in an execution", limits.spurious_failures);
  }
  if (omitted.unknown_weakness) also += ", failures of compare-exchanges that this compiler does not tell to be weak";
  if (omitted.spurious_wakeups) also += ", spurious wake-ups";
  if (omitted.clocks) also += ", clocks that go on by less than a day";
  if (omitted.timeouts) also += fmt::format(", more than {} timeouts of a thread (--timeouts N)", limits.timeouts);
  if (omitted.rounds) {
    also +=
        fmt::format(", ends of loops that wait and count between round {} and the last (--rounds N)", limits.rounds);
  }
  return fmt::format("{}: no execution that C++20 allows fails; left out: load buffering{}",
                     also.empty() ? "exhaustive" : "bounded", also);
}

[[noreturn]] void print_verdict(const search_result& r, session& s, std::uint64_t shown) {
  if (r.what != failure::none) {
    end(1, fmt::format("FAIL in execution {}: {}: {}\n", r.executions, name_of(r.what), r.message) + describe(r, s) +
               "T0 is the thread that runs main().\n");
  }
  if (r.how != coverage::exhaustive) {
    const bool asked = shown != 0 && !r.trace.empty();
    const std::string verdict = asked ? fmt::format("execution {}, which does not fail:\n", shown) + describe(r, s)
                                      : fmt::format("no verdict: {} ({})\n", r.message, counted(r));
    end(asked ? 0 : 2, verdict);
  }
  std::string text = fmt::format("{} ({})\n", passed(s.omitted()), counted(r));
  if (r.executions == 0) {
    end(2, fmt::format("no verdict: all of {} executions wait for ever, or see old values for ever\n", r.blocked));
  }
  if (s.statistics().duplicates != 0) text += fmt::format("{} executions were met before\n", s.statistics().duplicates);
  end(0, text);
}

int checked_main(int argc, char** argv, char** environment) {
  initialising = false;
  const run_options options = options_from_environment();
  // The program's output must not mix with the verdict.
  verdict_output = dup(STDOUT_FILENO);
  if (verdict_output < 0) usage_error("cannot duplicate the output");
  take_signals();
  session& s = current_session();
  s.count_leaks(options.leaks);
  s.recognise_waiting(!options.every_iteration);
  s.set_bounds(options.limits);
  const search_result result = s.check(program_main, argc, argv, environment, options.search);
  print_verdict(result, s, options.search.show_execution);
}

}  // namespace

bool is_system_code(const void* code) noexcept { return system_code.contains(code); }

bool owned_by_program(const void* p) noexcept { return session_exists && current_session().owns(p); }

}  // namespace runq::model::compiled

using main_type = int (*)(int, char**, char**);

extern "C" __attribute__((visibility("default"))) int __libc_start_main(main_type main, int argc, char** argv,
                                                                        void (*init)(), void (*fini)(),
                                                                        void (*loader_fini)(), void* stack_end) {
  namespace checker = runq::model::compiled;
  using start = int (*)(main_type, int, char**, void (*)(), void (*)(), void (*)(), void*);
  const auto real = reinterpret_cast<start>(dlsym(RTLD_NEXT, "__libc_start_main"));
  checker::program_main = main;
  checker::system_code.add_module("libc.so");
  checker::system_code.add_module("ld-linux");
  static_cast<void>(checker::current_session());
  checker::session_exists = true;
  checker::initialising = true;
  return real(&checker::checked_main, argc, argv, init, fini, loader_fini, stack_end);
}
