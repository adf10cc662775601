// SPDX-License-Identifier: MIT
// A peer in the queue benchmark: xenium's Chase-Lev deque and its bounded queue after Vyukov.
#include <cstddef>
#include <optional>

#include <xenium/chase_work_stealing_deque.hpp>
#include <xenium/vyukov_bounded_queue.hpp>

#include "../queue_rows.hpp"
#include "../support.hpp"

namespace {

using runq_bench::item;
using runq_bench::tally;

/// It holds pointers; they lead into a table of numbers, which is never read.
struct deque {
  [[nodiscard]] bool push(item value) { return queue.try_push(pointer(value)); }
  [[nodiscard]] std::optional<item> pop() {
    char* value = nullptr;
    return queue.try_pop(value) ? std::optional<item>(number(value)) : std::nullopt;
  }
  class thief {
   public:
    explicit thief(deque& victim) : victim_(victim) {}
    std::size_t steal(tally& loot) {
      char* value = nullptr;
      if (!victim_.queue.try_steal(value)) return 0;
      loot.add(number(value));
      return 1;
    }

   private:
    deque& victim_;
  };

  // NOLINTNEXTLINE(performance-no-int-to-ptr)
  static char* pointer(item value) noexcept { return reinterpret_cast<char*>(value << 1); }
  static item number(char* value) noexcept { return reinterpret_cast<item>(value) >> 1; }

  xenium::chase_work_stealing_deque<char> queue;
};

struct vyukov {
  [[nodiscard]] bool push(item value) { return queue.try_push(value); }
  [[nodiscard]] std::optional<item> pop() {
    item value = 0;
    return queue.try_pop(value) ? std::optional<item>(value) : std::nullopt;
  }
  class thief {
   public:
    explicit thief(vyukov& victim) : victim_(victim) {}
    std::size_t steal(tally& loot) {
      const std::optional<item> value = victim_.pop();
      if (value) loot.add(*value);
      return value ? 1 : 0;
    }

   private:
    vyukov& victim_;
  };

  xenium::vyukov_bounded_queue<item> queue{256};
};

struct global {
  struct node {
    item id = 0;
  };
  void put(node* first, std::size_t count, std::size_t /*batch*/) {
    for (std::size_t i = 0; i != count; ++i) {
      while (!queue.try_push(first + i)) {
      }
    }
  }
  [[nodiscard]] tally take(std::size_t /*batch*/) {
    tally got;
    if (node* n = nullptr; queue.try_pop(n)) got.add(n->id);
    return got;
  }

  xenium::vyukov_bounded_queue<node*> queue{8192};
};

}  // namespace

int main(int argc, char** argv) {
  runq_bench::add_owner_rows<deque>("xenium_chase_lev");
  runq_bench::add_owner_rows<vyukov>("xenium_vyukov");
  runq_bench::add_global_rows<global>("xenium_vyukov", false);
  return runq_bench::run(argc, argv);
}
