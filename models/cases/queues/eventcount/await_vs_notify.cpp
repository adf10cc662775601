// SPDX-License-Identifier: MIT
// Threads that sleep until there is work, and threads that make it: no thread sleeps beside work, and whoever wakes
// sees what it was woken for. In these models only a notification, or the clock if there is one, ends a sleep: so a
// lost wake-up is a deadlock.
#include <array>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <type_traits>

#include "futex.hpp"
#include "interrupt.hpp"
#include "oracle.hpp"
#include "runq/eventcount.hpp"
#include "runq/ring.hpp"
#include "scenario.hpp"
#include "waiting.hpp"

namespace runq::model {
namespace {

/// futex(2) for up to three threads that sleep on one word: one lock covers a thread's look at the word and a waker's
/// search for those that sleep. Whoever came first is woken first. A wake-up alone says
/// nothing: the woken thread must read in the word what its waker has done.
class crowd {
 public:
  explicit crowd(const deadline_clock* clock = nullptr) : clock_(clock) {}

  template <class Word>
  void wait(Word& word, std::uint32_t value) {
    const std::size_t bed = lie_down(word, value);
    if (bed == none) return;
    await([&] { return beds_[bed].woken.load(std::memory_order::relaxed) != 0; });
    get_up(bed);
  }
  [[nodiscard]] static bool deadline(std::chrono::nanoseconds) { return true; }
  template <class Word>
  [[nodiscard]] bool wait_until(Word& word, std::uint32_t value, bool) {
    if (clock_->passed()) return false;
    const std::size_t bed = lie_down(word, value);
    if (bed == none) return true;
    await([&] { return beds_[bed].woken.load(std::memory_order::relaxed) != 0 || clock_->passed(); });
    get_up(bed);
    return true;
  }
  template <class Word>
  void wake(Word&, std::uint32_t threads) {
    const std::lock_guard lock(lock_);
    for (; threads != 0; --threads) {
      bed* const next = next_sleeper();
      if (next == nullptr) return;
      next->asleep.set(0);
      next->woken.store(1, std::memory_order::relaxed);
    }
  }

 private:
  static constexpr std::size_t size = 3;
  static constexpr std::size_t none = size;
  struct bed {
    cell<bool> taken{false};  // under lock_
    cell<int> asleep{0};      // under lock_: since when, or 0
    atomic<int> woken{0};
  };

  template <class Word>
  [[nodiscard]] std::size_t lie_down(Word& word, std::uint32_t value) {
    const std::lock_guard lock(lock_);
    if (word.load(std::memory_order::relaxed) != value) return none;
    std::size_t i = 0;
    while (beds_[i].taken.get()) ++i;
    beds_[i].taken.set(true);
    arrivals_.set(arrivals_.get() + 1);
    beds_[i].asleep.set(arrivals_.get());
    return i;
  }
  void get_up(std::size_t i) {
    const std::lock_guard lock(lock_);
    beds_[i].taken.set(false);
    beds_[i].asleep.set(0);
    beds_[i].woken.store(0, std::memory_order::relaxed);
  }
  [[nodiscard]] bed* next_sleeper() {
    bed* found = nullptr;
    for (bed& b : beds_) {
      if (b.asleep.get() == 0) continue;
      if (found == nullptr || b.asleep.get() < found->asleep.get()) found = &b;
    }
    return found;
  }

  const deadline_clock* clock_;
  mutex lock_;
  cell<int> arrivals_{0};
  std::array<bed, size> beds_;
};

template <class Atomics = atomics>
using eventcount_of = basic_eventcount<Atomics, crowd>;

// The weakest queue: how many tasks there are, without any order.
template <class Atomics = atomics>
class counter {
 public:
  void push() { (void)tasks_.fetch_add(1, std::memory_order::relaxed); }
  [[nodiscard]] bool has_work() const { return tasks_.load(std::memory_order::relaxed) != 0; }
  [[nodiscard]] bool take() {
    int there = tasks_.load(std::memory_order::relaxed);
    while (there != 0) {
      if (tasks_.compare_exchange_strong(there, there - 1, std::memory_order::relaxed, std::memory_order::relaxed)) {
        return true;
      }
    }
    return false;
  }

 private:
  typename Atomics::template atomic<int> tasks_{0};
};

template <class Atomics>
struct workers_and_makers : scenario {
  void make_one() {
    tasks.push();
    idle.notify_one();
  }
  void run_one() {
    do {
      idle.await([this] { return tasks.has_work(); });
    } while (!tasks.take());
  }
  void finish() override {
    require(!tasks.has_work(), "a task is left");
    require(idle.waiting_approx() == 0, "a thread that does not wait is still counted");
  }

  /// Whether there is work, or a notification came in time.
  [[nodiscard]] bool sleep_for_a_time() {
    const auto mine = idle.prepare();
    if (!tasks.has_work()) return idle.wait_for(mine, std::chrono::nanoseconds(1));
    idle.cancel(mine);
    return true;
  }

  deadline_clock clock;
  eventcount_of<Atomics> idle{&clock};
  counter<Atomics> tasks;
};

// Maker: a task, a notification ‖ worker: sleeps until there is a task, takes it.
struct one_worker final : workers_and_makers<atomics> {
  void thread(unsigned index) override { index == 0 ? make_one() : run_one(); }
};

// Maker: twice a task and a notification ‖ two workers: a task each.
struct two_workers final : workers_and_makers<atomics> {
  void thread(unsigned index) override {
    if (index != 0) return run_one();
    make_one();
    make_one();
  }
};

// Maker: two tasks, one notification of two ‖ two workers: a task each.
struct a_batch final : workers_and_makers<atomics> {
  void thread(unsigned index) override {
    if (index != 0) return run_one();
    tasks.push();
    tasks.push();
    idle.notify(2);
  }
};

// Two makers: a task, a notification ‖ worker: two tasks, one after the other.
struct two_makers final : workers_and_makers<atomics> {
  void thread(unsigned index) override {
    if (index != 2) return make_one();
    run_one();
    run_one();
  }
};

// A thread notifies, without a task of its own ‖ maker: twice a task and a notification ‖ worker: both tasks, one after
// the other.
struct beside_a_slow_one final : workers_and_makers<atomics> {
  void thread(unsigned index) override {
    if (index == 0) return idle.notify_one();
    for (int i = 0; i != 2; ++i) index == 1 ? make_one() : run_one();
  }
};

// Two workers sleep until the end ‖ the end: a flag, a notification of all.
struct the_end final : scenario {
  void thread(unsigned index) override {
    if (index == 0) {
      stopping.store(1, std::memory_order::relaxed);
      idle.notify_all();
    } else {
      idle.await([this] { return stopping.load(std::memory_order::relaxed) != 0; });
    }
  }
  eventcount_of<> idle;
  atomic<int> stopping{0};
};

// Maker: writes, notifies ‖ worker: sleeps without a look at any queue; a thread that was notified sees what was
// written before. (A worker that came too late to be notified cancels.)
template <class Atomics>
struct sees_the_news : scenario {
  void thread(unsigned index) override {
    if (index == 0) {
      if constexpr (std::is_same_v<Atomics, interrupt_atomics>) interrupts::point();
      news.set(1);
      said.store(1, std::memory_order::relaxed);
      idle.notify_one();
      return;
    }
    const auto mine = idle.prepare();
    if (said.load(std::memory_order::relaxed) != 0) return idle.cancel(mine);
    idle.wait(mine);
    require(news.get() == 1, "the woken thread does not see what it was woken for");
  }
  eventcount_of<Atomics> idle;
  atomic<int> said{0};
  cell<int> news{0};
};

// Maker: a task, a notification ‖ worker: sleeps for a time, and then as long as it takes ‖ the time passes.
struct for_a_time final : workers_and_makers<atomics> {
  void thread(unsigned index) override {
    if (index == 0) {
      make_one();
    } else if (index == 2) {
      clock.pass();
    } else {
      if (sleep_for_a_time()) require(tasks.has_work(), "a thread that was notified does not see the task");
      run_one();
    }
  }
};

// Maker: a task, a notification ‖ worker: sleeps for a time; if it was notified, it runs the task, otherwise it leaves
// ‖ another worker: runs the task, if the first one has not ‖ the time passes.
struct one_leaves final : workers_and_makers<atomics> {
  void thread(unsigned index) override {
    if (index == 0) {
      make_one();
    } else if (index == 1) {
      if (sleep_for_a_time()) take();
    } else if (index == 2) {
      idle.await([this] { return tasks.has_work() || taken.load(std::memory_order::relaxed) != 0; });
      take();
    } else {
      clock.pass();
    }
  }
  void take() {
    if (!tasks.take()) return;
    taken.store(1, std::memory_order::relaxed);
    idle.notify_all();
  }
  atomic<int> taken{0};
};

// Owner: pushes into a ring, notifies ‖ worker: sleeps until the ring has work, steals it.
struct with_a_ring final : scenario {
  void thread(unsigned index) override {
    if (index == 0) {
      auto owner = ring.make_owner();
      require(owner.push(tasks.make(1)), "a push failed although there was room");
      idle.notify_one();
    } else {
      const auto thief = ring.make_thief();
      idle.await([&] { return thief.has_work(); });
      const auto loot = thief.steal();
      require(static_cast<bool>(loot), "the only thief stole nothing although there is work");
      tasks.run(loot.value);
    }
  }
  void finish() override { tasks.require_all_ran(); }

  eventcount_of<> idle;
  basic_ring<task*, 2, std::uint64_t, atomics> ring;
  task_set<1> tasks;
};

// The maker, thread 0, makes light fences; the workers, which go to sleep, interrupt it.
struct by_interrupt : workers_and_makers<interrupt_atomics> {
  void thread(unsigned index) override {
    if (index == 0) {
      interrupts::point();
      make_one();
    } else {
      run_one();
    }
  }
};

const bool added[] = {
    add_case<one_worker>({
        .name = "eventcount/one_worker",
        .property = "a thread that sleeps, or is about to, wakes when there is a task",
        .threads = 2,
        .mutants = {{"prepare_acq_rel", "eventcount.prepare", std::memory_order::acq_rel},
                    {"notify_acq_rel", "eventcount.notify", std::memory_order::acq_rel}},
        .kept_for = "the smallest program",
    }),
    add_case<two_workers>({
        .name = "eventcount/two_workers",
        .property = "two tasks and two notifications: both of two workers get a task",
        .threads = 3,
        .kept_for = "two threads that fall asleep",
    }),
    add_case<a_batch>({
        .name = "eventcount/a_batch",
        .property = "two tasks and one notification of two: both of two workers get a task",
        .threads = 3,
        .kept_for = "a notification of several threads",
    }),
    add_case<two_makers>({
        .name = "eventcount/two_makers",
        .property = "a worker that sleeps twice wakes for both of two makers",
        .threads = 3,
        .kept_for = "two notifications at the same time",
    }),
    add_case<beside_a_slow_one>({
        .name = "eventcount/beside_a_slow_one",
        .property = "a worker that sleeps twice wakes for both tasks, also beside a notification that takes long",
        .threads = 3,
    }),
    add_case<the_end>({
        .name = "eventcount/the_end",
        .property = "notify_all() wakes all that sleep or are about to",
        .threads = 3,
        .kept_for = "a notification of all threads",
    }),
    add_case<sees_the_news<atomics>>({
        .name = "eventcount/sees_the_news",
        .property = "what happened before a notification happens before the return of the wait that it ends",
        .threads = 2,
        .mutants = {{"look_relaxed", "eventcount.look", std::memory_order::relaxed}},
        .kept_for = "the fences of the language",
    }),
    add_case<for_a_time>({
        .name = "eventcount/for_a_time",
        .property = "a thread whose time limit is over and that waits again wakes when there is a task",
        .threads = 3,
    }),
    add_case<one_leaves>({
        .name = "eventcount/one_leaves",
        .property = "a thread whose time limit is over takes no wake-up from another one",
        .threads = 4,
        .kept_for = "a time limit beside another sleeper",
    }),
    add_case<with_a_ring>({
        .name = "eventcount/with_a_ring",
        .property = "a thief that sleeps until a ring has work is woken by its owner, and steals the task",
        .threads = 2,
        .kept_for = "a shipped queue",
    }),
    add_case<interrupted<by_interrupt, 2>>({
        .name = "eventcount/interrupt_one_worker",
        .property = "a thread that sleeps, or is about to, wakes when there is a task; fences by interrupt",
        .threads = 2,
        .kept_for = "membarrier_atomics",
    }),
    add_case<interrupted<sees_the_news<interrupt_atomics>, 2>>({
        .name = "eventcount/interrupt_sees_the_news",
        .property = "what happened before a notification happens before the return of the wait that it ends, although "
                    "the light fence is nothing; fences by interrupt",
        .threads = 2,
        .mutants = {{"advance_relaxed", "eventcount.advance", std::memory_order::relaxed}},
        .kept_for = "membarrier_atomics",
    }),
};

}  // namespace
}  // namespace runq::model
