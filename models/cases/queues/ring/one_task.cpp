// SPDX-License-Identifier: MIT
// The model that docs/models.md shows: one task, which owner and thief both want.
#include "oracle.hpp"
#include "runq/ring.hpp"

namespace runq::model {

// Capacity 2. Owner: push pop ‖ thief: one steal.
struct one_task final : scenario {
  using ring_type = basic_ring<task*, 2, std::uint64_t, atomics>;

  void thread(unsigned index) override {
    if (index == 0) {
      require(owner.push(tasks.make(1)), "there was room");
      if (const auto t = owner.pop()) tasks.run(*t);
    } else if (const auto got = ring.make_thief().steal()) {
      tasks.run(got.value);
    }
  }
  void finish() override {
    while (const auto t = owner.pop()) tasks.run(*t);
    tasks.require_all_ran();
  }

  task_set<1> tasks;
  ring_type ring;
  ring_type::owner owner = ring.make_owner();
};

const bool added = add_case<one_task>({
    .name = "ring/one_task",
    .property = "the task runs exactly once",
    .threads = 2,
    .mutants = {{"publish_relaxed", "ring.push.publish", std::memory_order::relaxed}},
    .progress = progress_claim::lock_free,
    .kept_for = "the example of docs/models.md",
});

}  // namespace runq::model
