// SPDX-License-Identifier: MIT
// A machine that looks around without being counted as one that looks for work, because a request stands, gets two
// tasks, of which one is in no queue for a moment, while the last spinning machine goes idle.
#include "machine_loop_model.hpp"

namespace runq::model {
namespace {

/// A ring of yielded tasks whose thieves take two tasks, if there are so many, instead of half: so two are enough for a
/// thief to move one and leave none.
class taken_whole : public yields {
 public:
  struct thief : yields::thief {
    [[nodiscard]] steal_result<task*> steal_half_into(yields::owner& own) const {
      const auto first = this->steal();
      if (!first) return first;
      if (const auto second = this->steal()) require(own.push(second.value), "the thief's ring is not empty");
      return first;
    }
  };
  using yields::yields;
  [[nodiscard]] thief make_thief() const { return thief{yields::make_thief()}; }
};
struct uncounted_queues : shipped_queues<2, no_forks, taken_whole> {
  static constexpr bool counted = false;
  static constexpr bool uncounted = true;  // machines look around without being counted
};

// Three processors, all busy, and a request. Tasks 1 and 2 have yielded on processor 2; each goes on until the other
// has begun. Machine 0, without tasks: look uncounted, take both, run one ‖ machine 1, spinning, the last one: look,
// rest, run one.
struct uncounted_vs_last_spinner final : machine_loop_model<3, 3, 2, uncounted_queues> {
  uncounted_vs_last_spinner() {
    for (const unsigned i : {0U, 1U, 2U}) settle(i);
    require(parking.need_spinning(), "there is no request");
    look_for_work(1);
    for (const int id : {1, 2}) require(processors[2].own_yielded.push(tasks.make(id)), "the ring is full");
    constructed();
  }
  void thread(unsigned index) override {
    const int id = run_one(machines[index]);
    require(id != 0, "the machine left although the scheduler does not stop");
    tell(id);
    wait_for(3 - id);
  }
  void finish() override {
    tasks.require_all_ran();
    require_all_accounted_for();
  }
};

const bool added[] = {
    add_case<uncounted_vs_last_spinner>({
        .name = "machine_loop/uncounted_vs_last_spinner",
        .property = "no machine sleeps while a task waits that a machine which is not counted has taken from another "
                    "processor",
        .threads = 2,
    }),
};

}  // namespace
}  // namespace runq::model
