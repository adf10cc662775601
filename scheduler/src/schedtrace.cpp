// SPDX-License-Identifier: MIT
// RUNQ_SCHEDTRACE: lines that tell the state of the scheduler, in the format of Go's GODEBUG=schedtrace.
#include <charconv>
#include <cstdlib>
#include <string>

#include "runq/detail/core.hpp"
#include "runq/task.hpp"

namespace runq::detail {
namespace {

std::string field(const char* name, std::uint64_t value) {
  return std::string(" ") + name + "=" + std::to_string(value);
}

const char* flag(bool b) { return b ? "true" : "false"; }

}  // namespace

std::string core::trace_line(instant at, bool detail) const {
  const statistics s = count();
  std::size_t idle_machines = 0;
  parking.with_lock([&] { idle_machines = parking.idle_machines(); });
  std::string line = "SCHED " + std::to_string((at - made_at_) / 1'000'000) + "ms:" + field("gomaxprocs", s.procs) +
                     field("idleprocs", s.idle_procs) + field("threads", s.machines + 1) +
                     field("spinningthreads", s.spinning) + field("needspinning", parking.need_spinning() ? 1 : 0) +
                     field("idlethreads", idle_machines) + field("runqueue", s.global_queue);
  if (detail)
    return line + field("gcwaiting", 0) + field("nmidlelocked", 0) + field("stopwait", 0) +
           field("sysmonwait", monitor_sleeps_.load(std::memory_order::relaxed) ? 1 : 0) + "\n" + trace_detail(s);
  line += " [";
  for (std::size_t i = 0; i != s.local_queues.size(); ++i)
    line += (i == 0 ? "" : " ") + std::to_string(s.local_queues[i]);
  return line + "]\n";
}

// Numbers of states as in Go: a processor is idle (0), running (1), in a blocking call (2) or gone (4).
std::string core::trace_detail(const statistics& s) const {
  std::string text;
  for (unsigned i = 0; i != made_.load(std::memory_order::acquire); ++i) {
    const processor& p = *processors_[i];
    int status = p.in_use.load(std::memory_order::relaxed) ? 1 : 0;
    if (handoff<policy>::blocked(p.in_call.peek())) status = 2;
    if (i >= s.procs) status = 4;
    text += "  P" + std::to_string(i) + ":" + field("status", static_cast<std::uint64_t>(status)) +
            field("schedtick", p.ticks.get()) + field("syscalltick", p.calls.get()) +
            field("runqsize", p.queue_thief.size_approx()) + field("timerslen", p.timers.size()) + "\n";
  }
  {
    const std::lock_guard lock(machines_mutex_);
    for (std::size_t i = 0; i != machines_.size(); ++i) {
      const machine_state state = machines_[i]->state.load(std::memory_order::relaxed);
      text += "  M" + std::to_string(i) + ": spinning=" + flag(state == machine_state::spinning) +
              " blocked=" + flag(state == machine_state::idle) + " syscall=" + flag(state == machine_state::in_call) +
              "\n";
    }
  }
  for_each_goroutine([&text](const goroutine& g) {
    if (g.is(task_status::dead)) return;
    text += "  G" + std::to_string(g.id) +
            ": status=" + std::to_string(static_cast<int>(g.status.load(std::memory_order::relaxed))) + "(" +
            (g.is(task_status::waiting) ? to_string(g.reason.load(std::memory_order::relaxed)) : "") + ")\n";
  });
  return text;
}

// RUNQ_SCHEDTRACE=ms, RUNQ_SCHEDDETAIL=1, RUNQ_TRACE=file.json.
void core::read_environment() {
  if (const char* const period = std::getenv("RUNQ_SCHEDTRACE")) {
    const std::string text = period;
    int ms = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), ms);
    if (error != std::errc() || end != text.data() + text.size() || ms <= 0) {
      throw misuse("runq: the environment variable RUNQ_SCHEDTRACE must be a number of milliseconds, but is \"" + text +
                   "\"");
    }
    trace_period_ = instant{ms} * 1'000'000;
    const char* const detail = std::getenv("RUNQ_SCHEDDETAIL");
    trace_in_detail_ = detail != nullptr && std::string(detail) == "1";
  }
  if (const char* const file = std::getenv("RUNQ_TRACE")) tracer_ = std::make_unique<tracer>(file);
}

void core::begin_slice(machine& m, const goroutine& g) {
  m.slice_of = {g.id, g.name};
  m.slice_begin = now();
}

void core::end_slice(const machine& m, const processor& p, instant end) {
  tracer_->ran(p.index, m.slice_of, m.slice_begin, end);
}

}  // namespace runq::detail
