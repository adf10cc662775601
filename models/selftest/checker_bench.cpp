// SPDX-License-Identifier: MIT
// How fast the checkers are: docs/benchmarks.md has a table of this program's output, and what the numbers should be.
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <ctime>

#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "exact.hpp"
#include "reference/chase_lev_2013.hpp"
#include "reference/go_runq.hpp"
#include "relacy.hpp"

namespace {

using namespace runq::model;             // NOLINT(google-build-using-namespace): a main file
using namespace runq::model::reference;  // NOLINT(google-build-using-namespace)

constexpr std::size_t rounds = 5;
using samples = std::array<double, rounds>;

template <class Scenario>
[[nodiscard]] case_spec spec_of(unsigned threads) {
  case_spec spec{.name = "bench", .property = "", .threads = threads};
  spec.construct = [](void* where) -> scenario* { return ::new (where) Scenario; };
  return spec;
}

// All processor time that this process has used: other programs disturb it less than the time of day.
[[nodiscard]] double processor_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

[[nodiscard]] double median(samples s) {
  std::sort(s.begin(), s.end());
  return s[rounds / 2];
}

void require_passed(const search_result& r) {
  if (r.what == failure::none && r.how != coverage::cut_short) return;
  fmt::print(stderr, "a search failed that must pass: {}\n", r.message);
  std::exit(1);
}

[[nodiscard]] double graphs_per_second(const case_spec& spec) {
  constexpr int searches = 5;  // one is too short to measure
  const double before = processor_seconds();
  std::uint64_t graphs = 0;
  for (int i = 0; i != searches; ++i) {
    const search_result r = run_exact(spec, {});
    require_passed(r);
    graphs += r.executions;
  }
  return static_cast<double>(graphs) / (processor_seconds() - before);
}

[[nodiscard]] double executions_per_second(const case_spec& spec) {
  constexpr std::uint64_t executions = 50'000;
  relacy_options options;
  options.executions = executions;
  const double before = processor_seconds();
  require_passed(run_relacy(spec, options));
  return static_cast<double>(executions) / (processor_seconds() - before);
}

// Both engines by turns: what slows the machine down slows down both.
void compare_engines(const char* name, const case_spec& spec) {
  samples exact{};
  samples relacy{};
  samples ratio{};
  for (std::size_t i = 0; i != rounds; ++i) {
    exact[i] = graphs_per_second(spec);
    relacy[i] = executions_per_second(spec);
    ratio[i] = exact[i] / relacy[i];
  }
  fmt::print("{:<48} {:>7.0f} graphs/s {:>7.0f} executions/s  ratio {:.2f}\n", name, median(exact), median(relacy),
             median(ratio));
}

struct cost {
  double seconds = 0;
  double processor_seconds = 0;
  long kibibytes = 0;
};

// In a process of its own, whose peak of memory is the search's.
[[nodiscard]] cost cost_of(const case_spec& spec, unsigned jobs) {
  std::array<int, 2> ends{};
  if (pipe(ends.data()) != 0) std::exit(1);
  const pid_t pid = fork();
  if (pid == 0) {
    const search_result r = run_exact(spec, {.jobs = jobs});
    require_passed(r);
    _exit(write(ends[1], &r.seconds, sizeof r.seconds) == sizeof r.seconds ? 0 : 1);
  }
  cost c;
  rusage used{};
  int status = 0;
  if (pid < 0 || wait4(pid, &status, 0, &used) != pid || status != 0) std::exit(1);
  if (read(ends[0], &c.seconds, sizeof c.seconds) != sizeof c.seconds) std::exit(1);
  close(ends[0]);
  close(ends[1]);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  c.processor_seconds = seconds(used.ru_utime) + seconds(used.ru_stime);
  c.kibibytes = used.ru_maxrss;
  return c;
}

void print(const char* name, unsigned jobs, const cost& c) {
  fmt::print("{:<48} {} jobs {:>6.2f} s {:>6.2f} s of processor time {:>5.1f} MiB peak per process\n", name, jobs,
             c.seconds, c.processor_seconds, static_cast<double>(c.kibibytes) / 1024);
}

void compare_jobs(const char* name, const case_spec& spec) {
  constexpr std::array<unsigned, 2> jobs{1, 2};
  std::array<samples, jobs.size()> seconds{};
  std::array<samples, jobs.size()> processor{};
  std::array<long, jobs.size()> kibibytes{};
  for (std::size_t i = 0; i != rounds; ++i) {
    for (std::size_t k = 0; k != jobs.size(); ++k) {
      const cost c = cost_of(spec, jobs[k]);
      seconds[k][i] = c.seconds;
      processor[k][i] = c.processor_seconds;
      kibibytes[k] = std::max(kibibytes[k], c.kibibytes);
    }
  }
  for (std::size_t k = 0; k != jobs.size(); ++k) {
    print(k == 0 ? name : "", jobs[k], {median(seconds[k]), median(processor[k]), kibibytes[k]});
  }
}

}  // namespace

int main() {
  fmt::print("medians of {}; the last line is one search\n", rounds);
  go_program = {"ppgp", 2};
  compare_engines("run queue, ppgp, 2 thieves: 1,275 graphs", spec_of<go_runq_scenario<2>>(3));
  go_program = {"ppgpp", 2};
  compare_engines("run queue, ppgpp, 2 thieves: 9,157 graphs", spec_of<go_runq_scenario<2>>(3));
  std::fflush(stdout);  // the processes that follow would print it again
  const case_spec deque = spec_of<chase_lev_scenario>(3);
  deque_program = {"ppptt", 2, 2};
  compare_jobs("Chase-Lev, ppptt, 2 x 2 steals: 90,535 graphs", deque);
  deque_program = {"ppptt", 2, 3};
  print("Chase-Lev, ppptt, 2 x 3 steals: 2,334,725 graphs", 2, cost_of(deque, 2));
}
