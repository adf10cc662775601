// SPDX-License-Identifier: MIT
// Compares the front end with the enumerator on generated programs, family by family, at each level of optimisation.
// Ends with 1 if anything differs.
//
// --waiting: only programs whose threads may wait. The variable RUNQ_CHECK has more options for each check.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <runq/check.hpp>

#include "lines.hpp"
#include "oracle.hpp"

namespace oracle_programs {

namespace {

struct tally {
  unsigned programs = 0, checks = 0, failing = 0, disagreements = 0;
  unsigned long executions = 0;
};

using random_programs::lines_of;

/// What is wrong with that verdict; empty if nothing is.
std::string differs(const runq::verdict& v, const oracle_program& p, const expectation& expected) {
  const std::set<std::string> failures = lines_of(expected.failures);
  if (v.text().find("met before") != std::string::npos) return "an execution twice";
  if (!failures.empty()) return failures.count(v.failure()) != 0 ? "" : "another failure";
  if (!v.passed()) return "a failure that is none";
  const char* const found = random_programs::outcomes();
  if (found == nullptr || lines_of(found) != lines_of(expected.outcomes)) return "other outcomes";
  if (p.counts && v.executions() != expected.graphs) return "another number of executions";
  return "";
}

/// The options that the process was started with, a line each.
std::string options_given() {
  const char* const variable = std::getenv("RUNQ_CHECK");
  std::string options = variable == nullptr ? "" : std::string("\n") + variable;
  std::replace(options.begin(), options.end(), ' ', '\n');
  return options;
}
const std::string given = options_given();

bool may_wait(const oracle_program& p) {
  return !p.counts || std::string_view(p.text).find("lock") != std::string_view::npos;
}

void compare(const char* level, const oracle_program& p, std::size_t spurious, tally& to) {
  const expectation& expected = p.expected[spurious];
  const std::string options = "--check-duplicates\n--spurious\n" + std::to_string(spurious) + given;
  setenv("RUNQ_CHECK", options.c_str(), 1);
  random_programs::forget_outcomes();
  const runq::verdict v = runq::check([&p] { run(p); });
  ++to.checks;
  to.executions += v.executions();
  const std::string wrong = differs(v, p, expected);
  if (wrong.empty() || ++to.disagreements > 3) return;
  const char* const found = random_programs::outcomes();
  std::cout << p.family << " at " << level << ": " << wrong << '\n'
            << p.text << "expected " << expected.graphs << " executions:\n"
            << expected.failures << expected.outcomes << "found:\n"
            << v << (found == nullptr ? "" : found) << std::endl;  // at once: a run may take minutes
}

void compare(const program_list& list, bool only_waiting, std::vector<std::string>& order,
             std::map<std::string, tally>& tallies) {
  for (std::size_t i = 0; i != list.count; ++i) {
    const oracle_program& p = list.programs[i];
    if (only_waiting && !may_wait(p)) continue;
    if (tallies.count(p.family) == 0) order.emplace_back(p.family);
    tally& to = tallies[p.family];
    ++to.programs;
    if (*p.expected[0].failures != '\0') ++to.failing;
    for (std::size_t spurious = 0; spurious != p.expected.size(); ++spurious) {
      if (p.expected[spurious].outcomes != nullptr) compare(list.level, p, spurious, to);
    }
  }
}

int run_all(bool only_waiting) {
  if (!random_programs::prepare_outcomes()) return 2;
  std::vector<std::string> order;
  std::map<std::string, tally> tallies;
  for (const program_list* l = all_lists; l != nullptr; l = l->next) {
    compare(*l, only_waiting, order, tallies);
    std::cerr << l->count << " programs checked at " << l->level << '\n';
  }
  std::printf("compiled programs, each once for each of the levels -O0, -O1 and -O2\n%-18s %9s %9s %9s %10s %13s\n",
              "family", "programs", "fail", "checks", "executions", "disagreements");
  unsigned wrong = 0;
  for (const std::string& name : order) {
    const tally& t = tallies[name];
    std::printf("%-18s %9u %9u %9u %10lu %13u\n", name.c_str(), t.programs, t.failing, t.checks, t.executions,
                t.disagreements);
    wrong += t.disagreements;
  }
  return wrong == 0 && !order.empty() ? 0 : 1;
}

}  // namespace
}  // namespace oracle_programs

int main(int argc, char** argv) {
  return oracle_programs::run_all(argc == 2 && std::string_view(argv[1]) == "--waiting");
}
