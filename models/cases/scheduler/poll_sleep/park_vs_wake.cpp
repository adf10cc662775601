// SPDX-License-Identifier: MIT
// A machine goes to sleep in the poller while others wake it, or add a timer that is due before it means to look again.
// Only a ring ends a sleep that is too long: so it is a deadlock to sleep past a timer, or although there is a token.
#include "runq/protocol/poll_sleep.hpp"
#include "scenario.hpp"
#include "waiting.hpp"

namespace runq::model {
namespace {

// Its accesses count as its own, not as those of the lines in the header that call it.
class token {
 public:
  void park() { parker_.park(); }
  void unpark() { parker_.unpark(); }
  [[nodiscard]] bool take() { return parker_.take(); }
  [[nodiscard]] bool has_token() const { return parker_.has_token(); }

 private:
  parker parker_;
};

template <unsigned Machines>
struct sleepers : scenario {
  using sleep_type = poll_sleep<token, sleepers, atomics>;
  using instant = typename sleep_type::instant;
  static constexpr instant soon = 10;
  static constexpr instant late = 1000;

  // -- what poll_sleep asks of its host --

  [[nodiscard]] bool something_to_poll() const { return descriptors || earliest_timer() != sleep_type::never; }
  [[nodiscard]] instant earliest_timer() const {
    const instant added = timer.load(std::memory_order::acquire);
    return added < far_timer ? added : far_timer;
  }
  void wait_for_events(instant until) {
    if (until != soon) {
      await([this] { return bell.load(std::memory_order::relaxed) != 0; });
    }
    if (bell.load(std::memory_order::relaxed) == 0) return;
    bell.exchange(0, std::memory_order::relaxed);
    sleep.answered();
  }
  void ring() { bell.store(1, std::memory_order::relaxed); }
  // The timer's task wakes all machines.
  void fire_timers() {
    if (timer.load(std::memory_order::relaxed) == sleep_type::never) return;
    if (timer.exchange(sleep_type::never, std::memory_order::acq_rel) == sleep_type::never) return;
    fired.store(1, std::memory_order::release);
    for (token& t : tokens) sleep.unpark(t);
  }

  // -- what the threads do --

  // What a task does that goes to sleep for a moment.
  void add_timer() {
    timer.store(soon, std::memory_order::release);
    if (sleep.timer_added(soon)) sleep.unpark(tokens[0]);
  }
  // Woken, a machine looks for work, and sleeps again if there is none.
  void sleep_until_fired(token& mine) {
    while (fired.load(std::memory_order::acquire) == 0) sleep.park(mine);
  }
  void finish() override { require(!sleep.watched(), "no machine sleeps any more, but the poller is taken"); }

  bool descriptors = true;
  instant far_timer = sleep_type::never;
  sleep_type sleep{*this};
  token tokens[Machines];
  atomic<instant> timer{sleep_type::never};
  atomic<int> bell{0};
  atomic<int> fired{0};
};

// Machine: sleeps, twice ‖ waker: wakes it, twice.
struct park_vs_unpark final : sleepers<1> {
  void thread(unsigned index) override {
    if (index == 0) {
      sleep.park(tokens[0]);
      slept.store(1, std::memory_order::release);
      sleep.park(tokens[0]);
    } else {
      sleep.unpark(tokens[0]);
      await([this] { return slept.load(std::memory_order::acquire) != 0; });
      sleep.unpark(tokens[0]);
    }
  }
  atomic<int> slept{0};
};

// Machine 0: sleeps, without end or beyond the new timer ‖ machine 1: adds a timer, then sleeps, too.
template <bool Timed>
struct park_vs_timer final : sleepers<2> {
  park_vs_timer() {
    if constexpr (Timed) far_timer = late;
  }
  void thread(unsigned index) override {
    if (index != 0) add_timer();
    sleep_until_fired(tokens[index]);
  }
};

// Nothing to poll for at first. Machine 0: sleeps ‖ machine 1: adds a timer, then sleeps, too.
struct first_timer final : sleepers<2> {
  first_timer() { descriptors = false; }
  void thread(unsigned index) override {
    if (index != 0) add_timer();
    sleep_until_fired(tokens[index]);
  }
};

// Machine: sleeps until the timer has fired ‖ waker: wakes it ‖ another: rings for its timer at the same time.
struct two_rings final : sleepers<1> {
  void thread(unsigned index) override {
    if (index == 0) {
      sleep_until_fired(tokens[0]);
    } else if (index == 1) {
      sleep.unpark(tokens[0]);
    } else {
      add_timer();
    }
  }
};

// Two machines sleep, one of them in the poller ‖ waker: wakes both.
struct two_sleepers final : sleepers<2> {
  void thread(unsigned index) override {
    if (index < 2) return sleep.park(tokens[index]);
    for (token& t : tokens) sleep.unpark(t);
  }
};

const bool added[] = {
    add_case<park_vs_unpark>({
        .name = "poll_sleep/park_vs_unpark",
        .property = "a machine that sleeps in the poller, or is about to, wakes when it is woken",
        .threads = 2,
        .mutants = {{"unpark_fence_acq_rel", "poll_sleep.unpark.fence", std::memory_order::acq_rel},
                    {"sleeper_fence_acq_rel", "poll_sleep.sleeper.fence", std::memory_order::acq_rel},
                    {"answered_relaxed", "poll_sleep.answered", std::memory_order::relaxed}},
        .kept_for = "the smallest program",
    }),
    add_case<park_vs_timer<false>>({
        .name = "poll_sleep/park_vs_timer",
        .property = "a new timer ends a sleep without a time limit",
        .threads = 2,
        .mutants = {{"timer_fence_acq_rel", "poll_sleep.timer.fence", std::memory_order::acq_rel},
                    {"until_fence_acq_rel", "poll_sleep.until.fence", std::memory_order::acq_rel}},
        .kept_for = "a timer ends the sleep",
    }),
    add_case<park_vs_timer<true>>({
        .name = "poll_sleep/park_vs_earlier_timer",
        .property = "a new timer ends a sleep that would last longer",
        .threads = 2,
    }),
    add_case<first_timer>({
        .name = "poll_sleep/first_timer",
        .property = "a machine that adds the first timer is told to wake a machine, or sleeps in the poller itself",
        .threads = 2,
        .kept_for = "the machine that adds the timer may sleep itself",
    }),
    add_case<two_rings>({
        .name = "poll_sleep/two_rings",
        .property = "one ring is enough for two threads that would ring",
        .threads = 3,
        .kept_for = "two threads ring",
    }),
    add_case<two_sleepers>({
        .name = "poll_sleep/two_sleepers",
        .property = "one machine sleeps in the poller and one on its token: each wakes when it is woken",
        .threads = 3,
        .kept_for = "another machine sleeps on its token",
    }),
};

}  // namespace
}  // namespace runq::model
