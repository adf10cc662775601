// SPDX-License-Identifier: MIT
// A small epoll instance, edge-triggered, with two files and a ring (the wake-up of a poll); and the scheduler around
// it, in which a woken task runs on the thread that wakes it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <mutex>

#include "runq/protocol/descriptors.hpp"
#include "scenario.hpp"
#include "waiting.hpp"

namespace runq::model {

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

}  // namespace runq::model
