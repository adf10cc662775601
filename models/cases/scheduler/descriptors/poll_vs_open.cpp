// SPDX-License-Identifier: MIT
// Descriptors are opened and closed while other threads poll or ring, and while events come, late ones included.
#include "small_kernel.hpp"

namespace runq::model {
namespace {

// A task opens a file and reads ‖ a byte arrives ‖ a machine sleeps in the poller.
struct open_vs_event final : small_kernel {
  void thread(unsigned index) override {
    if (index == 0) {
      open_and_read(0);
    } else if (index == 1) {
      arrives(0);
    } else {
      (void)known.poll(never);
    }
  }
  void finish() override {
    require(received, "the task sleeps although the file is readable");
    require(known.count() == 1 && known.last_poll() == 1,
            "not one record is in use, or the last poll is not that of this run");
  }
};

// A task closes a file with an event on its way, opens another one, with the same record, and reads ‖ a machine polls.
struct used_again final : small_kernel {
  used_again() {
    first = &open(0);
    arrives(0);
    arrives(1);
  }
  void thread(unsigned index) override {
    if (index == 0) {
      mute(0);
      known.close(*first);
      open_and_read(1);
    } else {
      while (!taken(1)) (void)known.poll(never);
    }
  }
  void finish() override {
    require(received, "the task sleeps although the file is readable");
    require(made == 1 && known.count() == 1, "a record is lost");
  }
  descriptor* first;
};

// A task closes a file ‖ another one opens one, perhaps with the same record, and waits; data comes, and its machine
// polls.
struct close_vs_open final : small_kernel {
  close_vs_open() { first = &open(0); }
  void thread(unsigned index) override {
    if (index == 0) {
      known.close(*first);
    } else {
      open_and_read(1);
      arrives(1);
      (void)known.poll(0);
      require(received, "the task sleeps although the file is readable");
    }
  }
  void finish() override {
    require(known.count() == 1, "a descriptor is lost");
    (void)open(0);
    require(made <= 2, "a record is lost");
  }
  descriptor* first;
};

// A machine has taken an event from the kernel ‖ then the file is closed, and its record used for another one.
struct late_event final : small_kernel {
  late_event() {
    first = &open(0);
    arrives(0);
  }
  void thread(unsigned index) override {
    if (index == 0) {
      (void)known.poll(0);
    } else {
      await([this] { return has_events.load(std::memory_order::acquire) != 0; });
      mute(0);
      known.close(*first);
      require(&open(1) == first, "a record is lost");
      opened.store(1, std::memory_order::release);
    }
  }
  void has_taken() override {
    has_events.store(1, std::memory_order::release);
    await([this] { return opened.load(std::memory_order::acquire) != 0; });
  }
  void finish() override { require(first->readable.wait(task), "an event of an earlier use is a notice"); }
  descriptor* first;
  atomic<int> has_events{0};
  atomic<int> opened{0};
};

// Two machines poll: one sleeps, one does not ‖ a thread rings.
struct ring_vs_polls final : small_kernel {
  void thread(unsigned index) override {
    if (index == 0) {
      require(known.poll(never).rung, "a sleep ends although no thread has ended it");
    } else if (index == 1) {
      require(!known.poll(0).rung, "a machine that does not sleep uses up the ring");
    } else {
      ring();
    }
  }
  void finish() override { require(!rung, "the ring was not used up"); }
};

// The kernel refuses a file ‖ a task opens another one.
struct refused_vs_open final : small_kernel {
  void thread(unsigned index) override {
    if (index == 0) {
      int error = 0;
      require(known.open(refused, error) == nullptr && error == 1, "a file that was refused is open");
    } else {
      (void)open(0);
    }
  }
  void finish() override {
    require(known.count() == 1, "a file that was refused counts");
    (void)open(1);
    require(made <= 2, "a record is lost");
  }
};

const bool added[] = {
    add_case<open_vs_event>({
        .name = "descriptors/open_vs_event",
        .property = "no event is lost of a file that is opened while it becomes readable: open, read ‖ data ‖ poll",
        .threads = 3,
        .kept_for = "the file becomes readable while it is opened",
    }),
    add_case<used_again>({
        .name = "descriptors/used_again",
        .property = "a late event of a record's last use hides no event of the new use: close, open, read ‖ poll",
        .threads = 2,
        .kept_for = "the whole life of a record; a late event costs a read too many here, which is no failure; "
                    "descriptors/late_event notices it",
    }),
    add_case<close_vs_open>({
        .name = "descriptors/close_vs_open",
        .property = "a record is used again only when its last use is over: close ‖ open, read, data, poll",
        .threads = 2,
    }),
    add_case<late_event>({
        .name = "descriptors/late_event",
        .property = "an event that was taken before a file was closed is no notice for the next one",
        .threads = 2,
    }),
    add_case<ring_vs_polls>({
        .name = "descriptors/ring_vs_polls",
        .property = "a ring ends the sleep in the poller although another thread polls: sleep ‖ poll ‖ ring",
        .threads = 3,
    }),
    add_case<refused_vs_open>({
        .name = "descriptors/refused_vs_open",
        .property = "a file that the kernel refuses leaves nothing behind",
        .threads = 2,
    }),
};

}  // namespace
}  // namespace runq::model
