// SPDX-License-Identifier: MIT
#include "runq/detail/fatal.hpp"

#include <cstdio>
#include <cstdlib>
#include <exception>

#include "runq/detail/core.hpp"
#include "runq/task.hpp"

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
    case wait_reason::join: return "join";
    case wait_reason::sleep: return "sleep";
    case wait_reason::io_wait: return "IO wait";
  }
  return "?";
}

namespace detail {
namespace {

std::string state_of(const goroutine& g) {
  switch (g.status.load(std::memory_order::relaxed)) {
    case task_status::runnable: return "runnable";
    case task_status::running: return "running";
    case task_status::syscall: return "syscall";
    case task_status::waiting: return to_string(g.reason.load(std::memory_order::relaxed));
    default: return "dead";
  }
}

std::string heading(const goroutine& g, const std::string& state) {
  std::string text = "goroutine " + std::to_string(g.id.load(std::memory_order::relaxed)) + " [" + state + "]:\n";
  if (const char* const name = g.name.load(std::memory_order::relaxed)) text += std::string(name) + "\n";
  return text;
}

std::string describe_current_exception() {
  try {
    throw;
  } catch (const std::exception& e) {
    return e.what();
  } catch (const char* text) {
    return text;
  } catch (...) {
    return "an exception that is no std::exception";
  }
}

}  // namespace

void fatal(const std::string& text) noexcept {
  std::fflush(stdout);
  std::fputs(text.c_str(), stderr);
  std::fflush(stderr);
  tracer::write_all();
  std::_Exit(fatal_status);
}

void fatal_threads(unsigned limit) noexcept {
  fatal("runtime: program exceeds " + std::to_string(limit) + "-thread limit\nfatal error: thread exhaustion\n");
}

void fatal_no_thread(const std::system_error& error) noexcept {
  fatal(std::string("runtime: failed to create new OS thread: ") + error.what() +
        "\nfatal error: no new thread\nThe limit of threads may be too low: see ulimit -u.\n");
}

void fatal_no_memory() noexcept { fatal("fatal error: runq: out of memory for a thread or a task's record\n"); }

void fatal_destroyed_by_task() noexcept {
  fatal(
      "panic: runq: a scheduler was destroyed by one of its own tasks, for which it would wait for ever; destroy it "
      "after run() has returned. (exit() in a task destroys static schedulers: use std::quick_exit() or std::_Exit() "
      "there, or return from the main task.)\n");
}

void panic() noexcept {
  // Main has ended, so the program has, and this is nobody's concern any more.
  if (const machine* const m = this_machine(); m != nullptr && m->home.ends()) return;
  std::string text = "panic: " + describe_current_exception() + "\n";
  if (const processor* const p = this_processor(); p != nullptr && p->current != nullptr) {
    const goroutine& g = *p->current;
    p->home.trace_last_slice();
    text += "\n" + heading(g, "running");
  }
  fatal(text);
}

void throw_misuse(const char* what) { throw misuse(what); }

void fatal_not_joined() noexcept {
  fatal(
      "panic: runq: a task that has forked others went on past its end, or dropped the result of one, before "
      "co_await runq::join()\n");
}

std::string core::dump() const {
  std::string text;
  for_each_goroutine([&text](const goroutine& g) {
    if (g.is(task_status::dead)) return;
    if (!text.empty()) text += "\n";
    text += heading(g, state_of(g));
  });
  return text;
}

void core::deadlock() const { fatal("fatal error: all goroutines are asleep - deadlock!\n\n" + dump()); }

}  // namespace detail
}  // namespace runq
