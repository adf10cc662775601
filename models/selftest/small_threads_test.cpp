// SPDX-License-Identifier: MIT
// What the exact engine offers to programs that start threads (exact_program_operations.hpp), used without a compiled
// program.
#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "exact_search.hpp"

namespace runq::model {
namespace {

constexpr auto rlx = std::memory_order::relaxed;
constexpr site here{__FILE__, __LINE__};

/// A program as functions, one for each thread. Thread 1 runs first, and spawns the others.
class threads final : public exact::program {
 public:
  using body = std::function<void(exact::search&)>;

  explicit threads(std::array<body, 3> bodies) : bodies_(std::move(bodies)) {}

  search_result explore(exact_options options = {}) {
    options.check_duplicates = true;
    exact::search s(*this, options);
    search_ = &s;
    const search_result r = s.run();
    EXPECT_EQ(s.statistics().duplicates, 0U);
    weight_done = s.weight_done();
    return r;
  }

  bool stops = false;
  bool claims = false;
  std::uint64_t first_value = 0;   ///< of the variables
  std::uint64_t first_values = 0;  ///< grows by so much from execution to execution
  unsigned begun_again = 0;
  double weight_done = 0;

  [[nodiscard]] location variable(unsigned index) {
    return search_->find_variable(index, ~std::uint64_t{0}, first_value, here);
  }

  void begin_search_again() override { ++begun_again; }
  void begin_execution() override { first_value += first_values; }
  void run(unsigned thread) override { bodies_.at(thread - 1)(*search_); }
  void enter(unsigned) noexcept override {}
  void leave() noexcept override {}
  void end_execution() override {}
  [[nodiscard]] bool may_stop(unsigned) const override { return stops; }
  [[nodiscard]] bool claims_to_finish(unsigned) const override { return claims; }
  [[nodiscard]] std::string name_of_variable(unsigned) override { return {}; }

 private:
  std::array<body, 3> bodies_;
  exact::search* search_ = nullptr;
};

void nothing(exact::search&) {}

TEST(small_threads, a_read_that_repeats_another_one_is_not_revisited) {
  threads* p = nullptr;
  threads program({[&](exact::search& s) {
                     s.spawn(2, here);
                     location x = p->variable(0);
                     const exact::event_id first{1, static_cast<std::uint16_t>(s.position())};
                     const std::uint64_t seen = s.load(x, rlx, here);
                     if (s.load(x, rlx, first, here) != seen) s.fail(failure::check_failed, "another value", here);
                   },
                   [&](exact::search& s) {
                     location x = p->variable(0);
                     s.store(x, 1, rlx, here);
                   },
                   nothing});
  p = &program;
  const search_result r = program.explore();
  EXPECT_EQ(r.what, failure::none) << r.message;
  EXPECT_EQ(r.executions, 2U);
}

TEST(small_threads, a_wait_that_has_to_read_what_another_read_has_read_is_not_tried_again) {
  threads* p = nullptr;
  const auto store = [&](std::uint64_t first, std::uint64_t last) {
    return [&, first, last](exact::search& s) {
      location x = p->variable(0);
      for (std::uint64_t value = first; value <= last; ++value) s.store(x, value, rlx, here);
    };
  };
  threads program({[&](exact::search& s) {
                     s.spawn(2, here);
                     s.spawn(3, here);
                     location x = p->variable(0);
                     const exact::event_id first{1, static_cast<std::uint16_t>(s.position())};
                     (void)s.load(x, rlx, here);
                     s.await_begin();
                     while (s.load(x, rlx, first, here) == 0) s.await_failed(here);
                   },
                   store(1, 1), store(2, 3)});
  p = &program;
  EXPECT_EQ(program.explore().executions, 9U);
  EXPECT_EQ(program.explore({.waits_in_place = true}).executions, 9U);
}

/// Thread 2 waits for thread 3, which finds in some executions that it did so in place, and gives that up then.
TEST(small_threads, a_search_that_begins_again_is_one_whose_waits_block) {
  threads* p = nullptr;
  threads program({[&](exact::search& s) {
                     s.spawn(2, here);
                     s.spawn(3, here);
                   },
                   [&](exact::search& s) {
                     location x = p->variable(0);
                     s.await_begin();
                     while (s.load(x, rlx, here) == 0) s.await_failed(here);
                   },
                   [&](exact::search& s) {
                     const unsigned chosen = s.choose(3, here);
                     location x = p->variable(0);
                     const exact::event_id of_x{static_cast<std::uint16_t>(exact::constructing), 0};
                     if (chosen == 2 && s.current_graph().was_awaited_beside(of_x, 3, s.knows()))
                       s.give_up_waits_in_place("thread 2 waits");
                     s.store(x, 1 + chosen, rlx, here);
                   }});
  p = &program;
  const search_result off = program.explore();
  EXPECT_EQ(program.begun_again, 0U);
  EXPECT_EQ(off.executions, 3U);
  const search_result on = program.explore({.waits_in_place = true});
  EXPECT_EQ(program.begun_again, 1U);
  EXPECT_TRUE(on.began_again);
  EXPECT_EQ(on.how, coverage::exhaustive) << on.message;
  EXPECT_EQ(on.executions, off.executions);
  EXPECT_EQ(on.blocked, off.blocked);
  EXPECT_NEAR(program.weight_done, 1, 1e-9);
}

TEST(small_threads, each_choice_is_explored_once_though_a_revisit_removes_it) {
  threads* p = nullptr;
  unsigned sum = 0;
  threads program({[&](exact::search& s) {
                     s.spawn(2, here);
                     location x = p->variable(0);
                     (void)s.load(x, rlx, here);
                     const unsigned chosen = s.choose(3, here);
                     if (s.at_frontier()) sum |= 1U << chosen;
                   },
                   [&](exact::search& s) {
                     location x = p->variable(0);
                     s.store(x, 1, rlx, here);
                   },
                   nothing});
  p = &program;
  EXPECT_EQ(program.explore().executions, 6U);
  EXPECT_EQ(sum, 0b111U);
}

TEST(small_threads, two_that_join_each_other_wait_for_ever) {
  threads program({[](exact::search& s) {
                     s.spawn(2, here);
                     s.join(2, here);
                   },
                   [](exact::search& s) { s.join(1, here); }, nothing});
  const search_result r = program.explore();
  EXPECT_EQ(r.what, failure::deadlock);
  EXPECT_EQ(r.where.line, here.line);
  EXPECT_GE(r.trace.back().thread, 0);
  ASSERT_EQ(r.stuck.size(), 2U);
  EXPECT_EQ(r.stuck[0].joins + r.stuck[1].joins, 1);
}

TEST(small_threads, a_variable_that_begins_with_another_value_each_time_is_told) {
  threads* p = nullptr;
  threads program({[&](exact::search& s) {
                     s.spawn(2, here);
                     location x = p->variable(0);
                     s.store(x, 7, rlx, here);
                   },
                   [&](exact::search& s) {
                     location x = p->variable(0);
                     (void)s.load(x, rlx, here);
                   },
                   nothing});
  p = &program;
  EXPECT_EQ(program.explore().executions, 2U);
  program.first_values = 1;
  EXPECT_EQ(program.explore().what, failure::misuse);
}

// Thread 2 may stop for ever before its read-modify-write, for which thread 3 waits.
search_result waits_for_one_that_stops(bool claims) {
  threads* p = nullptr;
  threads program({[&](exact::search& s) {
                     s.let_stop(2);
                     s.spawn(2, here);
                     s.spawn(3, here);
                   },
                   [&](exact::search& s) {
                     location x = p->variable(0);
                     (void)s.rmw(x, rmw_op::add, 1, rlx, here);
                   },
                   [&](exact::search& s) {
                     location x = p->variable(0);
                     s.await_begin();
                     while (s.load(x, rlx, here) == 0) s.await_failed(here);
                   }});
  p = &program;
  program.stops = true;
  program.claims = claims;
  return program.explore();
}
TEST(small_threads, only_a_call_that_is_claimed_lock_free_may_not_wait_for_a_thread_that_has_stopped) {
  const search_result r = waits_for_one_that_stops(true);
  EXPECT_EQ(r.what, failure::not_lock_free);
  ASSERT_EQ(r.stuck.size(), 2U);
  EXPECT_TRUE(r.stuck[0].thread == 2 && !r.stuck[0].stopped);
  EXPECT_TRUE(r.stuck[1].thread == 1 && r.stuck[1].stopped);
  EXPECT_EQ(waits_for_one_that_stops(false).what, failure::none);
}

}  // namespace
}  // namespace runq::model
