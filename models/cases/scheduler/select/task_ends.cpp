// SPDX-License-Identifier: MIT
// A task is destroyed where it waits at several channels, because its run has ended, while others send to them.
#include <array>
#include <optional>
#include <span>

#include "../channel/channel_model.hpp"
#include "ending_policy.hpp"
#include "runq/select.hpp"

namespace runq::model {
namespace {

using ending_channel = runq::detail::channel_core<parcel, ending_policy>;

using arm = runq::detail::receiving_arm<parcel, ending_policy>;

// The frame of a task that waits at two channels. As select_awaiter.
class waiting_select {
  using core = runq::detail::select_core<ending_policy>;

 public:
  waiting_select(ending_channel& a, ending_channel& b, record& task) : a_(&a, from_a_), b_(&b, from_b_), who_(&task) {
    require(core_.start(&who_, state_).what == core::outcome::asleep, "something was received from an empty channel");
  }
  void end() {
    core_.leave(who_, state_);
    destroy_frame(*this);
  }

 private:
  using arm_pointer = runq::detail::select_arm<ending_policy>*;

  std::optional<parcel> from_a_;
  std::optional<parcel> from_b_;
  arm a_;
  arm b_;
  record* who_;
  std::array<arm_pointer, 2> order_{&a_, &b_};
  std::array<arm_pointer, 2> by_address_{};
  core core_{order_, by_address_};
  suspension<atomics> state_;
};

// A select that waits to receive from a or b ends ‖ somebody sends to a ‖ somebody sends to b.
struct ends_vs_senders final : scenario {
  void thread(unsigned index) override {
    if (index == 0) {
      frame.end();
    } else {
      sent[index - 1] = try_send(index == 1 ? a : b);
    }
  }
  void finish() override {
    require(!(sent[0] && sent[1]), "a select has received twice");
    require(task.woken() == (sent[0] || sent[1]), "a value was sent that nobody received, or a task woken without one");
    require(!try_send(a) && !try_send(b), "a task that is gone has received");
  }
  [[nodiscard]] static bool try_send(ending_channel& to) {
    parcel value(1);
    return to.send(value) == channel_result::done;
  }

  ending_channel a{0}, b{0};
  record task;
  waiting_select& frame = make_frame<waiting_select>(a, b, task);
  bool sent[2] = {false, false};
};

const bool added[] = {
    add_case<ends_vs_senders>({
        .name = "select/ends_vs_senders",
        .property = "a select that ends where it waits receives once or never, and is in no list: end ‖ send ‖ send",
        .threads = 3,
        .quick = {.random = 10'000, .bound = 1},
        .mutants = {{"pass_relaxed", "suspension.pass", std::memory_order::relaxed},
                    {"passed_relaxed", "suspension.passed", std::memory_order::relaxed}},
    }),
};

}  // namespace
}  // namespace runq::model
