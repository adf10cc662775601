// SPDX-License-Identifier: MIT
// What the Chase-Lev deque costs; the rows are those of queue_rows.hpp. They do not show growth: the array is warm
// after the first round.
#include <cstddef>
#include <optional>

#include <runq/chase_lev.hpp>
#include <runq/one_object.hpp>

#include "queue_rows.hpp"
#include "support.hpp"

namespace {

using runq_bench::item;
using runq_bench::tally;

struct chase_lev_candidate {
  [[nodiscard]] bool push(item value) noexcept { return owner.push(value); }
  [[nodiscard]] std::optional<item> pop() noexcept { return owner.pop(); }

  class thief {
   public:
    explicit thief(chase_lev_candidate& victim) : victim_(victim.deque.make_thief()) {}
    std::size_t steal(tally& loot) noexcept {
      const auto got = victim_.steal();
      if (!got) return 0;
      loot.add(got.value);
      return 1;
    }

   private:
    runq::chase_lev<item>::thief victim_;
  };

  runq::chase_lev<item> deque{256};
  runq::chase_lev<item>::owner owner = deque.make_owner();
};

// A deque without handles.
struct one_object_candidate : runq::one_object<runq::chase_lev<item>> {
  one_object_candidate() : one_object(256) {}

  class thief {
   public:
    explicit thief(one_object_candidate& victim) : victim_(victim) {}
    std::size_t steal(tally& loot) noexcept {
      const auto got = victim_.steal();
      if (!got) return 0;
      loot.add(got.value);
      return 1;
    }

   private:
    one_object_candidate& victim_;
  };
};

}  // namespace

int main(int argc, char** argv) {
  runq_bench::add_owner_rows<chase_lev_candidate>("chase_lev");
  runq_bench::add_owner_rows<one_object_candidate>("chase_lev_object");
  return runq_bench::run(argc, argv);
}
