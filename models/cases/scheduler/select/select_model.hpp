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

/// An arm: sends `number`, or receives when that is 0. As send_arm and receive_arm of select.hpp.
class model_arm final : public runq::detail::select_arm<waking_policy> {
 public:
  model_arm(channel_type* on, int send) : on_(on), sends_(send != 0), out_(send) {}

  [[nodiscard]] const void* channel() const noexcept override { return on_.get(); }
  void lock() override { on_.get()->lock(); }
  void unlock() override { on_.get()->unlock(); }
  [[nodiscard]] channel_result attempt(runq::detail::wake_list<waking_policy>& woken) override {
    return sends_ ? on_.get()->send_locked(out_, woken) : on_.get()->receive_locked(in_, woken);
  }
  void enlist() override {
    place.value.set(sends_ ? static_cast<void*>(&out_) : static_cast<void*>(&in_));
    if (sends_) {
      on_.get()->enlist_sender(place);
    } else {
      on_.get()->enlist_receiver(place);
    }
  }
  void forget() override {
    if (sends_) {
      on_.get()->forget_sender(place);
    } else {
      on_.get()->forget_receiver(place);
    }
  }
  /// Received; 0 if this arm sends, or was not chosen.
  [[nodiscard]] int number() const { return in_ ? in_->number() : 0; }

 private:
  cell<channel_type*> on_;  // so that a use of a frame that is gone is seen
  bool sends_;
  parcel out_;
  std::optional<parcel> in_;
};

/// Of an arm: the channel, and what to send; 0: receive.
struct arm_of {
  channel_type* on;
  int send;
};

/// A task that selects once, with two arms. As select_awaiter; its frame is gone when it is through.
class select_once final : public sleeping_task {
  using core = runq::detail::select_core<waking_policy>;
  static constexpr std::uint32_t stop_arm = 2;

 public:
  /// What it was that let the task go on.
  struct choice {
    outcome of;    ///< of the operation
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
  /// `wait` false: with a default arm, which is a failure here.
  void start(bool wait = true) {
    const sleeper who = this;
    const core::started begun = core_.start(wait ? &who : nullptr, state_);
    // After `asleep` the frame may be gone.
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
    require(arm <= stop_arm, "nobody has claimed the select, and it goes on");
    end(static_cast<int>(arm), arm != stop_arm && order_[arm]->place.ok.get());
  }

 private:
  using sleeper = waking_policy::sleeper;
  using arm_pointer = runq::detail::select_arm<waking_policy>*;

  void end(int arm, bool ok) {
    const int number = arm == 0 ? first_.number() : arm == 1 ? second_.number() : 0;
    choice& result = result_;
    // As stop_callback's destructor: the callback is over, or it is what called this, or what did not have to.
    if (stop_ != nullptr && arm != static_cast<int>(stop_arm)) {
      await([this] { return stop_->called.load(std::memory_order::acquire) != 0; });
    }
    destroy_frame(*this);
    result.of.set(ok, number);
    result.arm = arm;
  }

  model_arm first_;
  model_arm second_;
  std::array<arm_pointer, 2> order_{&first_, &second_};
  std::array<arm_pointer, 2> by_address_{};
  core core_{order_, by_address_};
  suspension<atomics> state_;
  choice& result_;
  stopper* stop_;
};

}  // namespace runq::model
