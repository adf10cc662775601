// SPDX-License-Identifier: MIT
#include "plan.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fnmatch.h>
#include <unistd.h>

#include "noted_orders.hpp"
#include "pinned.hpp"

namespace runq::model {

namespace {

using json = nlohmann::json;
namespace fs = std::filesystem;

[[nodiscard]] std::vector<std::string> parts_of(const std::string& line, char separator) {
  std::vector<std::string> parts;
  std::istringstream in(line);
  for (std::string part; std::getline(in, part, separator);) parts.push_back(part);
  return parts;
}

[[nodiscard]] std::string find_on_path(const std::string& program) {
  const char* const path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "" : path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    const std::string file = folder + "/" + program;
    if (!folder.empty() && access(file.c_str(), X_OK) == 0 && fs::is_regular_file(file)) return file;
  }
  return "";
}

[[nodiscard]] bool is_litmus(const json& c) { return c.contains("litmus"); }
[[nodiscard]] bool is_seeded_bug(const json& c) { return c["seeded_bug"].get<bool>(); }

[[nodiscard]] std::string stem_of(const json& c) {
  const std::string name = c["name"];
  return name.substr(0, name.find('/'));
}

// A job about that case, which somebody else makes than a worker.
[[nodiscard]] job job_about(const json& c, engine_name engine, const std::string& label) {
  job j;
  j.case_name = c["name"];
  j.label = label;
  j.engine = engine;
  j.about = c;
  return j;
}

[[nodiscard]] job search_job(const manifest& m, const json& c, engine_name engine, const std::string& label,
                             search_request search) {
  job j = job_about(c, engine, label);
  j.worker = m.worker;
  search.case_name = j.case_name;
  j.asked = request{{m.cases.at(stem_of(c)).module}, std::move(search)};
  return j;
}

// The options with which the runner makes such a search.
[[nodiscard]] std::string options_of(const search_request& search) {
  std::string text = "--search " + to_text(search.kind);
  if (search.kind == search_kind::exhaustive && !search.waits_in_place) text += " --waits-in-place off";
  if (search.kind == search_kind::bounded) text += fmt::format(" --bound {}", search.bound);
  if (search.kind == search_kind::random && search.executions != 0)
    text += fmt::format(" --executions {}", search.executions);
  return text;
}

// The cases of a stem that is about no shipped header, such as the corpus, have no table of mutants: a bug that is
// seeded in the same source takes their place.
void note_seeded_bug_beside(const manifest& m, const json& cases, job& j) {
  if (!m.cases.at(stem_of(j.about)).header.empty()) return;
  const auto bug = std::find_if(cases.begin(), cases.end(),
                                [&](const json& c) { return is_seeded_bug(c) && c["file"] == j.about["file"]; });
  if (bug != cases.end()) j.about["seeded_bug_beside"] = (*bug)["name"];
}

// Relacy's executions of each case: of a search that is run to its end for one pre-emption more each time, until it
// would take more than the first number; and at random. The same for all cases, because the verdict is the exact
// engine's.
struct relacy_executions {
  std::uint64_t bounded;
  std::uint64_t random;
};
[[nodiscard]] relacy_executions relacy_budget(const options& o) {
  return o.budget == "full" ? relacy_executions{2'000'000, 2'000'000} : relacy_executions{10'000, 5'000};
}

// Searches that must find nothing: the exact engine's, then Relacy's.
void plan_case(const options& o, const manifest& m, const json& cases, const json& c, std::vector<job>& jobs) {
  const auto add = [&](engine_name engine, const search_request& search) {
    if (!o.wants_engine(engine)) return;
    job j = search_job(m, c, engine, to_text(search.kind), search);
    note_seeded_bug_beside(m, cases, j);
    j.replay = options_of(search);
    j.is_pinned = engine == engine_name::exact;
    jobs.push_back(std::move(j));
  };
  const auto [bounded, random] = relacy_budget(o);
  add(engine_name::exact, {.kind = search_kind::exhaustive, .waits_in_place = o.waits_are_in_place()});
  add(engine_name::relacy, {.kind = search_kind::widening, .executions = bounded});
  add(engine_name::relacy, {.kind = search_kind::random, .executions = random});
}

// GenMC's verdict on the same case, if GenMC is installed: as far as it comes in the given time.
void plan_genmc(const options& o, const manifest& m, const json& c, std::vector<job>& jobs) {
  if (!o.wants_engine(engine_name::genmc) || m.genmc.empty()) return;
  for (const char* model : {"rc11", "imm"}) {
    job j = job_about(c, engine_name::genmc, model);
    j.worker = m.python;
    j.arguments = {
        m.models_dir + "/genmc/run_genmc.py", "--genmc", m.genmc, "--case", j.case_name, "--model", model, "--seconds",
        o.budget == "full" ? "3600" : "20"};
    j.replay = "--engine genmc";
    jobs.push_back(std::move(j));
  }
}

void plan_litmus(const manifest& m, const json& c, std::vector<job>& jobs) {
  job j = search_job(m, c, engine_name::all, "litmus", {.kind = search_kind::litmus});
  j.expect = job::expectation::litmus;
  jobs.push_back(std::move(j));
}

void plan_seeded_bug(const options& o, const manifest& m, const json& c, std::vector<job>& jobs) {
  job j = search_job(m, c, engine_name::exact, "seeded bug",
                     {.kind = search_kind::mutant, .waits_in_place = o.waits_are_in_place()});
  j.expect = job::expectation::caught;
  jobs.push_back(std::move(j));
}

// "[ring.push.publish] relaxed"
[[nodiscard]] std::string change_in_words(const weakened_order& w) {
  return fmt::format("[{}] {}", w.site, json(w.to).get<std::string>());
}

void plan_order_mutants(const options& o, const manifest& m, const json& c, std::vector<job>& jobs) {
  for (const json& mutant : c["mutants"]) {
    if (!o.wants_mutant(mutant["name"])) continue;
    const weakened_order weakened{mutant["site"], mutant["weaker"].get<std::memory_order>(), mutant["arg"]};
    job j = search_job(m, c, engine_name::exact, mutant["name"],
                       {.kind = search_kind::mutant, .waits_in_place = o.waits_are_in_place(), .weakened = weakened});
    j.expect = job::expectation::fail;
    j.changed = change_in_words(weakened);
    jobs.push_back(std::move(j));
  }
}

// Whether one of the cases that the options ask for is among those that must notice the mutant.
[[nodiscard]] bool is_noticed_by_wanted(const source_mutant& mutant, const options& o, const json& cases) {
  return std::any_of(cases.begin(), cases.end(), [&](const json& c) {
    return o.wants(c["name"]) && mutant.killers.contains(c["name"].get<std::string>());
  });
}

[[nodiscard]] std::vector<source_mutant> mutants_wanted(const options& o, const manifest& m, const json& cases) {
  std::vector<source_mutant> wanted;
  if (!o.wants_engine(engine_name::exact)) return wanted;
  std::copy_if(m.mutants.begin(), m.mutants.end(), std::back_inserter(wanted), [&](const source_mutant& mutant) {
    const std::string name = mutant.name.substr(mutant.name.find('/') + 1);
    return o.wants_mutant(name) && (o.wants(mutant.name) || is_noticed_by_wanted(mutant, o, cases));
  });
  return wanted;
}

// With the quick budget, the search of a case that is not pinned for a mutant ends after this many graphs. If it has
// found nothing by then, the case is counted as undecided.
constexpr std::uint64_t quick_graphs_of_others = 1'000;

[[nodiscard]] std::vector<std::string> modules_of(const source_mutant& mutant) {
  std::vector<std::string> modules;
  for (const std::string& target : mutant.targets) modules.push_back(mutant.modules_dir + "/" + target + ".so");
  return modules;
}

// One job per source mutant. It searches all cases of each source that holds a case which is pinned for the mutant:
// these cases must fail, the others must pass.
void plan_source_mutants(const options& o, const manifest& m, const json& cases, std::vector<job>& jobs) {
  for (const source_mutant& mutant : mutants_wanted(o, m, cases)) {
    job j;
    j.case_name = mutant.name;
    j.label = "in the source";
    j.engine = engine_name::exact;
    j.expect = job::expectation::fail;
    j.worker = m.worker;
    mutant_request asked{.name = mutant.name, .waits_in_place = o.waits_are_in_place()};
    for (const auto& [name, how] : mutant.killers) asked.named.insert(name);
    if (o.budget == "quick" && !o.pin) asked.graphs_others = quick_graphs_of_others;
    j.asked = request{modules_of(mutant), std::move(asked)};
    for (const std::string& module : j.asked->modules) {
      if (!fs::exists(module)) j.broken = module + " is not built; ./kit verify builds it";
    }
    j.about = {{"killers", mutant.killers}};
    if (const std::string status = read_file(mutant.status); j.broken.empty() && status != "applied") {
      j.broken = fmt::format("{}: {} does not apply: {}", mutant.table, mutant.name, status);
    }
    jobs.push_back(std::move(j));
  }
}

void plan_progress(const manifest& m, const json& c, std::vector<job>& jobs) {
  job j = search_job(m, c, engine_name::exact, "progress", {.kind = search_kind::progress});
  j.expect = job::expectation::progress;
  jobs.push_back(std::move(j));
}

// The modules that the options need.
[[nodiscard]] std::vector<std::string> modules_of(const options& o, const manifest& m) {
  std::vector<std::string> modules;
  for (const auto& [stem, of_stem] : m.cases) {
    if (o.wants_stem(stem)) modules.push_back(of_stem.module);
  }
  return modules;
}

void plan_ledger(const options& o, const manifest& m, std::vector<job>& jobs) {
  for (const auto& [stem, of_stem] : m.cases) {
    if (of_stem.header.empty()) continue;
    job j;
    j.case_name = stem;
    j.label = "ledger";
    j.engine = engine_name::exact;
    j.expect = job::expectation::ledger;
    j.worker = m.worker;
    ledger_request asked{.header = of_stem.header, .waits_in_place = o.waits_are_in_place()};
    // A ledger that is to be written again is made without the rows of the old one.
    const std::string rows = m.models_dir + "/cases/ledger.json";
    if (!o.update_ledger && fs::exists(rows)) asked.expected = rows;
    j.asked = request{modules_of(o, m), std::move(asked)};
    jobs.push_back(std::move(j));
  }
}

// No search: checks whether the proofs are about the lines that the headers have now.
void plan_proofs(const manifest& m, std::vector<job>& jobs) {
  const std::pair<const char*, const char*> ties[] = {
      {"ring", "tie.py"}, {"chase_lev", "deque_tie.py"}, {"park", "park_tie.py"}};
  for (const auto& [stem, script] : ties) {
    const std::string tie = m.models_dir + "/proof/" + script;
    if (!fs::exists(tie)) continue;  // a copy of the project without its proofs
    job j;
    j.case_name = fmt::format("proof of {}", stem);
    j.label = fmt::format("lines of {}.hpp", stem);
    j.engine = engine_name::proof;
    j.expect = job::expectation::proof;
    j.worker = m.python;
    j.arguments = {"-B", tie, "--result"};
    jobs.push_back(std::move(j));
  }
}

// What is pinned of the mutants.
void read_killers(manifest& m) {
  const pinned_facts pinned(m.cases, m.models_dir);
  for (source_mutant& mutant : m.mutants) {
    for (const auto& [name, how] : pinned.killers_of(mutant.name)) mutant.killers.emplace(name, how);
  }
}

// Which header a stem's cases are about: the one of that name.
void find_headers(manifest& m) {
  for (const std::string& dir : m.headers_dirs) {
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(dir)) {
      const auto found = m.cases.find(entry.path().stem());
      if (!entry.is_regular_file() || found == m.cases.end()) continue;  // no models
      found->second.header = entry.path();
    }
  }
}

}  // namespace

bool options::wants(const std::string& case_name) const {
  return fnmatch(case_glob.c_str(), case_name.c_str(), 0) == 0;
}

bool options::wants_stem(const std::string& stem) const {
  const std::size_t slash = case_glob.find('/');
  if (slash == std::string::npos || update_ledger) return true;
  return fnmatch(case_glob.substr(0, slash).c_str(), stem.c_str(), 0) == 0;
}

bool options::wants_mutant(const std::string& name) const {
  return mutant_glob.empty() || fnmatch(mutant_glob.c_str(), name.c_str(), 0) == 0;
}

manifest read_manifest(const std::string& path) {
  std::ifstream in(path);
  if (!in) usage_error("cannot read " + path + "; build the models first: ./kit verify does");
  manifest m;
  for (std::string line; std::getline(in, line);) {
    const std::vector<std::string> fields = parts_of(line, '\t');
    if (fields.size() < 2) continue;
    if (fields[0] == "build" && fields.size() == 3) {
      m.cmake = fields[1];
      m.build_dir = fields[2];
    }
    if (fields[0] == "worker") m.worker = fields[1];
    if (fields[0] == "models") m.models_dir = fields[1];
    if (fields[0] == "evidence") m.evidence_dir = fields[1];
    if (fields[0] == "sources" && fields.size() == 3) {
      m.root = fields[1];
      m.sources_dirs = parts_of(fields[2], ':');
    }
    if (fields[0] == "headers") m.headers_dirs = parts_of(fields[1], ':');
    if (fields[0] == "cases" && fields.size() == 4) m.cases[fields[1]] = {fields[2], fields[3], {}};
    if (fields[0] == "python") m.python = fields[1];
    if (fields[0] == "mutant" && fields.size() == 6) {
      m.mutants.push_back({fields[1], parts_of(fields[2], ','), fields[3], fields[4], fields[5]});
    }
  }
  find_headers(m);
  read_killers(m);
  m.genmc = find_on_path("genmc");
  return m;
}

std::string header_of(const std::map<std::string, stem_cases>& stems, const std::string& stem) {
  const auto found = stems.find(stem);
  const bool known = found != stems.end() && !found->second.header.empty();
  return known ? as_included(found->second.header) : stem + ".hpp";
}

names_found names_of_operations(const manifest& m) {
  std::vector<source_file> files;
  for (const std::string& dir : m.sources_dirs) {
    if (!fs::is_directory(dir)) continue;  // a copy of the project without its scheduler
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(dir)) {
      const fs::path& path = entry.path();
      if (path.extension() != ".hpp" && path.extension() != ".cpp") continue;
      if (path.filename() == "atomics.hpp") continue;  // the policy, which passes orders on
      const bool modelled = std::any_of(m.cases.begin(), m.cases.end(),
                                        [&](const auto& stem) { return stem.second.header == path.string(); });
      files.push_back({path, fs::relative(path, m.root), modelled});
    }
  }
  std::sort(files.begin(), files.end(), [](const auto& a, const auto& b) { return a.shown < b.shown; });
  return check_names(files, read_unmodelled(m.models_dir + "/unmodelled.txt"));
}

json cases_of(const options& o, const manifest& m) {
  for (const auto& [stem, of_stem] : m.cases) {
    if (o.wants_stem(stem) && !fs::exists(of_stem.module)) {
      usage_error(of_stem.module + " is not built; ./kit verify builds it");
    }
  }
  const std::string text = output_of(m.worker, {modules_of(o, m), list_request{}});
  json cases = json::parse(text, nullptr, false);
  if (!cases.is_array()) usage_error("cannot list the cases of " + m.worker + ": " + text);
  for (const json& c : cases) {
    if (const fs::path file = c["file"]; file.parent_path().filename() != stem_of(c)) {
      usage_error(fmt::format("the case {} is registered in {}: its name must begin with the folder's",
                              c["name"].get<std::string>(), file.string()));
    }
  }
  return cases;
}

std::vector<std::string> cases_targets(const options& o, const manifest& m) {
  std::vector<std::string> targets;
  for (const auto& [stem, of_stem] : m.cases) {
    if (o.wants_stem(stem)) targets.push_back("cases_" + stem);
  }
  return targets;
}

std::vector<std::string> mutant_targets(const options& o, const manifest& m, const json& cases) {
  std::set<std::string> targets;
  if (!o.list && !o.shows_one() && o.merge.empty()) {
    for (const source_mutant& mutant : mutants_wanted(o, m, cases)) {
      targets.insert(mutant.targets.begin(), mutant.targets.end());
    }
  }
  return {targets.begin(), targets.end()};
}

std::vector<job> plan(const options& o, const manifest& m, const json& cases) {
  if (o.engine == "genmc" && m.genmc.empty()) usage_error("engine genmc: absent (not on the PATH)");
  std::vector<job> jobs;
  const bool only_mutants = !o.mutant_glob.empty();
  const auto each = [&](auto wanted, auto add) {
    for (const json& c : cases) {
      if (o.wants(c["name"]) && wanted(c)) add(c);
    }
  };
  if (!only_mutants) {
    each(is_litmus, [&](const json& c) { plan_litmus(m, c, jobs); });
    each([](const json& c) { return !is_litmus(c) && !is_seeded_bug(c); },
         [&](const json& c) {
           plan_case(o, m, cases, c, jobs);
           plan_genmc(o, m, c, jobs);
         });
  }
  if (o.wants_engine(engine_name::exact)) {
    if (!only_mutants) {
      each([](const json& c) { return c.contains("progress"); }, [&](const json& c) { plan_progress(m, c, jobs); });
    }
    if (!only_mutants) each(is_seeded_bug, [&](const json& c) { plan_seeded_bug(o, m, c, jobs); });
    each([](const json& c) { return !is_litmus(c); }, [&](const json& c) { plan_order_mutants(o, m, c, jobs); });
    plan_source_mutants(o, m, cases, jobs);
  }
  if (o.whole()) plan_proofs(m, jobs);
  if (o.whole() || o.update_ledger) {
    note_orders(jobs);
    plan_ledger(o, m, jobs);
  }
  return jobs;
}

namespace {

// "ring.push.publish:relaxed"
[[nodiscard]] weakened_order weakening_in(const std::string& text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string::npos) usage_error("--weaken takes SITE:ORDER, as ring.push.publish:relaxed");
  try {
    return {text.substr(0, colon), json(text.substr(colon + 1)).get<std::memory_order>()};
  } catch (const std::invalid_argument&) {
    usage_error("'" + text.substr(colon + 1) +
                "' is no memory order; they are relaxed, consume, acquire, release, acq_rel and seq_cst");
  }
}

// The options that make the same search again, without --case and --execution.
[[nodiscard]] std::string replay_of_one(const options& o) {
  std::vector<std::string> words;
  if (o.search_given || !o.waits_are_in_place())
    words.push_back(options_of({.kind = o.search, .bound = o.bound, .waits_in_place = o.waits_are_in_place()}));
  if (!o.weaken.empty()) words.push_back("--weaken " + o.weaken);
  return fmt::format("{}", fmt::join(words, " "));
}

}  // namespace

job plan_one(const options& o, const manifest& m, const json& cases) {
  for (const json& c : cases) {
    if (c["name"] != o.case_glob) continue;
    search_request search{
        .kind = o.search, .bound = o.bound, .show = o.execution, .waits_in_place = o.waits_are_in_place()};
    if (o.execution != 0 && search.kind == search_kind::random) {
      search.first = o.execution;
      search.executions = 1;
    }
    search.weakened = o.weaken.empty() ? weakened_order{} : weakening_in(o.weaken);
    const bool by_exact = search.kind == search_kind::exhaustive;
    job j = search_job(m, c, by_exact ? engine_name::exact : engine_name::relacy, to_text(search.kind), search);
    if (!o.weaken.empty()) j.changed = change_in_words(search.weakened);
    j.replay = replay_of_one(o);
    return j;
  }
  usage_error("this needs --case with the full name of one case; ./kit verify --list names them");
}

}  // namespace runq::model
