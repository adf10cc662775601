// SPDX-License-Identifier: MIT
// An owner and threads that share barriers of the process, which are interrupts (interrupt.hpp): what
// membarrier_atomics::heavy_fence() does.
#include <array>
#include <cstdint>

#include "interrupt.hpp"
#include "runq/shared_barrier.hpp"
#include "scenario.hpp"

namespace runq::model {
namespace {

/// Dekker's program, as the owner and the thieves of a split queue have it: the owner (thread 0) reserves an element,
/// makes a light fence and looks whether somebody asks for it; a thief asks, passes a barrier and looks whether the
/// element is reserved. At least one of the two sees the other. A thief asks before the last of its `Rounds` barriers.
/// The `Others` are threads that pass a barrier of their own.
template <unsigned Thieves, unsigned Patience, unsigned Rounds = 1, unsigned Others = 0>
class asked : public scenario {
 public:
  asked() : reserved(0U) {}
  void thread(unsigned index) override {
    if (index == 0) return own();
    if (index > Thieves) return pass();
    for (unsigned round = 1; round != Rounds; ++round) pass();
    steal(index - 1);
  }
  void finish() override {
    for (unsigned i = 0; i != Thieves; ++i) {
      require(seen_by_owner[i].get() != 0 || seen_by_thief[i].get() != 0,
              "neither the owner nor the thief has seen the other");
    }
  }

 private:
  void own() {
    reserved.store(1U, std::memory_order::relaxed);
    interrupt_atomics::light_fence(std::memory_order::seq_cst);
    for (unsigned i = 0; i != Thieves; ++i) seen_by_owner[i].set(asks[i].at.load(std::memory_order::relaxed));
  }
  void steal(unsigned i) {
    asks[i].at.store(1U, std::memory_order::relaxed);
    pass();
    seen_by_thief[i].set(reserved.load(std::memory_order::relaxed));
  }
  void pass() {
    barrier.pass([] { interrupt_atomics::heavy_fence(std::memory_order::seq_cst); });
  }

  struct word {
    interrupt_atomics::atomic<unsigned> at{0U};
  };
  shared_barrier<interrupt_atomics, Patience> barrier;
  interrupt_atomics::atomic<unsigned> reserved;
  std::array<word, Thieves> asks;
  std::array<cell<unsigned>, Thieves> seen_by_owner;
  std::array<cell<unsigned>, Thieves> seen_by_thief;
};

const bool added[] = {
    add_case<interrupted<asked<1, 1>, 2>>({
        .name = "shared_barrier/interrupt_one_thief",
        .property = "owner and thief never both miss the other; the barrier is the thief's own",
        .threads = 2,
        .kept_for = "the smallest program",
    }),
    add_case<interrupted<asked<2, 2>, 3>>({
        .name = "shared_barrier/interrupt_two_thieves",
        .property = "owner and thief never both miss the other, whoever of two thieves has made the barrier",
        .threads = 3,
        .kept_for = "the smallest program with a barrier of another thread",
    }),
    add_case<interrupted<asked<2, 1, 2>, 3>>({
        .name = "shared_barrier/interrupt_two_thieves_again",
        .property = "likewise, for the second barrier that each of two thieves asks for",
        .threads = 3,
        .kept_for = "several barriers of one thread",
    }),
    add_case<interrupted<asked<1, 1, 1, 2>, 4>>({
        .name = "shared_barrier/interrupt_a_thief_and_two_others",
        .property = "likewise, for a thief beside two threads that make and share barriers, too",
        .threads = 4,
        .kept_for = "a barrier that serves two threads at once",
    }),
};

}  // namespace
}  // namespace runq::model
