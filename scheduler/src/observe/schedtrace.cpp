// SPDX-License-Identifier: MIT
// RUNQ_SCHEDTRACE: lines that tell the state of the scheduler, in the format of Go's GODEBUG=schedtrace.
#include <charconv>
#include <cstdlib>
#include <map>
#include <string>

#include "runq/detail/core.hpp"
#include "runq/task.hpp"

namespace runq::detail {
namespace {

std::string field(const char* name, std::uint64_t value) {
  return std::string(" ") + name + "=" + std::to_string(value);
}

// Like field(), for a number that may be -1, which means that there is none.
std::string number(const char* name, std::int64_t value) {
  return std::string(" ") + name + "=" + std::to_string(value);
}

const char* flag(bool b) { return b ? "true" : "false"; }

// Go's numbers: a processor is idle (0), running (1), in a blocking call (2) or retired (4).
std::uint64_t status_of(const processor& p, bool exists) {
  if (!exists) return 4;
  if (handoff<policy>::blocked(p.in_call.peek())) return 2;
  // [trace.status.held_by] relaxed, unmodelled: as [trace.held_by].
  return p.held_by.load(std::memory_order::relaxed) >= 0 ? 1 : 0;
}

}  // namespace

std::string core::trace_line(instant at, bool detail) const {
  const statistics s = count();
  std::size_t idle_machines = 0;
  parking.with_lock([&] { idle_machines = parking.idle_machines(); });
  std::string line = "SCHED " + std::to_string((at - made_at_) / 1'000'000) + "ms:" + field("gomaxprocs", s.procs) +
                     field("idleprocs", s.idle_procs) + field("threads", s.machines + 1) +
                     field("spinningthreads", s.spinning) + field("needspinning", parking.need_spinning() ? 1 : 0) +
                     field("idlethreads", idle_machines) + field("runqueue", s.global_queue);
  if (detail) {
    return line + field("gcwaiting", 0) + field("nmidlelocked", 0) + field("stopwait", 0) +
           field("sysmonwait", monitoring.sleeps() ? 1 : 0) + "\n" + trace_detail(s);
  }
  line += " [";
  for (std::size_t i = 0; i != s.local_queues.size(); ++i)
    line += (i == 0 ? "" : " ") + std::to_string(s.local_queues[i]);
  return line + "]\n";
}

// The strand that a machine runs, or has taken into a blocking call; null if there is none.
const strand* core::strand_of(const machine& m) {
  // [trace.strand_of.state] relaxed, unmodelled: as [trace.held_by].
  const machine_state state = m.state.load(std::memory_order::relaxed);
  // [trace.strand_of] acquire, unmodelled: pairs with [machine.last_strand]; weaker: a trace reads a strand that is not
  // constructed. Strands are never freed; the next lines ask whether this machine still runs it.
  const strand* const s = m.last_strand.load(std::memory_order::acquire);
  if (s == nullptr) return nullptr;
  // by chance: the task ends or waits at this moment.
  if (state == machine_state::running && s->is(task_status::running)) return s;
  // by chance: likewise.
  if (state == machine_state::in_call && s->is(task_status::syscall)) return s;
  return nullptr;
}

// Lines as Go 1.19 prints them; what has no counterpart here is 0, false, empty or -1. The numbers are read one after
// the other while the machines run, as in Go.
std::string core::trace_detail(const statistics& counted) const {
  std::string text;
  std::map<std::int32_t, std::int64_t> processor_of;
  processors_.for_each([&](const processor& p) {
    // [trace.held_by] relaxed, unmodelled: a trace may be a moment old.
    const std::int32_t held_by = p.held_by.load(std::memory_order::relaxed);
    if (held_by >= 0) processor_of[held_by] = p.index;
    // [trace.free_strands] relaxed, unmodelled: as [trace.held_by].
    const std::size_t free_strands = p.free_strands.load(std::memory_order::relaxed);
    text += "  P" + std::to_string(p.index) + ":" + field("status", status_of(p, p.index < counted.procs)) +
            field("schedtick", p.ticks.get()) + field("syscalltick", p.calls.get()) + number("m", held_by) +
            field("runqsize", p.queue_thief.size_approx()) + field("gfreecnt", free_strands) +
            field("timerslen", p.timers.size()) + "\n";
  });
  std::map<const strand*, std::int64_t> machine_of;
  {
    const std::lock_guard lock(machines_mutex_);
    // Newest first.
    for (auto m = machines_.rbegin(); m != machines_.rend(); ++m) {
      const auto n = static_cast<std::int32_t>((*m)->number);
      const strand* const s = strand_of(**m);
      if (s != nullptr) machine_of[s] = n;
      // [trace.id] relaxed, unmodelled: as [trace.held_by].
      const std::int64_t id = s == nullptr ? -1 : static_cast<std::int64_t>(s->id.load(std::memory_order::relaxed));
      // [trace.state] relaxed, unmodelled: as [trace.held_by].
      const machine_state state = (*m)->state.load(std::memory_order::relaxed);
      text += "  M" + std::to_string(n) + ":" + number("p", processor_of.contains(n) ? processor_of[n] : -1) +
              number("curg", id) +
              " mallocing=0 throwing=0 preemptoff= locks=0 dying=0 spinning=" + flag(state == machine_state::spinning) +
              " blocked=" + flag(state == machine_state::idle) + " lockedg=-1\n";
    }
  }
  strands_.for_each([&](const strand& s) {
    if (s.is(task_status::dead)) return;
    // [trace.strand.id] relaxed, unmodelled: as [trace.held_by].
    const std::uint64_t id = s.id.load(std::memory_order::relaxed);
    const task_status status = s.state.status();
    const wait_reason reason = s.state.reason();
    text += "  G" + std::to_string(id) + ": status=" + std::to_string(static_cast<int>(status)) + "(" +
            (status == task_status::waiting ? to_string(reason) : "") + ")" +
            number("m", machine_of.contains(&s) ? machine_of[&s] : -1) + " lockedm=-1\n";
  });
  return text;
}

// RUNQ_SCHEDTRACE=ms, RUNQ_SCHEDDETAIL=1, RUNQ_TRACE=file.json. RUNQ_MEMBARRIER was read when the program started: see
// scheduler_fences.
void core::read_environment() {
  if (const char* const fences = std::getenv("RUNQ_MEMBARRIER")) {
    const std::string text = fences;
    if (text != "0" && text != "1") {
      throw misuse("runq: the environment variable RUNQ_MEMBARRIER must be 0 or 1, but is \"" + text + "\"");
    }
  }
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

void core::begin_slice(machine& m, const strand& s) {
  // A continuation that a thief took from a fork deque has no task of its own.
  const char* const forked = chosen.forks == fork_policy::continuation ? "continuation" : "forked";
  // [trace.slice.id] relaxed, unmodelled: the task is this machine's.
  const std::uint64_t id = s.id.load(std::memory_order::relaxed);
  // [trace.slice.name] relaxed, unmodelled: the task is this machine's.
  const char* const name = s.name.load(std::memory_order::relaxed);
  m.slice_of = {id, s.root != nullptr ? name : forked};
  m.slice_begin = now();
}

void core::end_slice(const machine& m, const processor& p, instant end) {
  tracer_->ran(p.index, m.slice_of, m.slice_begin, end);
}

void core::trace_last_slice() noexcept {
  const machine& m = *this_machine();
  if (tracer_ != nullptr) end_slice(m, *m.held, now());
}

}  // namespace runq::detail
