// SPDX-License-Identifier: MIT
// A task waits at several channels at once: one of them wakes it, the others forget it.
#include "select_model.hpp"

namespace runq::model {
namespace {

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
