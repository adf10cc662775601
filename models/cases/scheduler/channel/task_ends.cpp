// SPDX-License-Identifier: MIT
// A task is destroyed where it waits, because its run has ended, while a thread outside uses the channel.
#include "channel_model.hpp"
#include "ending_policy.hpp"

namespace runq::model {
namespace {

using ending_channel = runq::detail::channel_core<parcel, ending_policy>;

[[nodiscard]] channel_result try_send(ending_channel& to, int number) {
  parcel value(number);
  return to.send(value);
}

// The frame of a task that waits to send, or to receive, as the awaiters of channel.hpp do.
struct waiting_sender {
  waiting_sender(ending_channel& on, int number, strand& task) : node(parcel(number)) {
    node.who.set(&task);
    require(on.send_or_wait(node) == channel_result::waits, "there was no room, and a value was sent");
  }
  void end(ending_channel& on) {
    if (node.waits()) on.leave_senders(node);
    destroy_frame(*this);
  }
  runq::detail::sender<parcel, ending_policy> node;
};
struct waiting_receiver {
  waiting_receiver(ending_channel& on, strand& task) {
    node.who.set(&task);
    require(on.receive_or_wait(node) == channel_result::waits, "something was received from an empty channel");
  }
  void end(ending_channel& on) {
    if (node.waits()) on.leave_receivers(node);
    destroy_frame(*this);
  }
  // What it has received, or 0.
  [[nodiscard]] int got() const { return node.ok.get() ? node.value.number() : 0; }
  runq::detail::receiver<parcel, ending_policy> node;
};

// No buffer. A task that waits to receive ends ‖ a thread sends, and then closes.
struct receiver_ends final : scenario {
  void thread(unsigned index) override {
    if (index == 0) {
      frame.end(channel);
    } else {
      sent = try_send(channel, 1) == channel_result::done;
    }
  }
  void finish() override {
    require(sent == task.woken(), "a value was sent and not received, or a task was woken without one");
    require(try_send(channel, 2) == channel_result::waits, "a task that has ended has received");
    require(channel.close(), "the channel was closed already");
  }

  ending_channel channel{0};
  strand task;
  waiting_receiver& frame = make_frame<waiting_receiver>(channel, task);
  bool sent = false;
};

// A buffer of one, with 1, and two tasks that wait to send 2 and 3. The first of them ends ‖ a thread receives.
struct sender_ends final : scenario {
  sender_ends() {
    require(try_send(channel, 1) == channel_result::done, "an empty channel took no value");
    first = &make_frame<waiting_sender>(channel, 2, tasks[0]);
    second = &make_frame<waiting_sender>(channel, 3, tasks[1]);
  }
  void thread(unsigned index) override {
    if (index == 0) {
      first->end(channel);
    } else {
      require(receive() == 1, "the oldest value was not received first");
    }
  }
  void finish() override {
    require(tasks[0].woken() != tasks[1].woken(), "there was room for one value, and not just one was sent");
    require(receive() == (tasks[0].woken() ? 2 : 3), "the value that came is not the oldest");
    require(tasks[1].woken(), "there is room, and a sender waits");
    require(receive() == (tasks[0].woken() ? 3 : 0), "a task that has ended has sent, or a value is lost");
    second->end(channel);
  }
  [[nodiscard]] int receive() {
    std::optional<parcel> value;
    return channel.receive(value) == channel_result::done ? value->number() : 0;
  }

  ending_channel channel{1};
  strand tasks[2];
  waiting_sender* first = nullptr;
  waiting_sender* second = nullptr;
};

// No buffer. Of two tasks that wait to receive the first ends ‖ a thread sends 1 ‖ another one sends 2.
struct receiver_ends_vs_senders final : scenario {
  void thread(unsigned index) override {
    if (index == 0) {
      first.end(channel);
    } else {
      sent[index - 1] = try_send(channel, static_cast<int>(index)) == channel_result::done;
    }
  }
  void finish() override {
    require(tasks[1].woken(), "a task waits to receive although a thread sends");
    require(sent[0] + sent[1] == tasks[0].woken() + 1, "a value was sent and not received");
    const int got = second.got();
    require(got != 0 && sent[got - 1], "a value was received that was never sent");
    second.end(channel);
    require(try_send(channel, 3) == channel_result::waits, "a task that has ended has received");
  }

  ending_channel channel{0};
  strand tasks[2];
  waiting_receiver& first = make_frame<waiting_receiver>(channel, tasks[0]);
  waiting_receiver& second = make_frame<waiting_receiver>(channel, tasks[1]);
  bool sent[2] = {false, false};
};

// A buffer of one, with 1, and two tasks that wait to send. The first of them ends ‖ the channel is closed ‖ a thread
// receives.
struct sender_ends_vs_close final : scenario {
  sender_ends_vs_close() {
    require(try_send(channel, 1) == channel_result::done, "an empty channel took no value");
    first = &make_frame<waiting_sender>(channel, 2, tasks[0]);
    second = &make_frame<waiting_sender>(channel, 3, tasks[1]);
  }
  void thread(unsigned index) override {
    if (index == 0) {
      first->end(channel);
    } else if (index == 1) {
      require(channel.close(), "the channel was closed already");
    } else {
      require(receive() == 1, "the oldest value was not received first");
    }
  }
  void finish() override {
    require(tasks[1].woken(), "a task waits at a closed channel");
    const bool second_sent = second->node.ok.get();
    const int left = receive();
    require((left == 3) == second_sent,
            "a task is told that it has sent although it has not, or that it has not although it has");
    require(left == 0 || left == 3 || (left == 2 && tasks[0].woken()), "a value came that was never sent");
    require(receive() == 0, "two values came from a buffer of one");
    second->end(channel);
  }
  [[nodiscard]] int receive() {
    std::optional<parcel> value;
    return channel.receive(value) == channel_result::done ? value->number() : 0;
  }

  ending_channel channel{1};
  strand tasks[2];
  waiting_sender* first = nullptr;
  waiting_sender* second = nullptr;
};

// Three tasks wait to receive. A thread sends to the first ‖ after that, the channel is destroyed, and then the tasks
// end: the second and third must not touch the channel.
struct channel_goes_first final : scenario {
  void thread(unsigned index) override {
    if (index == 0) {
      require(try_send(*channel, 1) == channel_result::done, "a task waits to receive, and nothing could be sent");
      done.store(1, std::memory_order::relaxed);
      left.store(1, std::memory_order::release);
    } else {
      await([this] { return done.load(std::memory_order::relaxed) != 0; });
      destroy_frame(*channel);
      await([this] { return left.load(std::memory_order::acquire) != 0; });
      for (waiting_receiver* const f : frames) f->end(*channel);
    }
  }
  void finish() override {
    require(tasks[0].woken() && !tasks[1].woken() && !tasks[2].woken(), "not just one task was woken");
  }

  ending_channel* channel = &make_frame<ending_channel>(std::size_t{0});
  strand tasks[3];
  waiting_receiver* frames[3] = {&make_frame<waiting_receiver>(*channel, tasks[0]),
                                 &make_frame<waiting_receiver>(*channel, tasks[1]),
                                 &make_frame<waiting_receiver>(*channel, tasks[2])};
  atomic<int> done{0};  // relaxed: it orders nothing
  atomic<int> left{0};  // as in a scheduler, where all machines leave before tasks are destroyed
};

// As channel_goes_first, with tasks that wait to send, and a thread that receives.
struct channel_goes_before_senders final : scenario {
  void thread(unsigned index) override {
    if (index == 0) {
      std::optional<parcel> value;
      require(channel->receive(value) == channel_result::done, "a task waits to send, and nothing was received");
      done.store(1, std::memory_order::relaxed);
      left.store(1, std::memory_order::release);
    } else {
      await([this] { return done.load(std::memory_order::relaxed) != 0; });
      destroy_frame(*channel);
      await([this] { return left.load(std::memory_order::acquire) != 0; });
      for (waiting_sender* const f : frames) f->end(*channel);
    }
  }
  void finish() override { require(tasks[0].woken() && !tasks[1].woken(), "not just one task was woken"); }

  ending_channel* channel = &make_frame<ending_channel>(std::size_t{0});
  strand tasks[2];
  waiting_sender* frames[2] = {&make_frame<waiting_sender>(*channel, 1, tasks[0]),
                               &make_frame<waiting_sender>(*channel, 2, tasks[1])};
  atomic<int> done{0};  // relaxed: it orders nothing
  atomic<int> left{0};  // as in a scheduler, where all machines leave before tasks are destroyed
};

const bool added[] = {
    add_case<receiver_ends_vs_senders>({
        .name = "channel/receiver_ends_vs_senders",
        .property = "a receiver that ends while it waits leaves the values to the next one: end ‖ send ‖ send",
        .threads = 3,
        .kept_for = "a second sender must not lose its value",
    }),
    add_case<sender_ends_vs_close>({
        .name = "channel/sender_ends_vs_close",
        .property = "a sender that ends while it waits has sent, or left the list, or was told of the close: end ‖ "
                    "close ‖ receive",
        .threads = 3,
        .kept_for = "a close is another way out of the wait",
    }),
    add_case<channel_goes_first>({
        .name = "channel/destroyed_before_receivers",
        .property = "a channel is destroyed before the tasks that wait to receive end",
        .threads = 2,
    }),
    add_case<channel_goes_before_senders>({
        .name = "channel/destroyed_before_senders",
        .property = "a channel is destroyed before the tasks that wait to send end",
        .threads = 2,
    }),
    add_case<receiver_ends>({
        .name = "channel/receiver_ends",
        .property = "a receiver that ends while it waits takes one value or none, and is then in no list: end ‖ send",
        .threads = 2,
        .kept_for = "a receiver ends",
    }),
    add_case<sender_ends>({
        .name = "channel/sender_ends",
        .property = "a sender that ends while it waits has sent or not, and the next sender is served: end ‖ receive",
        .threads = 2,
        .kept_for = "a sender ends",
    }),
};

}  // namespace
}  // namespace runq::model
