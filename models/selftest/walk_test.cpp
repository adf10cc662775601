// SPDX-License-Identifier: MIT
// When a search is too large: how large it is thought to be, a bound on deviations, and random walks. Everything here
// is deterministic: estimates depend on the events that were executed, not on the time that this took.
#include <cmath>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "exact.hpp"
#include "exact_walk.hpp"
#include "reference/chase_lev_2013.hpp"
#include "reference/go_runq.hpp"

namespace runq::model {
namespace {

using namespace reference;

const go_runq_program medium{"ppgpp", 2};      // 9,157 graphs
const chase_lev_program large{"ppptt", 2, 2};  // 90,535 graphs

search_result search_go(const exact_options& options, exact_statistics* statistics = nullptr) {
  go_program = medium;
  case_spec spec{.name = "walk", .property = "", .threads = medium.thieves + 1};
  spec.construct = [](void* where) -> scenario* { return ::new (where) go_runq_scenario<2>; };
  return run_exact(spec, options, statistics);
}

search_result search_chase_lev(const exact_options& options) {
  deque_program = large;
  case_spec spec{.name = "walk", .property = "", .threads = large.thieves + 1};
  spec.construct = [](void* where) -> scenario* { return ::new (where) chase_lev_scenario; };
  return run_exact(spec, options);
}

std::vector<search_progress> told;
void note_progress(const search_progress& now) { told.push_back(now); }

/// A progress report each time that the engine looks at the clock, which it does after so many events.
constexpr exact_options talkative{.progress = note_progress, .progress_seconds = 0};

class walk : public testing::Test {
 protected:
  walk() { told.clear(); }
  ~walk() override {
    orders = {};
    deque_now = {};
  }
};

// --- how large it is -------------------------------------------------------------------------------------------------

/// Estimates are near `total` from a tenth of the search on. docs/checking.md states the factor.
void expect_estimates_are_near(std::uint64_t total) {
  constexpr std::uint64_t factor = 8;
  ASSERT_GT(told.size(), 5U);
  std::uint64_t too_small = 0;
  std::uint64_t too_large = 0;
  for (const search_progress& p : told) {
    EXPECT_LE(p.executions, total);
    if (p.executions < total / 10) continue;
    const auto estimated = static_cast<std::uint64_t>(p.estimated);
    too_small += estimated * factor < total ? 1 : 0;
    too_large += estimated > total * factor ? 1 : 0;
  }
  EXPECT_EQ(too_small, 0U);
  EXPECT_EQ(too_large, 0U);
}

TEST_F(walk, after_a_tenth_of_the_go_queue_its_size_is_known_within_a_factor_of_8) {
  search_go(talkative);
  expect_estimates_are_near(9'157);
}

TEST_F(walk, after_a_tenth_of_the_deque_its_size_is_known_within_a_factor_of_8_and_at_the_end_exactly) {
  const search_result r = search_chase_lev(talkative);
  expect_estimates_are_near(90'535);
  EXPECT_EQ(r.executions, 90'535U);
  EXPECT_NEAR(told.back().estimated, 90'535, 90'535 * 0.1);
}

// --- a bound ---------------------------------------------------------------------------------------------------------

TEST_F(walk, more_deviations_give_more_executions_up_to_all_of_them) {
  std::uint64_t before = 0;
  exact_options options{.check_duplicates = true};
  for (options.bound = 0; options.bound != 40; ++options.bound) {
    exact_statistics statistics;
    const search_result r = search_go(options, &statistics);
    EXPECT_EQ(r.how, coverage::bounded);
    EXPECT_EQ(r.what, failure::none);
    EXPECT_EQ(statistics.duplicates, 0U);
    EXPECT_GE(r.executions, before) << options.bound;
    if (options.bound == 0) {
      EXPECT_EQ(r.executions, 1U);
    }
    before = r.executions;
    EXPECT_EQ(r.cut_off == 0, r.executions == 9'157U) << options.bound;
    if (r.cut_off == 0) break;
  }
  EXPECT_EQ(before, 9'157U);
}

TEST_F(walk, a_bounded_search_is_the_same_by_several_processes) {
  const search_result alone = search_go({.bound = 8});
  EXPECT_GT(alone.executions, 1'000U);  // so that the search is shared
  EXPECT_LT(alone.executions, 9'157U);
  const search_result together = search_go({.bound = 8, .jobs = 3});
  EXPECT_EQ(together.executions, alone.executions);
  EXPECT_EQ(together.cut_off, alone.cut_off);
  EXPECT_EQ(together.how, coverage::bounded);
}

// --- random walks ----------------------------------------------------------------------------------------------------

TEST_F(walk, walks_tell_the_size_within_a_factor_of_2) {
  const search_result r = search_go({.walks = 1'000, .seed = 7});
  EXPECT_EQ(r.how, coverage::sampled);
  EXPECT_EQ(r.walks, 1'000U);
  EXPECT_GT(r.estimated, 9'157 / 2.0);
  EXPECT_LT(r.estimated, 9'157 * 2.0);
  EXPECT_GT(r.standard_error, 0);
  EXPECT_NEAR(r.estimated, 9'157, 3 * r.standard_error);
}

TEST_F(walk, one_walk_has_no_standard_error) { EXPECT_EQ(search_go({.walks = 1, .seed = 7}).standard_error, 0); }

TEST_F(walk, a_walk_keeps_a_graph_for_each_number_of_events) {
  EXPECT_GT(search_go({.walks = 10, .seed = 7}).executions, 10 * 20U);  // a path has fewer
}

TEST(mean_of_walks, a_mean_knows_its_standard_error) {
  exact::mean m;
  EXPECT_EQ(m.standard_error(), 0);
  for (const double x : {2.0, 4.0, 4.0, 6.0}) m.add(x);
  EXPECT_DOUBLE_EQ(m.value(), 4);
  EXPECT_DOUBLE_EQ(m.standard_error(), std::sqrt(8.0 / 3 / 4));
}

TEST_F(walk, the_same_seed_makes_the_same_walks) {
  const search_result one = search_go({.walks = 50, .seed = 7});
  EXPECT_EQ(one.executions, search_go({.walks = 50, .seed = 7}).executions);
  EXPECT_EQ(one.estimated, search_go({.walks = 50, .seed = 7}).estimated);
  EXPECT_NE(one.estimated, search_go({.walks = 50, .seed = 8}).estimated);
}

TEST_F(walk, a_walk_finds_a_seeded_bug_and_its_execution_can_be_shown) {
  orders.put_tail = std::memory_order::relaxed;
  const search_result found = search_go({.walks = 1'000, .seed = 7});
  EXPECT_NE(found.what, failure::none);
  const search_result again = search_go({.walks = 1'000, .seed = 7, .show_execution = found.executions});
  EXPECT_EQ(again.what, found.what);
  ASSERT_EQ(again.trace.size(), found.trace.size());
}

}  // namespace
}  // namespace runq::model
