// SPDX-License-Identifier: MIT
// What becomes of a processor whose machine is in a blocking call, one decision after the other, in a scheduler of the
// test's own. The models check the interleavings.
#include <cstdint>
#include <functional>

#include <gtest/gtest.h>
#include <runq/detail/fair_time.hpp>
#include <runq/protocol/blocking_calls.hpp>

namespace {

struct fake_queue {
  [[nodiscard]] bool has_work() const { return work; }
  [[nodiscard]] bool has_work_approx() const { return work; }
  void put(int* task) { put_last = task; }
  bool work = false;
  int* put_last = nullptr;
};
struct fake_processor {
  runq::handoff<> in_call;
  runq::std_atomics::cell<bool> call_has_unit{false};
  fake_queue queue_thief, forks_thief, yielded_thief;
};
struct fake_machine {
  fake_processor* held = nullptr;
};

struct fake_scheduler {
  struct {
    [[nodiscard]] fake_processor* come_back() const { return idle; }
    [[nodiscard]] fake_processor* come_back_waiting(fake_machine&) const { return idle; }
    template <class Retake>
    bool hand_off(fake_processor&, Retake&& retake, bool busy) {
      handed_off_busy = busy;
      return retake();
    }
    [[nodiscard]] unsigned spinning() const { return spins; }
    [[nodiscard]] unsigned idle_processors() const { return idles; }
    [[nodiscard]] bool somebody_returns() const { return returns; }
    void submitted_in_order() { ++submissions; }
    fake_processor* idle = nullptr;
    unsigned spins = 0;
    unsigned idles = 1;  // another machine could look for work
    bool returns = false;
    bool handed_off_busy = false;
    int submissions = 0;
  } parking;
  struct {
    void hold(fake_machine& m, fake_processor& p) {
      m.held = &p;
      ++holds;
    }
    int holds = 0;
  } looping;
  struct {
    void hurry() { ++hurries; }
    int hurries = 0;
  } monitoring;
  fake_queue global;
  void leave(fake_machine& m) {
    EXPECT_NE(m.held, nullptr);
    ++leaves;
  }
  fake_processor& spare_processor() { return spare; }
  [[nodiscard]] bool unwatched() const { return nobody_polls; }
  void take_unit() { --units; }
  void give_unit() { ++units; }

  fake_processor spare;
  bool nobody_polls = false;
  int leaves = 0;
  int units = 0;
  runq::blocking_calls<fake_machine, fake_processor, fake_scheduler> calling{*this};
};

using outcome = decltype(fake_scheduler::calling)::outcome;

/// A machine with its processor, and what the monitor has seen of it.
struct one_processor {
  one_processor() { m.held = &p; }
  /// What the monitor does at time `t`.
  bool looks(std::int64_t t) { return s.calling.retake(p, seen, t); }

  fake_scheduler s;
  fake_processor p;
  fake_machine m;
  runq::detail::call_watch seen;
};

class blocking_calls : public testing::Test, protected one_processor {};

TEST_F(blocking_calls, S1_a_short_call_keeps_its_processor_and_costs_no_unit) {
  const auto call = s.calling.enter(m);
  EXPECT_EQ(s.leaves, 1);
  EXPECT_EQ(s.monitoring.hurries, 1);
  EXPECT_EQ(s.calling.leave(call), outcome::kept);
  EXPECT_EQ(m.held, &p);
  EXPECT_EQ(s.looping.holds, 1);
  EXPECT_EQ(s.units, 0);
  EXPECT_FALSE(looks(0)) << "it is in no call";
}

TEST_F(blocking_calls, S5_a_processor_is_taken_at_the_second_look_if_there_is_work_and_after_10_ms_otherwise) {
  (void)s.calling.enter(m);
  EXPECT_FALSE(looks(0));
  EXPECT_FALSE(looks(9'999'999));
  EXPECT_TRUE(looks(10'000'000));
  EXPECT_EQ(s.units, -1) << "the call has a unit now";
  EXPECT_FALSE(s.parking.handed_off_busy) << "nobody needs it";
  EXPECT_FALSE(looks(20'000'000)) << "it was taken already";

  const std::function<void(one_processor&)> reasons[] = {
      [](one_processor& c) { c.p.queue_thief.work = true; },   [](one_processor& c) { c.p.forks_thief.work = true; },
      [](one_processor& c) { c.p.yielded_thief.work = true; }, [](one_processor& c) { c.s.global.work = true; },
      [](one_processor& c) { c.s.parking.returns = true; },    [](one_processor& c) { c.s.parking.idles = 0; },
  };
  for (const auto& there_is : reasons) {
    one_processor other;
    (void)other.s.calling.enter(other.m);
    EXPECT_FALSE(other.looks(0));
    there_is(other);
    EXPECT_TRUE(other.looks(1));
    EXPECT_TRUE(other.s.parking.handed_off_busy);
  }
}

TEST_F(blocking_calls, S5_a_call_that_began_after_the_last_look_is_another_call) {
  p.queue_thief.work = true;
  (void)s.calling.leave(s.calling.enter(m));
  (void)s.calling.enter(m);
  EXPECT_FALSE(looks(0));
  (void)s.calling.leave({&m, &p, p.in_call.peek(), false});
  (void)s.calling.enter(m);
  EXPECT_FALSE(looks(20'000'000)) << "another one than at the last look";
  EXPECT_TRUE(looks(20'000'001));
}

TEST_F(blocking_calls, S5_a_processor_that_nobody_else_watches_is_busy) {
  s.nobody_polls = true;
  (void)s.calling.enter(m);
  (void)looks(0);
  EXPECT_TRUE(looks(10'000'000));
  EXPECT_TRUE(s.parking.handed_off_busy) << "somebody has to wait for descriptors and timers";
}

TEST_F(blocking_calls, S2_a_call_that_lost_its_processor_gives_its_unit_back_and_takes_another_processor) {
  for (const bool waits : {false, true}) {
    one_processor other;
    const auto call = other.s.calling.enter(other.m);
    (void)other.looks(0);
    ASSERT_TRUE(other.looks(10'000'000));
    fake_processor idle;
    other.s.parking.idle = &idle;
    EXPECT_EQ(waits ? other.s.calling.leave_waiting(call) : other.s.calling.leave(call), outcome::moved);
    EXPECT_EQ(other.m.held, &idle);
    EXPECT_EQ(other.s.units, 0);
  }
}

TEST_F(blocking_calls, S2_a_call_that_finds_no_processor_has_none_or_a_spare_one) {
  const auto call = s.calling.enter(m);
  (void)looks(0);
  ASSERT_TRUE(looks(10'000'000));
  EXPECT_EQ(s.calling.leave(call), outcome::lost);
  EXPECT_EQ(m.held, nullptr);
  EXPECT_EQ(s.units, 0);
  EXPECT_EQ(s.looping.holds, 0);
  int task = 0;
  s.calling.queue(task);
  EXPECT_EQ(s.global.put_last, &task);
  EXPECT_EQ(s.parking.submissions, 1);

  one_processor other;
  const auto section = other.s.calling.enter(other.m);
  (void)other.looks(0);
  ASSERT_TRUE(other.looks(10'000'000));
  EXPECT_EQ(other.s.calling.leave_waiting(section), outcome::moved) << "the scheduler stops";
  EXPECT_EQ(other.m.held, &other.s.spare);
  EXPECT_EQ(other.s.units, 0);
}

TEST_F(blocking_calls, L21_a_call_that_has_waited_for_its_turn_has_one_unit_until_its_end) {
  for (const bool is_taken : {false, true}) {
    one_processor other;
    const auto call = other.s.calling.enter(other.m, true);
    if (is_taken) {
      (void)other.looks(0);
      ASSERT_TRUE(other.looks(10'000'000));
    }
    EXPECT_EQ(other.s.units, 0) << "it has its unit already";
    EXPECT_EQ(other.s.calling.leave_waiting(call), is_taken ? outcome::moved : outcome::kept);
    EXPECT_EQ(other.s.units, 1);
    // The next call on this processor has waited for nothing.
    other.m.held = &other.p;
    (void)other.s.calling.enter(other.m);
    (void)other.looks(20'000'000);
    ASSERT_TRUE(other.looks(30'000'000));
    EXPECT_EQ(other.s.units, 0);
  }
}

}  // namespace
