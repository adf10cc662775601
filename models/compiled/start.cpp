// SPDX-License-Identifier: MIT
// In place of main(): checks the program, and prints the verdict. Options come by the environment, because the command
// line belongs to the program: RUNQ_CHECK holds them (runq-check sets it). A program that uses <runq/check.hpp> runs as
// ever instead, and its checks are made by library.cpp.
#include "start.hpp"

#include <cstdlib>
#include <string>

#include <dlfcn.h>
#include <unistd.h>

#include "answer.hpp"
#include "options.hpp"
#include "signals.hpp"

namespace runq::model::compiled {

bool initialising = false;
bool has_own_checks = false;

namespace {

main_function program_main = nullptr;
bool session_exists = false;
code_ranges system_code;

[[noreturn]] void end(int output, const answer& a) {
  write_all(output, a.text.data(), a.text.size());
  _exit(a.status);
}

int checked_main(int argc, char** argv, char** environment) {
  initialising = false;
  if (has_own_checks) {
    current_session().register_exit_handlers();
    give_keys_back();
    return program_main(argc, argv, environment);
  }
  // The program's output must not mix with the verdict.
  const int output = dup(STDOUT_FILENO);
  run_options options;
  const char* const words = std::getenv("RUNQ_CHECK");
  const std::string wrong = read_options(words == nullptr ? "" : words, options);
  if (!wrong.empty()) end(STDERR_FILENO, {2, "runq-check: " + wrong + "\n"});
  if (output < 0 || !take_signals()) end(STDERR_FILENO, {2, "runq-check: the system gives too little to begin with\n"});
  session& s = current_session();
  prepare(s, options);
  const search_result result = s.check(program_main, argc, argv, environment, options.search);
  end(output, judge(result, s, options));
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
