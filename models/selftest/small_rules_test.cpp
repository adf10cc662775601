// SPDX-License-Identifier: MIT
// Rules of the exact engine of which each matters in few programs: revisits, delayed reads, bounds, teams, histories.
// For each the smallest program that needs it (mutants/).
#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include "exact.hpp"
#include "exact_search.hpp"
#include "exact_team.hpp"
#include "linearize.hpp"
#include "oracle/enumerate.hpp"
#include "oracle/judges.hpp"
#include "order_search.hpp"
#include "program_scenario.hpp"
#include "runtime.hpp"
#include "waiting.hpp"

namespace runq::model {
namespace {

using selftest::action;
using selftest::instruction;

constexpr auto rlx = std::memory_order::relaxed;
constexpr auto acq = std::memory_order::acquire;
constexpr auto rel = std::memory_order::release;
constexpr auto acq_rel = std::memory_order::acq_rel;
constexpr auto sc = std::memory_order::seq_cst;
constexpr unsigned x = 0, y = 1, z = 2, w = 3;
constexpr site here{__FILE__, __LINE__};

instruction make(action what, unsigned variable, std::memory_order order, unsigned operand = 0) {
  instruction i;
  i.what = what;
  i.variable = variable;
  i.order = order;
  i.operand = operand;
  return i;
}
instruction load(unsigned variable, std::memory_order order = rlx) { return make(action::load, variable, order); }
instruction store(unsigned variable, unsigned value, std::memory_order order = rlx) {
  return make(action::store, variable, order, value);
}
instruction add(unsigned variable) { return make(action::add, variable, rlx, 1); }
instruction fence(std::memory_order order) { return make(action::fence, 0, order); }
instruction compare(action what, unsigned variable, unsigned expected, unsigned desired) {
  instruction i = make(what, variable, rlx, desired);
  i.expected = expected;
  return i;
}
instruction weak(unsigned variable, unsigned expected, unsigned desired) {
  return compare(action::weak_exchange, variable, expected, desired);
}
/// What the thread has read last, and `more`.
instruction store_read(unsigned variable, unsigned more) {
  instruction i = store(variable, more);
  i.adds_last_read = true;
  return i;
}
instruction if_odd(instruction i) {
  i.guarded = true;
  return i;
}

search_result search_program(const selftest::program& p, const exact_options& options) {
  case_spec spec{.name = "rules", .property = "", .threads = static_cast<unsigned>(p.size())};
  spec.construct = [](void* where) -> scenario* { return ::new (where) selftest::program_scenario; };
  selftest::current_program = &p;
  selftest::program_outcomes.clear();
  return run_exact(spec, options);
}

template <class Scenario>
case_spec spec_of(unsigned threads) {
  case_spec spec{.name = "rules", .property = "", .threads = threads};
  spec.construct = [](void* where) -> scenario* { return ::new (where) Scenario; };
  return spec;
}
template <class Scenario>
search_result search(unsigned threads, const exact_options& options = {}) {
  return run_exact(spec_of<Scenario>(threads), options);
}

constexpr std::uint64_t budget = 50'000;

/// The engine finds what the enumerator finds, each execution once.
void expect_agreement(const selftest::program& p, unsigned spurious = 0) {
  SCOPED_TRACE(selftest::to_text(p));
  const auto expected = selftest::enumerate_all(p, budget, spurious);
  ASSERT_TRUE(expected);
  const search_result r = search_program(p, {.spurious_failures = spurious, .check_duplicates = true});
  EXPECT_EQ(r.what, failure::none) << r.message;
  EXPECT_EQ(r.executions, expected->graphs);
  EXPECT_EQ(selftest::program_outcomes, expected->outcomes);
}

// --- revisits --------------------------------------------------------------------------------------------------------

TEST(small_revisits, no_store_comes_between_a_read_modify_write_and_what_it_has_read) {
  expect_agreement({{add(x)}, {load(x)}, {store(x, 5)}});
  expect_agreement({{add(x)}, {load(x), load(x)}, {store(x, 5)}});
}

TEST(small_revisits, a_weak_exchange_that_is_revisited_fails_too) {
  expect_agreement({{weak(x, 1, 2)}, {store(x, 1)}}, 1);
}

TEST(small_revisits, spurious_failures_are_counted_one_by_one) {
  for (const unsigned most : {0U, 1U, 2U, 3U})
    expect_agreement({{weak(x, 0, 1)}, {weak(x, 0, 2)}, {weak(x, 0, 3)}}, most);
}

/// A program as functions, one for each thread. Thread 1 runs first, and spawns the others.
class threads final : public exact::program {
 public:
  using body = std::function<void(threads&, exact::search&)>;
  explicit threads(std::array<body, 3> bodies) : bodies_(std::move(bodies)) {}

  search_result explore(const exact_options& options = {}) {
    exact::search s(*this, options);
    search_ = &s;
    return s.run();
  }
  [[nodiscard]] location variable(unsigned index) { return search_->find_variable(index, ~std::uint64_t{0}, 0, here); }
  std::uint64_t read(unsigned index) { return search_->load(at(index), rlx, here); }
  void write(unsigned index, std::uint64_t value) { search_->store(at(index), value, rlx, here); }
  void require(bool holds) {
    if (!holds) search_->fail(failure::check_failed, "not as it should be", here);
  }

  void begin_execution() override {}
  void run(unsigned thread) override { bodies_.at(thread - 1)(*this, *search_); }
  void enter(unsigned) noexcept override {}
  void leave() noexcept override {}
  void end_execution() override {}
  [[nodiscard]] bool may_stop(unsigned) const override { return false; }
  [[nodiscard]] bool claims_to_finish(unsigned) const override { return false; }
  [[nodiscard]] std::string name_of_variable(unsigned) override { return {}; }

 private:
  location& at(unsigned index) { return found_[index] = variable(index); }

  std::array<body, 3> bodies_;
  std::array<location, 4> found_{};
  exact::search* search_ = nullptr;
};

// Thread 1 reads x, y, and x like the first time. Thread 2 writes both.
TEST(small_revisits, a_read_without_a_choice_goes_with_what_a_revisit_removes) {
  threads program({[](threads& p, exact::search& s) {
                     s.spawn(2, here);
                     location at = p.variable(x);
                     const exact::event_id first{1, static_cast<std::uint16_t>(s.position())};
                     const std::uint64_t before = s.load(at, rlx, here);
                     (void)p.read(y);
                     p.require(s.load(at, rlx, first, here) == before);
                   },
                   [](threads& p, exact::search&) {
                     p.write(x, 1);
                     p.write(y, 1);
                   },
                   [](threads&, exact::search&) {}});
  const search_result r = program.explore({.check_duplicates = true});
  EXPECT_EQ(r.what, failure::none) << r.message;
  EXPECT_EQ(r.executions, 4U);
}

// Thread 1 takes x when it is 7. Thread 3 makes 0 a 5, before that 7 in the order of the writes, and knows of the 7
// without an order: where thread 1 has read the 5, it would look again.
TEST(small_revisits, to_wait_for_an_old_value_is_no_execution_of_its_own) {
  threads program({[](threads& p, exact::search& s) {
                     s.spawn(2, here);
                     s.spawn(3, here);
                     location at = p.variable(x);
                     (void)s.take(at, 7, 1, 0, true, here);
                   },
                   [](threads& p, exact::search&) {
                     p.write(x, 7);
                     p.write(y, 1);
                   },
                   [](threads& p, exact::search& s) {
                     if (p.read(y) == 0) return;
                     location at = p.variable(x);
                     std::uint64_t expected = 0;
                     (void)s.compare_exchange(at, expected, 5, false, rlx, rlx, here);
                   }});
  const search_result r = program.explore();
  EXPECT_EQ(r.what, failure::none) << r.message;
  EXPECT_EQ(r.blocked, 3U);  // having read the 0: beside y = 0, beside an exchange that fails, and one that succeeds
}

// A weak exchange that fails for no reason, in a loop that waits, is tried again.
struct exchanges_until_it_succeeds final : scenario {
  atomic<int> value{0};
  void thread(unsigned index) override {
    if (index == 1) return value.store(1, rlx);
    await([this] {
      int expected = 1;
      return value.compare_exchange_weak(expected, 2, rlx, rlx);
    });
  }
};
TEST(small_revisits, a_spurious_failure_is_no_wait) {
  for (const unsigned most : {0U, 1U, 2U}) {
    const search_result r = search<exchanges_until_it_succeeds>(2, {.spurious_failures = most});
    EXPECT_EQ(r.what, failure::none) << r.message;
    EXPECT_EQ(r.executions, 1U);
  }
}

// --- bounds ----------------------------------------------------------------------------------------------------------

// Thread 0 reads x, and then waits for y.
struct reads_and_waits final : scenario {
  atomic<int> first{0};
  atomic<int> second{0};
  void thread(unsigned index) override {
    if (index == 0) {
      (void)first.load(rlx);
      await([this] { return second.load(rlx) == 1; });
    } else {
      first.store(1, rlx);
      second.store(1, rlx);
    }
  }
};
TEST(small_bounds, to_change_what_was_read_before_the_wait_is_a_deviation) {
  EXPECT_EQ(search<reads_and_waits>(2).executions, 2U);
  EXPECT_EQ(search<reads_and_waits>(2, {.bound = 0}).executions, 1U);
}

// --- operations ------------------------------------------------------------------------------------------------------

struct exchanges_weakly final : scenario {
  atomic<int> value{0};
  void thread(unsigned) override {
    int expected = 0;
    const bool done = value.compare_exchange_weak(expected, 1, rlx, rlx);
    require(value.load(rlx) == (done ? 1 : 0), "it succeeded and did nothing");
  }
};
TEST(small_operations, a_spurious_failure_is_told_as_a_failure) {
  const search_result r = search<exchanges_weakly>(1, {.spurious_failures = 1});
  EXPECT_EQ(r.what, failure::none) << r.message;
  EXPECT_EQ(r.executions, 2U);
}

struct stores_twice final : scenario {
  atomic<int> value{0};
  void thread(unsigned index) override {
    if (index == 0) {
      value.store(1, rlx);
      value.store(2, rlx);
    } else {
      require(value.load(rlx) != 2, "an operation of a thread that has stopped");
    }
  }
};
TEST(small_operations, a_frozen_thread_makes_as_many_operations_as_it_may) {
  EXPECT_EQ(search<stores_twice>(2, {.freeze_thread = 0, .freeze_after = 1}).what, failure::none);
  EXPECT_EQ(search<stores_twice>(2, {.freeze_thread = 0, .freeze_after = 2}).what, failure::check_failed);
}

// A compare-exchange with one order acquires also when it fails.
template <std::memory_order Order>
struct acquires_by_failing final : scenario {
  cell<int> data{0};
  atomic<int> told{0};
  void thread(unsigned index) override {
    if (index == 0) {
      data.set(1);
      told.store(1, rel);
    } else {
      int expected = 0;
      if (!told.compare_exchange_strong(expected, 2, Order)) require(data.get() == 1, "an old value");
    }
  }
};
TEST(small_operations, an_exchange_with_one_order_acquires_when_it_fails) {
  EXPECT_EQ(search<acquires_by_failing<acq_rel>>(2).what, failure::none);
  EXPECT_EQ(search<acquires_by_failing<acq>>(2).what, failure::none);
  EXPECT_EQ(search<acquires_by_failing<rel>>(2).what, failure::data_race);
}

// --- graphs, memory, notes -------------------------------------------------------------------------------------------

TEST(small_graphs, a_graph_is_the_same_in_another_process) {
  exact::graph g;
  g.finds_variables = true;
  ASSERT_TRUE(g.find_variable(0, 0xff, 3));
  g.append(1, exact::step::spawn{2});
  g.append(2, exact::step::fence{sc});
  g.unfinished_rmw = 2;
  g.delayed = {1, 0};
  g.fixed_until = 1;
  g.weight = 0.25;
  g.deviations = 3;
  struct alignas(64) line {
    std::array<std::byte, 64> bytes;
  };
  std::vector<line> packed(g.packed_bytes() / sizeof(line) + 1);
  g.pack(packed.front().bytes.data());
  exact::graph other;
  other.unpack(packed.front().bytes.data());
  EXPECT_EQ(exact::fingerprint(other), exact::fingerprint(g));
  EXPECT_EQ(other.size(2), 1U);
  EXPECT_EQ(other.spawner_of(2), g.spawner_of(2));
  EXPECT_EQ(other.sequential(), g.sequential());
  EXPECT_EQ(other.next_stamp(), g.next_stamp());
  EXPECT_EQ(other.end_of_threads(), g.end_of_threads());
  EXPECT_TRUE(other.finds_variables);
  EXPECT_EQ(other.unfinished_rmw, 2U);
  EXPECT_EQ(other.delayed, g.delayed);
  EXPECT_EQ(other.fixed_until, 1U);
  EXPECT_EQ(other.weight, 0.25);
  EXPECT_EQ(other.deviations, 3U);
}

TEST(small_graphs, a_read_modify_write_that_writes_what_it_has_read_changes_nothing) {
  for (const std::uint64_t written : {3U, 4U}) {
    exact::graph g;
    g.finds_variables = true;
    ASSERT_TRUE(g.find_variable(0, 0xff, 3));
    const exact::event_id variable{exact::constructing, 0};
    exact::operation o;
    o.kind = exact::node_kind::read;
    o.change = exact::update::modify;
    o.variable = variable;
    g.set_source(g.append(1, o), variable);
    o.kind = exact::node_kind::write;
    o.value = written;
    const exact::event_id write = g.append(1, o);
    g.at(write).exclusive = true;
    EXPECT_EQ(g.changes_value(write), written != 3);
  }
}

TEST(small_heap, the_byte_after_a_block_is_not_in_it) {
  exact::heap h;
  h.begin_execution();
  for (const std::size_t size : {1U, 8U}) {
    auto* const begin = static_cast<std::byte*>(h.allocate(1, size, {1, 0}));
    EXPECT_NE(h.find(begin), nullptr);
    EXPECT_NE(h.find(begin + size - 1), nullptr);
    EXPECT_EQ(h.find(begin + size), nullptr);
  }
}

TEST(small_notes, of_another_process_are_added) {
  const runtime_notes before = notes();
  set_notes({});
  runtime_notes more;
  more.weakening_used = true;
  more.orders[0] = {here, 1, order_of::load, acq};
  more.order_count = 1;
  start_noting_orders();
  EXPECT_TRUE(add_notes(more));
  EXPECT_TRUE(weakening_was_used());
  const std::vector<used_order> orders = noted_orders();
  ASSERT_EQ(orders.size(), 1U);
  EXPECT_EQ(orders[0].arg, 1);
  EXPECT_EQ(orders[0].written, acq);
  set_notes(before);
}

// --- load buffering --------------------------------------------------------------------------------------------------

/// Every execution without a delayed read is there, and each of the others is one that C++20 allows.
void expect_allowed(const selftest::program& p) {
  SCOPED_TRACE(selftest::to_text(p));
  const auto least = selftest::enumerate_all(p, budget);
  const auto most = selftest::enumerate_all(p, budget, 0, true);
  ASSERT_TRUE(least && most);
  const search_result r = search_program(p, {.load_buffering = true});
  EXPECT_EQ(r.what, failure::none) << r.message;
  EXPECT_GE(r.executions, least->graphs);
  EXPECT_LE(r.executions, most->graphs);
  const auto& seen = selftest::program_outcomes;
  EXPECT_TRUE(std::includes(seen.begin(), seen.end(), least->outcomes.begin(), least->outcomes.end()));
  for (const std::string& o : seen) EXPECT_TRUE(most->outcomes.contains(o)) << o;
}

TEST(small_delays, what_a_delayed_read_needs_stays_as_it_is) {
  expect_allowed({{load(x), store(y, 1)}, {load(y), store_read(x, 0)}, {store(y, 2)}});
  expect_allowed({{load(x), store(y, 1)}, {load(y), store_read(x, 1)}, {store(y, 2)}});
  expect_allowed({{load(x), store(y, 1)}, {load(y), store_read(x, 1)}, {store(y, 2), load(x)}});
}

TEST(small_delays, a_strong_exchange_that_finds_what_it_expects_succeeds) {
  expect_allowed({{compare(action::compare_exchange, x, 1, 2), store(y, 1)}, {load(y), store(x, 1)}});
}

TEST(small_delays, a_fence_after_a_delayed_read_acquires_by_it) {
  expect_allowed({{load(x), store(y, 1), fence(acq), load(z)}, {store(z, 1), load(y), store(x, 1, rel)}});
}

TEST(small_delays, a_delayed_read_closes_no_cycle_of_fences) {
  expect_allowed({{store(z, 1), fence(sc), load(x), store(y, 1)},
                  {load(y), load(w), store(x, 1)},
                  {store(x, 2), fence(sc), load(z), store(w, 1)}});
}

TEST(small_delays, a_value_that_was_read_does_not_change) {
  expect_allowed({{load(x), store_read(y, 1)}, {load(y), store(x, 1)}});
  expect_allowed({{load(x), store_read(y, 1)}, {load(y), store_read(x, 0)}});
  expect_allowed({{load(x), store_read(y, 1), store(z, 1)}, {load(y), load(z), store(x, 1)}});
}

TEST(small_delays, each_graph_is_visited_once) {
  expect_allowed({{load(x), store(y, 1)}, {load(y), store(x, 1)}, {store(x, 2)}});
  expect_allowed({{load(x), store(y, 1)}, {load(y), store(x, 1)}, {load(x), load(y)}});
  expect_allowed({{load(x), store(y, 1)}, {load(y), store(z, 1)}, {load(z), store(x, 1)}});
}

// A read is not delayed across another access of its location.
TEST(small_delays, accesses_to_one_location_keep_their_order) {
  const selftest::program p{{load(x), store(x, 2), store(y, 1)}, {load(y), if_odd(store(x, 1))}};
  (void)search_program(p, {.load_buffering = true});
  for (const std::string& o : selftest::program_outcomes) EXPECT_NE(o.substr(0, 4), "0:1 ") << o;
  EXPECT_EQ(search_program(p, {.load_buffering = true}).executions, search_program(p, {}).executions);
}

/// Thread 0 writes y only if it has read 0, and says that it never reads 1: it cannot, because the 1 depends on y.
struct depends_on_what_it_read final : scenario {
  atomic<int> first{0};
  atomic<int> second{0};
  void thread(unsigned index) override {
    if (index == 0) {
      require(first.load(rlx) == 0, "a value from nowhere");
      second.store(1, rlx);
    } else if (second.load(rlx) == 1) {
      first.store(1, rlx);
    }
  }
};
TEST(small_delays, a_failure_counts_only_in_an_execution_that_exists) {
  EXPECT_EQ(search<depends_on_what_it_read>(2, {.load_buffering = true}).what, failure::none);
}

// Thread 3, which thread 1 starts after its read, has read an older value than that read would find.
TEST(small_delays, a_delayed_read_is_coherent_with_what_happens_after_it) {
  threads program({[](threads& p, exact::search& s) {
                     s.spawn(2, here);
                     const std::uint64_t found = p.read(x);
                     s.spawn(3, here);
                     s.join(3, here);
                     p.require(found != 1 || p.read(z) != 1);
                   },
                   [](threads& p, exact::search&) {
                     (void)p.read(y);
                     p.write(x, 1);
                   },
                   [](threads& p, exact::search&) {
                     if (p.read(x) == 0) p.write(z, 1);
                     p.write(y, 1);
                   }});
  const search_result r = program.explore({.load_buffering = true});
  EXPECT_EQ(r.what, failure::none) << r.message;
}

// --- several processes -----------------------------------------------------------------------------------------------

/// What the processes of a search share. One that is ahead waits for the others: so each has a part of the search.
struct shared_counts {
  static constexpr std::size_t most = 8;
  std::array<std::atomic<pid_t>, most> who;
  std::array<std::atomic<unsigned>, most> executions;

  /// Whether two processes have executed something.
  [[nodiscard]] bool is_shared() const noexcept { return who[1].load() != 0; }
  void note() noexcept {
    std::size_t own = 0;
    for (; who[own].load() != getpid(); ++own) {
      pid_t nobody = 0;
      if (who[own].compare_exchange_strong(nobody, getpid())) break;
    }
    const unsigned mine = ++executions[own];
    constexpr unsigned alone = exact::graphs_before_team, lead = 20;
    if (mine <= alone) return;
    unsigned others = 0;
    for (std::size_t i = 0; i != most; ++i) others = i == own ? others : std::max(others, executions[i].load());
    if (mine - alone > others + lead) usleep(2'000);
  }
};
shared_counts* counts = nullptr;

class small_teams : public testing::Test {
 protected:
  small_teams() {
    void* const memory =
        mmap(nullptr, sizeof(shared_counts), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory != MAP_FAILED) counts = ::new (memory) shared_counts{};
    first_process = getpid();
    other_fails = is_shared = is_endless = false;
    stores = 3;
    clear_outcomes();
  }
  ~small_teams() override {
    if (counts != nullptr) munmap(counts, sizeof(shared_counts));
    counts = nullptr;
  }

 public:
  static inline pid_t first_process = 0;
  static inline int stores = 3;  ///< of each thread that stores
  static inline bool other_fails = false;
  static inline bool is_endless = false;  ///< in one process, once the search is shared
  static inline bool endless_is_other = false;
  static inline bool is_shared = false;  ///< the search
};

/// Some thousand executions, with waits and weak exchanges.
struct shared_search final : scenario {
  atomic<int> first{0};
  atomic<int> second{0};
  atomic<int> flag{0};
  shared_search() {
    if (small_teams::is_shared) counts->note();
    const bool is_other = getpid() != small_teams::first_process;
    record_outcome(is_other ? "another process" : "the first process");
    if (is_other) require(!small_teams::other_fails, "another process fails");
  }
  void thread(unsigned index) override {
    if (index == 2) return wait();
    atomic<int>& written = index == 0 ? first : second;
    for (int i = 1; i <= small_teams::stores; ++i) {
      written.store(i, rlx);
      (void)(index == 0 ? second : first).load(rlx);
    }
    const bool is_other = getpid() != small_teams::first_process;
    while (small_teams::is_endless && is_other == small_teams::endless_is_other && counts->is_shared()) {
      (void)written.load(rlx);
    }
  }
  void wait() {
    int expected = 0;
    (void)flag.compare_exchange_weak(expected, 1, rlx, rlx);
    await([this] { return first.load(rlx) == small_teams::stores; });
    (void)second.load(rlx);
  }
};

TEST_F(small_teams, counts_of_all_processes_are_added) {
  ASSERT_NE(counts, nullptr);
  const search_result alone = search<shared_search>(3, {.spurious_failures = 1});
  EXPECT_GT(alone.executions, 2 * exact::graphs_before_team);
  EXPECT_GT(alone.blocked, 100U);
  EXPECT_GT(alone.spurious, 100U);
  is_shared = true;
  const search_result together = search<shared_search>(3, {.spurious_failures = 1, .jobs = 2});
  EXPECT_EQ(together.executions, alone.executions);
  EXPECT_EQ(together.blocked, alone.blocked);
  EXPECT_EQ(together.spurious, alone.spurious);
}

TEST_F(small_teams, what_another_process_is_told_is_kept) {
  ASSERT_NE(counts, nullptr);
  is_shared = true;
  (void)search<shared_search>(3, {.jobs = 2});
  EXPECT_EQ(outcomes(), (std::vector<std::string>{"another process", "the first process"}));
}

TEST_F(small_teams, a_failure_of_another_process_has_to_be_found_again) {
  ASSERT_NE(counts, nullptr);
  other_fails = is_shared = true;
  const case_spec spec = spec_of<shared_search>(3);
  exact::search s(spec, {.jobs = 2});
  (void)s.run();
  EXPECT_EQ(s.undecided(), exact::again::without_time_limit);
}

TEST_F(small_teams, what_one_process_cannot_explore_is_explored_by_none) {
  ASSERT_NE(counts, nullptr);
  is_shared = is_endless = true;
  const case_spec spec = spec_of<shared_search>(3);
  for (const bool other : {false, true}) {
    endless_is_other = other;
    counts = ::new (counts) shared_counts{};
    exact::search s(spec, {.jobs = 2, .max_events_per_thread = 40});
    (void)s.run();
    EXPECT_EQ(s.undecided(), exact::again::as_before) << other;
  }
}

TEST_F(small_teams, a_limit_is_one_of_all_processes) {
  ASSERT_NE(counts, nullptr);
  stores = 4;
  const std::uint64_t all = search<shared_search>(3).executions;
  is_shared = true;
  // More than the half, which each has. Of the rest one of them has so much that it adds up what all have done.
  const std::uint64_t limit = all * 3 / 5;
  ASSERT_GT((all - limit) / 2, 1024U) << all;
  const search_result r = search<shared_search>(3, {.jobs = 2, .max_executions = limit});
  EXPECT_EQ(r.how, coverage::cut_short);
}

/// Threads that read and write two variables, in all of the ways in which reads may be delayed.
struct shared_delays final : scenario {
  static constexpr int rounds = 5;
  atomic<int> first{0};
  atomic<int> second{0};
  shared_delays() {
    if (small_teams::is_shared) counts->note();
  }
  void thread(unsigned index) override {
    for (int i = 1; i <= rounds; ++i) {
      (void)(index == 0 ? first : second).load(rlx);
      (index == 0 ? second : first).store(i, rlx);
    }
  }
};
TEST_F(small_teams, a_graph_with_a_delayed_read_is_visited_by_one_process) {
  ASSERT_NE(counts, nullptr);
  const search_result alone = search<shared_delays>(2, {.load_buffering = true});
  EXPECT_GT(alone.executions, 2 * exact::graphs_before_team);
  is_shared = true;
  EXPECT_EQ(search<shared_delays>(2, {.load_buffering = true, .jobs = 2}).executions, alone.executions);
}

TEST(small_team, a_process_that_dies_is_missed) {
  exact::team t(2, false);
  ASSERT_TRUE(t.exists());
  if (t.fork_members() != 0) raise(SIGKILL);
  t.wait_for_members();
  EXPECT_TRUE(t.lost_a_member());
}

TEST(small_team, a_set_has_each_number_once_also_0) {
  exact::team t(1, true);
  ASSERT_TRUE(t.exists());
  exact::shared_set& set = t.seen(0);
  for (const std::uint64_t number : {std::uint64_t{0}, std::uint64_t{7}, ~std::uint64_t{0}}) {
    EXPECT_EQ(set.insert(number), exact::shared_set::answer::added) << number;
    EXPECT_EQ(set.insert(number), exact::shared_set::answer::was_there) << number;
  }
}

TEST(small_team, a_graph_that_is_too_large_does_not_travel) {
  exact::team t(1, false);
  ASSERT_TRUE(t.exists());
  (void)t.fork_members();
  exact::graph g;
  const exact::event_id variable =
      g.append(exact::constructing, exact::step::construct_atomic{g.next_of(exact::constructing), true, 0, ~0ULL});
  g.set_source(g.append(1, exact::step::load{variable, rlx}), variable);
  EXPECT_TRUE(t.offer(g));
  constexpr std::size_t room = 256 * 1024;
  while (g.packed_bytes() <= room) {
    g.set_source(g.append(1, exact::step::load{variable, rlx}), variable);
  }
  EXPECT_FALSE(t.offer(g));
}

TEST(small_limits, no_limit_of_time_is_none_also_where_progress_is_told) {
  static unsigned told = 0;
  small_teams::is_shared = false;
  const auto count = [](const search_progress&) { ++told; };
  EXPECT_EQ(search<shared_search>(3, {.progress = count, .progress_seconds = 0}).how, coverage::exhaustive);
  EXPECT_GT(told, 0U);
}

// --- a search in parts -----------------------------------------------------------------------------------------------

TEST(small_parts, have_together_what_the_whole_has) {
  const std::vector<selftest::program> programs{
      {{load(x), store(y, 1)}, {load(y), store(x, 1)}, {store(x, 2), store(y, 2)}},
      {{compare(action::wait_load, y, 1, 0), load(x)}, {store(x, 1), store(y, 1)}, {store(x, 2), load(x)}}};
  for (const selftest::program& p : programs) {
    const auto expected = selftest::enumerate_all(p, budget);
    ASSERT_TRUE(expected);
    selftest::tally seen;
    EXPECT_EQ(selftest::judge_executed(p, *expected, 0, {.parts = true}, seen), std::nullopt);
  }
  const selftest::program weak{{compare(action::weak_exchange, x, 0, 1), load(y)}, {store(y, 1), load(x)}};
  const auto expected = selftest::enumerate_all(weak, budget, 1);
  ASSERT_TRUE(expected);
  selftest::tally seen;
  EXPECT_EQ(selftest::judge_executed(weak, *expected, 1, {.parts = true}, seen), std::nullopt);
}

/// One part, and no other search.
class only_part final : public exact::work_source {
 public:
  explicit only_part(exact::way to) : part_(std::move(to)) {}
  [[nodiscard]] std::optional<exact::way> next() override { return std::exchange(part_, std::nullopt); }
  [[nodiscard]] unsigned wanted() override { return 0; }
  void give(exact::way) override {}
  [[nodiscard]] bool stopped() const noexcept override { return false; }
  void ask_all_to_begin_again_without(exact::technique, exact::way) override {}
  [[nodiscard]] exact::technique begins_again_without() const noexcept override { return exact::technique::none; }
  [[nodiscard]] const exact::way& shown_at() const noexcept override { return nowhere_; }

 private:
  std::optional<exact::way> part_;
  exact::way nowhere_;
};

template <bool Fails>
struct two_stores final : scenario {
  atomic<int> v{0};
  void thread(unsigned index) override { v.store(static_cast<int>(index), rlx); }
  void finish() override { require(!Fails, "always"); }
};

TEST(small_parts, that_are_not_there_end_the_search_and_so_does_a_failure) {
  const auto explore = [](const case_spec& spec, exact::way to) {
    exact::search s(spec, {});
    only_part source(std::move(to));
    s.take_work_from(&source);
    return s.run();
  };
  const search_result missing = explore(spec_of<two_stores<false>>(2), {9});
  EXPECT_EQ(missing.how, coverage::cut_short);
  EXPECT_NE(missing.message.find("a part of the search is not there"), std::string::npos) << missing.message;
  const search_result failed = explore(spec_of<two_stores<true>>(2), {});
  EXPECT_EQ(failed.what, failure::check_failed);
  EXPECT_EQ(failed.executions, 1U);
}

// --- traces ----------------------------------------------------------------------------------------------------------

/// Of each read the last write before it in the trace is what it reads; the construction's may be left out.
void expect_interleaving(const search_result& r) {
  std::map<std::uint32_t, std::uint32_t> last;
  for (std::uint32_t i = 0; i != r.trace.size(); ++i) {
    const event& e = r.trace[i];
    if (reads(e)) {
      EXPECT_EQ(e.reads_from, last.contains(e.location) ? last.at(e.location) : no_event) << "step " << i + 1;
      EXPECT_FALSE(e.stale) << "step " << i + 1;
    }
    if (writes(e)) last[e.location] = i;
  }
  EXPECT_TRUE(!r.trace.empty() && r.trace.back().thread < 0 && reads(r.trace.back()));  // finish() reads
}

TEST(small_traces, of_accesses_to_one_variable_are_interleavings) {
  for (const selftest::program& p : {selftest::program{{store(x, 1)}, {load(x)}},
                                     {{store(x, 1), load(x)}, {store(x, 2), load(x)}, {load(x), load(x)}},
                                     {{add(x), load(x)}, {store(x, 5)}, {weak(x, 0, 7), load(x)}}}) {
    SCOPED_TRACE(selftest::to_text(p));
    EXPECT_EQ(search_program(p, {.spurious_failures = 1, .show_each = expect_interleaving}).what, failure::none);
  }
}

// --- histories -------------------------------------------------------------------------------------------------------

/// One call of two steps, in one of two ways. The second step is possible only in the first of them.
struct two_ways {
  struct state {};
  unsigned first_step_by = 0;
  [[nodiscard]] static unsigned variants(const state&, std::size_t) { return 2; }
  [[nodiscard]] progress step(state&, std::size_t, unsigned phase, unsigned variant) const {
    if (phase == 0) return variant == first_step_by ? progress::more : progress::illegal;
    return variant == 0 ? progress::done : progress::illegal;
  }
};
TEST(small_histories, a_call_ends_in_the_way_in_which_it_began) {
  for (const unsigned way : {0U, 1U}) {
    order_search<two_ways, 2> search{{way}, 1};
    EXPECT_EQ(search.explains_from(two_ways::state{}), way == 0) << way;
  }
}

/// A call that changes the object and says that another one was faster.
struct loses_and_changes {
  struct state {};
  [[nodiscard]] static bool has_lost(const state&) { return true; }
  [[nodiscard]] static bool has_changed(const state&) { return true; }
  [[nodiscard]] static unsigned variants(const state&, std::size_t) { return 1; }
  [[nodiscard]] static progress step(state&, std::size_t, unsigned, unsigned) { return progress::done; }
};
TEST(small_histories, nobody_is_faster_than_itself) {
  order_search<loses_and_changes, 2> one{{}, 1};
  EXPECT_FALSE(one.explains_from(loses_and_changes::state{}));
  order_search<loses_and_changes, 2> two{{}, 2};
  EXPECT_TRUE(two.explains_from(loses_and_changes::state{}));
}

/// A history of calls that nothing has made: each is one step.
template <std::size_t Calls, std::size_t Items, std::size_t Capacity = Items>
struct claims {
  history<Calls, Items> log{Capacity};
  atomic<int> step{0};
  void operator()(op_kind kind, std::initializer_list<int> ids = {}) {
    const moment began = log.begin();
    step.store(1, rlx);
    log.add(began, kind, std::span<const int>(ids.begin(), ids.size()));
  }
};

struct more_than_fits final : scenario {
  claims<8, 4, 2> claim;
  void thread(unsigned) override { claim(op_kind::append, {1, 2, 3}); }
  void finish() override { claim.log.require_linearizable(); }
};
struct too_many_calls final : scenario {
  claims<2, 4> claim;
  void thread(unsigned) override {
    for (const int id : {1, 2, 3}) claim(op_kind::append, {id});
  }
  void finish() override { claim.log.require_linearizable(); }
};
struct too_many_elements final : scenario {
  claims<8, 2> claim;
  void thread(unsigned) override { claim(op_kind::take_all, {1, 2, 3}); }
};
TEST(small_histories, have_limits_and_say_so) {
  EXPECT_EQ(search<more_than_fits>(1).what, failure::not_linearizable);
  EXPECT_EQ(search<too_many_calls>(1).what, failure::check_failed);
  EXPECT_EQ(search<too_many_elements>(1).what, failure::check_failed);
}

// Three and one fill the queue; a fifth does not fit. Without the second call, or without the third, an order explains
// the others.
struct one_too_many final : scenario {
  claims<8, 5, 4> claim;
  void thread(unsigned) override {
    claim.step.store(2, rlx);
    claim(op_kind::append, {1, 2, 3});
    claim(op_kind::append_some, {4});
    claim(op_kind::append, {5});
  }
  void finish() override { claim.log.require_linearizable(); }
};
TEST(small_histories, a_call_with_an_answer_is_blamed_and_has_its_own_steps) {
  const search_result r = search<one_too_many>(1);
  ASSERT_EQ(r.what, failure::not_linearizable);
  ASSERT_EQ(r.calls.size(), 3U);
  EXPECT_EQ(r.unexplained_call, 1U);
  for (const shown_call& c : r.calls) EXPECT_EQ(c.first, c.last);
  EXPECT_LT(r.calls[0].first, r.calls[1].first);
  EXPECT_LT(r.calls[1].first, r.calls[2].first);
}

// Thread 0 appends. Thread 1 learns of that in the first step of its call, which finds nothing: the two calls are
// beside each other.
struct learns_in_its_first_step final : scenario {
  history<8, 4> log;
  atomic<int> told{0};
  void thread(unsigned index) override {
    const moment began = log.begin();
    const int id = 1;
    if (index == 0) {
      told.store(1, rel);
      log.add(began, op_kind::append, {&id, 1});
    } else {
      (void)told.load(rlx);
      (void)told.load(acq);
      log.add(began, op_kind::find_empty, {});
    }
  }
  void finish() override { log.require_linearizable(); }
};
struct learns_before_its_call final : scenario {
  history<8, 4> log;
  atomic<int> told{0};
  void thread(unsigned index) override {
    const int id = 1;
    if (index == 0) {
      const moment began = log.begin();
      told.store(1, rel);
      log.add(began, op_kind::append, {&id, 1});
    } else {
      (void)told.load(rlx);
      const moment began = log.begin();
      (void)told.load(acq);
      log.add(began, op_kind::find_empty, {});
    }
  }
  void finish() override { log.require_linearizable(); }
};
TEST(small_histories, a_call_is_not_after_what_its_own_steps_learn) {
  EXPECT_EQ(search<learns_in_its_first_step>(2).what, failure::none);
  EXPECT_EQ(search<learns_before_its_call>(2).what, failure::none);
}

}  // namespace
}  // namespace runq::model
