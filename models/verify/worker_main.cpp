// SPDX-License-Identifier: MIT
// A worker: loads cases, does what its one argument asks for (request.hpp), and prints the result as one line of JSON.
// The runner (main.cpp) starts workers; a crash of one is the verdict of one search.
//
// Of a search, a mutant and a ledger it prints "P <executions>", perhaps with how many there are, now and then, and
// last "R <result>"; a search that shows all executions prints "E <execution>" for each. A list is the cases as a JSON
// array.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include <dlfcn.h>
#include <fmt/format.h>

#include "exact.hpp"
#include "json.hpp"
#include "ledger.hpp"
#include "names.hpp"
#include "relacy.hpp"
#include "request.hpp"
#include "result_json.hpp"
#include "runtime.hpp"
#include "scenario.hpp"
#include "searches.hpp"
#include "sites.hpp"
#include "size_words.hpp"
#include "variant.hpp"

namespace {

namespace fs = std::filesystem;
using namespace runq::model;  // NOLINT(google-build-using-namespace): a main file of this namespace's program
using json = nlohmann::json;

[[nodiscard]] json to_json(const case_spec& c) {
  json mutants = json::array();
  for (const order_mutant& m : c.mutants) {
    mutants.push_back({{"name", m.name}, {"site", m.site}, {"weaker", m.weaker}, {"arg", m.arg}});
  }
  json j = {{"name", c.name},       {"file", c.file},     {"property", c.property},
            {"threads", c.threads}, {"mutants", mutants}, {"seeded_bug", c.seeded_bug}};
  if (c.progress != progress_claim::none) {
    j["progress"] = c.progress == progress_claim::lock_free ? "lock-free" : "blocking";
  }
  if (c.axiom != nullptr) j["axiom"] = c.axiom;
  if (c.kept_for != nullptr) j["kept_for"] = c.kept_for;
  if (c.litmus.outcome != nullptr) {
    j["litmus"] = {{"outcome", c.litmus.outcome},
                   {"cpp20", c.litmus.cpp20},
                   {"relacy", c.litmus.relacy},
                   {"exact", c.litmus.exact}};
  }
  return j;
}

[[nodiscard]] json to_json(const search_result& r, source_index& sources) {
  json j = result_json(r, sources);
  if (r.spurious != 0) j["spurious_limit"] = spurious_limit;
  return j;
}

[[nodiscard]] json to_json(const both_verdicts& both, source_index& sources) {
  json j = to_json(both.exact, sources);
  j["by"] = both.by == nullptr ? "" : both.by->name;
  // Of Relacy only the verdict is shown. Its trace was most of what the worker writes and the runner reads.
  search_result relacy = both.relacy;
  relacy.trace.clear();
  j["relacy"] = to_json(relacy, sources);
  return j;
}

[[nodiscard]] json to_json(const mutant_verdicts& all, source_index& sources) {
  json j = to_json(all.first, sources);
  j["cases"] = json::array();
  for (const case_verdict& v : all.cases) {
    j["cases"].push_back({{"case", v.spec->name}, {"what", v.what}, {"how", v.how}});
  }
  return j;
}

[[nodiscard]] json to_json(const ledger& l) {
  json rows = json::array();
  for (const ledger_row& r : l.rows) {
    rows.push_back({{"site", r.site},
                    {"arg", r.arg},
                    {"written", r.from},
                    {"weaker", r.to},
                    {"verdict", r.verdict == ledger_verdict::killed                  ? "killed"
                                : r.verdict == ledger_verdict::killed_load_buffering ? "killed under load buffering"
                                                                                     : "redundant"},
                    {"case", r.by},
                    {"what", r.what},
                    {"executions", r.executions},
                    {"reason", r.reason}});
  }
  return {{"rows", rows}, {"holes", l.holes}};
}

[[nodiscard]] json to_json(const progress_verdict& v, source_index& sources) {
  json j = to_json(v.counterexample, sources);
  j["others_always_finish"] = v.others_always_finish;
  j["thread"] = v.thread;
  j["step"] = v.step;
  j["searches"] = v.searches;
  j["executions"] = v.executions;
  return j;
}

// The rows of a header's stem in the pinned ledger.
[[nodiscard]] std::vector<ledger_row> rows_in(const std::string& file, const std::string& header) {
  std::vector<ledger_row> rows;
  if (file.empty()) return rows;
  std::ifstream in(file);
  const json all = json::parse(in);
  for (const json& r : all.value(fs::path(header).stem().string(), json::array())) {
    const std::string verdict = r.at("verdict");
    ledger_row row;
    row.site = r.at("site");
    row.arg = r.at("arg");
    row.from = r.at("written").get<std::memory_order>();
    row.to = r.at("weaker").get<std::memory_order>();
    row.verdict = verdict == "redundant" ? ledger_verdict::redundant
                  : verdict == "killed"  ? ledger_verdict::killed
                                         : ledger_verdict::killed_load_buffering;
    row.by = r.at("case");
    rows.push_back(std::move(row));
  }
  return rows;
}

[[nodiscard]] json to_json(const std::vector<used_order>& orders) {
  json all = json::array();
  for (const used_order& o : orders) {
    all.push_back({{"file", o.file}, {"line", o.line}, {"arg", o.arg}, {"kind", o.kind}, {"written", o.written}});
  }
  return all;
}

[[nodiscard]] orders_by_case uses_in(const std::string& file) {
  orders_by_case uses;
  if (file.empty()) return uses;
  std::ifstream in(file);
  const json all = json::parse(in);  // which items() refers to
  for (const auto& [name, orders] : all.items()) {
    std::vector<used_order>& of_case = uses[name];
    for (const json& o : orders) {
      of_case.push_back({o.at("file"), o.at("line"), o.at("arg"), o.at("kind").get<order_of>(),
                         o.at("written").get<std::memory_order>()});
    }
  }
  return uses;
}

void print_result(const json& result) { std::puts(("R " + result.dump()).c_str()); }

[[noreturn]] void stop(const std::string& why) {
  print_result({{"error", why}});
  std::exit(2);
}

source_index* shown_sources = nullptr;  // of print_execution()
void print_execution(const search_result& r) { std::puts(("E " + result_json(r, *shown_sources).dump()).c_str()); }

void print_progress(std::uint64_t executions) {
  std::printf("P %llu\n", static_cast<unsigned long long>(executions));
  std::fflush(stdout);
}

void print_progress_of_exact(const search_progress& now) {
  std::printf("P %llu%s\n", static_cast<unsigned long long>(now.executions), size_words(now).c_str());
  std::fflush(stdout);
}

[[nodiscard]] const case_spec& find_case(const std::string& name) {
  for (const case_spec& c : cases()) {
    if (name == c.name) return c;
  }
  stop("no case is called " + name);
}

// The headers whose operations have names: the shipped ones, in the folders RUNQ_HEADERS (set by the build).
[[nodiscard]] weakening find_weakening(source_index& sources, const weakened_order& order) {
  std::istringstream dirs(RUNQ_HEADERS);
  for (std::string dir; std::getline(dirs, dir, ':');) {
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(dir)) {
      const std::string header = entry.path().string();
      if (auto found = sources.find(header, as_included(header), order.site, order.arg, order.to)) return *found;
    }
  }
  stop("no operation is called [" + order.site +
       "] in " RUNQ_HEADERS "; a mutant that names it must be brought up to date");
}

// The cases of a module register themselves while it is loaded; it stays for ever.
void load(const std::string& module) {
  if (dlopen(module.c_str(), RTLD_NOW | RTLD_LOCAL) == nullptr) stop(std::string("cannot load cases: ") + dlerror());
}

// The first execution of a search that has the outcome which a litmus test asks for.
struct sought_execution {
  std::string outcome;
  std::optional<search_result> found{};
};
sought_execution* sought = nullptr;  // of keep_sought()
void keep_sought(const search_result& r) {
  if (sought->found) return;
  const std::vector<std::string> seen = outcomes();
  if (std::find(seen.begin(), seen.end(), sought->outcome) != seen.end()) sought->found = r;
}

// The exact engine's answer to a litmus test, with the picture of an execution that has the outcome, if one has.
[[nodiscard]] json litmus_by_exact(const case_spec& spec, exact_options options, source_index& sources) {
  sought_execution looks_for{spec.litmus.outcome};
  sought = &looks_for;
  options.show_each = keep_sought;
  clear_outcomes();
  search_result r = run_exact(spec, options);
  r.outcomes = outcomes();
  if (looks_for.found) {
    r.trace = looks_for.found->trace;
    r.variables = looks_for.found->variables;
    r.knows_sources = looks_for.found->knows_sources;
    r.buffers_loads = looks_for.found->buffers_loads;
  }
  json j = to_json(r, sources);
  if (looks_for.found) j["shown"] = looks_for.found->executions;
  return j;
}

// What the engines show of a litmus test.
[[nodiscard]] json litmus(const case_spec& spec, source_index& sources) {
  constexpr std::uint64_t relacy_executions = 50'000;
  json j;
  j["exact"] = litmus_by_exact(spec, {}, sources);
  j["load buffering"] = litmus_by_exact(spec, {.load_buffering = true}, sources);
  clear_outcomes();
  relacy_options options;
  options.executions = relacy_executions;
  j["relacy"] = to_json(run_relacy(spec, options), sources);
  return j;
}

[[nodiscard]] search_result search_with_relacy(const case_spec& spec, const search_request& r) {
  relacy_options options{.progress = print_progress};
  options.search = r.kind == search_kind::bounded ? relacy_search::bounded
                   : r.kind == search_kind::full  ? relacy_search::full
                                                  : relacy_search::random;
  if (r.executions != 0 || r.kind != search_kind::random) options.executions = r.executions;
  options.first = r.first;
  options.context_bound = r.bound;
  options.show = r.show;
  return run_relacy(spec, options);
}

[[nodiscard]] json widening(const case_spec& spec, const search_request& r, source_index& sources) {
  const widened_search widened = widen_relacy(spec, r.executions, print_progress);
  json j = to_json(widened.result, sources);
  if (widened.bound >= 0) j["bound"] = widened.bound;
  return j;
}

[[nodiscard]] json search_all_executions(const case_spec& spec, const search_request& r, source_index& sources) {
  exact_options options = complete_search(r.waits_in_place);
  options.jobs = r.jobs;
  options.show_execution = r.show;
  options.progress = print_progress_of_exact;
  if (r.show_all) options.show_each = print_execution;
  shown_sources = &sources;
  if (r.note_orders) start_noting_orders();
  json result = to_json(run_exact(spec, options), sources);
  if (r.note_orders) result["orders"] = to_json(noted_orders());
  return result;
}

constexpr std::uint64_t relacy_mutant_executions = 40'000;

[[nodiscard]] json search(const search_request& r, source_index& sources) {
  const case_spec& spec = find_case(r.case_name);
  switch (r.kind) {
    case search_kind::exhaustive: return search_all_executions(spec, r, sources);
    case search_kind::widening: return widening(spec, r, sources);
    case search_kind::mutant:
      return to_json(search_for_failure(spec, relacy_mutant_executions, r.waits_in_place), sources);
    case search_kind::litmus: return litmus(spec, sources);
    case search_kind::progress: return to_json(check_progress(spec), sources);
    case search_kind::random:
    case search_kind::bounded:
    case search_kind::full: break;
  }
  return to_json(search_with_relacy(spec, r), sources);
}

void answer(const list_request&) {
  json all = json::array();
  for (const case_spec& c : cases()) all.push_back(to_json(c));
  std::puts(all.dump().c_str());
}

void answer(const search_request& r) {
  source_index sources;
  const bool weakens = !r.weakened.site.empty();
  if (weakens) set_weakening(find_weakening(sources, r.weakened));
  const json result = search(r, sources);
  if (weakens && !weakening_was_used()) stop("case " + r.case_name + " never executes [" + r.weakened.site + "]");
  print_result(result);
}

void answer(const mutant_request& r) {
  source_index sources;
  chosen_mutant = mutant_number(r.name);
  mutant_limits limits;
  limits.named = r.named;
  limits.graphs_others = r.graphs_others;
  limits.waits_in_place = r.waits_in_place;
  print_result(to_json(search_all_for_failure(relacy_mutant_executions, limits), sources));
}

void answer(const ledger_request& r) {
  source_index sources;
  print_result(to_json(make_ledger(r.header, as_included(r.header), sources, rows_in(r.expected, r.header),
                                   uses_in(r.uses), r.waits_in_place, print_progress)));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) stop("a worker takes one argument, its request as JSON; ./kit verify starts workers");
  try {
    const request asked = to_request(argv[1]);
    for (const std::string& module : asked.modules) load(module);
    std::visit([](const auto& what) { answer(what); }, asked.what);
  } catch (const std::invalid_argument& e) {
    stop(e.what());
  }
  return 0;
}
