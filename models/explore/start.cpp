// SPDX-License-Identifier: MIT
// In place of main(): explores the program, and prints the verdict.
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include <dlfcn.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sys/personality.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../compiled/hook.hpp"
#include "fibers.hpp"
#include "json.hpp"
#include "run.hpp"
#include "tests.hpp"
#include "threads.hpp"

namespace runq::model::explore {

namespace {

int (*program_main)(int, char**, char**) = nullptr;

constexpr const char* options_variable = "RUNQ_EXPLORE";
constexpr const char* pinned_variable = "RUNQ_EXPLORE_PINNED";

/// In real time.
[[nodiscard]] double seconds_now() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

[[nodiscard]] std::string with_commas(std::uint64_t number) {
  std::string text = std::to_string(number);
  for (std::ptrdiff_t at = static_cast<std::ptrdiff_t>(text.size()) - 3; at > 0; at -= 3) {
    text.insert(static_cast<std::size_t>(at), ",");
  }
  return text;
}

[[nodiscard]] std::string name_of(failure what) { return nlohmann::json(what).get<std::string>(); }

class exploration {
 public:
  exploration(const exploration_options& options, const program& p) : options_(options), program_(p) {}

  [[nodiscard]] int explore() {
    begin_ = seconds_now();
    slots_.resize(options_.jobs);
    for (run_slot& s : slots_) s = make_slot();
    if (!measure_steps()) run_all();
    if (!failed_.empty()) return tell_first_failure();
    if (!refused_.empty()) {
      std::fprintf(stderr, "runq-explore: %s\n", refused_.c_str());
      return 2;
    }
    return tell_nothing_found();
  }

 private:
  struct failed_run {
    run_outcome outcome;
    std::uintptr_t address = 0;
    std::uint64_t place = 0;
  };

  /// A run whose length tells the other runs how many steps to expect; it depends on nothing but the program.
  [[nodiscard]] bool measure_steps() {
    run_slot& slot = slots_.front();
    start_run(slot, {0, 1, true, false, 0}, options_, program_);
    int status = 0;
    waitpid(slot.process, &status, 0);
    finish(slot, status);
    expected_steps_ = std::max<std::uint64_t>(slot.report->done.steps, 1);
    return !failed_.empty() || !refused_.empty();
  }

  void run_all() {
    std::uint64_t started = 0;
    std::size_t running = 0;
    const auto start_in = [&](run_slot& slot) {
      start_run(slot, request(options_.seed + started++), options_, program_);
      ++running;
    };
    for (run_slot& slot : slots_) {
      slot.process = 0;
      if (started != options_.runs) start_in(slot);
    }
    while (running != 0) {
      int status = 0;
      const pid_t ended = waitpid(-1, &status, 0);
      const auto slot =
          std::find_if(slots_.begin(), slots_.end(), [&](const run_slot& s) { return s.process == ended; });
      if (slot == slots_.end()) continue;
      slot->process = 0;
      --running;
      finish(*slot, status);
      const bool is_over = !refused_.empty() || !failed_.empty() || started == options_.runs ||
                           (options_.time_limit != 0 && seconds_now() - begin_ > options_.time_limit);
      if (!is_over) start_in(*slot);
    }
  }

  [[nodiscard]] run_request request(std::uint64_t seed) const { return {seed, expected_steps_, true, false, 0}; }

  void finish(const run_slot& slot, int status) {
    const run_outcome o = outcome_of(slot, status);
    const run_counts& done = slot.report->done;
    ++runs_;
    total_.steps += done.steps;
    total_.switches += done.switches;
    total_.old_values += done.old_values;
    total_.inserted += done.inserted;
    total_.threads = std::max(total_.threads, done.threads);
    if (o.how == run_end::refused) refused_ = o.text;
    if (o.how == run_end::passed || !options_.judges) ++statuses_[o.status];
    if (o.how == run_end::failed && (options_.judges || o.status == 0)) {
      failed_[slot.seed] = {o, slot.report->address, slot.report->place};
    }
  }

  [[nodiscard]] run_outcome repeat(std::uint64_t seed, bool weak_memory, const failed_run* told) {
    run_slot& slot = slots_.front();
    run_request r = request(seed);
    if (seed == 0) r.expected_steps = 1;
    r.weak_memory = weak_memory;
    r.tells = told != nullptr;
    if (told != nullptr) r.watched = told->address;
    start_run(slot, r, options_, program_);
    int status = 0;
    waitpid(slot.process, &status, 0);
    return outcome_of(slot, status);
  }

  [[nodiscard]] int tell_first_failure() {
    // Of several at the same time the one with the least seed, so that the answer does not depend on the pace.
    const auto& [seed, first] = *failed_.begin();
    const double seconds = seconds_now() - begin_;
    const run_outcome told = repeat(seed, true, &first);
    const bool is_same =
        told.how == run_end::failed && told.what == first.outcome.what && told.status == first.outcome.status;
    const std::string output = output_of(slots_.front());
    const std::string json = slots_.front().report->json;
    std::string text =
        fmt::format("FAIL {}: {}", name_of(first.outcome.what), is_same ? told.text : first.outcome.text);
    if (text.back() != '\n') text += '\n';
    if (!output.empty()) text += "output of this run:\n" + output;
    std::string memory;
    if (!is_same) {
      text +=
          "not repeated: a second run with the same seed did something else; the program depends on something that "
          "is not pinned\n";
    } else if (options_.weak_memory) {
      const run_outcome strong = repeat(seed, false, nullptr);
      memory = strong.how == run_end::passed ? "needed" : strong.what == first.outcome.what ? "not needed" : "other";
      text += memory == "needed"       ? "weak memory: needed; with the same seed and without old values no failure\n"
              : memory == "not needed" ? "weak memory: not needed; the same seed fails without old values, too\n"
                                       : fmt::format(
                                             "weak memory: with the same seed and without old values another "
                                             "failure: {}\n",
                                             name_of(strong.what));
    }
    text += fmt::format("seed {}, {} of {} runs made, {:.2f} s\n", seed, with_commas(runs_),
                        with_commas(options_.runs + 1), seconds);
    text += fmt::format("repeat: {} --seed {} --runs 1{}\n", options_.repeat, seed, options_.arguments);
    write_json({{"verdict", "failed"},
                {"failure", name_of(first.outcome.what)},
                {"message", is_same ? told.text : first.outcome.text},
                {"seed", seed},
                {"repeated", is_same},
                {"weak_memory", memory},
                {"execution", json.empty() ? nlohmann::json() : nlohmann::json::parse(json, nullptr, false)}});
    std::fputs(text.c_str(), stdout);
    std::fflush(stdout);
    return 1;
  }

  [[nodiscard]] int tell_nothing_found() {
    const double seconds = seconds_now() - begin_;
    std::string text = fmt::format("explored: {} runs, and none fails ({:.2f} s)\n", with_commas(runs_), seconds);
    text += fmt::format(
        "  in a run, on average: {} steps, {} switches of threads, {} reads of old values, {} stores before others in "
        "modification order; up to {} threads\n",
        with_commas(total_.steps / runs_), with_commas(total_.switches / runs_), with_commas(total_.old_values / runs_),
        with_commas(total_.inserted / runs_), total_.threads);
    text += fmt::format("  seeds 0 and {} to {}, strategy {}; not explored: all other schedules and reads\n",
                        options_.seed, options_.seed + runs_ - 2, explore::name_of(options_.how));
    if (!options_.judges) {
      for (const auto& [status, times] : statuses_) text += fmt::format("status {}: {}\n", status, times);
    }
    write_json({{"verdict", "explored"}});
    std::fputs(text.c_str(), stdout);
    std::fflush(stdout);
    return 0;
  }

  void write_json(nlohmann::json result) {
    if (options_.json_file.empty()) return;
    result["runs"] = runs_;
    result["steps"] = total_.steps;
    result["switches"] = total_.switches;
    result["old_values"] = total_.old_values;
    result["inserted"] = total_.inserted;
    result["threads"] = total_.threads;
    result["seconds"] = seconds_now() - begin_;
    result["strategy"] = explore::name_of(options_.how);
    nlohmann::json statuses;
    for (const auto& [status, times] : statuses_) statuses[std::to_string(status)] = times;
    result["statuses"] = statuses;
    std::ofstream out(options_.json_file);
    out << result.dump(1, ' ', false, nlohmann::json::error_handler_t::replace) << '\n';
    if (!out.flush()) give_up("cannot write " + options_.json_file);
  }

  exploration_options options_;
  program program_;
  std::vector<run_slot> slots_;
  double begin_ = 0;
  std::uint64_t expected_steps_ = 1;
  std::uint64_t runs_ = 0;
  run_counts total_;
  std::map<int, std::uint64_t> statuses_;
  std::map<std::uint64_t, failed_run> failed_;
  std::string refused_;
};

/// Each of the program's tests as an exploration of its own. A limit of time is for all: each has an equal share of
/// what is left.
[[nodiscard]] int explore_tests(const exploration_options& options, const program& p) {
  if (!options.json_file.empty()) give_up("--json is about one exploration, and --only makes one of each test");
  const std::vector<std::string> tests = tests_of(options, p);
  if (tests.empty()) give_up("there is no test of GoogleTest whose name matches " + options.only);
  const double begin = seconds_now();
  unsigned failed = 0;
  unsigned refused = 0;
  for (std::size_t i = 0; i != tests.size(); ++i) {
    std::printf("== %s\n", tests[i].c_str());
    std::fflush(stdout);
    exploration_options of_test = options;
    if (options.time_limit != 0) {
      const double left = options.time_limit - (seconds_now() - begin);
      of_test.time_limit = std::max(left / static_cast<double>(tests.size() - i), 0.001);
    }
    const std::string filter = "--gtest_filter=" + tests[i];
    of_test.arguments += (options.arguments.empty() ? " -- " : " ") + filter;
    exploration e(of_test, with_argument(p, filter));
    const int status = e.explore();
    failed += status == 1 ? 1 : 0;
    refused += status == 2 ? 1 : 0;
  }
  std::printf("%zu tests explored: %u fail, %u without a verdict (%.2f s)\n", tests.size(), failed, refused,
              seconds_now() - begin);
  std::fflush(stdout);
  return failed != 0 ? 1 : refused != 0 ? 2 : 0;
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

int explored_main(int argc, char** argv, char** environment) {
  in_runtime = true;
  exploration_options options;
  const char* const lines = std::getenv(options_variable);
  if (const std::string wrong = read_options(lines == nullptr ? "" : lines, options); !wrong.empty()) give_up(wrong);
  unsetenv(options_variable);
  unsetenv(pinned_variable);
  const program p{program_main, argc, argv, environment};
  if (!options.only.empty()) _exit(explore_tests(options, p));
  exploration e(options, p);
  const int status = e.explore();
  _exit(status);
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
  runq::model::explore::fail(runq::model::failure::check_failed, fmt::format("assertion {} fails", condition),
                             RUNQ_CALLER);
}
