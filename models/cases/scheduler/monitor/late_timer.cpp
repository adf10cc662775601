// SPDX-License-Identifier: MIT
// The last timer is late: the monitor fires it, while the last machine gives its processor up, and asks whether all
// tasks wait. The machine means to sleep until the timer is due, but there is none any more, so it does not enter the
// poller, and asks no second time.
#include "../deadlock/deadlock_model.hpp"
#include "runq/protocol/monitor.hpp"

namespace runq::model {
namespace {

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
