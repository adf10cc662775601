// SPDX-License-Identifier: MIT
// A peer in the queue benchmark: oneTBB's concurrent_queue, unbounded, for many threads at both ends.
#include <cstddef>
#include <optional>

#include <oneapi/tbb/concurrent_queue.h>

#include "../queue_rows.hpp"
#include "../support.hpp"

namespace {

using runq_bench::item;
using runq_bench::tally;

struct local {
  [[nodiscard]] bool push(item value) {
    queue.push(value);
    return true;
  }
  [[nodiscard]] std::optional<item> pop() {
    item value = 0;
    return queue.try_pop(value) ? std::optional<item>(value) : std::nullopt;
  }
  class thief {
   public:
    explicit thief(local& victim) : victim_(victim) {}
    std::size_t steal(tally& loot) {
      const std::optional<item> value = victim_.pop();
      if (value) loot.add(*value);
      return value ? 1 : 0;
    }

   private:
    local& victim_;
  };

  oneapi::tbb::concurrent_queue<item> queue;
};

struct global {
  struct node {
    item id = 0;
  };
  void put(node* first, std::size_t count, std::size_t /*batch*/) {
    for (std::size_t i = 0; i != count; ++i) queue.push(first + i);
  }
  [[nodiscard]] tally take(std::size_t /*batch*/) {
    tally got;
    if (node* n = nullptr; queue.try_pop(n)) got.add(n->id);
    return got;
  }

  oneapi::tbb::concurrent_queue<node*> queue;
};

}  // namespace

int main(int argc, char** argv) {
  runq_bench::add_owner_rows<local>("tbb_queue");
  runq_bench::add_global_rows<global>("tbb_queue", false);
  return runq_bench::run(argc, argv);
}
