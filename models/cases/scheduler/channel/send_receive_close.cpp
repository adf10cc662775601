// SPDX-License-Identifier: MIT
// Values go from senders to receivers, each to one, in order; a close lets all waiting tasks go on.
#include "channel_model.hpp"

namespace runq::model {
namespace {

// No buffer. Sender ‖ receiver ‖ close.
struct unbuffered final : scenario {
  void thread(unsigned index) override {
    if (index == 0) {
      send_once::start(channel, 1, sent);
    } else if (index == 1) {
      receive_once::start(channel, received);
    } else {
      require(channel.close(), "the channel was closed already");
    }
  }
  void finish() override {
    require(sent.over && received.over, "a task waits at a closed channel");
    require(sent.ok == received.ok, "a value was sent and not received, or received and not sent");
    require(!received.ok || received.number == 1, "the value that was received is not the one that was sent");
    require(!channel.close(), "a channel was closed twice");
  }

  channel_type channel{0};
  outcome sent, received;
};

// No buffer. One task waits to send, or to receive ‖ close.
template <bool Sends>
struct waits_at_close final : scenario {
  void thread(unsigned index) override {
    if (index == 1) {
      require(channel.close(), "the channel was closed already");
    } else if (Sends) {
      send_once::start(channel, 1, waiting);
    } else {
      receive_once::start(channel, waiting);
    }
  }
  void finish() override { require(waiting.failed(), "a task that waits at a closed channel did not fail"); }

  channel_type channel{0};
  outcome waiting;
};

// A buffer of one. Sender: 1, then 2, which may have to wait ‖ receiver ‖ receiver.
struct buffered final : scenario {
  void thread(unsigned index) override {
    if (index == 0) {
      send_once::start(channel, 1, sent[0]);
      send_once::start(channel, 2, sent[1]);
    } else {
      receive_once::start(channel, received[index - 1]);
    }
  }
  void finish() override {
    for (int i = 0; i != 2; ++i) require(sent[i].ok && received[i].ok, "a task waits for ever");
    require(received[0].number + received[1].number == 3 && received[0].number != received[1].number,
            "a value was lost or received twice");
    require(channel.size() == 0, "a value is left in the channel");
  }

  channel_type channel{1};
  outcome sent[2], received[2];
};

// A full buffer of one, with 1; a task waits to send 2. Receiver ‖ a thread that sends 3 if there is room. What is
// received afterwards comes in the order 2, 3.
struct refilled final : scenario {
  refilled() {
    send_once::start(channel, 1, sent[0]);
    send_once::start(channel, 2, sent[1]);
    require(sent[0].ok && !sent[1].over, "a full channel took a value");
  }
  void thread(unsigned index) override {
    if (index == 0) {
      require(try_receive(channel) == 1, "the oldest value was not received first");
    } else {
      parcel three(3);
      require(channel.send(three) == channel_result::waits, "a sender was overtaken");
    }
  }
  void finish() override {
    require(sent[1].ok, "there is room, and a sender waits");
    require(channel.size() == 1, "the value of a waiting sender is not in the buffer");
    require(try_receive(channel) == 2, "the value that came is not the oldest");
    require(try_receive(channel) == 0, "a value came that was never sent");
  }

  channel_type channel{1};
  outcome sent[2];
};

// Two tasks wait to receive. Two tasks send 1 and 2, one after the other: the waiting tasks get them in the order in
// which they began to wait ‖ a thread tries to receive, which must not overtake the tasks that wait.
struct first_come final : scenario {
  first_come() {
    receive_once::start(channel, received[0]);
    receive_once::start(channel, received[1]);
  }
  void thread(unsigned index) override {
    if (index == 0) {
      send_once::start(channel, 1, sent[0]);
      send_once::start(channel, 2, sent[1]);
    } else {
      require(try_receive(channel) == 0, "a waiting receiver was overtaken");
    }
  }
  void finish() override {
    require(sent[0].ok && sent[1].ok, "a sender waits although a task receives");
    require(received[0].number == 1 && received[1].number == 2, "waiting receivers were not served first come, first");
  }

  channel_type channel{1};
  outcome sent[2], received[2];
};

// A buffer of two. Sender: 1, 2, close ‖ receiver: until the channel is closed.
struct in_order final : scenario {
  void thread(unsigned index) override {
    if (index == 0) {
      send_once::start(channel, 1, sent[0]);
      send_once::start(channel, 2, sent[1]);
      require(channel.close(), "the channel was closed already");
    } else {
      for (outcome& r : received) receive_once::start(channel, r);
    }
  }
  void finish() override {
    require(sent[0].ok && sent[1].ok, "there was room, and a value was not sent");
    require(received[0].number == 1 && received[1].number == 2, "values came out of order, or not at all");
    require(received[2].failed(), "a closed and empty channel did not say so");
  }

  channel_type channel{2};
  outcome sent[2], received[3];
};

const bool added[] = {
    add_case<unbuffered>({
        .name = "channel/send_receive_close",
        .property = "a value is sent if and only if it is received, and no task waits for ever: send ‖ receive ‖ close",
        .threads = 3,
        .kept_for = "send, receive and close meet",
    }),
    add_case<waits_at_close<true>>({
        .name = "channel/sender_vs_close",
        .property = "a close lets a waiting sender go on, without success",
        .threads = 2,
    }),
    add_case<waits_at_close<false>>({
        .name = "channel/receiver_vs_close",
        .property = "a close lets a waiting receiver go on, without a value",
        .threads = 2,
        .kept_for = "the smallest program",
    }),
    add_case<buffered>({
        .name = "channel/buffered",
        .property = "each value is received once, and no task waits for ever: send, send ‖ receive ‖ receive",
        .threads = 3,
        .kept_for = "two tasks send and receive at once",
    }),
    add_case<refilled>({
        .name = "channel/refilled",
        .property = "a task that waits to send is not overtaken: its value fills the room that a receiver makes",
        .threads = 2,
    }),
    add_case<first_come>({
        .name = "channel/first_come",
        .property = "a task that waits to receive is not overtaken: first come, first served",
        .threads = 2,
        .kept_for = "a task that came later must not overtake",
    }),
    add_case<in_order>({
        .name = "channel/in_order",
        .property = "values come in order, then the end: send, send, close ‖ receive until it is closed",
        .threads = 2,
    }),
};

}  // namespace
}  // namespace runq::model
