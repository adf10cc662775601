// SPDX-License-Identifier: MIT
// A short read means that the stream is empty, so the task waits without reading again. The end of the stream is the
// exception: no further edge tells of it, so the task must read again to see it.
#include "small_kernel.hpp"

namespace runq::model {
namespace {

struct to_the_end : small_kernel {
  to_the_end() {
    room = 2;
    reads_on = true;
  }
  void come() {
    arrives(0);
    ends(0);
  }
  void poll() {
    while (!end_taken(0)) (void)known.poll(never);
  }
  void finish() override { require(received, "the task sleeps at the end of the stream"); }
};

// A task waits for a file. A byte arrives, then the end ‖ a machine polls, and goes on with the task.
struct waits_to_the_end final : to_the_end {
  waits_to_the_end() { open_and_read(0); }
  void thread(unsigned index) override { index == 0 ? come() : poll(); }
};

// A task opens a file and reads to the end ‖ a machine polls ‖ a byte arrives, then the end.
struct reads_to_the_end final : to_the_end {
  void thread(unsigned index) override {
    if (index == 0) {
      open_and_read(0);
    } else if (index == 1) {
      poll();
    } else {
      come();
    }
  }
};

const bool added[] = {
    add_case<waits_to_the_end>({
        .name = "descriptors/waits_to_the_end",
        .property =
            "a read that gets less than was asked for does not hide the end of the stream: data, end ‖ poll, read",
        .threads = 2,
        .kept_for = "the file is open when the end comes",
    }),
    add_case<reads_to_the_end>({
        .name = "descriptors/reads_to_the_end",
        .property = "a short read while the file is being opened does not hide the end: open, read ‖ poll ‖ data, end",
        .threads = 3,
        .kept_for = "the end comes while the file is being opened",
    }),
};

}  // namespace
}  // namespace runq::model
