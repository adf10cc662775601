// SPDX-License-Identifier: MIT
// S19: the block-based work stealing queue BWoS (J. Wang et al., OSDI 2023) in its LIFO form.
//
// Source: stdexec#1752, #1755, #1967. Blocks of slots in a circle. The owner pushes and pops in its own block; when
// that is full, it grants the block to the thieves and goes to the next; when that is empty, it takes the previous
// block back. All thieves work on one block; when that is exhausted, they go to the next granted one. Left out here:
// the owner that takes back the thieves' block does not move the thieves back by one. Blocks have one slot.
//
// corpus/S19_block_skipped: a block's `stolen_to` stands at its end when everything in it has been claimed, and also
// while it belongs to the owner.
//   1. block 1 granted, with task 1, block 2 the owner's; thief: block 0 is exhausted, block 1 granted
//   2. owner: takes block 1 back and pops task 1
//   3. thief: moves the thieves' block to 1; reads stolen_to of block 1: at its end, so block 1 is exhausted
//   4. owner: push 2 fills block 1; push 3: grants it; push 4: grants block 2
//   5. thief: block 2 is granted: moves on to it; task 2 in block 1 is behind the thieves, and the owner finds block 2
//      empty on its way back and looks no further
// Fix: a block is exhausted only when all its elements have been stolen; a counter of its own tells that.
//
// corpus/S19_no_round_tag: the thieves' block is kept as an index, without the round in which the block is used.
//   1. thief: block 0 is exhausted, block 1 granted; is about to move the thieves' block from 0 to 1
//   2. others steal tasks 1 and 2; the owner pushes all around the circle; the others move on to block 2 and to
//      block 0, which holds task 3 by now
//   3. thief: moves the thieves' block from 0 to 1: the block is the same, the round is not; task 3 is left behind
// Fix: the thieves' block is a counter that does not come back.
//
// corpus/S19_relaxed_claim: a thief claims, and reads where a block begins and ends, without acquire.
//   1. thief: reads stolen_to = 0 of block 1
//   2. owner: takes block 1 back, pops task 1, push 2 into the same slot, push 3: grants block 1 again: stolen_to = 0
//   3. thief: reads the old end of the block, which was 1 as well; its claim 0 → 1 succeeds; nothing makes the owner's
//      write of the slot happen before its read
// Fix: acquire in the claim, which pairs with the grant.
// Caught by: exact, all three; Relacy, all three, bounded with one or two pre-emptions; its random search finds only
// relaxed_claim in 200,000 executions.
#include <array>
#include <cstdint>

#include "corpus.hpp"
#include "waiting.hpp"

namespace runq::model::corpus {
namespace {

/// The defaults are correct; each seeded bug changes one of them.
struct bwos_traits {
  bool exhausted_by_count = true;
  bool round_tag = true;
  std::memory_order claim = acquire;
};

template <bwos_traits Traits, unsigned Blocks>
class bwos {
 public:
  /// Block 0 is exhausted, block 1 is granted and holds `first`, block 2 is the owner's and empty.
  explicit bwos(task* first) {
    blocks_[0].end.store(block_size, relaxed);
    blocks_[0].stolen.store(block_size, relaxed);
    blocks_[1].put(first);
    blocks_[1].grant();
  }

  // For the owner only.
  /// Returns false when the circle is full.
  bool push(task* t) {
    block* mine = &at(owner_);
    if (mine->end.load(relaxed) == block_size) {
      block& next = at(owner_ + 1);
      if (index(thief_.load(acquire)) == index(owner_ + 1)) return false;
      if (next.stolen_to.load(relaxed) != block_size) return false;
      mine->grant();
      next.reclaim();
      ++owner_;
      mine = &next;
    }
    mine->put(t);
    return true;
  }
  task* pop() {
    for (;;) {
      block& mine = at(owner_);
      if (mine.end.load(relaxed) != mine.begin) return mine.get();
      if (!at(owner_ - 1).take_back()) return nullptr;
      --owner_;
    }
  }

  // For a thief.
  task* steal() {
    for (;;) {
      unsigned thief = thief_.load(acquire);
      block& b = at(thief);
      while (!b.exhausted()) {
        unsigned from = b.stolen_to.load(Traits.claim);
        if (from == block_size || from == b.end.load(acquire)) return nullptr;
        if (!b.stolen_to.compare_exchange_strong(from, from + 1, Traits.claim, relaxed)) continue;
        task* const t = b.slots[from].get();
        b.stolen.fetch_add(1, release);
        return t;
      }
      const unsigned next = Traits.round_tag ? thief + 1 : index(thief + 1);
      if (at(next).stolen_to.load(acquire) != block_size) {
        thief_.compare_exchange_strong(thief, next, acq_rel, relaxed);
      } else if (thief_.load(relaxed) == thief) {
        return nullptr;
      }
    }
  }

 private:
  static constexpr unsigned block_size = 1;

  struct block {
    void put(task* t) {
      const unsigned e = end.load(relaxed);
      slots[e].set(t);
      end.store(e + 1, release);
    }
    task* get() {
      const unsigned e = end.load(relaxed) - 1;
      task* const t = slots[e].get();
      end.store(e, release);
      return t;
    }
    /// Lets thieves steal what the owner still has in the block.
    void grant() {
      const unsigned from = begin;
      begin = block_size;
      stolen_to.store(from, release);
    }
    /// Takes back the elements that no thief has claimed. Returns whether there are any.
    bool take_back() {
      const unsigned from = stolen_to.exchange(block_size, relaxed);
      if (from != block_size) begin = from;
      return begin != end.load(relaxed);
    }
    /// Makes an exhausted block an empty one of the owner's. Waits for thieves that still read what they claimed.
    void reclaim() {
      await([this] { return stolen.load(acquire) == end.load(relaxed); });
      begin = 0;
      end.store(0, relaxed);
      stolen.store(0, relaxed);
    }
    /// Whether the thieves are done with the block.
    bool exhausted() {
      return (Traits.exhausted_by_count ? stolen.load(acquire) : stolen_to.load(acquire)) == block_size;
    }

    unsigned begin = 0;                      ///< owner only: its elements are begin … end-1
    atomic<unsigned> end{0};                 ///< written by the owner only
    atomic<unsigned> stolen_to{block_size};  ///< at block_size nothing can be claimed
    atomic<unsigned> stolen{0};              ///< elements that thieves have claimed and read
    std::array<cell<task*>, block_size> slots;
  };

  [[nodiscard]] static unsigned index(unsigned counter) { return counter % Blocks; }
  [[nodiscard]] block& at(unsigned counter) { return blocks_[index(counter)]; }

  std::array<block, Blocks> blocks_;
  unsigned owner_ = 2;  ///< owner only: counts the blocks
  atomic<unsigned> thief_{0};
};

template <bwos_traits Traits, unsigned Blocks, int Tasks>
struct bwos_program : scenario {
  void finish() override {
    for (;;) {
      task* t = queue.steal();
      if (t == nullptr) t = queue.pop();
      if (t == nullptr) break;
      tasks.run(t);
    }
    tasks.require_all_ran();
  }
  void push(int id) {
    task* const t = tasks.make(id);
    if (!queue.push(t)) tasks.run(t);
  }
  void run(task* t) {
    if (t != nullptr) tasks.run(t);
  }

  task_set<Tasks> tasks;
  bwos<Traits, Blocks> queue{tasks.make(1)};
};

// Four blocks, task 1 in the granted one. Owner: pop push push push ‖ thief: steal.
template <bwos_traits Traits>
struct taken_back final : bwos_program<Traits, 4, 4> {
  void thread(unsigned index) override {
    if (index == 0) {
      this->run(this->queue.pop());
      for (int id = 2; id <= 4; ++id) this->push(id);
    } else {
      this->run(this->queue.steal());
    }
  }
};

// Three blocks, task 1 in the granted one, task 2 in the owner's. The owner and the other thieves, in one thread to
// keep the program small: steal push steal push steal push ‖ thief: steal.
template <bwos_traits Traits>
struct round_and_round final : bwos_program<Traits, 3, 5> {
  round_and_round() { this->push(2); }
  void thread(unsigned index) override {
    if (index == 0) {
      for (int id = 3; id <= 5; ++id) {
        this->run(this->queue.steal());
        this->push(id);
      }
    } else {
      this->run(this->queue.steal());
    }
  }
};

const bool added[] = {
    add_case<taken_back<bwos_traits{.exhausted_by_count = false}>>({
        .name = "corpus/S19_block_skipped",
        .property = "thieves do not skip a block that the owner takes back and grants again: tppp ‖ steal",
        .threads = 2,
        .seeded_bug = true,
    }),
    add_case<taken_back<bwos_traits{.claim = relaxed}>>({
        .name = "corpus/S19_relaxed_claim",
        .property = "a thief sees the elements of a block that the owner takes back and grants again: tppp ‖ steal",
        .threads = 2,
        .seeded_bug = true,
    }),
    add_case<taken_back<bwos_traits{}>>({
        .name = "corpus/S19_fixed_taken_back",
        .property = "a block that is taken back and granted again is neither skipped nor read too early: tppp ‖ steal",
        .threads = 2,
    }),
    add_case<round_and_round<bwos_traits{.round_tag = false}>>({
        .name = "corpus/S19_no_round_tag",
        .property = "a thief that slept while all blocks were used once does not skip one: spspsp ‖ steal",
        .threads = 2,
        .seeded_bug = true,
    }),
    add_case<round_and_round<bwos_traits{}>>({
        .name = "corpus/S19_fixed_round_tag",
        .property = "a thief that slept while all blocks were used once does not skip one: spspsp ‖ steal",
        .threads = 2,
    }),
};

}  // namespace
}  // namespace runq::model::corpus
