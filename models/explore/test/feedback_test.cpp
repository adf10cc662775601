// SPDX-License-Identifier: MIT
#include "feedback.hpp"

#include <map>
#include <vector>

#include <gtest/gtest.h>

namespace runq::model::explore {
namespace {

/// How often which beginning is chosen, of so many runs.
[[nodiscard]] std::map<std::string, int> chosen_of(const seed_pool& pool, int runs) {
  std::map<std::string, int> chosen;
  for (int seed = 1; seed <= runs; ++seed) ++chosen[text_of(pool.choose(static_cast<std::uint64_t>(seed)), 0)];
  return chosen;
}

TEST(feedback, seeds_are_written_as_they_are_read) {
  for (const char* text : {"17", "17@350,5", "17@350,93@1200,5", "0@1,0"}) {
    leads before{{9, 9}};
    std::uint64_t seed = 0;
    EXPECT_TRUE(read_seeds(text, before, seed)) << text;
    EXPECT_EQ(text_of(before, seed), text);
  }
}

TEST(feedback, other_texts_are_no_seeds) {
  for (const char* text : {"", "x", "17@350", "17@350,", "17,5", "17@x,5", "17@350;5", "17@0,5", "17@350,9@350,5",
                           "17@350,9@349,5", "5 ", "-5"}) {
    leads before;
    std::uint64_t seed = 0;
    EXPECT_FALSE(read_seeds(text, before, seed)) << text;
  }
}

TEST(feedback, a_pool_that_knows_nothing_begins_nothing) {
  EXPECT_EQ(chosen_of({}, 100), (std::map<std::string, int>{{"0", 100}}));
}

TEST(feedback, each_second_run_begins_until_behind_the_step_that_showed_a_pair) {
  seed_pool pool;
  const std::vector<seen_pair> pairs{{1, 20}};
  pool.learn({}, 7, pairs);
  EXPECT_EQ(pool.pairs(), 1U);
  const auto chosen = chosen_of(pool, 1000);
  EXPECT_EQ(chosen.size(), 2U);
  EXPECT_NEAR(chosen.at("7@21,0"), 500, 60);
}

TEST(feedback, a_run_that_began_as_another_is_repeated_from_there) {
  const leads before{{7, 21}, {8, 40}};
  for (const auto& [step, expected] : std::map<std::uint64_t, std::string>{
           {10, "7@11,0"}, {20, "7@21,0"}, {21, "7@21,8@22,0"}, {39, "7@21,8@40,0"}, {40, "7@21,8@40,9@41,0"}}) {
    seed_pool pool;
    pool.learn(before, 9, std::vector<seen_pair>{{1, step}});
    EXPECT_GT(chosen_of(pool, 100)[expected], 0) << step;
  }
}

TEST(feedback, what_few_runs_have_shown_is_chosen_more_often) {
  seed_pool pool;
  for (std::uint64_t seed = 1; seed <= 9; ++seed) pool.learn({}, seed, std::vector<seen_pair>{{1, 10}});
  pool.learn({}, 10, std::vector<seen_pair>{{2, 30}});
  EXPECT_NEAR(chosen_of(pool, 2000)["10@31,0"], 900, 90);
}

TEST(feedback, any_run_that_has_shown_a_pair_may_be_the_one_that_is_repeated) {
  std::map<std::string, int> kept;
  for (std::uint64_t first = 0; first != 2000; first += 2) {
    seed_pool pool;
    pool.learn({}, first, std::vector<seen_pair>{{1, 10}});
    pool.learn({}, first + 1, std::vector<seen_pair>{{1, 20}});
    const auto chosen = chosen_of(pool, 20);
    ASSERT_EQ(chosen.size(), 2U);
    ++kept[chosen.contains(std::to_string(first) + "@11,0") ? "first" : "second"];
  }
  EXPECT_NEAR(kept["first"], 500, 60);
}

TEST(feedback, a_run_learns_from_those_that_began_long_before) {
  ordered_pool all;
  EXPECT_TRUE(all.learn_for(feedback_lag - 1));
  EXPECT_FALSE(all.learn_for(feedback_lag));
  all.note(1, {}, 101, std::vector<seen_pair>{{2, 20}});
  EXPECT_FALSE(all.learn_for(feedback_lag));
  all.note(0, {}, 100, std::vector<seen_pair>{{1, 10}});
  EXPECT_TRUE(all.learn_for(feedback_lag));
  EXPECT_EQ(all.pool().pairs(), 1U);
  EXPECT_TRUE(chosen_of(all.pool(), 100).contains("100@11,0"));
  EXPECT_TRUE(all.learn_for(feedback_lag + 1));
  EXPECT_EQ(all.pool().pairs(), 2U);
  EXPECT_FALSE(all.learn_for(feedback_lag + 2));
}

TEST(feedback, in_the_end_all_are_learned_from) {
  ordered_pool all;
  all.note(5, {{7, 21}}, 105, std::vector<seen_pair>{{1, 30}});
  all.note(2, {}, 102, std::vector<seen_pair>{{2, 20}});
  all.learn_all();
  EXPECT_EQ(all.pool().pairs(), 2U);
  EXPECT_TRUE(chosen_of(all.pool(), 100).contains("7@21,105@31,0"));
}

}  // namespace
}  // namespace runq::model::explore
