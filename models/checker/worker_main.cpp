// SPDX-License-Identifier: MIT
// A worker: a program with some cases linked in, which runs one search and prints its result as one line of JSON. The
// runner (verify_main.cpp) starts workers; a crash of one is the verdict of one search.
//
//   list                      the cases, as a JSON array
//   run --case NAME …         one search ("*": all cases, until one fails); prints "P <executions>" now and then, and
//   last "R <result>"
#include <cstdio>
#include <filesystem>
#include <string>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "counterexample.hpp"
#include "json.hpp"
#include "relacy.hpp"
#include "runtime.hpp"
#include "scenario.hpp"
#include "sites.hpp"

namespace {

namespace fs = std::filesystem;
using namespace runq::model;  // NOLINT(google-build-using-namespace): a main file of this namespace's program
using json = nlohmann::json;

[[nodiscard]] json to_json(const relacy_budget& b) {
  return {{"random", b.random}, {"bound", b.bound}, {"full", b.full}};
}

[[nodiscard]] json to_json(const case_spec& c) {
  json mutants = json::array();
  for (const order_mutant& m : c.mutants) {
    mutants.push_back({{"name", m.name}, {"site", m.site}, {"weaker", m.weaker}, {"arg", m.arg}});
  }
  relacy_budget full = c.full;
  if (full.bound == 0) full.bound = c.quick.bound + 1;
  full.full |= c.quick.full;
  json j = {{"name", c.name},        {"property", c.property}, {"threads", c.threads},      {"quick", to_json(c.quick)},
            {"full", to_json(full)}, {"mutants", mutants},     {"seeded_bug", c.seeded_bug}};
  if (c.litmus.outcome != nullptr) {
    j["litmus"] = {{"outcome", c.litmus.outcome},
                   {"cpp20", c.litmus.cpp20},
                   {"relacy", c.litmus.relacy},
                   {"exact", c.litmus.exact}};
  }
  return j;
}

[[nodiscard]] json to_json(const event& e) {
  json j = {{"kind", e.kind},     {"thread", e.thread},     {"file", e.where.file}, {"line", e.where.line},
            {"order", e.order},   {"location", e.location}, {"value", e.value},     {"written", e.written},
            {"newest", e.newest}, {"stale", e.stale}};
  if (e.reads_from != no_event) j["reads_from"] = e.reads_from;
  return j;
}

[[nodiscard]] json to_json(const search_result& r, source_index& sources) {
  json j = {{"how", r.how},           {"what", r.what},
            {"message", r.message},   {"executions", r.executions},
            {"blocked", r.blocked},   {"seconds", r.seconds},
            {"outcomes", r.outcomes}, {"where", render_site(r.where, sources)}};
  if (!r.trace.empty()) {
    j["counterexample"] = render_counterexample(r, sources);
    json trace = json::array();
    for (const event& e : r.trace) trace.push_back(to_json(e));
    j["trace"] = trace;
  }
  return j;
}

[[noreturn]] void stop(const std::string& why) {
  std::puts(("R " + json{{"error", why}}.dump()).c_str());
  std::exit(2);
}

[[nodiscard]] const case_spec& find_case(const std::string& name) {
  for (const case_spec& c : cases()) {
    if (name == c.name) return c;
  }
  stop("no case is called " + name);
}

// The headers whose operations have names: the shipped ones, below RUNQ_HEADERS (set by the build).
[[nodiscard]] weakening find_weakening(source_index& sources, const std::string& name, const std::string& order,
                                       int arg) {
  const auto to = json(order).get<std::memory_order>();
  for (const fs::directory_entry& entry : fs::directory_iterator(RUNQ_HEADERS)) {
    const std::string ending = "runq/" + entry.path().filename().string();
    if (auto found = sources.find(entry.path().string(), ending, name, arg, to)) return *found;
  }
  stop("no operation is called [" + name + "] in " RUNQ_HEADERS "; a mutant that names it must be brought up to date");
}

void print_progress(std::uint64_t executions) {
  std::printf("P %llu\n", static_cast<unsigned long long>(executions));
  std::fflush(stdout);
}

struct search_request {
  std::string search = "random";
  relacy_options relacy{.progress = print_progress};
};

// Searches of growing width until one of them fails: what a mutant is killed by.
[[nodiscard]] search_result kill(const case_spec& spec, relacy_options options) {
  search_result last;
  double spent = 0;
  std::uint64_t executions = 0;
  for (unsigned bound = 0; bound <= 3; ++bound) {
    options.search = relacy_search::bounded;
    options.context_bound = bound;
    options.executions = 200'000;
    last = run_relacy(spec, options);
    spent += last.seconds;
    executions += last.executions;
    if (last.what != failure::none) return last;
    if (last.how != coverage::bounded) break;  // too many executions for this bound: let chance try
  }
  options.search = relacy_search::random;
  options.executions = 1'000'000;
  last = run_relacy(spec, options);
  last.executions += last.what == failure::none ? executions : 0;
  last.seconds += spent;
  return last;
}

// For a source mutant: the first of the linked cases that notices it.
[[nodiscard]] search_result kill_by_any(const relacy_options& options) {
  search_result last;
  std::uint64_t executions = 0;
  for (const case_spec& c : cases()) {
    if (c.seeded_bug) continue;
    last = kill(c, options);
    if (last.what != failure::none) {
      last.message += std::string(" (") + c.name + ")";
      return last;
    }
    executions += last.executions;
  }
  last.executions = executions;
  return last;
}

[[nodiscard]] search_result run(const case_spec& spec, search_request request) {
  if (request.search == "kill") return kill(spec, request.relacy);
  if (request.search == "random") request.relacy.search = relacy_search::random;
  if (request.search == "bounded") request.relacy.search = relacy_search::bounded;
  if (request.search == "full") request.relacy.search = relacy_search::full;
  if (request.search != "random" && request.relacy.executions == relacy_options{}.executions)
    request.relacy.executions = 0;
  return run_relacy(spec, request.relacy);
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"Runs one search over one case; ./kit verify starts this program"};
  app.require_subcommand(1);
  app.add_subcommand("list", "print the cases as JSON");
  CLI::App* const run_command = app.add_subcommand("run", "run one search");
  std::string name;
  std::string weaken_site;
  std::string weaken_order = "relaxed";
  int weaken_arg = 0;
  search_request request;
  run_command->add_option("--case", name)->required();
  run_command->add_option("--search", request.search)->check(CLI::IsMember({"random", "bounded", "full", "kill"}));
  run_command->add_option("--executions", request.relacy.executions);
  run_command->add_option("--first", request.relacy.first);
  run_command->add_option("--bound", request.relacy.context_bound);
  run_command->add_option("--seconds", request.relacy.seconds);
  run_command->add_option("--show", request.relacy.show);
  run_command->add_option("--site", weaken_site);
  run_command->add_option("--order", weaken_order);
  run_command->add_option("--arg", weaken_arg);
  CLI11_PARSE(app, argc, argv);

  if (app.got_subcommand("list")) {
    json all = json::array();
    for (const case_spec& c : cases()) all.push_back(to_json(c));
    std::puts(all.dump().c_str());
    return 0;
  }
  source_index sources;
  if (name == "*") {
    std::puts(("R " + to_json(kill_by_any(request.relacy), sources).dump()).c_str());
    return 0;
  }
  const case_spec& spec = find_case(name);
  if (!weaken_site.empty()) set_weakening(find_weakening(sources, weaken_site, weaken_order, weaken_arg));
  const search_result result = run(spec, request);
  if (!weaken_site.empty() && !weakening_was_used()) stop("case " + name + " never executes [" + weaken_site + "]");
  std::puts(("R " + to_json(result, sources).dump()).c_str());
  return 0;
}
