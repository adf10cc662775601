// SPDX-License-Identifier: MIT
// Sections under a short_lock: one at a time, and each sees what those before it wrote.
#include <mutex>

#include "scenario.hpp"
#include "short_lock_model.hpp"

namespace runq::model {
namespace {

struct sections : scenario {
  // Two steps on plain memory: it is a data race if two threads are in it at once, or if one does not see what the one
  // before it wrote.
  void enter() {
    const std::lock_guard guard(lock);
    work();
  }
  void work() {
    count.set(count.get() + 1);
    ++entered;
  }
  void finish() override { require(count.get() == entered, "a section did not see what the one before it wrote"); }

  short_lock lock;
  cell<int> count{0};
  int entered = 0;
};

// All threads: lock, a section, unlock.
struct lock_vs_lock final : sections {
  void thread(unsigned) override { enter(); }
};

// Thread 0: two sections ‖ the others: one.
struct lock_again final : sections {
  void thread(unsigned index) override {
    enter();
    if (index == 0) enter();
  }
};

// Thread 0: lock, a section, unlock ‖ thread 1: try_lock, and if it has it, a section, unlock.
struct lock_vs_try final : sections {
  void thread(unsigned index) override {
    if (index == 0) return enter();
    if (!lock.try_lock()) return;
    work();
    lock.unlock();
  }
};

// Thread 0: lock, a section, unlock ‖ thread 1: sets a flag, and then lock_unless() of that flag is called by thread 2;
// if it has the lock, a section, unlock.
struct lock_vs_unless final : sections {
  void thread(unsigned index) override {
    if (index == 0) return enter();
    if (index == 1) return flag.store(true, std::memory_order::relaxed);
    const bool has_it = lock.lock_unless([this] { return seen = flag.load(std::memory_order::relaxed); });
    require(has_it || seen, "a thread gave up although its condition was false");
    if (!has_it) return;
    work();
    lock.unlock();
  }

  atomic<bool> flag{false};
  bool seen = false;  // only thread 2 uses it
};

// Thread 0 holds the lock for ever, and sets a flag ‖ thread 1: lock_unless() of that flag.
struct gives_up final : sections {
  void thread(unsigned index) override {
    if (index == 0) return flag.store(true, std::memory_order::relaxed);
    require(!lock.lock_unless([this] { return flag.load(std::memory_order::relaxed); }), "two threads hold the lock");
  }
  gives_up() { lock.lock(); }

  atomic<bool> flag{false};
};

const bool added[] = {
    add_case<lock_vs_lock>({
        .name = "short_lock/two_threads",
        .property = "one critical section at a time, which sees what the one before it wrote",
        .threads = 2,
        .mutants = {{"lock_relaxed", "short_lock.lock", std::memory_order::relaxed},
                    {"unlock_relaxed", "short_lock.unlock", std::memory_order::relaxed},
                    {"again_relaxed", "short_lock.again", std::memory_order::relaxed}},
        .progress = progress_claim::blocking,
        .kept_for = "the smallest program",
    }),
    add_case<lock_again>({
        .name = "short_lock/lock_again",
        .property = "one critical section at a time, also if a thread locks twice",
        .threads = 2,
        .kept_for = "a thread locks twice",
    }),
    add_case<lock_vs_lock>({
        .name = "short_lock/three_threads",
        .property = "one critical section at a time for three threads, two of which wait at once",
        .threads = 3,
        .kept_for = "two threads wait at once",
    }),
    add_case<lock_vs_try>({
        .name = "short_lock/lock_vs_try",
        .property = "a thread whose try_lock() succeeds is the only one that holds the lock",
        .threads = 2,
        .mutants = {{"try_relaxed", "short_lock.try", std::memory_order::relaxed}},
    }),
    add_case<lock_vs_unless>({
        .name = "short_lock/lock_vs_unless",
        .property = "lock_unless() has the lock alone, or gives up because its condition is true",
        .threads = 3,
        .mutants = {{"unless_relaxed", "short_lock.unless", std::memory_order::relaxed}},
    }),
    add_case<gives_up>({
        .name = "short_lock/gives_up",
        .property =
            "a thread that waits in lock_unless() for a lock that is never free ends when its condition is true",
        .threads = 2,
    }),
};

}  // namespace
}  // namespace runq::model
