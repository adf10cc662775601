// SPDX-License-Identifier: MIT
#include "runq/detail/fatal.hpp"

#include <cstdio>
#include <cstdlib>
#include <exception>

#include "runq/detail/core.hpp"
#include "runq/task.hpp"

namespace runq {

namespace detail {
namespace {

std::string describe(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
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

void fatal_no_memory() noexcept { fatal("fatal error: runq: out of memory for a thread or a strand of a task\n"); }

void fatal_destroyed_by_task() noexcept {
  fatal(
      "panic: runq: a scheduler was destroyed by one of its own tasks, for which it would wait for ever; destroy it "
      "after run() has returned. (exit() in a task destroys static schedulers: use std::quick_exit() or std::_Exit() "
      "there, or return from the main task.)\n");
}

bool is_cancellation(const std::exception_ptr& error) noexcept {
  try {
    std::rethrow_exception(error);
  } catch (const cancelled&) {
    return true;
  } catch (...) {
    return false;
  }
}

void panic() noexcept {
  // The main task has ended, and with it the program: so this exception is ignored.
  if (this_machine()->home.ends()) return;
  if (is_cancellation(std::current_exception())) return;
  const processor& p = *this_processor();
  p.home.trace_last_slice();
  fatal("panic: " + describe(std::current_exception()) + "\n\n" + heading_of(*p.current, "running") +
        origin_of(*p.current));
}

void throw_misuse(const char* what) { throw misuse(what); }

void fatal_not_joined(const std::exception_ptr& left_by) noexcept {
  std::string text =
      "panic: runq: a task that has forked others went on past its end, or dropped the result of one, before "
      "co_await runq::join(); if an exception did that, runq::with_scope() joins by itself\n";
  if (left_by != nullptr) {
    text += "The task was left by an exception: " + describe(left_by) + "\n";
  } else if (std::uncaught_exceptions() != 0) {
    text += "An exception dropped the result; its text is not known before a handler has caught it.\n";
  }
  fatal(text);
}

void fatal_guard_outlived_mutex() noexcept {
  std::string text =
      "panic: runq: a mutex was destroyed while a task had it by scoped_lock(); the mutex must live longer: destroy it "
      "after the task has ended, or let the tasks share it by a std::shared_ptr\n";
  if (const processor* const p = this_processor(); p != nullptr) {
    text += "\n" + heading_of(*p->current, "running");
  }
  fatal(text);
}

// The tasks are those of a moment ago, if a thread has just woken one.
void core::may_be_deadlock() const {
  std::fputs(
      ("runq: warning: all goroutines are asleep - a deadlock, unless a thread without a handle wakes one:\n\n" +
       dump() +
       "\nThe run goes on, because the process has threads that the scheduler did not start. Give each of them that "
       "is to wake a task runq::this_task::handle(). If none is, set options::threads_without_handle.\n")
          .c_str(),
      stderr);
  std::fflush(stderr);
}

void core::deadlock() const {
  fatal("fatal error: all goroutines are asleep - deadlock!\n\n" + dump() +
        "\nNo thread outside holds a handle. If one is to wake a task, give it runq::this_task::handle().\n");
}

}  // namespace detail
}  // namespace runq
