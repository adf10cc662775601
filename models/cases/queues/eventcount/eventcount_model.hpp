// SPDX-License-Identifier: MIT
// What the models of the eventcount share: where its threads sleep, the weakest queue, and workers and makers. Only a
// notification, or the clock if there is one, ends a sleep: so a lost wake-up is a deadlock.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>

#include "futex.hpp"
#include "oracle.hpp"
#include "runq/eventcount.hpp"
#include "scenario.hpp"
#include "waiting.hpp"

namespace runq::model {

/// futex(2) for up to three threads that sleep on one word: one lock covers a thread's look at the word and a waker's
/// search for those that sleep. Whoever came first is woken first. A wake-up alone says
/// nothing: the woken thread must read in the word what its waker has done.
class crowd {
 public:
  explicit crowd(const deadline_clock* clock = nullptr) : clock_(clock) {}

  template <class Word>
  void wait(Word& word, std::uint32_t value) {
    const std::size_t own = lie_down(word, value);
    if (own == none) return;
    await([&] { return beds_[own].woken.load(std::memory_order::relaxed) != 0; });
    get_up(own);
  }
  [[nodiscard]] static bool deadline(std::chrono::nanoseconds) { return true; }
  template <class Word>
  [[nodiscard]] bool wait_until(Word& word, std::uint32_t value, bool) {
    if (clock_->passed()) return false;
    const std::size_t own = lie_down(word, value);
    if (own == none) return true;
    await([&] { return beds_[own].woken.load(std::memory_order::relaxed) != 0 || clock_->passed(); });
    get_up(own);
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

// Maker: writes, notifies ‖ worker: sleeps without a look at any queue; a thread that was notified sees what was
// written before. (A worker that came too late to be notified cancels.)
template <class Atomics>
struct sees_the_news : scenario {
  void thread(unsigned index) override {
    if (index == 0) {
      begins();
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
  virtual void begins() {}

  eventcount_of<Atomics> idle;
  atomic<int> said{0};
  cell<int> news{0};
};

}  // namespace runq::model
