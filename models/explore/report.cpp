// SPDX-License-Identifier: MIT
#include "report.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <csignal>
#include <cstring>
#include <deque>
#include <map>
#include <vector>

#include <fmt/format.h>
#include <link.h>
#include <nlohmann/json.hpp>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include "../compiled/symbols.hpp"
#include "areas.hpp"
#include "arena.hpp"
#include "counterexample.hpp"
#include "heap.hpp"
#include "limits.hpp"
#include "result_json.hpp"
#include "scheduler.hpp"
#include "sites.hpp"
#include "system.hpp"
#include "system_call.hpp"
#include "threads.hpp"
#include "tiny.hpp"
#include "verdict.hpp"

namespace runq::model::explore {

run_report* report = nullptr;
bool telling = false;
bool stops_at_failure = false;
int standard_error = STDERR_FILENO;

namespace {

using compiled::frame;
using compiled::symbols;

/// A step, with its calls, innermost first.
struct noted_step {
  static constexpr std::size_t most_calls = 12;

  event step;
  std::uintptr_t address = 0;
  std::array<const void*, most_calls> calls{};
  std::uint64_t reads_from = no_step;
};

std::deque<noted_step>& steps() {
  static auto& all = *new std::deque<noted_step>;  // destructors of the program make steps, too
  return all;
}
std::uint64_t steps_forgotten = 0;

void copy_calls(std::array<const void*, noted_step::most_calls>& to, const void* code) {
  std::size_t n = 0;
  if (code != nullptr) to[n++] = code;
  for (const void** at = self->calls; at != self->calls_begin && n != to.size();) to[n++] = *--at;
}

[[nodiscard]] known_events known_from(const std::uint32_t* clock, std::uint32_t width) {
  known_events known(1 + std::size_t{width});
  for (std::uint32_t i = 0; i != width; ++i) known[i + 1] = clock[i] + 1;
  return known;
}

noted_step& add_step(event_kind kind, const void* code) {
  noted_step& s = steps().emplace_back();
  s.step.kind = kind;
  s.step.thread = static_cast<int>(self->number);
  s.step.position = self->epoch();
  s.step.known = known_from(self->now.happened, clock_width);
  copy_calls(s.calls, code);
  if (steps().size() > steps_shown) {
    steps().pop_front();
    ++steps_forgotten;
  }
  return s;
}

// --- where things are ------------------------------------------------------------------------------------------------

symbols& all_symbols() {
  static auto& all = *new symbols;
  return all;
}

[[nodiscard]] site line_of(const std::array<const void*, noted_step::most_calls>& calls) {
  std::array<frame, noted_step::most_calls + 1> chain{};
  std::size_t n = 0;
  while (n != calls.size() && calls[n] != nullptr) {
    chain[n].code = calls[n];
    chain[n].caller = &chain[n + 1];
    ++n;
  }
  return n == 0 ? site{} : all_symbols().own_line(chain.data());
}

[[nodiscard]] site line_of_here(const void* code) {
  std::array<const void*, noted_step::most_calls> calls{};
  copy_calls(calls, code);
  return line_of(calls);
}

/// The code whose address has this lower half.
[[nodiscard]] const void* code_at(std::uint32_t place) {
  struct search {
    std::uint32_t place;
    std::uintptr_t found;
  } s{place, 0};
  dl_iterate_phdr(
      [](dl_phdr_info* module, std::size_t, void* data) {
        auto& wanted = *static_cast<search*>(data);
        for (unsigned i = 0; i != module->dlpi_phnum; ++i) {
          const auto& h = module->dlpi_phdr[i];
          if (h.p_type != PT_LOAD || (h.p_flags & PF_X) == 0) continue;
          const std::uintptr_t begin = module->dlpi_addr + h.p_vaddr;
          const std::uintptr_t candidate = begin + static_cast<std::uint32_t>(wanted.place - begin);
          if (candidate < begin + h.p_memsz) wanted.found = candidate;
        }
        return 0;
      },
      &s);
  return reinterpret_cast<const void*>(s.found);
}

[[nodiscard]] std::string name_of_memory(std::uintptr_t address) {
  const auto* const p = reinterpret_cast<const void*>(address);
  if (const auto found = all_symbols().variable_at(p, 0); !found.name.empty()) return found.name + found.part;
  if (is_in_heap(p)) return fmt::format("heap+{:#x}", address - heap_area);
  if (const std::uint32_t place = explore::place_of(address); place != max_threads) {
    return fmt::format("stack of T{}+{:x}", place, address & 0xffff);
  }
  return fmt::format("{:#x}", address);
}

[[nodiscard]] std::string text_of(site where) {
  if (where.line == 0) return "code without lines";
  const std::string_view file = where.file;
  return fmt::format("{}:{}", file.substr(file.rfind('/') + 1), where.line);
}

// --- telling ---------------------------------------------------------------------------------------------------------

[[nodiscard]] std::uint32_t index_of(std::uint64_t step) {
  return step == no_step || step < steps_forgotten ? no_event : static_cast<std::uint32_t>(step - steps_forgotten);
}

/// The noted steps as a trace, whose last step says who fails.
[[nodiscard]] search_result trace_of(failure what, const std::string& message, const void* code) {
  search_result r;
  r.what = what;
  r.message = message;
  r.where = line_of_here(code);
  r.knows_sources = true;
  std::map<std::uintptr_t, std::uint32_t> numbers;
  for (noted_step& s : steps()) {
    s.step.where = line_of(s.calls);
    s.step.reads_from = index_of(s.reads_from);
    if (s.address != 0) {
      const auto [at, is_new] = numbers.try_emplace(s.address, static_cast<std::uint32_t>(numbers.size() + 1));
      s.step.location = at->second;
      if (is_new) r.variables[at->second] = name_of_memory(s.address);
    }
    r.trace.push_back(s.step);
  }
  event last;
  last.kind = event_kind::failure;
  last.thread = static_cast<int>(self->number);
  last.where = r.where;
  last.position = self->epoch();
  last.known = known_from(self->now.happened, clock_width);
  r.trace.push_back(last);
  return r;
}

/// What has room.
void put(char* to, const std::string& from) {
  const std::size_t size = std::min(from.size(), run_report::room - 1);
  std::memcpy(to, from.data(), size);
  to[size] = '\0';
}

void write_tiny_program(const search_result& r) {
  const tiny_program tiny = steps_forgotten == 0
                                ? tiny_program_of(r)
                                : tiny_program{{}, fmt::format("the run has more than {} steps", steps_shown)};
  report->is_tiny = !tiny.source.empty();
  put(report->tiny, report->is_tiny ? tiny.source : tiny.why_not);
}

void tell(const search_result& r) {
  source_index sources;
  std::string text;
  for (const std::string& line : render_counterexample(r, sources)) text += line + "\n";
  const std::string where = r.where.line == 0 ? "" : ", at " + render_site(r.where, sources);
  write_report(r.message + where + "\n" + text, result_json(r, sources).dump());
  write_tiny_program(r);
}

void begin_to_fail() {
  if (stops_at_failure) stop_for_debugger();
  in_runtime = true;
  exploring = false;
}

[[noreturn]] void end_run(failure what, std::uintptr_t address, const void* code) {
  count_steps();
  report->has_ended = true;
  report->what = what;
  report->address = address;
  report->place = reinterpret_cast<std::uint64_t>(code);
  report->done = counts;
  _exit(0);
}

// --- crashes ---------------------------------------------------------------------------------------------------------

[[nodiscard]] std::string words_of_signal(int signal) {
  switch (signal) {
    case SIGSEGV: return "invalid memory access (SIGSEGV)";
    case SIGBUS: return "invalid memory access (SIGBUS)";
    case SIGFPE: return "division by zero (SIGFPE)";
    case SIGILL: return "invalid instruction (SIGILL)";
    case SIGTRAP: return "trap (SIGTRAP)";
    default: return "abort()";
  }
}

void crashed(int signal, siginfo_t* info, void* context) {
  exploring = false;
  const std::byte* const code = compiled::stopped_code(*static_cast<const ucontext_t*>(context)) + 1;
  std::string what;
  {
    const runtime_scope scope;
    what = words_of_signal(signal);
    if (signal == SIGSEGV || signal == SIGBUS) {
      what += fmt::format(" of address {:#x}", reinterpret_cast<std::uintptr_t>(info->si_addr));
    }
  }
  fail(failure::crash, what, signal == SIGABRT ? nullptr : code);
}

}  // namespace

void write_report(const std::string& text, const std::string& json) {
  put(report->text, text);
  put(report->json, json);
}

void note_step(const shown_step& shown) {
  const runtime_scope scope;
  noted_step& s = add_step(shown.kind, shown.code);
  s.address = shown.address;
  s.reads_from = shown.reads_from;
  s.step.order = shown.order;
  s.step.value = shown.value;
  s.step.written = shown.written;
  s.step.newest = shown.newest;
  s.step.stale = shown.stale;
}

void know_last_step(message* released) {
  if (!telling || steps().empty()) return;
  const runtime_scope scope;
  event& e = steps().back().step;
  e.known = known_from(self->now.happened, clock_width);
  if (released != nullptr) e.released = known_from(released->happened(), std::min(clock_width, released->width));
}

std::uint64_t last_step() noexcept {
  return !telling || steps().empty() ? no_step : steps_forgotten + steps().size() - 1;
}

void note_plain_access(std::uintptr_t address, std::uint8_t flags, const void* code) {
  if (!telling) return;
  const runtime_scope scope;
  const bool is_write = (flags & is_a_write) != 0;
  noted_step& s = add_step(is_write ? event_kind::cell_write : event_kind::cell_read, code);
  s.address = address;
}

void stop_for_debugger() {
  const itimerval never{};
  system_call(SYS_setitimer, ITIMER_REAL, &never, nullptr);
  const runtime_scope scope;
  const std::string text = fmt::format(
      "stopped at step {}, in T{}: attach a debugger by `gdb -p {}`; `kill -CONT {}` lets it go on without one\n",
      counts.steps, self->number, getpid(), getpid());
  static_cast<void>(!write(standard_error, text.data(), text.size()));
  system_call(SYS_kill, getpid(), SIGSTOP);
}

void fail(failure what, std::string_view words, const void* code) {
  begin_to_fail();
  const std::string message(words);
  if (telling) {
    tell(trace_of(what, message, code));
  } else {
    write_report(message, "");
  }
  end_run(what, 0, code);
}

void report_conflict(const conflict& c, const void* code) {
  begin_to_fail();
  const bool is_freed = (c.before.flags & is_a_free) != 0;
  const failure what = is_freed ? failure::use_after_free : failure::data_race;
  if (telling) {
    const auto words = [](std::uint8_t flags) {
      const std::string kind = (flags & is_atomic) != 0 ? "atomic " : "";
      return kind + ((flags & is_a_write) != 0 ? "write" : "read");
    };
    const std::string variable = name_of_memory(c.address);
    const std::string mine = fmt::format("{} of {} by T{}", words(c.mine.flags), variable, c.mine.thread);
    std::array<const void*, noted_step::most_calls> before{code_at(c.before_place)};
    const std::string other = fmt::format("by T{} at {}", c.before.thread, text_of(line_of(before)));
    search_result r = trace_of(what,
                               is_freed ? fmt::format("{}: freed {}", mine, other)
                                        : fmt::format("{}, and {} {}, neither of which happens before the other", mine,
                                                      words(c.before.flags), other),
                               code);
    // Its last step but one is the failing access, if that is plain; the other one comes before it.
    for (std::size_t i = r.trace.size() - 1; i-- != 0;) {
      const event& e = r.trace[i];
      const std::uintptr_t address = steps()[i].address;
      const bool is_plain = reads_plain(e) || writes_plain(e);
      const bool is_it = is_freed ? e.kind == event_kind::deallocate && address <= c.address
                                  : address / 8 == c.address / 8 && e.thread == c.before.thread &&
                                        is_plain == ((c.before.flags & is_atomic) == 0);
      if (!is_it) continue;
      r.partner = static_cast<std::uint32_t>(i);
      break;
    }
    tell(r);
  }
  end_run(what, c.address, code);
}

void report_deadlock(std::span<thread* const> blocked, std::string_view why) {
  begin_to_fail();
  if (telling) {
    search_result r = trace_of(failure::deadlock, std::string(why), blocked[0]->waits_at);
    static constexpr std::array<const char*, 12> words{
        "",          "a lock",      "a lock, to read", "a condition variable", "the end of",
        "a barrier", "a semaphore", "pthread_once()",  "a static variable",    "a futex",
        "sleep",     "a descriptor"};
    for (const thread* const t : blocked) {
      stuck_thread s;
      s.thread = static_cast<int>(t->number);
      const bool joins = t->waits == wait_kind::join;
      if (joins) s.joins = static_cast<int>(static_cast<const thread*>(t->waits_for)->number);
      r.stuck.push_back(s);
      thread* const running = self;
      self = thread_at(t->number);
      r.message +=
          fmt::format("; T{} waits for {}{} at {}", t->number, words[static_cast<std::size_t>(t->waits)],
                      joins                     ? fmt::format(" T{}", s.joins)
                      : t->waits_for != nullptr ? " " + name_of_memory(reinterpret_cast<std::uintptr_t>(t->waits_for))
                                                : "",
                      text_of(line_of_here(t->waits_at)));
      self = running;
    }
    r.trace.back().thread = r.stuck.back().thread;
    tell(r);
  }
  end_run(failure::deadlock, 0, blocked[0]->waits_at);
}

void report_no_end(std::uint64_t fair_since, std::string_view why, std::uint64_t since) {
  const runtime_scope scope;
  fail(failure::livelock,
       fmt::format(
           "no end: {} steps, those since {} by a fair schedule, without old values; {} since step {} (--max-steps "
           "lets a run go on for longer)",
           counts.steps, fair_since, why, since),
       nullptr);
}

void give_up(const std::string& why) {
  in_runtime = true;
  exploring = false;
  if (report == nullptr) {
    const std::string line = "runq-explore: " + why + "\n";
    static_cast<void>(!write(STDERR_FILENO, line.data(), line.size()));
    _exit(2);
  }
  write_report(why, "");
  report->is_refused = true;
  _exit(0);
}

void refuse(const std::string& what) {
  std::string where;
  {
    const runtime_scope scope;
    const site line = exploring ? line_of_here(nullptr) : site{};
    where = line.line == 0 ? "" : ", called by " + text_of(line);
  }
  give_up("not supported: " + what + where);
}

void take_crashes() {
  constexpr std::size_t bytes = std::size_t{1} << 20;
  stack_t stack{};
  stack.ss_sp = map_memory(crash_stack_area, bytes);
  stack.ss_size = bytes;
  sigaltstack(&stack, nullptr);
  struct sigaction action {};
  action.sa_sigaction = &crashed;
  action.sa_flags = static_cast<int>(SA_SIGINFO | SA_ONSTACK | SA_RESETHAND);
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT}) sigaction(signal, &action, nullptr);
}

}  // namespace runq::model::explore
