// SPDX-License-Identifier: MIT
// A peer in the queue benchmark: Concurrency Kit's ring for one producer and many consumers. It has no deque.
#include <array>
#include <cstddef>
#include <optional>

extern "C" {
// A header for C: in C++ its `return false` is no null pointer.
#define false 0
#include <ck_ring.h>
#undef false
}

#include "../queue_rows.hpp"
#include "../support.hpp"

namespace {

using runq_bench::item;
using runq_bench::tally;

struct spmc_ring {
  spmc_ring() { ck_ring_init(&ring, static_cast<unsigned>(slots.size())); }

  [[nodiscard]] bool push(item value) {
    // NOLINTNEXTLINE(performance-no-int-to-ptr)
    return ck_ring_enqueue_spmc(&ring, slots.data(), reinterpret_cast<void*>(value));
  }
  [[nodiscard]] std::optional<item> pop() {
    void* value = nullptr;
    if (!ck_ring_dequeue_spmc(&ring, slots.data(), &value)) return std::nullopt;
    return reinterpret_cast<item>(value);
  }
  class thief {
   public:
    explicit thief(spmc_ring& victim) : victim_(victim) {}
    std::size_t steal(tally& loot) {
      const std::optional<item> value = victim_.pop();
      if (value) loot.add(*value);
      return value ? 1 : 0;
    }

   private:
    spmc_ring& victim_;
  };

  ck_ring_t ring{};
  std::array<ck_ring_buffer_t, 512> slots{};  // one is always empty, so 256 would hold 255
};

}  // namespace

int main(int argc, char** argv) {
  runq_bench::add_owner_rows<spmc_ring>("ck_ring_spmc");
  return runq_bench::run(argc, argv);
}
