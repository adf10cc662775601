// SPDX-License-Identifier: MIT
// One judgement: the text, the --json file and the --html pages of a run say the same of every search.
#include "report.hpp"

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "html.hpp"

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
  j.engine = engine;
  j.label = label;
  j.result = std::move(result);
  if (j.label == "exhaustive") j.counts_key = j.case_name + " exhaustive";
  return j;
}

job must_fail(const char* name, const char* label, const char* what) {
  json result = found(what, "exhaustive");
  result["by"] = name;
  result["relacy"] = found("none", "sampled");
  job j = search(name, "exact", label, std::move(result));
  j.expect = expectation::fail;
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
  std::string page;
};

class judgements : public testing::Test {
 protected:
  judgements() : dir_(fs::path(testing::TempDir()) / "runq_report_test") {
    fs::remove_all(dir_);
    fs::create_directories(dir_ / "ring");
    std::ofstream(dir_ / "ring/counts.txt") << "ring/pinned exhaustive 7\nring/other exhaustive 8\n";
  }
  ~judgements() override { fs::remove_all(dir_); }

  // `glob`: the cases that were asked for; of those that are pinned all must have run.
  said judge(std::vector<job> jobs, const std::string& glob = "ring/pinned of another run") {
    options o;
    o.case_glob = glob;
    manifest m;
    m.models_dir = dir_;
    pinned_counts counts({{"ring", {dir_ / "ring", "", ""}}});
    pinned_ledger orders({{"ring", {dir_ / "ring", "", ""}}}, dir_);
    report judge(o, m, counts, orders);
    testing::internal::CaptureStdout();
    for (job& j : jobs) judge(j);
    judge.finish(jobs.size(), jobs.size(), 1.0);
    said all;
    all.text = testing::internal::GetCapturedStdout();
    all.results = judge.to_json(jobs);
    write_html(dir_ / "pages", all.results);
    std::ifstream page(dir_ / "pages/index.html");
    all.page.assign(std::istreambuf_iterator<char>(page), {});
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
    if (judged != 0) {
      EXPECT_EQ(number(s.page, "<b>([0-9]+)/[0-9]+</b> searches passed"), passed);
      EXPECT_EQ(number(s.page, "<b>[0-9]+/([0-9]+)</b> searches passed"), judged);
    }
    EXPECT_EQ(number(s.page, "<b>([0-9]+)</b> failed"), failed);
  }

  fs::path dir_;
};

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
                 1, 3, 3);  // the third: a whole run also wants docs/memory-orders.md, which is not here
}

TEST_F(judgements, a_new_case_that_was_asked_for_passes_and_is_not_pinned) {
  const said s = judge({search("ring/new", "exact", "exhaustive", found("none", "exhaustive"))}, "ring/new");
  expect_all_say(s, 1, 1, 0);
  EXPECT_NE(s.text.find("PASS exhaustive, not pinned"), std::string::npos) << s.text;
  EXPECT_NE(s.page.find("PASS exhaustive, not pinned"), std::string::npos);
}

TEST_F(judgements, a_pinned_case_that_did_not_run_fails) {
  const said s = judge({search("ring/pinned", "exact", "exhaustive", found("none", "exhaustive"))}, "ring/*");
  expect_all_say(s, 1, 1, 1);
  EXPECT_NE(s.text.find("ring/other"), std::string::npos) << s.text;
  EXPECT_NE(s.page.find("did not run"), std::string::npos);
  expect_all_say(judge({search("ring/pinned", "exact", "exhaustive", found("none", "exhaustive"))}, "ring/p*"), 1, 1,
                 0);
}

TEST_F(judgements, blocked_executions_are_pinned_too) {
  json result = found("none", "exhaustive");
  result["blocked"] = 3;
  const said s = judge({search("ring/pinned", "exact", "exhaustive", result)});
  expect_all_say(s, 0, 1, 1);
  EXPECT_NE(s.text.find("explored 7 +3 graphs, pinned are 7"), std::string::npos) << s.text;
  std::ofstream(dir_ / "ring/counts.txt") << "ring/pinned exhaustive 7 +3\n";
  expect_all_say(judge({search("ring/pinned", "exact", "exhaustive", result)}), 1, 1, 0);
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

// A mutant in the source of which `killed by:` says `named`; the cases of its module fail by `seen`.
job source_mutant_of(const json& named, const json& seen) {
  job j = must_fail("ring/changed", "in the source", "data race");
  j.about["killers"] = named;
  j.result["cases"] = json::array();
  for (const auto& [name, what] : seen.items()) j.result["cases"].push_back({{"case", name}, {"what", what}});
  return j;
}

TEST_F(judgements, a_mutant_dies_of_the_cases_that_it_names_in_the_way_that_it_names) {
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
  expect_red({{"ring/a", "data race"}}, "it names ring/b, which is no case");
  expect_red({{"ring/a", "data race"}, {"ring/b", "lost"}, {"ring/c", "lost"}},
             "ring/c (lost) notices it, too, which it does not name");
}

TEST_F(judgements, a_case_that_says_why_it_kills_nothing_alone_does_not) {
  job says_why = search("ring/pinned", "exact", "exhaustive", found("none", "exhaustive"));
  says_why.about["no_mutant_of_its_own"] = "of the test";
  const json alone = {{"ring/pinned", "lost"}};
  const said s = judge({says_why, source_mutant_of(alone, alone)}, "ring/p*");
  expect_all_say(s, 1, 1, 1);
  EXPECT_NE(s.text.find("it says why no mutant is killed by it alone, but ring/changed is"), std::string::npos)
      << s.text;
  const json two = {{"ring/pinned", "lost"}, {"ring/other", "lost"}};
  expect_all_say(judge({says_why, source_mutant_of(two, two)}, "ring/p*"), 1, 1, 0);
}

TEST_F(judgements, mutants_and_bugs_are_counted_apart) {
  const said s =
      judge({must_fail("ring/pinned", "killed_one", "check failed"), must_fail("ring/pinned", "survivor", "none"),
             must_fail("ring/bug", "seeded bug", "deadlock"), must_fail("corpus/S01", "seeded bug", "data race")});
  expect_all_say(s, 0, 0, 1);
  EXPECT_NE(s.text.find("mutants killed 1/2"), std::string::npos) << s.text;
  EXPECT_NE(s.page.find("<b>1/2</b> mutants killed"), std::string::npos);
  EXPECT_NE(s.page.find("<b>1/1</b> other seeded bugs caught"), std::string::npos);
  EXPECT_NE(s.page.find("<b>1/1</b> bugs of the corpus caught"), std::string::npos);
  EXPECT_NE(s.page.find("SURVIVED survivor"), std::string::npos);
}

TEST_F(judgements, a_litmus_test_counts_once) {
  const said s = judge({litmus("litmus/sb", true), litmus("litmus/mp", false)});
  expect_all_say(s, 0, 0, 1);
  EXPECT_NE(s.text.find("litmus as expected 1/2"), std::string::npos) << s.text;
  EXPECT_NE(s.page.find("<b>1/2</b> litmus tests as expected"), std::string::npos);
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
  EXPECT_NE(s.page.find("[ring.x] is executed by no model"), std::string::npos);
  EXPECT_NE(s.page.find("the worker died of signal 6"), std::string::npos);
}

class names : public testing::Test {
 protected:
  names() : file_(fs::path(testing::TempDir()) / "runq_names_test.hpp") {}
  ~names() override { fs::remove(file_); }

  names_found check(const std::string& code, bool modelled = true, unsigned listed = 0) {
    std::ofstream(file_) << code;
    return check_names({{file_, "x.hpp", modelled}}, {{"x.hpp", listed}});
  }
  fs::path file_;
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
