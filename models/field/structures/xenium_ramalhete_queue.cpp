// SPDX-License-Identifier: MIT
// xenium::ramalhete_queue: arrays of two elements in a list, reclaimed by hazard pointers.
#include <optional>

#include <xenium/ramalhete_queue.hpp>
#include <xenium/reclamation/hazard_pointer.hpp>

#include "../field.hpp"

class queue {
 public:
  bool push(int value) {
    queue_.push(letters_.write(value));
    return true;
  }
  std::optional<int> pop() {
    int* letter = nullptr;
    return queue_.try_pop(letter) ? letters_.read(letter) : std::nullopt;
  }

 private:
  using reclaimer = xenium::reclamation::hazard_pointer<>::with<
      xenium::policy::allocation_strategy<xenium::reclamation::hp_allocation::static_strategy<3, 0, 0>>>;
  runq::field::letters letters_;
  xenium::ramalhete_queue<int*, xenium::policy::reclaimer<reclaimer>, xenium::policy::entries_per_node<2>> queue_;
};

RUNQ_FIELD(runq::field::push_and_pop<queue>)
