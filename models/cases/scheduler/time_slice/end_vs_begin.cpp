// SPDX-License-Identifier: MIT
// A machine begins time slices while others end them: the monitor ends one that it saw, the end of a run ends all.
#include "oracle.hpp"
#include "runq/protocol/time_slice.hpp"
#include "scenario.hpp"
#include "waiting.hpp"

namespace runq::model {
namespace {

// The end of a run. Machine: begins a slice and asks until it is over, as a task that never has to wait does; then it
// does the same with the next slice ‖ the monitor: ends the slice that it saw ‖ another thread: ends the run.
template <int Slices>
struct end_of_run final : scenario {
  void thread(unsigned index) override {
    if (index == 0) {
      for (int i = 0; i != Slices; ++i) {
        slice.begin();
        await([this] { return slice.over(); });
      }
    } else if (index == 1) {
      slice.end(slice.current());
    } else {
      slice.end_all();
    }
  }
  void finish() override { require(slice.over(), "the end of the run was forgotten"); }
  time_slice<atomics> slice;
};

// The monitor ends the slice that it saw; the machine may have begun the next one meanwhile, which is not over.
// Machine: begins one, and another ‖ monitor: sees one, and ends it.
struct end_of_slice final : scenario {
  void thread(unsigned index) override {
    if (index == 0) {
      slice.begin();
      slice.begin();
    } else {
      const auto number = slice.current();
      seen.store(number, std::memory_order::relaxed);
      slice.end(number);
    }
  }
  void finish() override {
    require(slice.over() == (seen.load(std::memory_order::relaxed) == slice.current()),
            "a slice is over that was not seen, or one that was seen is not");
  }
  time_slice<atomics> slice;
  atomic<time_slice<atomics>::number> seen{time_slice<atomics>::number{0}};
};

// The next run of a scheduler: its slices are not over.
struct restart final : scenario {
  void thread(unsigned index) override {
    if (index == 0) {
      slice.begin();
      await([this] { return slice.over(); });
      left.store(1, std::memory_order::release);
    } else {
      slice.end_all();
      await([this] { return left.load(std::memory_order::acquire) != 0; });
      slice.restart();
      slice.begin();
      require(!slice.over(), "a slice of the next run is over when it begins");
    }
  }
  time_slice<atomics> slice;
  atomic<int> left{0};
};

const bool added[] = {
    add_case<end_of_run<2>>({
        .name = "time_slice/end_of_run",
        .property = "when a run ends every slice is over, also one that is just beginning or that the monitor ends",
        .threads = 3,
        .kept_for = "the smaller program",
    }),
    add_case<end_of_run<3>>({
        .name = "time_slice/end_of_run_3_slices",
        .property = "when a run ends all of three slices are over",
        .threads = 3,
        .kept_for = "there are three slices",
    }),
    add_case<end_of_slice>({
        .name = "time_slice/end_of_slice",
        .property = "the monitor ends the slice that it saw, and not the next one",
        .threads = 2,
        .progress = progress_claim::lock_free,
    }),
    add_case<restart>({
        .name = "time_slice/restart",
        .property = "slices of the next run are not over when they begin",
        .threads = 2,
    }),
};

}  // namespace
}  // namespace runq::model
