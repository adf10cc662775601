// SPDX-License-Identifier: MIT
// A scheduling policy for CAF (0.17): each worker has a deque of actors, from which the others steal.
//
//   caf::actor_system_config config;
//   config.load<caf::scheduler::coordinator<runq_hosts::caf_work_stealing>>();
//
// As with CAF's own work_stealing, a worker runs next the actor that it made ready last, and a thief takes the oldest.
// What other threads make ready, and an actor that has used up its share of messages, goes to a queue that all workers
// share. CAF's workers poll; these sleep until there is an actor to run, and then are woken.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <mutex>
#include <thread>

#include <runq/atomics.hpp>
#include <runq/chase_lev.hpp>
#include <runq/shared_fifo.hpp>

namespace caf {
class resumable;
namespace scheduler {
class abstract_coordinator;
}
}  // namespace caf

namespace runq_hosts {

class caf_work_stealing {
 public:
  using job = caf::resumable*;

  /// How often a worker looks for a job before it sleeps, at least 1. To be set before workers start.
  static inline int looks_before_sleep = 32;

  /// What the workers share.
  struct coordinator_data {
    explicit coordinator_data(caf::scheduler::abstract_coordinator*) {}

    /// Wakes a worker, if one sleeps. To be called after a job was put into a queue.
    void wake_one() {
      // seq_cst: pairs with the fence in sleep_unless(): either this sees the sleeper, or the sleeper sees the job;
      // weaker: both miss, and the worker sleeps beside a job.
      runq::std_atomics::fence(std::memory_order::seq_cst);
      if (sleepers.load(std::memory_order::relaxed) == 0) return;
      const std::lock_guard lock(mutex);  // a worker that is counted and does not wait yet holds it
      awake.notify_one();
    }
    template <class HasWork>
    void sleep_unless(const HasWork& has_work) {
      std::unique_lock lock(mutex);
      sleepers.fetch_add(1, std::memory_order::relaxed);
      // seq_cst: pairs with the fence in wake_one().
      runq::std_atomics::fence(std::memory_order::seq_cst);
      if (!has_work()) awake.wait(lock);
      sleepers.fetch_sub(1, std::memory_order::relaxed);
    }

    runq::shared_fifo<job> shared;
    std::atomic<std::size_t> sleepers{0};
    std::mutex mutex;
    std::condition_variable awake;
  };

  /// CAF makes one, and copies it for each worker before there are jobs.
  struct worker_data {
    explicit worker_data(caf::scheduler::abstract_coordinator*) {}
    worker_data(const worker_data&) {}

    runq::chase_lev<job> deque;
    runq::chase_lev<job>::owner owner = deque.make_owner();  // binds to the worker's thread by its first use
    std::size_t turn = 0;
  };

  template <class Coordinator>
  void central_enqueue(Coordinator* all, job ready) {
    if (!all->data().shared.put(ready)) std::terminate();  // no memory for a pointer
    all->data().wake_one();
  }
  template <class Worker>
  void external_enqueue(Worker* self, job ready) {
    central_enqueue(self->parent(), ready);
  }
  template <class Worker>
  void internal_enqueue(Worker* self, job ready) {
    if (!self->data().owner.push(ready)) return external_enqueue(self, ready);
    self->parent()->data().wake_one();
  }
  /// Queues `ready` behind all actors that are ready.
  template <class Worker>
  void resume_job_later(Worker* self, job ready) {
    external_enqueue(self, ready);
  }

  /// Waits until there is a job, and takes it.
  template <class Worker>
  job dequeue(Worker* self) {
    for (;;) {
      for (int looks = 0; looks != looks_before_sleep; ++looks) {
        if (const job found = find(self)) return found;
        std::this_thread::yield();
      }
      self->parent()->data().sleep_unless([self] { return has_work(self->parent()); });
    }
  }

  template <class Worker, class Use>
  void foreach_resumable(Worker* self, Use use) {
    while (const job left = self->data().deque.make_thief().steal()) use(left);
  }
  template <class Coordinator, class Use>
  void foreach_central_resumable(Coordinator* all, Use use) {
    while (const job left = from_shared(all)) use(left);
  }

  // CAF calls these, too; this policy has nothing to do in them.
  template <class Worker>
  void before_shutdown(Worker*) {}
  template <class Worker>
  void before_resume(Worker*, job) {}
  template <class Worker>
  void after_resume(Worker*, job) {}
  template <class Worker>
  void after_completion(Worker*, job) {}

 private:
  template <class Coordinator>
  static job from_shared(Coordinator* all) {
    auto& shared = all->data().shared;
    return shared.has_work_approx() ? shared.take().value_or(nullptr) : nullptr;
  }
  // Actors that send to each other keep a worker's deque busy: the shared queue has its turn at least at every 61st
  // job.
  template <class Worker>
  static job find(Worker* self) {
    const bool shared_first = ++self->data().turn % 61 == 0;
    job found = shared_first ? from_shared(self->parent()) : nullptr;
    if (found == nullptr) found = self->data().owner.pop().value_or(nullptr);
    if (found == nullptr) found = from_shared(self->parent());
    return found != nullptr ? found : stolen(self);
  }
  template <class Worker>
  static job stolen(Worker* self) {
    const std::size_t workers = self->parent()->num_workers();
    for (std::size_t i = 1; i != workers; ++i) {
      const auto victim = self->parent()->worker_by_id((self->id() + i) % workers)->data().deque.make_thief();
      // The guess spares a worker that finds nothing the fence of a steal.
      const job found = victim.size_approx() == 0 ? nullptr : static_cast<job>(victim.steal());
      if (found != nullptr) return found;
    }
    return nullptr;
  }
  template <class Coordinator>
  static bool has_work(Coordinator* all) {
    if (all->data().shared.has_work()) return true;
    for (std::size_t i = 0; i != all->num_workers(); ++i) {
      if (all->worker_by_id(i)->data().deque.make_thief().has_work()) return true;
    }
    return false;
  }
};

}  // namespace runq_hosts
