// SPDX-License-Identifier: MIT
// What the models of park_protocol share: the scheduler of ../machine_loop with simple queues, into which any thread
// may put a task, published by a store. So these models show what the protocol does with any queue; the models in
// ../machine_loop use the shipped queues.
#pragma once

#include <array>

#include "../machine_loop/machine_loop_model.hpp"

namespace runq::model {

/// A queue of `Room` tasks, and its own only shard.
template <unsigned Room>
class slots {
 public:
  explicit slots(unsigned = 1) {}
  [[nodiscard]] unsigned shards() const { return 1; }
  [[nodiscard]] slots& near(unsigned) { return *this; }

  void put(task* t, unsigned = 0) {
    for (place& p : places_) {
      task* none = nullptr;
      if (Room == 1) return p.at.store(t, std::memory_order::release);
      if (p.at.compare_exchange_strong(none, t, std::memory_order::release, std::memory_order::relaxed)) return;
    }
    require(false, "a queue has no room");
  }
  /// As global_shards takes: only if there seems to be a task.
  [[nodiscard]] task* take(unsigned) { return has_work_approx() ? take() : nullptr; }
  template <class Owner>
  [[nodiscard]] task* take_share(Owner& owner, unsigned processors, unsigned) {
    return has_work_approx() ? owner.take_from(*this, processors) : nullptr;
  }
  [[nodiscard]] task* take() {
    for (place& p : places_) {
      if (p.at.load(std::memory_order::relaxed) == nullptr) continue;
      if (task* const t = p.at.exchange(nullptr, std::memory_order::acquire)) return t;
    }
    return nullptr;
  }
  [[nodiscard]] bool has_work() const {
    for (const place& p : places_) {
      if (p.at.load(std::memory_order::acquire) != nullptr) return true;
    }
    return false;
  }
  [[nodiscard]] bool has_work_approx() const { return has_work(); }
  void splice(inject_chain<&task::link>&& all, unsigned = 0) {
    while (task* const t = all.pop_front()) put(t);
  }
  void splice_front(inject_chain<&task::link>&& all, unsigned = 0) { splice(std::move(all)); }

 private:
  struct place {
    atomic<task*> at{nullptr};
  };
  std::array<place, Room> places_;
};

/// `slots` with the interface of the shipped queues.
template <unsigned Room>
struct slot_queues {
  static constexpr unsigned shards = 1;
  using global = slots<Room>;
  class local : public slots<Room> {
   public:
    explicit local(global&) {}

    class thief {
     public:
      explicit thief(local& q) : q_(&q) {}
      [[nodiscard]] bool has_work() const { return q_->has_work(); }
      [[nodiscard]] bool has_work_approx() const { return q_->has_work_approx(); }
      // Always the most, so that no thief watches this queue because of a runnext slot: it has none.
      [[nodiscard]] std::size_t size_approx() const { return Room; }
      [[nodiscard]] task* take() const { return q_->take(); }

     private:
      local* q_;
    };
    class owner {
     public:
      explicit owner(local& q) : q_(&q) {}
      [[nodiscard]] popped<task> pop() { return {q_->take(), false}; }
      [[nodiscard]] task* pop_oldest() { return q_->take(); }
      // Takes one task, so no other task is on its way to this queue.
      [[nodiscard]] task* take_from(global& from, unsigned) { return from.take(); }
      [[nodiscard]] std::size_t size_approx() const { return 0; }
      [[nodiscard]] bool next_is_free() const { return !q_->has_work(); }
      [[nodiscard]] stolen<task> steal_from(const thief& victim, steal_runnext, std::size_t, std::size_t) {
        task* const t = victim.take();
        if (t == nullptr) return {};
        return {{steal_status::taken, t, 1}, false};
      }
      [[nodiscard]] inject_chain<&task::link> drain() {
        inject_chain<&task::link> all;
        while (task* const t = q_->take()) all.push_back(t);
        return all;
      }
      void rebind() {}

     private:
      local* q_;
    };
    [[nodiscard]] owner make_owner() { return owner(*this); }
    [[nodiscard]] thief make_thief() { return thief(*this); }
  };
  using forks = no_forks;
  using yields = no_yields;
  static constexpr std::size_t capacity = Room;
};

/// See machine_loop_model.
template <unsigned Machines, unsigned Processors, int Tasks, unsigned Room = 1, class Parking = atomics>
class park_model : public machine_loop_model<Machines, Processors, Tasks, slot_queues<Room>, Parking> {
 protected:
  void submit(slots<Room>& queue, int id) {
    queue.put(this->tasks.make(id));
    this->parking.submitted();
  }
  // At the end: of the idle machines, one was woken to look for all tasks.
  void require_one_was_woken() {
    int woken = 0;
    for (const auto& m : this->machines) woken += m.parker.unparked;
    require(woken == 1, "not one machine was woken");
    require(this->parking.spinning() == 1, "the woken machine does not count as spinning");
    require(!this->parking.need_spinning(), "another machine is started although one is idle");
  }
};

}  // namespace runq::model
