// SPDX-License-Identifier: MIT
#include "report.hpp"

#include <algorithm>
#include <cstdint>
#include <fstream>

#include <fmt/format.h>

namespace runq::model {

namespace {

using json = nlohmann::json;

[[nodiscard]] bool failed_in(const json& result) { return result["what"] != "none"; }

// What a completed search may be called. "exhaustive" belongs to the exact engine alone.
[[nodiscard]] std::string coverage_words(const job& j) {
  const std::string how = j.result["how"];
  const std::string given = j.about.contains("axiom") ? ", given " + j.about["axiom"].get<std::string>() : "";
  const std::string bounded =
      j.result.contains("bound") ? fmt::format("bounded {}", j.result["bound"].get<unsigned>()) : j.label;
  return (how == "bounded" ? bounded : how == "full" ? "full search" : how) + given;
}

[[nodiscard]] explored explored_by(const json& result) {
  return {result["executions"].get<std::uint64_t>(), result.value("blocked", std::uint64_t{0})};
}

// Blocked executions, and how many of the complete ones have a weak compare-exchange fail spuriously.
[[nodiscard]] std::string besides(const json& r) {
  std::string text;
  if (const auto blocked = r.value("blocked", std::uint64_t{0}); blocked != 0) {
    text += fmt::format(", +{} blocked", blocked);
  }
  if (const auto spurious = r.value("spurious", std::uint64_t{0}); spurious != 0) {
    text +=
        fmt::format(", {} with a spurious failure (at most {} each)", spurious, r["spurious_limit"].get<unsigned>());
  }
  return text;
}

[[nodiscard]] const char* unit(const job& j) { return j.engine == engine_name::exact ? "graphs" : "executions"; }

[[nodiscard]] std::string failure_words(const json& r, const char* where_found) {
  return fmt::format("{} at {} {}, {}", r["what"].get<std::string>(), where_found, r["executions"].get<std::uint64_t>(),
                     r["where"].get<std::string>());
}

[[nodiscard]] bool shows(const json& result, const std::string& outcome) {
  if (outcome == "race") return result["what"] == "data race";
  const json& seen = result["outcomes"];
  return std::find(seen.begin(), seen.end(), outcome) != seen.end();
}

[[nodiscard]] bool is_corpus(const job& j) { return j.case_name.starts_with("corpus/"); }

// Bugs of the corpus that wait for a part that is not there yet: a line each in models/cases/corpus/waiting.txt.
[[nodiscard]] unsigned count_waiting(const std::string& models_dir) {
  std::ifstream in(models_dir + "/cases/corpus/waiting.txt");
  unsigned n = 0;
  for (std::string text; std::getline(in, text);) n += !text.empty() && text[0] != '#' ? 1 : 0;
  return n;
}

// Of the executions with the outcome that the row speaks of, the first.
void print_litmus_execution(const json& r) {
  if (!r.contains("shown")) return;
  fmt::print("\n  execution {} has this outcome:\n", r["shown"].get<std::uint64_t>());
  print_counterexample(r);
}

}  // namespace

void print_counterexample(const json& r) {
  if (!r.contains("counterexample")) return;
  for (const json& text : r["counterexample"]) fmt::print("  {}\n", text.get<std::string>());
}

report::report(const options& o, const manifest& m, pinned_facts& pinned, pinned_ledger& ledger)
    : options_(o),
      manifest_(m),
      pinned_(pinned),
      ledger_(ledger),
      genmc_absent_(m.genmc.empty()),
      waiting_(count_waiting(m.models_dir)) {}

void report::operator()(job& j) {
  if (j.is_pinned) counted_.insert(j.case_name);
  if (j.result.contains("error") && j.engine != engine_name::genmc) {
    failed(j, fmt::format("ERROR {}: {}", j.label, j.result["error"].get<std::string>()));
  } else {
    switch (j.expect) {
      case job::expectation::pass: judge_search(j); break;
      case job::expectation::fail:
      case job::expectation::caught: judge_must_fail(j); break;
      case job::expectation::litmus: judge_litmus(j); break;
      case job::expectation::progress: judge_progress(j); break;
      case job::expectation::ledger: judge_ledger(j); break;
      case job::expectation::proof: judge_proof(j); break;
    }
  }
  std::fflush(stdout);
}

void report::judge_search(job& j) {
  if (j.engine == engine_name::genmc) return judge_genmc(j);
  heading("models", "every case on the shipped headers: by the exact engine to the end, then by the others");
  if (j.engine == engine_name::exact) models_[j.case_name] = j.about.is_null() ? json::object() : j.about;
  const json& r = j.result;
  const auto executions = r["executions"].get<std::uint64_t>();
  if (failed_in(r)) {
    if (j.engine == engine_name::exact) exact_failed_.insert(j.case_name);
    if (r.contains("bound")) j.replay = fmt::format("--search bounded --bound {}", r["bound"].get<unsigned>());
    failed(j,
           fmt::format("FAIL {} ({} {}): {}", failure_words(r, j.engine == engine_name::exact ? "graph" : "execution"),
                       to_text(j.engine), j.label, r["message"].get<std::string>()));
    print_counterexample(r);
    fmt::print("  replay: ./kit verify --case {} {} --execution {}\n", j.case_name, j.replay, executions);
    return;
  }
  if (r["how"] == "cut_short") {
    failed(j, fmt::format("FAIL {} search of {} not finished after {} {}: {}", j.label, to_text(j.engine), executions,
                          unit(j), r["message"].get<std::string>()));
    return;
  }
  const pinning pinned = compare_with_pinned(j);
  if (pinned == pinning::differs) return;
  passed(j, "PASS " + coverage_words(j) + (pinned == pinning::is_new ? ", not pinned" : ""));
  line(j.case_name, fmt::format("{:<17}", j.verdict),
       fmt::format("{:>9} {:<10} {:>6.2f} s  {}{}", executions, unit(j), r["seconds"].get<double>(), to_text(j.engine),
                   besides(r)));
}

// GenMC is asked for its verdict. Its counts are a comment on ours: where they differ, both are said, and it is no
// failure: GenMC leaves executions out, because it gives a failed compare-exchange the order of a successful one, and
// because it is stronger than C++20 where seq_cst accesses and fences mix.
void report::judge_genmc(job& j) {
  heading("models", "every case on the shipped headers: by the exact engine to the end, then by the others");
  const json& r = j.result;
  const std::string engine = "genmc " + j.label;
  if (r.contains("error")) {
    settle(j, job_outcome::remark, "no answer");
    line(j.case_name, "no answer        ", engine + ": " + r["error"].get<std::string>());
    return;
  }
  const auto executions = r["executions"].get<std::uint64_t>();
  const bool fails = failed_in(r);
  const bool cut_short = r["how"] == "cut_short";
  if (fails && !exact_failed_.contains(j.case_name)) {
    failed(j, fmt::format("FAIL by {} alone, {} after {} executions: {}", engine, r["what"].get<std::string>(),
                          executions, r["message"].get<std::string>()));
    return;
  }
  const auto exact = pinned_.count_of(j.case_name);
  std::string note = !exact                            ? ""
                     : exact->executions == executions ? "agrees"
                                                       : fmt::format("exact: {} graphs", exact->executions);
  if (fails || cut_short) note = r["message"];
  if (r["blocked"] != 0) note += fmt::format(" (+{} blocked)", r["blocked"].get<std::uint64_t>());
  if (fails || cut_short) {
    settle(j, job_outcome::remark, fails ? "FAIL too" : "unfinished");
  } else {
    passed(j, "PASS complete");
  }
  line(j.case_name, fmt::format("{:<17}", j.verdict),
       fmt::format("{:>9} {:<10} {:>6.2f} s  {} {}", executions, "executions", r["seconds"].get<double>(), engine,
                   note));
}

report::pinning report::compare_with_pinned(job& j) {
  if (!j.is_pinned) return pinning::as_pinned;
  const explored now = explored_by(j.result);
  if (options_.pin) {
    pinned_.set_count(j.case_name, now);
    return pinning::as_pinned;
  }
  const auto pinned = pinned_.count_of(j.case_name);
  if (pinned == now) return pinning::as_pinned;
  const bool may_block_more = !options_.waits_are_in_place() && j.engine == engine_name::exact;
  if (may_block_more && pinned && pinned->executions == now.executions && now.blocked >= pinned->blocked) {
    return pinning::as_pinned;
  }
  // A model that was asked for by name may be new, and is judged without a pinned count. In a whole run it may not.
  if (!pinned && options_.case_glob != "*") return pinning::is_new;
  failed(j, pinned ? fmt::format("FAIL {}: explored {} {}, pinned are {}: explain the change, then ./kit verify --pin",
                                 j.label, to_text(now), unit(j), to_text(*pinned))
                   : fmt::format("FAIL {}: explored {} {}, none pinned: ./kit verify --pin", j.label, to_text(now),
                                 unit(j)));
  return pinning::differs;
}

void report::judge_pinned_that_did_not_run() {
  for (const std::string& name : pinned_.counted_cases()) {
    if (!options_.wants(name) || counted_.contains(name)) continue;
    if (options_.pin) {
      pinned_.forget_count(name);
    } else {
      problem(name, "FAIL it is pinned, but did not run: is its case gone? Then ./kit verify --pin");
    }
  }
}

void report::judge_names() {
  if (manifest_.sources_dirs.empty()) return;
  const names_found found = names_of_operations(manifest_);
  heading("names",
          "every atomic operation of the sources has a name of its own, with its order, partner and consequence");
  for (const std::string& fault : found.faults) {
    const std::size_t space = fault.find(": ");
    problem(fault.substr(0, space), "UNNAMED " + fault.substr(space + 2));
  }
  if (found.operations == 0) problem("all sources", "UNNAMED no atomic operation was found in them");
  line("all sources", fmt::format("{} operations", found.operations),
       fmt::format("{} of them are reached by no model and say so", found.unmodelled));
}

report::mutants_by_case report::mutants_of_cases() const {
  mutants_by_case mutants;
  for (const source_mutant& mutant : manifest_.mutants) {
    for (const auto& [name, how] : mutant.killers) mutants.some.insert(name);
    if (mutant.killers.size() == 1) mutants.alone.emplace(mutant.killers.begin()->first, mutant.name);
  }
  for (const auto& [name, about] : models_) {
    if (about.contains("seeded_bug_beside")) mutants.alone.emplace(name, about["seeded_bug_beside"]);
  }
  return mutants;
}

std::set<std::string> report::cases_of_ledger() const {
  std::set<std::string> cases;
  for (const auto& [stem, rows] : ledger_.by_stem()) {
    for (const json& row : rows) {
      if (row["verdict"] != "redundant") cases.insert(row["case"]);
    }
  }
  return cases;
}

void report::judge_who_kills() {
  const mutants_by_case mutants = mutants_of_cases();
  const std::set<std::string> in_ledger = cases_of_ledger();
  unsigned alone = 0;
  unsigned shared = 0;
  unsigned none = 0;
  for (const auto& [name, about] : models_) {
    const std::string kept_for = about.value("kept_for", "");
    if (const auto mutant = mutants.alone.find(name); mutant != mutants.alone.end()) {
      ++alone;
      if (!kept_for.empty()) {
        problem(name, "FAIL it says what it is kept for although it has a mutant of its own: " + mutant->second);
      }
    } else if (kept_for.empty()) {
      // Somebody may try a new model.
      if (options_.case_glob != "*" && !pinned_.count_of(name)) continue;
      problem(name,
              "FAIL no mutant is killed by this case alone: write one, or say what the case is there for (.kept_for)");
    } else if (mutants.some.contains(name) || in_ledger.contains(name) ||
               !about.value("mutants", json::array()).empty()) {
      ++shared;
    } else {
      ++none;
      line(name, "kills no mutant", kept_for);
    }
  }
  if (mutants_ == 0) return;
  line("who kills",
       fmt::format(
           "{} cases kill a mutant alone; {} kill what others kill, too, {} nothing, and say what they are kept for",
           alone, shared, none),
       fmt::format("(of {}; cases that are not pinned for a mutant: {} searches to the end, {} cut off, so undecided)",
                   models_.size(), unnoticed_, undecided_));
}

bool report::dies_as_pinned(job& j) {
  std::map<std::string, std::string> missing = j.about["killers"];
  std::vector<std::string> faults;
  for (const json& c : j.result["cases"]) {
    const std::string name = c["case"];
    const std::string how = c["what"];
    const auto named = missing.find(name);
    const bool is_named = named != missing.end();
    const std::string wanted = is_named ? named->second : "none";
    if (is_named) missing.erase(named);
    if (how == wanted) continue;
    faults.push_back(how == "none" ? name + (c["how"] == "cut_short" ? " is undecided: its search was cut off"
                                                                     : " does not notice it")
                     : is_named    ? fmt::format("{} fails by \"{}\", not by \"{}\"", name, how, wanted)
                                   : fmt::format("{} ({}) notices it, too, which is not pinned", name, how));
  }
  for (const auto& [name, how] : missing) faults.push_back(name + " is pinned, which is no case");
  if (faults.empty()) return true;
  failed(j, fmt::format("KILLED otherwise than is pinned: {}; is that right? Then ./kit verify --mutant {} --pin",
                        fmt::join(faults, "; "), j.case_name.substr(j.case_name.find('/') + 1)));
  return false;
}

void report::count_killers(const job& j) {
  pinned_facts::killers seen;
  for (const json& c : j.result["cases"]) {
    if (c["what"] != "none") {
      seen.emplace_back(c["case"], c["what"]);
    } else {
      ++(c["how"] == "cut_short" ? undecided_ : unnoticed_);
    }
  }
  if (options_.pin) pinned_.set_killers(j.case_name, std::move(seen));
}

void report::judge_must_fail(job& j) {
  const bool bug = j.expect == job::expectation::caught;
  unsigned& all = is_corpus(j) ? corpus_ : bug ? bugs_ : mutants_;
  unsigned& dead = is_corpus(j) ? corpus_caught_ : bug ? caught_ : killed_;
  ++all;
  if (bug) {
    heading("seeded bugs", "programs that are wrong on purpose, most of them bugs from history: each must be caught");
  } else {
    heading("mutants", "the shipped headers with one order weakened or one step changed: each must be killed");
  }
  const json& exact = j.result;
  const json& relacy = exact["relacy"];
  if (!failed_in(exact)) {
    failed(j, fmt::format("SURVIVED {}: {} graphs, {}{}", j.label, exact["executions"].get<std::uint64_t>(),
                          exact["how"] == "exhaustive" ? "all there are" : exact["message"].get<std::string>(),
                          failed_in(relacy) ? "; but Relacy: " + failure_words(relacy, "execution") : ""));
    return;
  }
  if (j.about.contains("killers")) {
    count_killers(j);
    if (!options_.pin && !dies_as_pinned(j)) return;
  }
  ++dead;
  settle(j, job_outcome::killed, bug ? "CAUGHT" : "KILLED");
  line(j.case_name, fmt::format("{} {:<24}", bug ? "CAUGHT" : "KILLED", bug ? "" : j.label),
       fmt::format(
           "{:<34} {}  (relacy: {})", j.changed, failure_words(exact, "graph"),
           failed_in(relacy) ? fmt::format("execution {}", relacy["executions"].get<std::uint64_t>()) : "not noticed"));
  if (!options_.mutant_glob.empty()) print_counterexample(exact);
}

void report::judge_litmus(job& j) {
  if (litmus_++ == 0) {
    heading("litmus", "what C++20 allows, and what each engine shows: how far a PASS can be trusted (docs/limits.md)");
    if (!options_.names_one_case()) fmt::print("  --case litmus/SHAPE prints an execution that has the outcome\n");
    fmt::print("  {:<34} {:>7}  {:<10} {:<10} {:<15} {:<10}\n", "shape", "outcome", "C++20", "exact", "load buffering",
               "relacy");
  }
  const json& question = j.about["litmus"];
  const std::string outcome = question["outcome"];
  const auto words = [](bool yes) { return yes ? "shown" : "not shown"; };
  const bool allowed = question["cpp20"];
  const bool exact = shows(j.result["exact"], outcome);
  const bool buffering = shows(j.result["load buffering"], outcome);
  const bool relacy = shows(j.result["relacy"], outcome);
  std::string note;
  if (relacy != allowed) note = relacy ? "relacy: false alarm, known" : "relacy: blind spot, known";
  // With load buffering the exact engine shows exactly what C++20 allows; without it, all of that but load buffering.
  if (exact != question["exact"] || relacy != question["relacy"] || buffering != allowed) {
    note = "NOT AS PINNED: the table in docs/limits.md is wrong";
    settle(j, job_outcome::failed, note);
    ++failures_;
  } else {
    settle(j, job_outcome::as_expected, note.empty() ? "as C++20" : note);
    ++calibrated_;
  }
  fmt::print("  {:<34} {:>7}  {:<10} {:<10} {:<15} {:<10} {}\n", j.case_name.substr(j.case_name.find('/') + 1), outcome,
             allowed ? "allowed" : "forbidden", words(exact), words(buffering), words(relacy), note);
  if (options_.names_one_case()) print_litmus_execution(exact ? j.result["exact"] : j.result["load buffering"]);
}

void report::judge_progress(job& j) {
  heading("progress", "any one thread frozen for ever at any of its steps: do the others still finish?");
  const json& r = j.result;
  const std::string claim = j.about["progress"];
  const bool finish = r["others_always_finish"];
  const std::string effort = fmt::format("{:>4} searches {:>6} graphs", r["searches"].get<std::uint64_t>(),
                                         r["executions"].get<std::uint64_t>());
  const std::string stuck = finish ? ""
                                   : fmt::format("T{} frozen after {} steps: {}", r["thread"].get<int>(),
                                                 r["step"].get<unsigned>(), failure_words(r, "graph"));
  if (claim == "blocking" && !finish && r["what"] != "deadlock") {
    failed(j, "FAIL claimed to block, which shows as a deadlock, but with " + stuck);
    print_counterexample(r);
    return;
  }
  if (finish != (claim == "lock-free")) {
    failed(j, finish ? "FAIL claimed to block, but the others always finish; " + effort
                     : "FAIL claimed to be lock-free, but with " + stuck);
    print_counterexample(r);
    return;
  }
  passed(j, "PASS " + claim);
  line(j.case_name, fmt::format("{:<17}", j.verdict), fmt::format("{}  {}", effort, stuck));
}

void report::judge_ledger(job& j) {
  heading("ledger", "every order of the headers, weakened by every step (evidence/memory-orders.md)");
  const json& rows = j.result["rows"];
  const std::string header = header_of(manifest_.cases, j.case_name);
  unsigned killed = 0;
  unsigned buffering = 0;
  unsigned redundant = 0;
  for (const json& row : rows) {
    ++(row["verdict"] == "killed" ? killed : row["verdict"] == "redundant" ? redundant : buffering);
  }
  orders_killed_ += killed;
  orders_killed_load_buffering_ += buffering;
  orders_redundant_ += redundant;
  for (const json& hole : j.result["holes"]) {
    ++holes_;
    problem(header, "HOLE " + hole.get<std::string>());
  }
  if (options_.update_ledger) {
    ledger_.set(j.case_name, rows);
  } else {
    for (const std::string& difference : ledger_.differences(j.case_name, rows)) {
      problem(header, "CHANGED " + difference + ": explain it, then ./kit verify --update-ledger");
    }
  }
  line(header, fmt::format("{:>2} weakenings", rows.size()),
       fmt::format("{:>2} killed, {} killed under load buffering, {} redundant and kept for a reason", killed,
                   buffering, redundant));
}

void report::judge_proof(job& j) {
  heading("proof", "whether it speaks of the lines that the header has (docs/proof.md; ./kit prove checks the proofs)");
  if (const std::string untied = j.result["message"]; !untied.empty()) return failed(j, "FAIL " + untied);
  passed(j, "PASS as proved");
  line(j.case_name, j.verdict, fmt::format("   {:>9} lines", j.result["lines"].get<unsigned>()));
}

void report::finish(std::size_t done, std::size_t planned, double seconds) {
  const bool all_searches = options_.engine.empty() && options_.mutant_glob.empty() && options_.shard.empty();
  if (all_searches && done == planned) {
    judge_who_kills();
    judge_pinned_that_did_not_run();
  }
  if (options_.mutant_glob.empty() && options_.shard.empty()) judge_names();
  if (options_.whole() && done == planned && !options_.update_ledger && !ledger_.page_is_current()) {
    problem("evidence/memory-orders.md", "STALE it does not follow from the pinned rows: ./kit verify --update-ledger");
  }
  if (options_.whole() && genmc_absent_) fmt::print("\nengine genmc: absent (not on the PATH)\n");
  if (done != planned) fmt::print("\ninterrupted: {} of {} jobs done, {} failed so far\n", done, planned, failures_);
  fmt::print("\nverify: {} searches passed", passed_);
  if (litmus_ != 0) fmt::print(", litmus as expected {}/{}", calibrated_, litmus_);
  if (corpus_ != 0) fmt::print(", corpus {}/{} caught ({} without a case)", corpus_caught_, corpus_, waiting_);
  if (bugs_ != 0) fmt::print(", other seeded bugs caught {}/{}", caught_, bugs_);
  if (mutants_ != 0) fmt::print(", mutants killed {}/{}", killed_, mutants_);
  if (const unsigned weakenings = orders_killed_ + orders_killed_load_buffering_ + orders_redundant_; weakenings != 0) {
    fmt::print(", {} weakenings of orders ({} killed, {} under load buffering, {} redundant, {} holes)", weakenings,
               orders_killed_, orders_killed_load_buffering_, orders_redundant_, holes_);
  }
  fmt::print(", {} failed, {:.1f} s\n", failures_, seconds);
}

void report::heading(const std::string& title, const std::string& text) {
  if (title == last_heading_) return;
  fmt::print("{}{}: {}\n", last_heading_.empty() ? "" : "\n", title, text);
  last_heading_ = title;
  last_name_.clear();
}

void report::line(const std::string& name, const std::string& verdict, const std::string& rest) {
  fmt::print("  {:<34} {} {}\n", name == last_name_ ? "" : name, verdict, rest);
  last_name_ = name;
}

void report::settle(job& j, job_outcome outcome, const std::string& verdict) {
  j.outcome = outcome;
  j.verdict = verdict;
}

void report::passed(job& j, const std::string& verdict) {
  ++passed_;
  settle(j, job_outcome::passed, verdict);
}

void report::failed(job& j, const std::string& verdict) {
  settle(j, job_outcome::failed, verdict);
  // A ledger is not among the searches of the pages.
  if (j.expect == job::expectation::ledger) return problem(j.case_name, verdict);
  print_failure(j.case_name, verdict);
}

void report::problem(const std::string& name, const std::string& what) {
  problems_.push_back({{"about", name}, {"what", what}});
  print_failure(name, what);
}

void report::print_failure(const std::string& name, const std::string& what) {
  ++failures_;
  last_name_.clear();
  line(name, what, "");
  last_name_.clear();
}

void report::show(job& j) {
  const json& r = j.result;
  const bool fails = failed_in(r);
  const bool cut_short = options_.execution == 0 && r["how"] == "cut_short";
  const auto executions = r["executions"].get<std::uint64_t>();
  const std::string found = fails       ? r["what"].get<std::string>() + ": " + r["message"].get<std::string>()
                            : cut_short ? "not finished: " + r["message"].get<std::string>()
                                        : "passes";
  if (fails || cut_short) {
    ++failures_;
    settle(j, job_outcome::failed, "FAIL " + found);
  } else {
    passed(j, "PASS " + (options_.execution != 0 ? "this execution" : coverage_words(j)));
  }
  if (!r.contains("counterexample")) {
    fmt::print("{}: no counterexample in {} {} ({})\n", j.case_name, executions, unit(j),
               cut_short ? found : r["how"].get<std::string>());
    return;
  }
  fmt::print("{} {} {}: {}\n", j.case_name, j.engine == engine_name::exact ? "graph" : "execution", executions, found);
  print_counterexample(r);
}

json report::to_json(const std::vector<job>& jobs) const {
  json searches = json::array();
  for (const job& j : jobs) {
    if (j.expect == job::expectation::ledger || j.outcome == job_outcome::none)
      continue;  // without an outcome: interrupted
    json entry = {{"case", j.case_name},  {"search", j.label},   {"engine", j.engine}, {"label", j.label},
                  {"changed", j.changed}, {"replay", j.replay},  {"result", j.result}, {"expect", j.expect},
                  {"outcome", j.outcome}, {"verdict", j.verdict}};
    if (j.about.contains("property")) entry["property"] = j.about["property"];
    if (j.about.contains("litmus")) entry["litmus"] = j.about["litmus"];
    searches.push_back(std::move(entry));
  }
  json rows = json::array();
  for (const auto& [stem, of_stem] : ledger_.by_stem()) {
    for (json row : of_stem) {
      row["header"] = header_of(manifest_.cases, stem);
      rows.push_back(std::move(row));
    }
  }
  return {{"version", RUNQ_VERSION_TEXT},
          {"compiler", __VERSION__},
          {"budget", options_.budget},
          {"searches", searches},
          {"problems", problems_},
          {"failed", failures_},
          {"ledger", rows}};
}

}  // namespace runq::model
