// SPDX-License-Identifier: MIT
// The limit of calls without a processor, which is a semaphore. A call takes a unit when the monitor takes its
// processor, or at its beginning if it had to wait for its turn. Its end gives the unit back, once.
#include "blocking_model.hpp"
#include "runq/semaphore.hpp"
#include "waking_policy.hpp"

namespace runq::model {
namespace {

using units_type = runq::detail::semaphore_core<waking_policy>;

// A task that waits for its turn to make a call.
class caller final : public sleeping_task {
 public:
  explicit caller(units_type& units) : units_(units) { node_.who.set(this); }
  void start() {
    if (units_.acquire_or_wait(node_)) resume();
  }
  void resume() override {
    units_.arrived(node_);
    has_turn = true;
  }
  bool has_turn = false;

 private:
  units_type& units_;
  runq::detail::units_waiter<waking_policy> node_;
};

// Two processors, one of them idle, and one unit. Machine 0 is in a call, of plain code or not.
struct limited : blocking_model<2, 2, 1> {
  void take_unit() override { units.take(); }
  void give_unit() override { require(units.release(1), "the end of a call gives back a unit that nobody has taken"); }
  void come_back(bool plain_code) {
    machine& m = machines[0];
    be(m);
    const auto how = plain_code ? calling.leave_waiting(call) : calling.leave(call);
    require(how != outcome::lost, "a machine comes back to an idle processor, and does not get it");
    m.held->owned.set(1);
  }
  void in_call(bool has_unit) {
    settle(0);
    put_to_sleep(1);
    block(0, has_unit);
    constructed();
  }
  void require_one_unit() {
    require(units.any() && units.try_acquire(1), "a unit is lost");
    require(!units.any() && !units.try_acquire(1), "there are more units than there were");
  }
  units_type units{1, 1};
};

// The machine comes back ‖ the monitor: may take its processor.
template <bool PlainCode>
struct unit_comes_back final : limited {
  unit_comes_back() { in_call(false); }
  void thread(unsigned index) override { index == 0 ? come_back(PlainCode) : static_cast<void>(look(long_after)); }
  void finish() override { require_one_unit(); }
};

// The call has waited for its turn. The machine comes back ‖ the monitor: may take its processor ‖ a task waits for its
// turn.
template <bool PlainCode>
struct turn_after_a_call final : limited {
  turn_after_a_call() {
    require(units.try_acquire(1), "a new unit is not free");
    in_call(true);
  }
  void thread(unsigned index) override {
    switch (index) {
      case 0: return come_back(PlainCode);
      case 1: return static_cast<void>(look(long_after));
      default: next.start();
    }
  }
  void finish() override {
    require(next.has_turn, "a task waits for its turn although no call is in progress");
    give_unit();
    require_one_unit();
  }
  caller next{units};
};

const bool added[] = {
    add_case<unit_comes_back<false>>({
        .name = "blocking_calls/unit_comes_back",
        .property = "a call whose processor is taken gives one unit back at its end: come back ‖ retake",
        .threads = 2,
    }),
    add_case<unit_comes_back<true>>({
        .name = "blocking_calls/unit_of_a_section_comes_back",
        .property = "plain code that waits for a processor at its end gives one unit back: come back ‖ retake",
        .threads = 2,
    }),
    add_case<turn_after_a_call<false>>({
        .name = "blocking_calls/turn_after_a_call",
        .property = "a task that waits for its turn gets the unit of a call that ends: come back ‖ retake ‖ wait",
        .threads = 3,
    }),
    add_case<turn_after_a_call<true>>({
        .name = "blocking_calls/turn_after_a_call_that_waits",
        .property =
            "a task that waits for its turn gets the unit of a call whose machine waits for a processor at its end",
        .threads = 3,
    }),
};

}  // namespace
}  // namespace runq::model
