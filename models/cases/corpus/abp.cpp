// SPDX-License-Identifier: MIT
// S8: the deque of Arora, Blumofe and Plaxton (SPAA 1998) whose thief reads `age` and `bot` without any order between
// them.
//
// Source: ParlayANN#44: two relaxed loads in pop_top of parlaylib's deque; jobs executed twice on 64-bit ARM.
//
//   1. jobs 1 and 2 inside (slots 0 and 1): bot = 2, age.top = 0
//   2. thief: its load of bot is performed early: 2
//   3. owner: pop_bottom: bot = 1, fence, reads age.top = 0 < 1, so job 2 is not the last: takes it without a claim
//   4. another pop_top takes job 1: age.top = 1
//   5. thief: reads age.top = 1 < 2: claims slot 1, job 2, which the owner has taken
// Fix: as in Chase-Lev, a seq_cst fence between the reads of age and bot: corpus/S08_fixed_abp_fence.
// parlaylib's fix, acquire loads without a fence, may be enough on a given machine. In C++20 it is not, as
// corpus/S08_abp_acquire shows: the owner did not see the claim of step 4, so its fence comes before that claim. But no
// fence stands between the claim and the load of bot, so the load may be older than the owner's fence.
// Caught by: exact, both; Relacy, both, bounded and random.
#include <array>
#include <cstdint>

#include "corpus.hpp"

namespace runq::model::corpus {
namespace {

enum class thief_order : unsigned char { fence, acquire_only, none };

template <thief_order Order>
class abp_deque {
 public:
  // For the owner only.
  void push_bottom(task* t) {
    const std::uint32_t b = bot_.load(relaxed);
    slots_[b].store(t, release);
    bot_.store(b + 1, release);
    atomics::fence(seq_cst);
  }
  task* pop_bottom() {
    std::uint32_t b = bot_.load(relaxed);
    if (b == 0) return nullptr;
    --b;
    bot_.store(b, release);
    atomics::fence(seq_cst);
    task* const t = slots_[b].load(relaxed);
    age old = age_.load(acquire);
    if (b > old.top) return t;
    bot_.store(0, release);
    const age fresh{old.tag + 1, 0};
    const bool last = b == old.top && age_.compare_exchange_strong(old, fresh, seq_cst, relaxed);
    if (!last) age_.store(fresh, release);
    atomics::fence(seq_cst);
    return last ? t : nullptr;
  }

  // For a thief: one attempt.
  task* pop_top() {
    constexpr std::memory_order order = Order == thief_order::none ? relaxed : acquire;
    age old = age_.load(order);
    if (Order == thief_order::fence) atomics::fence(seq_cst);
    const std::uint32_t b = bot_.load(order);
    if (b <= old.top) return nullptr;
    task* const t = slots_[old.top].load(order);
    const age next{old.tag, old.top + 1};
    return age_.compare_exchange_strong(old, next, seq_cst, relaxed) ? t : nullptr;
  }

 private:
  /// The tag changes whenever the owner starts again at slot 0.
  struct age {
    std::uint32_t tag;
    std::uint32_t top;
  };

  atomic<std::uint32_t> bot_{0};
  atomic<age> age_{age{0, 0}};
  std::array<atomic<task*>, 4> slots_;
};

// Two tasks inside. Owner: pop_bottom ‖ thief: pop_top pop_top.
template <thief_order Order>
struct abp final : scenario {
  abp() {
    deque.push_bottom(tasks.make(1));
    deque.push_bottom(tasks.make(2));
  }
  void thread(unsigned index) override {
    if (index == 0) {
      run(deque.pop_bottom());
    } else {
      run(deque.pop_top());
      run(deque.pop_top());
    }
  }
  void finish() override {
    while (task* const t = deque.pop_bottom()) tasks.run(t);
    tasks.require_all_ran();
  }
  void run(task* t) {
    if (t != nullptr) tasks.run(t);
  }

  task_set<2> tasks;
  abp_deque<Order> deque;
};

const bool added[] = {
    add_case<abp<thief_order::none>>({
        .name = "corpus/S08_abp_relaxed",
        .property = "owner and thief never take the same task of an ABP deque: t ‖ steal steal",
        .threads = 2,
        .seeded_bug = true,
    }),
    add_case<abp<thief_order::acquire_only>>({
        .name = "corpus/S08_abp_acquire",
        .property = "with acquire loads owner and thief take the same task of an ABP deque: t ‖ steal steal",
        .threads = 2,
        .seeded_bug = true,
    }),
    add_case<abp<thief_order::fence>>({
        .name = "corpus/S08_fixed_abp_fence",
        .property = "owner and thief never take the same task of an ABP deque: t ‖ steal steal",
        .threads = 2,
    }),
};

}  // namespace
}  // namespace runq::model::corpus
