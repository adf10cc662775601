// SPDX-License-Identifier: MIT
// Finding xenium-steal: the deque of xenium 0.0.2 (xenium/chase_work_stealing_deque.hpp), on an array that does not
// grow.
//
//   1. owner: push 1, push 2, pop → 2, pop → 1: the last by a relaxed compare-exchange, top = 1; bottom = 1
//   2. thief: sees top = 1 by a relaxed load, and bottom as it was after both pushes
//   3. thief: takes task 2, which the owner has had
// Fix: release for the compare-exchange, acquire for the thief's first load of top. Neither suffices alone.
// Caught by: exact (run twice); no search of Relacy's, in which a seq_cst load reads the newest value.
#include <array>
#include <cstddef>

#include "ports.hpp"

namespace runq::model::field {
namespace {

template <std::memory_order PopClaim, std::memory_order StealTop>
class deque {
 public:
  void push(task* item) {
    const std::size_t b = bottom_.load(relaxed);
    require(b - top_.load(relaxed) < slots_.size(), "limit reached: the port's array does not grow");
    slots_[b].store(item, relaxed);
    bottom_.store(b + 1, release);
  }
  task* pop() {
    std::size_t b = bottom_.load(relaxed);
    std::size_t t = top_.load(relaxed);
    if (b == t) return nullptr;
    --b;
    bottom_.store(b, seq_cst);
    task* const item = slots_[b].load(relaxed);
    t = top_.load(seq_cst);
    if (b > t) return item;
    if (b == t) {
      const bool mine = top_.compare_exchange_strong(t, t + 1, PopClaim, relaxed);
      bottom_.store(mine ? t + 1 : t, relaxed);
      return mine ? item : nullptr;
    }
    bottom_.store(t, relaxed);
    return nullptr;
  }
  task* steal() {
    std::size_t t = top_.load(StealTop);
    const std::size_t b = bottom_.load(seq_cst);
    if (static_cast<int>(b) - static_cast<int>(t) <= 0) return nullptr;
    task* const item = slots_[t].load(relaxed);
    return top_.compare_exchange_strong(t, t + 1, seq_cst, relaxed) ? item : nullptr;
  }

 private:
  std::array<atomic<task*>, 2> slots_{nullptr, nullptr};
  atomic<std::size_t> bottom_{0};
  atomic<std::size_t> top_{0};
};

// Owner: push push pop pop ‖ thief: steal.
template <std::memory_order PopClaim, std::memory_order StealTop>
struct steal_twice final : scenario {
  void thread(unsigned index) override {
    if (index == 0) {
      queue.push(tasks.make(1));
      queue.push(tasks.make(2));
      run(queue.pop());
      run(queue.pop());
    } else {
      run(queue.steal());
    }
  }
  void run(task* t) {
    if (t != nullptr) tasks.run(t);
  }
  void finish() override {
    while (task* const t = queue.pop()) tasks.run(t);
    tasks.require_all_ran();
  }

  task_set<2> tasks;
  deque<PopClaim, StealTop> queue;
};

constexpr const char* property = "each task is taken once: push push pop pop ‖ steal";
const bool added[] = {
    add_case<steal_twice<relaxed, relaxed>>({
        .name = "field/xenium_steal",
        .property = property,
        .threads = 2,
        .seeded_bug = true,
    }),
    add_case<steal_twice<release, relaxed>>({
        .name = "field/xenium_steal_release_alone",
        .property = property,
        .threads = 2,
        .seeded_bug = true,
    }),
    add_case<steal_twice<relaxed, acquire>>({
        .name = "field/xenium_steal_acquire_alone",
        .property = property,
        .threads = 2,
        .seeded_bug = true,
    }),
    add_case<steal_twice<release, acquire>>({
        .name = "field/fixed_xenium_steal",
        .property = property,
        .threads = 2,
    }),
};

}  // namespace
}  // namespace runq::model::field
