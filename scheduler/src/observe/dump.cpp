// SPDX-License-Identifier: MIT
// What all tasks do: the list that a deadlock, a panic and scheduler::dump() print, in the format of Go's.
#include <string>

#include "runq/detail/core.hpp"
#include "runq/detail/fatal.hpp"

namespace runq {

const char* to_string(wait_reason reason) noexcept {
  switch (reason) {
    case wait_reason::none: return "";
    case wait_reason::chan_receive: return "chan receive";
    case wait_reason::chan_send: return "chan send";
    case wait_reason::chan_receive_nil: return "chan receive (nil chan)";
    case wait_reason::chan_send_nil: return "chan send (nil chan)";
    case wait_reason::select: return "select";
    case wait_reason::select_no_cases: return "select (no cases)";
    case wait_reason::semacquire: return "semacquire";
    case wait_reason::mutex_lock: return "sync.Mutex.Lock";
    case wait_reason::rw_mutex_lock: return "sync.RWMutex.Lock";
    case wait_reason::rw_mutex_lock_shared: return "sync.RWMutex.RLock";
    case wait_reason::cond_wait: return "sync.Cond.Wait";
    case wait_reason::join: return "join";
    case wait_reason::sleep: return "sleep";
    case wait_reason::io_wait: return "IO wait";
    case wait_reason::blocking_call: return "blocking call";
  }
  return "?";
}

namespace detail {
namespace {

std::string state_of(const strand& s) {
  switch (s.state.status()) {
    case task_status::runnable: return "runnable";
    case task_status::running: return "running";
    case task_status::syscall: return "syscall";
    case task_status::waiting: return to_string(s.state.reason());
    default: return "dead";
  }
}

std::string line_of(source_place at, const char* what = "") {
  if (!at) return "";
  return std::string("\t") + what + at.file() + (at.line() != 0 ? ":" + std::to_string(at.line()) : "") + "\n";
}

}  // namespace

std::string heading_of(const strand& s, const std::string& state) {
  // [dump.id] relaxed, unmodelled: a dump may be a moment old; it is exact when all tasks wait.
  std::string text = "goroutine " + std::to_string(s.id.load(std::memory_order::relaxed)) + " [" + state + "]:\n";
  // [dump.name] relaxed, unmodelled: a dump may be a moment old; a name is a literal, so it stays readable.
  if (const char* const name = s.name.load(std::memory_order::relaxed)) text += std::string(name) + "\n";
  if (s.is(task_status::waiting)) text += line_of(s.state.place());
  return text;
}

std::string origin_of(const strand& s) {
  return line_of(s.state.place(), s.state.reason() == wait_reason::none ? "started at " : "last waited at ");
}

std::string core::dump() const {
  std::string text;
  strands_.for_each([&text](const strand& s) {
    if (s.is(task_status::dead)) return;
    if (!text.empty()) text += "\n";
    text += heading_of(s, state_of(s));
  });
  return text;
}

}  // namespace detail
}  // namespace runq
