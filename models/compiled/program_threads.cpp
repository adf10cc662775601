// SPDX-License-Identifier: MIT
#include "program_threads.hpp"

#include <cxxabi.h>
#include <fmt/format.h>
#include <unwind.h>

#include "process.hpp"

namespace runq::model::compiled {

namespace {

// Not inline: exit() unwinds the stack up to here.
[[gnu::noinline]] int call_main(main_function main, int argc, char** argv, char** environment) noexcept {
  return main(argc, argv, environment);
}
[[gnu::noinline]] void* call_thread(void* (*function)(void*), void* argument) noexcept { return function(argument); }

}  // namespace

void program_threads::remember(const program_start& start, bool is_whole) {
  start_ = start;
  is_whole_ = is_whole;
  if (!is_whole) return;
  handlers_before_main_ = exit_handlers_;
  quick_handlers_before_main_ = quick_handlers_;
  destructors_ = find_destructors();
}

void program_threads::begin_execution() {
  exit_handlers_ = handlers_before_main_;
  quick_handlers_ = quick_handlers_before_main_;
  for (thread_info& t : threads_) t.is_started = false;
}

void program_threads::begin_thread(unsigned thread) {
  thread_info& t = threads_[thread];
  t.result = nullptr;
  t.is_started = true;
  t.has_ended = false;
  t.spawned = 0;
  t.given_up = nullptr;
  t.exit_handlers.clear();
  t.deaths.clear();
  t.cleanup_handlers = 0;
  t.in_call = t.has_called = t.in_lock_free_call = false;
}

void program_threads::run(unsigned thread) {
  thread_info& t = threads_[thread];
  if (thread == 1) {
    this_process.in_program = true;
    const int status = call_main(start_.main, start_.argc, start_.argv, start_.environment);
    exit_program(status, ending::exit, nullptr);
  }
  this_process.in_program = true;
  end(call_thread(t.function, t.argument));
}

void program_threads::end(void* result) {
  thread_info& t = mine();
  t.result = result;
  this_process.in_program = true;
  run_exit_handlers(t.exit_handlers);
  keys_.run_handlers();
  run_exit_handlers(t.deaths);
  this_process.in_program = false;
  t.has_ended = true;
  if (running() != 1) {
    now_.at_end->thread_ends(result);
    now_.search->finish_thread();
  }
  wait_for_all();
  exit_program(0, ending::exit, nullptr);
}

/// When main() has left by pthread_exit(), the program goes on until its last thread ends. Only threads that the first
/// one knows of count, so that it does the same in all executions: it knows of others after it has waited for these.
void program_threads::wait_for_all() {
  std::array<bool, exact::thread_slots> seen{};
  const auto next = [&] {
    unsigned t = 2;
    while (t <= max_threads &&
           (seen[t] || !threads_[t].is_started || !threads_[t].started.before(now_.search->knows()))) {
      ++t;
    }
    return t;
  };
  for (unsigned t = next(); t <= max_threads; t = next()) {
    seen[t] = true;
    now_.search->join(t, {});
  }
}

void program_threads::exit(void* result, const void* code) {
  mine().result = result;
  if (mine().cleanup_handlers != 0) code_.refuse("pthread_exit() with a handler of pthread_cleanup_push()", code);
  // Until the thread's own function has been left; what is below belongs to the checker.
  const auto stop = [](int, _Unwind_Action, _Unwind_Exception_Class, _Unwind_Exception*, _Unwind_Context* context,
                       void* self) {
    auto& threads = *static_cast<program_threads*>(self);
    const auto function = static_cast<std::uintptr_t>(_Unwind_GetRegionStart(context));
    const bool is_last = function == reinterpret_cast<std::uintptr_t>(&call_thread) ||
                         function == reinterpret_cast<std::uintptr_t>(&call_main);
    if (is_last) threads.end(threads.mine().result);
    return _URC_NO_REASON;
  };
  static std::array<_Unwind_Exception, exact::thread_slots> exceptions;
  _Unwind_Exception& exception = exceptions[now_.search->running()];
  exception = {};
  this_process.in_program = true;
  _Unwind_ForcedUnwind(&exception, +stop, this);
  this_process.in_program = false;
  code_.refuse("pthread_exit() through a function that cannot be unwound", code);
}

void program_threads::run_exit_handlers(std::vector<handler>& handlers) {
  while (!handlers.empty()) {
    const handler last = handlers.back();
    handlers.pop_back();
    last.function(last.argument);
  }
}

void program_threads::exit_program(int status, ending how, const void* code) {
  if (now_.search->running() != 1) code_.refuse("exit() by another thread than the first", code);
  this_process.in_program = true;
  if (how == ending::exit) {
    run_exit_handlers(threads_[1].exit_handlers);
    run_exit_handlers(exit_handlers_);
    if (is_whole_) run_destructors();
  } else if (how == ending::quick_exit) {
    run_exit_handlers(quick_handlers_);
  }
  this_process.in_program = false;
  if (status != 0) code_.fail(failure::check_failed, fmt::format("the program ends with status {}", status), code);
  now_.search->finish_thread();
}

/// The functions of the program that the linker has collected, as those with __attribute__((destructor)): after all
/// that were registered, the last one first.
void program_threads::run_destructors() {
  for (auto d = destructors_.rbegin(); d != destructors_.rend(); ++d) (*d)();
}

void program_threads::at_death(exit_handler function, void* argument) { mine().deaths.push_back({function, argument}); }

void program_threads::at_thread_exit(exit_handler function, void* argument) {
  if (now_.search == nullptr) return at_exit(function, argument);
  mine().exit_handlers.push_back({function, argument});
}

void program_threads::register_exit_handlers() {
  for (const handler& h : exit_handlers_) __cxxabiv1::__cxa_atexit(h.function, h.argument, nullptr);
  exit_handlers_.clear();
}

unsigned program_threads::number_of_child() {
  const auto [at, added] = numbers_.try_emplace({now_.search->running(), mine().spawned}, 0);
  if (added) {
    const auto next = static_cast<unsigned>(numbers_.size()) + 1;
    if (next > max_threads) {
      constexpr unsigned most = RUNQ_CHECK_MOST_THREADS;
      now_.search->give_up(fmt::format(
          "limit reached: {} threads, the one of main() included; {}", max_threads,
          max_threads < most ? fmt::format("runq-check --threads {} allows more", most) : "make the program smaller"));
    }
    at->second = next;
  }
  ++mine().spawned;
  ++now_.unjoined;
  return at->second;
}

pthread_t program_threads::start(unsigned child, const step& by, void* (*function)(void*), void* argument) {
  thread_info& t = threads_[child];
  t.started = by;
  t.function = function;
  t.argument = argument;
  identities_.renew(child);
  return identities_.handle(child);
}

unsigned program_threads::number_of(pthread_t thread, const char* what, const void* code) {
  if (const unsigned number = identities_.thread_with(thread); number != 0) return number;
  code_.fail(failure::misuse, fmt::format("a thread is {} that the program has not started", what), code);
}

/// One call only may join or detach a thread, whatever the order of two.
program_threads::thread_info& program_threads::give_up_handle(unsigned thread, const char* what, const void* code) {
  thread_info& t = threads_[thread];
  if (t.given_up != nullptr) {
    code_.fail(failure::misuse,
               fmt::format("T{} is {} that is {} already, by T{} at {}", thread - 1, what, t.given_up,
                           t.given_up_by.thread - 1, code_.to_text(t.given_up_by.at)),
               code);
  }
  t.given_up = what;
  t.given_up_by = code_.step_here(code);
  return t;
}

void* program_threads::join(pthread_t thread, const void* code) {
  const unsigned number = number_of(thread, "joined", code);
  thread_info& t = give_up_handle(number, "joined", code);
  now_.note_effect();
  now_.search->join(number, code_.here(code));
  --now_.unjoined;
  now_.alike.look_at_result(now_, number, t.result);
  return t.result;
}

void program_threads::detach(pthread_t thread, const void* code) {
  const bool is_main = running() == main_thread && is_running(thread);
  give_up_handle(is_main ? main_thread : number_of(thread, "detached", code), "detached", code);
}

void program_threads::begin_call(bool is_lock_free) noexcept {
  use_identity("calls of a history are recorded");
  mine().in_call = mine().has_called = true;
  mine().in_lock_free_call = is_lock_free;
}

void program_threads::end_call() noexcept { mine().in_call = mine().in_lock_free_call = false; }

void program_threads::let_one_stop(unsigned threads, const void* code) {
  if (now_.search->is_up_to_symmetry()) now_.search->give_up_symmetry("one of the first threads may stop for ever");
  now_.search->let_stop(code_.choose(threads + 1, code));
}

}  // namespace runq::model::compiled
