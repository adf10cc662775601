// SPDX-License-Identifier: MIT
// What the models of local_queue share: a processor's queue with a tiny ring, its moves, and the oracle.
#pragma once

#include "oracle.hpp"
#include "runq/local_queue.hpp"

namespace runq::model {

template <int Tasks, std::size_t Capacity = 2>
class local_queue_model : public scenario {
 public:
  using queue_type = basic_local_queue<&task::link, Capacity>;

  /// A processor: its queue and its owner's handle.
  struct processor {
    explicit processor(inject<&task::link>& global) : queue(global), owner(queue.make_owner()) {}
    queue_type queue;
    typename queue_type::owner owner;
  };

 protected:
  void push(processor& p, int id) { judge_moved(p.owner.push(tasks.make(id))); }
  void push_next(processor& p, int id) { judge_moved(p.owner.push_next(tasks.make(id))); }
  /// Pops one and runs it; its id, or 0.
  int pop(processor& p) { return run(p.owner.pop().task); }
  void drain(processor& p) {
    while (pop(p) != 0) continue;
  }
  /// One steal into `mine`; what comes back is run at once.
  steal_status steal(processor& victim, processor& mine, steal_runnext next) {
    const auto got = mine.owner.steal_from(victim.queue.make_thief(), next, Capacity, 0);
    if (got) run(got.value);
    return got.status;
  }
  void drain_global() {
    while (task* const t = global.take()) run(t);
  }
  template <class... Processors>
  void finish_with(Processors&... processors) {
    (drain(processors), ...);
    drain_global();
    tasks.require_all_ran();
  }

  int run(task* t) {
    if (t == nullptr) return 0;
    tasks.run(t);
    return tasks.id_of(t);
  }

  task_set<Tasks> tasks;
  inject<&task::link> global;

 private:
  /// What a push returns: how many tasks it moved to the global queue.
  static void judge_moved(std::size_t moved) {
    require(moved == 0 || moved == Capacity / 2 + 1,
            "a push moved neither nothing nor half a full ring and the new task to the global queue");
  }
};

}  // namespace runq::model
