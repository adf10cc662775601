// SPDX-License-Identifier: MIT
// Finding boost-free-list: the free list of Boost.Lockfree's stack (1.74, boost/lockfree/detail/freelist.hpp and
// stack.hpp). `next` is plain memory; while a node is free it is the link of the free list, and later that of the
// stack.
//
//   1. T0, T1: read the head of the free list, which is the same node for both
//   2. T0: takes the node, and writes its link in the stack
//   3. T1: reads the link of the same node, to take it: nothing orders this read and that write
// Fix, in the port only: the link is a relaxed atomic.
// Caught by: exact (data race); Relacy.
#include <array>
#include <cstdint>

#include "ports.hpp"

namespace runq::model::field {
namespace {

template <bug Bug>
class link {
 public:
  [[nodiscard]] int get() const { return next_.load(relaxed); }
  void set(int node) { next_.store(node, relaxed); }

 private:
  atomic<int> next_{0};
};
template <>
class link<bug::seeded> {
 public:
  [[nodiscard]] int get() const { return next_.get(); }
  void set(int node) { next_.set(node); }

 private:
  cell<int> next_{0};
};

// Two free nodes, 1 and 2; 0 is the end of a list. A head is a node with a tag above it, as Boost's tagged pointer.
// Each of two threads pushes a node.
template <bug Bug>
struct free_list final : scenario {
  free_list() { nodes[2].set(1); }
  void thread(unsigned) override {
    const std::uint32_t node = take_free();
    std::uint32_t top = stack.load(relaxed);
    do {
      nodes[node].set(static_cast<int>(top & node_mask));
    } while (!stack.compare_exchange_weak(top, node | (top & ~node_mask), seq_cst, seq_cst));
  }
  std::uint32_t take_free() {
    std::uint32_t head = pool.load(acquire);  // consume, which compilers make acquire
    for (;;) {
      const auto next = static_cast<std::uint32_t>(nodes[head & node_mask].get());
      const std::uint32_t tag = (head & ~node_mask) + node_mask + 1;
      if (pool.compare_exchange_weak(head, next | tag, seq_cst, seq_cst)) return head & node_mask;
    }
  }
  static constexpr std::uint32_t node_mask = 0xff;

  std::array<link<Bug>, 3> nodes;
  atomic<std::uint32_t> pool{2};
  atomic<std::uint32_t> stack{0};
};

const bool added[] = {
    add_case<free_list<bug::seeded>>({
        .name = "field/boost_free_list",
        .property = "two threads push, and take their nodes from one free list: push ‖ push",
        .threads = 2,
        .seeded_bug = true,
    }),
    add_case<free_list<bug::fixed>>({
        .name = "field/fixed_boost_free_list",
        .property = "two threads push, and take their nodes from one free list: push ‖ push",
        .threads = 2,
    }),
};

}  // namespace
}  // namespace runq::model::field
