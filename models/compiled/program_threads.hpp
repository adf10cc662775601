// SPDX-License-Identifier: MIT
// The threads of a compiled program.
#pragma once

#include <array>
#include <map>
#include <utility>
#include <vector>

#include <pthread.h>

#include "execution.hpp"
#include "identities.hpp"
#include "memory.hpp"
#include "program_code.hpp"
#include "program_keys.hpp"

namespace runq::model::compiled {

using main_function = int (*)(int, char**, char**);

/// How threads begin and end, and with the first of them the program.
class program_threads {
 public:
  program_threads(execution& now, program_code& code, thread_identities& identities, program_keys& keys)
      : now_(now), code_(code), identities_(identities), keys_(keys) {}

  // --- the run ------------------------------------------------------------------------------------------------------
  struct program_start {
    main_function main = nullptr;
    int argc = 0;
    char** argv = nullptr;
    char** environment = nullptr;
  };
  /// When the check begins. `is_whole`: of a program, from its main() to its end.
  void remember(const program_start& start, bool is_whole);
  void begin_execution();
  void begin_thread(unsigned thread);
  /// The body of a thread.
  void run(unsigned thread);

  // --- threads ------------------------------------------------------------------------------------------------------
  /// The running thread is about to start one more. Returns its number, which is the same in all executions.
  [[nodiscard]] unsigned number_of_child();
  /// After begin_thread(), and before its first step: what the thread runs. Returns its handle.
  [[nodiscard]] pthread_t start(unsigned child, const step& by, void* (*function)(void*), void* argument);
  /// What the thread has returned.
  void* join(pthread_t thread, const void* code);
  void detach(pthread_t thread, const void* code);
  [[nodiscard]] bool is_running(pthread_t thread) const noexcept { return pthread_equal(thread, pthread_self()) != 0; }
  [[nodiscard]] unsigned running() const noexcept { return now_.search->running(); }
  /// See alike_threads.
  void use_identity(const char* what) { now_.alike.use_identity(now_, what); }
  /// Whether it has ended otherwise than with the program.
  [[nodiscard]] bool has_ended(unsigned thread) const noexcept {
    return threads_[thread].is_started && threads_[thread].has_ended;
  }

  // --- ends ---------------------------------------------------------------------------------------------------------
  /// pthread_exit: unwinds the running thread's stack, and ends it.
  [[noreturn]] void exit(void* result, const void* code);
  void at_thread_exit(exit_handler function, void* argument);
  /// The running thread has so many handlers of pthread_cleanup_push(), as C has it: they are not modelled.
  [[nodiscard]] unsigned& cleanup_handlers() noexcept { return mine().cleanup_handlers; }
  /// When the running thread has ended, after its destructors, unless the program ends with it.
  void at_death(exit_handler function, void* argument);
  void at_exit(exit_handler function, void* argument) { exit_handlers_.push_back({function, argument}); }
  void at_quick_exit(exit_handler function, void* argument) { quick_handlers_.push_back({function, argument}); }
  /// For a program that calls runq::check() and then ends as usual: registers the exit handlers of its global
  /// initialisers.
  void register_exit_handlers();
  void forget_exit_handlers() { exit_handlers_.clear(); }
  /// Which handlers run when the program ends.
  enum class ending : std::uint8_t { exit, quick_exit, at_once };
  /// exit(status) and its like, or the end of main().
  [[noreturn]] void exit_program(int status, ending how, const void* code);

  // --- calls that a history records
  // -----------------------------------------------------------------------------------
  void begin_call(bool is_lock_free) noexcept;
  void end_call() noexcept;
  [[nodiscard]] bool is_in_call() const noexcept { return threads_[running()].in_call; }
  [[nodiscard]] bool is_in_call(unsigned thread) const noexcept { return threads_[thread].in_call; }
  [[nodiscard]] bool is_in_lock_free_call(unsigned thread) const noexcept { return threads_[thread].in_lock_free_call; }
  /// In this execution.
  [[nodiscard]] bool has_called(unsigned thread) const noexcept { return threads_[thread].has_called; }
  /// One of the first `threads` threads of the program, or none, stops for ever somewhere in its calls.
  void let_one_stop(unsigned threads, const void* code);

 private:
  struct handler {
    exit_handler function;
    void* argument;
  };
  struct thread_info {
    void* (*function)(void*) = nullptr;
    void* argument = nullptr;
    void* result = nullptr;
    unsigned spawned = 0;     ///< threads that it has started
    bool is_started = false;  ///< in this execution
    step started;
    bool has_ended = false;          ///< otherwise than with the program
    const char* given_up = nullptr;  ///< its handle: "joined" or "detached"
    step given_up_by;
    std::vector<handler> exit_handlers;
    std::vector<handler> deaths;
    unsigned cleanup_handlers = 0;
    bool in_call = false;     ///< that a history records
    bool has_called = false;  ///< likewise, in this execution
    bool in_lock_free_call = false;
  };

  [[nodiscard]] thread_info& mine() noexcept { return threads_[now_.self.number]; }
  [[nodiscard]] unsigned number_of(pthread_t thread, const char* what, const void* code);
  thread_info& give_up_handle(unsigned thread, const char* what, const void* code);
  [[noreturn]] void end(void* result);
  void wait_for_all();
  void run_exit_handlers(std::vector<handler>& handlers);
  void run_destructors();

  execution& now_;
  program_code& code_;
  thread_identities& identities_;
  program_keys& keys_;
  program_start start_;
  bool is_whole_ = true;
  std::array<thread_info, exact::thread_slots> threads_;
  /// Which number the n-th thread that a thread starts has: the same in all executions.
  std::map<std::pair<unsigned, unsigned>, unsigned> numbers_;
  std::vector<handler> exit_handlers_;         ///< of this execution
  std::vector<handler> handlers_before_main_;  ///< with those of global variables only
  std::vector<handler> quick_handlers_;        ///< of this execution
  std::vector<handler> quick_handlers_before_main_;
  std::vector<destructor> destructors_;
};

}  // namespace runq::model::compiled
