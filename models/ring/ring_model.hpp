// SPDX-License-Identifier: MIT
// What the models of the ring share: tasks, an owner's and a thief's moves, and the oracle at each of them.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "oracle.hpp"
#include "runq/ring.hpp"

namespace runq::model {

/// A ring with its owner handle; in the models, whichever thread calls an owner's move is the owner.
template <std::size_t Capacity, class Index>
struct owned_ring {
  using type = basic_ring<task*, Capacity, Index, atomics>;
  explicit owned_ring(Index first) : ring(first), owner(ring.make_owner()) {}

  type ring;
  typename type::owner owner;
};

/// Whether the tasks of every ring are pushed in order of their ids, so that the order in which they come out can be
/// judged; not so where what was stolen is pushed behind what was there.
enum class order_judged : bool { no, yes };

/// `Capacity` slots, `Tasks` tasks at most.
template <std::size_t Capacity, int Tasks, class Index = std::uint64_t, order_judged Order = order_judged::yes>
class ring_model : public scenario {
 public:
  using queue = owned_ring<Capacity, Index>;

 protected:
  explicit ring_model(Index first = Index{0}) : first_(first) {}

  // -- the owner's moves ----------------------------------------------------------------------------------------------
  /// Pushes task `id`; a task that does not fit is run by the pusher.
  void push(queue& q, int id) {
    task* const t = tasks.make(id);
    if (!q.owner.push(t)) tasks.run(t);
  }
  /// Pushes a task that must fit: for preloading.
  void preload(queue& q, int id) { require(q.owner.push(tasks.make(id)), "a push failed although there was room"); }
  /// Pops one task, if there is one, and runs it. Returns its id, or 0.
  int pop(queue& q) { return run(q.owner.pop().value_or(nullptr)); }
  /// Pops until empty; one thread's view of a ring is FIFO.
  void drain(queue& q) {
    fifo_view view;
    while (const int id = pop(q)) {
      if (Order == order_judged::yes) view.see(id);
    }
  }

  // -- a thief's moves ------------------------------------------------------------------------------------------------
  /// One steal-half from `victim` into `mine`, which the calling thread owns; the task handed back is run at once.
  steal_status steal_half(queue& victim, queue& mine, std::size_t limit = Capacity) {
    const std::uint64_t before = current_engine().operations();
    const steal_result<task*> got = victim.ring.make_thief().steal_half_into(mine.owner, limit);
    require(current_engine().operations() - before <= steal_bound,
            "steal_half_into took more steps than its documented bound");
    judge(got);
    return got.status;
  }
  /// One steal of a single task.
  steal_status steal_one(queue& victim) {
    const steal_result<task*> got = victim.ring.make_thief().steal();
    judge(got);
    return got.status;
  }

  /// In finish(), when nobody steals any more: what is left is drained in order, and nothing is missing.
  template <class... Queues>
  void finish_with(Queues&... queues) {
    (drain(queues), ...);
    tasks.require_all_ran();
  }

  /// A fresh ring at the scenario's first index.
  [[nodiscard]] Index first() const { return first_; }

  task_set<Tasks> tasks;

 private:
  // Steps, plain accesses included, of one steal_half_into that takes n ≤ Capacity/2 tasks: head, tail, own tail, the
  // remembered head, the newest slot and the claim; for n > 1 also own head, its note, n-1 pairs of slots, own tail.
  static constexpr std::uint64_t steal_bound = Capacity == 2 ? 6 : 7 + Capacity;

  int run(task* t) {
    if (t == nullptr) return 0;
    tasks.run(t);
    return tasks.id_of(t);
  }

  void judge(const steal_result<task*>& got) {
    if (got.status != steal_status::taken) {
      require(got.value == nullptr && got.count == 0, "a steal that took nothing handed something back");
      return;
    }
    require(got.count >= 1 && got.count <= (Capacity + 1) / 2, "a steal took more than half of a full ring");
    run(got.value);
    if (Order == order_judged::no) return;
    // ⌈k/2⌉ = count means that k was at least 2·count - 1: so many tasks, counted from the oldest one taken.
    const int newest = tasks.id_of(got.value);
    const int oldest = newest - static_cast<int>(got.count) + 1;
    require(oldest >= 1, "a steal took tasks that do not stand next to each other");
    require(oldest + 2 * static_cast<int>(got.count) - 2 <= tasks.made(), "a steal took more than half");
  }

  Index first_;
};

}  // namespace runq::model
