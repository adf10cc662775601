// SPDX-License-Identifier: MIT
// A task waits at several channels at once: one of them wakes it, the others forget it.
#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include "../channel/channel_model.hpp"
#include "runq/select.hpp"

namespace runq::model {
namespace {

// What the models of select share: a task that selects once, with arms that send or receive.

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

// A task waits at several channels at once: one of them wakes it, the others forget it.

// Select: receive from a or b; then receive from the other ‖ send 1 to a ‖ send 2 to b. No buffers.
struct two_senders final : scenario {
  void thread(unsigned index) override {
    if (index == 0) {
      select_once::make({&a, 0}, {&b, 0}, selected).start();
    } else if (index == 1) {
      send_once::start(a, 1, sent[0]);
    } else {
      send_once::start(b, 2, sent[1]);
    }
  }
  void finish() override {
    require(selected.of.ok && (selected.arm == 0 || selected.arm == 1), "a select waits beside a sender");
    require(selected.of.number == selected.arm + 1,
            "the value that was received is not the one that was sent to this channel");
    const int other = 1 - selected.arm;
    require(sent[selected.arm].ok && !sent[other].over, "not just the sender that was chosen has gone on");
    require(try_receive(other == 0 ? a : b) == other + 1 && sent[other].ok, "the other sender's value is lost");
  }

  channel_type a{0}, b{0};
  select_once::choice selected;
  outcome sent[2];
};

// Two tasks meet at two channels, which they name in opposite order: each sends on one or receives from the other.
struct two_selects final : scenario {
  void thread(unsigned index) override {
    if (index == 0) {
      select_once::make({&a, 1}, {&b, 0}, selected[0]).start();
    } else {
      select_once::make({&b, 2}, {&a, 0}, selected[1]).start();
    }
  }
  void finish() override {
    require(selected[0].of.ok && selected[1].of.ok, "two tasks wait although each could send what the other receives");
    require(selected[0].arm != selected[1].arm, "both sent, or both received");
    require(selected[0].of.number == (selected[0].arm == 1 ? 2 : 0),
            "the value that was received is not the one that was sent");
    require(selected[1].of.number == (selected[1].arm == 1 ? 1 : 0),
            "the value that was received is not the one that was sent");
    require(try_receive(a) == 0 && try_receive(b) == 0, "a sender that has gone on still sends");
  }

  channel_type a{0}, b{0};
  select_once::choice selected[2];
};

// Select: receive from a or b ‖ a is closed ‖ stop request.
struct stop_vs_close final : scenario {
  void thread(unsigned index) override {
    if (index == 0) {
      select.start();
    } else if (index == 1) {
      require(a.close(), "the channel was closed already");
    } else {
      stopping.stop();
    }
  }
  void finish() override {
    require(selected.of.over, "a select waits although it was asked to stop");
    require(selected.arm == 0 || selected.arm == 2, "a select chose what was not ready");
    require(!selected.of.ok && selected.of.number == 0, "a value was received that was never sent");
    // No arm may be left in a channel's list: the frame is destroyed.
    parcel one(1);
    require(b.send(one) == channel_result::waits, "a select that is over still receives");
  }

  channel_type a{0}, b{0};
  select_once::choice selected;
  select_once::stopper stopping;
  select_once& select = select_once::make({&a, 0}, {&b, 0}, selected, &stopping);
};

// Select: send 1 to a, or receive from a ‖ a thread receives ‖ stop request. One channel in two arms is locked once.
struct stop_vs_receiver final : scenario {
  void thread(unsigned index) override {
    if (index == 0) {
      select.start();
    } else if (index == 1) {
      received = try_receive(a);
    } else {
      stopping.stop();
    }
  }
  void finish() override {
    require(selected.of.over, "a select waits although it was asked to stop");
    require(selected.arm == 0 ? selected.of.ok && received == 1 : selected.arm == 2 && received == 0,
            "a value was sent and not received, or received and not sent");
    require(try_receive(a) == 0, "a select that is over still sends");
  }

  channel_type a{0};
  int received = 0;
  select_once::choice selected;
  select_once::stopper stopping;
  select_once& select = select_once::make({&a, 1}, {&a, 0}, selected, &stopping);
};

// Select without any channel ‖ stop request: the task may be woken, and its frame be gone, as soon as it can be
// claimed, because there is no channel's lock that would keep it.
struct no_channels final : scenario {
  void thread(unsigned index) override {
    if (index == 0) {
      select.start();
    } else {
      stopping.stop();
    }
  }
  void finish() override {
    require(selected.of.over && selected.arm == 2, "a select waits although it was asked to stop");
  }

  select_once::choice selected;
  select_once::stopper stopping;
  select_once& select = select_once::make({nullptr, 0}, {nullptr, 0}, selected, &stopping);
};

// Select with a default: receive from a or b ‖ send 1 to b, which waits if it comes too late.
struct with_default final : scenario {
  void thread(unsigned index) override {
    if (index == 0) {
      select_once::make({&a, 0}, {&b, 0}, selected).start(false);
    } else {
      send_once::start(b, 1, sent);
    }
  }
  void finish() override {
    require(selected.of.over, "a select with a default waits");
    require(selected.of.ok == sent.ok, "a value was sent and not received, or received and not sent");
    require(sent.ok || try_receive(b) == 1, "a value is lost");
  }

  channel_type a{0}, b{0};
  select_once::choice selected;
  outcome sent;
};

const bool added[] = {
    add_case<two_senders>({
        .name = "select/two_senders",
        .property = "a select receives from one of two senders, and the other goes on waiting: select ‖ send ‖ send",
        .threads = 3,
        .kept_for = "a sender goes on waiting",
    }),
    add_case<two_selects>({
        .name = "select/two_selects",
        .property = "two selects that name two channels in opposite order exchange a value without a deadlock",
        .threads = 2,
    }),
    add_case<stop_vs_close>({
        .name = "select/stop_vs_close",
        .property = "a select goes on once, for a close or a stop request, and leaves all lists",
        .threads = 3,
    }),
    add_case<stop_vs_receiver>({
        .name = "select/stop_vs_receiver",
        .property = "a select that is stopped has not sent, one that has sent is not stopped",
        .threads = 3,
    }),
    add_case<no_channels>({
        .name = "select/no_channels",
        .property = "a select that waits for nothing but a stop request is not touched once it can be woken",
        .threads = 2,
    }),
    add_case<with_default>({
        .name = "select/with_default",
        .property = "a select with a default takes what is there, or goes on without: select ‖ send",
        .threads = 2,
        .kept_for = "the select may go on without a value",
    }),
};

}  // namespace
}  // namespace runq::model
