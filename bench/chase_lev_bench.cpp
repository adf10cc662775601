// SPDX-License-Identifier: MIT
// What the Chase-Lev deque costs; the rows are those of queue_rows.hpp. They do not show growth: the array is warm
// after the first round.
#include <cstddef>
#include <optional>

#include <runq/chase_lev.hpp>

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

}  // namespace

int main(int argc, char** argv) {
  runq_bench::add_owner_rows<chase_lev_candidate>("chase_lev");
  return runq_bench::run(argc, argv);
}
