// SPDX-License-Identifier: MIT
// In place of main(): explores the program, or each of its tests, and prints the verdicts.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <locale>
#include <string>
#include <vector>

#include <dlfcn.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sys/personality.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../compiled/hook.hpp"
#include "exploration.hpp"
#include "fibers.hpp"
#include "tests.hpp"
#include "threads.hpp"

namespace runq::model::explore {

namespace {

int (*program_main)(int, char**, char**) = nullptr;

constexpr const char* options_variable = "RUNQ_EXPLORE";
constexpr const char* pinned_variable = "RUNQ_EXPLORE_PINNED";

void print(const std::string& text) {
  std::fputs(text.c_str(), stdout);
  std::fflush(stdout);
}

[[nodiscard]] tool_results results_of(std::vector<explored> all, int status, std::string headline) {
  tool_results results{"runq-explore", status, std::move(headline), {}};
  for (explored& e : all) results.each.push_back(std::move(e.result));
  return results;
}

void write(const tool_results& results, const nlohmann::json& as_json, const exploration_options& options) {
  const std::string wrong = write_results(results, as_json, options.files);
  if (!wrong.empty()) give_up(wrong);
}

[[nodiscard]] int explore_all(const exploration_options& options, const program& p) {
  explored e = explore(options, p);
  const int status = e.result.status;
  if (status == 2) {
    std::fprintf(stderr, "runq-explore: %s\n", e.result.headline.c_str());
  } else {
    print(e.result.text);
  }
  const std::string headline = e.result.headline;
  const nlohmann::json as_json = e.as_json;
  write(results_of({std::move(e)}, status, headline), as_json, options);
  return status;
}

/// The file for the program of one more failing test, after so many others: FILE.cpp, FILE_2.cpp, FILE_3.cpp.
[[nodiscard]] std::string one_more(const std::string& file, std::ptrdiff_t others) {
  if (file.empty() || others == 0) return file;
  const std::size_t name = file.rfind('/') + 1;
  const std::size_t end = std::min(file.rfind('.'), file.size());
  const std::size_t at = end > name ? end : file.size();
  return fmt::format("{}_{}{}", file.substr(0, at), others + 1, file.substr(at));
}

/// Each of the program's tests as an exploration of its own. A limit of time is for all: each has an equal share of
/// what is left.
[[nodiscard]] int explore_tests(const exploration_options& options, const program& p) {
  const std::vector<std::string> tests = tests_of(options, p);
  if (tests.empty()) give_up("there is no test of GoogleTest whose name matches " + options.only);
  const double begin = seconds_now();
  const auto wrote_tiny = [](const explored& e) { return e.wrote_tiny; };
  std::vector<explored> all;
  nlohmann::json as_json = nlohmann::json::array();
  for (std::size_t i = 0; i != tests.size(); ++i) {
    print("== " + tests[i] + "\n");
    exploration_options of_test = options;
    if (options.time_limit != 0) {
      const double left = options.time_limit - (seconds_now() - begin);
      of_test.time_limit = std::max(left / static_cast<double>(tests.size() - i), 0.001);
    }
    const std::string filter = "--gtest_filter=" + tests[i];
    of_test.arguments += (options.arguments.empty() ? " -- " : " ") + filter;
    of_test.title = tests[i];
    of_test.tiny = one_more(options.tiny, std::count_if(all.begin(), all.end(), wrote_tiny));
    explored e = explore(of_test, with_argument(p, filter));
    print(e.result.text);
    e.as_json["test"] = tests[i];
    as_json.push_back(e.as_json);
    all.push_back(std::move(e));
  }
  const auto count = [&all](int status) {
    return std::count_if(all.begin(), all.end(), [&](const explored& e) { return e.result.status == status; });
  };
  const int status = count(1) != 0 ? 1 : count(2) != 0 ? 2 : 0;
  const std::string headline = fmt::format("{} tests explored: {} fail, {} without a verdict ({:.2f} s)", all.size(),
                                           count(1), count(2), seconds_now() - begin);
  print(headline + "\n");
  write(results_of(std::move(all), status, headline), {{"status", status}, {"tests", std::move(as_json)}}, options);
  return status;
}

[[nodiscard]] std::string pinned(const char* name, const char* otherwise) {
  const char* const value = std::getenv(name);
  const std::string text = value == nullptr ? otherwise : value;
  return text.empty() ? std::string() : std::string(name) + "=" + text;
}

/// Addresses and environment are the same in each run, and wherever it is made: the process begins once more.
void pin(char** argv) {
  if (std::getenv(pinned_variable) != nullptr) return;
  std::vector<std::string> words{std::string(pinned_variable) + "=1", "LANG=C.UTF-8", "HOME=/"};
  for (std::string word : {pinned(options_variable, ""), pinned("PATH", "/usr/bin:/bin"), pinned("LD_LIBRARY_PATH", ""),
                           pinned("TMPDIR", "/tmp")}) {
    if (!word.empty()) words.push_back(std::move(word));
  }
  std::vector<char*> environment;
  for (std::string& word : words) environment.push_back(word.data());
  environment.push_back(nullptr);
  constexpr unsigned long current = 0xffff'ffff;
  if (personality(static_cast<unsigned long>(personality(current)) | ADDR_NO_RANDOMIZE) == -1) {
    give_up("the system does not let addresses be the same in each run");
  }
  static_cast<void>(syscall(SYS_execve, "/proc/self/exe", argv, environment.data()));
  give_up("the program cannot begin once more");
}

/// libstdc++ keeps what narrow() answers, and its threads race there (its bug 77704): here nothing is left to keep.
void fill_character_tables() {
  const auto& characters = std::use_facet<std::ctype<char>>(std::locale::classic());
  for (int c = 1; c != 256; ++c) static_cast<void>(characters.narrow(static_cast<char>(c), '\0'));
}

int explored_main(int argc, char** argv, char** environment) {
  in_runtime = true;
  fill_character_tables();
  exploration_options options;
  const char* const lines = std::getenv(options_variable);
  if (const std::string wrong = read_options(lines == nullptr ? "" : lines, options); !wrong.empty()) give_up(wrong);
  unsetenv(options_variable);
  unsetenv(pinned_variable);
  const program p{program_main, argc, argv, environment};
  if (const std::string wrong = prepare_results(options.files); !wrong.empty()) give_up(wrong);
  _exit(options.only.empty() ? explore_all(options, p) : explore_tests(options, p));
}

}  // namespace

}  // namespace runq::model::explore

using main_type = int (*)(int, char**, char**);

RUNQ_HOOK int __libc_start_main(main_type main, int argc, char** argv, void (*init)(), void (*fini)(),
                                void (*loader_fini)(), void* stack_end) {
  namespace explorer = runq::model::explore;
  using start = int (*)(main_type, int, char**, void (*)(), void (*)(), void (*)(), void*);
  const auto real = reinterpret_cast<start>(dlsym(RTLD_NEXT, "__libc_start_main"));
  {
    const explorer::runtime_scope scope;
    explorer::pin(argv);
    explorer::prepare_fibers();
    explorer::make_main_thread();
  }
  explorer::program_main = main;
  return real(&explorer::explored_main, argc, argv, init, fini, loader_fini, stack_end);
}

RUNQ_HOOK void __assert_fail(const char* condition, const char*, unsigned, const char*) noexcept {
  const runq::model::explore::runtime_scope scope;
  runq::model::explore::fail(runq::model::failure::check_failed, fmt::format("assertion {} fails", condition),
                             RUNQ_CALLER);
}
