// SPDX-License-Identifier: MIT
// Tasks take one unit or all units, and give them back.
#include "semaphore_model.hpp"
#include "waking_policy.hpp"

namespace runq::model {
namespace {

using semaphore_type = runq::detail::semaphore_core<waking_policy>;

/// What the semaphore protects: one writes, or several read.
struct guarded {
  semaphore_type units{all_units, all_units};
  cell<int> written{0};
};

// A task that takes units, reads or writes, and gives them back.
class visitor final : public sleeping_task {
 public:
  static void start(guarded& place, std::int64_t wanted) {
    visitor& self = make_frame<visitor>(place, wanted);
    // What the awaiter does. When both calls have returned false, the frame may be destroyed.
    if (place.units.try_acquire(wanted)) return self.visit();
    if (place.units.acquire_or_wait(self.node_)) self.resume();
  }
  visitor(guarded& place, std::int64_t wanted) : place_(place) {
    node_.who.set(this);
    node_.wanted.set(wanted);
  }
  void resume() override {
    place_.units.arrived(node_);
    visit();
  }

 private:
  void visit() {
    guarded& place = place_;
    const std::int64_t taken = node_.wanted.get();
    destroy_frame(*this);
    if (taken == all_units) {
      place.written.set(place.written.get() + 1);
    } else {
      require(place.written.get() >= 0, "a task writes while another one reads");
    }
    release(place.units, taken);
  }
  guarded& place_;
  runq::detail::units_waiter<waking_policy> node_;
};

// Writers ‖ readers.
template <unsigned Writers>
struct visitors final : scenario {
  void thread(unsigned index) override { visitor::start(place, index < Writers ? all_units : 1); }
  void finish() override {
    require(place.written.get() == Writers, "a task waits for units that are free");
    require(place.units.try_acquire(all_units), "units are lost");
    require(!place.units.try_acquire(1), "there are more units than there were");
    release(place.units, all_units);
    require(!place.units.release(1, all_units), "more units were given back than taken");
  }
  guarded place;
};

// A task that keeps what it gets.
class keeper final : public sleeping_task {
 public:
  keeper(semaphore_type& units, std::int64_t wanted) : units_(units) {
    node.who.set(this);
    node.wanted.set(wanted);
  }
  void resume() override {
    units_.arrived(node);
    has = true;
  }
  runq::detail::units_waiter<waking_policy> node;
  bool has = false;

 private:
  semaphore_type& units_;
};

// A reader has its unit, a writer waits. The reader gives it back ‖ another one asks for the unit that is free, and
// does not get it, or waits for it behind the writer.
struct not_overtaken final : scenario {
  not_overtaken() {
    require(units.try_acquire(1), "new units are not free");
    require(!units.acquire_or_wait(writer.node), "two units are free although there is only one");
  }
  void thread(unsigned index) override {
    if (index == 0) {
      release(units, 1);
    } else {
      require(!units.try_acquire(1), "a waiting task was overtaken");
      require(!units.acquire_or_wait(reader.node), "a waiting task was overtaken by one that may wait");
    }
  }
  void finish() override {
    require(writer.has && !reader.has, "the waiting task was not given its units");
    release(units, all_units);
    require(reader.has, "the task that has waited behind it waits for ever");
    release(units, 1);
    require(units.try_acquire(all_units), "units are lost");
  }

  semaphore_type units{all_units, all_units};
  keeper writer{units, all_units};
  keeper reader{units, 1};
};

// A writer has all units, two readers wait. It gives the units back ‖ a third reader comes.
struct release_serves_all_that_fit final : scenario {
  release_serves_all_that_fit() {
    require(units.try_acquire(all_units), "new units are not free");
    require(!units.acquire_or_wait(first.node) && !units.acquire_or_wait(second.node), "taken units are free");
  }
  void thread(unsigned index) override {
    if (index == 0) {
      release(units, all_units);
    } else {
      require(!units.acquire_or_wait(third.node), "a waiting task was overtaken");
    }
  }
  void finish() override {
    require(first.has && second.has, "a task waits for a unit that is free");
    require(!third.has, "three tasks have two units");
    release(units, 1);
    require(third.has, "a task waits for a unit that is free");
  }

  semaphore_type units{all_units, all_units};
  keeper first{units, 1};
  keeper second{units, 1};
  keeper third{units, 1};
};

// The one unit is taken, and a task waits. A thread outside takes a unit although none is free, and gives it back ‖ the
// first unit is given back.
struct taken_below_zero final : scenario {
  taken_below_zero() {
    require(units.any(), "the unit of a new semaphore is not free");
    units.take();
    require(!units.any() && !units.acquire_or_wait(next.node), "a taken unit is free");
  }
  void thread(unsigned index) override {
    if (index == 0) units.take();
    require(units.release(1), "a unit is free although the task that took it has not given it back");
  }
  void finish() override {
    require(next.has && !units.any(), "a task waits although all units came back");
    require(units.release(1) && units.try_acquire(1), "a unit is lost");
    require(!units.try_acquire(1), "there are more units than there were");
  }

  semaphore_type units{1, 1};
  keeper next{units, 1};
};

const bool added[] = {
    add_case<visitors<2>>({
        .name = "semaphore/two_writers",
        .property = "one writer at a time, and no task waits for units that are free: two tasks",
        .threads = 2,
        .kept_for = "the smaller program",
    }),
    add_case<visitors<1>>({
        .name = "semaphore/writer_vs_readers",
        .property = "no task writes while others read, and no task waits for units that are free: one writes, two read",
        .threads = 3,
        .kept_for = "readers want fewer units than the writer",
    }),
    add_case<not_overtaken>({
        .name = "semaphore/not_overtaken",
        .property = "a task that waits for many units is not overtaken by tasks that want few",
        .threads = 2,
    }),
    add_case<taken_below_zero>({
        .name = "semaphore/taken_below_zero",
        .property = "units that were taken although there was none must come back before others get one",
        .threads = 2,
    }),
    add_case<release_serves_all_that_fit>({
        .name = "semaphore/release_serves_all_that_fit",
        .property =
            "a release gives units to the first tasks in the list as long as there are enough, and to no others",
        .threads = 2,
    }),
};

}  // namespace
}  // namespace runq::model
