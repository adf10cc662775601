// SPDX-License-Identifier: MIT
// The program that runs laws with RapidCheck.
#pragma once

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <rapidcheck.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "law.hpp"

namespace runq::props {

/// Runs laws by name and prints one line for each: verdict, name, cases run, seed. `--help` lists the options.
class suite {
 public:
  explicit suite(std::string stem) : stem_(std::move(stem)) {}

  void add(law l) { laws_.push_back(std::move(l)); }
  void add(std::vector<law> laws) {
    for (law& l : laws) laws_.push_back(std::move(l));
  }

  int run(int argc, char** argv);

 private:
  enum class result : std::uint8_t { passed, failed, gave_up };
  struct options {
    std::set<std::string> only, must_fail;
    std::string paste_file;
    int cases = 1000;
  };

  result run_one(const law& l, rc::detail::TestParams params, const options& chosen) const;
  result run_apart(const law& l, const rc::detail::TestParams& params, const options& chosen) const;
  template <class Run>
  static int in_child(const law& l, Run&& run);

  std::string stem_;
  std::vector<law> laws_;
};

namespace detail {

// Prints the code that repeats the failure even when a contract or a sanitizer stops the process. If it was the C
// library that stopped the process, because the heap is destroyed, printing may abort again, or wait for ever for the
// lock of the heap: then the process dies without the code.
inline void print_repro_and_die(int sig) {
  constexpr unsigned most_seconds = 5;
  std::signal(sig, SIG_DFL);
  alarm(most_seconds);
  const std::string code = "\nthe process died in:\n" + transcript::code();
  (void)!write(STDERR_FILENO, code.data(), code.size());
  (void)raise(sig);
}

inline double seconds_since(std::chrono::steady_clock::time_point then) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - then).count();
}

}  // namespace detail

inline suite::result suite::run_one(const law& l, rc::detail::TestParams params, const options& chosen) const {
  const bool must_fail = chosen.must_fail.count(l.name) != 0;
  const rc::detail::Configuration& config = rc::detail::configuration();
  params.maxSuccess = std::max(1, params.maxSuccess / l.cost);
  const std::uint64_t seed = params.seed;
  // Every law gets other calls, but one seed determines all of them.
  for (const char c : l.name) params.seed = (params.seed ^ static_cast<unsigned char>(c)) * 0x100000001B3U;
  if (must_fail) {
    params.disableShrinking = chosen.paste_file.empty();
    params.maxSuccess = 2000;
  }
  transcript::name(stem_, l.name);
  rc::detail::TestMetadata about;
  about.id = stem_ + "/" + l.name;
  about.description = about.id;
  calls_made() = 0;
  histories& threads = histories_judged();
  threads.judged = threads.undecided = 0;
  const auto begun = std::chrono::steady_clock::now();
  // A listener that prints nothing; RapidCheck's own prints dots.
  struct silent final : rc::detail::TestListener {
    void onTestCaseFinished(const rc::detail::CaseDescription&) override { ++cases; }
    void onShrinkTried(const rc::detail::CaseDescription&, bool) override {}
    void onTestFinished(const rc::detail::TestMetadata&, const rc::detail::TestResult&) override {}
    int cases = 0;
  } listener;
  const rc::detail::TestResult outcome =
      rc::detail::checkProperty(rc::detail::toProperty([&l] { l.body(); }), about, params, listener, config.reproduce);

  rc::detail::SuccessResult success;
  rc::detail::FailureResult failure;
  rc::detail::GaveUpResult tired;
  std::ostringstream line;
  line << about.id << "  " << listener.cases << " cases  " << calls_made() << " calls  ";
  if (threads.judged != 0) line << threads.judged << " histories, " << threads.undecided << " undecided  ";
  line << "seed " << seed << "  ";
  line.precision(2);
  line << std::fixed << detail::seconds_since(begun) << " s";
  if (outcome.match(success) && threads.undecided != 0 && !must_fail) {
    std::cout << "UNDECIDED  " << line.str() << "\nthe search for an order of the calls stopped after "
              << threads.configurations << " configurations: shorten the scripts, or give --configurations"
              << std::endl;
    return result::gave_up;
  }
  if (outcome.match(success)) {
    std::cout << (must_fail ? "SURVIVED  " : "PASS  ") << line.str() << std::endl;
    return result::passed;
  }
  if (outcome.match(tired)) {
    std::cout << "GAVE UP  " << line.str() << "\n" << tired.description << std::endl;
    return result::gave_up;
  }
  if (!outcome.match(failure)) {
    std::cout << "ERROR  " << line.str() << "\n" << outcome << std::endl;
    return result::gave_up;
  }
  if (must_fail) {
    std::cout << "KILLED  " << line.str() << "  " << failure.description.substr(0, failure.description.find('\n'))
              << std::endl;
  } else {
    rc::detail::Configuration again;
    again.testParams.seed = seed;
    again.reproduce = {{about.id, failure.reproduce}};
    std::cout << "FAIL  " << line.str() << "\n"
              << failure.description << "\n"
              << "again: RC_PARAMS=\"seed=" << seed << " max_success=" << params.maxSuccess * l.cost << "\" and --only "
              << l.name << "\n"
              << "only the shrunk case: RC_PARAMS=\"" << rc::detail::configToMinimalString(again) << "\"\n"
              << "as a unit test:\n"
              << "----------------------------------------\n"
              << transcript::code() << "----------------------------------------" << std::endl;
  }
  if (!chosen.paste_file.empty()) {
    if (std::FILE* file = std::fopen(chosen.paste_file.c_str(), "w"); file != nullptr) {
      std::fputs(transcript::code().c_str(), file);
      std::fclose(file);
    }
  }
  return result::failed;
}

// In a child process, for a law that must fail. A seeded bug may make a contract stop the process, which counts as
// noticed, too. A bug may also destroy memory, or loop for ever, before the law sees a wrong answer: then the law tries
// again, with another seed.
inline suite::result suite::run_apart(const law& l, const rc::detail::TestParams& params, const options& chosen) const {
  constexpr std::uint64_t most_tries = 10;
  for (std::uint64_t tries = 0; tries != most_tries; ++tries) {
    rc::detail::TestParams seeded = params;
    seeded.seed += tries;
    const int status = in_child(l, [&] { return run_one(l, seeded, chosen); });
    if (WIFEXITED(status)) return static_cast<result>(WEXITSTATUS(status));
    const bool contract = WTERMSIG(status) == SIGABRT;
    std::cout << (contract ? "KILLED  " : "AGAIN  ") << stem_ << "/" << l.name << "  "
              << (contract ? "a contract stopped the process" : strsignal(WTERMSIG(status))) << std::endl;
    if (contract) return result::failed;
  }
  std::cout << "ERROR  " << stem_ << "/" << l.name << "  none of " << most_tries << " runs came to its end"
            << std::endl;
  return result::gave_up;
}

// How the child that runs the law ended, as waitpid() reports it. A child that loops for ever ends with SIGXCPU, and
// one that waits for ever with SIGALRM. Without threads a law fails in a fraction of a second.
template <class Run>
int suite::in_child(const law& l, Run&& run) {
  const rlim_t most_seconds_of_processor_time = l.cost == 1 ? 10 : 30;
  constexpr unsigned most_seconds = 60;
  std::cout.flush();
  const pid_t child = fork();
  if (child == 0) {
    const rlimit limit{most_seconds_of_processor_time, most_seconds_of_processor_time + 5};
    setrlimit(RLIMIT_CPU, &limit);
    alarm(most_seconds);
    const result end = run();
    std::cout.flush();
    _exit(static_cast<int>(end));
  }
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child) {
    std::cerr << "no child process: " << std::strerror(errno) << std::endl;
    std::exit(2);
  }
  return status;
}

inline int suite::run(int argc, char** argv) {
  options chosen;
  bool list = false;
  CLI::App app("The laws of " + stem_ +
               ". RapidCheck's own parameters: RC_PARAMS=\"seed=… max_success=… reproduce=…\"");
  app.add_flag("--list", list, "print the names of the laws, and run none");
  app.add_option("--only", chosen.only, "only laws whose name contains TEXT; may be repeated")
      ->allow_extra_args(false)
      ->type_name("TEXT");
  app.add_option("--must-fail", chosen.must_fail, "run law NAME and succeed only if it fails; may be repeated")
      ->allow_extra_args(false)
      ->type_name("NAME");
  app.add_option("--paste", chosen.paste_file, "write the code of the first failure to FILE")->type_name("FILE");
  app.add_option("--configurations", histories_judged().configurations, "try at most N configurations of a history")
      ->check(CLI::Range(std::size_t{1}, std::size_t{1'000'000'000'000}))
      ->type_name("N")
      ->capture_default_str();
  app.add_option("--cases", chosen.cases, "cases per law, and a fifth of N, run five times each, for threads")
      ->envname("RUNQ_PROP_CASES")
      ->check(CLI::Range(1, 1'000'000'000))
      ->type_name("N")
      ->capture_default_str();
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? 0 : 2;
  }
  if (list) {
    for (const law& l : laws_) std::cout << l.name << "\n";
    return 0;
  }
  std::signal(SIGABRT, detail::print_repro_and_die);

  const char* rapidcheck_says = std::getenv("RC_PARAMS");
  rc::detail::TestParams params = rc::detail::configuration().testParams;
  if (rapidcheck_says == nullptr || std::string(rapidcheck_says).find("max_success") == std::string::npos) {
    params.maxSuccess = chosen.cases;
  }
  std::cout << stem_ << ": seed " << params.seed << ", up to " << params.maxSuccess
            << " cases per law; to repeat: RC_PARAMS=\"seed=" << params.seed << "\"" << std::endl;

  std::size_t bad = 0;
  std::size_t ran = 0;
  std::set<std::string> not_found = chosen.must_fail;
  for (const law& l : laws_) {
    bool wanted = chosen.only.empty() && chosen.must_fail.empty();
    for (const std::string& text : chosen.only) wanted = wanted || l.name.find(text) != std::string::npos;
    const bool must_fail = not_found.erase(l.name) != 0;
    if (!wanted && !must_fail) continue;
    ++ran;
    const result end = must_fail ? run_apart(l, params, chosen) : run_one(l, params, chosen);
    if (end != (must_fail ? result::failed : result::passed)) ++bad;
  }
  for (const std::string& name : not_found) std::cout << "there is no law called " << name << std::endl;
  if (ran == 0) std::cout << "no law matches" << std::endl;
  std::cout << stem_ << ": " << ran << " laws, " << bad << (chosen.must_fail.empty() ? " failed" : " not as asked")
            << std::endl;
  return bad == 0 && ran != 0 && not_found.empty() ? 0 : 1;
}

}  // namespace runq::props
