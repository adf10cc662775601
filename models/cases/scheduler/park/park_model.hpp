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
  // So here a machine that finds a task wakes one, as rule 2 says; ../machine_loop/starts.cpp has those that wake more.
  static constexpr bool counted = false;
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

// The two sides of park's handshake, one machine and one submitter (submit_vs_idle.cpp, by_interrupt.cpp).
// One processor. Outside: submit ‖ machine, spinning, the last one: look, rest, run the task.
template <class Parking = atomics>
struct last_spinner : park_model<1, 1, 1, 1, Parking> {
  last_spinner() { this->constructed(); }
  void thread(unsigned index) override {
    if (index == 0) {
      this->submit(this->global, 1);
    } else {
      require(this->run_one(this->machines[0]) == 1, "the machine left although the scheduler does not stop");
    }
  }
  void finish() override {
    this->tasks.require_all_ran();
    this->require_all_accounted_for();
  }
};

// A machine finds a task beside a resize that withdraws a request (resize.cpp, by_interrupt.cpp).
// One processor of two, on which machine 0 is busy. Machine 0: looks for work, and finds another task ‖ outside:
// submits a task ‖ outside: raises the limit to two, and withdraws the submitter's request. Machine 1 is asleep, and is
// woken.
template <class Parking = atomics>
struct found_vs_resize : park_model<2, 2, 1, 1, Parking> {
  found_vs_resize() {
    this->settle(0);
    this->put_to_sleep(1);
    this->parking.resize(1);
    this->constructed();
  }
  void thread(unsigned index) override {
    auto& m = this->machines[0];
    if (index == 0) {
      this->be(m);
      if (this->parking.may_spin(m)) this->parking.found(m);
    } else if (index == 1) {
      this->submit(this->global, 1);
    } else {
      this->parking.resize(2);
    }
  }
  void finish() override {
    require(this->machines[1].parker.unparked == 1,
            "a task waits, a processor is idle, and no machine looks for the task");
    this->require_all_accounted_for();
  }
};

// Two machines, of which one gives up its processor without a last look at all queues (need_spinning.cpp,
// gives_up.cpp). Two processors. Machine 0 spins, machine 1 has just ended a task and may not spin as long as 0 does.
// Task 1, from outside, is for whichever machine comes first. That machine submits task 2 on its own processor and
// waits for it, so the other machine must run task 2.
template <class Parking = atomics>
struct not_spinning final : park_model<2, 2, 2, 1, Parking> {
  not_spinning() {
    this->settle(0);
    this->settle(1);
    // Machine 0 has ended its task, too, and looked again.
    require(this->parking.may_spin(this->machines[0]), "no machine spins, and yet this machine may not spin");
    this->global.put(this->tasks.make(1));
    this->constructed();
  }
  void thread(unsigned index) override {
    auto& m = this->machines[index];
    if (this->run_one(m) == 1) {
      this->submit(m.held->queue, 2);
      this->wait_for(2);
    } else {
      this->tell(2);
    }
  }
  void finish() override {
    this->tasks.require_all_ran();
    this->require_all_accounted_for();
  }
};

}  // namespace runq::model
