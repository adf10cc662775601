// SPDX-License-Identifier: MIT
// What the models of a local queue with a split_ring share.
#pragma once

#include <cstddef>
#include <cstdint>

#include "oracle.hpp"
#include "runq/local_queue.hpp"
#include "runq/split_ring.hpp"

namespace runq::model {

// A processor with a split_ring of 2, whose owner claims one task at a time, and a thief with another. `Policy` is that
// of the ring and of the runnext slot.
template <int Tasks, class Policy = atomics>
class split_model : public scenario {
  static constexpr split_ring_options options{.run = 1, .tries = 1, .polls = 0};
  using queue_type =
      basic_local_queue<&task::link, 2, std::uint32_t, Policy, basic_split_ring<task*, 2, options, Policy>>;

 public:
  void finish() override {
    while (const auto got = owner.pop()) tasks.run(got.task);
    thief_runs();
    while (task* const t = global.take()) tasks.run(t);
    tasks.require_all_ran();
  }

 protected:
  void push(int id) { (void)owner.push(tasks.make(id)); }
  void push_next(int id) { (void)owner.push_next(tasks.make(id)); }
  void steal(steal_runnext next) {
    if (const auto got = thief.steal_from(queue_.make_thief(), next, 2, std::size_t{0})) tasks.run(got.value);
  }
  void thief_runs() {
    while (const auto got = thief.pop()) tasks.run(got.task);
  }
  [[nodiscard]] bool asks(bool ordered) {
    const auto seen = queue_.make_thief();
    return ordered ? seen.has_work() : seen.has_work_approx();
  }

  task_set<Tasks> tasks;
  inject<&task::link> global;

 private:
  queue_type queue_{global};
  queue_type thiefs_queue_{global};

 protected:
  typename queue_type::owner owner = queue_.make_owner();
  typename queue_type::owner thief = thiefs_queue_.make_owner();
};

// The ring is full. Owner: push push, of which one at least overflows ‖ thief: steal.
template <class Policy = atomics>
struct overflow : split_model<4, Policy> {
  overflow() {
    this->push(1);
    this->push(2);
  }
  void thread(unsigned index) override {
    if (index == 0) {
      this->push(3);
      this->push(4);
    } else {
      this->steal(steal_runnext::no);
    }
  }
};

}  // namespace runq::model
