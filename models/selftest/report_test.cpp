// SPDX-License-Identifier: MIT
// One judgement: the text, the --json file and the data of the --html pages of a run say the same of every search.
#include "report.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <string>
#include <system_error>
#include <vector>

#include <gtest/gtest.h>
#include <stdlib.h>

#include "effort.hpp"
#include "html.hpp"
#include "html/describe.hpp"
#include "html/execution.hpp"
#include "shares.hpp"

namespace runq::model {
namespace {

namespace fs = std::filesystem;
using json = nlohmann::json;
using expectation = job::expectation;

json found(const char* what, const char* how, unsigned executions = 7) {
  return {{"how", how},   {"what", what},    {"message", "of the test"},  {"executions", executions},
          {"blocked", 0}, {"seconds", 0.25}, {"outcomes", json::array()}, {"where", "ring.hpp:1"}};
}

job search(const char* name, const char* engine, const char* label, json result) {
  job j;
  j.case_name = name;
  j.engine = json(engine).get<engine_name>();
  j.label = label;
  j.result = std::move(result);
  j.is_pinned = j.label == "exhaustive";
  return j;
}

job must_fail(const char* name, const char* label, const char* what) {
  json result = found(what, "exhaustive");
  result["by"] = name;
  result["relacy"] = found("none", "sampled");
  job j = search(name, "exact", label, std::move(result));
  j.expect = j.label == "seeded bug" ? expectation::caught : expectation::fail;
  return j;
}

job progress(const char* name, const char* claim, bool others_always_finish) {
  // As the worker says it: a search that found nothing has no counterexample, and its fields are those of no search.
  json result = found(others_always_finish ? "none" : "deadlock", "cut_short", 40);
  result.update({{"others_always_finish", others_always_finish}, {"thread", 1}, {"step", 2}, {"searches", 12}});
  job j = search(name, "exact", "progress", std::move(result));
  j.expect = expectation::progress;
  j.about["progress"] = claim;
  return j;
}

job litmus(const char* name, bool shown) {
  const auto by_engine = [&](bool yes) {
    json r = found("none", "exhaustive");
    if (yes) r["outcomes"] = {"0 0"};
    return r;
  };
  job j = search(name, "all", "litmus",
                 {{"exact", by_engine(shown)}, {"load buffering", by_engine(true)}, {"relacy", by_engine(true)}});
  j.expect = expectation::litmus;
  j.about["litmus"] = {{"outcome", "0 0"}, {"cpp20", true}, {"relacy", true}, {"exact", true}};
  return j;
}

job ledger(const char* stem, json result) {
  job j = search(stem, "exact", "ledger", std::move(result));
  j.expect = expectation::ledger;
  return j;
}

/// What one run said, in its three ways.
struct said {
  std::string text;
  json results;
  json page;  ///< the data of the index

  [[nodiscard]] bool page_says(const std::string& words) const { return page.dump().find(words) != std::string::npos; }
};

/// What the script of a page draws.
json page_data(const fs::path& page) {
  const std::string html = read_file(page);
  const std::string begin = "id=\"data\">";
  const std::size_t from = html.find(begin) + begin.size();
  return json::parse(html.substr(from, html.find("</script>", from) - from));
}

/// A folder that no other test, and no other run of this test, uses.
class own_folder {
 public:
  own_folder() {
    std::string name = (fs::path(testing::TempDir()) / "runq_report_XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw std::system_error(errno, std::generic_category(), "mkdtemp");
    path_ = name;
  }
  own_folder(const own_folder&) = delete;
  own_folder& operator=(const own_folder&) = delete;
  ~own_folder() { fs::remove_all(path_); }

  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

class judgements : public testing::Test {
 protected:
  judgements() {
    fs::create_directories(dir_ / "ring");
    fs::create_directories(dir_ / "cases");
    pin("ring/pinned 7\nring/other 8\n");
  }
  // `glob`: the cases that were asked for; of those that are pinned all must have run.
  said judge(std::vector<job> jobs, const std::string& glob = "ring/pinned of another run") {
    options o;
    o.case_glob = glob;
    return judge(std::move(jobs), o);
  }
  said judge(std::vector<job> jobs, const options& o) {
    manifest m;
    m.models_dir = dir_;
    for (const auto& [name, killers] : mutants_) {
      m.mutants.push_back({"ring/" + name, {}, "", "", "", killers});
    }
    pinned_facts pinned({{"ring", {dir_ / "ring", "", ""}}}, dir_);
    pinned_ledger orders({{"ring", {dir_ / "ring", "", "ring.hpp"}}}, dir_, dir_);
    report judge(o, m, pinned, orders);
    testing::internal::CaptureStdout();
    for (job& j : jobs) judge(j);
    judge.finish(jobs.size(), jobs.size(), 1.0);
    if (o.pin) pinned.write();
    said all;
    all.text = testing::internal::GetCapturedStdout();
    all.results = judge.to_json(jobs);
    write_html(dir_ / "pages", all.results);
    all.page = page_data(dir_ / "pages/index.html");
    EXPECT_EQ(judge.red(), number(all.text, "([0-9]+) failed,") != 0);
    return all;
  }

  static unsigned number(const std::string& in, const std::string& pattern) {
    std::smatch match;
    if (!std::regex_search(in, match, std::regex(pattern))) return 0;
    return static_cast<unsigned>(std::stoul(match[1]));
  }
  static unsigned count(const json& results, const std::string& outcome) {
    unsigned n = 0;
    for (const json& s : results["searches"]) n += s["outcome"] == outcome ? 1 : 0;
    return n;
  }
  // `passed` of `judged` searches, and `failed` failures in all.
  void expect_all_say(const said& s, unsigned passed, unsigned judged, unsigned failed) {
    EXPECT_EQ(number(s.text, "verify: ([0-9]+) searches passed"), passed) << s.text;
    EXPECT_EQ(number(s.text, "([0-9]+) failed, [0-9.]+ s"), failed) << s.text;
    EXPECT_EQ(count(s.results, "passed"), passed) << s.results;
    EXPECT_EQ(count(s.results, "failed") + s.results["problems"].size(), failed) << s.results;
    EXPECT_EQ(s.results["failed"], failed);
    EXPECT_EQ(s.page["totals"]["searches"], json({passed, judged}));
    EXPECT_EQ(s.page["totals"]["failed"], failed);
  }

  void pin(const std::string& counts) const { std::ofstream(dir_ / "cases/pinned.txt") << counts; }
  [[nodiscard]] std::string pinned() const { return read_file(dir_ / "cases/pinned.txt"); }
  void write_table(const std::string& text) const { std::ofstream(dir_ / "ring/ring.mutants") << text; }
  [[nodiscard]] std::string table() const { return read_file(dir_ / "ring/ring.mutants"); }

  own_folder folder_;
  const fs::path dir_ = folder_.path();
  // Whom the mutants of the manifest name.
  std::map<std::string, std::map<std::string, std::string>> mutants_{{"of_pinned", {{"ring/pinned", "lost"}}},
                                                                     {"of_other", {{"ring/other", "lost"}}},
                                                                     {"of_new", {{"ring/new", "lost"}}}};
};

TEST_F(judgements, the_page_of_a_history_that_no_order_explains_has_its_calls) {
  json r = found("not linearizable", "exhaustive");
  r["trace"] = json::array({{{"kind", "load"}, {"thread", 0}}, {{"kind", "load"}, {"thread", 1}}});
  r["calls"] = json::array(
      {{{"thread", -1}, {"text", "append 1"}, {"after", json::array()}, {"begin", 0}, {"end", 1}},
       {{"thread", 0}, {"text", "take → 1"}, {"after", {0}}, {"begin", 2}, {"end", 3}, {"first", 0}, {"last", 0}},
       {{"thread", 1}, {"text", "take → <1>"}, {"after", {0}}, {"begin", 2}, {"end", 3}, {"first", 0}, {"last", 1}}});
  r["explained_calls"] = {0, 1};
  r["wrong_calls"] = {2};
  (void)judge({search("ring/pinned", "exact", "exhaustive", r)});
  const json shown = page_data(dir_ / "pages/ring-pinned-exhaustive.html")["search"]["result"];
  for (const char* key : {"calls", "explained_calls", "wrong_calls"}) EXPECT_EQ(shown[key], r[key]);
}

TEST_F(judgements, no_text_of_a_result_ends_the_data_of_its_page) {
  const std::string text = "</script><script>alert(1)</script><!-- <script> \\u003c \" & @DATA@ \xff";
  json r = found("check failed", "exhaustive");
  r["message"] = text;
  r["trace"] = json::array({{{"kind", "load"}, {"thread", 0}, {"text", text}}});
  (void)judge({search("ring/pinned", "exact", "exhaustive", r)});
  const std::string replaced = text.substr(0, text.size() - 1) + "\ufffd";
  const json timeline = page_data(dir_ / "pages/ring-pinned-exhaustive.html");
  EXPECT_EQ(timeline["search"]["result"]["message"], replaced);
  EXPECT_EQ(timeline["steps"][0]["source"], replaced);
  EXPECT_EQ(page_data(dir_ / "pages/index.html")["searches"][0]["result"]["message"], replaced);
  EXPECT_EQ(read_file(dir_ / "pages/index.html").find("<!-- <script>"), std::string::npos);
}

TEST_F(judgements, what_passes_passes_on_the_page) {
  expect_all_say(judge({search("ring/pinned", "exact", "exhaustive", found("none", "exhaustive")),
                        search("ring/pinned", "relacy", "random", found("none", "sampled")),
                        progress("ring/pinned", "lock-free", true), progress("ring/lock", "blocking", false)}),
                 4, 4, 0);
}

TEST_F(judgements, a_count_that_is_not_pinned_fails_on_the_page) {
  expect_all_say(judge({search("ring/pinned", "exact", "exhaustive", found("none", "exhaustive")),
                        search("ring/other", "exact", "exhaustive", found("none", "exhaustive")),
                        search("ring/new", "exact", "exhaustive", found("none", "exhaustive"))},
                       "*"),
                 1, 3, 3);  // the third: a whole run also wants evidence/memory-orders.md, which is not here
}

TEST_F(judgements, a_new_case_that_was_asked_for_passes_and_is_not_pinned) {
  const said s = judge({search("ring/new", "exact", "exhaustive", found("none", "exhaustive"))}, "ring/new");
  expect_all_say(s, 1, 1, 0);
  EXPECT_NE(s.text.find("PASS exhaustive, not pinned"), std::string::npos) << s.text;
  EXPECT_TRUE(s.page_says("PASS exhaustive, not pinned"));
}

TEST_F(judgements, a_pinned_case_that_did_not_run_fails) {
  const said s = judge({search("ring/pinned", "exact", "exhaustive", found("none", "exhaustive"))}, "ring/*");
  expect_all_say(s, 1, 1, 1);
  EXPECT_NE(s.text.find("ring/other"), std::string::npos) << s.text;
  EXPECT_TRUE(s.page_says("did not run"));
  expect_all_say(judge({search("ring/pinned", "exact", "exhaustive", found("none", "exhaustive"))}, "ring/p*"), 1, 1,
                 0);
}

// Relacy's number of executions follows from its limit, so that it is not pinned; how far it came is said.
TEST_F(judgements, a_search_by_relacy_says_its_bound_and_is_not_pinned) {
  job j = search("ring/pinned", "relacy", "widening", found("none", "bounded"));
  j.result["bound"] = 3;
  const said passes = judge({j});
  expect_all_say(passes, 1, 1, 0);
  EXPECT_NE(passes.text.find("PASS bounded 3"), std::string::npos) << passes.text;
  j.result["what"] = "lost";
  const said fails = judge({j});
  expect_all_say(fails, 0, 1, 1);
  EXPECT_NE(fails.text.find("--case ring/pinned --search bounded --bound 3 --execution 7"), std::string::npos)
      << fails.text;
}

TEST_F(judgements, an_update_of_some_counts_keeps_the_others) {
  pin("# The head of the file.\nall_empty/other 1\n## A note.\nring/other 8 +2\nring/pinned 6\n");
  options o;
  o.pin = true;
  o.case_glob = "ring/pinned";
  judge({search("ring/pinned", "exact", "exhaustive", found("none", "exhaustive"))}, o);
  EXPECT_TRUE(pinned().ends_with("\n\nall_empty/other 1\n\n## A note.\nring/other 8 +2\nring/pinned 7\n")) << pinned();
}

TEST_F(judgements, an_update_forgets_cases_that_are_gone_also_the_last_of_a_stem) {
  options o;
  o.pin = true;
  o.case_glob = "*";
  judge({search("ring/pinned", "exact", "exhaustive", found("none", "exhaustive"))}, o);
  EXPECT_EQ(pinned().find("ring/other"), std::string::npos) << pinned();
  judge({}, o);
  EXPECT_EQ(pinned().find("ring/pinned"), std::string::npos) << pinned();
}

TEST_F(judgements, blocked_executions_are_pinned_too) {
  json result = found("none", "exhaustive");
  result["blocked"] = 3;
  const said s = judge({search("ring/pinned", "exact", "exhaustive", result)});
  expect_all_say(s, 0, 1, 1);
  EXPECT_NE(s.text.find("explored 7 +3 graphs, pinned are 7"), std::string::npos) << s.text;
  pin("ring/pinned 7 +3\n");
  expect_all_say(judge({search("ring/pinned", "exact", "exhaustive", result)}), 1, 1, 0);
}

TEST_F(judgements, where_waits_block_no_fewer_executions_may_block_than_are_pinned) {
  pin("ring/pinned 7 +3\n");
  options o;
  o.case_glob = "ring/p*";
  o.waits_in_place = "off";
  for (const unsigned blocked : {2U, 3U, 4U}) {
    json result = found("none", "exhaustive");
    result["blocked"] = blocked;
    const unsigned passes = blocked < 3 ? 0 : 1;
    expect_all_say(judge({search("ring/pinned", "exact", "exhaustive", result)}, o), passes, 1, 1 - passes);
  }
  json fewer = found("none", "exhaustive");
  fewer["executions"] = 6;
  fewer["blocked"] = 4;
  expect_all_say(judge({search("ring/pinned", "exact", "exhaustive", fewer)}, o), 0, 1, 1);
  expect_all_say(judge({search("ring/pinned", "exact", "exhaustive", found("none", "exhaustive"))}), 0, 1, 1);
}

TEST_F(judgements, a_passed_search_says_how_often_weak_exchanges_failed_spuriously) {
  json result = found("none", "exhaustive");
  result["spurious"] = 5;
  result["spurious_limit"] = 1;
  const said s = judge({search("ring/pinned", "exact", "exhaustive", result)});
  EXPECT_NE(s.text.find("5 with a spurious failure (at most 1 each)"), std::string::npos) << s.text;
}

TEST_F(judgements, only_a_deadlock_shows_that_an_operation_blocks) {
  job j = progress("ring/lock", "blocking", false);
  j.result["what"] = "check failed";
  expect_all_say(judge({j}), 0, 1, 1);
}

TEST_F(judgements, what_fails_fails_on_the_page) {
  expect_all_say(judge({search("ring/pinned", "exact", "exhaustive", found("data race", "exhaustive")),
                        search("ring/pinned", "relacy", "bounded 2", found("none", "cut_short")),
                        search("ring/pinned", "relacy", "random", {{"error", "the worker died of signal 11"}}),
                        progress("ring/pinned", "lock-free", false), progress("ring/lock", "blocking", true)}),
                 0, 5, 5);
}

// A source mutant for which `named` is pinned; the cases of its module fail as `seen` says.
job source_mutant_of(const json& named, const json& seen) {
  job j = must_fail("ring/changed", "in the source", "data race");
  j.about["killers"] = named;
  j.result["cases"] = json::array();
  for (const auto& [name, what] : seen.items()) {
    const bool cut_off = what == "cut off";
    j.result["cases"].push_back(
        {{"case", name}, {"what", cut_off ? "none" : what}, {"how", cut_off ? "cut_short" : "exhaustive"}});
  }
  return j;
}

TEST_F(judgements, a_mutant_dies_of_the_pinned_cases_in_the_pinned_way) {
  const json named = {{"ring/a", "data race"}, {"ring/b", "lost"}};
  const auto judge_seen = [&](const json& seen) { return judge({source_mutant_of(named, seen)}); };
  const auto expect_red = [&](const json& seen, const char* why) {
    const said s = judge_seen(seen);
    expect_all_say(s, 0, 0, 1);
    EXPECT_NE(s.text.find(why), std::string::npos) << s.text;
  };
  expect_all_say(judge_seen({{"ring/a", "data race"}, {"ring/b", "lost"}, {"ring/c", "none"}}), 0, 0, 0);
  expect_red({{"ring/a", "data race"}, {"ring/b", "none"}}, "ring/b does not notice it");
  expect_red({{"ring/a", "data race"}, {"ring/b", "deadlock"}}, R"(ring/b fails by "deadlock", not by "lost")");
  expect_red({{"ring/a", "data race"}}, "ring/b is pinned, which is no case");
  expect_red({{"ring/a", "data race"}, {"ring/b", "cut off"}}, "ring/b is undecided");
  expect_red({{"ring/a", "data race"}, {"ring/b", "lost"}, {"ring/c", "lost"}},
             "ring/c (lost) notices it, too, which is not pinned");
}

TEST_F(judgements, searches_of_other_cases_that_were_cut_off_are_counted) {
  const said s = judge({source_mutant_of(
      {{"ring/a", "lost"}}, {{"ring/a", "lost"}, {"ring/b", "none"}, {"ring/c", "cut off"}, {"ring/d", "none"}})});
  EXPECT_NE(s.text.find("2 searches to the end, 1 cut off, so undecided"), std::string::npos) << s.text;
  EXPECT_EQ(s.page["undecided"], 1);
}

TEST_F(judgements, every_case_has_a_mutant_of_its_own_or_says_what_it_is_kept_for) {
  const auto judge_case = [&](const json& about, const char* name, const char* glob) {
    job j = search(name, "exact", "exhaustive", found("none", "exhaustive"));
    j.about = about;
    return judge({j}, glob);
  };
  const auto expect_red = [&](const said& s, const char* why) {
    expect_all_say(s, 1, 1, 1);
    EXPECT_NE(s.text.find(why), std::string::npos) << s.text;
  };
  const json nothing = json::object();
  const json reason = {{"kept_for", "of the test"}};
  const json order = {{"mutants", {{{"name", "relaxed"}}}}};
  const json bug = {{"seeded_bug_beside", "ring/wrong"}};
  expect_all_say(judge_case(nothing, "ring/pinned", "ring/p*"), 1, 1, 0);
  expect_red(judge_case(reason, "ring/pinned", "ring/p*"), "it has a mutant of its own: ring/of_pinned");
  mutants_ = {{"shared", {{"ring/pinned", "lost"}, {"ring/other", "lost"}}}};
  const char* const why = "FAIL no mutant is killed by this case alone";
  expect_red(judge_case(nothing, "ring/pinned", "ring/p*"), why);
  expect_red(judge_case(order, "ring/pinned", "ring/p*"), why);  // others may notice the order, too
  expect_all_say(judge_case(bug, "ring/pinned", "ring/p*"), 1, 1, 0);
  expect_all_say(judge_case(reason, "ring/pinned", "ring/p*"), 1, 1, 0);
  mutants_.clear();
  const said kills_nothing = judge_case(reason, "ring/pinned", "ring/p*");
  expect_all_say(kills_nothing, 1, 1, 0);
  EXPECT_NE(kills_nothing.text.find("of the test"), std::string::npos) << kills_nothing.text;
  // A run of a model that is not pinned yet.
  expect_all_say(judge_case(nothing, "ring/new", "ring/new"), 1, 1, 0);
}

TEST_F(judgements, who_kills_a_mutant_is_pinned) {
  const std::string head = "# A table.\n\n=== changed\n# What is wrong.\nfile: runq/ring.hpp\n";
  const std::string rest =
      "--- old\nkilled by: nobody, which is code\n--- new\n--- old\n\n--- new\n\n\n"
      "=== of_other\nfile: runq/ring.hpp\nkilled by: ring/other (lost)\n--- old\na\n--- new\n";
  write_table(head + "killed by: ring/a (?)\nkilled by: ring/b (lost)\n" + rest);
  job j = source_mutant_of({{"ring/a", "?"}, {"ring/b", "lost"}},
                           {{"ring/a", "data race"}, {"ring/b", "none"}, {"ring/c", "cut off"}, {"ring/d", "lost"}});
  options o;
  o.case_glob = "ring/pinned of another run";
  o.pin = true;
  expect_all_say(judge({j}, o), 0, 0, 0);
  EXPECT_EQ(table(), head + "killed by: ring/a (data race)\nkilled by: ring/d (lost)\n" + rest);
}

TEST_F(judgements, what_kills_a_mutant_is_a_case_and_how_it_fails) {
  write_table("=== changed\nkilled by: ring/owner_vs_thieves\n--- old\n");
  EXPECT_EXIT(pinned_facts({{"ring", {dir_ / "ring", "", ""}}}, dir_), testing::ExitedWithCode(2),
              "killed by a case, which fails somehow, .* not by ring/owner_vs_thieves");
}

TEST_F(judgements, the_pins_of_a_mutant_are_read_with_the_manifest) {
  write_table(
      "=== changed\nkilled by: ring/a (data race)\nkilled by: local_queue/b (lost)\n--- old\n--- new\n=== new\n--- "
      "old\n");
  std::ofstream(dir_ / "manifest.tsv") << "cases\tring\t" << (dir_ / "ring").string() << "\tcases_ring.so\n"
                                       << "mutant\tring/changed\tvariants_ring\tmodules\tstatus\tring.mutants\n"
                                       << "mutant\tring/new\tvariants_ring\tmodules\tstatus\tring.mutants\n";
  const manifest m = read_manifest(dir_ / "manifest.tsv");
  ASSERT_EQ(m.mutants.size(), 2U);
  EXPECT_EQ(m.mutants[0].killers,
            (std::map<std::string, std::string>{{"ring/a", "data race"}, {"local_queue/b", "lost"}}));
  EXPECT_TRUE(m.mutants[1].killers.empty());
}

TEST_F(judgements, the_proof_is_judged_like_a_search) {
  const auto proof = [](unsigned lines, const char* message) {
    job j = search("proof", "proof", "lines of ring.hpp", {{"lines", lines}, {"message", message}});
    j.expect = expectation::proof;
    return j;
  };
  expect_all_say(judge({proof(39, "")}), 1, 1, 0);
  const said untied = judge({proof(0, "the lines of ring.hpp are not those that were proved")});
  expect_all_say(untied, 0, 1, 1);
  EXPECT_TRUE(untied.page_says("not those that were proved"));
}

TEST(searches, the_longest_is_started_first_and_all_are_reported_in_their_order) {
  const own_folder folder;
  const fs::path log = folder.path() / "started.txt";
  std::vector<job> jobs;
  for (const double effort : {0.0, 2.0, 0.0, 30.0, 1.0}) {
    job j;
    j.case_name = std::to_string(jobs.size());
    j.worker = "/bin/sh";
    j.effort = effort;
    j.arguments = {"-c", "echo " + j.case_name + " >>" + log.string() + "; echo 'R {}'"};
    jobs.push_back(j);
  }
  std::string reported;
  EXPECT_EQ(run_all(jobs, 1, [&](job& j) { reported += j.case_name; }), jobs.size());
  EXPECT_EQ(reported, "01234");
  EXPECT_EQ(read_file(log), "3\n1\n4\n0\n2\n");
}

TEST(searches, the_effort_is_what_is_pinned) {
  const own_folder folder;
  const fs::path& dir = folder.path();
  fs::create_directories(dir / "ring");
  fs::create_directories(dir / "cases");
  std::ofstream(dir / "cases/pinned.txt") << "ring/a 100 +50\nring/b 9\n";
  std::ofstream(dir / "cases/ledger.json") << R"({"ring": [{}, {}]})";
  const pinned_facts pinned({{"ring", {dir / "ring", "", ""}}}, dir);
  const pinned_ledger orders({{"ring", {dir / "ring", "", "ring.hpp"}}}, dir, dir);
  std::vector<job> jobs{search("ring/a", "exact", "exhaustive", {}), search("ring/a", "relacy", "widening", {}),
                        ledger("ring", {}), search("ring/b", "relacy", "random", {}), must_fail("ring/b", "m", "lost")};
  jobs[1].asked = request{{}, search_request{.kind = search_kind::widening, .executions = 700'000}};
  jobs[3].asked = request{{}, search_request{.kind = search_kind::random, .executions = 1'400'000}};
  estimate(jobs, pinned, orders);
  EXPECT_DOUBLE_EQ(jobs[0].effort, 150 / 15'000.0);
  EXPECT_DOUBLE_EQ(jobs[1].effort, 10);
  EXPECT_DOUBLE_EQ(jobs[2].effort, 2 * 159 / 15'000.0);
  EXPECT_DOUBLE_EQ(jobs[3].effort, 20);
  EXPECT_EQ(jobs[4].effort, 0);
}

TEST_F(judgements, mutants_and_bugs_are_counted_apart) {
  const said s =
      judge({must_fail("ring/pinned", "killed_one", "check failed"), must_fail("ring/pinned", "survivor", "none"),
             must_fail("ring/bug", "seeded bug", "deadlock"), must_fail("corpus/S01", "seeded bug", "data race")});
  expect_all_say(s, 0, 0, 1);
  EXPECT_NE(s.text.find("mutants killed 1/2"), std::string::npos) << s.text;
  EXPECT_EQ(s.page["totals"]["mutants"], json({1, 2}));
  EXPECT_EQ(s.page["totals"]["bugs"], json({1, 1}));
  EXPECT_EQ(s.page["totals"]["corpus"], json({1, 1}));
  EXPECT_TRUE(s.page_says("SURVIVED survivor"));
}

TEST_F(judgements, a_litmus_test_counts_once) {
  const said s = judge({litmus("litmus/sb", true), litmus("litmus/mp", false)});
  expect_all_say(s, 0, 0, 1);
  EXPECT_NE(s.text.find("litmus as expected 1/2"), std::string::npos) << s.text;
  EXPECT_EQ(s.page["totals"]["litmus"], json({1, 2}));
}

TEST_F(judgements, what_genmc_cannot_say_is_neither_passed_nor_failed) {
  expect_all_say(judge({search("ring/pinned", "genmc", "rc11", found("none", "exhaustive")),
                        search("ring/pinned", "genmc", "imm", found("none", "cut_short")),
                        search("ring/other", "genmc", "imm", {{"error", "no such instruction"}})}),
                 1, 1, 0);
}

TEST_F(judgements, failures_of_no_search_are_on_the_page) {
  const said s = judge({ledger("ring", {{"rows", json::array()}, {"holes", {"[ring.x] is executed by no model"}}}),
                        ledger("inject", {{"error", "the worker died of signal 6"}})});
  expect_all_say(s, 0, 0, 2);
  EXPECT_TRUE(s.page_says("[ring.x] is executed by no model"));
  EXPECT_TRUE(s.page_says("the worker died of signal 6"));
}

TEST_F(judgements, a_ledger_is_compared_with_its_rows) {
  const auto row = [](int arg, const char* verdict) {
    return json{{"site", "ring.x"},       {"arg", arg},         {"written", "acquire"},
                {"weaker", "relaxed"},    {"verdict", verdict}, {"case", "ring/a"},
                {"what", "check failed"}, {"executions", 1},    {"reason", "of the test"}};
  };
  fs::create_directories(dir_ / "cases");
  std::ofstream(dir_ / "cases/ledger.json") << json{{"ring", {row(0, "killed"), row(1, "redundant")}}}.dump();
  const auto judge_rows = [&](const json& rows) {
    return judge({ledger("ring", {{"rows", rows}, {"holes", json::array()}})});
  };
  const auto expect_red = [&](const json& rows, unsigned failed, const char* why) {
    const said s = judge_rows(rows);
    expect_all_say(s, 0, 0, failed);
    EXPECT_NE(s.text.find(why), std::string::npos) << s.text;
  };
  expect_all_say(judge_rows(json::array({row(0, "killed"), row(1, "redundant")})), 0, 0, 0);
  expect_red(json::array({row(0, "redundant"), row(1, "redundant")}), 1,
             "CHANGED [ring.x] acquire → relaxed is redundant, and its row says killed");
  expect_red(json::array({row(0, "killed")}), 1,
             "CHANGED [ring.x] on failure acquire → relaxed has a row (redundant), but is not in the header");
  json another = row(0, "killed");
  another["site"] = "ring.y";
  expect_red(json::array({row(0, "killed"), row(1, "redundant"), another}), 1,
             "CHANGED [ring.y] acquire → relaxed is killed, and has no row");
}

TEST(ledgers, a_row_is_a_line_and_is_read_again) {
  const own_folder folder;
  const fs::path& dir = folder.path();
  fs::create_directories(dir / "cases");
  const std::map<std::string, stem_cases> stems{{"ring", {"", "", "ring.hpp"}}, {"inject", {"", "", "inject.hpp"}}};
  const auto row = [](const char* site) {
    return json{{"site", site},           {"arg", 0},        {"written", "acquire"}, {"weaker", "relaxed"},
                {"verdict", "redundant"}, {"executions", 1}, {"reason", "a guess"}};
  };
  pinned_ledger before(stems, dir, dir);
  before.set("ring", json::array({row("ring.a"), row("ring.b")}));
  before.set("inject", json::array());
  before.write();
  const std::string text = read_file(dir / "cases/ledger.json");
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 6) << text;
  EXPECT_EQ(text.find("inject"), std::string::npos) << text;
  const pinned_ledger again(stems, dir, dir);
  EXPECT_EQ(again.by_stem().at("ring"), before.by_stem().at("ring"));
  EXPECT_TRUE(again.page_is_current());
  EXPECT_EXIT(pinned_ledger({}, dir, dir), testing::ExitedWithCode(2),
              "there is a ledger of ring, but no header ring.hpp");
}

TEST(shares, every_search_is_in_one_share) {
  std::vector<job> all;
  for (const char* name : {"ring/c", "ring/a", "ring/e", "ring/b", "ring/d"})
    all.push_back(search(name, "exact", "x", {}));
  for (const unsigned of : {1U, 2U, 3U, 7U}) {
    std::map<std::string, unsigned> times;
    for (unsigned i = 1; i <= of; ++i) {
      for (const job& j : jobs_of({i, of}, all)) ++times[j.case_name];
    }
    EXPECT_EQ(times.size(), all.size()) << of;
    for (const auto& [name, n] : times) EXPECT_EQ(n, 1U) << name << " of " << of;
  }
}

TEST(shares, only_shares_that_are_there_are_asked_for) {
  const share s = parse_share("2/3");
  EXPECT_EQ(s.index, 2U);
  EXPECT_EQ(s.of, 3U);
  for (const char* wrong : {"0/3", "4/3", "1", "1/", "/3", "a/3", "1/3 "}) {
    EXPECT_EXIT((void)parse_share(wrong), testing::ExitedWithCode(2), "--shard takes I/N") << wrong;
  }
}

TEST(pages, a_lock_reads_what_the_last_unlock_wrote) {
  const auto step = [](const char* kind, int thread, unsigned value) {
    return json{{"kind", kind}, {"thread", thread}, {"location", 1}, {"value", value}};
  };
  json trace = {step("lock", 0, 1), step("unlock", 0, 0), step("lock", 1, 1), step("lock", 2, 0)};
  trace[2]["reads_from"] = 1;
  const json steps = html::execution_json({{"result", {{"what", "none"}, {"trace", trace}}}}).at("steps");
  EXPECT_TRUE(steps[0].at("reads").get<bool>());
  EXPECT_FALSE(steps[1].at("reads").get<bool>());
  EXPECT_EQ(steps[2].at("reads_from"), 1);
  // Nobody has said what this lock has read, and its value is no value of the mutex.
  EXPECT_FALSE(steps[3].contains("reads_from"));
}

/// A step of an execution; what else it has.
[[nodiscard]] json step(const char* kind, int thread, unsigned location, json more = json::object()) {
  more.update({{"kind", kind}, {"thread", thread}, {"location", location}});
  return more;
}
[[nodiscard]] json page_of(const char* what, json trace, json more = json::object()) {
  more.update({{"what", what}, {"trace", std::move(trace)}});
  return html::execution_json({{"result", std::move(more)}});
}
/// The numbers, from 0, of the steps of which that holds.
[[nodiscard]] std::vector<std::size_t> steps_that_are(const char* marked, const json& page) {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i != page["steps"].size(); ++i) {
    if (page["steps"][i][marked].get<bool>()) found.push_back(i);
  }
  return found;
}
using step_numbers = std::vector<std::size_t>;

TEST(pages, mark_the_steps_that_fail) {
  const json at = {{"file", "a.hpp"}, {"line", 3}};
  const json elsewhere = {{"file", "a.hpp"}, {"line", 4}};
  const json trace = {step("store", 0, 1, at), step("load", 1, 1, at), step("check", 1, 0, at)};
  EXPECT_EQ(steps_that_are("failing", page_of("check failed", trace)), (step_numbers{1, 2}));
  EXPECT_EQ(steps_that_are("failing", page_of("none", trace)), step_numbers{});
  EXPECT_EQ(steps_that_are("failing", page_of("leak", trace)), step_numbers{});
  // The operation before it may have gone well.
  const json after = {step("store", 0, 1, at), step("load", 1, 1, at), step("check", 1, 0, elsewhere)};
  EXPECT_EQ(steps_that_are("failing", page_of("check failed", after)), (step_numbers{2}));
  // Of a deadlock, the last step of each thread, but not of main().
  const json waiting = {step("store", 0, 1), step("store", -1, 1), step("load", 1, 1), step("load", 0, 1)};
  const json deadlock = page_of("deadlock", waiting);
  EXPECT_EQ(steps_that_are("failing", deadlock), step_numbers{});
  EXPECT_EQ(steps_that_are("stuck", deadlock), (step_numbers{2, 3}));
}

TEST(pages, mark_what_the_failing_step_is_not_ordered_with) {
  const json trace = {step("write", 0, 1), step("read", 0, 1), step("read", 1, 1), step("check", 1, 0)};
  const json said = page_of("data race", trace, {{"unordered", 0}, {"failing", 2}})["steps"];
  EXPECT_EQ(said[2]["conflict"], 0);
  EXPECT_FALSE(said[0].contains("conflict"));
  EXPECT_EQ(page_of("data race", trace)["steps"][2]["conflict"], 0);  // no two reads
}

TEST(pages, mark_the_steps_of_no_part_in_a_failure) {
  const auto minor = [](std::vector<json> all, const json& more = json::object()) {
    all.push_back(step("load", 2, 9));
    all.push_back(step("check", 2, 0));
    return steps_that_are("minor", page_of("check failed", all, more));
  };
  const json from_first = {{"reads_from", 0}};
  EXPECT_EQ(minor({step("store", 1, 5)}), (step_numbers{0}));
  EXPECT_EQ(minor({step("store", 2, 5)}), (step_numbers{0}));  // of the thread that fails, elsewhere
  EXPECT_EQ(minor({step("store", 1, 5)}, {{"why_steps", {0U}}}), step_numbers{});
  EXPECT_EQ(minor({step("store", 1, 5), step("load", 1, 5, from_first)}), (step_numbers{0, 1}));
  EXPECT_EQ(minor({step("store", 1, 5), step("load", 2, 5, from_first)}), step_numbers{});
  // What the reader looked at last, before another thread wrote.
  EXPECT_EQ(minor({step("load", 1, 5), step("load", 1, 5), step("store", 0, 5)}), (step_numbers{0}));
}

TEST(pages, have_values_as_they_are_called_and_what_was_not_seen) {
  const json named = {{"value", 1}, {"value_text", "task 1"}, {"newest", 7}};
  const json old = {{"value", 0}, {"newest", 1}, {"stale", true}, {"weakened", true}};
  const json page = page_of("none", {step("store", -1, 1, {{"value", 0}}), step("store", 0, 1, {{"value", 1}}),
                                     step("load", 1, 1, old), step("store", 1, 2, named)});
  const json& steps = page["steps"];
  EXPECT_EQ(steps[2]["newest"], "1");
  EXPECT_EQ(steps[2]["reads_from"], 0);
  EXPECT_EQ(steps[2]["ignored"], 1);
  EXPECT_EQ(steps[2]["weakened"], true);
  EXPECT_EQ(steps[3]["value"], "task 1");
  EXPECT_EQ(steps[3]["newest"], "");
  EXPECT_EQ(page["threads"], json({0, 1}));  // main() has no part but the construction
}

TEST(pages, say_how_a_search_is_made_again) {
  const auto replay = [](json search) { return html::replay_of(search); };
  EXPECT_EQ(replay({{"command", "make it"}, {"case", "ring/a"}}), "make it");
  EXPECT_EQ(replay({{"replay", "./kit prove"}, {"case", "ring/a"}}), "./kit prove");
  EXPECT_EQ(replay({{"case", "ring/a"}, {"kind", "search"}, {"result", {{"executions", 7}}}}),
            "./kit verify --case ring/a --execution 7");
  EXPECT_EQ(replay({{"case", "ring/a"}, {"kind", "search"}, {"replay", "--bound 3"}, {"result", {{"executions", 7}}}}),
            "./kit verify --case ring/a --bound 3 --execution 7");
  EXPECT_EQ(replay({{"case", "ring/a"}, {"kind", "litmus"}}), "./kit verify --case ring/a");
  EXPECT_EQ(replay({{"case", "ring/a"}, {"kind", "mutant"}, {"label", "b_relaxed"}}),
            "./kit verify --case ring/a --mutant b_relaxed");
  EXPECT_EQ(replay({{"case", "ring/a"}, {"kind", "mutant"}, {"label", "in the source"}}),
            "./kit verify --case ring/a --mutant a");
}

TEST(pages, tell_searches_of_different_kinds_apart) {
  const json report = html::described(
      {{"searches",
        {{{"expect", "fail"}, {"label", "b_relaxed"}, {"outcome", "killed"}},
         {{"expect", "fail"}, {"label", "seeded bug"}, {"case", "corpus/a"}, {"outcome", "no such outcome"}},
         {{"expect", "fail"}, {"label", "seeded bug"}, {"case", "ring/a"}},
         {{"expect", "litmus"},
          {"litmus", {{"outcome", "race"}, {"cpp20", false}, {"exact", false}}},
          {"result", {{"exact", {{"what", "data race"}}}, {"load buffering", {{"what", "none"}}}}}}}}});
  std::vector<std::string> kinds;
  for (const json& s : report["searches"]) kinds.push_back(s["kind"]);
  EXPECT_EQ(kinds, (std::vector<std::string>{"mutant", "corpus", "bug", "litmus", "litmus"}));
  EXPECT_EQ(report["searches"][0]["outcome"], "killed");
  EXPECT_EQ(report["searches"][1]["outcome"], "failed");
  const json& by_exact = report["searches"][3]["litmus"];
  EXPECT_EQ(report["searches"][3]["engine"], "exact");
  EXPECT_TRUE(by_exact["shown"].get<bool>());
  EXPECT_FALSE(by_exact["as_pinned"].get<bool>());
  EXPECT_TRUE(report["searches"][4]["litmus"]["as_pinned"].get<bool>());
  // With load buffering, what C++20 allows is expected, whatever RC11 says.
  const json other =
      html::described({{"searches",
                        {{{"expect", "litmus"},
                          {"litmus", {{"outcome", "race"}, {"cpp20", true}, {"exact", false}}},
                          {"result", {{"exact", {{"what", "none"}}}, {"load buffering", {{"what", "data race"}}}}}}}}});
  for (const json& s : other["searches"]) EXPECT_TRUE(s["litmus"]["as_pinned"].get<bool>()) << s;
}

TEST(pages, have_names_of_their_own) {
  const own_folder folder;
  json searches = json::array();
  const auto add = [&](const char* name, const char* label) {
    searches.push_back({{"case", name},
                        {"label", label},
                        {"result", {{"what", "lost"}, {"trace", {{{"kind", "store"}, {"thread", 0}}}}}}});
  };
  add("ring/a", "b c");
  add("Ring/a", "b/c");
  add("index", "");
  add("../.ring", "→");
  searches.push_back({{"case", "ring/b"}, {"result", {{"what", "none"}}}});
  json by_engine = searches[0];
  by_engine["case"] = "litmus/a";
  by_engine["expect"] = "litmus";
  by_engine["engine"] = "exact";
  searches.push_back(by_engine);
  write_html(folder.path().string(), {{"searches", searches}});
  std::vector<std::string> files;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder.path()))
    files.push_back(entry.path().filename());
  std::sort(files.begin(), files.end());
  EXPECT_EQ(files, (std::vector<std::string>{"Ring-a-b-c-2.html", "index-2.html", "index.html",
                                             "litmus-a-b-c-exact.html", "ring-a-b-c.html", "ring.html"}));
}

TEST(pages, count_what_is_as_it_must_be) {
  const auto one = [](const char* name, const char* expected, const char* label, const char* outcome) {
    return json{
        {"case", name}, {"expect", expected}, {"label", label}, {"outcome", outcome}, {"result", {{"what", "none"}}}};
  };
  json report =
      html::described({{"searches",
                        {one("litmus/sb", "litmus", "", "failed"), one("litmus/sb", "litmus", "", "as expected"),
                         one("ring/a", "pass", "all", "passed"), one("ring/b", "pass", "all", "killed"),
                         one("ring/c", "fail", "a_mutant", "passed"), one("ring/d", "pass", "all", "remark")}},
                       {"problems", {"no model"}}});
  EXPECT_EQ(report["searches"][2]["verdict"], "not judged");
  html::add_totals(report);
  EXPECT_EQ(report["totals"]["litmus"], json({0, 1}));
  EXPECT_EQ(report["totals"]["searches"], json({1, 2}));
  EXPECT_EQ(report["totals"]["mutants"], json({0, 1}));
  EXPECT_EQ(report["totals"]["failed"], 2);
}

/// A row of the ledger leads to the mutant that makes the same change in the same case, which knows the shipped order.
TEST(pages, rows_of_the_ledger_lead_to_the_pages_of_their_mutants) {
  const own_folder folder;
  const json result = {{"what", "lost"}, {"trace", {{{"kind", "store"}, {"thread", 0}}}}};
  const auto search = [&](const char* expected, const char* label, const char* changed) {
    return json{{"case", "ring/a"}, {"expect", expected}, {"label", label}, {"changed", changed}, {"result", result}};
  };
  const auto row = [](const char* site, const char* weaker) {
    return json{{"case", "ring/a"}, {"site", site}, {"written", "seq_cst"}, {"weaker", weaker}};
  };
  write_html(
      folder.path().string(),
      {{"searches",
        {search("pass", "all", "[ring.x] relaxed"), search("fail", "one", "[ring.x] relaxed"),
         search("pass", "other", "")}},
       {"ledger", {row("ring.x", "relaxed"), row("ring.x", "release"), row("ring.y", "relaxed"), row("", "relaxed")}}});
  const json rows = page_data(folder.path() / "index.html")["ledger"];
  EXPECT_EQ(rows[0]["page"], "ring-a-one.html");
  for (const int other : {1, 2, 3}) EXPECT_EQ(rows[static_cast<std::size_t>(other)]["page"], "");
  EXPECT_EQ(page_data(folder.path() / "ring-a-one.html")["shipped"], "seq_cst");
  EXPECT_EQ(page_data(folder.path() / "ring-a-other.html")["shipped"], "");
}

TEST(pages, that_cannot_be_written_are_errors) {
  const own_folder folder;
  fs::create_directories(folder.path() / "index.html");
  EXPECT_THROW(write_html(folder.path().string(), json::object()), std::runtime_error);
  std::ofstream(folder.path() / "file") << "text";
  try {
    write_html((folder.path() / "file/within").string(), json::object());
    ADD_FAILURE() << "it was written";
  } catch (const std::runtime_error& e) {
    EXPECT_TRUE(std::string(e.what()).starts_with("cannot make the folder ")) << e.what();
  }
}

class names : public testing::Test {
 protected:
  names_found check(const std::string& code, bool modelled = true, unsigned listed = 0) {
    std::ofstream(file_) << code;
    return check_names({{file_, "x.hpp", modelled}}, {{"x.hpp", listed}});
  }
  own_folder folder_;
  const fs::path file_ = folder_.path() / "names.hpp";
};

TEST_F(names, each_operation_has_its_own) {
  EXPECT_EQ(check("// [x.a] relaxed: one.\nx.load(std::memory_order::relaxed);\n").faults.size(), 0U);
  EXPECT_EQ(check("x.load(std::memory_order::relaxed);\n").faults.size(), 1U);
  EXPECT_EQ(check("// [x.a] relaxed: one.\nx.load(std::memory_order::relaxed);\n"
                  "y->fetch_add(1, std::memory_order::relaxed);\n")
                .faults.size(),
            1U);
  EXPECT_EQ(check("// [x.a] relaxed: one.\nx.store(y.load(std::memory_order::relaxed),\n"
                  "        std::memory_order::relaxed);\n")
                .faults.size(),
            1U);
  EXPECT_EQ(check("// [x.a] relaxed: one.\nx.load(std::memory_order::relaxed);\n"
                  "// [x.a] relaxed: two.\nx.load(std::memory_order::relaxed);\n")
                .faults.size(),
            1U);
}

TEST_F(names, the_comment_has_the_order_of_the_code) {
  EXPECT_EQ(check("// [x.a] release: one.\nx.store(1, std::memory_order::relaxed);\n").faults.size(), 1U);
  EXPECT_EQ(check("// [x.a] acq_rel: one.\nconst bool done = x.compare_exchange_weak(\n"
                  "    y, 1, std::memory_order::acq_rel, std::memory_order::relaxed);\n")
                .faults.size(),
            0U);
  EXPECT_EQ(check("// [x.a] seq_cst: one.\nx.load();\n").faults.size(), 1U);
  EXPECT_EQ(check("// [x.a] seq_cst: one.\nx.load(order);\n").faults.size(), 0U);
}

// Comments `first` and `second`, each with its operation.
[[nodiscard]] std::string operations(const std::string& first, const std::string& second) {
  return "// [x.a] release: " + first + "\nx.store(1, std::memory_order::release);\n// [x.b] acquire: " + second +
         "\nx.load(std::memory_order::acquire);\n";
}

TEST_F(names, a_name_has_an_operation) {
  EXPECT_EQ(check("// [x.a] relaxed: one.\nint i = 0;\nx.load(i);\n").faults.size(), 2U);
  EXPECT_EQ(
      check("// [x.a] relaxed: one.\n// [x.b] relaxed: two.\nx.load(std::memory_order::relaxed);\n").faults.size(), 1U);
  EXPECT_EQ(check("x.f();\n// [x.a] relaxed: one.\n").faults.size(), 1U);
}

TEST_F(names, partners_exist_and_name_each_other) {
  EXPECT_EQ(check(operations("pairs with [x.b].", "pairs with [x.a].")).faults.size(), 0U);
  EXPECT_EQ(check(operations("pairs with [x.b].", "one.")).faults.size(), 1U);
  EXPECT_EQ(check(operations("pairs with [x.c].", "one.")).faults.size(), 1U);
  EXPECT_EQ(check(operations("see [x.c].", "one.")).faults.size(), 1U);
  // In a list, and on the next line.
  EXPECT_EQ(check(operations("pairs with [x.a], [x.a] and [x.b].", "two.")).faults.size(), 1U);
  EXPECT_EQ(check(operations("pairs\n// with [x.a] or so, and with [x.b].", "two.")).faults.size(), 1U);
  EXPECT_EQ(check(operations("pairs with [x.a], and\n// with [x.b].", "pairs with [x.a].")).faults.size(), 0U);
}

TEST_F(names, an_operation_may_stand_for_another_one) {
  const std::string third = "// [x.c] release: as [x.a].\nx.store(2, std::memory_order::release);\n";
  EXPECT_EQ(check(operations("pairs with [x.b].", "pairs with [x.a].") + third).faults.size(), 0U);
  EXPECT_EQ(check(operations("pairs with [x.b].", "pairs with [x.c].") + third).faults.size(), 0U);
  EXPECT_EQ(check(operations("one.", "pairs with [x.c].") + third).faults.size(), 1U);
  // A circle stands for nobody, and is no endless loop.
  EXPECT_EQ(check(operations("as [x.b].", "as [x.a].")).faults.size(), 0U);
}

TEST_F(names, a_long_reason_stands_at_most_four_times) {
  const auto with = [](unsigned n, const std::string& begin, const std::string& reason) {
    std::string code;
    for (unsigned i = 0; i != n; ++i) {
      code += "// [x." + std::string(1, static_cast<char>('a' + i)) + "] relaxed: " + begin + reason +
              "\nx.load(std::memory_order::relaxed);\n";
    }
    return code;
  };
  const std::string reason = "a thread takes what another one has not written.";
  EXPECT_EQ(check(with(4, "", reason)).faults.size(), 0U);
  EXPECT_EQ(check(with(5, "", reason)).faults.size(), 1U);
  EXPECT_EQ(check(with(5, "one; weaker: ", reason)).faults.size(), 1U);
  EXPECT_EQ(check(with(5, "one. kept: ", reason)).faults.size(), 1U);
  EXPECT_EQ(check(with(5, "", "a guess.")).faults.size(), 0U);
}

TEST_F(names, what_no_model_reaches_says_so_and_is_counted) {
  const std::string says_so = "// [x.a] relaxed, unmodelled: one.\nx.load(std::memory_order::relaxed);\n";
  EXPECT_EQ(check(says_so, false, 1).faults.size(), 0U);
  EXPECT_EQ(check(says_so, false, 0).faults.size(), 1U);
  EXPECT_EQ(check(says_so, false, 2).faults.size(), 1U);
  EXPECT_EQ(check(says_so, true).faults.size(), 2U);
  EXPECT_EQ(check("// [x.a] relaxed: one.\nx.load(std::memory_order::relaxed);\n", false).faults.size(), 1U);
  EXPECT_EQ(check("x.load(std::memory_order::relaxed);\nx.load(std::memory_order::relaxed);\n", false).faults.size(),
            2U);
}

}  // namespace
}  // namespace runq::model
