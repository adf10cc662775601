// SPDX-License-Identifier: MIT
// exact_options::waits_in_place: waits that are tried again in the same execution. `./kit verify --oracle` compares it
// with searches without it on all generated programs that wait.
#include <array>
#include <random>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "exact.hpp"
#include "oracle/enumerate.hpp"
#include "program.hpp"
#include "program_scenario.hpp"
#include "scenario.hpp"
#include "waiting.hpp"

namespace runq::model {
namespace {

constexpr auto rlx = std::memory_order::relaxed;
constexpr auto acq = std::memory_order::acquire;
constexpr auto rel = std::memory_order::release;

template <class Scenario>
search_result search(unsigned threads, bool in_place, unsigned jobs = 1) {
  case_spec spec{.name = "selftest", .property = "", .threads = threads};
  spec.construct = [](void* where) -> scenario* { return ::new (where) Scenario; };
  exact_statistics statistics;
  const search_result r =
      run_exact(spec, {.check_duplicates = true, .waits_in_place = in_place, .jobs = jobs, .max_executions = 10'000},
                &statistics);
  EXPECT_EQ(statistics.duplicates, 0U);
  return r;
}

struct ticket_lock final : scenario {
  atomic<int> next{0};
  atomic<int> serving{0};
  cell<int> inside{0};
  void thread(unsigned) override {
    const int mine = next.fetch_add(1, rlx);
    await([&] { return serving.load(acq) == mine; });
    inside.set(inside.get() + 1);
    serving.store(mine + 1, rel);
  }
};

struct await_all final : scenario {
  atomic<int> arrived{0};
  void thread(unsigned) override {
    arrived.fetch_add(1, rlx);
    await([this] { return arrived.load(rlx) == 4; });
  }
};

struct one_mutex final : scenario {
  mutex m;
  void thread(unsigned) override {
    m.lock();
    m.unlock();
  }
};

struct nobody_comes final : scenario {
  atomic<int> x{0};
  void thread(unsigned index) override {
    if (index == 0) {
      x.store(1, rlx);
    } else {
      await([this] { return x.load(rlx) == 2; });
    }
  }
};

struct crossed_locks final : scenario {
  std::array<mutex, 2> m;
  void thread(unsigned index) override {
    m[index].lock();
    m[1 - index].lock();
    m[1 - index].unlock();
    m[index].unlock();
  }
};

/// The value that ends the wait may be replaced before it is seen.
struct lost_wake_up final : scenario {
  atomic<int> x{0};
  void thread(unsigned index) override {
    if (index == 0) {
      x.store(1, rlx);
      x.store(2, rlx);
    } else {
      await([this] { return x.load(rlx) == 1; });
    }
  }
};

/// The value that ends the wait may come before one that does not, although that was seen already.
struct ended_by_an_older_value final : scenario {
  atomic<int> x{0};
  void thread(unsigned index) override {
    if (index == 0) {
      await([this] { return x.load(rlx) >= 2; });
    } else {
      x.store(static_cast<int>(index), rlx);
    }
  }
};

template <class Scenario>
void expect_none_blocked(unsigned threads, std::uint64_t executions, std::uint64_t blocked_otherwise) {
  const search_result off = search<Scenario>(threads, false);
  EXPECT_EQ(off.executions, executions);
  EXPECT_EQ(off.blocked, blocked_otherwise);
  for (const unsigned jobs : {1U, 3U}) {
    const search_result on = search<Scenario>(threads, true, jobs);
    EXPECT_EQ(on.how, coverage::exhaustive);
    EXPECT_EQ(on.what, failure::none) << on.message;
    EXPECT_EQ(on.executions, executions);
    EXPECT_EQ(on.blocked, 0U);
  }
}

TEST(waits_in_place, leave_no_execution_blocked) {
  expect_none_blocked<ticket_lock>(4, 24, 312);
  expect_none_blocked<await_all>(4, 24, 552);
  expect_none_blocked<one_mutex>(4, 24, 36);
}

/// The same failure, of the same threads, which have made as many steps.
template <class Scenario>
void expect_the_same_deadlock(unsigned threads = 2) {
  const search_result off = search<Scenario>(threads, false);
  const search_result on = search<Scenario>(threads, true);
  ASSERT_EQ(off.what, failure::deadlock);
  ASSERT_EQ(on.what, failure::deadlock);
  EXPECT_EQ(on.trace.size(), off.trace.size());
  EXPECT_EQ(on.where.line, off.where.line);
  ASSERT_EQ(on.stuck.size(), off.stuck.size());
  for (std::size_t i = 0; i != on.stuck.size(); ++i) EXPECT_EQ(on.stuck[i].thread, off.stuck[i].thread);
}

TEST(waits_in_place, find_every_deadlock) {
  expect_the_same_deadlock<nobody_comes>();
  expect_the_same_deadlock<crossed_locks>();
  expect_the_same_deadlock<lost_wake_up>();
  expect_the_same_deadlock<ended_by_an_older_value>(4);
}

/// Thread 1 frees what thread 0 awaits: at once, or once it knows that thread 0 waits no more.
template <bool Ends, bool Knows>
struct freed_beside_a_wait final : scenario {
  struct flag {
    atomic<int> v{0};
  };
  flag* const awaited = ::new (current_engine().allocate(sizeof(flag), {})) flag;
  atomic<int> done{0};
  void thread(unsigned index) override {
    if (index == 0) {
      await([this] { return awaited->v.load(acq) == 1; });
      done.store(1, rel);
    } else {
      awaited->v.store(Ends ? 1 : 2, rel);
      if (Knows) await([this] { return done.load(acq) == 1; });
      awaited->~flag();
      current_engine().deallocate(awaited, {});
    }
  }
};

TEST(waits_in_place, find_memory_that_is_freed_beside_a_wait) {
  for (const bool in_place : {false, true}) {
    EXPECT_EQ((search<freed_beside_a_wait<true, false>>(2, in_place).what), failure::use_after_free);
    EXPECT_EQ((search<freed_beside_a_wait<false, false>>(2, in_place).what), failure::use_after_free);
    EXPECT_EQ((search<freed_beside_a_wait<false, true>>(2, in_place).what), failure::deadlock);
    const search_result known = search<freed_beside_a_wait<true, true>>(2, in_place);
    EXPECT_EQ(known.what, failure::none) << known.message;
    EXPECT_EQ(known.executions, 1U);
  }
}

struct taken_weakly final : scenario {
  atomic<int> x{0};
  void thread(unsigned) override {
    await([this] {
      int expected = 0;
      return x.compare_exchange_weak(expected, 1, acq, rlx);
    });
    x.store(0, rel);
  }
};

TEST(waits_in_place, a_spurious_failure_is_no_wait) {
  case_spec spec{.name = "selftest", .property = "", .threads = 2};
  spec.construct = [](void* where) -> scenario* { return ::new (where) taken_weakly; };
  const search_result off = run_exact(spec, {.spurious_failures = 1});
  const search_result on = run_exact(spec, {.spurious_failures = 1, .waits_in_place = true});
  EXPECT_EQ(off.what, failure::none);
  EXPECT_EQ(on.what, failure::none) << on.message;
  EXPECT_EQ(on.executions, off.executions);
}

/// Blocks its execution as without the option: the first read of a round in vain may read something else the next time.
struct awaits_two final : scenario {
  std::array<atomic<int>, 2> x{};
  atomic<int> done{0};
  void thread(unsigned index) override {
    if (index == 0) {
      await([this] { return x[0].load(rlx) + x[1].load(rlx) >= 3; });
      done.store(1, rlx);
    } else {
      x[index - 1].store(1, rlx);
      x[index - 1].store(2, rlx);
      (void)done.load(rlx);  // so that the wait is replayed
    }
  }
};

TEST(waits_in_place, agree_with_a_condition_of_two_reads) {
  const search_result off = search<awaits_two>(3, false);
  const search_result on = search<awaits_two>(3, true);
  EXPECT_EQ(on.what, off.what);
  EXPECT_EQ(on.executions, off.executions);
  EXPECT_EQ(on.blocked, off.blocked);
}

// --- generated programs ----------------------------------------------------------------------------------------------

struct found {
  search_result result;
  std::set<std::string> outcomes;
};

found search_generated(const selftest::program& p, bool in_place) {
  selftest::current_program = &p;
  selftest::program_outcomes.clear();
  selftest::outcomes_have_plain_reads = true;
  found f;
  f.result = search<selftest::program_scenario>(static_cast<unsigned>(p.size()), in_place);
  selftest::outcomes_have_plain_reads = false;
  f.outcomes = selftest::program_outcomes;
  return f;
}

/// Counts what is compared, so that a generator that makes nothing of interest is noticed.
struct compared {
  unsigned passed = 0;
  unsigned failed = 0;
  unsigned blocked_less = 0;
  unsigned failed_otherwise = 0;  ///< found another failure first, which the enumerator finds, too
};

void expect_the_same(const selftest::program& p, compared& to) {
  const found off = search_generated(p, false);
  if (off.result.how == coverage::cut_short) return;
  const found on = search_generated(p, true);
  if (off.result.what != failure::none) {
    ++to.failed;
    if (on.result.what == off.result.what) return;
    ++to.failed_otherwise;
    const auto expected = selftest::enumerate_all(p, 100'000);
    ASSERT_TRUE(expected && expected->failures.contains(on.result.what))
        << static_cast<int>(off.result.what) << ", in place " << static_cast<int>(on.result.what) << "\n"
        << selftest::to_text(p);
    return;
  }
  ++to.passed;
  ASSERT_EQ(on.result.what, failure::none) << on.result.message << "\n" << selftest::to_text(p);
  ASSERT_EQ(on.result.how, off.result.how) << selftest::to_text(p);
  ASSERT_EQ(on.result.executions, off.result.executions) << selftest::to_text(p);
  ASSERT_EQ(on.outcomes, off.outcomes) << selftest::to_text(p);
  ASSERT_LE(on.result.blocked, off.result.blocked) << selftest::to_text(p);
  if (on.result.blocked < off.result.blocked) ++to.blocked_less;
}

TEST(waits_in_place, agree_with_waits_that_block_on_random_programs) {
  std::mt19937 random(11);
  compared c;
  for (unsigned i = 0; i != 6'000; ++i) {
    const selftest::program p = i % 4 == 3 ? selftest::random_handover(random, true)
                                           : selftest::random_program(random, 5 + i % 4, selftest::flavour::waiting);
    if (selftest::has(p, [](selftest::action a) { return a == selftest::action::wait_exchange; })) continue;
    ASSERT_NO_FATAL_FAILURE(expect_the_same(p, c));
  }
  EXPECT_GE(c.passed, 1'000U);
  EXPECT_GE(c.failed, 1'000U);
  EXPECT_GE(c.blocked_less, 400U);
}

}  // namespace
}  // namespace runq::model
