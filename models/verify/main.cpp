// SPDX-License-Identifier: MIT
// The runner behind ./kit verify: decides which searches to make, starts a worker process for each, judges what they
// found, and prints. It alone owns verdict words, exit status, progress, replay lines and what is pinned.
#include <algorithm>
#include <chrono>
#include <fstream>
#include <span>
#include <sstream>
#include <stdexcept>
#include <thread>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "build.hpp"
#include "effort.hpp"
#include "html.hpp"
#include "jobs.hpp"
#include "noted_orders.hpp"
#include "pinned.hpp"
#include "plan.hpp"
#include "report.hpp"
#include "shares.hpp"

namespace {

using namespace runq::model;  // NOLINT(google-build-using-namespace): a main file of this namespace's program
using json = nlohmann::json;
using clock_type = std::chrono::steady_clock;

// Adds the options to the parser, as the lines of their table say.
class added_option {
 public:
  added_option(CLI::App& app, options& to, const char* name, const char* takes, const char* help)
      : app_(app), to_(to), name_(name), takes_(takes), help_(help) {}

  CLI::Option* flag(bool& to) { return app_.add_flag(name_, to, help_); }
  template <class T>
  CLI::Option* value(T& to) {
    return described(app_.add_option(name_, to, help_));
  }
  CLI::Option* search() {
    const auto take = [&to = to_](const std::string& kind) { to.search_given = true, json(kind).get_to(to.search); };
    return described(app_.add_option_function<std::string>(name_, take, help_));
  }
  CLI::Option* ignored() { return app_.add_option(name_)->description(help_)->expected(1); }

 private:
  CLI::Option* described(CLI::Option* option) {
    option->type_name(takes_)->option_text(takes_);
    std::vector<std::string> words;
    std::istringstream all(takes_);
    for (std::string word; std::getline(all, word, '|');) words.push_back(word);
    return words.size() < 2 ? option : option->check(CLI::IsMember(words));
  }

  CLI::App& app_;
  options& to_;
  const char* name_;
  const char* takes_;
  const char* help_;
};

void add_options(CLI::App& app, options& to) {
  to.jobs = std::max(1U, std::thread::hardware_concurrency());
#define OPTION(name, takes, kit, read, help)         \
  {                                                  \
    added_option option(app, to, name, takes, help); \
    [[maybe_unused]] options& o = to;                \
    option.read;                                     \
  }
#define INTERNAL_OPTION(name, takes, kit, read, help) \
  OPTION(name, takes, kit, read, help)                \
  app.get_option(name)->group("");
#define KIT_OPTION(name, takes, kit, read, help)
#define TOOL_OPTION(name, takes, kit, read, help)
#include "options_table.hpp"
#undef OPTION
#undef INTERNAL_OPTION
#undef KIT_OPTION
#undef TOOL_OPTION
  app.get_option("--merge")->excludes("--shard");
}

int print_lines(const std::vector<std::string>& lines) {
  for (const std::string& line : lines) fmt::print("{}\n", line);
  return 0;
}

int list(const json& cases) {
  for (const json& c : cases) {
    fmt::print("{:<40} {}\n", c["name"].get<std::string>(), c["property"].get<std::string>());
    if (c.contains("kept_for")) fmt::print("{:<40} (kept for: {})\n", "", c["kept_for"].get<std::string>());
  }
  return 0;
}

void write_results(const options& o, const std::vector<job>& jobs, const report& judge, const json& shard) {
  if (o.json_file.empty() && o.html_dir.empty()) return;
  json all = judge.to_json(jobs);
  if (!shard.is_null()) all["shard"] = shard;
  if (!o.json_file.empty()) {
    std::ofstream out(o.json_file);
    out << all.dump(1) << "\n";
    out.close();
    if (!out) usage_error("cannot write " + o.json_file);
  }
  if (o.html_dir.empty()) return;
  try {
    write_html(o.html_dir, all);
    fmt::print("pages: {}/index.html\n", o.html_dir);
  } catch (const std::runtime_error& e) {
    usage_error(e.what());
  }
}

// One case, one search, one execution, shown whether it passes or fails.
int show_one(const options& o, const manifest& m, const json& cases, report& judge) {
  std::vector<job> jobs{plan_one(o, m, cases)};
  run_all(jobs, 1, [](job&) {});
  const json& r = jobs[0].result;
  if (r.contains("error")) usage_error(r["error"]);
  if (!r.contains("counterexample") && o.execution != 0) {
    usage_error(fmt::format("the search ended before execution {}", o.execution));
  }
  judge.show(jobs[0]);
  write_results(o, jobs, judge, {});
  return judge.red() ? 1 : 0;
}

// If there are fewer searches than processes, each complete search gets several: its counts are the same then.
void spread(std::vector<job>& jobs, unsigned width) {
  const auto each = jobs.empty() ? 1 : static_cast<unsigned>(width / jobs.size());
  if (each < 2) return;
  for (job& j : jobs) {
    if (search_request* const search = search_of(j, search_kind::exhaustive)) search->jobs = each;
  }
}

// The ledgers, which the plan has at its end, come after all searches: they ask which orders each case uses, and the
// searches find that out.
[[nodiscard]] std::size_t run_searches_then_ledgers(std::vector<job>& jobs, unsigned width, report& judge) {
  const auto judged = [&](job& j) { judge(j); };
  const auto first =
      std::find_if(jobs.begin(), jobs.end(), [](const job& j) { return j.expect == job::expectation::ledger; });
  const std::span searches(jobs.begin(), first);
  const std::span ledgers(first, jobs.end());
  const std::size_t done = run_all(searches, width, judged);
  const noted_orders_file orders(searches, ledgers);
  return done == searches.size() ? done + run_all(ledgers, width, judged) : done;
}

[[noreturn]] void nothing_to_do(const options& o) {
  if (o.mutant_glob.empty()) usage_error("no case matches '" + o.case_glob + "'; ./kit verify --list names them");
  usage_error("no mutant matches '" + o.mutant_glob + "'" +
              (o.case_glob == "*" ? "" : " in the cases that match '" + o.case_glob + "'") +
              (o.wants_engine(engine_name::exact) ? "" : ": mutants are searched for by the engine exact") +
              "; ./kit verify names them in its section 'mutants'");
}

// Makes the searches that the options ask for, or takes their results from files; judges and prints each.
std::vector<job> run_or_merge(options& o, const manifest& m, const json& cases, const pinned_facts& pinned,
                              const pinned_ledger& ledger, report& judge, json& shard) {
  if (!o.merge.empty()) {
    merged_run run = merge_shares(o, m, cases);
    for (job& j : run.jobs) judge(j);
    judge.finish(run.jobs.size(), run.jobs.size(), run.seconds);
    return std::move(run.jobs);
  }
  const auto started = clock_type::now();
  std::vector<job> jobs = plan(o, m, cases);
  if (jobs.empty()) nothing_to_do(o);
  std::vector<std::string> planned;
  if (!o.shard.empty()) {
    planned = names_of(jobs);
    jobs = jobs_of(parse_share(o.shard), std::move(jobs));
  }
  spread(jobs, o.jobs);
  estimate(jobs, pinned, ledger);
  const std::size_t done = run_searches_then_ledgers(jobs, o.jobs, judge);
  const double seconds = std::chrono::duration<double>(clock_type::now() - started).count();
  judge.finish(done, jobs.size(), seconds);
  if (!o.shard.empty()) shard = describe_share(o, m, planned, jobs, done, seconds);
  return jobs;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"Model-checks the queues: every case, every mutant, the litmus calibration, the order ledger"};
  options o;
  add_options(app, o);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? 0 : 2;  // --help ends with 0
  }
  if (!o.shard.empty() && (o.pin || o.update_ledger)) {
    usage_error("what is pinned is updated from the whole: with --merge, not with --shard");
  }
  if ((o.pin || o.update_ledger) && !o.waits_are_in_place()) {
    usage_error("what is pinned is what is seen without --waits-in-place off");
  }

  const manifest m = read_manifest(RUNQ_MANIFEST);
  if (o.names) return print_lines(names_of_operations(m).faults);
  // First the cases; once they are known, the deliberate bugs that they must notice.
  if (o.build) build_targets(m, cases_targets(o, m));
  const json cases = cases_of(o, m);
  if (o.build) build_targets(m, mutant_targets(o, m, cases));
  if (o.list) return list(cases);

  catch_interrupt();
  pinned_facts pinned(m.cases, m.models_dir);
  pinned_ledger ledger(m.cases, m.models_dir, m.evidence_dir);
  report judge(o, m, pinned, ledger);
  if (o.shows_one()) return show_one(o, m, cases, judge);
  json shard;
  const std::vector<job> jobs = run_or_merge(o, m, cases, pinned, ledger, judge, shard);
  if (o.pin) pinned.write();
  if (o.update_ledger) ledger.write();
  write_results(o, jobs, judge, shard);
  if (was_interrupted()) return 130;
  return judge.red() ? 1 : 0;
}
