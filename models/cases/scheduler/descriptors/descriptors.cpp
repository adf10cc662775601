// SPDX-License-Identifier: MIT
// Descriptors of a small kernel, which are polled, read and closed.
#include "runq/protocol/descriptors.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <mutex>

#include "scenario.hpp"
#include "waiting.hpp"

namespace runq::model {
namespace {

// A small epoll instance, edge-triggered, with two files and a ring (the wake-up of a poll); and the scheduler around
// it, in which a woken task runs on the thread that wakes it.

struct small_kernel;

/// A task that reads a file, as connection.hpp does, until it has got a byte or is at the end.
struct reading_task {
  explicit reading_task(small_kernel& in) : kernel(in) {}
  small_kernel& kernel;
  cell<polled_descriptor<reading_task, atomics>*> from{nullptr};
  cell<unsigned> file{0};
  drained_mark<atomics> mark;
  void go_on();

 private:
  [[nodiscard]] bool attempt();
};

struct small_kernel : scenario {
  using known_type = descriptors<small_kernel, reading_task, atomics>;
  using descriptor = known_type::descriptor;
  using instant = known_type::instant;
  static constexpr instant never = std::numeric_limits<instant>::max();
  static constexpr int refused = 2;  // a file that cannot be watched

  // -- what `descriptors` asks of its host --

  class events {
   public:
    [[nodiscard]] std::size_t size() const { return n_; }
    [[nodiscard]] const polled_event& event(std::size_t i) const { return list_[i]; }
    void push_back(const polled_event& e) { list_[n_++] = e; }

   private:
    std::array<polled_event, 3> list_{};
    std::size_t n_ = 0;
  };
  descriptor& new_record() {
    require(made != records.size(), "more records than descriptors");
    return records[made++];
  }
  int watch(int fd, std::uint64_t tag) {
    if (fd == refused) return 1;
    const std::lock_guard guard(lock);
    file& f = files[static_cast<std::size_t>(fd)];
    f.watched = true;
    f.tag = tag;
    f.edge = f.bytes != 0 || f.ended;
    tell();
    return 0;
  }
  void wait(events& into, instant timeout) {
    if (timeout != 0) {
      await([this] { return pending.load(std::memory_order::relaxed) != 0; });
    }
    {
      const std::lock_guard guard(lock);
      for (file& f : files) {
        if (!f.edge) continue;
        f.edge = false;
        f.taken = true;
        f.end_taken = f.ended;
        into.push_back({.tag = f.tag, .readable = true, .writable = false, .unusual = f.ended});
      }
      if (rung) into.push_back({.tag = 0, .readable = false, .writable = false, .unusual = false});
      tell();
    }
    has_taken();
  }
  void hear_ring() {
    const std::lock_guard guard(lock);
    rung = false;
    tell();
  }
  static void wake(reading_task& t) { t.go_on(); }
  [[nodiscard]] static instant clock() { return 1; }

  // -- what happens --

  void ring() {
    const std::lock_guard guard(lock);
    rung = true;
    tell();
  }
  void arrives(unsigned of) {
    const std::lock_guard guard(lock);
    ++files[of].bytes;
    files[of].edge = files[of].watched;
    tell();
  }
  void ends(unsigned of) {
    const std::lock_guard guard(lock);
    files[of].ended = true;
    files[of].edge = files[of].watched;
    tell();
  }
  void mute(unsigned of) {
    const std::lock_guard guard(lock);
    files[of].watched = files[of].edge = false;
    tell();
  }
  /// Returns how many bytes were read; 0 at the end of the file, -1 if there is nothing to read now.
  [[nodiscard]] int read(unsigned of) {
    const std::lock_guard guard(lock);
    file& f = files[of];
    if (f.bytes == 0) return f.ended ? 0 : -1;
    const unsigned n = f.bytes < room ? f.bytes : room;
    f.bytes -= n;
    return static_cast<int>(n);
  }
  /// Whether a thread that polls has taken an event of file `of`. end_taken(): the event of its end.
  [[nodiscard]] bool taken(unsigned of) {
    const std::lock_guard guard(lock);
    return files[of].taken;
  }
  [[nodiscard]] bool end_taken(unsigned of) {
    const std::lock_guard guard(lock);
    return files[of].end_taken;
  }
  /// Called when a poll has taken its events.
  virtual void has_taken() {}

  descriptor& open(int fd) {
    int error = 0;
    descriptor* const d = known.open(fd, error);
    require(d != nullptr && error == 0, "refused");
    return *d;
  }
  /// The task opens `fd`, and reads.
  void open_and_read(int fd) {
    task.from.set(&open(fd));
    task.file.set(static_cast<unsigned>(fd));
    task.go_on();
  }

  struct file {
    std::uint64_t tag = 0;
    unsigned bytes = 0;
    bool ended = false;
    bool watched = false;
    bool edge = false;
    bool taken = false;
    bool end_taken = false;
  };
  mutex lock;
  std::array<file, 2> files;  // under the lock
  bool rung = false;          // under the lock
  atomic<int> pending{0};     // whether a wait would return; written under the lock, but read without it
  std::array<descriptor, 2> records;
  std::size_t made = 0;  // under the lock of `known`
  known_type known{*this};
  reading_task task{*this};
  unsigned room = 1;      // the most bytes that one read gets
  bool reads_on = false;  // the task reads to the end
  bool received = false;  // the task has finished

 private:
  void tell() { pending.store(rung || files[0].edge || files[1].edge ? 1 : 0, std::memory_order::relaxed); }
};

// Reads until there is nothing left. Returns whether the task has finished.
inline bool reading_task::attempt() {
  while (!mark.drained()) {
    mark.attempts();
    const int n = kernel.read(file.get());
    if (n < 0) return false;
    if (n == 0 || !kernel.reads_on) return true;
    if (static_cast<unsigned>(n) < kernel.room) mark.stopped_short(from.get()->unusual);
  }
  return false;
}

inline void reading_task::go_on() {
  while (!attempt()) {
    mark.waits();
    if (from.get()->readable.wait(*this)) return;  // the thread that wakes the task goes on with it
  }
  require(!kernel.received, "the task runs twice");
  kernel.received = true;
}

// Descriptors are opened and closed while other threads poll or ring, and while events come, late ones included.

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

// A short read means that the stream is empty, so the task waits without reading again. The end of the stream is the
// exception: no further edge tells of it, so the task must read again to see it.

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
