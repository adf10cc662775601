// SPDX-License-Identifier: MIT
// A task is destroyed while it sleeps, because its run has ended, or removes its timer, while a machine fires the
// timer.
#include <array>
#include <cstddef>

#include "runq/protocol/timer_heap.hpp"
#include "scenario.hpp"
#include "waiting.hpp"
#include "waking_policy.hpp"

namespace runq::model {
namespace {

/// A vector with room for a few elements, which lie in the scenario itself: models do not allocate by std::vector.
template <class T>
class short_list {
 public:
  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] T& operator[](std::size_t i) { return items_[i]; }
  [[nodiscard]] T& back() { return items_[size_ - 1]; }
  void push_back(T item) {
    require(size_ != items_.size(), "more timers are in the heap than the model has");
    items_[size_++] = item;
  }
  void pop_back() { --size_; }

 private:
  std::array<T, 4> items_{};
  std::size_t size_ = 0;
};

using heap_type = timer_heap<atomics, short_list>;
using instant = heap_type::instant;
constexpr instant never = heap_type::never;

/// What is left of a task when its frame is destroyed, like production's strand: another task soon uses it.
struct strand {
  atomic<int> woken{0};
  cell<int> task{1};
};

/// The frame of a task that sleeps, as sleep_awaiter does.
struct sleeper : heap_type::node {
  sleeper(heap_type& in, strand& task, instant due) : who(task) {
    when = due;
    fire = [](heap_type::node& n, instant) {
      strand& woken = static_cast<sleeper&>(n).who;
      require(woken.task.get() == 1, "a timer woke a task that it does not belong to");
      require(woken.woken.exchange(1, std::memory_order::release) == 0, "a task was woken twice");
      return never;
    };
    in.add(*this);
  }
  void end(heap_type& in) {
    strand& task = who;
    (void)in.remove(*this);
    destroy_frame(*this);
    task.task.set(2);
  }
  strand& who;
};

// Several tasks sleep. The first of them ends, and its strand is used again ‖ machines fire what is due.
template <unsigned Machines, std::size_t Sleepers>
struct sleeper_ends final : scenario {
  sleeper_ends() {
    for (std::size_t i = 0; i != Sleepers; ++i) frames[i] = &make_frame<sleeper>(heap, tasks[i], instant{1});
  }
  void thread(unsigned index) override {
    if (index == 0) {
      frames[0]->end(heap);
    } else {
      (void)heap.fire_due(1);
    }
  }
  void finish() override {
    require(heap.size() == 0 && heap.earliest() == never,
            "a task that has ended still has a timer, or one that was due");
    for (std::size_t i = 1; i != Sleepers; ++i) {
      require(tasks[i].woken.load(std::memory_order::relaxed) == 1, "a task that was due sleeps on");
      destroy_frame(*frames[i]);
    }
  }

  heap_type heap;
  strand tasks[Sleepers];
  sleeper* frames[Sleepers];
};

// One task sleeps. A machine fires it ‖ another runs the task that was woken, to its end.
struct sleeper_goes_on final : scenario {
  void thread(unsigned index) override {
    if (index == 0) {
      (void)heap.fire_due(1);
    } else {
      await([this] { return task.woken.load(std::memory_order::acquire) == 1; });
      destroy_frame(frame);
    }
  }
  void finish() override { require(heap.size() == 0, "a task that has ended still has a timer"); }

  heap_type heap;
  strand task;
  sleeper& frame = make_frame<sleeper>(heap, task, instant{1});
};

// One task sleeps. A machine fires it ‖ another sees that no timer is left: then it sees the task that is runnable.
struct sees_no_timer_left final : scenario {
  void thread(unsigned index) override {
    if (index == 0) {
      (void)heap.fire_due(1);
    } else if (heap.earliest() == never) {
      require(task.woken.load(std::memory_order::relaxed) == 1,
              "no timer is left, and the task that it has woken is not seen");
    }
  }
  void finish() override { destroy_frame(frame); }

  heap_type heap;
  strand task;
  sleeper& frame = make_frame<sleeper>(heap, task, instant{1});
};

/// A ticker: fires again and again until it is removed.
struct ticking : heap_type::node {
  explicit ticking(heap_type& in) {
    when = 1;
    fire = [](heap_type::node& n, instant now) {
      auto& self = static_cast<ticking&>(n);
      self.ticks.set(self.ticks.get() + 1);
      return now + 1;
    };
    in.add(*this);
  }
  cell<int> ticks{0};
};

// A ticker. A task removes it and ends ‖ a machine fires it, twice.
struct ticker_ends final : scenario {
  void thread(unsigned index) override {
    if (index == 0) {
      require(heap.remove(frame), "a ticker was not pending");
      destroy_frame(frame);
    } else {
      (void)heap.fire_due(1);
      (void)heap.fire_due(2);
    }
  }
  void finish() override { require(heap.size() == 0, "a ticker that was removed fires"); }

  heap_type heap;
  ticking& frame = make_frame<ticking>(heap);
};

/// A timer that fires once.
struct one_shot : heap_type::node {
  one_shot() {
    fire = [](heap_type::node& n, instant) {
      auto& self = static_cast<one_shot&>(n);
      self.fired.set(self.fired.get() + 1);
      self.forget_heap();
      return never;
    };
  }
  cell<int> fired{0};
};

// A timer. A task removes it and adds it again, whether it has fired or not ‖ a machine fires it.
struct fired_vs_reset final : scenario {
  fired_vs_reset() { set(1); }
  void thread(unsigned index) override {
    if (index == 0) {
      pending = heap_type::withdraw(timer);
      require(timer.fired.get() == (pending ? 0 : 1),
              "a timer that was taken back has fired, or one that fired was pending");
      timer.fired.set(0);
      set(2);
    } else {
      (void)heap.fire_due(1);
    }
  }
  void finish() override {
    require(heap.size() == 1 && timer.fired.get() == 0, "a timer that was added again has fired already");
    require(heap.fire_due(2) == 1 && timer.fired.get() == 1, "a timer that was added again does not fire");
    require(!heap_type::withdraw(timer), "a timer that has fired is pending");
  }
  void set(instant when) {
    timer.when = when;
    heap.add(timer);
  }

  heap_type heap;
  one_shot timer;
  bool pending = false;
};

const bool added[] = {
    add_case<sleeper_ends<1, 1>>({
        .name = "timer_heap/sleeper_ends",
        .property =
            "a task that ends while it sleeps is not woken by its timer, or the timer has fired completely: end ‖ fire",
        .threads = 2,
        .kept_for = "a sleep ends",
    }),
    add_case<sleeper_ends<2, 3>>({
        .name = "timer_heap/sleeper_ends_beside_two",
        .property = "a task ends while it sleeps: its timer has fired or is removed, and the others fire once: end ‖ "
                    "fire ‖ fire",
        .threads = 3,
    }),
    add_case<sleeper_goes_on>({
        .name = "timer_heap/sleeper_goes_on",
        .property = "the thread that fires a timer does not touch the task after waking it: fire ‖ the task ends",
        .threads = 2,
    }),
    add_case<sees_no_timer_left>({
        .name = "timer_heap/sees_no_timer_left",
        .property = "a thread that sees no timer left sees what the last one has done",
        .threads = 2,
        .mutants = {{"earliest_relaxed", "timer_heap.earliest", std::memory_order::relaxed},
                    {"publish_relaxed", "timer_heap.publish", std::memory_order::relaxed}},
    }),
    add_case<ticker_ends>({
        .name = "timer_heap/ticker_ends",
        .property = "a ticker that is removed was pending, and does not fire any more",
        .threads = 2,
        .kept_for = "a ticker is removed",
    }),
    add_case<fired_vs_reset>({
        .name = "timer_heap/fired_vs_reset",
        .property = "a timer that is reset was pending or has fired completely, and fires once more: reset ‖ fire",
        .threads = 2,
        .mutants = {{"forget_relaxed", "timer_heap.forget", std::memory_order::relaxed},
                    {"last_in_relaxed", "timer_heap.last_in", std::memory_order::relaxed}},
    }),
};

}  // namespace
}  // namespace runq::model
