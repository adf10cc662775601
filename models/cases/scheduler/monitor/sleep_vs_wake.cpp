// SPDX-License-Identifier: MIT
// The monitor sleeps, is woken, and fires a timer that is late.
#include <cstdint>

#include "../deadlock/deadlock_model.hpp"
#include "futex.hpp"
#include "runq/protocol/blocking_calls.hpp"
#include "runq/protocol/monitor.hpp"
#include "runq/protocol/parker.hpp"
#include "scenario.hpp"
#include "waiting.hpp"

namespace runq::model {
namespace {

// The monitor sleeps while machines take processors, enter blocking calls, or stop it. A nap here ends at once, or only
// by a token: so a lost wake-up is a deadlock. No timer is ever late in these programs.

// The shipped parker, which also notes that it goes to sleep for longer than 0 ns.
class noted_parker : public basic_parker<futex, atomics> {
 public:
  explicit noted_parker(atomic<int>& naps) : naps_(naps) {}
  [[nodiscard]] bool park_for(std::int64_t ns) {
    if (ns != 0) naps_.store(1, std::memory_order::release);
    return basic_parker::park_for(ns);
  }

 private:
  atomic<int>& naps_;
};

constexpr std::int64_t endless = 1;

// Always the slowest rhythm. A nap takes no time until a round has done something; after that, only a token ends a nap.
class idle_rhythm {
 public:
  [[nodiscard]] std::int64_t next() const { return acted_ ? endless : 0; }
  void looked(bool did_something) { acted_ |= did_something; }
  [[nodiscard]] static bool slowest() { return true; }

 private:
  bool acted_ = false;
};

// The slowest rhythm, whose naps only a token ends, until a round has done something; after that, naps take no time.
class slow_rhythm {
 public:
  [[nodiscard]] std::int64_t next() const { return acted_ ? 0 : endless; }
  void looked(bool did_something) { acted_ |= did_something; }
  [[nodiscard]] bool slowest() const { return !acted_; }

 private:
  bool acted_ = false;
};

// One processor, which is idle at first.
template <class Rhythm>
struct monitored : scenario {
  using monitor_type = monitor_loop<monitored, noted_parker, Rhythm, atomics>;

  // -- what monitor_loop asks of its host --

  static void begins_round() {}
  [[nodiscard]] bool all_processors_idle() const { return in_use.load(std::memory_order::relaxed) == 0; }
  [[nodiscard]] static bool worth_a_deep_sleep() { return true; }
  [[nodiscard]] static std::int64_t clock() { return 0; }
  [[nodiscard]] static bool nobody_polls() { return false; }
  [[nodiscard]] static std::int64_t last_poll() { return 0; }
  static void poll() {}
  [[nodiscard]] static std::int64_t earliest_timer() { return 0; }
  static void fire_timers(std::int64_t) {}
  struct no_question {
    static void timers_fired() {}
  };
  no_question deadlocks;
  [[nodiscard]] bool look_at_processors(std::int64_t) { return look(); }

  virtual bool look() {
    if (in_use.load(std::memory_order::relaxed) == 0) return false;
    seen.store(1, std::memory_order::release);
    return true;
  }
  /// What a machine does. A real machine takes the processor under a lock, which orders nothing for the monitor.
  void take_processor() {
    in_use.store(1, std::memory_order::relaxed);
    monitoring.wake();
  }
  void give_up_processor() { in_use.store(0, std::memory_order::relaxed); }

  atomic<int> in_use{0};
  atomic<int> seen{0};  // by the monitor
  atomic<int> naps{0};
  monitor_type monitoring{*this, naps};
};

// Machine: takes the processor, and keeps it until the monitor has seen that; then stops it ‖ monitor.
struct deep_sleep_vs_wake final : monitored<idle_rhythm> {
  void thread(unsigned index) override {
    if (index != 0) return monitoring.run();
    take_processor();
    await([this] { return seen.load(std::memory_order::acquire) != 0; });
    monitoring.stop();
  }
};

// Machine: takes the processor, gives it up, takes it again, and keeps it until the monitor has seen that ‖ monitor.
struct wake_again final : monitored<idle_rhythm> {
  void thread(unsigned index) override {
    if (index != 0) return monitoring.run();
    take_processor();
    give_up_processor();
    take_processor();
    await([this] { return seen.load(std::memory_order::acquire) != 0; });
    monitoring.stop();
  }
};

// A thread: stops the monitor ‖ monitor: sleeps deeply, or is about to.
struct deep_sleep_vs_stop final : monitored<idle_rhythm> {
  void thread(unsigned index) override {
    if (index == 0) {
      monitoring.stop();
    } else {
      monitoring.run();
    }
  }
};

// Machine: takes the processor ‖ another thread: stops the monitor ‖ monitor.
struct wake_vs_stop final : monitored<idle_rhythm> {
  void thread(unsigned index) override {
    if (index == 0) {
      take_processor();
    } else if (index == 1) {
      monitoring.stop();
    } else {
      monitoring.run();
    }
  }
};

// Machines: each enters a blocking call while the monitor is in its longest nap ‖ monitor: looks at them, and once more
// after a short nap.
template <unsigned Calls>
struct hurry final : monitored<slow_rhythm> {
  struct processor {
    handoff<atomics> in_call;
    cell<bool> call_has_unit{false};
  };
  struct machine {
    processor* held = nullptr;
  };
  hurry() {
    in_use.store(1, std::memory_order::relaxed);
    for (unsigned i = 0; i != Calls; ++i) machines[i].held = &processors[i];
  }
  void thread(unsigned index) override {
    if (index == Calls) return monitoring.run();
    await([this] { return naps.load(std::memory_order::acquire) != 0; });
    (void)calling.enter(machines[index]);
  }
  void leave(const machine&) {}
  void take_unit() {}
  void give_unit() {}
  bool look() override {
    bool some = false;
    for (const processor& p : processors) some |= handoff<atomics>::blocked(p.in_call.peek());
    require(some, "the monitor was woken and sees no call");
    if (++looks == 2) monitoring.stop();
    return false;
  }
  processor processors[Calls];
  machine machines[Calls];
  blocking_calls<machine, processor, hurry, atomics> calling{*this};
  int looks = 0;  // by the monitor
};

// The last timer is late: the monitor fires it, while the last machine gives its processor up, and asks whether all
// tasks wait. The machine means to sleep until the timer is due, but there is none any more, so it does not enter the
// poller, and asks no second time.

struct one_nap {
  [[nodiscard]] static std::int64_t next() { return 0; }
  void looked(bool) {}
  [[nodiscard]] static bool slowest() { return false; }
};

// Machine: gives up the last processor ‖ monitor: makes one round.
template <bool Wakes>
struct late_timer final : deadlock_model {
  late_timer() { timer.store(1, std::memory_order::relaxed); }

  // -- what monitor_loop asks of its host --

  static void begins_round() {}
  [[nodiscard]] bool all_processors_idle() const { return false; }
  [[nodiscard]] static bool worth_a_deep_sleep() { return false; }
  [[nodiscard]] static std::int64_t clock() { return 2'000'000; }
  [[nodiscard]] static bool nobody_polls() { return false; }
  [[nodiscard]] static std::int64_t last_poll() { return 0; }
  static void poll() {}
  [[nodiscard]] std::int64_t earliest_timer() const { return timers_pending() ? 0 : clock(); }
  void fire_timers(std::int64_t) { fire(Wakes); }
  [[nodiscard]] bool look_at_processors(std::int64_t) {
    monitoring.stop();
    return false;
  }
  deadlock_question<deadlock_model, atomics>& deadlocks = question;

  void thread(unsigned index) override {
    if (index == 0) {
      rest();
    } else {
      monitoring.run();
    }
  }
  void finish() override {
    require(!timers_pending(), "the monitor leaves a timer that is late");
    require((reported.get() == 0) == Wakes, Wakes ? "a deadlock is reported beside a task that the monitor has woken"
                                                  : "no thread has reported the deadlock after the last timer");
  }

  struct no_parker {
    [[nodiscard]] static bool park_for(std::int64_t) { return false; }
    static void park() { require(false, "the monitor sleeps deeply although that is not worth it"); }
    static void unpark() {}
  };
  monitor_loop<late_timer, no_parker, one_nap, atomics> monitoring{*this};
};

const bool added[] = {
    add_case<deep_sleep_vs_wake>({
        .name = "monitor/deep_sleep_vs_wake",
        .property = "the monitor does not sleep while a processor is in use, and wakes when it is stopped",
        .threads = 2,
        .mutants = {{"wake_fence_acq_rel", "monitor.wake.fence", std::memory_order::acq_rel},
                    {"deep_fence_acq_rel", "monitor.deep.fence", std::memory_order::acq_rel}},
        .kept_for = "the smaller program",
    }),
    add_case<wake_again>({
        .name = "monitor/wake_again",
        .property = "the monitor does not sleep while a processor is in use that was idle in between",
        .threads = 2,
        .kept_for = "the processor was idle in between",
    }),
    add_case<deep_sleep_vs_stop>({
        .name = "monitor/deep_sleep_vs_stop",
        .property = "the monitor leaves when it is stopped, also while it is about to sleep deeply",
        .threads = 2,
    }),
    add_case<wake_vs_stop>({
        .name = "monitor/wake_vs_stop",
        .property = "a monitor that is woken and stopped at the same time leaves",
        .threads = 3,
        .kept_for = "a wake-up and a stop meet",
    }),
    add_case<hurry<1>>({
        .name = "monitor/hurry",
        .property = "a blocking call ends the longest nap of the monitor, which then takes short ones",
        .threads = 2,
        .kept_for = "the smaller program",
    }),
    add_case<hurry<2>>({
        .name = "monitor/hurry_by_two",
        .property = "two blocking calls at once: one of them ends the longest nap",
        .threads = 3,
        .kept_for = "two blocking calls meet",
    }),
    add_case<late_timer<false>>({
        .name = "monitor/late_timer_wakes_nobody",
        .property = "a deadlock is reported although the monitor fires the last timer while the last machine goes idle",
        .threads = 2,
    }),
    add_case<late_timer<true>>({
        .name = "monitor/late_timer_wakes_a_task",
        .property = "no deadlock is reported beside a task that a timer has woken which the monitor has fired",
        .threads = 2,
        .kept_for = "the timer wakes a task",
    }),
};

}  // namespace
}  // namespace runq::model
