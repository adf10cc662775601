// SPDX-License-Identifier: MIT
// S17: a wake-up takes an idle processor while the world is being stopped, and that processor never stops.
//
// Source: golang/go#42237: programs hung while the garbage collector stopped the world. A timer's wake-up had become a
// place where a running goroutine starts a machine, and goroutines can be stopped anywhere.
//
//   1. goroutine, on processor 0: wants a machine woken: takes processor 1 from the idle ones, for that machine to hold
//   2. collector: stop the world: asks all to stop; no processor is idle, so it waits for 0 and 1 to report
//   3. goroutine: is preempted before it has handed 1 on: its machine reports 0 as stopped, and waits for the restart
//   4. processor 1 belongs to a goroutine that does not run: no machine reports it; the collector waits for ever
// Fix: no preemption from taking a processor to handing it to a machine that will stop with it. (runq's park_protocol
// has no such gap: between taking an idle processor and handing it over it runs no code of the program.) Caught by:
// exact (deadlock); Relacy, bounded and random (livelock: its threads spin).
#include "corpus.hpp"
#include "waiting.hpp"

namespace runq::model::corpus {
namespace {

// Goroutine on processor 0: wake a machine, go on until it is stopped ‖ collector: stop the world, start it again ‖
// machine, asleep: woken with processor 1, it goes on until it is stopped.
template <bug Bug>
struct processor_in_limbo final : scenario {
  void thread(unsigned index) override {
    if (index == 0) {
      wake_one();
      go_on_until_stopped();
    } else if (index == 1) {
      stop_the_world();
    } else {
      sleeper.park();
      if (handed.get()) go_on_until_stopped();
    }
  }
  void finish() override { require(running.get() == 0, "the world went on while it was stopped"); }

  void wake_one() {
    lock.lock();
    const bool took = idle.get();
    idle.set(false);
    lock.unlock();
    if (!took) return;
    if (Bug == bug::seeded && stopping.load(acquire) != 0) report_stopped();
    handed.set(true);
    sleeper.unpark();
  }
  void go_on_until_stopped() {
    if (restarted.load(acquire) != 0) return;
    await([this] { return stopping.load(acquire) != 0; });
    report_stopped();
  }
  void report_stopped() {
    lock.lock();
    running.set(running.get() - 1);
    const bool last = running.get() == 0;
    lock.unlock();
    if (last) collector.unpark();
    await([this] { return restarted.load(acquire) != 0; });
  }
  void stop_the_world() {
    lock.lock();
    stopping.store(1, release);
    const bool took = idle.get();
    idle.set(false);
    if (took) running.set(running.get() - 1);
    lock.unlock();
    collector.park();
    restarted.store(1, release);
    // No thread has woken the machine, as `handed` says: this only lets its thread end.
    if (took) sleeper.unpark();
  }

  mutex lock;
  cell<bool> idle{true};  ///< processor 1
  cell<int> running{2};   ///< processors that have not stopped
  cell<bool> handed{false};
  atomic<int> stopping{0};
  atomic<int> restarted{0};
  parker collector;
  parker sleeper;
};

const bool added[] = {
    add_case<processor_in_limbo<bug::seeded>>({
        .name = "corpus/S17_processor_in_limbo",
        .property = "the world stops although a machine is being woken: wake-up ‖ stop the world ‖ the woken machine",
        .threads = 3,
        .seeded_bug = true,
    }),
    add_case<processor_in_limbo<bug::fixed>>({
        .name = "corpus/S17_fixed_no_preemption",
        .property = "the world stops although a machine is being woken: wake-up ‖ stop the world ‖ the woken machine",
        .threads = 3,
    }),
};

}  // namespace
}  // namespace runq::model::corpus
