// SPDX-License-Identifier: MIT
// What is said of a failing execution, for traces that are written down here: why two steps are not ordered, and which
// calls no order explains.
#include "why.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "calls.hpp"

namespace runq::model {
namespace {

using enum std::memory_order;

constexpr std::uint32_t data = 1;
constexpr std::uint32_t x = 2;
constexpr std::uint32_t y = 3;
constexpr std::uint32_t sleepers = 4;
constexpr std::uint32_t unnamed = 9;
const std::map<std::uint32_t, std::string> variables{
    {data, "data"}, {x, "x"}, {y, "y"}, {sleepers, "waiters of cv"}, {unnamed, ""}};

/// A failing execution, step by step. Threads are numbered from 0; steps that are read from from 1, as people see them.
/// What a step knows of other threads, and what a write hands on, is said of it as well: that is the engine's to find.
class execution {
 public:
  execution& write(int thread, std::uint32_t to) { return add(event_kind::cell_write, thread, to); }
  execution& store(int thread, std::uint32_t to, std::memory_order order, std::uint64_t value = 1) {
    add(event_kind::store, thread, to, order);
    last().value = value;
    return *this;
  }
  execution& load(int thread, std::uint32_t from, std::memory_order order, std::uint32_t step) {
    return add(event_kind::load, thread, from, order, step);
  }
  execution& rmw(int thread, std::uint32_t of, std::memory_order order, std::uint32_t step) {
    return add(event_kind::rmw, thread, of, order, step);
  }
  execution& lock(int thread, std::uint32_t mutex, std::uint32_t step) {
    add(event_kind::lock, thread, mutex, acquire, step);
    last().value = 1;
    return *this;
  }
  execution& unlock(int thread, std::uint32_t mutex) { return add(event_kind::unlock, thread, mutex, release); }
  /// It waits for the lock, or tries it in vain.
  execution& does_not_lock(int thread, std::uint32_t mutex) { return add(event_kind::lock, thread, mutex, acquire); }
  execution& starts(int thread, int other) { return to(event_kind::spawn, thread, other); }
  execution& joins(int thread, int other) { return to(event_kind::join, thread, other); }
  execution& allocates(int thread, std::uint32_t block, int line) {
    add(event_kind::allocate, thread, block);
    last().where.line = line;
    return *this;
  }
  /// The last step has a weaker order than the source says.
  execution& weakened() {
    last().weakened = true;
    return *this;
  }
  execution& stale(std::uint64_t newest) {
    last().stale = true;
    last().newest = newest;
    return *this;
  }
  /// The last step, a read-modify-write, has changed its variable so.
  execution& changes(std::uint64_t from, std::uint64_t to) {
    last().value = from;
    last().written = to;
    return *this;
  }
  /// That thread waits for ever, besides the last one.
  execution& besides(int thread) {
    result_.stuck.push_back({.thread = thread});
    return *this;
  }
  /// It waits since that step of its own, counted from 1.
  execution& since(std::uint32_t step) {
    result_.stuck.back().since = step - 1;
    return *this;
  }
  execution& waits_for_end(int thread, int of) {
    result_.stuck.push_back({.thread = thread, .joins = of});
    return *this;
  }
  execution& has_stopped(int thread) {
    result_.stuck.push_back({.thread = thread, .stopped = true});
    return *this;
  }
  execution& arrives(int thread, std::uint32_t at) { return add(event_kind::arrive, thread, at); }
  /// That thread waits until others have arrived at a barrier, at which it has not arrived itself.
  execution& waits_for_arrivals(int thread) {
    result_.stuck.push_back({.thread = thread, .at_barrier = true});
    return *this;
  }
  /// The last step acquires what that one has released.
  execution& knows(std::uint32_t step) {
    join(known_[last().thread], result_.trace[step - 1].released);
    last().known = known_[last().thread];
    return *this;
  }
  /// The last step releases what its thread knows.
  execution& releases() {
    join(last().released, last().known);
    return *this;
  }
  /// The last step, a read-modify-write, goes on with the release of that one.
  execution& hands_on(std::uint32_t step) {
    join(last().released, result_.trace[step - 1].released);
    return *this;
  }

  /// The last step fails; it is in conflict with that one.
  [[nodiscard]] std::string race_with(std::uint32_t step) { return why_fails(failure::data_race, step - 1); }
  [[nodiscard]] std::string fails_beside(std::uint32_t step, failure what) { return why_fails(what, step - 1); }
  [[nodiscard]] std::string waits() { return why_fails(failure::deadlock, no_event); }
  [[nodiscard]] std::string check_fails() { return why_fails(failure::check_failed, no_event); }
  [[nodiscard]] std::string fails(failure what) { return why_fails(what, no_event); }
  /// What was allocated in that line.
  [[nodiscard]] std::string leaks(int line, std::uint32_t partner = no_event) {
    result_.where.line = line;
    return why_fails(failure::leak, partner);
  }

 private:
  execution& to(event_kind kind, int thread, int other) {
    add(kind, thread, 0);
    last().value = static_cast<std::uint64_t>(other);
    return *this;
  }
  static void join(known_events& to, const known_events& other) {
    to.resize(std::max(to.size(), other.size()));
    for (std::size_t i = 0; i != other.size(); ++i) to[i] = std::max(to[i], other[i]);
  }
  execution& add(event_kind kind, int thread, std::uint32_t location, std::memory_order order = relaxed,
                 std::uint32_t step = 0) {
    event e;
    e.kind = kind;
    e.thread = thread;
    e.location = location;
    e.order = order;
    if (step != 0) e.reads_from = step - 1;
    const auto own = static_cast<std::size_t>(thread + 1);
    known_events& known = known_[thread];
    known.resize(std::max(known.size(), own + 1));
    e.position = known[own]++;
    e.known = known;
    result_.trace.push_back(e);
    return *this;
  }
  event& last() { return result_.trace.back(); }
  std::string why_fails(failure what, std::uint32_t partner) {
    result_.what = what;
    result_.knows_sources = true;
    result_.partner = partner;
    add(event_kind::failure, last().thread, 0);
    return why(result_, variables).sentence;
  }

  search_result result_;
  std::map<int, known_events> known_;  ///< by each thread so far
};

TEST(why, a_conflict_of_ordered_steps_is_said_to_be_one) {
  EXPECT_EQ(execution()
                .write(0, data)
                .store(0, x, release)
                .releases()
                .rmw(1, x, relaxed, 2)
                .hands_on(2)
                .load(2, x, acquire, 3)
                .knows(3)
                .write(2, data)
                .race_with(1),
            "step 1 happens before step 5, and is in conflict with it");
}

TEST(why, what_is_freed_is_freed_again_or_used) {
  const auto fails = [](failure what) {
    return execution()
        .write(0, data)
        .store(0, x, release)
        .releases()
        .load(1, x, acquire, 2)
        .knows(2)
        .write(1, data)
        .fails_beside(1, what);
  };
  EXPECT_EQ(fails(failure::double_free), "step 1 happens before step 4, and both free the same memory");
  EXPECT_EQ(fails(failure::use_after_free), "step 1 happens before step 4, and has freed what it uses");
}

TEST(why, a_thread_waits_for_a_value_that_nobody_writes) {
  EXPECT_EQ(execution().store(0, x, relaxed, 3).load(1, x, relaxed, 1).waits(),
            "T1 waits at step 2 until x is another value than 0, and no thread is left to write one");
}

TEST(why, who_waits_at_a_latch_without_an_arrival_waits_for_no_value) {
  EXPECT_EQ(execution().arrives(0, y).load(1, x, relaxed, 0).waits_for_arrivals(1).waits(),
            "T1 waits until enough threads have arrived at y, and no thread is left to do so");
  EXPECT_EQ(execution().arrives(0, x).arrives(0, y).load(1, x, relaxed, 0).waits_for_arrivals(1).waits(),
            "T1 waits until enough threads have arrived at a barrier or a latch, and no thread is left to do so");
}

TEST(why, a_value_that_was_overwritten_before_it_was_read_is_named) {
  const auto waits = [](int thread, std::uint64_t first) {
    return execution().store(thread, x, release, first).store(1, x, relaxed, 0).load(1, x, acquire, 2).waits();
  };
  const std::string text = "T1 waits at step 3 until x is another value than 0, and no thread is left to write one";
  EXPECT_EQ(waits(0, 7), text + "; step 2 writes that over 7, which step 1 has written");
  EXPECT_EQ(waits(0, 0), text);
  EXPECT_EQ(waits(1, 7), text);
}

TEST(why, of_a_thread_that_sleeps_the_last_wake_up_is_named) {
  const auto sleeps = [](std::uint64_t counted_before) {
    return execution()
        .store(0, x, release)
        .rmw(0, sleepers, relaxed, 0)
        .changes(counted_before, counted_before)
        .rmw(1, sleepers, relaxed, 2)
        .changes(counted_before, counted_before + 1)
        .load(1, sleepers, relaxed, 0)
        .waits();
  };
  EXPECT_EQ(sleeps(0),
            "T1 waits at step 4 until another thread wakes the waiters of cv, and no thread is left to do so; step 2 "
            "wakes the waiters of cv for the last time, before T1 begins to wait in step 3");
  EXPECT_EQ(sleeps(1), sleeps(0));
  // Also of a thread that is not the one that is explained.
  EXPECT_EQ(execution()
                .rmw(0, sleepers, relaxed, 0)
                .changes(0, 0)
                .rmw(1, sleepers, relaxed, 1)
                .changes(0, 1)
                .load(1, sleepers, relaxed, 0)
                .load(2, y, relaxed, 0)
                .besides(1)
                .waits(),
            "T2 waits at step 4 until y is another value than 0; T1 waits at step 3, too; step 1 wakes the waiters of "
            "cv for the last time, before T1 begins to wait in step 2");
  // Nobody has woken anybody: who counts itself is no wake-up.
  EXPECT_EQ(execution()
                .rmw(0, sleepers, relaxed, 0)
                .changes(0, 1)
                .rmw(1, sleepers, relaxed, 1)
                .changes(1, 2)
                .load(1, sleepers, relaxed, 0)
                .waits(),
            "T1 waits at step 3 until another thread wakes the waiters of cv, and no thread is left to do so");
}

TEST(why, a_thread_that_waits_for_ever_has_not_seen_something) {
  const auto waits = [](std::uint64_t newest) {
    return execution()
        .store(-1, data, relaxed, 0)
        .store(0, data, relaxed, 1)
        .store(0, x, relaxed, 1)
        .load(1, x, acquire, 3)
        .load(1, data, relaxed, 1)
        .stale(newest)
        .load(1, y, relaxed, 0)
        .waits();
  };
  EXPECT_EQ(waits(1),
            "T1 waits at step 6 until y is another value than 0, and no thread is left to write one; step 5 does not "
            "see step 2: step 4 acquires from step 3, which is relaxed, so step 2 does not happen before step 5");
  // An old value that is equal to the newest one makes no difference.
  EXPECT_EQ(waits(0), "T1 waits at step 6 until y is another value than 0, and no thread is left to write one");
}

TEST(why, who_wakes_can_have_missed_who_waits) {
  EXPECT_EQ(execution()
                .store(-1, x, relaxed, 0)
                .store(-1, y, relaxed, 0)
                .store(0, x, relaxed, 1)
                .store(1, y, relaxed, 1)
                .load(1, x, relaxed, 1)
                .stale(1)
                .load(0, y, relaxed, 2)
                .stale(1)
                .load(1, x, relaxed, 3)
                .waits(),
            "T1 waits at step 7 until x is another value than 0, and no thread is left to write one; step 5 does not "
            "see step 3: nothing that T1 reads up to step 5 comes from T0 after step 3, so nothing orders the two; "
            "step 6 does not see step 4: nothing that T0 reads up to step 6 comes from T1 after step 4, so nothing "
            "orders the two");
}

TEST(why, two_threads_that_nothing_joins_are_named) {
  EXPECT_EQ(execution()
                .write(0, data)
                .store(0, x, release)
                .releases()
                .store(1, x, relaxed)
                .load(2, x, acquire, 3)
                .write(2, data)
                .race_with(1),
            "nothing that T2 reads up to step 5 comes from T0 after step 1, so nothing orders the two");
  // After the release.
  EXPECT_EQ(
      execution().lock(0, x, 0).unlock(0, x).releases().write(0, data).lock(1, x, 2).knows(2).write(1, data).race_with(
          3),
      "nothing that T1 reads up to step 5 comes from T0 after step 3, so nothing orders the two");
}

TEST(why, where_nothing_joins_them_an_old_value_may_have_led_there) {
  const auto races = [](int reader) {
    return execution()
        .store(-1, x, relaxed, 0)
        .write(0, data)
        .store(0, x, relaxed, 1)
        .load(reader, x, acquire, 1)
        .stale(1)
        .write(1, data)
        .race_with(2);
  };
  const std::string text = "nothing that T1 reads up to step 5 comes from T0 after step 2, so nothing orders the two";
  EXPECT_EQ(races(1), text +
                          "; step 4 does not see step 3: nothing that T1 reads up to step 4 comes from T0 after "
                          "step 3, so nothing orders the two");
  EXPECT_EQ(races(2), text);
}

TEST(why, who_is_woken_acquires_nothing) {
  EXPECT_EQ(execution()
                .write(0, data)
                .rmw(0, sleepers, relaxed, 0)
                .changes(0, 1)
                .load(1, sleepers, relaxed, 2)
                .write(1, data)
                .race_with(1),
            "step 2 only wakes T1, so step 1 does not happen before step 4");
}

TEST(why, across_a_read_modify_write_the_step_is_named_that_loses_the_order) {
  // The read that does not acquire, rather than the read-modify-write, which need not.
  EXPECT_EQ(execution()
                .write(0, data)
                .store(0, x, release)
                .releases()
                .rmw(1, x, relaxed, 2)
                .hands_on(2)
                .load(2, x, relaxed, 3)
                .write(2, data)
                .race_with(1),
            "step 4 reads what step 3 releases, but is itself relaxed, so step 1 does not happen before step 5");
  // The first store, which releases nothing: the read-modify-write releases only what its own thread knows.
  EXPECT_EQ(execution()
                .write(0, data)
                .store(0, x, relaxed)
                .rmw(1, x, release, 2)
                .releases()
                .load(2, x, acquire, 3)
                .knows(3)
                .write(2, data)
                .race_with(1),
            "step 3 (release) reads from step 2 (relaxed), so step 1 does not happen before step 5");
  EXPECT_EQ(execution()
                .write(0, data)
                .store(0, x, relaxed)
                .rmw(1, x, acq_rel, 2)
                .releases()
                .load(2, x, acquire, 3)
                .knows(3)
                .write(2, data)
                .race_with(1),
            "step 3 acquires from step 2, which is relaxed, so step 1 does not happen before step 5");
}

TEST(why, of_two_reads_that_lose_the_order_the_last_is_named) {
  // T1 hands on what it does not know: T2 would not either if it acquired.
  EXPECT_EQ(execution()
                .write(0, data)
                .store(0, x, release)
                .releases()
                .load(1, x, relaxed, 2)
                .store(1, y, release)
                .releases()
                .load(2, y, acquire, 4)
                .knows(4)
                .write(2, data)
                .race_with(1),
            "step 3 reads what step 2 releases, but is itself relaxed, so step 1 does not happen before step 6");
}

TEST(why, an_old_value_is_explained_by_the_newest_write) {
  EXPECT_EQ(
      execution()
          .store(-1, data, relaxed, 0)
          .store(0, data, relaxed, 1)
          .store(0, x, relaxed, 1)
          .load(1, x, acquire, 3)
          .load(1, data, relaxed, 1)
          .stale(1)
          .check_fails(),
      "step 5 does not see step 2: step 4 acquires from step 3, which is relaxed, so step 2 does not happen before "
      "step 5");
}

TEST(why, turns_of_threads_are_named_where_only_their_order_matters) {
  EXPECT_EQ(execution().store(0, x, relaxed).rmw(1, x, relaxed, 1).rmw(0, x, relaxed, 2).check_fails(),
            "every read sees the last write before it: the order of the steps alone leads here, whatever the memory "
            "orders: T0 up to step 1, then T1 up to step 2, then T0 up to step 3");
  EXPECT_EQ(execution().store(0, x, relaxed).load(0, x, relaxed, 1).check_fails(),
            "T0 alone leads here: no other thread makes a step");
}

TEST(why, a_delayed_read_is_named) {
  EXPECT_EQ(execution().load(0, x, relaxed, 2).store(1, x, relaxed).load(0, y, relaxed, 0).check_fails(),
            "step 1 reads what step 2 writes only later: the read was delayed (load buffering)");
}

TEST(why, a_link_may_lead_on_through_starts_and_ends_of_threads) {
  const std::string text = "step 3 (relaxed) reads from step 2 (relaxed), so step 1 does not happen before step 5";
  EXPECT_EQ(
      execution().write(0, data).store(0, x, relaxed).load(1, x, relaxed, 2).starts(1, 2).write(2, data).race_with(1),
      text);
  EXPECT_EQ(
      execution().write(0, data).store(0, x, relaxed).load(2, x, relaxed, 2).joins(1, 2).write(1, data).race_with(1),
      text);
  // Nothing leads from the read to the failing step.
  EXPECT_EQ(execution().write(0, data).store(0, x, relaxed).load(2, x, relaxed, 2).write(1, data).race_with(1),
            "nothing that T1 reads up to step 4 comes from T0 after step 1, so nothing orders the two");
}

TEST(why, what_a_thread_reads_from_itself_is_no_link) {
  EXPECT_EQ(execution()
                .write(0, data)
                .store(0, x, release)
                .releases()
                .rmw(1, x, relaxed, 2)
                .hands_on(2)
                .load(1, x, relaxed, 3)
                .write(1, data)
                .race_with(1),
            "step 3 reads what step 2 releases, but is itself relaxed, so step 1 does not happen before step 5");
}

TEST(why, orders_that_do_not_release_are_named_and_weakened_ones_are_told) {
  const auto races = [](std::memory_order order, bool is_weakened) {
    execution e;
    e.write(0, data).rmw(0, x, order, 0);
    if (is_weakened) e.weakened();
    return e.load(1, x, acquire, 2).write(1, data).race_with(1);
  };
  const std::string end = ", so step 1 does not happen before step 4";
  EXPECT_EQ(races(acquire, false), "step 3 acquires from step 2, which is acquire and releases nothing" + end);
  EXPECT_EQ(races(relaxed, true), "step 3 acquires from step 2, which is relaxed (weakened)" + end);
}

TEST(why, a_failure_without_another_step_has_no_other_step) {
  EXPECT_EQ(execution().load(0, x, relaxed, 0).fails(failure::uninitialised_read),
            "no step before step 1 writes there");
  EXPECT_EQ(execution().load(0, x, relaxed, 0).fails(failure::use_after_free), "");
  EXPECT_EQ(execution().write(0, data).race_with(1), "");
}

TEST(why, the_old_value_is_one_of_the_thread_that_fails) {
  EXPECT_EQ(
      execution()
          .store(-1, x, relaxed, 0)
          .store(0, x, relaxed, 1)
          .load(1, x, relaxed, 1)
          .stale(1)
          .load(2, x, relaxed, 1)
          .stale(1)
          .load(1, y, relaxed, 0)
          .check_fails(),
      "step 3 does not see step 2: nothing that T1 reads up to step 3 comes from T0 after step 2, so nothing orders "
      "the two");
  // A delayed read says more.
  EXPECT_EQ(execution()
                .store(-1, y, relaxed, 0)
                .load(0, x, relaxed, 4)
                .store(1, y, relaxed, 1)
                .store(1, x, relaxed, 1)
                .load(0, y, relaxed, 1)
                .stale(1)
                .check_fails(),
            "step 2 reads what step 4 writes only later: the read was delayed (load buffering)");
}

TEST(why, turns_are_those_at_what_threads_share_and_the_last_eight_of_them) {
  const std::string text =
      "every read sees the last write before it: the order of the steps alone leads here, whatever the memory orders";
  EXPECT_EQ(execution().store(0, x, relaxed).rmw(1, x, relaxed, 1).store(1, y, relaxed).check_fails(),
            text + ": T0 up to step 1, then T1 up to step 2");
  EXPECT_EQ(execution().store(0, x, relaxed).store(1, y, relaxed).check_fails(), text);
  execution e;
  e.store(0, x, relaxed);
  for (int i = 1; i != 10; ++i) e.rmw(i % 2, x, relaxed, static_cast<std::uint32_t>(i));
  EXPECT_EQ(e.check_fails(), text +
                                 ": at last T0 up to step 3, then T1 up to step 4, then T0 up to step 5, then T1 up "
                                 "to step 6, then T0 up to step 7, then T1 up to step 8, then T0 up to step 9, then "
                                 "T1 up to step 10");
}

TEST(why, who_waits_for_locks_waits_for_their_holders) {
  EXPECT_EQ(execution().lock(1, x, 0).unlock(1, x).does_not_lock(0, x).waits(), "T0 waits at step 3 for x");
  EXPECT_EQ(execution().lock(0, x, 0).does_not_lock(0, x).waits(),
            "T0 waits at step 2 for x, which it holds itself since step 1");
  EXPECT_EQ(execution().lock(0, y, 0).lock(1, x, 0).does_not_lock(1, y).does_not_lock(0, x).besides(1).waits(),
            "T0 waits at step 4 for x, which T1 holds since step 2, and T1 waits at step 3 for y, which T0 holds since "
            "step 1");
  EXPECT_EQ(execution().lock(1, y, 0).unlock(1, y).lock(1, x, 0).does_not_lock(0, x).has_stopped(1).waits(),
            "T0 waits at step 4 for x, which T1 holds since step 3, and T1 has stopped for ever at step 3");
}

TEST(why, who_has_tried_a_lock_in_vain_waits_for_something_else) {
  const auto waits = [] { return execution().lock(0, x, 0).lock(1, y, 0).does_not_lock(0, y).does_not_lock(1, x); };
  EXPECT_EQ(
      waits().waits_for_end(0, 1).besides(1).since(2).load(2, data, relaxed, 0).waits(),
      "T2 waits at step 5 until data is another value than 0; T0 waits for the end of T1, and T1 waits at step 4 for "
      "x, which T0 holds since step 1");
  const std::string chain = "T1 waits at step 4 for x, which T0 holds since step 1";
  EXPECT_EQ(waits().besides(1).since(2).waits_for_end(0, 1).waits(), chain);
  EXPECT_EQ(waits().besides(1).since(2).waits_for_arrivals(0).waits(), chain);
  EXPECT_EQ(waits().besides(1).since(2).besides(0).since(3).waits(), chain);
  EXPECT_EQ(waits().besides(1).since(2).has_stopped(0).waits(), chain + ", and T0 has stopped for ever at step 3");
  EXPECT_EQ(waits().besides(1).since(2).besides(0).since(2).waits(),
            chain + ", and T0 waits at step 3 for y, which T1 holds since step 2");
}

TEST(why, who_else_waits_or_has_stopped_is_named) {
  EXPECT_EQ(
      execution()
          .load(2, y, relaxed, 0)
          .load(1, x, relaxed, 0)
          .waits_for_end(0, 1)
          .besides(1)
          .has_stopped(2)
          .has_stopped(3)
          .waits(),
      "T1 waits at step 2 until x is another value than 0; T0 waits for the end of T1, and T2 has stopped for ever "
      "at step 1, and T3 has stopped for ever");
  EXPECT_EQ(execution().load(1, x, relaxed, 0).besides(0).waits(),
            "T1 waits at step 1 until x is another value than 0; T0 waits since before the steps that are shown");
}

TEST(why, what_leaks_was_allocated) {
  const auto leaks = [](int line, std::uint32_t partner) {
    return execution().allocates(0, data, 7).allocates(0, x, 8).store(0, y, relaxed).leaks(line, partner);
  };
  EXPECT_EQ(leaks(7, no_event), "step 1 allocates it, and no step frees it");
  EXPECT_EQ(leaks(8, no_event), "step 2 allocates it, and no step frees it");
  EXPECT_EQ(leaks(8, 0), "step 1 allocates it, and no step frees it");
}

TEST(why, a_variable_without_a_name_has_its_number) {
  EXPECT_EQ(execution().load(0, unnamed, relaxed, 0).waits(),
            "T0 waits at step 1 until v9 is another value than 0, and no thread is left to write one");
}

// --- calls -----------------------------------------------------------------------------------------------------------

[[nodiscard]] shown_call call(int thread, const char* text, std::uint32_t began, std::uint32_t ended,
                              std::vector<std::uint32_t> after = {}) {
  shown_call c;
  c.thread = thread;
  c.text = text;
  c.began = began;
  c.ended = ended;
  c.after = std::move(after);
  return c;
}

TEST(calls, only_the_last_calls_before_one_are_named) {
  const std::vector<shown_call> all{call(0, "a", 1, 2), call(0, "b", 3, 4, {0}), call(1, "c", 1, 4),
                                    call(2, "d", 5, 6, {0, 1, 2})};
  EXPECT_EQ(last_before(all, 3), (std::vector<std::uint32_t>{1, 2}));
  EXPECT_EQ(last_before(all, 1), (std::vector<std::uint32_t>{0}));
  EXPECT_TRUE(last_before(all, 2).empty());
}

TEST(calls, spans_keep_the_order_of_beginnings_and_ends) {
  const std::vector<call_span> spans = call_spans({call(0, "a", 1, 5), call(1, "b", 2, 3), call(1, "c", 4, 6)});
  EXPECT_EQ(spans[0].begin, spans[1].begin);  // nothing ends between
  EXPECT_LT(spans[1].end, spans[2].begin);
  EXPECT_LT(spans[2].begin, spans[0].end);
  EXPECT_EQ(spans[0].end, spans[2].end);
}

TEST(calls, beside_one_earlier_ones_of_other_threads_are_named) {
  search_result r;
  r.calls = {call(0, "a", 1, 2), call(1, "b", 3, 4, {0}), call(1, "c", 5, 6, {0, 1})};
  r.explained_calls = {0, 1, 2};
  const std::vector<std::string> lines = render_calls(r, 10, 100);
  ASSERT_EQ(lines.size(), 4U);
  EXPECT_TRUE(lines[2].ends_with("  after 1")) << lines[2];
  EXPECT_TRUE(lines[3].ends_with("┤")) << lines[3];
}

TEST(calls, as_many_lines_are_drawn_as_there_is_room_for) {
  search_result r;
  r.calls = {call(-1, "a", 1, 2), call(-1, "b", 3, 4)};
  for (std::uint32_t i = 0; i != 6; ++i) r.calls.push_back(call(0, "c", 5 + 2 * i, 6 + 2 * i));
  for (const std::size_t room : {5U, 7U}) {
    const std::vector<std::string> lines = render_calls(r, room, 100);
    ASSERT_EQ(lines.size(), room);
    EXPECT_TRUE(lines[2].ends_with(room == 5 ? "(4 calls left out)" : "(2 calls left out)")) << lines[2];
  }
  EXPECT_EQ(render_calls(r, 8, 100).size(), 8U);
  EXPECT_EQ(render_calls(r, 20, 100).size(), 8U);
  r.calls.erase(r.calls.begin(), r.calls.begin() + 2);
  for (const std::size_t room : {4U, 6U}) EXPECT_EQ(render_calls(r, room, 100).size(), room);
}

TEST(calls, those_that_cannot_come_next_are_named) {
  search_result r;
  r.calls = {call(0, "push 1", 1, 2), call(1, "pop → 2", 1, 4), call(0, "pop → 3", 3, 4, {0}),
             call(1, "pop → 4", 5, 6, {0, 1, 2})};
  r.explained_calls = {0};
  EXPECT_EQ(cannot_come_next(r), (std::vector<std::uint32_t>{1, 2}));
  EXPECT_EQ(
      why_no_order(r),
      "no order of the calls explains their answers: each of call 2 (T1: pop → 2) and call 3 (T0: pop → 3) cannot come "
      "next after 1");
  r.explained_calls = {};
  EXPECT_EQ(
      why_no_order(r),
      "no order of the calls explains their answers: each of call 1 (T0: push 1) and call 2 (T1: pop → 2) cannot come "
      "next, as the first");
  r.explained_calls = {0, 3, 2};
  r.unexplained_call = 1;
  EXPECT_EQ(cannot_come_next(r), (std::vector<std::uint32_t>{1}));
  EXPECT_EQ(why_no_order(r), "no order of the calls explains call 2 (T1: pop → 2); without it they have one: 1, 4, 3");
}

}  // namespace
}  // namespace runq::model
