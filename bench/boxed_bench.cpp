// SPDX-License-Identifier: MIT
// What a boxed chase_lev of values of 16 bytes costs, beside a chase_lev of numbers, one whose boxes come from operator
// new, and one that holds the 16 bytes in its slots, if the compiler says that such an atomic is lock-free (clang++
// does with -mcx16). The rows are those of queue_rows.hpp.
#include <atomic>
#include <cstddef>
#include <optional>

#include <runq/boxed.hpp>
#include <runq/chase_lev.hpp>
#include <runq/one_object.hpp>

#include "queue_rows.hpp"
#include "support.hpp"

namespace {

using runq_bench::item;
using runq_bench::tally;

struct alignas(16) wide {
  item id = 0;
  item more = 0;
};

/// What the candidates have in common: how many values a try to steal took.
template <class Candidate>
class thief_of {
 public:
  explicit thief_of(Candidate& victim) : victim_(victim) {}
  std::size_t steal(tally& loot) noexcept {
    const std::optional<item> got = victim_.steal_one();
    if (!got) return 0;
    loot.add(*got);
    return 1;
  }

 private:
  Candidate& victim_;
};

struct numbers_candidate {
  using thief = thief_of<numbers_candidate>;
  [[nodiscard]] bool push(item value) noexcept { return deque.push(value); }
  [[nodiscard]] std::optional<item> pop() noexcept { return deque.pop(); }
  [[nodiscard]] std::optional<item> steal_one() noexcept {
    const auto got = deque.steal();
    return got ? std::optional(got.value) : std::nullopt;
  }
  runq::one_object<runq::chase_lev<item>> deque{256};
};

// Values of 16 bytes in the slots of a deque, or in boxes.
template <class Deque>
struct values_candidate {
  using thief = thief_of<values_candidate>;
  [[nodiscard]] bool push(item value) noexcept { return deque.push({value, value}); }
  [[nodiscard]] std::optional<item> pop() noexcept {
    const auto got = deque.pop();
    return got ? std::optional(got->id) : std::nullopt;
  }
  [[nodiscard]] std::optional<item> steal_one() noexcept {
    const auto got = deque.steal();
    return got ? std::optional(got.value.id) : std::nullopt;
  }
  Deque deque{256};
};
using boxed_candidate = values_candidate<runq::boxed<runq::one_object<runq::chase_lev<runq::box<wide>*>>>>;
template <class Wide>
using in_place_candidate = values_candidate<runq::one_object<runq::chase_lev<Wide>>>;

struct allocated_candidate {
  using thief = thief_of<allocated_candidate>;
  [[nodiscard]] bool push(item value) { return deque.push(new wide{value, value}); }
  [[nodiscard]] std::optional<item> pop() noexcept { return open(deque.pop().value_or(nullptr)); }
  [[nodiscard]] std::optional<item> steal_one() noexcept { return open(deque.steal()); }
  static std::optional<item> open(const wide* box) noexcept {
    if (box == nullptr) return std::nullopt;
    const item id = box->id;
    delete box;
    return id;
  }
  runq::one_object<runq::chase_lev<wide*>> deque{256};
};

}  // namespace

int main(int argc, char** argv) {
  runq_bench::add_owner_rows<numbers_candidate>("chase_lev_of_8_bytes");
  runq_bench::add_owner_rows<boxed_candidate>("boxed_of_16_bytes");
  runq_bench::add_owner_rows<allocated_candidate>("allocated_of_16_bytes");
  if constexpr (std::atomic<wide>::is_always_lock_free) {
    runq_bench::add_owner_rows<in_place_candidate<wide>>("chase_lev_of_16_bytes");
  }
  return runq_bench::run(argc, argv);
}
