// SPDX-License-Identifier: MIT
// The rules of park_protocol one by one, on one thread: a test calls the steps of each machine, and no machine really
// sleeps. Rows L17 to L19, X2 and X3. The models check the interleavings of several threads.
#include <array>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <runq/protocol/park.hpp>

namespace {

/// std_atomics with a mutex of which a test can ask whether it is locked.
struct watched_atomics : runq::std_atomics {
  static inline bool locked = false;
  struct mutex {
    void lock() { EXPECT_FALSE(std::exchange(locked, true)); }
    void unlock() { EXPECT_TRUE(std::exchange(locked, false)); }
  };
};

struct parker {
  void park() {
    ++parked;
    EXPECT_GT(unparked, 0) << "a machine would sleep for ever in this test";
  }
  [[nodiscard]] bool park_for_long() {
    if (gives_up) return false;
    park();
    return true;
  }
  [[nodiscard]] bool doze() {
    ++dozed;
    while_dozing();
    return unparked > 0;
  }
  void unpark() {
    EXPECT_FALSE(watched_atomics::locked) << "a system call while other threads wait for the lock";
    ++unparked;
  }
  std::function<void()> while_dozing;
  int dozed = 0;
  bool gives_up = false;
  int parked = 0;
  int unparked = 0;
};
struct processor : runq::park_processor<processor, watched_atomics> {
  unsigned index = 0;
};
struct machine : runq::park_machine<machine, processor, parker, watched_atomics> {
  processor* held = nullptr;
};

/// A fake of the scheduler around the protocol, after a first task was submitted. `started` holds the machines in the
/// order in which the protocol has started them.
struct host {
  explicit host(unsigned n) : parking(*this) {
    for (unsigned i = 0; i != processors.size(); ++i) processors[i].index = i;
    parking.resize(n);
    parking.submitted();
  }
  bool work_anywhere() {
    if (while_looking) while_looking();
    return work;
  }
  bool surplus(const processor& p) { return p.index >= parking.limit(); }
  processor& processor_at(unsigned i) { return processors[i]; }
  void start_machine(processor& p) {
    EXPECT_FALSE(watched_atomics::locked) << "a thread is started while other threads wait for the lock";
    machine& m = *started.emplace_back(std::make_unique<machine>());
    m.spinning.set(true);
    m.held = &p;
  }
  void check_deadlock() { ++idle_calls; }
  bool keeps(std::size_t idle_machines) const { return idle_machines <= kept; }
  machine* this_idle_machine() { return here; }

  /// Makes machines hold all processors, with none of them spinning.
  void all_busy() {
    parking.submitted();
    for (std::size_t i = 0; i != started.size(); ++i) parking.found(*started[i]);
  }
  processor* rest(std::size_t i) {
    machine& m = *started[i];
    m.parker.unparked = 1;  // stands for the wake-up: here park() does not really sleep
    m.held = parking.machine_idle(m, *m.held);
    return m.held;
  }

  std::array<processor, 16> processors;
  std::vector<std::unique_ptr<machine>> started;
  bool work = false;
  std::function<void()> while_looking;
  int idle_calls = 0;
  std::size_t kept = 16;
  machine* here = nullptr;
  runq::park_protocol<machine, processor, host, watched_atomics> parking;
};

TEST(park, L17_a_submitter_wakes_one_machine_when_none_is_spinning) {
  host h(4);
  ASSERT_EQ(h.started.size(), 1U);
  EXPECT_EQ(h.parking.spinning(), 1U);
  EXPECT_EQ(h.parking.idle_processors(), 3U);
}

TEST(park, L15_a_machine_that_finds_work_while_it_is_idle_wakes_itself) {
  host h(2);
  h.all_busy();
  (void)h.parking.may_spin(*h.started[0]);
  EXPECT_EQ(h.rest(0), nullptr);
  EXPECT_EQ(h.rest(1), nullptr);
  h.started[0]->parker = {};
  h.started[1]->parker = {};
  h.here = h.started[0].get();
  h.parking.submitted();
  EXPECT_EQ(h.started[0]->parker.unparked, 1);
  EXPECT_EQ(h.started[1]->parker.unparked, 0) << "it went to sleep last, but sleeps";
  // A machine that holds no processor and is not idle is in a blocking call.
  h.parking.found(*h.started[0]);
  EXPECT_EQ(h.started[1]->parker.unparked, 1);
}

TEST(park, L17_new_processors_are_idle_unless_a_submitter_waits_for_one) {
  host unasked(2);
  unasked.parking.resize(4);
  EXPECT_EQ(unasked.started.size(), 1U) << "the one that spins already is enough";
  EXPECT_EQ(unasked.parking.idle_processors(), 3U);
  host asked(0);
  EXPECT_EQ(asked.started.size(), 0U);
  EXPECT_TRUE(asked.parking.need_spinning());
  asked.parking.resize(4);
  EXPECT_EQ(asked.started.size(), 1U);
  EXPECT_FALSE(asked.parking.need_spinning());
}

TEST(park, L17_a_burst_of_submissions_beside_a_spinner_wakes_nobody) {
  host h(4);
  ASSERT_EQ(h.started.size(), 1U);
  for (int i = 0; i != 1000; ++i) h.parking.submitted();
  EXPECT_EQ(h.started.size(), 1U);
  EXPECT_EQ(h.parking.spinning(), 1U);
}

/// The owner of a local_queue, for submit_next().
struct queue_owner {
  [[nodiscard]] bool next_is_free() const { return is_free; }
  [[nodiscard]] static std::size_t push_next(machine*) { return 0; }
  bool is_free = true;
};

// Machine 1 finds nothing and dozes; `what` happens in its first doze. Its look says once that it goes on to doze.
int dozes(host& h, const std::function<void()>& what) {
  machine& m = *h.started[1];
  EXPECT_TRUE(h.parking.may_spin(m));
  m.parker.while_dozing = [&] {
    EXPECT_TRUE(h.parking.somebody_dozes());
    EXPECT_EQ(h.parking.spinning(), 0U);
    if (m.parker.dozed == 1) what();
  };
  int looks = 0;
  h.while_looking = [&] {
    EXPECT_FALSE(h.parking.somebody_dozes()) << "the last look comes after the doze";
    m.parker.unparked = 1;  // stands for a wake-up after that
  };
  m.held = h.parking.machine_dozes(m, *m.held, [&] { return ++looks < 3; });
  EXPECT_FALSE(h.parking.somebody_dozes());
  return m.parker.dozed;
}

TEST(park, L17_while_a_machine_dozes_a_task_in_a_free_runnext_slot_wakes_nobody) {
  host h(2);
  h.all_busy();
  queue_owner q;
  EXPECT_EQ(dozes(h, [&] { h.parking.submit_next(q, static_cast<machine*>(nullptr)); }), 2);
  EXPECT_EQ(h.parking.idle_processors(), 1U);
  h.parking.submit_next(q, static_cast<machine*>(nullptr));
  EXPECT_EQ(h.parking.spinning(), 1U) << "nobody dozes any more, and nobody was woken";
}

/// The owner of a deque of forks, for forked().
struct forks_owner {
  [[nodiscard]] std::size_t size_approx() const { return forks; }
  std::size_t forks;
};

TEST(park, L17_while_a_machine_dozes_a_fork_that_is_alone_wakes_nobody_and_one_that_is_not_wakes_it) {
  for (const std::size_t forks : {1U, 2U}) {
    host h(2);
    h.all_busy();
    const forks_owner own{.forks = forks};
    EXPECT_EQ(dozes(h, [&] { h.parking.forked(own); }), forks == 1 ? 2 : 1);
    EXPECT_EQ(h.parking.spinning(), forks == 1 ? 0U : 1U);
    if (forks != 1) continue;
    h.parking.forked(own);
    EXPECT_EQ(h.parking.spinning(), 1U) << "nobody dozes any more, and nobody was woken";
  }
}

TEST(park, L17_any_other_task_wakes_the_machine_that_dozes) {
  for (const bool displaced : {false, true}) {
    host h(2);
    h.all_busy();
    queue_owner q{.is_free = false};
    EXPECT_EQ(dozes(h,
                    [&] {
                      if (displaced) {
                        h.parking.submit_next(q, static_cast<machine*>(nullptr));
                      } else {
                        h.parking.submitted_in_order();
                      }
                    }),
              1);
    EXPECT_NE(h.started[1]->held, nullptr);
    EXPECT_EQ(h.parking.spinning(), 1U);
  }
}

TEST(park, L15_one_machine_dozes_and_none_while_all_processors_are_idle) {
  host h(3);
  h.all_busy();
  EXPECT_EQ(dozes(h,
                  [&] {
                    machine& other = *h.started[0];
                    EXPECT_TRUE(h.parking.may_spin(other));
                    other.parker.unparked = 1;
                    const auto last_look = std::exchange(h.while_looking, nullptr);
                    EXPECT_EQ(h.parking.machine_dozes(other, *other.held, [] { return true; }), nullptr);
                    h.while_looking = last_look;
                    EXPECT_EQ(other.parker.dozed, 0);
                  }),
            2);
  host alone(1);
  machine& m = *alone.started[0];
  m.parker.unparked = 1;
  EXPECT_EQ(alone.parking.machine_dozes(m, *m.held, [] { return true; }), nullptr);
  EXPECT_EQ(m.parker.dozed, 0);
}

TEST(park, L17_without_an_idle_processor_nobody_is_woken_and_a_request_is_left) {
  host h(2);
  h.all_busy();
  EXPECT_EQ(h.started.size(), 2U);
  EXPECT_EQ(h.parking.spinning(), 0U);
  EXPECT_TRUE(h.parking.need_spinning());
  h.parking.submitted();
  EXPECT_EQ(h.started.size(), 2U);
}

TEST(park, L18_a_spinner_that_finds_work_wakes_the_next_one) {
  host h(4);
  for (std::size_t k = 1; k != 4; ++k) {
    ASSERT_EQ(h.started.size(), k);
    h.parking.found(*h.started[k - 1]);
  }
  EXPECT_EQ(h.started.size(), 4U);
  EXPECT_EQ(h.parking.idle_processors(), 0U);
}

TEST(park, L18_a_machine_that_leaves_tasks_behind_wakes_two_while_fewer_look_for_work_than_run_tasks) {
  host h(8);
  h.parking.found(*h.started[0]);
  h.parking.found(*h.started[1]);
  ASSERT_EQ(h.started.size(), 3U);
  h.parking.start_more(1);
  EXPECT_EQ(h.started.size(), 3U) << "one looks for the one task";
  h.parking.start_more(9);
  EXPECT_EQ(h.started.size(), 4U) << "two run tasks, and now two look for work";
  h.parking.found(*h.started[2]);
  h.parking.start_more(9);
  EXPECT_EQ(h.started.size(), 6U);
  EXPECT_EQ(h.parking.spinning(), 3U);
  h.parking.found(*h.started[3]);
  h.parking.found(*h.started[4]);
  h.parking.start_more(9);
  EXPECT_EQ(h.started.size(), 8U) << "two at most";
  EXPECT_EQ(h.parking.spinning(), 3U);
  h.parking.found(*h.started[5]);
  EXPECT_FALSE(h.parking.may_start_more()) << "no processor is idle";
}

TEST(park, L18_a_machine_that_was_not_spinning_wakes_nobody) {
  host h(4);
  machine busy;
  h.parking.found(busy);
  EXPECT_EQ(h.started.size(), 1U);
}

TEST(park, L19_a_spinner_looks_at_all_queues_once_more_before_it_sleeps) {
  host h(2);
  h.work = true;
  processor* const before = h.started[0]->held;
  EXPECT_EQ(h.rest(0), before);
  EXPECT_EQ(h.started[0]->parker.parked, 0);
  EXPECT_TRUE(h.started[0]->spinning.get());
  EXPECT_EQ(h.parking.spinning(), 1U);
}

TEST(park, L19_a_spinner_that_finds_nothing_gives_up_its_processor_and_sleeps) {
  host h(2);
  EXPECT_EQ(h.rest(0), nullptr);
  EXPECT_EQ(h.started[0]->parker.parked, 1);
  EXPECT_EQ(h.parking.spinning(), 0U);
  EXPECT_EQ(h.parking.idle_processors(), 2U);
}

TEST(park, L15_the_machine_that_went_to_sleep_last_is_woken_first) {
  host h(2);
  h.all_busy();
  (void)h.parking.may_spin(*h.started[0]);
  EXPECT_EQ(h.rest(0), nullptr);
  EXPECT_EQ(h.rest(1), nullptr);
  h.started[0]->parker = {};
  h.started[1]->parker = {};
  h.parking.submitted();
  EXPECT_EQ(h.started.size(), 2U) << "a new thread although one slept";
  EXPECT_EQ(h.started[0]->parker.unparked, 0);
  EXPECT_EQ(h.started[1]->parker.unparked, 1);
  EXPECT_NE(h.started[1]->handed.get(), nullptr);
}

TEST(park, L16_the_last_machine_that_rests_reports_that_all_is_idle) {
  host h(2);
  h.all_busy();
  (void)h.parking.may_spin(*h.started[0]);
  EXPECT_EQ(h.rest(0), nullptr);
  EXPECT_EQ(h.idle_calls, 0);
  EXPECT_EQ(h.rest(1), nullptr);
  EXPECT_EQ(h.idle_calls, 1);
  EXPECT_EQ(h.parking.idle_processors(), 2U);
}

TEST(park, X2_at_most_half_of_the_busy_machines_spin) {
  for (const unsigned n : {2U, 3U, 4U, 8U, 15U, 16U}) {
    host h(n);
    h.all_busy();
    ASSERT_EQ(h.started.size(), n);
    ASSERT_TRUE(h.parking.may_spin(*h.started[0]));
    ASSERT_EQ(h.rest(0), nullptr);
    ASSERT_FALSE(h.parking.need_spinning());
    unsigned spinning = 0;
    for (unsigned i = 1; i != n; ++i) spinning += h.parking.may_spin(*h.started[i]) ? 1U : 0U;
    EXPECT_EQ(spinning, n / 2) << "of " << n - 1;
    EXPECT_EQ(h.parking.spinning(), spinning);
  }
}

TEST(park, X2_while_a_request_stands_all_machines_but_one_spin) {
  for (const unsigned n : {1U, 2U, 3U, 4U, 8U, 15U, 16U}) {
    host h(n);
    h.all_busy();
    ASSERT_TRUE(h.parking.need_spinning());
    unsigned spinning = 0;
    for (const auto& m : h.started) spinning += h.parking.may_spin(*m) ? 1U : 0U;
    EXPECT_EQ(spinning, n == 1 ? 1U : n - 1) << "of " << n;
    EXPECT_TRUE(h.parking.need_spinning()) << "it stays until a processor is given up";
  }
}

TEST(park, X2_processors_that_are_idle_do_not_count_as_busy) {
  host h(8);
  h.parking.found(*h.started[0]);  // which wakes another machine
  ASSERT_EQ(h.parking.spinning(), 1U);
  ASSERT_EQ(h.parking.idle_processors(), 6U);
  EXPECT_FALSE(h.parking.may_spin(*h.started[0])) << "one of two busy machines spins already";
}

TEST(park, X3_a_machine_about_to_give_up_its_processor_heeds_a_request_for_a_spinner) {
  host h(2);
  h.all_busy();
  ASSERT_TRUE(h.parking.need_spinning());
  processor* const before = h.started[0]->held;
  EXPECT_EQ(h.rest(0), before);
  EXPECT_TRUE(h.started[0]->spinning.get());
  EXPECT_TRUE(h.parking.need_spinning()) << "it stays until a processor is given up";
  EXPECT_EQ(h.rest(1), nullptr) << "one spinner is enough";
  EXPECT_FALSE(h.parking.need_spinning());
  EXPECT_EQ(h.parking.spinning(), 1U);
}

TEST(park, X3_a_machine_that_gives_its_processor_up_beside_a_spinner_and_a_request_looks_once_more) {
  host h(2);
  h.all_busy();
  ASSERT_TRUE(h.parking.may_spin(*h.started[0]));
  h.work = true;
  processor* const before = h.started[1]->held;
  EXPECT_EQ(h.rest(1), before) << "it found the task, and took a processor back";
  EXPECT_TRUE(h.started[1]->spinning.get());
  EXPECT_EQ(h.parking.spinning(), 2U);
}

TEST(park, L19_a_machine_that_is_woken_while_it_looks_once_more_goes_on_with_what_it_was_given) {
  host h(2);
  h.work = true;
  h.while_looking = [&h] { h.parking.submitted(); };
  processor* const before = h.started[0]->held;
  EXPECT_EQ(h.rest(0), before);
  EXPECT_EQ(h.started[0]->parker.unparked, 2) << "woken once, and once by the test";
  EXPECT_TRUE(h.started[0]->spinning.get());
  EXPECT_EQ(h.parking.spinning(), 1U);
  EXPECT_EQ(h.parking.idle_processors(), 1U);
}

TEST(park, L11_a_surplus_processor_is_retired_and_comes_back) {
  host h(2);
  h.all_busy();
  EXPECT_EQ(h.parking.resize(1), 2U);
  machine& second = *h.started[h.started[0]->held->index == 1 ? 0 : 1];
  ASSERT_TRUE(h.surplus(*second.held));
  second.parker.unparked = 1;
  EXPECT_EQ(h.parking.retire_processor(second, *second.held), nullptr);
  EXPECT_EQ(second.parker.parked, 1);
  EXPECT_EQ(h.parking.idle_processors(), 0U);
  EXPECT_EQ(h.parking.held(), 1U);
  EXPECT_EQ(h.parking.resize(2), 1U);
  EXPECT_EQ(second.handed.get()->index, 1U);
  EXPECT_EQ(h.parking.held(), 2U);
}

TEST(park, L11_a_resize_after_the_stop_takes_effect_at_the_restart) {
  host h(2);
  h.all_busy();
  ASSERT_TRUE(h.parking.need_spinning());
  h.parking.stop();
  EXPECT_EQ(h.parking.resize(3), 2U);
  EXPECT_EQ(h.parking.idle_processors(), 0U) << "no thread may take a processor of a scheduler that has stopped";
  h.parking.submitted();
  EXPECT_EQ(h.started.size(), 2U);
  h.parking.restart(16);
  EXPECT_EQ(h.parking.limit(), 3U);
  EXPECT_EQ(h.started.size(), 3U) << "the request is answered";
  EXPECT_EQ(h.parking.idle_processors() + h.parking.held(), 3U);
  EXPECT_EQ(h.parking.resize(4), 3U);
  EXPECT_EQ(h.parking.idle_processors() + h.parking.held(), 4U);
}

TEST(park, L11_a_machine_that_comes_to_retire_a_processor_that_is_wanted_again_keeps_it) {
  host h(2);
  h.all_busy();
  h.parking.resize(1);
  machine& second = *h.started[h.started[0]->held->index == 1 ? 0 : 1];
  h.parking.resize(2);
  EXPECT_EQ(h.parking.retire_processor(second, *second.held), second.held);
}

// Machine 0 comes back from a blocking_section and waits for a processor: a third machine has got the one it had.
void let_one_wait_for_a_processor(host& h) {
  h.all_busy();
  ASSERT_TRUE(h.parking.hand_off(
      *h.started[0]->held, [] { return true; }, true));
  ASSERT_EQ(h.started.size(), 3U);
  machine& back = *h.started[0];
  back.parker.unparked = 1;  // stands for the wake-up: here park() does not really sleep
  EXPECT_EQ(h.parking.come_back_waiting(back), nullptr);
  back.parker = {};
}

TEST(park, S2_a_processor_that_is_given_up_goes_to_the_machine_that_waits_for_one) {
  host h(2);
  let_one_wait_for_a_processor(h);
  processor* const given_up = h.started[1]->held;
  EXPECT_EQ(h.rest(1), nullptr);
  EXPECT_EQ(h.started[0]->parker.unparked, 1);
  EXPECT_EQ(h.started[0]->handed.get(), given_up);
  EXPECT_EQ(h.parking.held(), 2U);
}

TEST(park, S2_a_new_processor_goes_to_the_machine_that_waits_for_one) {
  host h(2);
  let_one_wait_for_a_processor(h);
  EXPECT_EQ(h.parking.resize(4), 2U);
  EXPECT_EQ(h.started[0]->parker.unparked, 1);
  EXPECT_NE(h.started[0]->handed.get(), nullptr);
  EXPECT_EQ(h.parking.held(), 3U);
  EXPECT_EQ(h.parking.idle_processors(), 1U);
}

// A submitter has asked for a spinning machine while no processor was idle. The next processor that is free must go to
// such a machine.
TEST(park, S5_a_processor_that_is_taken_beside_a_request_is_not_left_idle) {
  host h(2);
  h.all_busy();
  ASSERT_TRUE(h.parking.need_spinning());
  EXPECT_TRUE(h.parking.hand_off(
      *h.started[0]->held, [] { return true; }, false));
  EXPECT_EQ(h.parking.idle_processors(), 0U);
  EXPECT_EQ(h.started.size(), 3U) << "no machine looks for the task that the request was for";
  EXPECT_EQ(h.parking.held(), 2U);
  EXPECT_EQ(h.parking.spinning(), 1U);
}

TEST(park, S5_a_processor_that_is_taken_and_that_nobody_needs_is_idle) {
  host h(2);
  h.parking.found(*h.started[0]);
  ASSERT_EQ(h.started.size(), 2U);
  EXPECT_EQ(h.rest(1), nullptr);
  ASSERT_FALSE(h.parking.need_spinning());
  EXPECT_TRUE(h.parking.hand_off(
      *h.started[0]->held, [] { return true; }, false));
  EXPECT_EQ(h.parking.idle_processors(), 2U);
  EXPECT_EQ(h.parking.held(), 0U);
  EXPECT_EQ(h.idle_calls, 1);
}

// Its machine is in a blocking call. Nobody needs the processor, but somebody has to retire it and to move its tasks.
TEST(park, L11_a_surplus_processor_that_is_taken_from_a_call_goes_to_a_machine_that_retires_it) {
  host h(2);
  h.parking.found(*h.started[0]);
  ASSERT_EQ(h.started.size(), 2U);
  h.parking.resize(1);
  machine& in_call = *h.started[h.surplus(*h.started[0]->held) ? 0 : 1];
  machine& works = *h.started[h.surplus(*h.started[0]->held) ? 1 : 0];
  ASSERT_TRUE(h.surplus(*in_call.held));
  (void)h.parking.may_spin(works);
  ASSERT_FALSE(h.parking.need_spinning());
  EXPECT_TRUE(h.parking.hand_off(
      *in_call.held, [] { return true; }, false));
  EXPECT_EQ(h.parking.idle_processors(), 0U) << "a surplus processor is no idle one";
  EXPECT_EQ(h.parking.held(), 2U);
  ASSERT_EQ(h.started.size(), 3U);
  machine& retires = *h.started[2];
  EXPECT_EQ(retires.held, in_call.held);
  h.parking.found(retires);
  retires.parker.unparked = 1;
  EXPECT_EQ(h.parking.retire_processor(retires, *retires.held), nullptr);
  EXPECT_EQ(h.parking.idle_processors(), 0U);
  EXPECT_EQ(h.parking.held(), 1U);
  EXPECT_TRUE(in_call.held->retired.get());
}

/// Machine 0 comes back from a blocking call during which machine 1 got the only processor. Returns machine 0, which
/// waits for a processor.
machine& wait_for_the_only_processor(host& h) {
  h.all_busy();
  EXPECT_TRUE(h.parking.hand_off(
      *h.started[0]->held, [] { return true; }, true));
  EXPECT_EQ(h.started.size(), 2U);
  h.parking.found(*h.started[1]);
  machine& returning = *h.started[0];
  returning.parker.unparked = 1;
  EXPECT_EQ(h.parking.come_back_waiting(returning), nullptr) << "here it does not sleep";
  EXPECT_TRUE(h.parking.somebody_returns());
  returning.parker.unparked = 0;
  return returning;
}

TEST(park, L11_new_processors_are_held_or_idle_and_one_is_for_the_machine_that_waits_for_it) {
  host h(1);
  machine& returning = wait_for_the_only_processor(h);
  EXPECT_EQ(h.parking.resize(3), 1U);
  EXPECT_FALSE(h.parking.somebody_returns());
  EXPECT_EQ(returning.parker.unparked, 1);
  returning.held = returning.handed.get();
  returning.handed.set(nullptr);
  ASSERT_NE(returning.held, nullptr);
  EXPECT_NE(returning.held, h.started[1]->held);
  ASSERT_EQ(h.started.size(), 3U) << "one more, for the request of before";
  EXPECT_EQ(h.parking.held(), 3U);
  EXPECT_EQ(h.parking.idle_processors(), 0U);
  EXPECT_EQ(h.parking.without_processor(), 0U);
  // A processor that a machine holds is not given to another machine.
  EXPECT_EQ(h.parking.resize(3), 3U);
  EXPECT_EQ(h.parking.held() + h.parking.idle_processors(), 3U);
  // All processors are given up again. The protocol reports that once.
  for (int round = 0; round != 4; ++round) {
    for (std::size_t i = 0; i != h.started.size(); ++i) {
      if (h.started[i]->held != nullptr) (void)h.rest(i);
    }
  }
  EXPECT_EQ(h.parking.held(), 0U);
  EXPECT_EQ(h.parking.idle_processors(), 3U);
  EXPECT_EQ(h.idle_calls, 1);
}

TEST(park, L2_a_machine_that_waits_for_a_processor_when_the_run_ends_is_woken_and_forgotten) {
  host h(1);
  machine& returning = wait_for_the_only_processor(h);
  h.parking.stop();
  EXPECT_EQ(returning.parker.unparked, 1);
  EXPECT_FALSE(h.parking.somebody_returns());
  const auto left = std::move(h.started);
  h.started.clear();
  h.parking.restart(16);
  EXPECT_FALSE(h.parking.somebody_returns());
  EXPECT_EQ(h.parking.without_processor(), 0U);
  h.parking.submitted();
  EXPECT_EQ(returning.handed.get(), nullptr) << "the processor went to a machine of the run before";
  EXPECT_EQ(returning.parker.unparked, 1);
  EXPECT_EQ(h.started.size(), 1U);
  EXPECT_EQ(h.parking.held(), 1U);
}

TEST(park, L11_idle_processors_beyond_the_new_number_retire_at_once) {
  host h(4);
  h.parking.resize(2);
  EXPECT_EQ(h.parking.idle_processors(), 1U);
  h.parking.resize(4);
  EXPECT_EQ(h.parking.idle_processors(), 3U);
  h.parking.stop();
  EXPECT_EQ(h.parking.idle_processors(), 0U) << "no thread may take one";
  EXPECT_EQ(h.parking.limit(), 0U);
}

// A machine that looked while the surplus processor's tasks were moved has not seen them.
TEST(park, L11_the_tasks_of_a_processor_that_retires_are_submitted) {
  host h(3);
  h.all_busy();
  for (int i = 0; i != 2; ++i) (void)h.rest(0);  // heeds the request first
  ASSERT_FALSE(h.parking.need_spinning());
  ASSERT_EQ(h.parking.idle_processors(), 1U);
  h.parking.resize(2);
  machine* retires = nullptr;
  for (const auto& m : h.started) {
    if (m->held != nullptr && h.surplus(*m->held)) retires = m.get();
  }
  ASSERT_NE(retires, nullptr);
  EXPECT_NE(h.parking.retire_processor(*retires, *retires->held), nullptr) << "there was an idle one";
  EXPECT_TRUE(h.parking.need_spinning());
}

TEST(park, S5_nothing_is_taken_from_a_call_when_the_scheduler_stops) {
  host h(1);
  h.parking.found(*h.started[0]);
  h.parking.stop();
  EXPECT_FALSE(h.parking.hand_off(
      *h.started[0]->held,
      [] {
        ADD_FAILURE() << "it was asked";
        return true;
      },
      true));
  EXPECT_EQ(h.parking.without_processor(), 0U);
}

TEST(park, S2_a_processor_that_is_taken_goes_to_the_machine_that_waits_for_one) {
  host h(2);
  h.all_busy();
  EXPECT_TRUE(h.parking.hand_off(
      *h.started[0]->held, [] { return true; }, true));
  ASSERT_EQ(h.started.size(), 3U);
  machine& back = *h.started[0];
  back.parker.unparked = 1;
  EXPECT_EQ(h.parking.come_back_waiting(back), nullptr) << "here it does not sleep";
  back.parker.unparked = 0;
  EXPECT_TRUE(h.parking.hand_off(
      *h.started[1]->held, [] { return true; }, false));
  EXPECT_EQ(h.started.size(), 3U);
  EXPECT_EQ(back.parker.unparked, 1);
  EXPECT_EQ(back.handed.get(), h.started[1]->held);
  EXPECT_EQ(h.parking.held(), 2U);
}

TEST(park, S2_machines_that_wait_for_processors_get_them_in_their_order) {
  host h(3);
  h.all_busy();
  for (int round = 0; round != 2; ++round) {
    // Machines 0 to 2 block. Others get their processors.
    std::array<processor*, 3> taken{};
    for (std::size_t i = 0; i != 3; ++i) {
      taken[i] = h.started[i]->held;
      EXPECT_TRUE(h.parking.hand_off(
          *taken[i], [] { return true; }, true));
    }
    ASSERT_EQ(h.started.size(), 6U);
    EXPECT_EQ(h.parking.without_processor(), 3U);
    const std::array<std::size_t, 3> order =
        round == 0 ? std::array<std::size_t, 3>{0, 1, 2} : std::array<std::size_t, 3>{2, 1, 0};
    for (std::size_t i = 0; i != 3; ++i) {
      machine& others = *h.started[3 + i];
      if (round == 1) others.held = others.handed.get();
      others.handed.set(nullptr);
      h.parking.found(others);
      machine& back = *h.started[order[i]];
      back.parker.unparked = 1;
      EXPECT_EQ(h.parking.come_back_waiting(back), nullptr) << "here it does not sleep";
      back.parker.unparked = 0;
    }
    EXPECT_EQ(h.parking.without_processor(), 0U);
    for (std::size_t i = 0; i != 3; ++i) {
      EXPECT_TRUE(h.parking.somebody_returns());
      machine& others = *h.started[3 + i];
      others.parker.unparked = 1;
      EXPECT_EQ(h.parking.hand_processor_over(others, *others.held), nullptr) << "here it does not sleep";
      others.parker.unparked = 0;
      machine& back = *h.started[order[i]];
      EXPECT_EQ(back.parker.unparked, 1);
      EXPECT_EQ(back.handed.get(), others.held);
      back.held = back.handed.get();
      back.handed.set(nullptr);
    }
    EXPECT_FALSE(h.parking.somebody_returns());
    EXPECT_EQ(h.parking.held(), 3U);
  }
}

TEST(park, S2_a_machine_that_comes_back_takes_an_idle_processor_or_none) {
  host h(1);
  h.parking.found(*h.started[0]);
  h.started[0]->parker.unparked = 1;
  (void)h.parking.may_spin(*h.started[0]);
  h.parking.found(*h.started[0]);
  machine& m = *h.started[0];
  processor& only = *m.held;
  EXPECT_TRUE(h.parking.hand_off(
      only, [] { return true; }, true));
  ASSERT_EQ(h.started.size(), 2U);
  EXPECT_EQ(h.parking.without_processor(), 1U);
  EXPECT_EQ(h.parking.come_back(), nullptr) << "the other machine has it";
  EXPECT_EQ(h.parking.without_processor(), 1U) << "its task is in no queue";
  const int idle_before = h.idle_calls;
  EXPECT_EQ(h.rest(1), nullptr);
  EXPECT_EQ(h.idle_calls, idle_before + 1);
  EXPECT_EQ(h.parking.idle_without_processor(m), nullptr) << "here it does not sleep";
  EXPECT_EQ(h.parking.without_processor(), 0U);
  EXPECT_EQ(h.idle_calls, idle_before + 2) << "the machine that rested could not know the answer";
}

TEST(park, S2_a_machine_that_comes_back_beside_an_idle_processor_takes_it) {
  host h(2);
  h.parking.found(*h.started[0]);
  EXPECT_EQ(h.rest(1), nullptr);
  EXPECT_TRUE(h.parking.hand_off(
      *h.started[0]->held, [] { return true; }, false));
  EXPECT_EQ(h.parking.without_processor(), 1U);
  EXPECT_NE(h.parking.come_back(), nullptr);
  EXPECT_EQ(h.parking.without_processor(), 0U);
  EXPECT_EQ(h.parking.held(), 1U);
  h.parking.stop();
  EXPECT_EQ(h.parking.come_back(), nullptr) << "the scheduler stops";
}

TEST(park, L2_machines_that_sleep_when_the_scheduler_stops_are_woken_and_idle_no_more) {
  host h(2);
  h.parking.found(*h.started[0]);
  EXPECT_EQ(h.rest(1), nullptr);
  ASSERT_EQ(h.parking.idle_machines(), 1U);
  h.started[1]->parker.unparked = 0;
  h.parking.stop();
  EXPECT_EQ(h.started[1]->parker.unparked, 1);
  EXPECT_FALSE(h.started[1]->idle.get());
  EXPECT_EQ(h.parking.idle_machines(), 0U);
  EXPECT_EQ(h.started[1]->handed.get(), nullptr);
}

TEST(park, L21_a_machine_leaves_when_it_has_slept_for_long_and_more_than_those_that_are_kept_sleep) {
  for (const std::size_t kept : {std::size_t{0}, std::size_t{1}}) {
    host h(2);
    h.kept = kept;
    h.started[0]->parker.gives_up = true;
    EXPECT_EQ(h.rest(0), nullptr);
    EXPECT_EQ(h.started[0]->parker.parked, kept == 0 ? 0 : 1);
    EXPECT_EQ(h.parking.idle_machines(), kept);
  }
}

}  // namespace
