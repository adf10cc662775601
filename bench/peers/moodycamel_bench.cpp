// SPDX-License-Identifier: MIT
// A peer in the queue benchmark: moodycamel's ConcurrentQueue with tokens; the thief takes one, or up to 128 at once.
#include <array>
#include <cstddef>
#include <optional>

#include <concurrentqueue.h>

#include "../queue_rows.hpp"
#include "../support.hpp"

namespace {

using runq_bench::item;
using runq_bench::tally;

template <std::size_t Most>
struct local {
  [[nodiscard]] bool push(item value) { return queue.enqueue(producer, value); }
  [[nodiscard]] std::optional<item> pop() {
    item value = 0;
    return queue.try_dequeue(consumer, value) ? std::optional<item>(value) : std::nullopt;
  }
  class thief {
   public:
    explicit thief(local& victim) : victim_(victim) {}
    std::size_t steal(tally& loot) {
      const std::size_t n = victim_.queue.try_dequeue_bulk(token_, some_.begin(), Most);
      for (std::size_t i = 0; i != n; ++i) loot.add(some_[i]);
      return n;
    }

   private:
    local& victim_;
    moodycamel::ConsumerToken token_{victim_.queue};
    std::array<item, Most> some_{};
  };

  moodycamel::ConcurrentQueue<item> queue{512};
  moodycamel::ProducerToken producer{queue};
  moodycamel::ConsumerToken consumer{queue};
};

struct global {
  struct node {
    item id = 0;
  };
  void put(node* first, std::size_t count, std::size_t batch) {
    const moodycamel::ProducerToken token(queue);
    std::array<node*, 128> some{};
    for (std::size_t i = 0; i != count; i += batch) {
      if (batch == 1) {
        static_cast<void>(queue.enqueue(token, first + i));
        continue;
      }
      for (std::size_t k = 0; k != batch; ++k) some[k] = first + i + k;
      static_cast<void>(queue.enqueue_bulk(token, some.begin(), batch));
    }
  }
  [[nodiscard]] tally take(std::size_t batch) {
    tally got;
    if (batch == 1) {
      if (node* n = nullptr; queue.try_dequeue(consumer, n)) got.add(n->id);
      return got;
    }
    std::array<node*, 128> some{};
    const std::size_t n = queue.try_dequeue_bulk(consumer, some.begin(), batch);
    for (std::size_t i = 0; i != n; ++i) got.add(some[i]->id);
    return got;
  }

  moodycamel::ConcurrentQueue<node*> queue{16384};
  moodycamel::ConsumerToken consumer{queue};
};

}  // namespace

int main(int argc, char** argv) {
  runq_bench::add_owner_rows<local<1>>("moodycamel");
  runq_bench::add_owner_rows<local<128>>("moodycamel_bulk");
  runq_bench::add_global_rows<global>("moodycamel");
  return runq_bench::run(argc, argv);
}
