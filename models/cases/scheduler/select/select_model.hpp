// SPDX-License-Identifier: MIT
// What the models of select share: a task that selects once, with arms that send or receive.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include "../channel/channel_model.hpp"
#include "runq/select.hpp"

namespace runq::model {

/// An arm: sends `send`, or receives if that is 0. The arm of the other kind is there, too, but has no channel.
class model_arm {
 public:
  model_arm(channel_type* on, int send)
      : sends_(send != 0), sending_(sends_ ? on : nullptr, parcel(send)), receiving_(sends_ ? nullptr : on, in_) {}

  [[nodiscard]] runq::detail::select_arm<waking_policy>* get() {
    if (sends_) return &sending_;
    return &receiving_;
  }
  /// The select has finished. Returns the number that was received; 0 if this arm sends, or another one was chosen.
  [[nodiscard]] int end(bool chosen, bool ok) {
    if (sends_) return 0;
    if (!chosen) {
      require(in_ && in_->number() == was_there, "an arm that was not chosen has written to its destination");
      return 0;
    }
    receiving_.settle(ok);
    return in_ ? in_->number() : 0;
  }

 private:
  static constexpr int was_there = -1;

  bool sends_;
  std::optional<parcel> in_{parcel(was_there)};
  runq::detail::sending_arm<parcel, waking_policy> sending_;
  runq::detail::receiving_arm<parcel, waking_policy> receiving_;
};

/// What an arm does: its channel, and the number to send; 0: receive.
struct arm_of {
  channel_type* on;
  int send;
};

/// A task that selects once, with two arms, as select_awaiter does. Its frame is destroyed when it has finished.
class select_once final : public sleeping_task {
  using core = runq::detail::select_core<waking_policy>;
  static constexpr std::uint32_t stop_arm = 2;

 public:
  /// What let the task go on.
  struct choice {
    outcome of;    ///< the result of the operation
    int arm = -1;  ///< 0, 1, or 2: a stop request
    bool resumed = false;
  };
  /// A select that a stop request may end. stop() is the stop callback; the task waits for its end before it goes on.
  struct stopper {
    select_once* on = nullptr;
    atomic<int> called{0};
    void stop() {
      if (on->state_.claim(stop_arm) == claim_result::must_wake) waking_policy::wake(on);
      called.store(1, std::memory_order::release);
    }
  };

  static select_once& make(arm_of first, arm_of second, choice& result, stopper* stop = nullptr) {
    select_once& self = make_frame<select_once>(first, second, result, stop);
    if (stop != nullptr) stop->on = &self;
    return self;
  }
  /// `wait` false: the select has a default arm. If that is chosen, the result says that the operation failed.
  void start(bool wait = true) {
    const sleeper who = this;
    const core::started begun = core_.start(wait ? &who : nullptr, state_);
    // After `asleep` the frame may be destroyed.
    switch (begun.what) {
      case core::outcome::asleep: return;
      case core::outcome::woken_early: return resume();
      case core::outcome::not_ready: return end(-1, false);
      case core::outcome::chosen: return end(static_cast<int>(begun.arm), begun.how == channel_result::done);
    }
  }
  select_once(arm_of first, arm_of second, choice& result, stopper* stop)
      : first_(first.on, first.send), second_(second.on, second.send), result_(result), stop_(stop) {}

  void resume() override {
    require(!result_.resumed, "a select goes on twice");
    result_.resumed = true;
    core_.finish();
    const std::uint32_t arm = state_.arm();
    require(arm <= stop_arm, "no thread has claimed the select, and it goes on");
    end(static_cast<int>(arm), arm < order_.size() && order_[arm]->place.ok.get());
  }

 private:
  using sleeper = waking_policy::sleeper;
  using arm_pointer = runq::detail::select_arm<waking_policy>*;

  void end(int arm, bool ok) {
    const int number = first_.end(arm == 0, ok) + second_.end(arm == 1, ok);
    choice& result = result_;
    // As stop_callback's destructor does: waits until the callback is over, unless the callback itself has ended the
    // select.
    if (stop_ != nullptr && arm != static_cast<int>(stop_arm)) {
      await([this] { return stop_->called.load(std::memory_order::acquire) != 0; });
    }
    destroy_frame(*this);
    result.of.set(ok, number);
    result.arm = arm;
  }

  model_arm first_;
  model_arm second_;
  std::array<arm_pointer, 2> order_{first_.get(), second_.get()};
  std::array<arm_pointer, 2> by_address_{};
  core core_{order_, by_address_};
  suspension<atomics> state_;
  choice& result_;
  stopper* stop_;
};

}  // namespace runq::model
