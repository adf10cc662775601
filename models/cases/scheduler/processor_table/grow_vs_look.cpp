// SPDX-License-Identifier: MIT
// A scheduler gets more processors while others look at all of them: the monitor, statistics, thieves.
#include <array>

#include "runq/protocol/processor_table.hpp"
#include "scenario.hpp"

namespace runq::model {
namespace {

struct processor {
  cell<unsigned> index{9};
  atomic<unsigned> tasks{0};
};

/// Room for three processors. The first one exists, and has started one task.
class growing : public scenario {
 protected:
  growing() {
    grow(1);
    all[0].tasks.store(1, std::memory_order::relaxed);
  }
  void grow(unsigned n) {
    all.grow(n, [this](unsigned i) {
      require(made == i, "a processor is made twice, or left out");
      ++made;
      room[i].index.set(i);
      return &room[i];
    });
    limit.store(n, std::memory_order::release);
  }
  /// Looks at all processors, as statistics and the monitor's rounds do.
  void look() {
    unsigned seen = 0;
    unsigned tasks = 0;
    all.for_each([&](const processor& p) {
      require(p.index.get() == seen++, "a processor that is not constructed, or another one, is looked at");
      tasks += p.tasks.load(std::memory_order::relaxed);
    });
    require(seen >= least && tasks >= 1, "a processor is left out");
    least = seen;
  }
  /// Visits processors as a thief does: as many as are in use.
  void steal() {
    const unsigned n = limit.load(std::memory_order::acquire);
    for (unsigned i = 0; i != n; ++i)
      require(all[i].index.get() == i, "a thief visits a processor that is not constructed");
  }
  void finish() override {
    look();
    require(made == 3 && all.size() == 3 && least == 3, "not as many processors as there should be");
    grow(2);
    require(all.size() == 3, "a processor is gone after the number in use was lowered");
  }

  processor_table<processor, 3, atomics> all;
  std::array<processor, 3> room;
  atomic<unsigned> limit{1};

 private:
  unsigned made = 0;
  unsigned least = 1;
};

// Two more processors are made ‖ a thread looks at all, twice.
struct grow_vs_look final : growing {
  void thread(unsigned index) override {
    if (index == 0) {
      grow(3);
    } else {
      look();
      look();
    }
  }
};

// One more processor is made, and then another one ‖ a thief.
struct grow_vs_steal final : growing {
  void thread(unsigned index) override {
    if (index == 0) {
      grow(2);
      grow(3);
    } else {
      steal();
    }
  }
};

const bool added[] = {
    add_case<grow_vs_look>({
        .name = "processor_table/grow_vs_look",
        .property =
            "a thread that looks at all processors sees all that were there before, and new ones as constructed",
        .threads = 2,
        .mutants = {{"publish_relaxed", "processor_table.publish", std::memory_order::relaxed},
                    {"size_relaxed", "processor_table.size", std::memory_order::relaxed}},
    }),
    add_case<grow_vs_steal>({
        .name = "processor_table/grow_vs_steal",
        .property = "a thief goes by the number of processors in use, and finds each of them constructed",
        .threads = 2,
        .kept_for = "a thief goes by the number in use",
    }),
};

}  // namespace
}  // namespace runq::model
