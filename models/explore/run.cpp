// SPDX-License-Identifier: MIT
#include "run.hpp"

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <span>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "areas.hpp"
#include "fibers.hpp"
#include "limits.hpp"
#include "scheduler.hpp"
#include "threads.hpp"

extern "C" char __libc_single_threaded;

namespace runq::model::explore {

bool exploring = false;
bool in_runtime = false;
run_choices choices;
run_counts counts;
std::uint64_t last_change = 0;

namespace {

program running;
exploration_options options_of_run;
leads seeds_before;  ///< that have not decided yet
std::uint64_t last_seed = 0;
bool measures = false;

/// The number of the next step that another seed decides.
void find_next_seed() noexcept { step_of_next_seed = seeds_before.empty() ? 0 : seeds_before.front().until; }
void begin_seeds(const run_request& request, const exploration_options& options) {
  options_of_run = options;
  options_of_run.weak_memory = request.weak_memory && options.weak_memory;
  last_seed = request.seed;
  if (request.follows == nullptr) seeds_before = request.before;
  choose_for_run(seeds_before.empty() ? last_seed : seeds_before.front().seed, options_of_run);
  find_next_seed();
}

void run_main() {
  exploring = true;
  in_runtime = false;
  std::exit(running.main(running.argc, running.argv, running.environment));
}

/// When all destructors of the program have run.
__attribute__((destructor)) void leave_counts() {
  if (!exploring) return;
  count_steps();
  exploring = false;
  report->done = counts;
  if (measures) note_used_shadow(report->used);
}

/// Loops and waits of the process itself, where the scheduler cannot see them, end by these signals. A busy machine
/// gives little processor time: so the limit for waits is a wide one.
void limit_time() {
  const itimerval by_processor{{0, 0}, {seconds_per_run, 0}};
  const itimerval by_clock{{0, 0}, {20 * seconds_per_run, 0}};
  syscall(SYS_setitimer, ITIMER_PROF, &by_processor, nullptr);
  syscall(SYS_setitimer, ITIMER_REAL, &by_clock, nullptr);
}

[[noreturn]] void run_in_this_process(const run_slot& slot, const run_request& request,
                                      const exploration_options& options) {
  const int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
  dup2(nothing, STDIN_FILENO);
  constexpr int far_away = 1000;  // the program's own descriptors have the numbers that they have without this one
  standard_error = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, far_away);
  dup2(slot.output, STDOUT_FILENO);
  dup2(slot.output, STDERR_FILENO);
  limit_time();
  take_crashes();
  measures = request.measures;
  if (request.uses != nullptr) {
    // As each page for itself would be, at its first access.
    const std::span ranges(request.uses->ranges, request.uses->range_count);
    for (const auto& r : ranges) madvise(reinterpret_cast<void*>(r.begin), r.bytes, MADV_POPULATE_WRITE);
  }
  report = slot.report;
  telling = request.tells;
  if (request.tells) watched_cell = request.watched / 8 * 8;
  begin_seeds(request, options);
  if (request.notes_pairs) note_pairs_into(slot.report->pairs);
  if (request.records != nullptr) record_into(*request.records);
  if (request.follows != nullptr) follow(*request.follows);
  if (request.tells) {
    step_to_stop_at = options.stop_at;
    stops_at_failure = options.stops_at_failure;
  }
  __libc_single_threaded = 0;
  begin_schedule(request.expected);
  fiber here;
  make_main_fiber(self->context, &run_main);
  const fiber first = self->context;
  switch_fiber(here, first);
  _exit(0);
}

}  // namespace

void take_next_seed() noexcept {
  const runtime_scope scope;
  seeds_before.erase(seeds_before.begin());
  choose_for_run(seeds_before.empty() ? last_seed : seeds_before.front().seed, options_of_run);
  find_next_seed();
}

void* shared_memory(std::size_t bytes) {
  static std::uintptr_t next = shared_area;
  constexpr std::size_t page_bytes = 4096;
  void* const wanted = reinterpret_cast<void*>(next);
  next += (bytes + page_bytes - 1) / page_bytes * page_bytes;
  void* const shared =
      mmap(wanted, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
  if (shared != wanted) give_up("the system gives too little memory");
  return shared;
}

run_slot make_slot() {
  run_slot slot;
  slot.report = static_cast<run_report*>(shared_memory(sizeof(run_report)));
  slot.output = memfd_create("output", MFD_CLOEXEC);
  if (slot.output < 0) give_up("the system gives no file in memory");
  return slot;
}

void give_back(const run_slot& slot) {
  munmap(slot.report, sizeof(run_report));
  close(slot.output);
}

void start_run(run_slot& slot, const run_request& request, const exploration_options& options, const program& p) {
  slot.seed = request.seed;
  slot.before = request.before;
  slot.report->has_ended = slot.report->is_refused = slot.report->has_rung = slot.report->is_long = false;
  slot.report->done = {};
  slot.report->used = {};
  slot.report->pairs.count = 0;
  slot.report->text[0] = slot.report->json[0] = slot.report->tiny[0] = '\0';
  static_cast<void>(ftruncate(slot.output, 0) + lseek(slot.output, 0, SEEK_SET));
  running = p;
  // Not fork(): the program's handlers (pthread_atfork()) are for its own forks. Here they could wait for ever.
  slot.process = _Fork();
  if (slot.process < 0) give_up("the system gives no process");
  if (slot.process == 0) run_in_this_process(slot, request, options);
}

run_outcome run_once(run_slot& slot, const run_request& request, const exploration_options& options, const program& p) {
  start_run(slot, request, options, p);
  int status = 0;
  waitpid(slot.process, &status, 0);
  return outcome_of(slot, status);
}

run_outcome outcome_of(const run_slot& slot, int status) {
  run_outcome o;
  o.text = slot.report->text;
  if (slot.report->is_refused) {
    o.how = run_end::refused;
  } else if (slot.report->has_ended) {
    o.how = run_end::failed;
    o.what = slot.report->what;
    o.place = slot.report->place;
    o.address = slot.report->address;
  } else if (WIFSIGNALED(status)) {
    o.how = run_end::failed;
    const bool is_late = WTERMSIG(status) == SIGALRM || WTERMSIG(status) == SIGPROF;
    if (is_late && slot.report->is_long && !slot.report->has_rung) {
      o.how = run_end::refused;
      o.text = fmt::format(
          "the run of seed {} has not ended after {} s of processor time, while its variables still change: take a "
          "smaller test",
          text_of(slot.before, slot.seed), seconds_per_run);
      return o;
    }
    o.what = is_late ? failure::livelock : failure::crash;
    o.text = slot.report->has_rung ? "no end before the program's own alarm() rings"
             : is_late             ? fmt::format("no end within {} s of processor time", seconds_per_run)
                                   : fmt::format("ended by signal {}", WTERMSIG(status));
  } else if (WEXITSTATUS(status) != 0) {
    o.how = run_end::failed;
    o.what = failure::check_failed;
    o.status = WEXITSTATUS(status);
    o.text = fmt::format("the program ends with status {}", o.status);
  }
  return o;
}

std::string output_of(const run_slot& slot) {
  constexpr off_t most = 4000;
  constexpr std::ptrdiff_t most_lines = 30;
  const off_t size = lseek(slot.output, 0, SEEK_END);
  std::string text(static_cast<std::size_t>(std::clamp<off_t>(size, 0, most)), '\0');
  if (text.empty() || pread(slot.output, text.data(), text.size(), std::max<off_t>(0, size - most)) < 0) return {};
  std::ptrdiff_t lines = std::count(text.begin(), text.end(), '\n');
  std::size_t begin = 0;
  for (; lines > most_lines; --lines) begin = text.find('\n', begin) + 1;
  text.erase(0, begin);
  if (text.back() != '\n') text += '\n';
  return text;
}

}  // namespace runq::model::explore
