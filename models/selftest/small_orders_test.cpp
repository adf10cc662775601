// SPDX-License-Identifier: MIT
// The order of seq_cst operations, where happens-before leads through other accesses: programs of three and four
// threads against the enumerator, and executions that RC11 allows and C++20 forbids.
#include <random>

#include <gtest/gtest.h>

#include "exact.hpp"
#include "oracle/enumerate.hpp"
#include "program_scenario.hpp"

namespace runq::model {
namespace {

constexpr auto rlx = std::memory_order::relaxed;
constexpr auto acq = std::memory_order::acquire;
constexpr auto rel = std::memory_order::release;
constexpr auto sc = std::memory_order::seq_cst;

template <class Scenario>
search_result search(unsigned threads, const exact_options& options = {}) {
  case_spec spec{.name = "orders", .property = "", .threads = threads};
  spec.construct = [](void* where) -> scenario* { return ::new (where) Scenario; };
  return run_exact(spec, options);
}

/// A cycle of `threads` threads. Each reads what the one before has written and writes what the next one reads; what is
/// in between and what order each has is drawn: seq_cst, a fence, or just enough to synchronise.
selftest::program random_mixed_cycle(std::mt19937& random) {
  const auto below = [&](unsigned end) { return static_cast<unsigned>(random() % end); };
  const unsigned threads = 3 + below(2);
  const unsigned variables = threads - below(2);
  selftest::program p(threads);
  const auto add = [&](unsigned thread, unsigned variable, bool writes) {
    selftest::instruction i;
    i.what = writes ? selftest::action::store : selftest::action::load;
    i.variable = variable % variables;
    i.operand = 1 + thread;
    const unsigned kind = below(5);
    i.order = kind < 2 ? sc : kind == 2 ? rlx : writes ? rel : acq;
    p[thread].push_back(i);
  };
  for (unsigned t = 0; t != threads; ++t) {
    add(t, t, below(3) == 0);
    if (below(3) == 0) {
      selftest::instruction fence;
      fence.what = selftest::action::fence;
      fence.order = sc;
      p[t].push_back(fence);
    }
    if (below(5) == 0) add(t, below(variables), below(2) == 0);
    add(t, t + 1, below(3) != 0);
  }
  return p;
}

TEST(small_orders, agree_with_the_enumerator_where_fences_and_accesses_are_mixed) {
  constexpr std::uint64_t budget = 400;
  std::mt19937 random(11);
  for (unsigned compared = 0; compared != 4'000;) {
    const selftest::program p = random_mixed_cycle(random);
    const auto expected = selftest::enumerate_all(p, budget);
    if (!expected) continue;
    ++compared;
    selftest::current_program = &p;
    selftest::program_outcomes.clear();
    const search_result r = search<selftest::program_scenario>(static_cast<unsigned>(p.size()));
    ASSERT_EQ(r.what, failure::none) << r.message;
    ASSERT_EQ(r.executions, expected->graphs) << selftest::to_text(p);
    ASSERT_EQ(selftest::program_outcomes, expected->outcomes) << selftest::to_text(p);
  }
}

// Fails if thread 1 has acquired the last store of thread 0 to x, while thread 2 has read what x was before.
template <std::memory_order Order, bool Twice>
struct stores_then_release final : scenario {
  atomic<int> x{0};
  atomic<int> y{0};
  int acquired = 0;
  int early = 1;
  int late = 1;
  void thread(unsigned index) override {
    if (index == 0) {
      x.store(1, Order);
      if (Twice) x.store(2, Order);
    } else if (index == 1) {
      acquired = x.load(acq);
      early = y.load(sc);
    } else {
      y.store(1, sc);
      late = x.load(sc);
    }
  }
  void finish() override { require(acquired != (Twice ? 2 : 1) || early != 0 || late != 0, "an old value"); }
};
// Fails if thread 2 reads what thread 1 has written after a fence of thread 0, and not what comes before that fence.
template <std::memory_order Order>
struct fence_before_a_relaxed_store final : scenario {
  atomic<int> x{0};
  atomic<int> y{0};
  atomic<int> z{0};
  int told = 0;
  int found = 1;
  int early = 1;
  void thread(unsigned index) override {
    if (index == 0) {
      y.store(1, rlx);
      atomics::fence(Order);
      x.store(1, rel);
    } else if (index == 1) {
      told = x.load(acq);
      if (told == 1) z.store(1, rlx);
    } else {
      early = z.load(sc);
      found = y.load(sc);
    }
  }
  void finish() override { require(told != 1 || early != 1 || found != 0, "an old value"); }
};
TEST(small_orders, an_execution_that_only_rc11_allows_is_told_as_such) {
  const auto only_rc11 = [](const search_result& r) {
    EXPECT_EQ(r.what, failure::check_failed);
    return r.forbidden_by_cpp20;
  };
  EXPECT_TRUE(only_rc11(search<stores_then_release<sc, true>>(3)));
  EXPECT_FALSE(only_rc11(search<stores_then_release<rel, true>>(3)));
  EXPECT_FALSE(only_rc11(search<stores_then_release<sc, false>>(3)));
  EXPECT_TRUE(only_rc11(search<fence_before_a_relaxed_store<sc>>(3)));
  EXPECT_FALSE(only_rc11(search<fence_before_a_relaxed_store<rel>>(3)));
}

}  // namespace
}  // namespace runq::model
