// SPDX-License-Identifier: MIT
// A search by several processes must have the result of a search by one: the same counts, the same failure, the same
// trace, the same notes. Schedules differ from run to run, so each test repeats its searches many times.
#include <algorithm>
#include <csignal>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <unistd.h>

#include "exact.hpp"
#include "reference/chase_lev_2013.hpp"
#include "reference/go_runq.hpp"
#include "runtime.hpp"

namespace runq::model {
namespace {

using namespace reference;

constexpr auto relaxed = std::memory_order::relaxed;
constexpr int times = 20;

template <class Scenario>
search_result search(unsigned threads, const exact_options& options, exact_statistics* statistics = nullptr) {
  case_spec spec{.name = "parallel", .property = "", .threads = threads};
  spec.construct = [](void* where) -> scenario* { return ::new (where) Scenario; };
  return run_exact(spec, options, statistics);
}

search_result search_go(const go_runq_program& program, const exact_options& options,
                        exact_statistics* statistics = nullptr) {
  go_program = program;
  return search<go_runq_scenario<2>>(program.thieves + 1, options, statistics);
}

search_result search_chase_lev(const chase_lev_program& program, const exact_options& options) {
  deque_program = program;
  return search<chase_lev_scenario>(program.thieves + 1, options);
}

void expect_same(const search_result& r, const search_result& alone) {
  EXPECT_EQ(r.how, alone.how) << r.message;
  EXPECT_EQ(r.what, alone.what) << r.message;
  EXPECT_EQ(r.message, alone.message);
  EXPECT_EQ(r.executions, alone.executions);
  EXPECT_EQ(r.blocked, alone.blocked);
  ASSERT_EQ(r.trace.size(), alone.trace.size());
  for (std::size_t i = 0; i != r.trace.size(); ++i) {
    EXPECT_EQ(r.trace[i].where.line, alone.trace[i].where.line) << "step " << i;
    EXPECT_EQ(r.trace[i].reads_from, alone.trace[i].reads_from) << "step " << i;
  }
}

/// Fails in the graphs in which the values that the threads read have a certain sum. With some sums the failure comes
/// long after the processes have begun to share the search.
struct rare_failure final : scenario {
  static constexpr int stores = 4;
  atomic<int> x{0};
  atomic<int> y{0};
  atomic<int> sum{0};
  void thread(unsigned index) override {
    atomic<int>& written = index == 0 ? x : y;
    atomic<int>& read = index == 0 ? y : x;
    for (int i = 1; i <= stores; ++i) {
      written.store(i, relaxed);
      sum.fetch_add(read.load(relaxed), relaxed);
    }
  }
  void finish() override {
    const int total = sum.load(relaxed);
    record_outcome(std::to_string(total).c_str());
    if (total != unlucky) return;
    require(survivor != 0, "the unlucky sum");
    if (getpid() != survivor) raise(SIGKILL);
  }
  static inline int unlucky = -1;
  /// If this is not 0, the unlucky sum kills the process that finds it, unless that is process `survivor`. 0: it is a
  /// failure.
  static inline pid_t survivor = 0;
};

class parallel : public testing::Test {
 protected:
  ~parallel() override {
    orders = {};
    deque_now = {};
    rare_failure::unlucky = -1;
    rare_failure::survivor = 0;
  }
};

const go_runq_program medium{"ppgpp", 2};      // 9,157 graphs
const chase_lev_program large{"ppptt", 2, 2};  // 90,535 graphs

TEST_F(parallel, the_reference_deque_has_its_90535_graphs) {
  for (const unsigned jobs : {1U, 2U, 4U}) {
    const search_result r = search_chase_lev(large, {.jobs = jobs});
    EXPECT_EQ(r.what, failure::none) << r.message;
    EXPECT_EQ(r.how, coverage::exhaustive);
    EXPECT_EQ(r.executions, 90'535U) << jobs << " jobs";
    EXPECT_EQ(r.blocked, 0U);
  }
}

TEST_F(parallel, counts_are_the_same_every_time) {
  for (const bool blocking : {false, true}) {
    const search_result alone = search_go(medium, {.retries_block = blocking});
    EXPECT_EQ(alone.executions, blocking ? 73U : 9'157U);
    for (int i = 0; i != times; ++i) {
      for (const unsigned jobs : {2U, 4U})
        expect_same(search_go(medium, {.retries_block = blocking, .jobs = jobs}), alone);
    }
  }
}

TEST_F(parallel, no_graph_is_visited_by_two_processes) {
  exact_statistics statistics;
  const search_result r = search_go(medium, {.check_duplicates = true, .jobs = 3}, &statistics);
  EXPECT_EQ(r.executions, 9'157U);
  EXPECT_EQ(statistics.duplicates, 0U);
}

TEST_F(parallel, mutants_die_of_the_same_failure) {
  const auto dies = [](const chase_lev_program& program) {
    const search_result alone = search_chase_lev(program, {});
    EXPECT_NE(alone.what, failure::none);
    for (const unsigned jobs : {2U, 4U}) expect_same(search_chase_lev(program, {.jobs = jobs}), alone);
  };
  for (int i = 0; i != times; ++i) {
    deque_now = {};
    deque_now.pop_fence = relaxed;
    dies({"ppptt", 1, 2});
    deque_now = {};
    deque_now.steal_fence = relaxed;
    dies({"ppptt", 2, 1});
    deque_now = {};
    deque_now.array_publish = relaxed;
    dies({"ppptt", 2, 1});
    deque_now = {};
    deque_now = {.push_uses_new_array = false};
    dies({"ppptt", 2, 1});
    deque_now = {};
  }
}

TEST_F(parallel, outcomes_of_all_processes_are_put_together) {
  clear_outcomes();
  const search_result alone = search<rare_failure>(2, {});
  const std::vector<std::string> seen = outcomes();
  EXPECT_GT(alone.executions, 5'000U);
  for (int i = 0; i != 3; ++i) {
    clear_outcomes();
    expect_same(search<rare_failure>(2, {.jobs = 4}), alone);
    EXPECT_EQ(outcomes(), seen);
  }
}

TEST_F(parallel, a_failure_found_by_another_process_is_told_as_one_process_tells_it) {
  constexpr int largest_sum = 2 * rare_failure::stores * rare_failure::stores;
  std::uint64_t latest = 0;
  for (rare_failure::unlucky = 0; rare_failure::unlucky <= largest_sum; ++rare_failure::unlucky) {
    clear_outcomes();
    const search_result alone = search<rare_failure>(2, {});
    if (alone.what == failure::none || alone.executions < 2'000) continue;
    latest = std::max(latest, alone.executions);
    const std::vector<std::string> seen = outcomes();
    for (int i = 0; i != 4; ++i) {
      clear_outcomes();
      expect_same(search<rare_failure>(2, {.jobs = i % 2 == 0 ? 2U : 4U}), alone);
      EXPECT_EQ(outcomes(), seen);
    }
  }
  EXPECT_GT(latest, 2'000U);
}

TEST_F(parallel, a_process_that_dies_changes_nothing) {
  const search_result alone = search<rare_failure>(2, {});
  rare_failure::survivor = getpid();
  rare_failure::unlucky = 16;
  expect_same(search<rare_failure>(2, {.jobs = 4}), alone);
}

TEST_F(parallel, load_buffering_counts_each_graph_once) {
  orders.get_claim = relaxed;
  const exact_options options{.load_buffering = true, .retries_block = true};
  const search_result alone = search_go({"ppgp", 3}, options);
  exact_options together = options;
  together.jobs = 4;
  for (int i = 0; i != 3; ++i) {
    const search_result r = search_go({"ppgp", 3}, together);
    EXPECT_EQ(r.what, alone.what);
    EXPECT_EQ(r.executions, alone.executions);
  }
}

TEST_F(parallel, limits_are_limits_of_all_processes) {
  const search_result r = search_chase_lev(large, {.jobs = 4, .max_executions = 5'000});
  EXPECT_EQ(r.how, coverage::cut_short);
  EXPECT_NE(r.message.find("max_executions"), std::string::npos);
  EXPECT_LT(r.executions, 90'000U);
  const search_result timed = search_chase_lev(large, {.jobs = 4, .time_limit_seconds = 0.05});
  EXPECT_EQ(timed.how, coverage::cut_short);
  EXPECT_NE(timed.message.find("time_limit_seconds"), std::string::npos);
}

TEST_F(parallel, an_execution_that_is_asked_for_is_the_one_of_that_number) {
  const search_result alone = search_go(medium, {.show_execution = 5'000});
  expect_same(search_go(medium, {.jobs = 4, .show_execution = 5'000}), alone);
  EXPECT_FALSE(alone.trace.empty());
}

}  // namespace
}  // namespace runq::model
