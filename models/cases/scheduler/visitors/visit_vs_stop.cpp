// SPDX-License-Identifier: MIT
// Threads outside visit a scheduler that stops: the end of the run waits for those that hold a processor.
#include <array>
#include <mutex>

#include "runq/protocol/visitors.hpp"
#include "scenario.hpp"
#include "waiting.hpp"

namespace runq::model {
namespace {

/// A scheduler in small: unless it is stopping, a visitor takes a processor under the lock, and after that starts a
/// machine with it.
template <unsigned Visitors>
class visited : public scenario {
 protected:
  void visit(unsigned i) {
    const visitors<atomics>::visit here(guests);
    {
      const std::lock_guard guard(lock);
      if (stopping.get()) return;
      visits[i].took.set(true);
    }
    visits[i].started.set(true);
  }
  /// Does what the end of a run does.
  void stop() {
    {
      const std::lock_guard guard(lock);
      stopping.set(true);
    }
    guests.await([](auto&& condition) { await(condition); });
    for (const of_visitor& v : visits) {
      bool took = false;
      {
        const std::lock_guard guard(lock);
        took = v.took.get();
      }
      if (took) require(v.started.get(), "a run has ended, and a visitor is about to start a machine");
    }
  }
  void restart() {
    const std::lock_guard guard(lock);
    stopping.set(false);
  }

 private:
  struct of_visitor {
    cell<bool> took{false};     // under the lock
    cell<bool> started{false};  // by the visitor only
  };
  visitors<atomics> guests;
  mutex lock;
  cell<bool> stopping{false};  // under the lock
  std::array<of_visitor, Visitors> visits;
};

// Visitors ‖ the end of the run.
template <unsigned Visitors>
struct visit_vs_stop final : visited<Visitors> {
  void thread(unsigned index) override {
    if (index < Visitors) {
      this->visit(index);
    } else {
      this->stop();
    }
  }
};

// A visitor, which may have read during the first run which count is in use ‖ the ends of two runs, one after the
// other.
struct visit_vs_two_runs final : visited<1> {
  void thread(unsigned index) override {
    if (index == 0) return visit(0);
    stop();
    restart();
    stop();
  }
};

const bool added[] = {
    add_case<visit_vs_stop<1>>({
        .name = "visitors/visit_vs_stop",
        .property = "the thread that ends a run sees all that an earlier visitor did: visit ‖ stop",
        .threads = 2,
        .kept_for = "the smallest program",
    }),
    add_case<visit_vs_stop<2>>({
        .name = "visitors/two_visits_vs_stop",
        .property = "the thread that ends a run sees all that two earlier visitors did: visit ‖ visit ‖ stop",
        .threads = 3,
    }),
    add_case<visit_vs_two_runs>({
        .name = "visitors/visit_vs_two_runs",
        .property = "the end of a run waits for a visitor that came during another run: visit ‖ stop, restart, stop",
        .threads = 2,
    }),
};

}  // namespace
}  // namespace runq::model
