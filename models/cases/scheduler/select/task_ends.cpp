// SPDX-License-Identifier: MIT
// A task is destroyed where it waits at several channels, because its run has ended, while other threads use them.
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <type_traits>

#include "../channel/channel_model.hpp"
#include "ending_policy.hpp"
#include "runq/select.hpp"

namespace runq::model {
namespace {

using ending_channel = runq::detail::channel_core<parcel, ending_policy>;

using receiving = runq::detail::receiving_arm<parcel, ending_policy>;
using sending = runq::detail::sending_arm<parcel, ending_policy>;

// A stop request, and the callback by which it ends a select. As with std::stop_callback, destroying the callback waits
// for its end if it has begun, and prevents it otherwise.
class stopper {
 public:
  template <class Callback>
  void request(Callback&& callback) {
    int expected = registered;
    if (!state_.compare_exchange_strong(expected, running, std::memory_order::acq_rel, std::memory_order::acquire))
      return;
    callback();
    state_.store(over, std::memory_order::release);
  }
  void reset() {
    int expected = registered;
    if (state_.compare_exchange_strong(expected, over, std::memory_order::acq_rel, std::memory_order::acquire)) return;
    await([this] { return state_.load(std::memory_order::acquire) == over; });
  }

 private:
  static constexpr int registered = 0;
  static constexpr int running = 1;
  static constexpr int over = 2;
  atomic<int> state_{registered};
};

// The frame of a task that waits at two channels, as select_awaiter does: it receives from both, or sends 1 to the one
// and 2 to the other.
template <class Arm>
class waiting_select {
  using core = runq::detail::select_core<ending_policy>;
  static constexpr std::uint32_t stop_arm = 2;
  static constexpr bool sends = std::is_same_v<Arm, sending>;

 public:
  waiting_select(ending_channel& a, ending_channel& b, strand& task, stopper* stop = nullptr)
      : a_(make_arm(a, 0)), b_(make_arm(b, 1)), who_(&task), stop_(stop) {}
  void sleep() {
    require(core_.start(&who_, state_).what == core::outcome::asleep, "a channel at which no task waits was ready");
  }
  // A stop request claims the select before it can sleep: the task does not have to wait, and yields.
  void give_way() {
    stop();
    require(core_.start(&who_, state_).what == core::outcome::woken_early, "a select that was stopped sleeps");
    who_->gives_way();
  }
  void stop() {
    if (state_.claim(stop_arm) == claim_result::must_wake) ending_policy::wake(who_);
  }
  void end() {
    if (stop_ != nullptr) stop_->reset();
    core_.leave(who_, state_);
    destroy_frame(*this);
  }
  /// Which arm, or stop_arm, has woken the task.
  [[nodiscard]] std::uint32_t arm() const { return state_.arm(); }

 private:
  using arm_pointer = runq::detail::select_arm<ending_policy>*;

  [[nodiscard]] Arm make_arm(ending_channel& on, int i) {
    if constexpr (sends) {
      return Arm(&on, parcel(i + 1));
    } else {
      return Arm(&on, into_[i]);
    }
  }

  std::optional<parcel> into_[2];
  Arm a_;
  Arm b_;
  strand* who_;
  stopper* stop_;
  std::array<arm_pointer, 2> order_{&a_, &b_};
  std::array<arm_pointer, 2> by_address_{};
  core core_{order_, by_address_};
  suspension<atomics> state_;
};
using waiting_receives = waiting_select<receiving>;
using waiting_sends = waiting_select<sending>;

[[nodiscard]] bool try_send(ending_channel& to) {
  parcel value(1);
  return to.send(value) == channel_result::done;
}
[[nodiscard]] int try_receive(ending_channel& from) {
  std::optional<parcel> value;
  return from.receive(value) == channel_result::done ? value->number() : 0;
}

// A select that waits to receive from a or b ends ‖ a thread sends to a ‖ another one sends to b.
struct ends_vs_senders final : scenario {
  ends_vs_senders() { frame.sleep(); }
  void thread(unsigned index) override {
    if (index == 0) {
      frame.end();
    } else {
      sent[index - 1] = try_send(index == 1 ? a : b);
    }
  }
  void finish() override {
    require(!(sent[0] && sent[1]), "a select has received twice");
    require(task.woken() == (sent[0] || sent[1]), "a value was sent and not received, or a task was woken without one");
    require(!try_send(a) && !try_send(b), "a task that has ended has received");
  }

  ending_channel a{0}, b{0};
  strand task;
  waiting_receives& frame = make_frame<waiting_receives>(a, b, task);
  bool sent[2] = {false, false};
};

// A select that waits to send 1 to a or 2 to b ends ‖ a thread receives from a ‖ another one receives from b.
struct ends_vs_receivers final : scenario {
  ends_vs_receivers() { frame.sleep(); }
  void thread(unsigned index) override {
    if (index == 0) {
      frame.end();
    } else {
      received[index - 1] = try_receive(index == 1 ? a : b);
    }
  }
  void finish() override {
    require(received[0] == 0 || received[1] == 0, "a select has sent twice");
    require(received[0] == 0 || received[0] == 1, "the value that was received is not the one that was sent");
    require(received[1] == 0 || received[1] == 2, "the value that was received is not the one that was sent");
    require(task.woken() == (received[0] + received[1] != 0),
            "a task was woken and has not sent, or has sent and was not woken");
    require(try_receive(a) == 0 && try_receive(b) == 0, "a task that has ended has sent");
  }

  ending_channel a{0}, b{0};
  strand task;
  waiting_sends& frame = make_frame<waiting_sends>(a, b, task);
  int received[2] = {0, 0};
};

// A select that waits to receive from a or b ends ‖ a is closed ‖ a stop is requested.
struct ends_vs_close_and_stop final : scenario {
  ends_vs_close_and_stop() { frame.sleep(); }
  void thread(unsigned index) override {
    if (index == 0) {
      frame.end();
    } else if (index == 1) {
      require(a.close(), "the channel was closed already");
    } else {
      stopping.request([this] { frame.stop(); });
    }
  }
  void finish() override { require(!try_send(b), "a task that has ended has received"); }

  ending_channel a{0}, b{0};
  strand task;
  stopper stopping;
  waiting_receives& frame = make_frame<waiting_receives>(a, b, task, &stopping);
};

// A select that a stop has claimed before it could sleep yields, and ends there ‖ a thread sends to a ‖ another one
// sends to b.
struct ends_where_it_yields final : scenario {
  ends_where_it_yields() { frame.give_way(); }
  void thread(unsigned index) override {
    if (index == 0) {
      frame.end();
    } else {
      require(!try_send(index == 1 ? a : b), "a select that was stopped has received");
    }
  }
  void finish() override { require(!try_send(a) && !try_send(b), "a task that has ended has received"); }

  ending_channel a{0}, b{0};
  strand task;
  waiting_receives& frame = make_frame<waiting_receives>(a, b, task);
};

// A select waits to receive from a or b. The channel b is destroyed, and then the select ends ‖ a thread sends to a.
struct channel_destroyed_first final : scenario {
  channel_destroyed_first() { frame.sleep(); }
  void thread(unsigned index) override {
    if (index == 0) {
      destroy_frame(*b);
      frame.end();
    } else {
      sent = try_send(a);
    }
  }
  void finish() override {
    require(task.woken() == sent, "a value was sent and not received, or a task was woken without one");
    require(!try_send(a), "a task that has ended has received");
  }

  ending_channel a{0};
  ending_channel* b = &make_frame<ending_channel>(std::size_t{0});
  strand task;
  waiting_receives& frame = make_frame<waiting_receives>(a, *b, task);
  bool sent = false;
};

// A select waits to receive from a or b. A thread sends to b, which wakes it ‖ after that, b is destroyed, and then the
// select ends.
struct waking_channel_destroyed_first final : scenario {
  waking_channel_destroyed_first() { frame.sleep(); }
  void thread(unsigned index) override {
    if (index == 0) {
      require(try_send(*b), "a select waits to receive, and nothing could be sent");
      through.store(1, std::memory_order::release);
    } else {
      await([this] { return through.load(std::memory_order::acquire) != 0; });
      destroy_frame(*b);
      frame.end();
    }
  }
  void finish() override { require(task.woken() && !try_send(a), "a task that has ended has received"); }

  ending_channel a{0};
  ending_channel* b = &make_frame<ending_channel>(std::size_t{0});
  strand task;
  waiting_receives& frame = make_frame<waiting_receives>(a, *b, task);
  atomic<int> through{0};
};

// The same channel in both arms: a select waits to receive from it, and ends ‖ a thread sends ‖ the channel is closed.
struct one_channel_twice final : scenario {
  one_channel_twice() { frame.sleep(); }
  void thread(unsigned index) override {
    if (index == 0) {
      frame.end();
    } else if (index == 1) {
      sent = try_send(a);
    } else {
      require(a.close(), "the channel was closed already");
    }
  }
  void finish() override { require(!sent || task.woken(), "a value was sent and not received"); }

  ending_channel a{0};
  strand task;
  waiting_receives& frame = make_frame<waiting_receives>(a, a, task);
  bool sent = false;
};

const bool added[] = {
    add_case<ends_vs_senders>({
        .name = "select/ends_vs_senders",
        .property =
            "a select that ends while it waits receives once or never, and is then in no list: end ‖ send ‖ send",
        .threads = 3,
        .mutants = {{"pass_relaxed", "suspension.pass", std::memory_order::relaxed},
                    {"passed_relaxed", "suspension.passed", std::memory_order::relaxed}},
        .kept_for = "the select receives",
    }),
    add_case<ends_vs_receivers>({
        .name = "select/ends_vs_receivers",
        .property =
            "a select that ends while it waits sends once or never, and is then in no list: end ‖ receive ‖ receive",
        .threads = 3,
        .kept_for = "the select sends",
    }),
    add_case<ends_vs_close_and_stop>({
        .name = "select/ends_vs_close_and_stop",
        .property = "a select that ends while it waits leaves all lists: end ‖ close ‖ stop request",
        .threads = 3,
        .kept_for = "a close and a stop request meet",
    }),
    add_case<ends_where_it_yields>({
        .name = "select/ends_where_it_yields",
        .property =
            "a select that was stopped before it slept, and ends before it goes on, is in no list: end ‖ send ‖ send",
        .threads = 3,
        .kept_for = "the select yields before it ends",
    }),
    add_case<channel_destroyed_first>({
        .name = "select/channel_destroyed_first",
        .property = "a channel is destroyed before a select that waits at it ends, while a value is sent to the other: "
                    "end ‖ send",
        .threads = 2,
    }),
    add_case<waking_channel_destroyed_first>({
        .name = "select/waking_channel_destroyed_first",
        .property =
            "the channel that woke a select is destroyed before the select ends, which leaves only the other channel",
        .threads = 2,
    }),
    add_case<one_channel_twice>({
        .name = "select/ends_at_one_channel_twice",
        .property = "a select that waits in one channel twice ends: end ‖ send ‖ close",
        .threads = 3,
        .kept_for = "the select is twice in one list",
    }),
};

}  // namespace
}  // namespace runq::model
