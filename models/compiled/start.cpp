// SPDX-License-Identifier: MIT
// In place of main(): checks the program, and prints the verdict. Options come by the environment, because the command
// line belongs to the program: RUNQ_CHECK holds them (runq-check sets it). A program that uses <runq/check.hpp> runs as
// ever instead, and its checks are made by library.cpp. With RUNQ_CHECK_FILES nothing is checked: coverage.py asks
// whose files are.
#include "start.hpp"

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <string>

#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include "answer.hpp"
#include "branches.hpp"
#include "options.hpp"
#include "outside.hpp"
#include "program_ledger.hpp"
#include "progress.hpp"
#include "results.hpp"
#include "several_searches.hpp"
#include "share_out.hpp"
#include "signals.hpp"
#include "symbols.hpp"

// Programs that note their plain, or volatile, accesses have these: see relaxed_lines.hpp.
extern "C" __attribute__((weak, visibility("default"))) const char runq_notes_plain;
extern "C" __attribute__((weak, visibility("default"))) const char runq_notes_volatile;

namespace runq::model::compiled {

namespace {

main_function program_main = nullptr;
bool session_exists = false;
code_ranges system_code;

[[noreturn]] void end(int output, const answer& a) {
  write_all(output, a.text.data(), a.text.size());
  _exit(a.status);
}

/// Answers each line of the standard input, a path, with "program", "library" or "atomics".
[[noreturn]] void say_whose_files() {
  for (std::string file; std::getline(std::cin, file);) {
    const file_owner owner = owner_of(file);
    std::cout << (owner == file_owner::program   ? "program"
                  : owner == file_owner::atomics ? "atomics"
                                                 : "library")
              << '\n';
  }
  _exit(std::cout.flush() ? 0 : 2);
}

/// What the program's accesses have to be noted for, but are not: it was compiled without that option.
[[nodiscard]] std::string not_compiled_for(const run_options& options) {
  const char* const option = &runq_notes_plain == nullptr && options.accepted.all             ? "--ignore-races"
                             : &runq_notes_plain == nullptr && !options.accepted.is_empty()   ? "--accept"
                             : &runq_notes_plain == nullptr && !options.relaxed.empty()       ? "--plain-as-relaxed"
                             : &runq_notes_volatile == nullptr && options.volatile_is_relaxed ? "--volatile-as-relaxed"
                                                                                              : nullptr;
  return option == nullptr ? ""
                           : fmt::format(
                                 "this program was compiled without {}: give that to runq-check, too, beside "
                                 "--compile-only",
                                 option);
}

int checked_main(int argc, char** argv, char** environment) {
  this_process.initialising = false;
  if (std::getenv("RUNQ_CHECK_FILES") != nullptr) say_whose_files();
  if (this_process.has_own_checks) {
    current_session().threads().register_exit_handlers();
    give_keys_back();
    return program_main(argc, argv, environment);
  }
  // The program's output must not mix with the verdict.
  const int output = dup(STDOUT_FILENO);
  run_options options;
  const char* const words = std::getenv("RUNQ_CHECK");
  const std::string wrong = read_options(words == nullptr ? "" : words, options);
  if (!wrong.empty()) end(STDERR_FILENO, {2, {}, "runq-check: " + wrong + "\n", {}, {}});
  if (output < 0 || !take_signals()) {
    end(STDERR_FILENO, {2, {}, "runq-check: the system gives too little to begin with\n", {}, {}});
  }
  if (const std::string refused = not_compiled_for(options); !refused.empty()) {
    end(STDERR_FILENO, {2, {}, "runq-check: " + refused + "\n", {}, {}});
  }
  const unsigned processes = options.ledger ? 1 : options.jobs;
  const bool is_shared = started_by_mpi() || processes > 1;
  if (const std::string refused = is_shared ? not_shared_out(options) : ""; !refused.empty()) {
    end(STDERR_FILENO, {2, {}, "runq-check: " + refused + "\n", {}, {}});
  }
  if (options.jobs == 0) options.jobs = static_cast<unsigned>(std::max(1L, sysconf(_SC_NPROCESSORS_ONLN)));
  if (const std::string refused = prepare_results(options); !refused.empty()) {
    end(STDERR_FILENO, {2, {}, "runq-check: " + refused + "\n", {}, {}});
  }
  const auto check = [=](session& s, const run_options& o) {
    prepare(s, o);
    if (!start_ticks()) {
      search_result none;
      none.message = "limit reached: the system gives no timer";
      return none;
    }
    return s.check({program_main, argc, argv, environment}, o.search);
  };
  if (!options.ledger) options.search.progress = &print_progress;
  session& s = current_session();
  answer a = started_by_mpi()                  ? check_by_ranks(options, check)
             : processes > 1                   ? check_by_processes(processes, options, check)
             : options.ledger                  ? make_program_ledger(options, check)
             : takes_several_searches(options) ? check_by_several_searches(options, check)
                                               : judge(check(s, options), s, options);
  end_progress();
  if (const std::string refused = write_results(a, options); !refused.empty()) {
    end(STDERR_FILENO, {2, {}, a.text + "runq-check: " + refused + "\n", {}, {}});
  }
  if (!options.executed_file.empty() && !s.code().executed().append_to(options.executed_file)) {
    end(STDERR_FILENO, {2, {}, a.text + "runq-check: cannot write " + options.executed_file + "\n", {}, {}});
  }
  if (!options.sizes_file.empty() && !write_sizes(options.sizes_file)) {
    end(STDERR_FILENO, {2, {}, a.text + "runq-check: cannot write " + options.sizes_file + "\n", {}, {}});
  }
  if (!options.ways_file.empty() && !write_ways(options.ways_file)) {
    end(STDERR_FILENO, {2, {}, a.text + "runq-check: cannot write " + options.ways_file + "\n", {}, {}});
  }
  if (!options.html_dir.empty()) a.text += "pages: " + options.html_dir + "/index.html\n";
  end(output, a);
}

}  // namespace

bool is_system_code(const void* code) noexcept { return system_code.contains(code); }

bool owned_by_program(const void* p) noexcept { return session_exists && current_session().memory().heap().owns(p); }

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
  checker::watch_calls();
  static_cast<void>(checker::current_session());
  checker::session_exists = true;
  checker::this_process.initialising = true;
  return real(&checker::checked_main, argc, argv, init, fini, loader_fini, stack_end);
}
