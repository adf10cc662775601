// SPDX-License-Identifier: MIT
// What the models of park_protocol share: a scheduler in small around it. A queue holds one task or two; a machine's
// loop is machine_loop.hpp with nothing in it but what the protocol has to do with. The models in ../machine_loop run
// that header itself.
#pragma once

#include <array>

#include "oracle.hpp"
#include "runq/protocol/park.hpp"
#include "waiting.hpp"

namespace runq::model {

/// At the start there are `Processors` of them, none held, and no machine runs: see begin() and the calls after it.
template <unsigned Machines, unsigned Processors, int Tasks, unsigned Room = 1>
class park_model : public scenario {
 public:
  /// A parker on which a scenario's constructor can put a machine to sleep: it is asleep as soon as its thread runs.
  class machine_parker : public parker {
   public:
    void park() {
      if (!constructing_ || unparked != 0) parker::park();
      if (constructing_) unparked = 0;
    }
    void unpark() {
      ++unparked;
      parker::unpark();
    }
    void constructed() { constructing_ = false; }
    int unparked = 0;  // how often, since its construction ended

   private:
    bool constructing_ = true;
  };
  struct place {
    atomic<task*> at{nullptr};
  };
  using queue_type = std::array<place, Room>;
  struct processor : park_processor<processor, atomics> {
    unsigned index = 0;
    cell<bool> made{true};  // a processor that resize() brings may have been made just before
    queue_type queue;
  };
  struct flag {
    atomic<int> up{0};
  };
  struct machine : park_machine<machine, processor, machine_parker, atomics> {
    processor* held = nullptr;
  };

  // -- what park_protocol asks of its host --

  [[nodiscard]] virtual bool work_anywhere() const {
    for (const processor& p : processors) {
      if (has_work(p.queue)) return true;
    }
    return has_work(global);
  }
  [[nodiscard]] bool surplus(const processor& p) const { return p.index >= parking.limit(); }
  [[nodiscard]] processor& processor_at(unsigned i) { return processors[i]; }
  void start_machine(processor& p) {
    // Only while the scenario is constructed: later every machine is there.
    require(started != Machines, "one machine more was to be started than there are");
    machine& m = machines[started++];
    m.spinning.set(true);
    m.held = &p;
  }
  void all_idle() {}
  [[nodiscard]] machine* this_idle_machine() const {
    const int thread = current_engine().thread_index();
    return thread < 0 ? nullptr : here[static_cast<std::size_t>(thread)];
  }

 protected:
  // -- the state at the start: by the calls that lead to it. Where those should have woken a machine and have not, it
  // is woken here: a bug is to show in a scenario, not on the way there. --

  /// Machine 0 has processor 0 and is spinning. After settle(0), 1 has processor 1 and is spinning; and so on.
  park_model() {
    for (unsigned i = 0; i != Processors; ++i) processors[i].index = i;
    parking.resize(Processors);
    parking.submitted();
  }
  /// Machine i has found a task: so the next one was woken, or was asked for when there is none.
  void settle(unsigned i) {
    parking.found(machines[i]);
    parking.submitted();
  }
  /// Machine i, which holds a processor, gives it up and sleeps.
  void put_to_sleep(unsigned i) {
    machine& m = machines[i];
    m.held = parking.rest(m, *m.held);
  }
  /// Machine i is in a blocking call: the monitor takes its processor, for another machine if somebody needs it.
  void take_from(unsigned i, bool needed) {
    processor& p = *machines[i].held;
    machines[i].held = nullptr;
    parking.hand_off(
        p, [] { return true; }, needed);
  }
  void constructed() {
    for (machine& m : machines) m.parker.constructed();
  }

  // -- submitters --

  static void put(queue_type& queue, task* t) {
    for (place& p : queue) {
      task* none = nullptr;
      if (Room == 1) return p.at.store(t, std::memory_order::release);
      if (p.at.compare_exchange_strong(none, t, std::memory_order::release, std::memory_order::relaxed)) return;
    }
    require(false, "a queue has no room");
  }
  void submit(queue_type& queue, int id) {
    put(queue, tasks.make(id));
    parking.submitted();
  }

  // -- machines --

  static bool has_work(const queue_type& queue) {
    for (const place& p : queue) {
      if (p.at.load(std::memory_order::acquire) != nullptr) return true;
    }
    return false;
  }
  static task* take(queue_type& queue) {
    for (place& p : queue) {
      if (p.at.load(std::memory_order::relaxed) == nullptr) continue;
      if (task* const t = p.at.exchange(nullptr, std::memory_order::acquire)) return t;
    }
    return nullptr;
  }
  virtual task* take_local_or_global(processor& p) {
    task* const t = take(p.queue);
    return t != nullptr ? t : take(global);
  }
  virtual task* steal(const processor& mine) {
    const unsigned n = parking.limit();
    for (processor& p : processors) {
      if (&p == &mine || (p.index < n && !p.made.get())) continue;
      if (task* const t = take(p.queue)) return t;
    }
    return nullptr;
  }
  void evacuate(processor& p) {
    while (task* const t = take(p.queue)) put(global, t);
  }
  /// nullptr: the scheduler has stopped.
  task* find_work(machine& m) {
    while (m.held != nullptr) {
      processor& p = *m.held;
      if (surplus(p)) {
        parking.found(m);
        evacuate(p);
        m.held = parking.retire(m, p);
        continue;
      }
      if (task* const t = take_local_or_global(p)) return t;
      if (parking.may_spin(m)) {
        if (task* const t = steal(p)) return t;
      }
      m.held = parking.rest(m, p);
    }
    return nullptr;
  }
  /// As rest() does for a machine that was asleep at the start.
  void wake_up(machine& m) {
    m.parker.park();
    m.held = m.handed.get();
    m.handed.set(nullptr);
  }
  /// Finds a task and begins with it; its id, or 0: the scheduler has stopped.
  int run_one(machine& m) {
    task* const t = find_work(m);
    if (t == nullptr) return 0;
    parking.found(m);
    tasks.run(t);
    return tasks.id_of(t);
  }
  /// Task `id` is done, or has begun: as its scenario has it.
  void tell(int id) { told[static_cast<std::size_t>(id) - 1].up.store(1, std::memory_order::release); }
  void wait_for(int id) {
    await([&] { return told[static_cast<std::size_t>(id) - 1].up.load(std::memory_order::acquire) != 0; });
  }

  /// In finish(), when the scheduler has not stopped: every processor is held by one machine, or handed to one, or
  /// idle.
  void require_all_accounted_for() {
    unsigned held = 0;
    unsigned spinning = 0;
    for (machine& m : machines) {
      const bool handed = m.handed.get() != nullptr;
      held += (m.held != nullptr ? 1 : 0) + (handed ? 1 : 0);
      spinning += (m.held != nullptr || handed) && m.spinning.get() ? 1 : 0;
    }
    require(parking.held() == held, "the number of processors held is wrong");
    require(parking.idle_processors() + held == parking.limit(), "a processor is neither idle nor held, or both");
    require(parking.spinning() == spinning, "the number of spinning machines is wrong");
  }

  task_set<Tasks> tasks;
  std::array<flag, static_cast<std::size_t>(Tasks)> told;
  queue_type global;
  std::array<processor, Processors> processors;
  std::array<machine, Machines> machines;
  unsigned started = 0;
  std::array<machine*, 4> here{};  // per thread: its machine while that holds no processor, if the scenario says so
  park_protocol<machine, processor, park_model, atomics> parking{*this};
};

}  // namespace runq::model
