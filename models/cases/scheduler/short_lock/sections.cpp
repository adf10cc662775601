// SPDX-License-Identifier: MIT
// Sections under a short_lock: one at a time, and each sees what those before it wrote.
#include <mutex>

#include "runq/protocol/short_lock.hpp"
#include "scenario.hpp"
#include "waiting.hpp"

namespace runq::model {
namespace {

struct patient {
  template <class Condition>
  static void until(Condition&& condition) {
    await(condition);
  }
};

struct sections : scenario {
  using lock_type = basic_short_lock<patient, atomics>;

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

  lock_type lock;
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

const bool added[] = {
    add_case<lock_vs_lock>({
        .name = "short_lock/two_threads",
        .property = "one critical section at a time, which sees what the one before it wrote",
        .threads = 2,
        .quick = {.random = 20'000, .bound = 4},
        .mutants = {{"lock_relaxed", "short_lock.lock", std::memory_order::relaxed},
                    {"unlock_relaxed", "short_lock.unlock", std::memory_order::relaxed},
                    {"again_relaxed", "short_lock.again", std::memory_order::relaxed}},
        .progress = progress_claim::blocking,
    }),
    add_case<lock_again>({
        .name = "short_lock/lock_again",
        .property = "one critical section at a time, also if a thread locks twice",
        .threads = 2,
        .quick = {.random = 20'000, .bound = 3},
    }),
    add_case<lock_vs_lock>({
        .name = "short_lock/three_threads",
        .property = "one critical section at a time for three threads, two of which wait at once",
        .threads = 3,
        .quick = {.random = 20'000, .bound = 2},
    }),
    add_case<lock_vs_try>({
        .name = "short_lock/lock_vs_try",
        .property = "a thread whose try_lock() succeeds is the only one that holds the lock",
        .threads = 2,
        .quick = {.random = 20'000, .bound = 4},
        .mutants = {{"try_relaxed", "short_lock.try", std::memory_order::relaxed}},
    }),
};

}  // namespace
}  // namespace runq::model
