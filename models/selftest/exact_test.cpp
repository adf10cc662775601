// SPDX-License-Identifier: MIT
// The exact engine against everything that is known about its subjects: pinned graph counts, published verdicts, and an
// enumerator that shares no code with it.
#include "exact.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "../cases/litmus/known_shapes.hpp"
#include "oracle/enumerate.hpp"
#include "program_scenario.hpp"
#include "reference/chase_lev_2013.hpp"
#include "reference/go_runq.hpp"
#include "reference/parking.hpp"
#include "runtime.hpp"

namespace runq::model {
namespace {

using namespace reference;

constexpr auto rlx = std::memory_order::relaxed;
constexpr auto acq = std::memory_order::acquire;
constexpr auto rel = std::memory_order::release;
constexpr auto acq_rel = std::memory_order::acq_rel;

/// A search that must not meet the same graph twice.
template <class Scenario>
search_result search(unsigned threads, exact_options options = {}) {
  case_spec spec{.name = "selftest", .property = "", .threads = threads};
  spec.construct = [](void* where) -> scenario* { return ::new (where) Scenario; };
  options.check_duplicates = true;
  exact_statistics statistics;
  search_result result = run_exact(spec, options, &statistics);
  EXPECT_EQ(statistics.duplicates, 0U);
  return result;
}

void expect_pass(const search_result& r) {
  EXPECT_EQ(r.what, failure::none) << r.message << " at " << r.where.file << ":" << r.where.line;
  EXPECT_EQ(r.how, coverage::exhaustive) << r.message;
}

// --- litmus shapes -----------------------------------------------------------------------------------------------

/// A line of known_shapes.hpp.
struct known_shape {
  const char* name;
  unsigned threads;
  search_result (*explore)(unsigned threads, exact_options options);
  std::uint64_t graphs;  ///< 0: the program has a data race
  const char* absent;    ///< an outcome that RC11 forbids
  const char* present;   ///< an outcome that must be among those seen
};

const std::vector<known_shape>& known_shapes() {
  static const std::vector<known_shape> all{
#define RUNQ_KNOWN(name, shape, threads, graphs, absent, present) \
  {name, threads, search<litmus::shape>, graphs, absent, present},
      RUNQ_FOR_EACH_LITMUS(RUNQ_KNOWN)
#undef RUNQ_KNOWN
  };
  return all;
}

class shapes : public testing::TestWithParam<known_shape> {};

TEST_P(shapes, have_the_known_graphs) {
  const known_shape& shape = GetParam();
  clear_outcomes();
  const search_result r = shape.explore(shape.threads, {});
  if (shape.graphs == 0) {
    EXPECT_EQ(r.what, failure::data_race);
    return;
  }
  expect_pass(r);
  EXPECT_EQ(r.executions, shape.graphs);
  const std::vector<std::string> seen = outcomes();
  const auto was_seen = [&](const char* text) { return std::find(seen.begin(), seen.end(), text) != seen.end(); };
  if (shape.absent != nullptr) {
    EXPECT_FALSE(was_seen(shape.absent)) << shape.absent;
  }
  if (shape.present != nullptr) {
    EXPECT_TRUE(was_seen(shape.present)) << shape.present;
  }
}

std::string shape_name(const testing::TestParamInfo<known_shape>& shape) {
  std::string name;
  for (const char* c = shape.param.name; *c != '\0'; ++c) {
    if (*c == '+') name += "_with";
    name += std::isalnum(static_cast<unsigned char>(*c)) != 0 ? *c : '_';
  }
  return name;
}
INSTANTIATE_TEST_SUITE_P(all, shapes, testing::ValuesIn(known_shapes()), shape_name);

TEST(shape_outcomes, a_stale_value_may_be_any_number_of_stores_old) {
  clear_outcomes();
  expect_pass(search<litmus::stale_depth>(2));
  EXPECT_EQ(outcomes(), (std::vector<std::string>{"00", "01", "02", "03", "04", "10", "11", "12", "13", "14"}));
}

// --- Go's run queue ----------------------------------------------------------------------------------------------

template <unsigned Capacity>
search_result search_go(const go_runq_program& program, exact_options options = {}) {
  go_program = program;
  return search<go_runq_scenario<Capacity>>(program.thieves + 1, options);
}
search_result search_go(unsigned capacity, const go_runq_program& program, exact_options options = {}) {
  return capacity == 2 ? search_go<2>(program, options) : search_go<4>(program, options);
}

struct go_count {
  unsigned capacity;
  go_runq_program program;
  std::uint64_t iterating;  ///< graphs when loops iterate; 0: too many for a quick test
  std::uint64_t blocking;   ///< complete graphs when a retry blocks
};

TEST(go_runq, has_the_known_graphs) {
  const std::vector<go_count> known{
      {2, {"p"}, 2, 2},
      {2, {"pp"}, 4, 4},
      {2, {"pg"}, 5, 3},
      {2, {"ppg"}, 9, 5},
      {2, {"ppgp"}, 20, 7},
      {2, {"ppgpp"}, 52, 8},
      {2, {"ppgp", 2}, 1'275, 45},
      {2, {"ppgpp", 2}, 9'157, 73},
      {4, {"pppgp"}, 23, 10},
      {4, {"pppgp", 2}, 1'825, 99},
      {4, {.script = "pppg", .thieves = 2, .chain = true}, 22, 10},
      {2, {.script = "ngp", .thieves = 1, .steal_next = true}, 7, 5},
      {2, {.script = "ngp", .thieves = 2, .steal_next = true}, 57, 22},
      {4, {"pppgpp", 3}, 0, 1'921},
  };
  for (const go_count& c : known) {
    SCOPED_TRACE(std::string(c.program.script) + " x " + std::to_string(c.program.thieves));
    if (c.iterating != 0) {
      const search_result r = search_go(c.capacity, c.program);
      expect_pass(r);
      EXPECT_EQ(r.executions, c.iterating);
      EXPECT_EQ(r.blocked, 0U);
    }
    const search_result r = search_go(c.capacity, c.program, {.retries_block = true});
    expect_pass(r);
    EXPECT_EQ(r.executions, c.blocking);
  }
}

/// Restores the correct programs when a test ends.
class seeded : public testing::Test {
 protected:
  ~seeded() override {
    orders = {};
    bugs = {};
    deque_now = {};
    parking_bug = {};
  }
};
using go_runq_mutant = seeded;

const go_runq_program one_thief{"ppgp"};
const go_runq_program two_thieves{"ppgp", 2};
const go_runq_program chain{.script = "pppg", .thieves = 2, .chain = true};
const go_runq_program next_stolen{.script = "ngp", .thieves = 1, .steal_next = true};
const go_runq_program next_stolen_twice{.script = "ngp", .thieves = 2, .steal_next = true};

void expect_killed(const search_result& r) {
  EXPECT_NE(r.what, failure::none) << "after " << r.executions << " graphs";
  EXPECT_GE(r.executions, 1U);
  EXPECT_FALSE(r.trace.empty());
}

TEST_F(go_runq_mutant, weakened_orders_change_the_counts_as_known) {
  const go_runq_program program{"pppgp", 2};
  orders.get_claim = rlx;
  EXPECT_EQ(search_go<4>(program, {.retries_block = true}).executions, 140U);
  orders = {};
  orders.grab_head = rlx;
  EXPECT_EQ(search_go<4>(program, {.retries_block = true}).executions, 152U);
  orders = {};
  orders.grab_claim = rlx;
  EXPECT_EQ(search_go<4>(program, {.retries_block = true}).executions, 107U);
}

TEST_F(go_runq_mutant, needed_orders_are_noticed) {
  const auto killed_by = [](std::memory_order go_runq_orders::*order, unsigned capacity, const go_runq_program& p) {
    orders = {};
    orders.*order = rlx;
    SCOPED_TRACE(p.script);
    const search_result r = search_go(capacity, p, {.retries_block = true});
    expect_killed(r);
    // A payload that is not visible, or a slot that is not.
    EXPECT_TRUE(r.what == failure::data_race || r.what == failure::uninitialised_read);
  };
  killed_by(&go_runq_orders::put_tail, 2, one_thief);
  killed_by(&go_runq_orders::grab_tail, 2, one_thief);
  killed_by(&go_runq_orders::next_put, 2, next_stolen);
  killed_by(&go_runq_orders::next_grab, 2, next_stolen);
  killed_by(&go_runq_orders::steal_tail, 4, chain);
}

TEST_F(go_runq_mutant, orders_that_only_load_buffering_needs_survive) {
  const std::vector<std::memory_order go_runq_orders::*> redundant{
      &go_runq_orders::put_head,   &go_runq_orders::get_head,   &go_runq_orders::get_claim,  &go_runq_orders::grab_head,
      &go_runq_orders::grab_claim, &go_runq_orders::steal_head, &go_runq_orders::slow_claim, &go_runq_orders::next_get};
  for (const auto order : redundant) {
    orders = {};
    orders.*order = rlx;
    // Retries block: with some of these orders a thief may see an old head and a new tail again and again.
    expect_pass(search_go<2>(two_thieves, {.retries_block = true}));
    expect_pass(search_go<4>(chain, {.retries_block = true}));
    expect_pass(search_go<2>(next_stolen_twice, {.retries_block = true}));
  }
  for (const auto order : redundant) orders.*order = rlx;
  expect_pass(search_go<2>(two_thieves, {.retries_block = true}));
}

TEST_F(go_runq_mutant, seeded_bugs_are_noticed) {
  bugs = {.plain_slots = true};
  EXPECT_EQ(search_go<2>(one_thief).what, failure::data_race);
  bugs = {.claim_before_read = true};
  expect_killed(search_go<2>(one_thief));
  // A thief that does not notice an outdated head only loses its claim.
  bugs = {.no_recheck = true};
  expect_pass(search_go<2>(two_thieves, {.retries_block = true}));
}

// --- Chase-Lev ---------------------------------------------------------------------------------------------------

search_result search_chase_lev(const chase_lev_program& program, exact_options options = {}) {
  deque_program = program;
  return search<chase_lev_scenario>(program.thieves + 1, options);
}

TEST(chase_lev_2013_reference, has_the_known_graphs) {
  const std::vector<std::pair<chase_lev_program, std::uint64_t>> known{
      {{"ppptt", 1, 1}, 24}, {{"ppptt", 1, 2}, 223}, {{"ppptt", 2, 1}, 1'055}, {{"ppptt", 2, 2}, 90'535}};
  for (const auto& [program, graphs] : known) {
    const search_result r = search_chase_lev(program);
    expect_pass(r);
    EXPECT_EQ(r.executions, graphs);
  }
}

using chase_lev_mutant = seeded;
const chase_lev_program two_steals{"ppptt", 1, 2};

TEST_F(chase_lev_mutant, needed_orders_are_noticed) {
  const auto killed = [](std::memory_order corpus::deque_traits::*order, std::memory_order weaker) {
    deque_now = {};
    deque_now.*order = weaker;
    expect_killed(search_chase_lev(two_steals));
  };
  killed(&corpus::deque_traits::pop_fence, rlx);
  killed(&corpus::deque_traits::pop_fence, acq_rel);
  killed(&corpus::deque_traits::steal_fence, rlx);
  killed(&corpus::deque_traits::push_fence, rlx);
  killed(&corpus::deque_traits::steal_bottom, rlx);
  killed(&corpus::deque_traits::array_read, rlx);     // the bug that CDSChecker published, read side
  killed(&corpus::deque_traits::array_publish, rlx);  // and write side
}

TEST_F(chase_lev_mutant, orders_that_rc11_does_not_need_survive) {
  for (const auto order : {&corpus::deque_traits::steal_claim, &corpus::deque_traits::pop_claim,
                           &corpus::deque_traits::push_top, &corpus::deque_traits::steal_top}) {
    deque_now = {};
    deque_now.*order = rlx;
    expect_pass(search_chase_lev(two_steals));
    expect_pass(search_chase_lev({"ppptt", 2, 1}));
  }
}

TEST_F(chase_lev_mutant, seeded_bugs_are_noticed) {
  deque_now = {.push_uses_new_array = false};
  expect_killed(search_chase_lev(two_steals));
  deque_now = {.slot_read_before_claim = false};
  expect_killed(search_chase_lev(two_steals));
  deque_now = {.signed_indices = false};
  expect_killed(search_chase_lev({"t", 1, 1}));
}

// --- waiting -----------------------------------------------------------------------------------------------------

using parking = seeded;

TEST_F(parking, never_loses_a_wake_up) {
  const search_result r = search<parking_scenario>(2);
  expect_pass(r);
  EXPECT_EQ(r.executions, 5U);
}

TEST_F(parking, each_seeded_bug_loses_one) {
  for (const parking_bugs bug :
       {parking_bugs{.no_submitter_fence = true}, {.no_worker_fence = true}, {.no_recheck = true}}) {
    parking_bug = bug;
    EXPECT_EQ(search<parking_scenario>(2).what, failure::deadlock);
  }
}

struct assume_is_no_deadlock final : scenario {
  atomic<int> x{0};
  void thread(unsigned index) override {
    if (index == 0) {
      x.store(1, rlx);
    } else {
      assume(x.load(rlx) == 2);
    }
  }
};
struct await_flag final : scenario {
  atomic<int> x{0};
  cell<int> d{0};
  void thread(unsigned index) override {
    if (index == 0) {
      d.set(1);
      x.store(1, rel);
    } else {
      await([this] { return x.load(acq) == 1; });
      require(d.get() == 1, "the flag came before the data");
    }
  }
};
struct await_nobody final : scenario {
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
  mutex a;
  mutex b;
  void thread(unsigned index) override {
    mutex& first = index == 0 ? a : b;
    mutex& second = index == 0 ? b : a;
    first.lock();
    second.lock();
    second.unlock();
    first.unlock();
  }
};
struct counted_under_lock final : scenario {
  mutex m;
  cell<int> n{0};
  void thread(unsigned) override {
    m.lock();
    n.set(n.get() + 1);
    m.unlock();
  }
  void finish() override { require(n.get() == 3, "an increment was lost"); }
};
struct try_locks final : scenario {
  mutex m;
  cell<int> n{0};
  void thread(unsigned) override {
    if (!m.try_lock()) return;
    n.set(n.get() + 1);
    m.unlock();
  }
};
struct foreign_unlock final : scenario {
  mutex m;
  void thread(unsigned index) override {
    if (index == 0) m.lock();
    if (index == 1) m.unlock();
  }
};
struct parker_pair final : scenario {
  parker p;
  cell<int> d{0};
  void thread(unsigned index) override {
    if (index == 0) {
      d.set(1);
      p.unpark();
    } else {
      p.park();
      require(d.get() == 1, "woken too early");
    }
  }
};

TEST(waiting, is_judged_by_what_the_waiting_thread_has_seen) {
  const search_result assumed = search<assume_is_no_deadlock>(2);
  expect_pass(assumed);
  EXPECT_EQ(assumed.executions, 0U);
  EXPECT_EQ(assumed.blocked, 2U);
  const search_result awaited = search<await_flag>(2);
  expect_pass(awaited);
  EXPECT_EQ(awaited.executions, 1U);
  EXPECT_EQ(search<await_nobody>(2).what, failure::deadlock);
  expect_pass(search<parker_pair>(2));
}

// A thread that waits for two variables reads both again when either changes.
template <bool BothAreSet>
struct await_two final : scenario {
  atomic<int> x{0};
  atomic<int> y{0};
  cell<int> d{0};
  void thread(unsigned index) override {
    if (index == 0) {
      d.set(1);
      x.store(1, rel);
    } else if (index == 1) {
      y.store(BothAreSet ? 1 : 2, rlx);
    } else {
      await([this] { return x.load(acq) + y.load(rlx) == 2; });
      require(d.get() == 1, "the sum came before the data");
    }
  }
};
// Waits for one of two variables. After an old value of y was read, only a new value of y can end the wait.
struct await_either final : scenario {
  atomic<int> x{0};
  atomic<int> y{0};
  void thread(unsigned index) override {
    if (index == 0) {
      y.store(1, rlx);
    } else {
      await([this] { return x.load(rlx) == 1 || y.load(rlx) == 1; });
    }
  }
};

TEST(waiting, for_several_variables_is_woken_by_each_and_judged_by_all) {
  const search_result both = search<await_two<true>>(3);
  expect_pass(both);
  EXPECT_EQ(both.executions, 1U);
  EXPECT_NE(both.blocked, 0U);
  EXPECT_EQ(search<await_two<false>>(3).what, failure::deadlock);
  const search_result either = search<await_either>(2);
  expect_pass(either);
  EXPECT_EQ(either.executions, 1U);
  EXPECT_EQ(either.blocked, 1U);
}

TEST(mutexes, exclude_and_deadlock) {
  EXPECT_EQ(search<crossed_locks>(2).what, failure::deadlock);
  EXPECT_EQ(search<foreign_unlock>(2).what, failure::misuse);
  const search_result counted = search<counted_under_lock>(3);
  expect_pass(counted);
  EXPECT_EQ(counted.executions, 6U);
  const search_result tried = search<try_locks>(2);
  expect_pass(tried);
  EXPECT_EQ(tried.executions, 4U);
}

// --- memory ------------------------------------------------------------------------------------------------------

struct object {
  explicit object(int v) : value(v) {}
  atomic<int> value;
  cell<int> plain{7};
};
object* make_object(int v) { return ::new (current_engine().allocate(sizeof(object), {__FILE__, __LINE__})) object(v); }
void free_object(object* o) { current_engine().deallocate(o, {__FILE__, __LINE__}); }

/// Thread 0 publishes an object, thread 1 uses it.
template <std::memory_order Store, bool FreeAtOnce, bool FreeAtEnd>
struct published_object : scenario {
  atomic<object*> p{nullptr};
  void thread(unsigned index) override {
    if (index == 0) {
      object* const mine = make_object(5);
      p.store(mine, Store);
      if (FreeAtOnce) free_object(mine);
    } else if (object* const seen = p.load(acq)) {
      require(seen->value.load(rlx) == 5, "not constructed");
    }
  }
  void finish() override {
    if (FreeAtEnd) free_object(p.load(rlx));
  }
};

TEST(memory, is_checked) {
  expect_pass(search<published_object<rel, false, true>>(2));
  EXPECT_EQ((search<published_object<rel, false, false>>(2).what), failure::leak);
  EXPECT_EQ((search<published_object<rlx, false, true>>(2).what), failure::unpublished_allocation);
  EXPECT_EQ((search<published_object<rel, true, false>>(2).what), failure::use_after_free);
  EXPECT_EQ((search<published_object<rel, true, true>>(1).what), failure::double_free);
}

struct plain_race final : scenario {
  cell<int> d{0};
  void thread(unsigned) override { d.set(d.get() + 1); }
};
// `Reader` is the number of the thread that reads; the other thread writes.
template <unsigned Reader>
struct read_write_race final : scenario {
  cell<int> d{0};
  void thread(unsigned index) override {
    if (index == Reader) {
      static_cast<void>(d.get());
    } else {
      d.set(1);
    }
  }
};
struct unwritten_atomic final : scenario {
  atomic<int> x;
  void thread(unsigned index) override {
    if (index == 0) {
      x.store(1, rlx);
    } else {
      (void)x.load(rlx);
    }
  }
};
struct unwritten_cell final : scenario {
  cell<int> d;
  void thread(unsigned) override { (void)d.get(); }
};

TEST(plain_memory, is_checked) {
  const search_result race = search<plain_race>(2);
  EXPECT_EQ(race.what, failure::data_race);
  EXPECT_EQ(race.trace.back().kind, event_kind::failure);
  EXPECT_EQ(search<read_write_race<0>>(2).what, failure::data_race);
  EXPECT_EQ(search<read_write_race<1>>(2).what, failure::data_race);
  EXPECT_EQ(search<unwritten_atomic>(2).what, failure::uninitialised_read);
  EXPECT_EQ(search<unwritten_cell>(1).what, failure::uninitialised_read);
}

// --- options, limits, traces -------------------------------------------------------------------------------------

struct weak_exchange final : scenario {
  atomic<int> x{0};
  void thread(unsigned) override {
    int expected = 0;
    x.compare_exchange_weak(expected, 1, rlx, rlx);
  }
};

TEST(options, spurious_failures_are_one_more_choice) {
  EXPECT_EQ(search<weak_exchange>(2).executions, 2U);
  // The exchanges cannot both succeed, because the second one finds 1 and expects 0. So the first, the second or none
  // succeeds; one that fails has read 1, or has read 0 and failed spuriously.
  EXPECT_EQ(search<weak_exchange>(2, {.spurious_failures = 2}).executions, 5U);
  const search_result one = search<weak_exchange>(2, {.spurious_failures = 1});
  EXPECT_EQ(one.executions, 4U);
  EXPECT_EQ(one.spurious, 2U);
}

struct endless final : scenario {
  atomic<int> x{0};
  void thread(unsigned) override {
    while (x.load(rlx) == 0) atomics::pause();
  }
};

TEST(limits, end_the_search_and_say_so) {
  const search_result events = search<endless>(1, {.max_events_per_thread = 50});
  EXPECT_EQ(events.how, coverage::cut_short);
  EXPECT_NE(events.message.find("max_events_per_thread"), std::string::npos);
  const search_result executions = search_chase_lev(two_steals, {.max_executions = 10});
  EXPECT_EQ(executions.how, coverage::cut_short);
  EXPECT_EQ(executions.executions, 10U);
  EXPECT_NE(executions.message.find("max_executions"), std::string::npos);
}

TEST(freezing, a_frozen_thief_stops_nobody_and_a_frozen_lock_holder_everybody) {
  for (unsigned after = 0; after != 12; ++after) {
    expect_pass(search_go<2>(two_thieves, {.freeze_thread = 1, .freeze_after = after}));
  }
  const search_result r = search<counted_under_lock>(2, {.freeze_thread = 0, .freeze_after = 1});
  EXPECT_EQ(r.what, failure::deadlock);
  ASSERT_EQ(r.stuck.size(), 2U);
  EXPECT_TRUE(r.stuck[0].thread == 0 && r.stuck[0].stopped);
  EXPECT_TRUE(r.stuck[1].thread == 1 && !r.stuck[1].stopped);
}

TEST(traces, respect_what_each_step_has_read) {
  const search_result all = search_chase_lev(two_steals);
  for (std::uint64_t n = 1; n <= all.executions; n += 37) {
    const search_result r = search_chase_lev(two_steals, {.show_execution = n});
    EXPECT_EQ(r.executions, n);
    ASSERT_FALSE(r.trace.empty());
    for (std::uint32_t i = 0; i != r.trace.size(); ++i) {
      const event& e = r.trace[i];
      const bool reads = e.kind == event_kind::load || e.kind == event_kind::rmw || e.kind == event_kind::cas_success ||
                         e.kind == event_kind::cas_failure;
      if (!reads) continue;
      ASSERT_LT(e.reads_from, i);
      const event& source = r.trace[e.reads_from];
      EXPECT_EQ(source.location, e.location);
      EXPECT_EQ(source.kind == event_kind::store ? source.value : source.written, e.value);
      if (!e.stale) {
        EXPECT_EQ(e.newest, e.value);
      }
    }
  }
}

// Its threads use nothing of what the construction reads.
struct fails_in_construction final : scenario {
  cell<int> d;
  fails_in_construction() {
    d.set(1);
    require(d.get() == 2, "another value");
  }
  void thread(unsigned) override {}
};

TEST(traces, of_a_construction_that_fails_have_its_steps) {
  const search_result r = search<fails_in_construction>(1);
  ASSERT_EQ(r.what, failure::check_failed);
  std::vector<event_kind> kinds;
  for (const event& e : r.trace) kinds.push_back(e.kind);
  EXPECT_EQ(kinds, (std::vector{event_kind::cell_write, event_kind::cell_read, event_kind::failure}));
  EXPECT_EQ(r.trace.back().thread, -1);
  EXPECT_NE(r.trace.back().where.line, 0);
}

/// Thread `Freer` frees what the other one uses.
template <unsigned Freer>
struct freed_beside_use final : scenario {
  object* const o = make_object(5);
  void thread(unsigned index) override { index == Freer ? free_object(o) : o->value.store(1, rlx); }
};

TEST(traces, of_two_steps_that_are_not_ordered_name_both) {
  const auto kinds = [](const search_result& r) {
    EXPECT_LT(r.partner, r.trace.size());
    const event& fails = r.trace.back();
    const event& partner = r.trace.at(std::min<std::size_t>(r.partner, r.trace.size() - 1));
    EXPECT_NE(partner.thread, fails.thread);
    EXPECT_EQ(fails.where.line, r.where.line);
    EXPECT_NE(fails.where.line, 0);
    return std::pair(partner.kind, r.trace.at(r.trace.size() - 2).kind);
  };
  EXPECT_EQ(kinds(search<plain_race>(2)), std::pair(event_kind::cell_write, event_kind::cell_read));
  EXPECT_EQ(kinds(search<freed_beside_use<0>>(2)), std::pair(event_kind::deallocate, event_kind::store));
  EXPECT_EQ(kinds(search<freed_beside_use<1>>(2)), std::pair(event_kind::store, event_kind::deallocate));
}

TEST(traces, of_a_leak_end_with_the_thread_that_has_allocated) {
  EXPECT_EQ((search<published_object<rel, false, false>>(2).trace.back().thread), 0);
}

// Thread 1 waits for what thread 0, which ends, has replaced.
struct waits_for_the_past final : scenario {
  atomic<int> x{0};
  void thread(unsigned index) override {
    if (index == 0) return x.store(2, rlx);
    (void)x.load(rlx);
    await([this] { return x.load(rlx) == 1; });
  }
};

TEST(traces, of_a_deadlock_say_who_waits_since_when_and_for_which_write) {
  const search_result r = search<waits_for_the_past>(2);
  ASSERT_EQ(r.what, failure::deadlock);
  EXPECT_EQ(r.ended, std::vector{0});
  ASSERT_EQ(r.stuck.size(), 1U);
  EXPECT_EQ(r.stuck[0].thread, 1);
  EXPECT_EQ(r.stuck[0].since, 1U);
  for (const event& e : r.trace) {
    if (e.kind == event_kind::store) {
      EXPECT_EQ(e.constructs, e.thread == -1);
      EXPECT_LT(e.place, no_event);
    }
  }
}

// --- brute force -------------------------------------------------------------------------------------------------

TEST(brute_force, agrees_on_random_programs) {
  constexpr unsigned programs = RUNQ_TEST_QUICK ? 3'000 : 10'000;
  constexpr unsigned max_instructions = 8;
  constexpr std::uint64_t budget = 2'000;
  std::mt19937 random(20'260'101);
  for (unsigned compared = 0; compared != programs;) {
    const selftest::program p = selftest::random_program(random, max_instructions);
    const auto expected = selftest::enumerate_all(p, budget);
    if (!expected) continue;
    ++compared;
    selftest::current_program = &p;
    selftest::program_outcomes.clear();
    const search_result r = search<selftest::program_scenario>(static_cast<unsigned>(p.size()));
    expect_pass(r);
    ASSERT_EQ(r.executions, expected->graphs) << selftest::to_text(p);
    ASSERT_EQ(selftest::program_outcomes, expected->outcomes) << selftest::to_text(p);
  }
}

void expect_agreement(const selftest::program& p, const selftest::enumeration& expected, exact_options options = {}) {
  selftest::current_program = &p;
  selftest::program_outcomes.clear();
  selftest::outcomes_have_plain_reads = true;
  const search_result r = search<selftest::program_scenario>(static_cast<unsigned>(p.size()), options);
  selftest::outcomes_have_plain_reads = false;
  expect_pass(r);
  ASSERT_EQ(r.executions, expected.graphs) << selftest::to_text(p);
  ASSERT_EQ(selftest::program_outcomes, expected.outcomes) << selftest::to_text(p);
}

TEST(brute_force, agrees_on_fences_around_relaxed_accesses_of_four_threads) {
  constexpr std::uint64_t budget = 1'500;
  std::mt19937 random(4);
  unsigned ordered = 0;  // programs in which the fences forbid something
  for (unsigned compared = 0; compared != 500;) {
    selftest::program p = selftest::random_fenced_program(random);
    const auto expected = selftest::enumerate_all(p, budget);
    if (!expected) continue;
    ++compared;
    ASSERT_NO_FATAL_FAILURE(expect_agreement(p, *expected));
    for (auto& code : p) std::erase_if(code, [](const auto& i) { return i.what == selftest::action::fence; });
    if (const auto without = selftest::enumerate_all(p, budget); without && without->graphs != expected->graphs)
      ++ordered;
  }
  EXPECT_GE(ordered, 25U);
}

selftest::instruction access(selftest::action what, unsigned variable, std::memory_order order) {
  selftest::instruction i;
  i.what = what;
  i.variable = variable;
  i.order = order;
  i.operand = 1;
  return i;
}

// A relaxed read whose write comes after one fence and which comes before another, both by way of a thread in between:
// the fences are ordered by it although neither happens-before the other.
TEST(brute_force, agrees_that_a_relaxed_read_orders_the_fences_on_both_sides_of_it) {
  using selftest::action;
  constexpr auto sc = std::memory_order::seq_cst;
  constexpr unsigned x = 0, y = 1, first = 2, second = 3;
  const selftest::program p{
      {access(action::store, y, rlx), access(action::fence, 0, sc), access(action::store, first, rel)},
      {access(action::load, first, acq), access(action::store, x, rlx)},
      {access(action::load, x, rlx), access(action::store, second, rel)},
      {access(action::load, second, acq), access(action::fence, 0, sc), access(action::load, y, rlx)}};
  const auto expected = selftest::enumerate_all(p, 2'000);
  ASSERT_TRUE(expected);
  EXPECT_EQ(expected->graphs, 15U);
  expect_agreement(p, *expected);
}

// Two seq_cst accesses of different locations are ordered by way of two others between them, of which none is seq_cst.
TEST(brute_force, agrees_that_a_release_and_an_acquire_order_the_seq_cst_accesses_around_them) {
  using selftest::action;
  constexpr auto sc = std::memory_order::seq_cst;
  constexpr unsigned x = 0, y = 1, z = 2;
  const selftest::program p{{access(action::store, x, sc), access(action::store, y, rel)},
                            {access(action::load, y, acq), access(action::load, z, sc)},
                            {access(action::store, z, sc), access(action::load, x, sc)}};
  const auto expected = selftest::enumerate_all(p, 2'000);
  ASSERT_TRUE(expected);
  EXPECT_EQ(expected->graphs, 7U);
  expect_agreement(p, *expected);
}

TEST(brute_force, agrees_on_spurious_failures_of_weak_exchanges) {
  constexpr std::uint64_t budget = 1'000;
  std::mt19937 random(5);
  unsigned more_with_two = 0;
  for (unsigned compared = 0; compared != 400;) {
    const selftest::program p = selftest::random_program(random, 7, selftest::flavour::weak_exchanges);
    const auto none = selftest::enumerate_all(p, budget);
    const auto one = selftest::enumerate_all(p, budget, 1);
    const auto two = selftest::enumerate_all(p, budget, 2);
    if (!none || !one || !two) continue;
    ++compared;
    ASSERT_NO_FATAL_FAILURE(expect_agreement(p, *none));
    ASSERT_NO_FATAL_FAILURE(expect_agreement(p, *one, {.spurious_failures = 1}));
    ASSERT_NO_FATAL_FAILURE(expect_agreement(p, *two, {.spurious_failures = 2}));
    if (two->graphs > one->graphs && one->graphs > none->graphs) ++more_with_two;
  }
  EXPECT_GE(more_with_two, 20U);
}

// Programs with a mutex and plain memory, some of which they free: the engine finds as many graphs as the brute force,
// or one of the failures that the brute force finds.
TEST(brute_force, agrees_on_mutexes_plain_memory_and_its_release) {
  constexpr std::uint64_t budget = 2'000;
  std::mt19937 random(6);
  std::map<failure, unsigned> failed;
  unsigned locked = 0;
  for (unsigned compared = 0; compared != 2'000;) {
    const selftest::program p = selftest::random_program(random, 5, selftest::flavour::memory);
    const auto expected = selftest::enumerate_all(p, budget);
    if (!expected) continue;
    ++compared;
    if (expected->failures.empty()) {
      ASSERT_NO_FATAL_FAILURE(expect_agreement(p, *expected));
      const auto locks = [](const auto& code) {
        return std::any_of(code.begin(), code.end(), [](const auto& i) { return i.what == selftest::action::lock; });
      };
      locked += std::count_if(p.begin(), p.end(), locks) > 1 ? 1U : 0U;
      continue;
    }
    selftest::current_program = &p;
    const search_result r = search<selftest::program_scenario>(static_cast<unsigned>(p.size()));
    ASSERT_TRUE(expected->failures.contains(r.what)) << static_cast<int>(r.what) << "\n" << selftest::to_text(p);
    ++failed[r.what];
  }
  EXPECT_GE(locked, 30U);
  EXPECT_GE(failed[failure::data_race], 30U);
  EXPECT_GE(failed[failure::use_after_free], 30U);
  EXPECT_GE(failed[failure::double_free], 10U);
}

// Loops that wait: the engine finds as many graphs as the brute force, which leaves out fruitless rounds, or one of its
// failures.
TEST(brute_force, agrees_on_loops_that_wait) {
  constexpr std::uint64_t budget = 2'000;
  std::mt19937 random(7);
  std::map<failure, unsigned> failed;
  unsigned passed = 0;
  for (unsigned compared = 0; compared != 600;) {
    const selftest::program p = selftest::random_program(random, 5, selftest::flavour::waiting);
    if (selftest::has(p, [](selftest::action a) { return a == selftest::action::wait_exchange; })) continue;
    const auto expected = selftest::enumerate_all(p, budget);
    if (!expected) continue;
    ++compared;
    if (expected->failures.empty()) {
      ASSERT_NO_FATAL_FAILURE(expect_agreement(p, *expected));
      ++passed;
      continue;
    }
    selftest::current_program = &p;
    const search_result r = search<selftest::program_scenario>(static_cast<unsigned>(p.size()));
    ASSERT_TRUE(expected->failures.contains(r.what)) << static_cast<int>(r.what) << "\n" << selftest::to_text(p);
    ++failed[r.what];
  }
  EXPECT_GE(passed, 90U);
  EXPECT_GE(failed[failure::deadlock], 90U);
  EXPECT_GE(failed[failure::data_race], 10U);
}

// Load buffering: every graph of RC11 is still there, and what is new is allowed by C++20's axioms with po ∪ rf cycles.
TEST(brute_force, contains_every_outcome_with_a_delayed_read) {
  constexpr unsigned programs = 3'000;
  constexpr unsigned max_instructions = 8;
  constexpr std::uint64_t budget = 2'000;
  std::mt19937 random(1);
  unsigned with_more = 0;
  std::uint64_t graphs_found = 0;
  std::uint64_t graphs_allowed = 0;
  for (unsigned compared = 0; compared != programs;) {
    const selftest::program p = selftest::random_program(random, max_instructions, selftest::flavour::loads_and_stores);
    const auto without = selftest::enumerate_all(p, budget);
    const auto with = selftest::enumerate_all(p, budget, 0, true);
    if (!with || !without) continue;
    ++compared;
    selftest::current_program = &p;
    selftest::program_outcomes.clear();
    const search_result r =
        search<selftest::program_scenario>(static_cast<unsigned>(p.size()), {.load_buffering = true});
    expect_pass(r);
    const auto& seen = selftest::program_outcomes;
    ASSERT_TRUE(std::includes(seen.begin(), seen.end(), without->outcomes.begin(), without->outcomes.end()))
        << selftest::to_text(p);
    ASSERT_TRUE(std::includes(with->outcomes.begin(), with->outcomes.end(), seen.begin(), seen.end()))
        << selftest::to_text(p);
    ASSERT_GE(r.executions, without->graphs) << selftest::to_text(p);
    ASSERT_LE(r.executions, with->graphs) << selftest::to_text(p);
    if (r.executions > without->graphs) ++with_more;
    graphs_found += r.executions - without->graphs;
    graphs_allowed += with->graphs - without->graphs;
  }
  EXPECT_GE(with_more, 30U);
  // One delayed read per graph is nearly all there is in programs of this size.
  EXPECT_GE(graphs_found * 10, graphs_allowed * 8);
}

// --- load buffering: the verdicts of an independent checker for IMM ----------------------------------------------

TEST(load_buffering, shows_the_outcome_that_rc11_hides) {
  for (const known_shape& shape : known_shapes()) {
    clear_outcomes();
    const search_result r = shape.explore(shape.threads, {.load_buffering = true});
    const std::vector<std::string> seen = outcomes();
    if (std::string(shape.name) == "LB") {
      EXPECT_EQ(r.executions, 4U);
      EXPECT_EQ(seen, (std::vector<std::string>{"00", "01", "10", "11"}));
    } else if (shape.graphs != 0 && shape.absent != nullptr) {
      EXPECT_EQ(std::count(seen.begin(), seen.end(), shape.absent), 0) << shape.name;
    }
  }
}

// Load buffering, with something between a thread's read and its write that keeps them in order.
enum class kept_by : unsigned char { nothing, fence, release_store, acquire_load };
struct keeping {
  kept_by first = kept_by::nothing;
  kept_by second = kept_by::nothing;
  std::memory_order fence = acq;
} keeps;

struct kept_load_buffering final : scenario {
  atomic<int> x{0};
  atomic<int> y{0};
  int seen[2]{};
  void thread(unsigned index) override {
    const kept_by k = index == 0 ? keeps.first : keeps.second;
    atomic<int>& from = index == 0 ? x : y;
    atomic<int>& to = index == 0 ? y : x;
    seen[index] = from.load(k == kept_by::acquire_load ? acq : rlx);
    if (k == kept_by::fence) atomics::fence(keeps.fence);
    to.store(1, k == kept_by::release_store ? rel : rlx);
  }
  void finish() override { record_outcome(seen[0] == 1 && seen[1] == 1 ? "both" : "not both"); }
};

TEST(load_buffering, is_shown_by_a_read_of_a_later_step) {
  static unsigned delayed = 0;
  keeps = {};
  const auto look = [](const search_result& r) {
    for (std::uint32_t i = 0; i != r.trace.size(); ++i) {
      delayed += r.trace[i].reads_from != no_event && r.trace[i].reads_from > i ? 1U : 0U;
    }
  };
  expect_pass(search<kept_load_buffering>(2, {.load_buffering = true, .show_each = look}));
  EXPECT_EQ(delayed, 1U);
}

[[nodiscard]] bool shows_both(keeping k) {
  keeps = k;
  clear_outcomes();
  expect_pass(search<kept_load_buffering>(2, {.load_buffering = true}));
  return outcomes().front() == "both";
}

TEST(load_buffering, does_not_delay_a_read_across_a_fence_or_a_release_nor_an_acquire) {
  EXPECT_TRUE(shows_both({}));
  for (const auto order : {acq, rel, acq_rel, std::memory_order::seq_cst}) {
    SCOPED_TRACE(to_string(order));
    EXPECT_FALSE(shows_both({kept_by::fence, kept_by::fence, order}));
    EXPECT_FALSE(shows_both({kept_by::fence, kept_by::release_store, order}));
    // The other thread's read may be delayed all the same.
    EXPECT_TRUE(shows_both({kept_by::fence, kept_by::nothing, order}));
    EXPECT_TRUE(shows_both({kept_by::nothing, kept_by::fence, order}));
  }
  EXPECT_FALSE(shows_both({kept_by::release_store, kept_by::release_store}));
  EXPECT_FALSE(shows_both({kept_by::acquire_load, kept_by::acquire_load}));
  EXPECT_FALSE(shows_both({kept_by::acquire_load, kept_by::release_store}));
}

constexpr exact_options imm{.load_buffering = true, .retries_block = true};

TEST_F(go_runq_mutant, the_claim_of_a_thief_is_needed_against_load_buffering) {
  expect_pass(search_go<2>({"ppp"}, imm));
  orders.grab_claim = rlx;
  expect_pass(search_go<2>({"ppp"}));
  expect_killed(search_go<2>({"ppp"}, imm));
}

TEST_F(go_runq_mutant, minimal_orders_are_not_enough_against_load_buffering) {
  orders.put_head = orders.get_head = orders.get_claim = orders.grab_head = rlx;
  orders.grab_claim = orders.steal_head = orders.slow_claim = rlx;
  expect_killed(search_go<2>({"ppp"}, imm));
}

TEST_F(go_runq_mutant, the_other_orders_survive_load_buffering) {
  for (const auto order :
       {&go_runq_orders::put_head, &go_runq_orders::get_head, &go_runq_orders::get_claim, &go_runq_orders::grab_head,
        &go_runq_orders::steal_head, &go_runq_orders::slow_claim, &go_runq_orders::next_get}) {
    orders = {};
    orders.*order = rlx;
    expect_pass(search_go<2>({"ppgpp"}, imm));
    expect_pass(search_go<2>(two_thieves, imm));
    expect_pass(search_go<2>(next_stolen, imm));
  }
}

TEST_F(chase_lev_mutant, the_claim_of_a_thief_is_needed_against_load_buffering) {
  expect_pass(search_chase_lev(two_steals, imm));
  deque_now.steal_claim = rlx;
  expect_killed(search_chase_lev(two_steals, imm));
  deque_now.steal_claim = acq_rel;
  expect_pass(search_chase_lev(two_steals, imm));
}

TEST_F(chase_lev_mutant, the_other_orders_survive_load_buffering) {
  for (const auto order :
       {&corpus::deque_traits::pop_claim, &corpus::deque_traits::push_top, &corpus::deque_traits::steal_top}) {
    deque_now = {};
    deque_now.*order = rlx;
    expect_pass(search_chase_lev(two_steals, imm));
  }
}

}  // namespace
}  // namespace runq::model
