// SPDX-License-Identifier: MIT
// Processes that make searches: what they print, how they end, how many run at a time, and what of their results
// becomes of the ledger's file.
#include "jobs.hpp"

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "noted_orders.hpp"

namespace runq::model {
namespace {

using json = nlohmann::json;

[[nodiscard]] job shell(const std::string& script) {
  job j;
  j.case_name = script;
  j.worker = "/bin/sh";
  j.arguments = {"-c", script};
  return j;
}

[[nodiscard]] std::vector<job> ran(std::vector<job> jobs, unsigned width = 2) {
  std::size_t reported = 0;
  EXPECT_EQ(run_all(jobs, width, [&](job&) { ++reported; }), jobs.size());
  EXPECT_EQ(reported, jobs.size());
  return jobs;
}

TEST(jobs, have_the_last_result_that_was_printed) {
  const std::vector<job> jobs = ran({shell("echo 'P 12, of about 30'; echo 'R {\"a\": 1}'"),
                                     shell("echo 'R {\"a\": 1}'; echo other; echo 'R {\"a\": 2}'"),
                                     shell("printf 'R {\"a\"'; sleep 0.05; printf ': 3}\\n'; echo")});
  EXPECT_EQ(jobs[0].result, json({{"a", 1}}));
  EXPECT_EQ(jobs[0].progress, "12, of about 30");
  EXPECT_EQ(jobs[1].result, json({{"a", 2}}));
  EXPECT_EQ(jobs[2].result, json({{"a", 3}}));
}

TEST(jobs, without_a_result_say_how_they_ended) {
  job broken = shell("echo 'R {\"a\": 1}'");
  broken.broken = "does not compile";
  const std::vector<job> jobs = ran(
      {shell("exit 3"), shell("kill -9 $$"), shell("echo 'R {'"), broken, shell("echo 'R {\"a\": 1}'; kill -9 $$")});
  EXPECT_EQ(jobs[0].result["error"], "the worker ended with status 3 and no result");
  EXPECT_EQ(jobs[1].result["error"], "the worker died of signal 9");
  EXPECT_EQ(jobs[2].result["error"], "the worker ended with status 0 and no result");
  EXPECT_EQ(jobs[3].result["error"], "does not compile");
  EXPECT_EQ(jobs[4].result, json({{"a", 1}}));
}

/// Each adds a line when it begins, and one when it ends.
TEST(jobs, run_as_many_at_a_time_as_is_said) {
  char log[] = "/tmp/runq_jobs_XXXXXX";
  close(mkstemp(log));
  const std::string file = log;
  const std::string script = "echo begin >>" + file + "; sleep 0.2; echo end >>" + file + "; echo 'R {}'";
  for (const unsigned width : {1U, 3U}) {
    std::ofstream(file).close();
    static_cast<void>(ran(std::vector<job>(4, shell(script)), width));
    unsigned running = 0;
    unsigned most = 0;
    std::ifstream in(file);
    for (std::string line; std::getline(in, line);) {
      line == "begin" ? ++running : --running;
      most = std::max(most, running);
    }
    EXPECT_EQ(running, 0U);
    EXPECT_LE(most, width);
    EXPECT_GT(most * 2, width);
  }
  unlink(log);
}

TEST(jobs, are_reported_in_their_order_also_if_a_later_one_cannot_start) {
  std::vector<job> jobs{shell("sleep 0.5; echo 'R {}'"), shell("echo 'R {}'")};
  jobs[1].broken = "no";
  std::string order;
  EXPECT_EQ(run_all(jobs, 2, [&](job& j) { order += &j == jobs.data() ? '0' : '1'; }), 2U);
  EXPECT_EQ(order, "01");
}

/// In a process of its own: after Ctrl-C, what runs is ended, and only what was done is reported.
TEST(jobs, end_when_they_are_interrupted) {
  const pid_t child = fork();
  if (child == 0) {
    catch_interrupt();
    std::vector<job> jobs{shell("echo 'R {}'"), shell("kill -INT $PPID; exec sleep 1000"), shell("echo 'R {}'")};
    const std::size_t reported = run_all(jobs, 1, [](job&) {});
    const bool is_killed = jobs[1].result["error"] == "the worker died of signal 9";
    _exit(was_interrupted() && reported == 1 && is_killed ? 0 : 1);
  }
  int status = -1;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_FALSE(was_interrupted());
}

TEST(jobs, that_cannot_be_started_end_the_run) {
  std::vector<job> jobs{shell("")};
  jobs[0].worker = "/nowhere/worker";
  EXPECT_EXIT(run_all(jobs, 1, [](job&) {}), testing::ExitedWithCode(2), "cannot start /nowhere/worker");
}

TEST(jobs, give_a_worker_its_request) {
  EXPECT_EQ(output_of("/bin/echo", {{"a.so"}, list_request{}}), to_text({{"a.so"}, list_request{}}) + "\n");
  job j;
  EXPECT_EQ(search_of(j, search_kind::exhaustive), nullptr);
  j.asked = request{{}, search_request{.case_name = "a", .kind = search_kind::random}};
  EXPECT_EQ(search_of(j, search_kind::exhaustive), nullptr);
  ASSERT_NE(search_of(j, search_kind::random), nullptr);
  EXPECT_EQ(search_of(j, search_kind::random)->case_name, "a");
}

TEST(noted_orders, of_searches_are_in_the_file_that_ledgers_read) {
  std::vector<job> searches(3);
  for (job& j : searches) j.asked = request{{}, search_request{.case_name = "a"}};
  std::get<search_request>(searches[1].asked->what).kind = search_kind::random;
  note_orders(searches);
  EXPECT_TRUE(search_of(searches[0], search_kind::exhaustive)->note_orders);
  EXPECT_FALSE(search_of(searches[1], search_kind::random)->note_orders);
  searches[0].case_name = "ring/a";
  searches[0].result = {{"what", "none"}, {"orders", {1, 2}}};
  searches[2].case_name = "ring/b";
  searches[2].result = {{"what", "none"}};
  std::vector<job> ledgers(2);
  for (job& j : ledgers) j.asked = request{{}, ledger_request{"ring.hpp"}};
  std::string file;
  {
    const noted_orders_file notes(searches, ledgers);
    file = std::get<ledger_request>(ledgers[0].asked->what).uses;
    EXPECT_EQ(std::get<ledger_request>(ledgers[1].asked->what).uses, file);
    EXPECT_EQ(json::parse(read_file(file)), json({{"ring/a", {1, 2}}}));
  }
  EXPECT_FALSE(std::filesystem::exists(file));
  EXPECT_EQ(searches[0].result, json({{"what", "none"}}));
}

}  // namespace
}  // namespace runq::model
