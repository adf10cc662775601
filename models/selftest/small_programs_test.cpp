// SPDX-License-Identifier: MIT
// The exact engine on programs of a few operations each. A rule of the engine that is wrong changes the verdict or the
// number of executions of one of them (mutants/).
#include <array>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "exact.hpp"
#include "futex.hpp"
#include "oracle.hpp"
#include "order_search.hpp"
#include "runtime.hpp"
#include "waiting.hpp"

namespace runq::model {
namespace {

constexpr auto rlx = std::memory_order::relaxed;
constexpr auto acq = std::memory_order::acquire;
constexpr auto rel = std::memory_order::release;
constexpr auto acq_rel = std::memory_order::acq_rel;
constexpr auto sc = std::memory_order::seq_cst;

template <class Scenario>
search_result search(unsigned threads, exact_options options = {}) {
  case_spec spec{.name = "small", .property = "", .threads = threads};
  spec.construct = [](void* where) -> scenario* { return ::new (where) Scenario; };
  options.check_duplicates = options.jobs == 1;
  exact_statistics statistics;
  search_result result = run_exact(spec, options, &statistics);
  EXPECT_EQ(statistics.duplicates, 0U);
  return result;
}

void expect_passes(const search_result& r, std::uint64_t executions) {
  EXPECT_EQ(r.what, failure::none) << r.message << " at line " << r.where.line;
  EXPECT_EQ(r.how, coverage::exhaustive) << r.message;
  EXPECT_EQ(r.executions, executions);
}

// --- clocks ----------------------------------------------------------------------------------------------------------

// Thread 0 hands data to thread 2 by way of thread 1, whose only fence acquires and releases.
template <std::memory_order Fence>
struct handed_on_by_a_fence final : scenario {
  cell<int> data{0};
  atomic<int> first{0};
  atomic<int> second{0};
  void thread(unsigned index) override {
    if (index == 0) {
      data.set(1);
      first.store(1, rel);
    } else if (index == 1) {
      if (first.load(rlx) == 0) return;
      atomics::fence(Fence);
      second.store(1, rlx);
    } else if (second.load(acq) == 1) {
      require(data.get() == 1, "the data were not handed on");
    }
  }
};
TEST(small_clocks, a_fence_that_acquires_and_releases_hands_on_what_it_acquires) {
  expect_passes(search<handed_on_by_a_fence<acq_rel>>(3), 3);
  expect_passes(search<handed_on_by_a_fence<sc>>(3), 3);
  EXPECT_EQ(search<handed_on_by_a_fence<rel>>(3).what, failure::data_race);
  EXPECT_EQ(search<handed_on_by_a_fence<acq>>(3).what, failure::data_race);
}

// A relaxed read finds the flag; others follow; only then comes the acquire fence.
struct acquired_late final : scenario {
  cell<int> data{0};
  atomic<int> flag{0};
  atomic<int> other{0};
  void thread(unsigned index) override {
    if (index == 0) {
      data.set(1);
      flag.store(1, rel);
    } else {
      const int found = flag.load(rlx);
      (void)other.load(rlx);
      (void)other.load(rlx);
      atomics::fence(acq);
      if (found == 1) require(data.get() == 1, "an acquire fence forgets an earlier read");
    }
  }
};
TEST(small_clocks, an_acquire_fence_knows_all_reads_before_it) { expect_passes(search<acquired_late>(2), 2); }

// --- heap ------------------------------------------------------------------------------------------------------------

struct shared_object {
  atomic<int> number{0};
  cell<int> plain{0};
};
/// Thread 0 frees an object that the construction has made; thread 1 uses it, before or after, without order.
enum class use : unsigned char { none, atomic_read, atomic_write, plain_read, plain_write };
template <use First, unsigned Frees>
struct used_beside_its_release final : scenario {
  shared_object* const object;
  used_beside_its_release()
      : object(::new (current_engine().allocate(sizeof(shared_object), {__FILE__, __LINE__})) shared_object) {}
  void thread(unsigned index) override {
    if (index == Frees) return current_engine().deallocate(object, {__FILE__, __LINE__});
    if (First == use::atomic_read) (void)object->number.load(acq);
    if (First == use::atomic_write) object->number.store(1, rel);
    if (First == use::plain_read) (void)object->plain.get();
    if (First == use::plain_write) object->plain.set(1);
  }
};
TEST(small_heap, no_access_is_beside_the_release_of_its_memory) {
  expect_passes(search<used_beside_its_release<use::none, 0>>(2), 1);
  EXPECT_EQ((search<used_beside_its_release<use::atomic_read, 1>>(2).what), failure::use_after_free);
  EXPECT_EQ((search<used_beside_its_release<use::atomic_write, 1>>(2).what), failure::use_after_free);
  EXPECT_EQ((search<used_beside_its_release<use::plain_read, 1>>(2).what), failure::use_after_free);
  EXPECT_EQ((search<used_beside_its_release<use::plain_write, 1>>(2).what), failure::use_after_free);
  EXPECT_EQ((search<used_beside_its_release<use::atomic_read, 0>>(2).what), failure::use_after_free);
  EXPECT_EQ((search<used_beside_its_release<use::plain_read, 0>>(2).what), failure::use_after_free);
}

struct part_is_freed final : scenario {
  void thread(unsigned) override {
    auto* const bytes = static_cast<char*>(current_engine().allocate(16, {__FILE__, __LINE__}));
    current_engine().deallocate(bytes + 8, {__FILE__, __LINE__});
  }
};
struct freed_unseen final : scenario {
  atomic<void*> p{nullptr};
  void thread(unsigned index) override {
    if (index == 0) {
      p.store(current_engine().allocate(8, {__FILE__, __LINE__}), rlx);
    } else {
      current_engine().deallocate(p.load(rlx), {__FILE__, __LINE__});
    }
  }
};
struct empty_blocks final : scenario {
  void thread(unsigned) override {
    void* const first = current_engine().allocate(0, {__FILE__, __LINE__});
    void* const second = current_engine().allocate(64, {__FILE__, __LINE__});
    void* const third = current_engine().allocate(0, {__FILE__, __LINE__});
    require(first != second && second != third, "two blocks have one address");
    for (void* const p : {first, second, third}) current_engine().deallocate(p, {__FILE__, __LINE__});
  }
};
TEST(small_heap, blocks_have_addresses_of_their_own_and_are_freed_whole_by_who_knows_of_them) {
  EXPECT_EQ(search<part_is_freed>(1).what, failure::misuse);
  EXPECT_EQ(search<freed_unseen>(2).what, failure::unpublished_allocation);
  expect_passes(search<empty_blocks>(1), 1);
}

// --- operations ------------------------------------------------------------------------------------------------------

struct two_readers final : scenario {
  cell<int> d{1};
  void thread(unsigned) override { (void)d.get(); }
};
struct unlocked_twice final : scenario {
  mutex m;
  void thread(unsigned) override {
    m.lock();
    m.unlock();
    m.unlock();
  }
};
struct never_locked final : scenario {
  mutex m;
  void thread(unsigned) override { m.unlock(); }
};
struct narrow_counter final : scenario {
  atomic<std::uint8_t> n{255};
  void thread(unsigned) override {
    (void)n.fetch_add(1, rlx);
    std::uint8_t zero = 0;
    require(n.compare_exchange_strong(zero, 7, rlx, rlx), "255 + 1 is not 0 in 8 bits");
  }
};
struct failing_exchange final : scenario {
  atomic<int> x{5};
  void thread(unsigned) override {
    int expected = 4;
    require(!x.compare_exchange_strong(expected, 6, rlx, rlx), "an exchange succeeds without a reason");
    require(expected == 5, "a failed exchange does not say what it has read");
  }
};
struct waits_in_finish final : scenario {
  atomic<int> x{0};
  void thread(unsigned) override {}
  void finish() override {
    await([this] { return x.load(rlx) == 1; });
  }
};
TEST(small_operations, are_judged_one_by_one) {
  expect_passes(search<two_readers>(2), 1);
  EXPECT_EQ(search<unlocked_twice>(1).what, failure::misuse);
  EXPECT_EQ(search<never_locked>(1).what, failure::misuse);
  expect_passes(search<narrow_counter>(1), 1);
  expect_passes(search<failing_exchange>(1), 1);
  EXPECT_EQ(search<waits_in_finish>(1).what, failure::deadlock);
}

// An exchange of the given kind, once outside of the threads and once in a thread.
template <bool Weak>
struct one_exchange final : scenario {
  atomic<int> x{0};
  void exchange(int from) {
    int expected = from;
    if (Weak) {
      x.compare_exchange_weak(expected, from + 1, rlx, rlx);
    } else {
      x.compare_exchange_strong(expected, from + 1, rlx, rlx);
    }
  }
  one_exchange() { exchange(0); }
  void thread(unsigned) override { exchange(1); }
  void finish() override { exchange(x.load(rlx)); }
};
TEST(small_operations, only_a_weak_exchange_of_a_thread_fails_spuriously) {
  expect_passes(search<one_exchange<true>>(1, {.spurious_failures = 3}), 2);
  expect_passes(search<one_exchange<false>>(1, {.spurious_failures = 3}), 1);
}

// --- counts and limits -----------------------------------------------------------------------------------------------

struct two_writers final : scenario {
  atomic<int> x{0};
  void thread(unsigned index) override { x.store(static_cast<int>(index), rlx); }
};
TEST(small_limits, a_search_that_ends_at_its_limit_has_ended) {
  expect_passes(search<two_writers>(2, {.max_executions = 2}), 2);
  expect_passes(search<two_writers>(2, {.max_executions = 3}), 2);
  const search_result cut = search<two_writers>(2, {.max_executions = 1});
  EXPECT_EQ(cut.how, coverage::cut_short);
  EXPECT_EQ(cut.executions, 1U);
}

struct eight_stores final : scenario {
  atomic<int> x{0};
  void thread(unsigned) override {
    for (int i = 0; i != 8; ++i) x.store(i, rlx);
  }
};
TEST(small_limits, a_thread_has_as_many_events_as_it_may_but_one) {
  EXPECT_EQ(search<eight_stores>(1, {.max_events_per_thread = 9}).how, coverage::exhaustive);
  EXPECT_EQ(search<eight_stores>(1, {.max_events_per_thread = 8}).how, coverage::cut_short);
}

// So many seq_cst stores of one thread before it takes part in store buffering.
template <int Before>
struct long_store_buffering final : scenario {
  atomic<int> filler{0};
  std::array<atomic<int>, 2> at{};
  std::array<int, 2> seen{};
  long_store_buffering() {
    for (auto& a : at) a.store(0, rlx);
  }
  void thread(unsigned index) override {
    if (index == 0) {
      for (int i = 0; i != Before; ++i) filler.store(i, sc);
    }
    at[index].store(1, sc);
    seen[index] = at[1 - index].load(sc);
  }
  void finish() override { require(seen[0] + seen[1] != 0, "neither thread has seen the other"); }
};
TEST(small_limits, the_total_order_is_checked_for_many_events_and_too_many_are_refused) {
  expect_passes(search<long_store_buffering<70>>(2), 3);
  expect_passes(search<long_store_buffering<300>>(2), 3);
  const search_result refused = search<long_store_buffering<1100>>(2);
  EXPECT_EQ(refused.how, coverage::cut_short);
  EXPECT_NE(refused.message.find("max_sequential"), std::string::npos);
}

// A lock that one thread waits for while another one holds it: each order is one execution, and none is blocked twice.
struct two_locks final : scenario {
  mutex m;
  void thread(unsigned) override {
    m.lock();
    m.unlock();
  }
};
TEST(small_limits, blocked_executions_are_counted_once) {
  const search_result r = search<two_locks>(2);
  expect_passes(r, 2);
  EXPECT_EQ(r.blocked, 1U);
}

// --- seq_cst ---------------------------------------------------------------------------------------------------------

// Store buffering, in which each thread reads by a compare-exchange that fails.
template <std::memory_order Success, std::memory_order Failure>
struct failing_store_buffering final : scenario {
  std::array<atomic<int>, 2> at{};
  std::array<int, 2> seen{};
  failing_store_buffering() {
    for (auto& a : at) a.store(0, rlx);
  }
  void thread(unsigned index) override {
    at[index].store(1, sc);
    seen[index] = 7;
    at[1 - index].compare_exchange_strong(seen[index], 8, Success, Failure);
  }
  void finish() override { require(seen[0] + seen[1] != 0, "neither thread has seen the other"); }
};
TEST(small_total_order, has_a_failed_exchange_by_its_failure_order) {
  EXPECT_EQ((search<failing_store_buffering<rlx, sc>>(2).what), failure::none);
  EXPECT_EQ((search<failing_store_buffering<sc, sc>>(2).what), failure::none);
  EXPECT_EQ((search<failing_store_buffering<sc, rlx>>(2).what), failure::check_failed);
}
// Synchronises only if a failed exchange has the order that was written for failures.
template <std::memory_order Success, std::memory_order Failure>
struct published_to_a_failure final : scenario {
  cell<int> data{0};
  atomic<int> flag{0};
  void thread(unsigned index) override {
    if (index == 0) {
      data.set(1);
      flag.store(1, rel);
    } else {
      int expected = 7;
      flag.compare_exchange_strong(expected, 8, Success, Failure);
      if (expected == 1) (void)data.get();
    }
  }
};
TEST(small_clocks, a_failed_exchange_acquires_by_its_failure_order) {
  expect_passes(search<published_to_a_failure<rlx, acq>>(2), 2);
  EXPECT_EQ((search<published_to_a_failure<acq, rlx>>(2).what), failure::data_race);
}

// --- bounds ----------------------------------------------------------------------------------------------------------

// Thread 0 waits for thread 1: to end that wait is no deviation, to read the other flag's old value is one.
struct waits_then_reads final : scenario {
  atomic<int> x{0};
  void thread(unsigned index) override {
    if (index == 0) {
      await([this] { return x.load(rlx) == 1; });
    } else {
      x.store(1, rlx);
    }
  }
};
TEST(small_bounds, to_end_a_wait_is_no_deviation) {
  const search_result r = search<waits_then_reads>(2, {.bound = 0});
  EXPECT_EQ(r.how, coverage::bounded);
  EXPECT_EQ(r.executions, 1U);
  const search_result writers = search<two_writers>(2, {.bound = 0});
  EXPECT_EQ(writers.executions, 1U);
  EXPECT_EQ(writers.cut_off, 1U);
  EXPECT_EQ(search<two_writers>(2, {.bound = 1}).executions, 2U);
}

// --- the judge of histories ------------------------------------------------------------------------------------------

/// Calls that each add a number to the object, or say that another call was faster.
struct adding {
  struct state {
    int sum = 0;
    bool lost = false;
    bool changed = false;
  };
  struct call {
    int adds;  ///< 0: has lost
    std::uint64_t after;
  };
  const std::vector<call>* calls;
  [[nodiscard]] static bool has_lost(const state& s) { return s.lost; }
  [[nodiscard]] static bool has_changed(const state& s) { return s.changed; }
  [[nodiscard]] static unsigned variants(const state&, std::size_t) { return 1; }
  [[nodiscard]] progress step(state& s, std::size_t i, unsigned, unsigned) const {
    s.lost = (*calls)[i].adds == 0;
    s.changed = (*calls)[i].adds != 0 && (*calls)[i].adds != -1;
    s.sum += (*calls)[i].adds;
    return progress::done;
  }
};
constexpr int loses = 0;
constexpr int changes_nothing = -1;
[[nodiscard]] bool has_order(const std::vector<adding::call>& calls) {
  order_search<adding, 8> search{{&calls}, calls.size()};
  for (std::size_t i = 0; i != calls.size(); ++i) search.predecessors[i] = calls[i].after;
  return search.explains_from(adding::state{});
}
TEST(small_histories, a_call_that_has_lost_needs_a_winner_beside_it) {
  EXPECT_TRUE(has_order({{loses, 0}, {1, 0}}));
  EXPECT_FALSE(has_order({{loses, 0}}));
  EXPECT_FALSE(has_order({{loses, 0}, {loses, 0}}));
  EXPECT_FALSE(has_order({{loses, 0}, {changes_nothing, 0}}));
  EXPECT_FALSE(has_order({{loses, 0}, {1, 0b1}}));   // the other call comes after the loser
  EXPECT_FALSE(has_order({{loses, 0b10}, {1, 0}}));  // or before it
}

// --- what scenarios include ------------------------------------------------------------------------------------------

// A deliberate bug in what a queue does with two tasks.
enum class task_bug : unsigned char { none, twice, lost, contents, never_made, order };
template <task_bug Bug>
struct two_tasks final : scenario {
  task_set<2> tasks;
  fifo_view view;
  void thread(unsigned) override {
    task* const first = tasks.make(1);
    task* const second = Bug == task_bug::never_made ? tasks.get(2) : tasks.make(2);
    if (Bug == task_bug::contents) first->contents.set(3);
    tasks.run(first);
    if (Bug != task_bug::lost) tasks.run(Bug == task_bug::twice ? first : second);
    view.see(Bug == task_bug::order ? 2 : 1);
    view.see(Bug == task_bug::order ? 1 : 2);
  }
  void finish() override { tasks.require_all_ran(); }
};
TEST(small_oracle, tells_what_becomes_of_tasks) {
  expect_passes(search<two_tasks<task_bug::none>>(1), 1);
  EXPECT_EQ(search<two_tasks<task_bug::twice>>(1).what, failure::run_twice);
  EXPECT_EQ(search<two_tasks<task_bug::lost>>(1).what, failure::lost);
  EXPECT_EQ(search<two_tasks<task_bug::contents>>(1).what, failure::check_failed);
  EXPECT_EQ(search<two_tasks<task_bug::never_made>>(1).what, failure::check_failed);
  EXPECT_EQ(search<two_tasks<task_bug::order>>(1).what, failure::out_of_order);
}
// A thread hands a task on, and still touches its link.
struct link_is_touched final : scenario {
  task_set<1> tasks;
  task* const made = tasks.make(1);
  void thread(unsigned index) override {
    if (index == 0) tasks.run(made);
    if (index == 1) (void)made->link.next.get();
  }
};
TEST(small_oracle, who_runs_a_task_may_use_its_link) { EXPECT_EQ(search<link_is_touched>(2).what, failure::data_race); }

// One token, two parks.
struct parks_twice final : scenario {
  parker p;
  void thread(unsigned index) override {
    if (index == 0) return p.unpark();
    p.park();
    p.park();
  }
};
TEST(small_waits, one_token_ends_one_park) { EXPECT_EQ(search<parks_twice>(2).what, failure::deadlock); }

struct sleeps final : scenario {
  atomic<int> word{0};
  futex f;
  void thread(unsigned index) override {
    if (index == 0) {
      word.store(1, rlx);
      f.wake(word);
    } else {
      while (word.load(rlx) == 0) f.wait(word, 0);
    }
  }
};
struct sleeps_in_vain final : scenario {
  atomic<int> word{0};
  futex f;
  void thread(unsigned index) override {
    if (index == 0) f.wake(word);
    if (index == 1) f.wait(word, 0);
  }
};
struct sleeps_until_a_deadline final : scenario {
  atomic<int> word{0};
  deadline_clock clock;
  futex f{&clock};
  void thread(unsigned index) override {
    if (index == 0) clock.pass();
    if (index == 1) (void)f.wait_until(word, 0, true);
  }
};
TEST(small_waits, a_futex_sleeps_only_on_the_value_and_keeps_no_wake_up) {
  EXPECT_EQ(search<sleeps>(2, {.max_events_per_thread = 40}).what, failure::none);
  EXPECT_EQ(search<sleeps_in_vain>(2).what, failure::deadlock);
  EXPECT_EQ(search<sleeps_until_a_deadline>(2).what, failure::none);
}

// --- weakened orders -------------------------------------------------------------------------------------------------

int line_of_fence = 0;
int line_of_exchange = 0;
struct with_a_fence final : scenario {
  cell<int> data{0};
  atomic<int> flag{0};
  void thread(unsigned index) override {
    if (index == 0) {
      data.set(1);
      line_of_fence = __LINE__ + 1;
      atomics::fence(rel);
      flag.store(1, rlx);
    } else {
      int expected = 7;
      line_of_exchange = __LINE__ + 1;
      flag.compare_exchange_strong(expected, 8, acq, acq);
      if (expected == 1) (void)data.get();
    }
  }
};
TEST(small_weakenings, change_one_order_of_one_line) {
  EXPECT_EQ(search<with_a_fence>(2).what, failure::none);
  const auto verdict = [](int line, int last_line, int arg, const char* file = "small_programs_test.cpp") {
    set_weakening({.file = file, .line = line, .last_line = last_line, .arg = arg, .to = rlx});
    EXPECT_FALSE(weakening_was_used());
    const search_result r = search<with_a_fence>(2);
    const failure what = r.what;
    // It is marked where it matters.
    const auto weakened = std::count_if(r.trace.begin(), r.trace.end(), [](const event& e) { return e.weakened; });
    EXPECT_EQ(weakened, what == failure::none ? 0 : 1);
    EXPECT_EQ(weakening_was_used(), std::string_view(file) == "small_programs_test.cpp");
    set_weakening({});
    EXPECT_FALSE(weakening_was_used());
    return what;
  };
  EXPECT_EQ(verdict(line_of_fence, line_of_fence, 0), failure::data_race);
  EXPECT_EQ(verdict(line_of_fence - 2, line_of_fence, 0), failure::data_race);
  EXPECT_EQ(verdict(line_of_exchange, line_of_exchange, 1), failure::data_race);
  EXPECT_EQ(verdict(line_of_exchange, line_of_exchange, 0), failure::none);
  EXPECT_EQ(verdict(line_of_fence, line_of_fence, 0, "another_file.cpp"), failure::none);
}
TEST(small_weakenings, both_orders_of_an_exchange_are_noted) {
  start_noting_orders();
  EXPECT_EQ(search<with_a_fence>(2).what, failure::none);
  unsigned of_exchange = 0;
  for (const used_order& o : noted_orders()) of_exchange += o.line == line_of_exchange ? 1U : 0U;
  EXPECT_EQ(of_exchange, 2U);
}

}  // namespace
}  // namespace runq::model
