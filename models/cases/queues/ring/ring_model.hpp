// SPDX-License-Identifier: MIT
// What the models of the ring share: tasks, an owner's and a thief's moves, and the oracle at each of them.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include "linearize.hpp"
#include "oracle.hpp"
#include "runq/one_object.hpp"
#include "runq/ring.hpp"

namespace runq::model {

/// What a script calls: a ring through its handles, or a one_object.
enum class form : bool { handles, one_object };

/// A ring with its owner handle and the history of what was done to it; in the models, whichever thread calls an
/// owner's move is the owner.
template <std::size_t Capacity, class Index, form Form>
struct owned_ring {
  using type = basic_ring<task*, Capacity, Index, atomics>;
  static constexpr std::size_t max_operations = 31;

  explicit owned_ring(Index first) : ring(first), owner(ring.make_owner()) {}

  [[nodiscard]] auto thief() const { return ring.make_thief(); }

  type ring;
  typename type::owner owner;
  history<max_operations, Capacity> log;
};

template <std::size_t Capacity, class Index>
struct owned_ring<Capacity, Index, form::one_object> {
  using type = one_object<basic_ring<task*, Capacity, Index, atomics>>;

  explicit owned_ring(Index first) : ring(first) {}

  [[nodiscard]] const type& thief() const { return ring; }

  type ring;
  type& owner = ring;
  history<31, Capacity> log;
};

/// Whether the tasks of every ring are pushed in order of their ids, so that the order in which they come out can be
/// judged; not so where what was stolen is pushed behind what was there.
enum class order_judged : bool { no, yes };

/// `Capacity` slots, `Tasks` tasks at most.
template <std::size_t Capacity, int Tasks, class Index = std::uint64_t, order_judged Order = order_judged::yes,
          form Form = form::handles>
class ring_model : public scenario {
 public:
  using queue = owned_ring<Capacity, Index, Form>;

 protected:
  explicit ring_model(Index first = Index{0}) : first_(first) {}

  // -- the owner's moves ----------------------------------------------------------------------------------------------
  /// Pushes task `id`; a task that does not fit is run by the pusher.
  void push(queue& q, int id) {
    if (!try_push(q, id)) tasks.run(tasks.get(id));
  }
  /// Pushes a task that must fit: for preloading.
  void preload(queue& q, int id) { require(try_push(q, id), "a push failed although there was room"); }
  /// Pushes tasks `first` … `last` at once; they must fit.
  void push_batch(queue& q, int first, int last) {
    std::array<task*, Capacity> batch{};
    std::array<int, Capacity> ids{};
    std::size_t n = 0;
    for (int id = first; id <= last; ++id, ++n) batch[n] = tasks.make(ids[n] = id);
    const moment began = q.log.begin();
    require(q.owner.push_batch(std::span<task* const>(batch.data(), n)) == n,
            "a batch did not fit although there was room");
    q.log.add(began, op_kind::append, std::span<const int>(ids.data(), n));
  }
  /// Pops one task, if there is one, and runs it. Returns its id, or 0.
  int pop(queue& q) {
    const moment began = q.log.begin();
    const std::optional<task*> got = q.owner.pop();
    if (!got) {
      q.log.add(began, op_kind::find_empty, {});
      return 0;
    }
    const int id = tasks.id_of(*got);
    q.log.add(began, op_kind::take_front, {&id, 1});
    tasks.run(*got);
    return id;
  }
  /// Pops until empty; one thread's view of a ring is FIFO.
  void drain(queue& q) {
    fifo_view view;
    while (const int id = pop(q)) {
      if (Order == order_judged::yes) view.see(id);
    }
  }
  /// Takes the lower half in one go, and runs it.
  void shed(queue& q) {
    std::array<task*, Capacity> out{};
    const moment began = q.log.begin();
    const std::size_t n = q.owner.shed_half(std::span<task*, Capacity / 2>(out.data(), Capacity / 2));
    if (n != 0) run_all(q, began, op_kind::take_lower_half, std::span<task* const>(out.data(), n));
  }
  /// Takes everything in one go, and runs it.
  void drain_at_once(queue& q) {
    std::array<task*, Capacity> out{};
    std::size_t n = 0;
    const moment began = q.log.begin();
    q.owner.drain([&](task* t) { out[n++] = t; });
    run_all(q, began, op_kind::take_all, std::span<task* const>(out.data(), n));
  }

  // -- a thief's moves ------------------------------------------------------------------------------------------------
  /// One steal-half from `victim` into `mine`, which the calling thread owns; the task handed back is run at once.
  steal_status steal_half(queue& victim, queue& mine, std::size_t limit = Capacity) {
    const moment began = victim.log.begin();
    const std::uint64_t before = current_engine().operations();
    const steal_result<task*> got = victim.ring.make_thief().steal_half_into(mine.owner, limit);
    require(current_engine().operations() - before <= steal_bound,
            "steal_half_into took more steps than its documented bound");
    judge(got);
    log_steal(victim, began, op_kind::take_half, got, limit);
    // The stolen tasks that are not returned appear in the thief's ring all at once.
    if (got && got.count > 1 && Order == order_judged::yes) {
      const std::array<int, Capacity> ids = ids_up_to(tasks.id_of(got.value), got.count);
      mine.log.add(began, op_kind::append, std::span<const int>(ids.data(), got.count - 1));
    }
    return got.status;
  }
  /// One steal-half from `victim` into memory for `room` tasks; all that were taken are run.
  steal_status steal_half_out(queue& victim, std::size_t room = Capacity) {
    std::array<task*, Capacity> out{};
    const moment began = victim.log.begin();
    const std::uint64_t before = current_engine().operations();
    const batch_result got = victim.ring.make_thief().steal_half(std::span<task*>(out.data(), room));
    require(current_engine().operations() - before <= 3 + (Capacity + 1) / 2,
            "steal_half took more steps than its documented bound");
    if (!got) {
      require(got.count == 0, "a steal that took nothing says that it took something");
      if (got.status == steal_status::empty) victim.log.add(began, op_kind::find_empty, {});
      return got.status;
    }
    require(got.count >= 1 && got.count <= room, "a steal took nothing, or more than there is room for");
    require_at_most_half(tasks.id_of(out[got.count - 1]), got.count);
    run_all(victim, began, op_kind::take_half, std::span<task* const>(out.data(), got.count), room);
    return got.status;
  }
  /// One steal of a single task.
  steal_status steal_one(queue& victim) {
    const moment began = victim.log.begin();
    const steal_result<task*> got = victim.thief().steal();
    judge(got);
    log_steal(victim, began, op_kind::take_front, got, 1);
    return got.status;
  }
  bool has_work(queue& q) {
    const moment began = q.log.begin();
    const bool yes = says_that_there_is_work(q.thief());
    q.log.add(began, yes ? op_kind::find_work : op_kind::find_empty, {});
    return yes;
  }

  /// Called in finish(), when no thief steals any more: what is left is drained in order, nothing is missing, and a
  /// sequential order explains all answers.
  template <class... Queues>
  void finish_with(Queues&... queues) {
    (drain(queues), ...);
    tasks.require_all_ran();
    if (Order == order_judged::yes) (queues.log.require_linearizable(), ...);
  }

  /// A fresh ring at the scenario's first index.
  [[nodiscard]] Index first() const { return first_; }

  task_set<Tasks> tasks;

 private:
  // Steps, plain accesses included, of one steal_half_into that takes n ≤ Capacity/2 tasks: head, tail, own tail, the
  // remembered head, the newest slot and the claim; for n > 1 also own head, its note, n-1 pairs of slots, own tail.
  static constexpr std::uint64_t steal_bound = Capacity == 2 ? 6 : 7 + Capacity;

  [[nodiscard]] static bool says_that_there_is_work(const auto& thief) {
    if constexpr (Form == form::one_object) return !thief.empty();
    if constexpr (Form == form::handles) return thief.has_work();
  }

  [[nodiscard]] bool try_push(queue& q, int id) {
    task* const t = tasks.make(id);
    const moment began = q.log.begin();
    const bool fits = q.owner.push(t);
    q.log.add(began, fits ? op_kind::append : op_kind::refuse, {&id, fits ? 1U : 0U});
    return fits;
  }

  void run_all(queue& q, moment began, op_kind kind, std::span<task* const> taken, std::size_t limit = Capacity) {
    std::array<int, Capacity> ids{};
    for (std::size_t i = 0; i != taken.size(); ++i) ids[i] = tasks.id_of(taken[i]);
    q.log.add(began, kind, std::span<const int>(ids.data(), taken.size()), limit);
    fifo_view view;
    for (task* const t : taken) {
      view.see(tasks.id_of(t));
      tasks.run(t);
    }
  }

  // The `count` ids that end with `newest`.
  [[nodiscard]] static std::array<int, Capacity> ids_up_to(int newest, std::size_t count) {
    std::array<int, Capacity> ids{};
    for (std::size_t i = 0; i != count; ++i) ids[i] = newest - static_cast<int>(count - 1 - i);
    return ids;
  }

  // A lost race has changed nothing, so it is no operation of the history.
  void log_steal(queue& victim, moment began, op_kind kind, const steal_result<task*>& got, std::size_t limit) {
    if (got.status == steal_status::empty) victim.log.add(began, op_kind::find_empty, {});
    if (!got || Order == order_judged::no) return;
    const std::array<int, Capacity> ids = ids_up_to(tasks.id_of(got.value), got.count);
    victim.log.add(began, kind, std::span<const int>(ids.data(), got.count), limit);
  }

  void judge(const steal_result<task*>& got) {
    if (got.status != steal_status::taken) {
      require(got.value == nullptr && got.count == 0, "a steal that took nothing handed something back");
      return;
    }
    tasks.run(got.value);
    require_at_most_half(tasks.id_of(got.value), got.count);
  }

  void require_at_most_half(int newest, std::size_t count) {
    require(count >= 1 && count <= (Capacity + 1) / 2, "a steal took more than half of a full ring");
    if (Order == order_judged::no) return;
    // ⌈k/2⌉ = count means that the ring held at least 2·count - 1 tasks, counted from the oldest one that was taken.
    const int oldest = newest - static_cast<int>(count) + 1;
    require(oldest >= 1, "a steal took tasks that do not stand next to each other");
    require(oldest + 2 * static_cast<int>(count) - 2 <= tasks.made(), "a steal took more than half");
  }

  Index first_;
};

}  // namespace runq::model
