// SPDX-License-Identifier: MIT
// What the models of channel and select share: values that show whether they were handed over in order, and tasks that
// send or receive once.
#pragma once

#include <optional>
#include <utility>

#include "runq/channel.hpp"
#include "scenario.hpp"
#include "waking_policy.hpp"

namespace runq::model {

/// A number in plain memory: the engine finds a data race on it, and a use after its end.
class parcel {
 public:
  explicit parcel(int number) : number_(number) {}
  parcel(parcel&& other) noexcept : number_(other.number()) { other.number_.set(0); }
  parcel& operator=(parcel&& other) noexcept {
    number_.set(other.number());
    other.number_.set(0);
    return *this;
  }
  ~parcel() = default;
  [[nodiscard]] int number() const { return number_.get(); }

 private:
  cell<int> number_;
};

using channel_type = runq::detail::channel_core<parcel, waking_policy>;

/// The result of an operation, as the scenario notes it for itself: not memory that the program shares.
struct outcome {
  bool over = false;
  bool ok = false;
  int number = 0;  ///< received

  void set(bool is_ok, int n) {
    require(!over, "an operation ended twice");
    *this = {true, is_ok, n};
  }
  [[nodiscard]] bool failed() const { return over && !ok; }
};

/// A task that sends once, as the awaiter of channel.hpp does. Its frame is destroyed when it has finished.
class send_once final : public sleeping_task {
 public:
  static void start(channel_type& on, int number, outcome& result) {
    send_once& self = make_frame<send_once>(number, result);
    // After `waits` the frame may be destroyed.
    const channel_result now = on.send_or_wait(self.node_);
    if (now != channel_result::waits) self.end(now == channel_result::done);
  }
  send_once(int number, outcome& result) : result_(result), node_(parcel(number)) { node_.who.set(this); }
  void resume() override { end(node_.ok.get()); }

 private:
  void end(bool sent) {
    require(node_.value.number() == 0 || !sent, "a value was sent and is still there");
    require(node_.value.number() != 0 || sent, "a value was not sent and is gone");
    outcome& result = result_;
    destroy_frame(*this);
    result.set(sent, 0);
  }
  outcome& result_;
  runq::detail::sender<parcel, waking_policy> node_;
};

/// A task that receives once.
class receive_once final : public sleeping_task {
 public:
  static void start(channel_type& from, outcome& result) {
    receive_once& self = make_frame<receive_once>(result);
    const channel_result now = from.receive_or_wait(self.node_);
    if (now == channel_result::waits) return;
    self.node_.ok.set(now == channel_result::done);
    self.resume();
  }
  explicit receive_once(outcome& result) : result_(result) { node_.who.set(this); }
  void resume() override {
    outcome& result = result_;
    const int number = node_.ok.get() ? node_.value.number() : 0;
    destroy_frame(*this);
    result.set(number != 0, number);
  }

 private:
  outcome& result_;
  runq::detail::receiver<parcel, waking_policy> node_;
};

/// Receives the next value without waiting. Returns 0 if there is none.
[[nodiscard]] inline int try_receive(channel_type& from) {
  std::optional<parcel> value;
  return from.receive(value) == channel_result::done ? value->number() : 0;
}

}  // namespace runq::model
